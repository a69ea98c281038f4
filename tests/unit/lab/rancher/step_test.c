/* SPDX-License-Identifier: Apache-2.0 */
/* step_test.c: what one Helm operation does next, for every world it may find itself in. */
#include "support/rows.h"

#include "lab/rancher/step.h"

/* Life's own pace: accepted at 0, waiting 2 s, running 10 s, work 12 s, ready 52 s, timeout 312 s. */
static struct task a_task(enum task_action action)
{
    const struct task_pace pace = { 1, 40000, 300000, 20 };
    struct task task = { .action = action,
                         .release = STR_INIT("web"),
                         .operation = STR_INIT("helm-operation-abcde"),
                         .cluster = STR_INIT("c-m-1"),
                         .wait = true,
                         .history_max = 5,
                         .times = task_times_of(0, &pace) };

    return task;
}

struct row {
    const char *name;
    enum task_action action;
    enum fault_id fault;
    bool no_wait;
    bool keep_history;
    int64_t at_revision;
    struct task_view view;
    int64_t now_ms;
    enum task_effect effect;
    int64_t revision;
    enum fault_id failure;
    int64_t next_ms;
};

#define POD .pod_there = true, .fits = true
#define NEWEST(number, status_) .newest = number, .newest_status = status_
#define OURS(number, status_) .ours = number, .ours_status = status_

