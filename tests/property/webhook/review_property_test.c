/* SPDX-License-Identifier: Apache-2.0 */
/* review_property_test.c: laws of reviews (tests/support/review_laws.c), on the examples, on generated Stacks,
 * on hostile objects and on what becomes of them when bytes are lost.
 *
 * HERD_CASES sets how many reviews are tried (default 3,000). A failure prints the seed of its case: HERD_SEED=N
 * runs that case alone. */
#include "support/rows.h"

#include "support/review_laws.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text ? strtoull(text, NULL, 10) : otherwise;
}

static void check_case(const struct review_world *world, const struct review_examples *examples, uint64_t seed,
                       struct review_tally *tally)
{
    for (enum review_route route = REVIEW_MUTATE; route <= REVIEW_VALIDATE; route++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct str body = review_number(arena, examples, seed);
        const char *broken = review_laws_broken(world, arena, route, body, tally);

        if (broken) {
            fprintf(stderr, "%.*s\n", STR_ARG(body));
            fail_msg("HERD_SEED=%" PRIu64 ", %s: does not hold: %s", seed,
                     route == REVIEW_MUTATE ? "mutate" : "validate", broken);
        }
    }
}

static void any_review_keeps_the_laws(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct review_examples examples = review_examples_read(arena);
    uint64_t only = number_from("HERD_SEED", UINT64_MAX);
    uint64_t cases = number_from("HERD_CASES", 3000);
    struct review_world world;
    struct review_tally tally = { 0 };

    (void)state;
    review_world_begin(&world, arena);
    if (only != UINT64_MAX) {
        check_case(&world, &examples, only, &tally);
        review_world_end(&world);
        return;
    }
    for (uint64_t seed = 0; seed < cases; seed++)
        check_case(&world, &examples, seed, &tally);
    review_world_end(&world);
    printf("%" PRIu64 " errors, %" PRIu64 " allowed, %" PRIu64 " denied, %" PRIu64 " patched\n", tally.errors,
           tally.allowed, tally.denied, tally.patched);
    if (cases < 1000)
        return;
    rows_expect("some are errors", tally.errors > cases / 20, "errors");
    rows_expect("some are allowed", tally.allowed > cases / 20, "allowed");
    rows_expect("some are denied", tally.denied > cases / 20, "denied");
    rows_expect("some are patched", tally.patched > cases / 20, "patched");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_review_keeps_the_laws),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
