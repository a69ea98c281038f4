/* SPDX-License-Identifier: Apache-2.0 */
/* engine_perform.c: the effects that step.c decides on, each idempotent. */
#include "lab/rancher/engine.h"

#include "lab/rancher/jsonf.h"
#include "lab/rancher/workload.h"
#include "text/time.h"

/* ---- the Operation --------------------------------------------------------------------------- */

int engine_write_stage(struct simulation *simulation, struct arena *arena, const struct task *task,
                       enum task_stage stage, bool failed, int exit_code)
{
    struct error err = { 0 };
    struct str stored;
    struct str now = time_rfc3339(arena, simulation_now(simulation));
    struct str status =
        object_operation_status(arena, task, task->command, stage, failed, exit_code, now);

    if (world_merge(simulation, arena, task->cluster, &res_operations, task->namespace_,
                    task->operation, STR("status"), status, &stored, &err) == 0)
        return 0;
    log_warn(simulation->log, "Operation not written", LOG_STR("cluster", task->cluster),
             LOG_STR("operation", task->operation), LOG_Z("error", err.text));
    return -1;
}

static struct str failure_text(struct arena *arena, const struct task *task, enum fault_id id,
                               int64_t revision, bool with_verb)
{
    struct str verb = with_verb ? task_error_verb(task, revision <= 1) : STR("");
    const struct str pairs[] = {
        STR("verb"),      verb,
        STR("release"),   task->release,
        STR("chart"),     task->chart,
        STR("version"),   task->version,
        STR("namespace"), task->namespace_,
        STR("values"),    task->values,
        STR("revision"),  str_fmt(arena, "%lld", (long long)revision),
    };

    return fault_text(arena, fault_row(id)->text, pairs, sizeof(pairs) / sizeof(pairs[0]));
}

/* The log's last lines are kept before the stage says that it is over. */
static void end_failed(struct simulation *simulation, struct arena *arena, const struct task *task,
                       const struct task_view *view, enum fault_id failure)
{
    struct error err = { 0 };
    struct str stored;
    bool exists = view->newest && !(view->ours == 1 && view->newest == 1);
    struct str text = failure_text(arena, task, failure, exists ? 2 : 1, true);

    if (failure == FAULT_TOO_BIG)
        text = failure_text(arena, task, failure, view->newest + 1, true);
    world_merge(
        simulation, arena, task->cluster, &res_operations, task->namespace_, task->operation,
        STR(""),
        jsonf(arena, "{'metadata':{'annotations':{%s:%s}}}", STR(OPERATION_LOG_ANNOTATION), text),
        &stored, &err);
    engine_write_stage(simulation, arena, task, STAGE_ENDED, true, fault_row(failure)->exit_code);
}

/* ---- the release ----------------------------------------------------------------------------- */

/* What a new revision begins with. */
static struct release new_release(struct arena *arena, const struct task *task,
                                  const struct revisions *history, int64_t revision, int64_t now_ms)
{
    struct release before = { 0 };
    struct error ignored = { 0 };
    struct release release = {
        .name = task->release,
        .namespace_ = task->namespace_,
        .revision = revision,
        .first_deployed_ms = now_ms,
        .last_deployed_ms = now_ms,
        .metadata = STR("{}"),
        .chart_values = STR("{}"),
        .config = task->values,
        .repo = task->repo,
        .operation = task->operation,
        .notes = STR(""),
        .manifest = STR(""),
        .description = STR(""),
    };
    struct json values = { 0 };

    if (history->count && release_read(arena, history->items[0].secret, &before, &ignored) == 0) {
        release.first_deployed_ms = before.first_deployed_ms;
        /* Helm's trap: no values and no --reset-values keeps those of before. */
        if (!task->reset_values && task->values.len <= 2 && before.config.len > 2)
            release.config = before.config;
    }
    if (release.config.len)
        json_read(arena, release.config, &json_limits_default, &values, &ignored);
    for (uint32_t i = 0; i < catalogue_chart_count(); i++) {
        const struct catalogue_chart *chart = catalogue_chart_at(i);

        if (!str_eq(chart->name, task->chart) || !str_eq(chart->version, task->version))
            continue;

        struct workload workload = workload_of(chart, values);

        workload.release = task->release;
        workload.namespace_ = task->namespace_;
        release.metadata = catalogue_metadata(arena, chart, task->annotations);
        release.chart_values = catalogue_values(arena, chart);
        if (!task->instant)
            release.manifest = workload_manifest(arena, &workload);
        break;
    }
    return release;
}