static const struct row rows[] = {
    { "nothing happens before the pod waits", TASK_UPGRADE, 0, 0, 0, 0, { STAGE_NEW, POD }, 1000,
      EFFECT_NONE, 0, 0, 2000 },
    { "then the Operation waits for its image", TASK_UPGRADE, 0, 0, 0, 0, { STAGE_NEW, POD }, 2000,
      EFFECT_OPERATION_WAITING, 0, 0, 0 },
    { "and waits once", TASK_UPGRADE, 0, 0, 0, 0, { STAGE_WAITING, POD }, 2000, EFFECT_NONE, 0, 0,
      10000 },
    { "then it runs", TASK_UPGRADE, 0, 0, 0, 0, { STAGE_WAITING, POD }, 10000,
      EFFECT_OPERATION_RUNNING, 0, 0, 0 },
    { "Helm stores the first revision", TASK_UPGRADE, 0, 0, 0, 0, { STAGE_RUNNING, POD }, 12000,
      EFFECT_RELEASE_PENDING, 1, 0, 0 },
    { "a second run after a kill makes no second revision", TASK_UPGRADE, 0, 0, 0, 0,
      { STAGE_RUNNING, POD, NEWEST(1, RELEASE_PENDING_INSTALL), OURS(1, RELEASE_PENDING_INSTALL) },
      12000, EFFECT_NONE, 0, 0, 52000 },
    { "it is deployed when ready", TASK_UPGRADE, 0, 0, 0, 0,
      { STAGE_RUNNING, POD, NEWEST(1, RELEASE_PENDING_INSTALL), OURS(1, RELEASE_PENDING_INSTALL) },
      52000, EFFECT_RELEASE_DEPLOYED, 1, 0, 0 },
    { "the Operation ends a little later", TASK_UPGRADE, 0, 0, 0, 0,
      { STAGE_RUNNING, POD, NEWEST(1, RELEASE_DEPLOYED), OURS(1, RELEASE_DEPLOYED) }, 52000,
      EFFECT_NONE, 0, 0, 53000 },
    { "and is done", TASK_UPGRADE, 0, 0, 0, 0,
      { STAGE_RUNNING, POD, NEWEST(1, RELEASE_DEPLOYED), OURS(1, RELEASE_DEPLOYED) }, 53000,
      EFFECT_OPERATION_DONE, 0, 0, 0 },
    { "a finished one rests until it is forgotten", TASK_UPGRADE, 0, 0, 0, 0,
      { STAGE_ENDED, POD }, 60000, EFFECT_NONE, 0, 0, 3600000 },
    { "after an hour all of it goes", TASK_UPGRADE, 0, 0, 0, 0, { STAGE_ENDED, POD }, 3600000,
      EFFECT_FORGET, 0, 0, 0 },
    { "woken late, it deploys in one go", TASK_UPGRADE, 0, 0, 0, 0,
      { STAGE_NEW, POD, NEWEST(3, RELEASE_DEPLOYED), .any_deployed = true }, 90000,
      EFFECT_RELEASE_DEPLOYED, 4, 0, 0 },
    { "without wait it is deployed at once", TASK_UPGRADE, 0, true, 0, 0, { STAGE_RUNNING, POD },
      12000, EFFECT_RELEASE_DEPLOYED, 1, 0, 0 },
    { "a newer revision of somebody else does not make ours again", TASK_UPGRADE, 0, 0, 0, 0,
      { STAGE_RUNNING, POD, NEWEST(2, RELEASE_PENDING_UPGRADE), OURS(1, RELEASE_SUPERSEDED) },
      53000, EFFECT_OPERATION_DONE, 0, 0, 0 },
    { "a pending revision locks the release", TASK_UPGRADE, 0, 0, 0, 0,
      { STAGE_RUNNING, POD, NEWEST(1, RELEASE_PENDING_INSTALL) }, 12000, EFFECT_OPERATION_FAILED, 0,
      FAULT_LOCKED, 0 },
    { "a failed first install may be upgraded", TASK_UPGRADE, 0, 0, 0, 0,
      { STAGE_RUNNING, POD, NEWEST(1, RELEASE_FAILED) }, 12000, EFFECT_RELEASE_PENDING, 2, 0, 0 },
    { "a release being uninstalled has no deployed revision", TASK_UPGRADE, 0, 0, 0, 0,
      { STAGE_RUNNING, POD, NEWEST(1, RELEASE_UNINSTALLING) }, 12000, EFFECT_OPERATION_FAILED, 0,
      FAULT_NOT_DEPLOYED, 0 },
    { "install does not take a name in use", TASK_INSTALL, 0, 0, 0, 0,
      { STAGE_RUNNING, POD, NEWEST(1, RELEASE_DEPLOYED), .any_deployed = true }, 12000,
      EFFECT_OPERATION_FAILED, 0, FAULT_NAME_IN_USE, 0 },
    { "a template's error leaves no revision", TASK_UPGRADE, FAULT_TEMPLATE, 0, 0, 0,
      { STAGE_RUNNING, POD }, 12000, EFFECT_OPERATION_FAILED, 0, FAULT_TEMPLATE, 0 },
    { "never ready is pending until the timeout", TASK_UPGRADE, FAULT_READINESS, 0, 0, 0,
      { STAGE_RUNNING, POD, NEWEST(1, RELEASE_PENDING_INSTALL), OURS(1, RELEASE_PENDING_INSTALL) },
      52000, EFFECT_NONE, 0, 0, 312000 },
    { "and then failed", TASK_UPGRADE, FAULT_READINESS, 0, 0, 0,
      { STAGE_RUNNING, POD, NEWEST(1, RELEASE_PENDING_INSTALL), OURS(1, RELEASE_PENDING_INSTALL) },
      312000, EFFECT_RELEASE_FAILED, 1, FAULT_READINESS, 0 },
    { "a failed revision fails the Operation", TASK_UPGRADE, FAULT_READINESS, 0, 0, 0,
      { STAGE_RUNNING, POD, NEWEST(1, RELEASE_FAILED), OURS(1, RELEASE_FAILED) }, 312000,
      EFFECT_OPERATION_FAILED, 0, FAULT_READINESS, 0 },
    { "no room for its GPUs: looked at again each second", TASK_UPGRADE, 0, 0, 0, 0,
      { STAGE_RUNNING, .pod_there = true, NEWEST(1, RELEASE_PENDING_INSTALL),
        OURS(1, RELEASE_PENDING_INSTALL) },
      52000, EFFECT_NONE, 0, 0, 53000 },
    { "no room until the timeout is a failure", TASK_UPGRADE, 0, 0, 0, 0,
      { STAGE_RUNNING, .pod_there = true, NEWEST(1, RELEASE_PENDING_INSTALL),
        OURS(1, RELEASE_PENDING_INSTALL) },
      312000, EFFECT_RELEASE_FAILED, 1, FAULT_READINESS, 0 },
    { "rejected rights fail after the revision is stored", TASK_UPGRADE, FAULT_RBAC, 0, 0, 0,
      { STAGE_RUNNING, POD, NEWEST(2, RELEASE_PENDING_UPGRADE), OURS(2, RELEASE_PENDING_UPGRADE) },
      52000, EFFECT_RELEASE_FAILED, 2, FAULT_RBAC, 0 },
    { "an image that cannot be pulled is waited for without end", TASK_UPGRADE, FAULT_IMAGE_PULL, 0,
      0, 0, { STAGE_WAITING, POD }, 1000000, EFFECT_NONE, 0, 0, 3600000 },
    { "a pod that no node takes shows nothing", TASK_UPGRADE, FAULT_UNSCHEDULABLE, 0, 0, 0,
      { STAGE_NEW, POD }, 1000000, EFFECT_NONE, 0, 0, 3600000 },
    { "a killed pod leaves the release pending and the Operation active", TASK_UPGRADE,
      FAULT_POD_KILLED, 0, 0, 0,
      { STAGE_RUNNING, POD, NEWEST(1, RELEASE_PENDING_INSTALL), OURS(1, RELEASE_PENDING_INSTALL) },
      52000, EFFECT_OPERATION_KILLED, 0, 0, 0 },
    { "a pod that somebody deleted does the same", TASK_UPGRADE, 0, 0, 0, 0,
      { STAGE_RUNNING, .fits = true }, 20000, EFFECT_OPERATION_KILLED, 0, 0, 0 },
    { "an uninstall says so first", TASK_UNINSTALL, 0, 0, 0, 2,
      { STAGE_RUNNING, POD, NEWEST(2, RELEASE_DEPLOYED) }, 12000, EFFECT_RELEASE_UNINSTALLING, 2, 0,
      0 },
    { "then removes all revisions", TASK_UNINSTALL, 0, 0, 0, 2,
      { STAGE_RUNNING, POD, NEWEST(2, RELEASE_UNINSTALLING) }, 52000, EFFECT_RELEASE_REMOVED, 2, 0,
      0 },
    { "or keeps them as uninstalled", TASK_UNINSTALL, 0, 0, true, 2,
      { STAGE_RUNNING, POD, NEWEST(2, RELEASE_UNINSTALLING) }, 52000, EFFECT_RELEASE_UNINSTALLED, 2,
      0, 0 },
    { "removed before a kill, it is done after it", TASK_UNINSTALL, 0, 0, 0, 2,
      { STAGE_RUNNING, POD }, 52000, EFFECT_OPERATION_DONE, 0, 0, 0 },
    { "a release installed anew meanwhile is left alone", TASK_UNINSTALL, 0, 0, 0, 2,
      { STAGE_RUNNING, POD, NEWEST(3, RELEASE_DEPLOYED) }, 52000, EFFECT_OPERATION_DONE, 0, 0, 0 },
    { "an uninstall of a release that was not there fails", TASK_UNINSTALL, 0, 0, 0, 0,
      { STAGE_RUNNING, POD }, 12000, EFFECT_OPERATION_FAILED, 0, FAULT_UNINSTALL_STALE, 0 },
    { "an Operation that somebody deleted is forgotten", TASK_UPGRADE, 0, 0, 0, 0,
      { STAGE_ABSENT, POD }, 12000, EFFECT_FORGET, 0, 0, 0 },
};

