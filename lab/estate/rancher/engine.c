/* engine.c: performs what step.c decides. One effect, then a fresh look, until nothing is due. */
#include "lab/estate/rancher/inside.h"

#include "lab/estate/jsonf.h"
#include "lab/estate/rancher/workload.h"
#include "text/base64.h"
#include "text/time.h"

/* More effects than any operation has: a bound on the loop, not a plan. */
enum { EFFECTS_MAX = 16 };

pthread_mutex_t *engine_lock(struct estate *estate, struct str cluster, struct str namespace_,
                             struct str release)
{
    uint64_t hash = str_hash(cluster) * 31 + str_hash(namespace_) * 17 + str_hash(release);

    return &estate->release_locks[(hash >> 7) % RELEASE_LOCKS];
}

/* ---- reading ----------------------------------------------------------------------------------- */

/* The record: whole from the Secret in cattle-system, else what the Operation shows of it. */
static int load_task(struct estate *estate, struct arena *arena, struct str cluster,
                     struct json operation, struct task *ret_task, struct error *err)
{
    struct json meta = json_get(operation, STR("metadata"));
    struct str name = json_str(json_get(meta, STR("name")));
    struct str record = json_str(json_walk(meta, "annotations", OPERATION_TASK_ANNOTATION, NULL));
    struct str secret = STR("");
    struct json root;

    if (!record.len)
        return error_set(err, ERROR_NOT_FOUND, "not an Operation of this lab");
    if (api_get(estate->api, arena, cluster, &res_secrets, SYSTEM_NAMESPACE, name, &secret, err) ==
            0 &&
        json_read(arena, secret, &json_limits_default, &root, err) == 0)
        base64_decode(arena, json_str(json_walk(root, "data", "task", NULL)), &record, err);
    return task_decode(arena, record, ret_task, err);
}

static void view_releases(const struct task *task, const struct revisions *history,
                          struct task_view *view)
{
    for (uint32_t i = 0; i < history->count; i++) {
        const struct revision *revision = &history->items[i];

        if (i == 0) {
            view->newest = revision->number;
            view->newest_status = revision->status;
        }
        if (revision->status == RELEASE_DEPLOYED)
            view->any_deployed = true;
        if (str_eq(revision->operation, task->operation) && !view->ours) {
            view->ours = revision->number;
            view->ours_status = revision->status;
        }
    }
}

static bool pod_is_there(struct estate *estate, struct arena *arena, const struct task *task)
{
    struct error ignored = { 0 };
    struct str pod;

    return api_get(estate->api, arena, task->cluster, &res_pods, SYSTEM_NAMESPACE, task->operation,
                   &pod, &ignored) == 0;
}

/* ---- the Operation ----------------------------------------------------------------------------- */

static void write_stage(struct estate *estate, struct arena *arena, const struct task *task,
                        enum task_stage stage, bool failed, int exit_code)
{
    struct error err = { 0 };
    struct str stored;
    struct str status = object_operation_status(arena, task, task->command, stage, failed, exit_code,
                                                time_rfc3339(arena, estate_now(estate)));

    if (api_merge_object(estate->api, arena, task->cluster, &res_operations, task->namespace_,
                         task->operation, STR("status"), status, &stored, &err) != 0)
        log_warn(estate->log, "Operation not written", LOG_STR("cluster", task->cluster),
                 LOG_STR("operation", task->operation), LOG_Z("error", err.text));
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
        STR("revision"),  str_fmt(arena, "%lld", (long long)revision),
    };

    return fault_text(arena, fault_row(id)->text, pairs, sizeof(pairs) / sizeof(pairs[0]));
}

/* The log's last lines are kept before the stage says that it is over. */
static void end_failed(struct estate *estate, struct arena *arena, const struct task *task,
                       const struct task_view *view, enum fault_id failure)
{
    struct error err = { 0 };
    struct str stored;
    bool exists = view->newest && !(view->ours == 1 && view->newest == 1);
    struct str text = failure_text(arena, task, failure, exists ? 2 : 1, true);

    if (failure == FAULT_TOO_BIG)
        text = failure_text(arena, task, failure, view->newest + 1, true);
    api_merge_object(estate->api, arena, task->cluster, &res_operations, task->namespace_,
                     task->operation, STR(""),
                     jsonf(arena, "{'metadata':{'annotations':{%s:%s}}}",
                           STR(OPERATION_LOG_ANNOTATION), text),
                     &stored, &err);
    write_stage(estate, arena, task, STAGE_ENDED, true, fault_row(failure)->exit_code);
}

/* ---- the release ------------------------------------------------------------------------------- */

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
        release->description = task->description.len ? task->description
                                                     : STR("Uninstallation complete");
    }
}

