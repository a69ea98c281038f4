/* SPDX-License-Identifier: Apache-2.0 */
/* helm_step_test.c: what an operation that helm executes does next. */
#include "support/rows.h"

#include "lab/rancher/helm_step.h"

/* Accepted at 0, waiting 2 s, running 10 s, gone after 1 h. */
static struct task a_task(enum fault_id fault)
{
    const struct task_pace pace = { 1, 40000, 300000, 20 };

    return (struct task){ .action = TASK_UPGRADE,
                          .release = STR_INIT("web"),
                          .fault = fault,
                          .times = task_times_of(0, &pace) };
}

#define HOUR 3600000
#define RUNS { HELM_RUNNING, 0, false }

static const struct {
    const char *name;
    enum fault_id fault;
    struct helm_task_view view;
    int64_t now_ms;
    enum task_effect effect;
    int64_t next_ms;
} rows[] = {
    { "nothing happens before the pod waits", 0, { STAGE_NEW, true, { 0 } }, 1000, EFFECT_NONE,
      2000 },
    { "then the Operation waits for its image", 0, { STAGE_NEW, true, { 0 } }, 2000,
      EFFECT_OPERATION_WAITING, 0 },
    { "and waits once", 0, { STAGE_WAITING, true, { 0 } }, 2000, EFFECT_NONE, 10000 },
    { "then helm is started", 0, { STAGE_WAITING, true, { 0 } }, 10000, EFFECT_OPERATION_RUNNING,
      0 },
    { "a lab that starts late starts helm, too: nobody did before", 0,
      { STAGE_NEW, true, { 0 } }, 20000, EFFECT_OPERATION_RUNNING, 0 },
    { "while it runs, its pod is looked after", 0, { STAGE_RUNNING, true, RUNS }, 20000,
      EFFECT_NONE, 21000 },
    { "the same while it waits for its turn", 0,
      { STAGE_RUNNING, true, { HELM_QUEUED, 0, false } }, 20000, EFFECT_NONE, 21000 },
    { "a good end is one", 0, { STAGE_RUNNING, true, { HELM_ENDED, 0, false } }, 20000,
      EFFECT_OPERATION_DONE, 0 },
    { "a bad end is one", 0, { STAGE_RUNNING, true, { HELM_ENDED, 1, false } }, 20000,
      EFFECT_OPERATION_FAILED, 0 },
    { "a process that was killed for its time failed", 0,
      { STAGE_RUNNING, true, { HELM_ENDED, 137, true } }, 20000, EFFECT_OPERATION_FAILED, 0 },
    { "a process that died with the lab is never started again", 0,
      { STAGE_RUNNING, true, { 0 } }, 20000, EFFECT_OPERATION_KILLED, 0 },
    { "a pod that was deleted takes helm with it", 0, { STAGE_RUNNING, false, RUNS }, 20000,
      EFFECT_OPERATION_KILLED, 0 },
    { "an Operation that was deleted does, too", 0, { STAGE_ABSENT, true, RUNS }, 20000,
      EFFECT_FORGET, 0 },
    { "an ended one stays to be read", 0, { STAGE_ENDED, true, { 0 } }, 20000, EFFECT_NONE,
      HOUR },
    { "for an hour", 0, { STAGE_ENDED, true, { 0 } }, HOUR, EFFECT_FORGET, 0 },
    { "even if it runs", 0, { STAGE_RUNNING, true, RUNS }, HOUR, EFFECT_FORGET, 0 },
    { "a pod without an image waits for ever", FAULT_IMAGE_PULL, { STAGE_WAITING, true, { 0 } },
      20000, EFFECT_NONE, HOUR },
    { "one that no node takes does not even wait", FAULT_UNSCHEDULABLE,
      { STAGE_NEW, true, { 0 } }, 20000, EFFECT_NONE, HOUR },
};

static void test_steps(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct task task = a_task(rows[i].fault);
        struct task_step step = helm_step(&task, &rows[i].view, rows[i].now_ms);

        rows_expect_int(rows[i].name, step.effect, rows[i].effect);
        rows_expect_int(rows[i].name, step.next_ms, rows[i].next_ms);
    }
}

static void test_exit_codes(void **state)
{
    static const struct {
        const char *name;
        int code, want;
    } codes[] = {
        { "0 stays", 0, 0 },
        { "helm's own failure is xargs' 123", 1, 123 },
        { "up to 125", 125, 123 },
        { "a program that is not there stays 127", 127, 127 },
        { "a signal is 125", 137, 125 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
        rows_expect_int(codes[i].name,
                        helm_exit_code(&(struct helm_view){ HELM_ENDED, codes[i].code, false }),
                        codes[i].want);
    rows_expect_int("hooks before, workloads and hooks after may each take the timeout",
                    helm_time_ms(10000), 60000);
    rows_expect_int("Helm's own timeout is 5 min", helm_time_ms(0), 930000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_exit_codes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