static void describe(struct arena *arena, const struct task *task, enum task_effect effect,
                     enum fault_id failure, struct release *release)
{
    bool first = release->revision == 1;

    if (effect == EFFECT_RELEASE_PENDING) {
        release->status = first ? RELEASE_PENDING_INSTALL : RELEASE_PENDING_UPGRADE;
        release->description = first ? STR("Initial install underway") : STR("Preparing upgrade");
    } else if (effect == EFFECT_RELEASE_DEPLOYED) {
        release->status = RELEASE_DEPLOYED;
        release->description = task->description.len ? task->description
                               : first               ? STR("Install complete")
                                                     : STR("Upgrade complete");
    } else if (effect == EFFECT_RELEASE_FAILED) {
        struct str why = failure_text(arena, task, failure, release->revision, false);

        if (str_starts(why, STR("Error: ")))
            why = str_slice(why, 7, why.len);
        release->status = RELEASE_FAILED;
        release->description =
            str_fmt(arena, "%s \"%.*s\" failed: %.*s", first ? "Release" : "Upgrade",
                    STR_ARG(release->name), STR_ARG(why));
    } else if (effect == EFFECT_RELEASE_UNINSTALLING) {
        release->status = RELEASE_UNINSTALLING;
        release->description = STR("Deletion in progress (or silently failed)");
    } else {
        release->status = RELEASE_UNINSTALLED;
        release->description =
            task->description.len ? task->description : STR("Uninstallation complete");
    }
}

/* One revision deployed, and only the newest few kept. Idempotent. */
static void tidy_history(struct simulation *simulation, struct arena *arena,
                         const struct task *task)
{
    struct revisions history =
        world_history(simulation, arena, task->cluster, task->namespace_, task->release);

    for (uint32_t i = 0; i < history.count; i++) {
        const struct revision *revision = &history.items[i];
        struct release release;
        struct error err = { 0 };

        if (task->history_max > 0 && i >= (uint32_t)task->history_max) {
            world_remove_release(simulation, arena, task->cluster, task->namespace_, task->release,
                                 revision->number);
            continue;
        }
        if (i == 0 || revision->status != RELEASE_DEPLOYED ||
            history.items[0].status != RELEASE_DEPLOYED ||
            release_read(arena, revision->secret, &release, &err) != 0)
            continue;
        release.status = RELEASE_SUPERSEDED;
        world_store_release(simulation, arena, task->cluster, &release, false, &err);
    }
}

/* With every fourth operation the agent is slow: the App says so after the Operation has ended. */
static bool app_is_slow(const struct task *task)
{
    return !task->instant && str_hash(task->operation) % 4 == 0;
}

static void later_app(struct simulation *simulation, const struct task *task, int64_t life_ms)
{
    simulation_put(
        simulation,
        &(struct agenda_entry){ AGENDA_RELEASE, task->cluster, task->namespace_, task->release },
        simulation_now(simulation) + simulation_scaled(simulation, life_ms));
}

