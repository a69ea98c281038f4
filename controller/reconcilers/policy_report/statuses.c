/* SPDX-License-Identifier: Apache-2.0 */
/* statuses.c: a queue of policies, and one write after the other. */
#include "controller/reconcilers/policy_report/statuses.h"

#include "base/memory.h"
#include "kube/status_patch.h"
#include "runtime/controller.h"
#include "stack/model/policy.h"

enum {
    GATHER_MS = 1000, /* an audit of many Stacks makes one write, not many */
    LATER_MS = 2000,
};

struct statuses {
    struct statuses_options options;
    struct kube_controller *queue;
    struct kube_call *writing;
    struct str key; /* being worked on; the queue's */
};

static void done(struct statuses *s, enum reconcile_result result, int64_t after_ms)
{
    struct str key = s->key;

    s->key = STR("");
    kube_controller_done(s->queue, key, result, after_ms);
}

static void on_written(void *context, const struct kube_answer *answer)
{
    struct statuses *s = context;
    enum error_code code = answer->error.code;

    s->writing = NULL;
    if (code == ERROR_NONE || code == ERROR_NOT_FOUND) {
        done(s, RECONCILE_DONE, -1);
        return;
    }
    log_warn(s->options.log, "status of a StackPolicy not written; Herd retries",
             LOG_STR("policy", s->key), LOG_Z("error", answer->error.text));
    done(s, RECONCILE_RETRY, answer->retry_after_ms);
}

static void write_one(void *context, struct str key)
{
    struct statuses *s = context;
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct policy_status status;
    struct json stored;
    enum statuses_answer answer = s->options.get(s->options.context, arena, key, &status, &stored);
    struct str text = STR("");

    s->key = key;
    if (answer == STATUSES_KNOWN)
        text =
            policy_status_write(arena, &status, stored, clock_wall_ms(loop_clock(s->options.loop)));
    if (!text.len) {
        done(s, RECONCILE_DONE, answer == STATUSES_LATER ? LATER_MS : -1);
        return;
    }

    struct kube_request request =
        kube_status_replace(arena, &policy_resource, STR(""), key, STR("herd-controller"), text);

    s->writing = kube_client_call(s->options.api, &request, on_written, s);
}

void statuses_changed(struct statuses *statuses, struct str policy)
{
    kube_controller_add_after(statuses->queue, policy, GATHER_MS);
}

void statuses_pause(struct statuses *statuses, bool paused)
{
    kube_controller_pause(statuses->queue, paused);
}

struct statuses *statuses_create(const struct statuses_options *options)
{
    struct statuses *s = mem_new(struct statuses);

    s->options = *options;
    s->queue = kube_controller_create(&(struct kube_controller_options){
        .loop = options->loop,
        .workers = 1,
        .seed = options->seed,
        .reconcile = write_one,
        .context = s,
    });
    return s;
}

void statuses_free(struct statuses *statuses)
{
    if (!statuses)
        return;
    if (statuses->writing)
        kube_call_cancel(statuses->writing);
    kube_controller_free(statuses->queue);
    mem_free(statuses);
}
