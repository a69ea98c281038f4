/* SPDX-License-Identifier: Apache-2.0 */
/* admission_cel_test.c: match conditions of webhooks: what holds, what does not, and what is rejected. */
#include "lab/apiserver/admission_cel.h" /* before cmocka, which has a macro `fail` */

#include "support/rows.h"

static const char *const update =
    "{\"operation\":\"UPDATE\",\"subResource\":\"status\",\"userInfo\":{\"username\":"
    "\"system:serviceaccount:herd-system:c\",\"groups\":[\"a\",\"b\"]},\"object\":{\"metadata\":"
    "{\"namespace\":\"herd-system\",\"deletionTimestamp\":\"t\",\"labels\":{\"x\":\"y\"}},\"spec\":"
    "{\"n\":1}},\"oldObject\":{\"spec\":{\"n\":1.0}}}";
static const char *const create =
    "{\"operation\":\"CREATE\",\"object\":{\"metadata\":{\"namespace\":\"n\"},\"spec\":{}},"
    "\"oldObject\":null}";

enum answer { NO, YES, ERROR };

static const struct row {
    const char *sentence, *expression;
    const char *const *request;
    enum answer want;
} rows[] = {
    { "a literal", "true", &create, YES },
    { "a comparison of strings", "request.operation == 'UPDATE'", &update, YES },
    { "its opposite", "request.operation != \"UPDATE\"", &update, NO },
    { "or stops at what holds", "request.operation == 'CREATE' || object.nothing.here == 'x'", &create, YES },
    { "and stops at what does not hold", "object.nothing == 'x' && request.operation == 'DELETE'", &create, NO },
    { "a member that is not there cannot be compared", "object.nothing == 'x'", &create, ERROR },
    { "has asks first", "has(object.metadata.deletionTimestamp)", &update, YES },
    { "has of what is not there", "!has(object.metadata.deletionTimestamp)", &create, YES },
    { "specs are compared as values", "object.spec == oldObject.spec", &update, YES },
    { "no old object is null", "oldObject == null", &create, YES },
    { "no namespace either", "namespaceObject == null", &create, YES },
    { "in a list", "object.metadata.namespace in ['kube-system', 'herd-system']", &update, YES },
    { "in the user's groups", "'b' in request.userInfo.groups", &update, YES },
    { "not in", "!('c' in request.userInfo.groups)", &update, YES },
    { "a key of a map", "'x' in object.metadata.labels", &update, YES },
    { "a member by its name", "object.metadata.labels['x'] == 'y'", &update, YES },
    { "a prefix", "request.userInfo.username.startsWith('system:serviceaccount:herd-system:')", &update, YES },
    { "two answers compared", "('x' in object.metadata.labels) != (has(oldObject.metadata) && true)", &update, YES },
    { "a macro", "object.metadata.labels.all(k, k.size() == 1)", &update, YES },
    { "arithmetic", "object.spec.n + 1 == 2", &update, YES },
    { "what only one of two has", "object.?metadata != oldObject.?metadata", &update, YES },
    { "what neither has", "object.metadata.?annotations[?'x'] != object.metadata.?annotations[?'y']", &update, NO },
    { "what the request does not say", "request.namespace == 'x'", &update, ERROR },
};

static struct value *read_request(struct arena *arena, const char *text)
{
    struct value *request;
    struct error err;

    if (value_read(arena, str_of(text), &json_limits_default, &request, &err) != 0)
        fail_msg("%s", err.text);
    return request;
}

static void fill(struct arena *arena, const struct cel_env *env, const char *text, struct cel_value values[ADMISSION_VALUES])
{
    struct value *request = read_request(arena, text);

    for (int i = 0; i < ADMISSION_VALUES; i++)
        values[i] = cel_null();
    values[ADMISSION_OBJECT] = cel_from_json(arena, value_get(request, STR("object")), &cel_type_dyn);
    values[ADMISSION_OLD_OBJECT] = cel_from_json(arena, value_get(request, STR("oldObject")), &cel_type_dyn);
    values[ADMISSION_REQUEST] = cel_from_json(arena, request, env->variables[ADMISSION_REQUEST].type);
}

