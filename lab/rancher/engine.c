/* SPDX-License-Identifier: Apache-2.0 */
/* engine.c: carries tasks on. One effect, then a fresh look, until nothing is due. */
#include "lab/rancher/engine.h"

#include "text/base64.h"
#include "text/time.h"

/* More effects than any operation has: a bound on the loop, not a plan. */
enum { EFFECTS_MAX = 16 };

pthread_mutex_t *engine_lock(struct simulation *simulation, struct str cluster,
                             struct str namespace_, struct str release)
{
    uint64_t hash = str_hash(cluster) * 31 + str_hash(namespace_) * 17 + str_hash(release);

    return &simulation->release_locks[(hash >> 7) % RELEASE_LOCKS];
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The record: whole from the Secret in cattle-system, else what the Operation shows of it. */
static int load_task(struct simulation *simulation, struct arena *arena, struct str cluster,
                     struct json operation, struct task *ret_task, struct error *err)
{
    struct json meta = json_get(operation, STR("metadata"));
    struct str name = json_str(json_get(meta, STR("name")));
    struct str record = json_str(json_walk(meta, "annotations", OPERATION_TASK_ANNOTATION, NULL));
    struct str secret = STR("");
    struct str tarball = STR("");
    struct json root;

    if (!record.len)
        return error_set(err, ERROR_NOT_FOUND, "not an Operation of this lab");
    if (world_get(simulation, arena, cluster, &res_secrets, SYSTEM_NAMESPACE, name, &secret, err) ==
            0 &&
        json_read(arena, secret, &json_limits_default, &root, err) == 0) {
        base64_decode(arena, json_str(json_walk(root, "data", "task", NULL)), &record, err);
        base64_decode(arena, json_str(json_walk(root, "data", "chart", NULL)), &tarball, err);
    }
    if (task_decode(arena, record, ret_task, err) != 0)
        return -1;
    ret_task->tarball = tarball;
    return 0;
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

bool engine_pod_is_there(struct simulation *simulation, struct arena *arena,
                         const struct task *task)
{
    struct error err = { 0 };
    struct str pod;

    return world_get(simulation, arena, task->cluster, &res_pods, SYSTEM_NAMESPACE, task->operation,
                     &pod, &err) == 0 ||
           err.code != ERROR_NOT_FOUND;
}

static bool advance(struct simulation *simulation, struct arena *arena, const struct task *task,
                    struct json operation, int64_t *ret_next_ms)
{
    struct task_view view = { .stage = object_operation_stage(operation), .fits = true };
    struct revisions history = revisions_new(arena, 0);
    int64_t now_ms = simulation_now(simulation);
    struct error err = { 0 };

    if (view.stage != STAGE_ENDED) {
        view.pod_there = task->instant || engine_pod_is_there(simulation, arena, task);
        history = world_history(simulation, arena, task->cluster, task->namespace_, task->release);
        view_releases(task, &history, &view);
        if (task->wait && now_ms >= task->times.work_ms && task->action != TASK_UNINSTALL)
            view.fits = world_fits(simulation, arena, task);
    }

    struct task_step step = task_step(task, &view, now_ms);

    *ret_next_ms = step.next_ms;
    if (step.effect == EFFECT_NONE)
        return false;
    if (engine_perform(simulation, arena, task, &view, &history, &step, &err) != 0) {
        log_warn(simulation->log, "operation will be tried again",
                 LOG_STR("cluster", task->cluster), LOG_STR("operation", task->operation),
                 LOG_Z("error", err.text));
        *ret_next_ms = now_ms + 1000;
        return false;
    }
    *ret_next_ms = 0;
    return step.effect != EFFECT_FORGET;
}

static struct str read_log(struct simulation *simulation, struct arena *arena,
                           const struct task *task, struct json operation)
{
    struct json status = json_get(operation, STR("status"));

    return object_operation_log(
        arena, task, json_raw(json_get(status, STR("command"))), object_operation_stage(operation),
        json_str(json_walk(operation, "metadata", "annotations", OPERATION_LOG_ANNOTATION, NULL)),
        time_rfc3339(arena, simulation_now(simulation)));
}

const struct engine engine_simulated = { advance, read_log };

const struct engine *engine_of(const struct simulation *simulation, struct str cluster)
{
    return downstream_of(simulation->downstream, cluster) ? &engine_helm : &engine_simulated;
}

bool engine_log(struct simulation *simulation, struct arena *arena, struct str cluster,
                struct json operation, struct str *ret_log)
{
    struct task task;
    struct error ignored = { 0 };

