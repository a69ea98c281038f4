/* SPDX-License-Identifier: Apache-2.0 */
/* work_test.c: the work for a review grows in step with what stands in it.
 *
 * Time is not looked at: the layers and the review are compiled once more for this test, so that each block of code that
 * runs is counted (tests/CMakeLists.txt, -fsanitize-coverage=trace-pc), and the arena tells the bytes. Both are the same
 * on every run and machine. */
#include "support/rows.h"

#include "support/sized_review.h"

#include "webhook/review.h"

#include <inttypes.h>

void __sanitizer_cov_trace_pc(void);

static uint64_t steps;

void __sanitizer_cov_trace_pc(void)
{
    steps++;
}

struct work {
    uint64_t steps;
    uint64_t bytes;
};

static struct work work_of(enum sized_by by, enum review_route route, int count)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(arena_free) struct arena *used = arena_create(0);
    struct sized_review review = sized_review(arena, by, count);
    AUTO(policy_set_unref) struct policy_set *policies = review.policies;
    struct rule_severities severities = rule_severities_default();
    struct facts facts = { .policies = policies };
    struct review_context context = { .facts = &facts, .severities = &severities };
    struct review_outcome outcome;
    struct error err;

    steps = 0;
    if (review_answer(used, route, review.body, &context, &outcome, &err) < 0)
        fail_msg("%s: %s", sized_name(by), err.text);
    return (struct work){ steps, arena_used(used) };
}

/* Sorting takes n log n, and a table or text that grows doubles: 12 allows for both at ten times as much, and 100 is what
 * a loop within a loop comes to. */
enum { TIMES = 10, GROWTH_MAX = 12, LEAST_STEPS = 5000 };

static void expect_in_step(enum sized_by by, const char *what, int count, uint64_t few, uint64_t many)
{
    if (many > few * GROWTH_MAX)
        fail_msg("%s: %d take %" PRIu64 " %s, and %d take %" PRIu64, sized_name(by), count, few, what, count * TIMES, many);
}

static void test_ten_times_as_much_costs_about_ten_times_the_work(void **state)
{
    (void)state;
    for (int by = 0; by < SIZED_COUNT; by++) {
        for (int route = REVIEW_MUTATE; route <= REVIEW_VALIDATE; route++) {
            struct work few = work_of((enum sized_by)by, (enum review_route)route, 10);

            /* What nobody counts grows in step, too. */
            assert_true(few.steps > LEAST_STEPS);
            for (int count = 10; count < 1000; count *= TIMES) {
                struct work many = work_of((enum sized_by)by, (enum review_route)route, count * TIMES);

                print_message("%-18s %s %4d: %8" PRIu64 " steps, %8" PRIu64 " bytes\n", sized_name((enum sized_by)by),
                              route ? "validate" : "mutate  ", count * TIMES, many.steps, many.bytes);
                expect_in_step((enum sized_by)by, "steps", count, few.steps, many.steps);
                expect_in_step((enum sized_by)by, "bytes", count, few.bytes, many.bytes);
                few = many;
            }
        }
    }
}

static void test_a_review_of_three_charts_takes_little_memory(void **state)
{
    struct work work = work_of(SIZED_LABELS, REVIEW_VALIDATE, 0);

    (void)state;
    /* One block holds it: the one that a spare arena of the server keeps, so that nothing is asked of the allocator. */
    if (work.bytes > 32 * 1024)
        fail_msg("it takes %" PRIu64 " bytes", work.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ten_times_as_much_costs_about_ten_times_the_work),
        cmocka_unit_test(test_a_review_of_three_charts_takes_little_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
