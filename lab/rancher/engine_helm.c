/* SPDX-License-Identifier: Apache-2.0 */
/* engine_helm.c: operations on real clusters, by the helm program. Releases, Apps and workloads are
 * what helm and the cluster make of them; only Operation and pod are written here. */
#include "lab/rancher/engine.h"

#include "lab/rancher/jsonf.h"
#include "lab/rancher/helm_step.h"
#include "text/base64.h"

enum { SHOWN_LOG_BYTES = 1024, AGAIN_MS = 1000 };

static struct helm *helm_of(const struct simulation *simulation)
{
    return downstream_helm(simulation->downstream);
}

/* ---- start ----------------------------------------------------------------------------------- */

static struct str file_behind(struct str argument)
{
    ptrdiff_t at = str_find(argument, STR(HELM_FOLDER), 0);

    return at < 0 ? STR("")
                  : str_slice(argument, (size_t)at + sizeof(HELM_FOLDER) - 1, argument.len);
}

/* The command is what Rancher shows: its files are named in it. */
static int fill_run(struct arena *arena, const struct task *task, struct helm_run *run,
                    struct error *err)
{
    struct json command;

    if (json_read(arena, task->command, &json_limits_default, &command, err) != 0)
        return -1;

    struct json_iter it = json_iter(command);

    while (json_next(&it)) {
        struct str argument = json_str(it.value);
        struct str file = file_behind(argument);

        if (it.position)
            str_list_push(&run->arguments, argument);
        if (file.len)
            helm_files_push(&run->files,
                            (struct helm_file){ file, str_starts(argument, STR("--values="))
                                                          ? task->values
                                                          : task->tarball });
    }
    return 0;
}

static int start(struct simulation *simulation, struct arena *arena, const struct task *task,
                 struct error *err)
{
    struct helm_run run = {
        .cluster = task->cluster,
        .namespace_ = task->namespace_,
        .operation = task->operation,
        .kubeconfig = remote_kubeconfig(downstream_of(simulation->downstream, task->cluster)),
        .arguments = str_list_new(arena, 16),
        .files = helm_files_new(arena, 2),
        .timeout_ms = task->times.timeout_ms - task->times.running_ms,
    };

    return fill_run(arena, task, &run, err) != 0 ? -1 : helm_start(helm_of(simulation), &run, err);
}

/* ---- the pod --------------------------------------------------------------------------------- */

/* Nobody schedules it: the process is what runs. What `kubectl get pods` shows is true, though. */
static void write_pod(struct simulation *simulation, struct arena *arena, const struct task *task,
                      const char *phase)
{
    struct error ignored = { 0 };
    struct str stored;

    world_merge(simulation, arena, task->cluster, &res_pods, SYSTEM_NAMESPACE, task->operation,
                STR("status"), jsonf(arena, "{'status':{'phase':%s}}", str_of(phase)), &stored,
                &ignored);
}

/* ---- effects --------------------------------------------------------------------------------- */

/* The last line that says something. */
static struct str last_words(struct str log)
{
    struct str last = STR("");
    struct str line;

    while (log.len && str_split(&log, '\n', &line))
        if (str_trim(line).len)
            last = str_trim(line);
    return str_slice(last, 0, last.len < SHOWN_LOG_BYTES ? last.len : SHOWN_LOG_BYTES);
}

static int end(struct simulation *simulation, struct arena *arena, const struct task *task,
               const struct helm_view *helm)
{
    struct str log = helm_log(helm_of(simulation), arena, task->cluster, task->operation);
    struct error ignored = { 0 };
    struct str stored;
    int code = helm_exit_code(helm);

    if (code)
        world_merge(simulation, arena, task->cluster, &res_operations, task->namespace_,
                    task->operation, STR(""),
                    jsonf(arena, "{'metadata':{'annotations':{%s:%s}}}",
                          STR(OPERATION_LOG_ANNOTATION), last_words(log)),
                    &stored, &ignored);
    write_pod(simulation, arena, task, code ? "Failed" : "Succeeded");
    return engine_write_stage(simulation, arena, task, STAGE_ENDED, code != 0, code);
}

