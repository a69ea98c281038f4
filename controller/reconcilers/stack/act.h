/* SPDX-License-Identifier: Apache-2.0 */
/* act.h: execute what a plan asks for: all writing but the status is here, and no planning.
 *
 * Whatever comes of an action, its Stack is looked at again: by whoever asked for it if the Stack
 * itself was to be written and was not, so that its backoff grows, else through `again`. What the
 * next look cannot see by itself is remembered until the status has it: that a request was
 * rejected, and so had no effect. A request that is under way is not sent a second time. */
#ifndef HERD_CONTROLLER_RECONCILERS_STACK_ACT_H
#define HERD_CONTROLLER_RECONCILERS_STACK_ACT_H

#include "base/metric.h"
#include "controller/backends/backend.h"
#include "controller/clusters/clusters.h"
#include "io/log.h"
#include "stack/plan/plan.h"

struct actor;

struct actor_options {
    struct kube_client *api;
    const struct backend *backend;
    struct clusters *clusters;
    struct loop *loop;
    struct log *log;
    struct metrics *metrics;
    /* Look at the Stack again. */
    void (*again)(void *context, struct str key);
    /* The Stack itself was written, and has that resourceVersion now. */
    void (*written)(void *context, struct str key, struct str resource_version);
    /* What Rancher said of a request with the values of these Secrets, as it may be shown and
     * logged: see values_shown. */
    struct str (*shown)(void *context, struct arena *arena, struct str key,
                        struct str secret_versions, struct str words);
    void *context;
};

struct actor *actor_create(const struct actor_options *options);
/* Before the clients and the back end are freed that it acts through. */
void actor_free(struct actor *actor);
AUTO_DEFINE(actor_free, struct actor *)

/* Of one plan, whose status was acknowledged. Everything is read before actor_act returns. */
struct acting {
    struct str key;
    const struct stack *stack;
    struct str resource_version; /* of the Stack, newest known */
    const struct observed *observed;
    /* How a write of the Stack itself ended: `error` is ERROR_NONE, or says what to back off from,
     * not before `retry_after_ms` if that is >= 0. */
    void (*ended)(void *context, const struct error *error, int64_t retry_after_ms);
    void *context; /* of `ended`; alive until then */
};
/* True: the Stack itself is being written, and `ended` is called once, never from within. */
bool actor_act(struct actor *actor, struct arena *arena, const struct acting *acting,
               const struct action *action);

/* Put what is remembered of `key` into `status`, for the next plan. Gives a number for
 * actor_drop_notes: once that status was written, what went into it is forgotten. */
uint64_t actor_apply_notes(struct actor *actor, struct arena *arena, struct str key, struct str uid,
                           int64_t now_wall_ms, struct stack_status *status);
void actor_drop_notes(struct actor *actor, struct str key, uint64_t number);
/* The Stack is gone. */
void actor_forget(struct actor *actor, struct str key);

uint32_t actor_in_flight(const struct actor *actor);

#endif