/* One revision deployed, and only the newest few kept. Idempotent. */
static void tidy_history(struct estate *estate, struct arena *arena, const struct task *task)
{
    struct revisions history =
        world_history(estate, arena, task->cluster, task->namespace_, task->release);

    for (uint32_t i = 0; i < history.count; i++) {
        const struct revision *revision = &history.items[i];
        struct release release;
        struct error err = { 0 };

        if (task->history_max > 0 && i >= (uint32_t)task->history_max) {
            world_remove_release(estate, arena, task->cluster, task->namespace_, task->release,
                                 revision->number);
            continue;
        }
        if (i == 0 || revision->status != RELEASE_DEPLOYED ||
            history.items[0].status != RELEASE_DEPLOYED ||
            release_read(arena, revision->secret, &release, &err) != 0)
            continue;
        release.status = RELEASE_SUPERSEDED;
        world_store_release(estate, arena, task->cluster, &release, false, &err);
    }
}

/* With every fourth operation the agent is slow: the App says so after the Operation has ended. */
static bool app_is_slow(const struct task *task)
{
    return !task->instant && str_hash(task->operation) % 4 == 0;
}

static void later_app(struct estate *estate, const struct task *task, int64_t life_ms)
{
    agenda_put(estate->agenda,
               &(struct agenda_entry){ AGENDA_RELEASE, task->cluster, task->namespace_,
                                       task->release },
               estate_now(estate) + estate_scaled(estate, life_ms));
}

static int write_release(struct estate *estate, struct arena *arena, const struct task *task,
                         const struct revisions *history, const struct task_step *step,
                         struct error *err)
{
    int64_t now_ms = estate_now(estate);
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
    if (world_store_release(estate, arena, task->cluster, &release, !stored, err) != 0)
        return -1;
    if (release.status == RELEASE_DEPLOYED && release.revision > 1)
        tidy_history(estate, arena, task);
    world_workload(estate, arena, task, release.status == RELEASE_DEPLOYED);
    if (release.status == RELEASE_DEPLOYED && app_is_slow(task))
        later_app(estate, task, 3000);
    else
        world_sync_app(estate, arena, task->cluster, task->namespace_, task->release);
    return 0;
}

/* Oldest first: while the newest is there, a restart still knows what was going on. */
static void remove_release(struct estate *estate, struct arena *arena, const struct task *task,
                           const struct revisions *history)
{
    world_remove_workload(estate, arena, task);
    for (uint32_t i = history->count; i-- > 0;)
        world_remove_release(estate, arena, task->cluster, task->namespace_, task->release,
                             history->items[i].number);
    if (task->instant)
        world_sync_app(estate, arena, task->cluster, task->namespace_, task->release);
    else
        later_app(estate, task, 2000); /* the garbage collector takes its time */
}

static void forget(struct estate *estate, struct arena *arena, const struct task *task)
{
    struct error err = { 0 };

    api_delete_object(estate->api, arena, task->cluster, &res_operations, task->namespace_,
                      task->operation, &err);
    if (task->instant)
        return;
    api_delete_object(estate->api, arena, task->cluster, &res_pods, SYSTEM_NAMESPACE,
                      task->operation, &err);
    api_delete_object(estate->api, arena, task->cluster, &res_secrets, SYSTEM_NAMESPACE,
                      task->operation, &err);
}

static int perform(struct estate *estate, struct arena *arena, const struct task *task,
                   const struct task_view *view, const struct revisions *history,
                   const struct task_step *step, struct error *err)
{
    switch (step->effect) {
    case EFFECT_NONE:
        return 0;
    case EFFECT_OPERATION_WAITING:
        write_stage(estate, arena, task, STAGE_WAITING, false, 0);
        return 0;
    case EFFECT_OPERATION_RUNNING:
        write_stage(estate, arena, task, STAGE_RUNNING, false, 0);
        return 0;
    case EFFECT_OPERATION_DONE:
        if (task->action != TASK_UNINSTALL && view->newest > 1)
            tidy_history(estate, arena, task);
        write_stage(estate, arena, task, STAGE_ENDED, false, 0);
        return 0;
    case EFFECT_OPERATION_KILLED: {
        struct error gone = { 0 };

        api_delete_object(estate->api, arena, task->cluster, &res_pods, SYSTEM_NAMESPACE,
                          task->operation, &gone);
        write_stage(estate, arena, task, STAGE_ENDED, false, 0);
        return 0;
    }
    case EFFECT_OPERATION_FAILED:
        end_failed(estate, arena, task, view, step->failure);
        return 0;
    case EFFECT_RELEASE_PENDING:
    case EFFECT_RELEASE_DEPLOYED:
    case EFFECT_RELEASE_FAILED:
    case EFFECT_RELEASE_UNINSTALLING:
        return write_release(estate, arena, task, history, step, err);
    case EFFECT_RELEASE_UNINSTALLED:
        if (write_release(estate, arena, task, history, step, err) != 0)
            return -1;
        world_remove_workload(estate, arena, task);
        return 0;
    case EFFECT_RELEASE_REMOVED:
        remove_release(estate, arena, task, history);
        return 0;
    case EFFECT_FORGET:
        forget(estate, arena, task);
        return 0;
    }
    return 0;
}

