/* SPDX-License-Identifier: Apache-2.0 */
/* act.c: one call for each action under way, and what its answer means. */
#include "controller/reconcilers/stack/act.h"

#include "base/linked.h"
#include "base/memory.h"
#include "base/pack.h"
#include "controller/metrics.h"
#include "base/multimap.h"
#include "controller/reconcilers/stack/notes.h"

#include <assert.h>

struct actor {
    struct actor_options options;
    struct notes *notes;
    struct multimap *under_way; /* Stack -> what is asked for it */
    struct call *calls;         /* newest first */
    uint32_t in_flight;
};

/* An action whose answer is awaited. It knows names only: clusters and Stacks come and go. */
struct call {
    struct actor *actor;
    struct call *next, *previous;
    enum action_kind kind;
    struct str key; /* these stand behind the struct */
    struct str uid;
    struct str cluster_id;
    struct str chart_name;
    struct str release;         /* namespace/name */
    struct str secret_versions; /* of the values that were sent */
    struct str mark;            /* in `under_way`; "" = it changes nothing */
    void (*ended)(void *context, const struct error *error, int64_t retry_after_ms);
    void *context; /* of `ended`, which only writes of the Stack itself tell */
};
LINKED_DEFINE(call, struct call)

struct actor *actor_create(const struct actor_options *options)
{
    struct actor *actor = mem_new(struct actor);

    actor->options = *options;
    actor->notes = notes_create();
    actor->under_way = multimap_create();
    return actor;
}

static void call_free(struct call *call)
{
    struct actor *actor = call->actor;

    call_unlink(&actor->calls, call);
    actor->in_flight--;
    mem_free(call);
}

void actor_free(struct actor *actor)
{
    if (!actor)
        return;
    while (actor->calls)
        call_free(actor->calls);
    notes_free(actor->notes);
    multimap_free(actor->under_way);
    mem_free(actor);
}

static struct call *call_new(struct actor *actor, const struct acting *acting,
                             const struct action *action, struct str mark)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str uid = acting->stack->meta.uid;
    struct str release = kube_key(arena, action->namespace_, action->release_name);
    struct str cluster_id = action->cluster == UINT32_MAX
                                ? STR("")
                                : acting->observed->clusters.items[action->cluster].id;
    struct str secret_versions = action->desired ? action->desired->secret_versions : STR("");
    struct call *call =
        mem_alloc(sizeof(*call) + acting->key.len + uid.len + cluster_id.len +
                  action->chart_name.len + release.len + mark.len + secret_versions.len);
    char *at = (char *)(call + 1);

    *call = (struct call){
        .actor = actor,
        .kind = action->kind,
        .key = pack_str(&at, acting->key),
        .uid = pack_str(&at, uid),
        .cluster_id = pack_str(&at, cluster_id),
        .chart_name = pack_str(&at, action->chart_name),
        .release = pack_str(&at, release),
        .secret_versions = pack_str(&at, secret_versions),
        .mark = pack_str(&at, mark),
        .ended = acting->ended,
        .context = acting->context,
    };
    call_link(&actor->calls, call);
    actor->in_flight++;
    return call;
}

static void note_rejection(struct actor *actor, struct str key, struct note note)
{
    notes_add(actor->notes, key, &note);
    actor->options.again(actor->options.context, key);
}

/* The answer without what its words may tell of Secrets. */
static struct request_outcome shown_outcome(const struct call *call, struct arena *arena,
                                            const struct request_outcome *outcome)
{
    const struct actor_options *options = &call->actor->options;
    struct request_outcome shown = *outcome;

    if (outcome->result != REQUEST_DONE && call->secret_versions.len) {
        struct str words = options->shown(options->context, arena, call->key, call->secret_versions,
                                          str_of(outcome->error.text));

        error_set(&shown.error, outcome->error.code, "%.*s", STR_ARG(words));
    }
    return shown;
}

static void count(struct call *call, enum request_result result)
{
    static const char *const names[] = {
        [REQUEST_DONE] = "done", [REQUEST_REJECTED] = "rejected", [REQUEST_UNKNOWN] = "unknown"
    };

    metrics_add(call->actor->options.metrics, CONTROLLER_ACTIONS,
                (struct str[]){ str_of(action_name(call->kind)), str_of(names[result]) }, 1);
}

