/* room_test.c: claims on a cluster's room, and the order of those who wait for it. */
#include "support/rows.h"

#include "controller/estate/rancher/room.h"

static void claims_end(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(room_free) struct room *room = room_create();

    (void)state;
    room_asked(room, STR("n/a"), 0);
    rows_expect_int("what was never claimed is not asked for",
                    room_claims(room, arena, 9, 0).count, 0);
    room_claim(room, STR("n/a"), 0);
    room_claim(room, STR("n/a"), 1);
    room_claim(room, STR("n/b"), 0);
    rows_expect_int("a release claims once", room_claims(room, arena, 9, 100000).count, 2);
    rows_expect_int("no more than asked for", room_claims(room, arena, 1, 100000).count, 1);
    room_asked(room, STR("n/a"), 100000);
    rows_expect_int("what was asked for shows soon or never",
                    room_claims(room, arena, 9, 110000).count, 1);
    room_drop(room, STR("n/b"));
    room_drop(room, STR("n/b"));
    rows_expect_int("what shows claims no more", room_claims(room, arena, 9, 110000).count, 0);
    room_claim(room, STR("n/c"), 0);
    rows_expect_int("a claim that was forgotten ends", room_claims(room, arena, 9, 180000).count,
                    0);
}

static void first_come_first_served(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(room_free) struct room *room = room_create();
    struct str stack = STR("");

    (void)state;
    rows_expect("nobody waits", !room_next(room, arena, &stack), "somebody does");
    room_wait(room, STR("n/b"));
    room_wait(room, STR("n/a"));
    room_wait(room, STR("n/b"));
    rows_expect("first", room_next(room, arena, &stack), "nobody");
    rows_expect_str("first", stack, STR("n/b"));
    room_wait(room, STR("n/b"));
    rows_expect("second", room_next(room, arena, &stack), "nobody");
    rows_expect_str("second", stack, STR("n/a"));
    rows_expect("again, behind", room_next(room, arena, &stack), "nobody");
    rows_expect_str("again, behind", stack, STR("n/b"));
    rows_expect("nobody is left", !room_is_awaited(room), "somebody is");
    room_wait(room, STR("n/c"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(claims_end),
        cmocka_unit_test(first_come_first_served),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