/* One look and one effect. False when there is nothing more to do now; *ret_next_ms then says when
 * to look again, 0 never. */
static bool advance(struct estate *estate, struct arena *arena, const struct task *task,
                    struct json operation, int64_t *ret_next_ms)
{
    struct task_view view = { .stage = object_operation_stage(operation), .fits = true };
    struct revisions history = revisions_new(arena, 0);
    int64_t now_ms = estate_now(estate);
    struct error err = { 0 };

    if (view.stage != STAGE_ENDED) {
        view.pod_there = task->instant || pod_is_there(estate, arena, task);
        history = world_history(estate, arena, task->cluster, task->namespace_, task->release);
        view_releases(task, &history, &view);
        if (task->wait && now_ms >= task->times.work_ms && task->action != TASK_UNINSTALL)
            view.fits = world_fits(estate, arena, task);
    }

    struct task_step step = task_step(task, &view, now_ms);

    *ret_next_ms = step.next_ms;
    if (step.effect == EFFECT_NONE)
        return false;
    if (perform(estate, arena, task, &view, &history, &step, &err) != 0) {
        log_warn(estate->log, "operation will be tried again", LOG_STR("cluster", task->cluster),
                 LOG_STR("operation", task->operation), LOG_Z("error", err.text));
        *ret_next_ms = now_ms + 1000;
        return false;
    }
    *ret_next_ms = 0;
    return step.effect != EFFECT_FORGET;
}

void engine_run(struct estate *estate, struct arena *arena, struct str cluster,
                struct str namespace_, struct str name, const struct task *known)
{
    pthread_mutex_t *lock = NULL;
    int64_t next_ms = 0;

    for (int i = 0; i < EFFECTS_MAX; i++) {
        struct error err = { 0 };
        struct str object = STR("");
        struct json operation;
        struct task task;

        if (api_get(estate->api, arena, cluster, &res_operations, namespace_, name, &object,
                    &err) != 0 ||
            json_read(arena, object, &json_limits_default, &operation, &err) != 0)
            break;
        if (known)
            task = *known;
        else if (load_task(estate, arena, cluster, operation, &task, &err) != 0)
            break;
        /* An instant task is over before its POST is answered: one that is not was never accepted. */
        if (!known && task.instant && object_operation_stage(operation) != STAGE_ENDED) {
            forget(estate, arena, &task);
            break;
        }
        if (!lock) {
            lock = engine_lock(estate, cluster, namespace_, task.release);
            pthread_mutex_lock(lock);
        }
        if (!advance(estate, arena, &task, operation, &next_ms))
            break;
    }
    if (lock)
        pthread_mutex_unlock(lock);
    if (next_ms)
        agenda_put(estate->agenda, &(struct agenda_entry){ AGENDA_TASK, cluster, namespace_, name },
                   next_ms);
}

/* The Secret first: an Operation without it would have nothing to carry on with. */
static int store_task(struct estate *estate, struct arena *arena, const struct task *task,
                      struct error *err)
{
    struct str stored;

    if (!task->instant &&
        (api_create_object(estate->api, arena, task->cluster, &res_secrets, SYSTEM_NAMESPACE,
                           object_operation_secret(arena, task), &stored, err) != 0 ||
         api_create_object(estate->api, arena, task->cluster, &res_pods, SYSTEM_NAMESPACE,
                           object_operation_pod(arena, task), &stored, err) != 0))
        return -1;
    return api_create_object(estate->api, arena, task->cluster, &res_operations, task->namespace_,
                             object_operation(arena, task), &stored, err);
}

int engine_accept(struct estate *estate, struct arena *arena, const struct task *task,
                  struct error *err)
{
    if (store_task(estate, arena, task, err) != 0)
        return -1;
    if (!task->instant)
        write_stage(estate, arena, task, STAGE_NEW, false, 0);
    if (task->instant)
        engine_run(estate, arena, task->cluster, task->namespace_, task->operation, task);
    else
        agenda_put(estate->agenda,
                   &(struct agenda_entry){ AGENDA_TASK, task->cluster, task->namespace_,
                                           task->operation },
                   task->times.waiting_ms);
    return 0;
}