static enum answer ask(struct arena *arena, const char *request, struct json conditions, struct str *ret_why)
{
    struct cel_env env = admission_env(arena, false, NULL);
    struct cel_value values[ADMISSION_VALUES];
    bool hold;

    fill(arena, &env, request, values);
    if (admission_conditions(arena, &env, values, conditions, &hold, ret_why) != 0)
        return ERROR;
    return hold ? YES : NO;
}

static struct json conditions_of(struct arena *arena, const char *const *expressions, size_t count)
{
    struct value *list = value_array(arena);
    struct json json;
    struct error err;

    for (size_t i = 0; i < count; i++) {
        struct value *one = value_object(arena);

        value_set(arena, one, STR("name"), value_str(arena, str_fmt(arena, "c%zu", i)));
        value_set(arena, one, STR("expression"), value_str(arena, str_of(expressions[i])));
        value_append(list, one);
    }
    assert_int_equal(json_read(arena, value_json(arena, list), &json_limits_default, &json, &err), 0);
    return json;
}

static void test_conditions(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct str why = STR("");

        rows_expect_int(rows[i].sentence, ask(arena, *rows[i].request, conditions_of(arena, &rows[i].expression, 1), &why),
                        rows[i].want);
        rows_expect_int(rows[i].sentence, why.len > 0, rows[i].want == ERROR);
    }
}

static void test_several(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    static const char *const one_false[] = { "object.a == 1", "false" };
    static const char *const two_errors[] = { "object.a == 1", "true", "object.b == 1" };
    struct str why;

    (void)state;
    rows_expect_int("one that is false decides", ask(arena, create, conditions_of(arena, one_false, 2), &why), NO);
    rows_expect_int("errors do not hold", ask(arena, create, conditions_of(arena, two_errors, 3), &why), ERROR);
    rows_expect_str("and are all told", why,
                    STR("[expression 'object.a == 1' resulted in error: no such key: a, expression 'object.b == 1' resulted in "
                        "error: no such key: b]"));
}

static const struct rejected_row {
    const char *sentence, *expression, *want;
} rejected_rows[] = {
    { "nothing", " ", "c[0].expression: Required value" },
    { "no answer", "request.operation", "c[0].expression: Invalid value: \"request.operation\": must evaluate to bool but got string" },
    { "what may be anything is no answer either", "object.a",
      "c[0].expression: Invalid value: \"object.a\": must evaluate to bool but got dyn" },
    { "a field that requests do not have", "request.object == null",
      "c[0].expression: Invalid value: \"request.object == null\": compilation failed: ERROR: <input>:1:8: undefined field 'object'\n"
      " | request.object == null\n | .......^" },
    { "the authorizer", "authorizer.group('').resource('pods').check('get').allowed()",
      "c[0].expression: Invalid value: \"authorizer.group('').resource('pods').check('get').allowed()\": compilation failed: ERROR: "
      "<input>:1:1: herd-lab does not evaluate 'authorizer': it asks the cluster's authorizer\n"
      " | authorizer.group('').resource('pods').check('get').allowed()\n | ^" },
    { "parameters, which webhooks do not have", "params.a == 1",
      "c[0].expression: Invalid value: \"params.a == 1\": compilation failed: ERROR: <input>:1:1: undeclared reference to 'params' "
      "(in container '')\n | params.a == 1\n | ^" },
};

static void test_rejected(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rejected_rows) / sizeof(rejected_rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct cel_env env = admission_env(arena, false, NULL);
        struct findings found = findings_new(arena, 0);
        struct path at = path_field(NULL, STR("c"));
        struct json json = conditions_of(arena, &rejected_rows[i].expression, 1);

        admission_check_conditions(&env, value_of(arena, json), &at, &found);
        rows_expect_str(rejected_rows[i].sentence, findings_join(arena, &found), str_of(rejected_rows[i].want));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_conditions), cmocka_unit_test(test_several),
                                        cmocka_unit_test(test_rejected) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