    if (load_task(simulation, arena, cluster, operation, &task, &ignored) != 0 ||
        (!task.instant && !engine_pod_is_there(simulation, arena, &task)))
        return false;
    *ret_log = engine_of(simulation, cluster)->read_log(simulation, arena, &task, operation);
    return true;
}

/* ---- life ------------------------------------------------------------------------------------ */

void engine_run(struct simulation *simulation, struct arena *arena, struct str cluster,
                struct str namespace_, struct str name, const struct task *known)
{
    pthread_mutex_t *lock = NULL;
    int64_t next_ms = 0;

    /* An instant task runs in the request that asked for it; it holds a lock. */
    arena = arena_beside(arena);

    for (int i = 0; i < EFFECTS_MAX; i++) {
        struct error err = { 0 };
        struct str object = STR("");
        struct json operation;
        struct task task;

        if (world_get(simulation, arena, cluster, &res_operations, namespace_, name, &object,
                      &err) != 0 ||
            json_read(arena, object, &json_limits_default, &operation, &err) != 0)
            break;
        if (known)
            task = *known;
        else if (load_task(simulation, arena, cluster, operation, &task, &err) != 0)
            break;
        /* An instant task is over before its POST is answered: this one was never accepted. */
        if (!known && task.instant && object_operation_stage(operation) != STAGE_ENDED) {
            engine_forget(simulation, arena, &task);
            break;
        }
        if (!lock) {
            lock = engine_lock(simulation, cluster, namespace_, task.release);
            pthread_mutex_lock(lock);
        }
        if (!engine_of(simulation, cluster)->advance(simulation, arena, &task, operation, &next_ms))
            break;
    }
    if (lock)
        pthread_mutex_unlock(lock);
    if (next_ms)
        simulation_put(simulation, &(struct agenda_entry){ AGENDA_TASK, cluster, namespace_, name },
                       next_ms);
}

/* The Secret first: an Operation without it would have nothing to carry on with. */
static int store_task(struct simulation *simulation, struct arena *arena, const struct task *task,
                      struct error *err)
{
    struct str stored;

    if (!task->instant &&
        (world_create(simulation, arena, task->cluster, &res_secrets, SYSTEM_NAMESPACE,
                      object_operation_secret(arena, task), &stored, err) != 0 ||
         world_create(simulation, arena, task->cluster, &res_pods, SYSTEM_NAMESPACE,
                      object_operation_pod(arena, task), &stored, err) != 0))
        return -1;
    return world_create(simulation, arena, task->cluster, &res_operations, task->namespace_,
                        object_operation(arena, task), &stored, err);
}

int engine_accept(struct simulation *simulation, struct arena *arena, const struct task *task,
                  struct error *err)
{
    if (store_task(simulation, arena, task, err) != 0)
        return -1;
    if (!task->instant)
        engine_write_stage(simulation, arena, task, STAGE_NEW, false, 0);
    if (task->instant)
        engine_run(simulation, arena, task->cluster, task->namespace_, task->operation, task);
    else
        simulation_put(
            simulation,
            &(struct agenda_entry){ AGENDA_TASK, task->cluster, task->namespace_, task->operation },
            task->times.waiting_ms);
    return 0;
}
