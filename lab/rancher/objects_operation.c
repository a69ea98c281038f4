/* SPDX-License-Identifier: Apache-2.0 */
/* objects_operation.c: Operations, the helm pod beside them, and what it prints.
 * Conditions as rancher v2.14 pkg/controllers/dashboard/helm/operations.go writes them. */
#include "lab/rancher/jsonf.h"
#include "lab/rancher/objects.h"
#include "text/base64.h"

struct str object_operation(struct arena *arena, const struct task *task)
{
    return jsonf(arena,
                 "{'apiVersion':'catalog.cattle.io/v1','kind':'Operation','metadata':{'name':%s,"
                 "'namespace':%s,'annotations':{%s:%s}}}",
                 task->operation, task->namespace_, STR(OPERATION_TASK_ANNOTATION),
                 task_encode(arena, task, false));
}

static struct str condition(struct arena *arena, const char *type, bool holds, const char *reason,
                            struct str message, struct str now)
{
    return jsonf(arena, "{'type':%s,'status':%s,'reason':%s,'message':%s,'lastUpdateTime':%s}",
                 str_of(type), holds ? STR("True") : STR("False"), str_of(reason), message, now);
}

static struct str conditions(struct arena *arena, enum task_stage stage, bool failed, int exit_code,
                             struct str now)
{
    bool moves = stage == STAGE_WAITING || stage == STAGE_RUNNING;
    struct str doing = stage == STAGE_WAITING   ? STR("waiting to run operation")
                       : stage == STAGE_RUNNING ? STR("running operation")
                                                : STR("");
    struct str exit = failed ? str_fmt(arena, " exit code: %d", exit_code) : STR("");

    return jsonf(arena, "[%r,%r]",
                 condition(arena, "Reconciling", moves, moves ? "Reconciling" : "", doing, now),
                 condition(arena, "Stalled", failed, failed ? "Stalled" : "", exit, now));
}

struct str object_operation_status(struct arena *arena, const struct task *task, struct str command,
                                   enum task_stage stage, bool failed, int exit_code,
                                   struct str now)
{
    struct strbuf out = strbuf_new(arena, 1024);

    strbuf_lit(&out, "{\"status\":{");
    if (command.len)
        jsonf_put(&out,
                  "'action':%s,'chart':%s,'version':%s,'releaseName':%s,'namespace':%s,"
                  "'token':%s,'command':%r,'podName':%s,'podNamespace':'cattle-system'%r",
                  task_action_name(task->action), task->chart, STR(""), task->release,
                  task->namespace_, str_slice(task->operation, 15, task->operation.len), command,
                  task->operation, stage == STAGE_NEW ? STR(" ") : STR(","));
    if (stage != STAGE_NEW)
        jsonf_put(&out, "'observedGeneration':1,'conditions':%r%r",
                  conditions(arena, stage, failed, exit_code, now),
                  stage >= STAGE_RUNNING ? STR(",\"podCreated\":true") : STR(" "));
    strbuf_lit(&out, "}}");
    return strbuf_str(&out);
}

enum task_stage object_operation_stage(struct json operation)
{
    struct json_iter it = json_iter(json_walk(operation, "status", "conditions", NULL));

    while (json_next(&it)) {
        if (!str_eq(json_str(json_get(it.value, STR("type"))), STR("Reconciling")))
            continue;
        if (!str_eq(json_str(json_get(it.value, STR("status"))), STR("True")))
            return STAGE_ENDED;
        return str_eq(json_str(json_get(it.value, STR("message"))), STR("running operation"))
                   ? STAGE_RUNNING
                   : STAGE_WAITING;
    }
    return STAGE_NEW;
}