/* The stage first: one that says RUNNING is never started again. */
static int run(struct simulation *simulation, struct arena *arena, const struct task *task)
{
    struct error err = { 0 };

    if (engine_write_stage(simulation, arena, task, STAGE_RUNNING, false, 0) != 0)
        return -1;
    if (start(simulation, arena, task, &err) == 0) {
        write_pod(simulation, arena, task, "Running");
        return 0;
    }
    log_error(simulation->log, "helm not started", LOG_STR("cluster", task->cluster),
              LOG_STR("operation", task->operation), LOG_Z("error", err.text));
    return end(simulation, arena, task, &(struct helm_view){ HELM_ENDED, 127, false });
}

static int kill_run(struct simulation *simulation, struct arena *arena, const struct task *task)
{
    struct error ignored = { 0 };

    helm_kill(helm_of(simulation), task->cluster, task->operation);
    world_delete(simulation, arena, task->cluster, &res_pods, SYSTEM_NAMESPACE, task->operation,
                 &ignored);
    return engine_write_stage(simulation, arena, task, STAGE_ENDED, false, 0);
}

static int perform(struct simulation *simulation, struct arena *arena, const struct task *task,
                   const struct helm_task_view *view, enum task_effect effect)
{
    switch (effect) {
    case EFFECT_OPERATION_WAITING:
        return engine_write_stage(simulation, arena, task, STAGE_WAITING, false, 0);
    case EFFECT_OPERATION_RUNNING:
        return run(simulation, arena, task);
    case EFFECT_OPERATION_DONE:
    case EFFECT_OPERATION_FAILED:
        return end(simulation, arena, task, &view->helm);
    case EFFECT_OPERATION_KILLED:
        return kill_run(simulation, arena, task);
    case EFFECT_FORGET:
        helm_forget(helm_of(simulation), task->cluster, task->operation);
        engine_forget(simulation, arena, task);
        return 0;
    case EFFECT_NONE:
    case EFFECT_RELEASE_PENDING:
    case EFFECT_RELEASE_DEPLOYED:
    case EFFECT_RELEASE_FAILED:
    case EFFECT_RELEASE_UNINSTALLING:
    case EFFECT_RELEASE_REMOVED:
    case EFFECT_RELEASE_UNINSTALLED:
        break;
    }
    return 0;
}

static bool advance(struct simulation *simulation, struct arena *arena, const struct task *task,
                    struct json operation, int64_t *ret_next_ms)
{
    struct helm_task_view view = { .stage = object_operation_stage(operation) };
    int64_t now_ms = simulation_now(simulation);

    if (view.stage != STAGE_ENDED) {
        view.pod_there = engine_pod_is_there(simulation, arena, task);
        view.helm = helm_look(helm_of(simulation), task->cluster, task->operation);
    }

    struct task_step step = helm_step(task, &view, now_ms);

    *ret_next_ms = step.next_ms;
    if (step.effect == EFFECT_NONE)
        return false;
    if (perform(simulation, arena, task, &view, step.effect) != 0) {
        *ret_next_ms = now_ms + AGAIN_MS;
        return false;
    }
    *ret_next_ms = 0;
    return step.effect != EFFECT_FORGET;
}

/* Rancher's log: the command, what helm says, and a word on success. */
static struct str read_log(struct simulation *simulation, struct arena *arena,
                           const struct task *task, struct json operation)
{
    struct str text = helm_log(helm_of(simulation), arena, task->cluster, task->operation);
    bool failed =
        json_is(json_walk(operation, "metadata", "annotations", OPERATION_LOG_ANNOTATION, NULL),
                JSON_STRING);

    return object_operation_log_of(arena, json_raw(json_walk(operation, "status", "command", NULL)),
                                   text,
                                   object_operation_stage(operation) == STAGE_ENDED && !failed);
}

const struct engine engine_helm = { advance, read_log };
