/* SPDX-License-Identifier: Apache-2.0 */
/* patch_fuzz.c: two lines. The first is a document; the second a patch, or another document: then the
 * difference of both must lead from one to the other. */
#include "fuzz.h"

#include "text/patch.h"

static void check_diff(struct arena *arena, const struct value *a, const struct value *b)
{
    struct error err = { 0 };
    struct value *got;

    MUST(patch_apply(arena, a, patch_diff(arena, a, b), &got, &err) == 0 ||
         err.code == ERROR_TOO_LARGE);
    if (err.code == ERROR_NONE)
        MUST(value_equal(got, b));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str rest = str_make((const char *)data, size);
    struct error err = { 0 };
    struct value *document;
    struct value *other;
    struct value *result = NULL;
    struct str first;

    if (!str_split(&rest, '\n', &first) || !rest.at ||
        value_read(arena, first, &json_limits_default, &document, &err) < 0)
        return 0;

    struct str before = value_json(arena, document);

    if (patch_apply(arena, document, rest, &result, &err) < 0)
        MUST(result == NULL && err.text[0]);
    else
        MUST(value_kind(result) != JSON_ABSENT);
    MUST(str_eq(value_json(arena, document), before));
    if (value_read(arena, rest, &json_limits_default, &other, &err) == 0) {
        check_diff(arena, document, other);
        (void)patch_merge(arena, document, other);
    }
    return 0;
}
