/* SPDX-License-Identifier: Apache-2.0 */
/* capacity_test.c: claims on a cluster's room, and the order of those who wait for it. */
#include "support/rows.h"

#include "controller/backends/capacity.h"

static void claims_end(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(capacity_free) struct capacity *room = capacity_create();

    (void)state;
    capacity_asked(room, STR("n/a"), 0);
    rows_expect_int("what was never claimed is not asked for",
                    capacity_claims(room, arena, 9, 0).count, 0);
    capacity_claim(room, STR("n/a"), STR("t/s"), 0);
    capacity_claim(room, STR("n/a"), STR("t/s"), 1);
    capacity_claim(room, STR("n/b"), STR("t/s"), 0);
    rows_expect_int("a release claims once", capacity_claims(room, arena, 9, 100000).count, 2);
    rows_expect_int("no more than asked for", capacity_claims(room, arena, 1, 100000).count, 1);
    capacity_asked(room, STR("n/a"), 100000);
    rows_expect_int("what was asked for shows soon or never",
                    capacity_claims(room, arena, 9, 110000).count, 1);
    capacity_drop(room, STR("n/b"));
    capacity_drop(room, STR("n/b"));
    rows_expect_int("what shows claims no more", capacity_claims(room, arena, 9, 110000).count, 0);
    capacity_claim(room, STR("n/c"), STR("t/s"), 0);
    rows_expect_int("a claim that was forgotten ends", capacity_claims(room, arena, 9, 300000).count,
                    0);
}

static void a_claim_has_a_claimant(void **state)
{
    AUTO(capacity_free) struct capacity *room = capacity_create();

    (void)state;
    rows_expect_str("nobody", capacity_claimant(room, STR("n/a"), 0), STR(""));
    capacity_claim(room, STR("n/a"), STR("t/s"), 0);
    rows_expect_str("whoever asks", capacity_claimant(room, STR("n/a"), 1), STR("t/s"));
    rows_expect_str("of that release alone", capacity_claimant(room, STR("n/b"), 1), STR(""));
    rows_expect_str("for a while", capacity_claimant(room, STR("n/a"), 300000), STR(""));
    capacity_drop(room, STR("n/a"));
    capacity_claim(room, STR("n/a"), STR("t/other"), 300000);
    rows_expect_str("and then whoever asks next", capacity_claimant(room, STR("n/a"), 300000), STR("t/other"));
}

/* Between the end of an operation and the App nothing else keeps another Stack away. */
static void a_claim_lasts_until_the_release_shows(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(capacity_free) struct capacity *room = capacity_create();

    (void)state;
    capacity_claim(room, STR("n/a"), STR("t/s"), 0);
    capacity_settled(room, STR("n/a"));
    rows_expect_str("an App from before says nothing", capacity_claimant(room, STR("n/a"), 1), STR("t/s"));
    capacity_shown(room, STR("n/a"), true, 1000);
    capacity_asked(room, STR("n/a"), 1000);
    rows_expect_int("an operation that shows takes one place", capacity_claims(room, arena, 9, 1000).count, 0);
    rows_expect_str("as long as it runs", capacity_claimant(room, STR("n/a"), 1200000), STR("t/s"));
    capacity_shown(room, STR("n/a"), false, 1200000);
    rows_expect_str("and a moment longer", capacity_claimant(room, STR("n/a"), 1209999), STR("t/s"));
    rows_expect_str("but no more", capacity_claimant(room, STR("n/a"), 1210000), STR(""));
    capacity_claim(room, STR("n/b"), STR("t/s"), 0);
    capacity_shown(room, STR("n/b"), false, 1);
    capacity_settled(room, STR("n/b"));
    rows_expect_str("the App ends it", capacity_claimant(room, STR("n/b"), 2), STR(""));
    capacity_shown(room, STR("n/c"), true, 1);
    rows_expect_str("what nobody claimed is nobody's", capacity_claimant(room, STR("n/c"), 2), STR(""));
}

static void first_come_first_served(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(capacity_free) struct capacity *room = capacity_create();
    struct str stack = STR("");

    (void)state;
    rows_expect("nobody waits", !capacity_next(room, arena, &stack), "somebody does");
    capacity_wait(room, STR("n/b"));
    capacity_wait(room, STR("n/a"));
    capacity_wait(room, STR("n/b"));
    rows_expect("first", capacity_next(room, arena, &stack), "nobody");
    rows_expect_str("first", stack, STR("n/b"));
    capacity_wait(room, STR("n/b"));
    rows_expect("second", capacity_next(room, arena, &stack), "nobody");
    rows_expect_str("second", stack, STR("n/a"));
    rows_expect("again, behind", capacity_next(room, arena, &stack), "nobody");
    rows_expect_str("again, behind", stack, STR("n/b"));
    rows_expect("nobody is left", !capacity_is_awaited(room), "somebody is");
    capacity_wait(room, STR("n/c"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(claims_end),
        cmocka_unit_test(a_claim_has_a_claimant),
        cmocka_unit_test(a_claim_lasts_until_the_release_shows),
        cmocka_unit_test(first_come_first_served),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
