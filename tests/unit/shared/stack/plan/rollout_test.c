/* SPDX-License-Identifier: Apache-2.0 */
/* rollout_test.c: what planner and preview both take from spec.rollout. */
#include "support/rows.h"

#include "stack/plan/rollout.h"
#include "support/stack_builder.h"

static const struct stack *stack_with(struct arena *arena, const char *rollout)
{
    struct stack_builder b = a_stack(arena);
    struct problems ignored = problems_new(arena);

    with_chart(&b, "db", "");
    with_spec(&b, rollout);
    return stack_decode(arena, stack_json(&b), &ignored);
}

static void the_first_wave_that_matches_has_a_cluster(void **state)
{
    static const struct {
        const char *says, *labels;
        uint32_t wave;
    } rows[] = {
        { "the first", "{\"edge\":\"yes\"}", 0 },
        { "the second", "{\"env\":\"prod\"}", 1 },
        { "of two that match, the first", "{\"env\":\"prod\",\"edge\":\"yes\"}", 0 },
        { "none", "{\"env\":\"dev\"}", 2 },
        { "none without labels", "{}", 2 },
    };
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct stack *stack = stack_with(
        arena, "\"rollout\":{\"waves\":[{\"name\":\"a\",\"selector\":{\"matchLabels\":{\"edge\":\"yes\"}},\"pause\":\"90s\"},"
               "{\"name\":\"b\",\"selector\":{\"matchLabels\":{\"env\":\"prod\"}}}]}");
    struct rollout_waves waves = rollout_waves_new(arena, &stack->spec.rollout);

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        rows_expect_int(rows[i].says,
                        rollout_wave_of(&waves, arena, test_json(arena, str_of(rows[i].labels))), rows[i].wave);
    rows_expect_int("a pause", rollout_pause_ms(&stack->spec.rollout.waves.items[0]), 90000);
    rows_expect_int("none", rollout_pause_ms(&stack->spec.rollout.waves.items[1]), 0);
}

static void only_more_than_the_share_needs_confirmation(void **state)
{
    static const struct {
        const char *says, *max;
        uint64_t removed, had;
        bool needs;
    } rows[] = {
        { "the share itself", "50%", 2, 4, false },
        { "one more", "50%", 3, 4, true },
        { "a number", "1", 2, 100, true },
        { "everything may go", "100%", 7, 7, false },
        { "nothing goes", "0", 0, 7, false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct rollout rollout = { .max_removals = str_of(rows[i].max) };

        rows_expect_int(rows[i].says, rollout_needs_confirmation(&rollout, rows[i].removed, rows[i].had),
                        rows[i].needs);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_wave_that_matches_has_a_cluster),
        cmocka_unit_test(only_more_than_the_share_needs_confirmation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
