/* SPDX-License-Identifier: Apache-2.0 */
/* selector_fuzz.c: two lines, a selector and labels: what is read is written as text that means the same, and who
 * matches something meets itself. */
#include "fuzz.h"

#include "kube/selector.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str rest = str_make((const char *)data, size);
    struct selector selector;
    struct selector again;
    struct error err = { 0 };
    struct json object;
    struct json labels = { NULL, 0 };
    struct str first;

    if (!str_split(&rest, '\n', &first) || json_read(arena, first, &json_limits_default, &object, &err) < 0)
        return 0;
    if (selector_read(arena, object, &selector, &err) < 0) {
        MUST(err.code == ERROR_INVALID && err.text[0]);
        return 0;
    }
    if (rest.at && json_read(arena, rest, &json_limits_default, &labels, &err) < 0)
        labels = (struct json){ NULL, 0 };

    struct str text = selector_text(arena, &selector);

    MUST(selector_parse(arena, text, &again, &err) == 0);
    MUST(str_eq(selector_text(arena, &again), text));
    MUST(selector_matches(NULL, &selector, labels) == selector_matches(NULL, &again, labels));
    if (selector_matches(NULL, &selector, labels)) {
        MUST(selector_intersects(arena, &selector, &selector));
        MUST(selector_intersects(arena, &selector, &again));
    }
    return 0;
}