static void test_steps(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct row *row = &rows[i];
        struct task task = a_task(row->action);
        struct task_step step;

        task.fault = row->fault;
        task.wait = !row->no_wait;
        task.keep_history = row->keep_history;
        task.at_revision = row->at_revision;
        step = task_step(&task, &row->view, row->now_ms);
        rows_expect_int(row->name, step.effect, row->effect);
        rows_expect_int(row->name, step.revision, row->revision);
        rows_expect_int(row->name, step.failure, row->failure);
        rows_expect_int(row->name, step.next_ms, row->next_ms);
    }
}

/* Every walk from acceptance ends, makes exactly one revision or none, and never goes back. */
static void apply(struct task_view *view, const struct task_step *step)
{
    switch (step->effect) {
    case EFFECT_OPERATION_WAITING: view->stage = STAGE_WAITING; break;
    case EFFECT_OPERATION_RUNNING: view->stage = STAGE_RUNNING; break;
    case EFFECT_OPERATION_DONE:
    case EFFECT_OPERATION_FAILED:
    case EFFECT_OPERATION_KILLED: view->stage = STAGE_ENDED; break;
    case EFFECT_RELEASE_PENDING:
    case EFFECT_RELEASE_DEPLOYED:
    case EFFECT_RELEASE_FAILED:
        view->newest = view->ours = step->revision;
        view->newest_status = view->ours_status =
            step->effect == EFFECT_RELEASE_PENDING    ? RELEASE_PENDING_INSTALL
            : step->effect == EFFECT_RELEASE_DEPLOYED ? RELEASE_DEPLOYED
                                                      : RELEASE_FAILED;
        view->any_deployed = view->any_deployed || step->effect == EFFECT_RELEASE_DEPLOYED;
        break;
    case EFFECT_FORGET: view->stage = STAGE_ABSENT; break;
    case EFFECT_NONE:
    case EFFECT_RELEASE_UNINSTALLING:
    case EFFECT_RELEASE_REMOVED:
    case EFFECT_RELEASE_UNINSTALLED: break;
    }
}

