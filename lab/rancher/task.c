/* SPDX-License-Identifier: Apache-2.0 */
/* task.c: the record of an accepted operation. */
#include "lab/rancher/jsonf.h"
#include "lab/rancher/step.h"

static const struct str action_names[] = { STR_INIT("install"), STR_INIT("upgrade"),
                                           STR_INIT("uninstall") };

struct str task_action_name(enum task_action action)
{
    return action_names[action];
}

struct str task_encode(struct arena *arena, const struct task *task, bool with_values)
{
    const struct task_times *t = &task->times;
    struct strbuf out = strbuf_new(arena, 1024 + (with_values ? task->values.len : 0));

    jsonf_put(&out,
              "{'cluster':%s,'namespace':%s,'operation':%s,'action':%s,'release':%s,'repo':%s,"
              "'chart':%s,'version':%s,'description':%s,",
              task->cluster, task->namespace_, task->operation, task_action_name(task->action),
              task->release, task->repo, task->chart, task->version, task->description);
    jsonf_put(&out,
              "'wait':%b,'resetValues':%b,'keepHistory':%b,'takeOwnership':%b,'historyMax':%d,"
              "'atRevision':%d,'fault':%s,'instant':%b,",
              task->wait, task->reset_values, task->keep_history, task->take_ownership,
              task->history_max, task->at_revision, fault_row(task->fault)->name, task->instant);
    jsonf_put(&out, "'times':[%d,%d,%d,%d,%d,%d,%d,%d]", t->accepted_ms, t->waiting_ms,
              t->running_ms, t->work_ms, t->ready_ms, t->timeout_ms, t->end_lag_ms, t->expire_ms);
    if (with_values)
        jsonf_put(&out, ",'values':%r,'annotations':%r,'command':%r", task->values,
                  task->annotations, task->command);
    strbuf_char(&out, '}');
    return strbuf_str(&out);
}

static struct str object_of(struct json value)
{
    return json_is(value, JSON_OBJECT) ? json_raw(value) : STR("");
}

static int64_t int_of(struct json value)
{
    int64_t number = 0;

    json_int64(value, &number);
    return number;
}

static int times_decode(struct json list, struct task_times *ret_times, struct error *err)
{
    struct task_times times;
    int64_t *const parts[] = { &times.accepted_ms, &times.waiting_ms, &times.running_ms,
                               &times.work_ms,     &times.ready_ms,   &times.timeout_ms,
                               &times.end_lag_ms,  &times.expire_ms };
    struct json_iter it = json_iter(list);

    if (json_count(list) != sizeof(parts) / sizeof(parts[0]))
        return error_set(err, ERROR_INVALID, "the record of a task has no times");
    while (json_next(&it))
        if (!json_int64(it.value, parts[it.position]))
            return error_set(err, ERROR_INVALID, "a time in the record of a task is no number");
    *ret_times = times;
    return 0;
}

int task_decode(struct arena *arena, struct str text, struct task *ret_task, struct error *err)
{
    struct json root;
    struct task task = { 0 };

    if (json_read(arena, text, &json_limits_default, &root, err) != 0)
        return -1;

    struct {
        const char *key;
        struct str *at;
    } const texts[] = {
        { "cluster", &task.cluster },     { "namespace", &task.namespace_ },
        { "operation", &task.operation }, { "release", &task.release },
        { "repo", &task.repo },           { "chart", &task.chart },
        { "version", &task.version },     { "description", &task.description },
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        *texts[i].at = json_str(json_get(root, str_of(texts[i].key)));

    struct str action = json_str(json_get(root, STR("action")));

    for (int i = 0; i < 3; i++)
        if (str_eq(action, action_names[i]))
            task.action = (enum task_action)i;
    task.wait = json_bool(json_get(root, STR("wait")));
    task.reset_values = json_bool(json_get(root, STR("resetValues")));
    task.keep_history = json_bool(json_get(root, STR("keepHistory")));
    task.take_ownership = json_bool(json_get(root, STR("takeOwnership")));
    task.instant = json_bool(json_get(root, STR("instant")));
    task.history_max = int_of(json_get(root, STR("historyMax")));
    task.at_revision = int_of(json_get(root, STR("atRevision")));
    task.fault = fault_from(json_str(json_get(root, STR("fault"))));
    task.values = object_of(json_get(root, STR("values")));
    task.annotations = object_of(json_get(root, STR("annotations")));
    if (json_is(json_get(root, STR("command")), JSON_ARRAY))
        task.command = json_raw(json_get(root, STR("command")));
    if (!task.release.len || !task.operation.len || !task.cluster.len)
        return error_set(err, ERROR_INVALID, "the record of a task names no release");
    if (times_decode(json_get(root, STR("times")), &task.times, err) != 0)
        return -1;
    *ret_task = task;
    return 0;
}