struct str object_operation_pod(struct arena *arena, const struct task *task)
{
    return jsonf(arena,
                 "{'apiVersion':'v1','kind':'Pod','metadata':{'name':%s,'namespace':"
                 "'cattle-system','labels':{'pod-impersonation.cattle.io/token':%s},"
                 "'annotations':{'pod-impersonation.cattle.io/cluster-role':%s}},"
                 "'spec':{'restartPolicy':'Never','nodeSelector':{'kubernetes.io/os':'linux'},"
                 "'schedulerName':'herd-lab',"
                 "'containers':[{'name':'helm','image':'rancher/shell:v0.7.0','tty':true,"
                 "'command':['helm-cmd']},{'name':'proxy','image':'rancher/shell:v0.7.0'}]}}",
                 task->operation, str_slice(task->operation, 15, task->operation.len),
                 str_fmt(arena, "pod-impersonation-helm-op-%.*s",
                         STR_ARG(str_slice(task->operation, 15, task->operation.len))));
}

struct str object_operation_secret(struct arena *arena, const struct task *task)
{
    return jsonf(arena,
                 "{'apiVersion':'v1','kind':'Secret','metadata':{'name':%s,'namespace':"
                 "'cattle-system'},'type':'Opaque','data':{'task':%s%r}}",
                 task->operation, base64_encode(arena, task_encode(arena, task, true)),
                 task->tarball.len
                     ? jsonf(arena, ",'chart':%s", base64_encode(arena, task->tarball))
                     : STR(" "));
}

/* ---- the log --------------------------------------------------------------------------------- */

#define RULER "---------------------------------------------------------------------\r\n"

/* The command as a shell line; the JSON array holds no quotes but its own. */
static void put_command(struct strbuf *out, struct str command)
{
    bool quoted = false;

    for (size_t i = 0; i < command.len; i++) {
        char c = command.at[i];

        if (c == '"')
            quoted = !quoted;
        else if (quoted)
            strbuf_char(out, c);
        else if (c == ',')
            strbuf_char(out, ' ');
    }
}

static void put_lines(struct strbuf *out, struct str text)
{
    struct str rest = text;
    struct str line;

    while (str_split(&rest, '\n', &line)) {
        strbuf_put(out, line);
        strbuf_lit(out, "\r\n");
    }
}

static void put_success(struct strbuf *out, struct str command)
{
    strbuf_lit(out, "\r\n" RULER "SUCCESS: ");
    put_command(out, command);
    strbuf_lit(out, "\r\n" RULER);
}

struct str object_operation_log(struct arena *arena, const struct task *task, struct str command,
                                enum task_stage stage, struct str failure, struct str now)
{
    struct strbuf out = strbuf_new(arena, 1024);

    if (task->fault == FAULT_API_WAIT)
        for (int i = 0; i < 20; i++)
            strbuf_lit(&out, "Waiting for Kubernetes API to be available\r\n");
    else {
        put_command(&out, command);
        strbuf_lit(&out, "\r\n");
    }
    if (stage != STAGE_ENDED)
        return strbuf_str(&out);
    if (failure.len) {
        put_lines(&out, failure);
        return strbuf_str(&out);
    }
    if (task->action == TASK_UNINSTALL)
        strbuf_fmt(&out, "release \"%.*s\" uninstalled\r\n", STR_ARG(task->release));
    else
        strbuf_fmt(&out,
                   "Release \"%.*s\" has been upgraded. Happy Helming!\r\nNAME: %.*s\r\n"
                   "LAST DEPLOYED: %.*s\r\nNAMESPACE: %.*s\r\nSTATUS: deployed\r\n",
                   STR_ARG(task->release), STR_ARG(task->release), STR_ARG(now),
                   STR_ARG(task->namespace_));
    put_success(&out, command);
    return strbuf_str(&out);
}

struct str object_operation_log_of(struct arena *arena, struct str command, struct str output,
                                   bool succeeded)
{
    struct strbuf out = strbuf_new(arena, 1024 + output.len);

    put_command(&out, command);
    strbuf_lit(&out, "\r\n");
    put_lines(&out, output);
    if (succeeded)
        put_success(&out, command);
    return strbuf_str(&out);
}