static bool is_long(enum action_kind kind)
{
    return kind == ACTION_READ_LOG || kind == ACTION_READ_PODS || kind == ACTION_READ_HEALTH;
}

static void log_outcome(const struct call *call, const struct request_outcome *outcome)
{
    struct log *log = call->actor->options.log;
    const char *action = action_name(call->kind);

    if (outcome->result == REQUEST_DONE)
        log_debug(log, "action answered", LOG_Z("action", action), LOG_STR("stack", call->key),
                  LOG_STR("cluster", call->cluster_id), LOG_STR("release", call->release),
                  /* A log may hold anything. */
                  LOG_STR("answer", is_long(call->kind) ? STR("") : outcome->text));
    else
        log_warn(log, outcome->result == REQUEST_REJECTED ? "action rejected" : "action unanswered",
                 LOG_Z("action", action), LOG_STR("stack", call->key),
                 LOG_STR("cluster", call->cluster_id), LOG_STR("release", call->release),
                 LOG_Z("error", outcome->error.text));
}

/* What kept this request from being validated keeps others of the cluster back for a while. */
static void note_backoff(const struct call *call, const struct request_outcome *outcome)
{
    const struct connection *connection =
        clusters_connection(call->actor->options.clusters, call->cluster_id);

    if (connection)
        request_backoff_note(connection_backoff(connection), outcome,
                             loop_now_ms(call->actor->options.loop));
}

/* Upgrades, uninstalls and removed locks. What was done shows as an Operation, what is unknown as
 * one or as nothing; only a rejection leaves no trace out there. */
static void on_changed(void *context, const struct request_outcome *answer)
{
    struct call *call = context;
    struct actor *actor = call->actor;
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct request_outcome shown = shown_outcome(call, arena, answer);
    const struct request_outcome *outcome = &shown;
    struct str transient = request_transient_reason(outcome);

    count(call, outcome->result);
    log_outcome(call, outcome);
    multimap_remove(actor->under_way, call->key, call->mark);
    note_backoff(call, outcome);
    if (outcome->result == REQUEST_REJECTED)
        note_rejection(
            actor, call->key,
            (struct note){
                .uid = call->uid,
                .cluster_id = call->cluster_id,
                .chart_name = call->chart_name,
                .reason = transient.len ? transient : str_of(error_reason(outcome->error.code)),
                .message = str_of(outcome->error.text),
                .transient = transient.len != 0,
                .terminal = error_course(outcome->error.code) == COURSE_TERMINAL,
            });
    else
        actor->options.again(actor->options.context, call->key);
    call_free(call);
}

/* What changes nothing; the back end remembers the answer. */
static void on_answered(void *context, const struct request_outcome *outcome)
{
    struct call *call = context;
    struct actor *actor = call->actor;

    count(call, outcome->result);
    log_outcome(call, outcome);
    note_backoff(call, outcome);
    actor->options.again(actor->options.context, call->key);
    call_free(call);
}

static void on_finalizer(void *context, const struct kube_answer *answer)
{
    struct call *call = context;
    struct actor *actor = call->actor;
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct error ignored = { .code = ERROR_NONE };
    struct json root;
    bool fine = answer->error.code == ERROR_NONE;

    count(call, fine ? REQUEST_DONE : REQUEST_REJECTED);
    multimap_remove(actor->under_way, call->key, call->mark);
    if (fine && json_read(arena, answer->body, &json_limits_default, &root, &ignored) == 0)
        actor->options.written(actor->options.context, call->key,
                               json_str(json_walk(root, "metadata", "resourceVersion", NULL)));
    else if (!fine && answer->error.code != ERROR_CONFLICT && answer->error.code != ERROR_NOT_FOUND)
        log_warn(actor->options.log, "finalizer not written", LOG_STR("stack", call->key),
                 LOG_Z("error", answer->error.text));
    call->ended(call->context, &answer->error, answer->retry_after_ms);
    if (fine)
        actor->options.again(actor->options.context, call->key);
    call_free(call);
}

