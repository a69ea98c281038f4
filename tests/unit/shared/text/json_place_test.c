/* SPDX-License-Identifier: Apache-2.0 */
/* json_place_test.c: which value a rendered path names, and which is nearest if there is none. */
#include "support/rows.h"

#include "support/stack_builder.h"
#include "text/json_place.h"

static void paths_lead_back_to_values(void **state)
{
    static const char document[] =
        "{\"spec\":{\"charts\":[{\"name\":\"a\"},{\"name\":\"b\",\"x.y\":1,\"x\":{\"y\":2}}],"
        "\"labels\":{\"a/b\":3,\"c]d\":4,\"e.f[0]\":5,\"\":6}},\"\":7}";
    static const struct {
        const char *row;
        const char *path;
        const char *want; /* the value as JSON, '?' in front if it is only near; "of a list" behind an element */
    } rows[] = {
        { "the top", "", "" },
        { "a member", "spec.labels[a/b]", "3" },
        { "an element's", "spec.charts[1].name", "\"b\"" },
        { "an element", "spec.charts[0]", "{\"name\":\"a\"} of a list" },
        { "a key with a dot is longer", "spec.charts[1].x.y", "1" },
        { "a key with a bracket", "spec.labels[c]d]", "4" },
        { "a key with all of it, as a field", "spec.labels.e.f[0]", "5" },
        { "an empty key", "spec.labels[]", "6" },
        { "missing in an element", "spec.charts[0].version", "?{\"name\":\"a\"} of a list" },
        { "beyond the list", "spec.charts[2].name",
          "?[{\"name\":\"a\"},{\"name\":\"b\",\"x.y\":1,\"x\":{\"y\":2}}]" },
        { "no index", "spec.charts[x]", "?[{\"name\":\"a\"},{\"name\":\"b\",\"x.y\":1,\"x\":{\"y\":2}}]" },
        { "below a scalar", "spec.labels[a/b].x", "?3" },
        { "half a key", "spec.label", "?" },
        { "an end that is cut", "spec.charts[1", "?" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct json root = test_json(arena, str_of(document));
        struct json_place place = json_place_of(root, str_of(rows[i].path));
        struct str raw = json_raw(place.value);
        struct str want = str_of(rows[i].want);

        rows_expect(rows[i].row, place.whole == !str_starts(want, STR("?")), "found as it should");
        if (!place.whole)
            want = str_slice(want, 1, want.len);
        if (!want.len)
            continue;
        rows_expect_str(rows[i].row, place.member ? raw : str_fmt(arena, "%.*s of a list", STR_ARG(raw)), want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_lead_back_to_values),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
