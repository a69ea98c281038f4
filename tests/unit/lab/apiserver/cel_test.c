/* cel_test.c: match conditions: what is known is decided, all else is "cannot tell". */
#include "support/rows.h"

#include "lab/apiserver/cel.h"

static const char *const update =
    "{\"operation\":\"UPDATE\",\"subResource\":\"status\",\"userInfo\":{\"username\":"
    "\"system:serviceaccount:herd-system:c\",\"groups\":[\"a\",\"b\"]},\"object\":{\"metadata\":"
    "{\"namespace\":\"herd-system\",\"deletionTimestamp\":\"t\",\"labels\":{\"x\":\"y\"}},\"spec\":"
    "{\"n\":1}},\"oldObject\":{\"spec\":{\"n\":1.0}}}";
static const char *const create =
    "{\"operation\":\"CREATE\",\"object\":{\"metadata\":{\"namespace\":\"n\"},\"spec\":{}},"
    "\"oldObject\":null}";

static const struct row {
    const char *sentence, *expression;
    const char *const *request;
    enum cel_answer want;
} rows[] = {
    { "a literal", "true", &create, CEL_TRUE },
    { "a comparison of strings", "request.operation == 'UPDATE'", &update, CEL_TRUE },
    { "its opposite", "request.operation != \"UPDATE\"", &update, CEL_FALSE },
    { "or stops at what holds", "request.operation == 'CREATE' || object.nothing.here == 'x'",
      &create, CEL_TRUE },
    { "and stops at what does not hold", "object.nothing == 'x' && request.operation == 'DELETE'",
      &create, CEL_FALSE },
    { "a member that is not there cannot be compared", "object.nothing == 'x'", &create,
      CEL_UNKNOWN },
    { "has asks first", "has(object.metadata.deletionTimestamp)", &update, CEL_TRUE },
    { "has of what is not there", "!has(object.metadata.deletionTimestamp)", &create, CEL_TRUE },
    { "specs are compared as values", "object.spec == oldObject.spec", &update, CEL_TRUE },
    { "no old object is null", "oldObject == null", &create, CEL_TRUE },
    { "in a list", "object.metadata.namespace in ['kube-system', 'herd-system']", &update,
      CEL_TRUE },
    { "in the user's groups", "'b' in request.userInfo.groups", &update, CEL_TRUE },
    { "not in", "!('c' in request.userInfo.groups)", &update, CEL_TRUE },
    { "a key of a map", "'x' in object.metadata.labels", &update, CEL_TRUE },
    { "a member by its name", "object.metadata.labels['x'] == 'y'", &update, CEL_TRUE },
    { "a prefix", "request.userInfo.username.startsWith('system:serviceaccount:herd-system:')",
      &update, CEL_TRUE },
    { "parentheses bind", "(true || false) && false", &update, CEL_FALSE },
    { "and binds more than or", "true || false && false", &update, CEL_TRUE },
    { "size", "size(request.userInfo.groups) == 2", &update, CEL_TRUE },
    { "two answers compared", "('x' in object.metadata.labels) != (has(oldObject.metadata) && true)",
      &update, CEL_TRUE },
    { "a macro is not known", "object.spec.charts.exists(c, c.name == 'x')", &update, CEL_UNKNOWN },
    { "arithmetic is not known", "1 + 1 == 2", &update, CEL_UNKNOWN },
    { "a text is not an answer", "request.operation", &update, CEL_UNKNOWN },
    { "an unclosed text", "request.operation == 'x", &update, CEL_UNKNOWN },
    { "nothing", "", &update, CEL_UNKNOWN },
};

static void test_conditions(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct json request;
        struct error err;

        if (json_read(arena, str_of(*rows[i].request), &json_limits_default, &request, &err) != 0)
            fail_msg("%s", err.text);
        struct str why;

        rows_expect_int(rows[i].sentence,
                        cel_holds(arena, str_of(rows[i].expression), request, &why), rows[i].want);
        rows_expect_int(rows[i].sentence, why.len > 0, rows[i].want == CEL_UNKNOWN);
    }
}

static const struct known_row {
    const char *expression;
    bool known;
} known_rows[] = {
    { "object.nothing.at.all == 'x'", true },
    { "!has(oldObject.metadata.deletionTimestamp) || request.operation != 'UPDATE'", true },
    { "size(object.a) == 1 && 'x' in ['x', 'y']", true },
    { "object.spec.charts.exists(c, c.name == 'x')", false },
    { "1 + 1 == 2", false },
    { "object.a < 3", false },
    { "request.operation == 'x", false },
    { "", false },
    { "true true", false },
};

static void test_known(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(known_rows) / sizeof(known_rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);

        rows_expect_int(known_rows[i].expression,
                        cel_understands(arena, str_of(known_rows[i].expression)),
                        known_rows[i].known);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_conditions),
                                        cmocka_unit_test(test_known) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
