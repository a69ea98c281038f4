/* holds_test.c: what a peer asked to leave alone looks as if it had failed later. */
#include "support/rows.h"

#include "base/limits.h"
#include "controller/reconcile/holds.h"

#define FAILED_MS 1000000
#define WALL_MS 1001000
#define NOW_MS 500

static struct stack_status status_of(struct arena *arena, enum deployment_state state)
{
    struct stack_status status = { .deployments = release_states_new(arena, 1) };

    release_states_push(&status.deployments, (struct release_state){
                                                 .cluster_id = STR("c-1"),
                                                 .chart_name = STR("web"),
                                                 .release_name = STR("shop-web"),
                                                 .state = state,
                                                 .attempts = 1,
                                                 .last_updated_ms = FAILED_MS,
                                             });
    return status;
}

static void a_failure_is_told_to_begin_when_its_hold_ends(void **state)
{
    static const struct {
        const char *name;
        const char *stack, *cluster, *chart;
        int64_t retry_after_ms, later_ms;
        enum deployment_state state;
        int64_t want_ms;
    } rows[] = {
        { "held", "t/a", "c-1", "web", 60000, 0, DEPLOYMENT_FAILED, WALL_MS + 60000 },
        { "later less is left", "t/a", "c-1", "web", 60000, 20000, DEPLOYMENT_FAILED,
          WALL_MS + 40000 },
        { "it is over", "t/a", "c-1", "web", 60000, 60000, DEPLOYMENT_FAILED, FAILED_MS },
        { "a longer wish is capped", "t/a", "c-1", "web", INT64_MAX, 0, DEPLOYMENT_FAILED,
          WALL_MS + LIMIT_RETRY_AFTER_MAX },
        { "the peer did not say", "t/a", "c-1", "web", -1, 0, DEPLOYMENT_FAILED, FAILED_MS },
        { "another Stack", "t/b", "c-1", "web", 60000, 0, DEPLOYMENT_FAILED, FAILED_MS },
        { "another cluster", "t/a", "c-2", "web", 60000, 0, DEPLOYMENT_FAILED, FAILED_MS },
        { "another chart", "t/a", "c-1", "db", 60000, 0, DEPLOYMENT_FAILED, FAILED_MS },
        { "it did not fail", "t/a", "c-1", "web", 60000, 0, DEPLOYMENT_DEPLOYED, FAILED_MS },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        AUTO(holds_free) struct holds *holds = holds_create();
        struct stack_status status = status_of(arena, rows[i].state);
        struct release_state *release = &status.deployments.items[0];

        holds_add(holds, str_of(rows[i].stack), str_of(rows[i].cluster), str_of(rows[i].chart),
                  rows[i].retry_after_ms, NOW_MS);

        struct shifted_failures shifted = holds_apply(
            holds, arena, STR("t/a"), NOW_MS + rows[i].later_ms, WALL_MS, &status);

        rows_expect_int(rows[i].name, release->last_updated_ms, rows[i].want_ms);
        holds_restore(&shifted, &status.deployments);
        rows_expect_int(rows[i].name, release->last_updated_ms, FAILED_MS);
    }
}

static void two_holds_of_one_release_keep_the_longer(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(holds_free) struct holds *holds = holds_create();
    static const int64_t waits_ms[] = { 30000, 90000, 60000 };

    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        struct stack_status status = status_of(arena, DEPLOYMENT_FAILED);
        int64_t want_ms = WALL_MS + (i == 0 ? 30000 : 90000);

        holds_add(holds, STR("t/a"), STR("c-1"), STR("web"), waits_ms[i], NOW_MS);

        struct shifted_failures shifted =
            holds_apply(holds, arena, STR("t/a"), NOW_MS, WALL_MS, &status);

        rows_expect_int("the longer", status.deployments.items[0].last_updated_ms, want_ms);
        holds_restore(&shifted, &status.deployments);
        rows_expect_int("and back", status.deployments.items[0].last_updated_ms, FAILED_MS);
    }
}

static void a_stack_that_is_gone_holds_nothing(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(holds_free) struct holds *holds = holds_create();
    struct stack_status status = status_of(arena, DEPLOYMENT_FAILED);

    (void)state;
    holds_add(holds, STR("t/a"), STR("c-1"), STR("web"), 60000, NOW_MS);
    holds_forget(holds, STR("t/a"));
    (void)holds_apply(holds, arena, STR("t/a"), NOW_MS, WALL_MS, &status);
    rows_expect_int("no hold", status.deployments.items[0].last_updated_ms, FAILED_MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failure_is_told_to_begin_when_its_hold_ends),
        cmocka_unit_test(two_holds_of_one_release_keep_the_longer),
        cmocka_unit_test(a_stack_that_is_gone_holds_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
