/* SPDX-License-Identifier: Apache-2.0 */
/* linear.c: bench-linear: how the cost of a review grows with what stands in it.
 *
 *   bench-linear [ROUNDS]     7 if not said
 *
 * For Stacks with 10, 100 and 1,000 of something (tests/support/sized_review.h): CPU of a whole review in this process,
 * from its bytes to the answer's, without HTTP and TLS, and what ten times as much of it costs. That the work itself
 * grows so says the test unit/webhook/work, which counts it. */
#include "support/sized_review.h"

#include "webhook/review.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 7, SIZES = 3 };

static const int sizes[SIZES] = { 10, 100, 1000 };

static double microseconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void answer(struct arena *arena, const struct sized_review *review)
{
    struct rule_severities severities = rule_severities_default();
    struct facts facts = { .policies = review->policies };
    struct review_context context = { .facts = &facts, .severities = &severities };
    struct review_outcome outcome;
    struct error err;

    if (review_answer(arena, REVIEW_VALIDATE, review->body, &context, &outcome, &err) < 0) {
        fprintf(stderr, "bench-linear: %s\n", err.text);
        exit(1);
    }
    arena_reset(arena);
}

static int compare_times(const void *a, const void *b)
{
    const double *left = a, *right = b;

    return (*left > *right) - (*left < *right);
}

/* The median of some rounds of about a millisecond each, at the least one review. */
static double time_of(enum sized_by by, int count, int rounds)
{
    AUTO(arena_free) struct arena *source = arena_create(0);
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct sized_review review = sized_review(source, by, count);
    AUTO(policy_set_unref) struct policy_set *policies = review.policies;
    double times[ROUNDS];

    for (int round = 0; round < rounds; round++) {
        double began = microseconds();
        int reviews = 0;

        while (reviews == 0 || microseconds() - began < 1000) {
            answer(arena, &review);
            reviews++;
        }
        times[round] = (microseconds() - began) / reviews;
    }
    qsort(times, (size_t)rounds, sizeof(*times), compare_times);
    return times[rounds / 2];
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS;

    if (rounds < 1 || rounds > ROUNDS)
        rounds = ROUNDS;
    printf("%-24s %9d %9d %9d   ratios\n", "us of a review, by its", sizes[0], sizes[1], sizes[2]);
    for (int by = 0; by < SIZED_COUNT; by++) {
        double times[SIZES];

        for (int i = 0; i < SIZES; i++)
            times[i] = time_of((enum sized_by)by, sizes[i], rounds);
        printf("%-24s %9.1f %9.1f %9.1f   %5.1f %5.1f\n", sized_name((enum sized_by)by), times[0], times[1], times[2],
               times[1] / times[0], times[2] / times[1]);
    }
    return 0;
}
