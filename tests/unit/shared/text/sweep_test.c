/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_test.c: the budget passed at every single allocation: the reader is abandoned, nothing leaks, no
 * output is touched. (LeakSanitizer looks after libyaml's own memory.) */
#include "support/rows.h"

#include "text/patch.h"
#include "text/yaml.h"

struct task {
    struct arena *arena;
    bool done;
    int result;
    struct error err;
};

static void read_and_patch(void *context)
{
    struct task *task = context;
    struct value *a;
    struct value *b;
    struct value *got;

    task->result = value_read(task->arena, STR("{\"a\":[1,{\"\\u0062\":\"x\\n\"}],\"c\":null}"),
                              &json_limits_default, &a, &task->err);
    task->result |= value_read(task->arena, STR("{\"a\":[{\"b\":2},3],\"d\":{}}"), &json_limits_default,
                               &b, &task->err);
    task->result |= patch_apply(task->arena, a, patch_diff(task->arena, a, b), &got, &task->err);
    (void)value_json(task->arena, value_merge(task->arena, a, b));
    task->done = task->result == 0;
}

static void read_yaml(void *context)
{
    struct task *task = context;
    struct yaml_documents documents;

    task->result = yaml_read(task->arena,
                             STR("a: &x {k: 0x10, l: [1.50, 'q']}\nb:\n  <<: *x\n  k: |\n    t\n---\n- 1_0\n"),
                             &documents, &task->err);
    task->done = task->result == 0;
}

static void sweep(void (*work)(void *context))
{
    size_t nth = 1;
    bool done = false;

    for (; !done; nth++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct task task = { .arena = arena };

        arena_fail_at(arena, nth);

        int ran = arena_run(arena, work, &task);

        done = ran == 0 && task.done;
        if (!done && ran == 0)
            rows_expect_int("an answer, but no result", task.err.code, ERROR_BUDGET);
        assert_true(nth < 10000);
    }
    assert_true(nth > 20);
}

static void values_and_patches_can_be_abandoned_anywhere(void **state)
{
    (void)state;
    sweep(read_and_patch);
}

static void yaml_can_be_abandoned_anywhere(void **state)
{
    (void)state;
    sweep(read_yaml);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_and_patches_can_be_abandoned_anywhere),
        cmocka_unit_test(yaml_can_be_abandoned_anywhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
