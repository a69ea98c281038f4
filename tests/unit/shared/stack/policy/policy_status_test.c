/* SPDX-License-Identifier: Apache-2.0 */
/* policy_status_test.c: what a StackPolicy's status says, and when it is written again. */
#include "support/rows.h"

#include "stack/policy/policy_status.h"
#include "support/stack_builder.h"

static struct problems found(struct arena *arena, bool any)
{
    struct problems problems = problems_new(arena);

    if (any)
        problems_add(&problems, (struct problem){ .field = STR("spec.rules[0].field"), .message = STR("no such field"),
                                                  .remedy = STR("correct it"), .severity = SEVERITY_DENY });
    return problems;
}

static const struct {
    const char *says;
    bool taken, problem;
    enum policy_state state;
    const char *message;
} rows[] = {
    { "a valid one", true, false, POLICY_VALID, "the policy is applied" },
    { "one of which a rule can do nothing", true, true, POLICY_WITHOUT_EFFECT, "spec.rules[0].field: no such field; correct it" },
    { "one that is not valid", false, true, POLICY_INVALID, "spec.rules[0].field: no such field; correct it" },
    { "one too many", false, false, POLICY_TOO_MANY, "there are too many StackPolicies, so this one is not applied" },
};

static void a_policy_says_whether_it_is_applied(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct problems problems = found(arena, rows[i].problem);
        struct policy_status status = policy_status_of(arena, rows[i].taken, &problems);

        rows_expect_int(rows[i].says, status.state, rows[i].state);
        rows_expect_int(rows[i].says, policy_is_applied(status.state), rows[i].taken);
        rows_expect_str(rows[i].says, status.message, str_of(rows[i].message));
        rows_expect_int(rows[i].says, status.matching, -1);
    }
}

static void it_is_written_when_it_says_something_else(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct problems none = found(arena, false);
    struct policy_status status = policy_status_of(arena, true, &none);
    struct json absent = { NULL, 0 };

    (void)state;
    status.generation = 3;
    rows_expect_str("not counted", policy_status_write(arena, &status, absent, 1000),
                    STR("{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\",\"observedGeneration\":3,\"lastTransitionTime\":"
                        "\"1970-01-01T00:00:01Z\",\"reason\":\"Valid\",\"message\":\"the policy is applied\"}]}"));
    status.matching = 2;
    status.violating = 1;

    struct str written = policy_status_write(arena, &status, absent, 1000);
    struct json before = test_json(arena, written);

    rows_expect("counted", str_starts(written, STR("{\"matchingStacks\":2,\"violatingStacks\":1,\"conditions\":[")), written.at);
    rows_expect_str("the same, later", policy_status_write(arena, &status, before, 9000), STR(""));
    status.violating = 0;
    written = policy_status_write(arena, &status, before, 9000);
    rows_expect("another figure", str_find(written, STR("\"violatingStacks\":0"), 0) >= 0, written.at);
    rows_expect("at the time of before", str_find(written, STR("00:00:01Z"), 0) >= 0, written.at);
    status.state = POLICY_INVALID;
    written = policy_status_write(arena, &status, before, 9000);
    rows_expect("another condition", str_find(written, STR("00:00:09Z"), 0) >= 0, written.at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_policy_says_whether_it_is_applied),
        cmocka_unit_test(it_is_written_when_it_says_something_else),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