static int write_release(struct simulation *simulation, struct arena *arena,
                         const struct task *task, const struct revisions *history,
                         const struct task_step *step, struct error *err)
{
    int64_t now_ms = simulation_now(simulation);
    struct release release;
    const struct revision *stored = NULL;

    for (uint32_t i = 0; i < history->count; i++)
        if (history->items[i].number == step->revision)
            stored = &history->items[i];
    if (!stored)
        release = new_release(arena, task, history, step->revision, now_ms);
    else if (release_read(arena, stored->secret, &release, err) != 0)
        return -1;
    describe(arena, task, step->effect, step->failure, &release);
    if (release.status == RELEASE_UNINSTALLING || release.status == RELEASE_UNINSTALLED)
        release.deleted_ms = now_ms;
    if (world_store_release(simulation, arena, task->cluster, &release, !stored, err) != 0)
        return -1;
    if (release.status == RELEASE_DEPLOYED && release.revision > 1)
        tidy_history(simulation, arena, task);
    world_workload(simulation, arena, task, release.status == RELEASE_DEPLOYED);
    if (release.status == RELEASE_DEPLOYED && app_is_slow(task))
        later_app(simulation, task, 3000);
    else
        world_sync_app(simulation, arena, task->cluster, task->namespace_, task->release);
    return 0;
}

/* Oldest first: while the newest is there, a restart still knows what was going on. */
static void remove_release(struct simulation *simulation, struct arena *arena,
                           const struct task *task, const struct revisions *history)
{
    world_remove_workload(simulation, arena, task);
    for (uint32_t i = history->count; i-- > 0;)
        world_remove_release(simulation, arena, task->cluster, task->namespace_, task->release,
                             history->items[i].number);
    if (task->instant)
        world_sync_app(simulation, arena, task->cluster, task->namespace_, task->release);
    else
        later_app(simulation, task, 2000); /* the garbage collector takes its time */
}

void engine_forget(struct simulation *simulation, struct arena *arena, const struct task *task)
{
    struct error err = { 0 };

    world_delete(simulation, arena, task->cluster, &res_operations, task->namespace_,
                 task->operation, &err);
    if (task->instant)
        return;
    world_delete(simulation, arena, task->cluster, &res_pods, SYSTEM_NAMESPACE, task->operation,
                 &err);
    world_delete(simulation, arena, task->cluster, &res_secrets, SYSTEM_NAMESPACE, task->operation,
                 &err);
}

int engine_perform(struct simulation *simulation, struct arena *arena, const struct task *task,
                   const struct task_view *view, const struct revisions *history,
                   const struct task_step *step, struct error *err)
{
    switch (step->effect) {
    case EFFECT_NONE:
        return 0;
    case EFFECT_OPERATION_WAITING:
        engine_write_stage(simulation, arena, task, STAGE_WAITING, false, 0);
        return 0;
    case EFFECT_OPERATION_RUNNING:
        engine_write_stage(simulation, arena, task, STAGE_RUNNING, false, 0);
        return 0;
    case EFFECT_OPERATION_DONE:
        if (task->action != TASK_UNINSTALL && view->newest > 1)
            tidy_history(simulation, arena, task);
        engine_write_stage(simulation, arena, task, STAGE_ENDED, false, 0);
        return 0;
    case EFFECT_OPERATION_KILLED: {
        struct error gone = { 0 };

        world_delete(simulation, arena, task->cluster, &res_pods, SYSTEM_NAMESPACE, task->operation,
                     &gone);
        engine_write_stage(simulation, arena, task, STAGE_ENDED, false, 0);
        return 0;
    }
    case EFFECT_OPERATION_FAILED:
        end_failed(simulation, arena, task, view, step->failure);
        return 0;
    case EFFECT_RELEASE_PENDING:
    case EFFECT_RELEASE_DEPLOYED:
    case EFFECT_RELEASE_FAILED:
    case EFFECT_RELEASE_UNINSTALLING:
        return write_release(simulation, arena, task, history, step, err);
    case EFFECT_RELEASE_UNINSTALLED:
        if (write_release(simulation, arena, task, history, step, err) != 0)
            return -1;
        world_remove_workload(simulation, arena, task);
        return 0;
    case EFFECT_RELEASE_REMOVED:
        remove_release(simulation, arena, task, history);
        return 0;
    case EFFECT_FORGET:
        engine_forget(simulation, arena, task);
        return 0;
    }
    return 0;
}
