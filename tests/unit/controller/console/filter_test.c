/* SPDX-License-Identifier: Apache-2.0 */
/* filter_test.c: what of the changes a query takes. */
#include "support/rows.h"

#include "controller/console/filter.h"
#include "kinds_fixture.h"

enum { LIMIT_MAX = 50 };

static const struct {
    const char *row, *query, *error; /* error NULL: it is taken */
} queries[] = {
    { "nothing", "", NULL },
    { "all there is", "kind=Stack&namespace=a&name=s&type=DELETED&limit=50", NULL },
    { "encoded", "%6bind=stacks", NULL },
    { "an unknown kind", "kind=Pod", "kind: Unsupported value: \"Pod\": supported values: stacks, stackpolicies, applications" },
    { "an unknown type", "type=added", "type: Unsupported value: \"added\"" },
    { "a limit of nothing", "limit=0", "limit: Invalid value: \"0\": must be a number from 1 to 50" },
    { "a limit that is too large", "limit=51", "limit: Invalid value" },
    { "a limit that is no number", "limit=all", "limit: Invalid value" },
    { "a misspelled parameter", "namspace=a", "namspace: unknown parameter; supported are kind, namespace, name, type and limit" },
};

static void a_query_is_read_whole_or_rejected(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct console_kinds kinds = some_kinds();

    for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
        struct console_filter filter;
        struct error err = { .code = ERROR_NONE };
        int failed = console_filter_read(arena, &kinds, str_of(queries[i].query), LIMIT_MAX, &filter, &err);

        rows_expect_int(queries[i].row, failed, queries[i].error ? -1 : 0);
        if (!queries[i].error)
            continue;
        rows_expect_int(queries[i].row, err.code, ERROR_BAD_REQUEST);
        rows_expect(queries[i].row, strstr(err.text, queries[i].error), err.text);
    }
    (void)state;
}

static void a_stream_has_no_limit(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct console_kinds kinds = some_kinds();
    struct console_filter filter;
    struct error err;

    rows_expect_int("it is an unknown parameter there", console_filter_read(arena, &kinds, STR("limit=1"), 0, &filter, &err), -1);
    (void)state;
}

static const struct {
    const char *query;
    bool takes;
} takes[] = {
    { "", true },
    { "kind=stack", true },
    { "kind=application", false },
    { "namespace=a", true },
    { "namespace=b", false },
    { "name=s", true },
    { "name=t", false },
    { "type=ADDED", true },
    { "type=DELETED", false },
    { "kind=stack&namespace=a&name=s&type=ADDED", true },
    { "kind=stack&namespace=a&name=s&type=MODIFIED", false },
};

static void each_parameter_narrows(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct console_kinds kinds = some_kinds();
    const struct change change = { .type = CHANGE_ADDED, .resource = &kinds.items[0].resource, .namespace_ = STR("a"), .name = STR("s") };

    for (size_t i = 0; i < sizeof(takes) / sizeof(takes[0]); i++) {
        struct console_filter filter;
        struct error err;

        assert_int_equal(console_filter_read(arena, &kinds, str_of(takes[i].query), LIMIT_MAX, &filter, &err), 0);
        rows_expect_int(takes[i].query, console_filter_takes(&filter, &change), takes[i].takes);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_query_is_read_whole_or_rejected), cmocka_unit_test(a_stream_has_no_limit),
                                        cmocka_unit_test(each_parameter_narrows) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