static void send_finalizer(struct actor *actor, struct arena *arena, const struct acting *acting,
                           const struct action *action, struct str mark)
{
    const struct kube_meta *meta = &acting->stack->meta;
    struct strbuf body = strbuf_new(arena, 256);
    struct json_writer w = json_writer(&body);
    struct json_iter it = json_iter(meta->finalizers);

    json_open_object(&w);
    json_put_key(&w, STR("metadata"));
    json_open_object(&w);
    json_field_str(&w, "resourceVersion", acting->resource_version);
    json_put_key(&w, STR("finalizers"));
    json_open_array(&w);
    while (json_next(&it))
        if (!str_eq(json_str(it.value), STR(STACK_FINALIZER)))
            json_put_raw(&w, json_raw(it.value));
    if (action->kind == ACTION_ADD_FINALIZER)
        json_put_str(&w, STR(STACK_FINALIZER));
    json_close_array(&w);
    json_close_object(&w);
    json_close_object(&w);

    const struct kube_request patch = {
        .verb = KUBE_PATCH,
        .resource = stack_resource,
        .namespace_ = meta->namespace_,
        .name = meta->name,
        .patch_type = KUBE_PATCH_MERGE,
        .field_manager = STR("herd-controller"),
        .body = strbuf_str(&body),
    };

    kube_client_call(actor->options.api, &patch, on_finalizer,
                     call_new(actor, acting, action, mark));
}

/* False: nothing is sent. */
static bool send_order(struct actor *actor, const struct acting *acting,
                       const struct action *action, struct str mark)
{
    const struct backend *backend = actor->options.backend;
    struct call *call = call_new(actor, acting, action, mark);
    const struct backend_order order = {
        .cluster_id = call->cluster_id,
        .key = acting->key,
        .stack = acting->stack,
        .action = action,
        .now_wall_ms = acting->observed->now_ms,
    };

    assert(backend->actions & 1U << action->kind);
    if (backend->act(backend->context, &order, mark.len ? on_changed : on_answered, call))
        return true;
    call_free(call);
    return false;
}

bool actor_act(struct actor *actor, struct arena *arena, const struct acting *acting,
               const struct action *action)
{
    struct str cluster_id = action->cluster == UINT32_MAX
                                ? STR("")
                                : acting->observed->clusters.items[action->cluster].id;

    switch (action->kind) {
    case ACTION_ENSURE_REPO:
    case ACTION_RESOLVE_VERSION:
    case ACTION_READ_LOG:
    case ACTION_READ_PODS:
    case ACTION_READ_HEALTH:
    case ACTION_MARK:
    case ACTION_REFRESH_REPO:
    case ACTION_REMOVE_REPO:
        send_order(actor, acting, action, STR(""));
        return false;
    case ACTION_ADD_FINALIZER:
    case ACTION_REMOVE_FINALIZER:
    case ACTION_UPGRADE:
    case ACTION_UNINSTALL:
    case ACTION_REMOVE_LOCK:
    case ACTION_KIND_COUNT:
        break;
    }

    /* One change at a time for each release, whichever it is. */
    struct str mark = str_fmt(arena, "%.*s %.*s/%.*s", STR_ARG(cluster_id),
                              STR_ARG(action->namespace_), STR_ARG(action->release_name));

    if (!multimap_add(actor->under_way, acting->key, mark))
        return false;
    log_info(actor->options.log, "action", LOG_Z("action", action_name(action->kind)),
             LOG_STR("stack", acting->key), LOG_STR("cluster", cluster_id),
             LOG_STR("chart", action->chart_name),
             LOG_STR("release", kube_key(arena, action->namespace_, action->release_name)),
             LOG_STR("version", action->version));

    if (action->kind == ACTION_ADD_FINALIZER || action->kind == ACTION_REMOVE_FINALIZER) {
        send_finalizer(actor, arena, acting, action, mark);
        return true;
    }
    if (!send_order(actor, acting, action, mark))
        multimap_remove(actor->under_way, acting->key, mark);
    return false;
}

uint64_t actor_apply_notes(struct actor *actor, struct arena *arena, struct str key, struct str uid,
                           int64_t now_wall_ms, struct stack_status *status)
{
    return notes_apply(actor->notes, arena, key, uid, now_wall_ms, status);
}

void actor_drop_notes(struct actor *actor, struct str key, uint64_t number)
{
    notes_drop(actor->notes, key, number);
}

void actor_forget(struct actor *actor, struct str key)
{
    notes_forget(actor->notes, key);
}

uint32_t actor_in_flight(const struct actor *actor)
{
    return actor->in_flight;
}
