/* SPDX-License-Identifier: Apache-2.0 */
/* arena_test.c: zeroed memory, budgets, abandoned work. */
#include "support/rows.h"

#include "base/list.h"

static bool is_zero(const char *at, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (at[i])
            return false;
    return true;
}

static void memory_is_zeroed_aligned_and_apart(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    static const size_t sizes[] = { 0, 1, 15, 16, 17, 1000, 16384, 40000, 3 * 1024 * 1024, 1 };

    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            char *memory = arena_alloc(arena, sizes[i]);

            assert_true((uintptr_t)memory % 16 == 0);
            assert_true(is_zero(memory, sizes[i]));
            memset(memory, 0xab, sizes[i]); /* seen by ASan if it is not ours, else by the next round */
        }
        arena_reset(arena);
        assert_int_equal(arena_used(arena), 0);
    }
    (void)state;
}

static void the_newest_allocation_grows_in_place(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    char *first = arena_bytes(arena, 10);

    assert_true(arena_extend(arena, first, 10, 100));
    memset(first, 1, 100);

    char *second = arena_bytes(arena, 10);

    assert_true(second >= first + 100);
    assert_false(arena_extend(arena, first, 100, 200));
    assert_true(arena_extend(arena, second, 10, 20));
    assert_false(arena_extend(arena, second, 20, 1024 * 1024));
    (void)state;
}

static void allocate_in_steps(void *context)
{
    struct arena *arena = context;

    for (int i = 0; i < 10; i++)
        arena_alloc(arena, 100); /* 112 each */
}

static void work_that_passes_its_budget_is_abandoned(void **state)
{
    static const struct {
        const char *row;
        size_t budget;
        int want;
    } rows[] = {
        { "no budget", 0, 0 },
        { "just enough", 1120, 0 },
        { "a byte short", 1119, -1 },
        { "nothing", 1, -1 },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(rows[i].budget);

        rows_expect_int(rows[i].row, arena_run(arena, allocate_in_steps, arena), rows[i].want);
        arena_reset(arena);
        rows_expect_int(rows[i].row, arena_run(arena, allocate_in_steps, arena), rows[i].want);
    }
    (void)state;
}

static void each_allocation_can_be_the_one_that_fails(void **state)
{
    for (size_t nth = 1; nth <= 11; nth++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);

        arena_fail_at(arena, nth);
        rows_expect_int("nth", arena_run(arena, allocate_in_steps, arena), nth <= 10 ? -1 : 0);
        rows_expect_int("used", (int64_t)arena_used(arena), (int64_t)(nth - 1) * 112);
    }
    (void)state;
}

static void from_one_on_all_allocations_can_fail(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);

    arena_fail_from(arena, 3);
    rows_expect_int("the third", arena_run(arena, allocate_in_steps, arena), -1);
    rows_expect_int("and the first after it", arena_run(arena, allocate_in_steps, arena), -1);
    rows_expect_int("two were made", (int64_t)arena_used(arena), 2 * 112);
    arena_fail_at(arena, 0);
    rows_expect_int("until it is over", arena_run(arena, allocate_in_steps, arena), 0);
    (void)state;
}

static void charge_three_times(void *context)
{
    struct arena *arena = context;

    arena_work_for(arena, "spec.a");
    arena_work(arena, 10);
    arena_work_for(arena, "spec.b");
    arena_work(arena, 10);
    arena_work_for(arena, "spec.c");
    arena_work(arena, 10);
}

static void work_that_takes_too_many_steps_is_abandoned(void **state)
{
    static const struct {
        const char *row;
        uint64_t bound;
        bool want;
        const char *field;
    } rows[] = {
        { "no bound", 0, true, "spec.c" },
        { "one is left", 31, true, "spec.c" },
        { "none is left", 30, false, "spec.c" },
        { "too few", 15, false, "spec.b" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);

        rows_expect_int(rows[i].row, arena_run_within(arena, rows[i].bound, charge_three_times, arena), rows[i].want);
        rows_expect_str(rows[i].row, str_of(arena_worked_for(arena)), str_of(rows[i].field));
        rows_expect_int("the bound ends with it", arena_run(arena, charge_three_times, arena), 0);
    }
    (void)state;
}

static void a_bound_on_work_stays_until_there_is_another(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);

    (void)state;
    arena_bound_work(arena, 45);
    rows_expect_int("enough for one", arena_run(arena, charge_three_times, arena), 0);
    rows_expect_int("not for two", arena_run(arena, charge_three_times, arena), -1);
    rows_expect_int("nor for any after it", arena_run(arena, charge_three_times, arena), -1);
    rows_expect_str("at once", str_of(arena_worked_for(arena)), STR("spec.a"));
}

static void allocate_and_charge(void *context)
{
    allocate_in_steps(context);
    charge_three_times(context);
}

/* Of bytes and work the outer run is told what is not the inner one's. */
static void run_within(void *context)
{
    (void)arena_run_within(context, 31, allocate_and_charge, context);
}

static void a_budget_of_bytes_passes_a_bound_on_work(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(1119);

    (void)state;
    rows_expect_int("abandoned by the outer run", arena_run(arena, run_within, arena), -1);
    rows_expect_int("and no bound is left", arena_run(arena, charge_three_times, arena), 0);
    rows_expect_int("twice as much", arena_run(arena, charge_three_times, arena), 0);
}

struct nested {
    struct arena *arena;
    int inner;
    bool went_on;
};

static void run_inside(void *context)
{
    struct nested *nested = context;

    arena_fail_at(nested->arena, 3);
    nested->inner = arena_run(nested->arena, allocate_in_steps, nested->arena);
    nested->went_on = true;
    arena_fail_at(nested->arena, 2);
    allocate_in_steps(nested->arena);
    nested->went_on = false;
}

static void runs_nest(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct nested nested = { arena, 0, false };

    assert_int_equal(arena_run(arena, run_inside, &nested), -1);
    assert_int_equal(nested.inner, -1);
    assert_true(nested.went_on);
    (void)state;
}

static void secrets_are_gone_after_a_reset(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf buf;

    arena_alloc(arena, 20 * 1024); /* the block that is kept is not the first */
    arena_keep_secret(arena);
    buf = strbuf_new(arena, 8);
    for (int i = 0; i < 100; i++)
        strbuf_lit(&buf, "hunter22"); /* grows: older places hold parts of it, too */

    const char *at = strbuf_str(&buf).at;

    arena_reset(arena);
    for (size_t i = 0; i < buf.len; i++)
        assert_int_equal(at[i], 0);
    (void)state;
}

static void lists_keep_what_was_pushed(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct u32_list list = u32_list_new(arena, 0);

    for (uint32_t i = 0; i < 1000; i++)
        u32_list_push(&list, i * i);
    assert_int_equal(list.count, 1000);
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(list.items[i], i * i);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zeroed_aligned_and_apart),
        cmocka_unit_test(the_newest_allocation_grows_in_place),
        cmocka_unit_test(work_that_passes_its_budget_is_abandoned),
        cmocka_unit_test(work_that_takes_too_many_steps_is_abandoned),
        cmocka_unit_test(a_bound_on_work_stays_until_there_is_another),
        cmocka_unit_test(a_budget_of_bytes_passes_a_bound_on_work),
        cmocka_unit_test(each_allocation_can_be_the_one_that_fails),
        cmocka_unit_test(from_one_on_all_allocations_can_fail),
        cmocka_unit_test(runs_nest),
        cmocka_unit_test(lists_keep_what_was_pushed),
        cmocka_unit_test(secrets_are_gone_after_a_reset),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