static void test_every_fault_ends(void **state)
{
    (void)state;
    for (int fault = 0; fault < FAULT_ID_COUNT; fault++) {
        for (int scale = 0; scale < 3; scale++) {
            const struct task_pace pace = { (double)scale / 2, 40000, 60000, 7 };
            struct task task = a_task(TASK_UPGRADE);
            struct task_view view = { .stage = STAGE_NEW, .pod_there = true, .fits = true };
            int64_t now_ms = 0;
            int steps = 0;

            task.fault = (enum fault_id)fault;
            task.instant = scale == 0;
            task.times = task_times_of(0, &pace);
            while (view.stage != STAGE_ABSENT && steps++ < 50) {
                struct task_step step = task_step(&task, &view, now_ms);

                apply(&view, &step);
                rows_expect(fault_row(task.fault)->name.at, view.newest <= 1, "one revision");
                if (step.effect == EFFECT_NONE) {
                    rows_expect("time goes on", step.next_ms > now_ms, "next_ms > now_ms");
                    now_ms = step.next_ms;
                }
            }
            rows_expect(fault_row(task.fault)->name.at, view.stage == STAGE_ABSENT, "it ends");
        }
    }
}

static void test_record(void **state)
{
    struct arena *arena = arena_create(0);
    struct task task = a_task(TASK_UPGRADE);
    struct task back;
    struct error err = { 0 };

    (void)state;
    task.values = STR("{\"replicaCount\":2}");
    task.fault = FAULT_RBAC;
    task.at_revision = 7;
    assert_int_equal(task_decode(arena, task_encode(arena, &task, true), &back, &err), 0);
    rows_expect_str("a record reads back", task_encode(arena, &back, true),
                    task_encode(arena, &task, true));
    assert_int_equal(task_decode(arena, STR("{}"), &back, &err), -1);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_every_fault_ends),
        cmocka_unit_test(test_record),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
