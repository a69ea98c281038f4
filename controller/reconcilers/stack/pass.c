/* SPDX-License-Identifier: Apache-2.0 */
/* pass.c: one reconcile of one Stack.
 *
 *   wait -> gather -> plan -> claim --differs--> PATCH .../status --taken--> Events, act --> done
 *                                '----- equal -------------------------------> act --> done
 *
 * The loop has other work, the renewal of the Lease among it. So gathering and acting go in pieces
 * of PIECE_MS, and a plan that is large is made on another thread. Until a plan has claimed what it
 * takes (slots of clusters) no other one is made, so that two never claim the same.
 *
 * A finalizer to write comes back before "done", because its failure is one of the reconcile.
 *
 * The patch carries the resourceVersion that was planned from: whoever plans from an older Stack
 * than the stored one is rejected, and acts on nothing. */
#include "controller/reconcilers/stack/stack_parts.h"

#include "base/linked.h"
#include "base/map.h"
#include "base/memory.h"
#include "controller/reconcilers/stack/events.h"
#include "controller/reconcilers/stack/spans.h"
#include "controller/reconcilers/stack/status_pace.h"
#include "controller/reconcilers/stack/values.h"
#include "text/patch.h"

enum {
    SETTLING_MS = 5000, /* the first lists wake it earlier */
    LISTING_MS = 1000,  /* these, too */
    PIECE_MS = 5,
    /* Releases, as they are wanted and as they are: what is planned within the loop, in about a
     * millisecond. To hand it over costs a tenth of that. */
    LARGE_RELEASES = 100,
};

struct pass {
    struct stack_reconciler *r;
    struct pass *next, *previous;
    struct pass *next_waiting;
    struct arena *arena;
    struct kube_object *object;
    struct str key;
    struct str resource_version;
    struct policy_set *policies; /* those that it is planned by; NULL = none */
    struct gather_sources sources;
    struct gathering *gathering;
    struct gathered gathered;
    struct stack_status stored; /* as it is in the API server */
    struct plan plan;
    struct stack_status status;
    struct str status_text;
    struct str patch;          /* of the status; "" if it is stored already */
    struct kube_events events; /* to be told once it is */
    uint64_t note;
    int64_t look_again_ms; /* once all is done: from then; -1 = not by itself */
    int64_t began_ms;
    int64_t planning_ms;         /* when it had its turn */
    uint32_t acted;              /* actions so far */
    struct loop_timer *act_more; /* NULL: they are few */
    bool writes;                 /* the Stack itself, */
    bool written;                /* and that ended so: */
    enum reconcile_result write_result;
    int64_t write_after_ms;
};
LINKED_DEFINE(pass, struct pass)

static int64_t time_ms(const struct stack_reconciler *r)
{
    return clock_monotonic_ms(loop_clock(r->options.loop));
}

static void pass_free(struct pass *pass)
{
    pass_unlink(&pass->r->passes, pass);
    loop_timer_free(pass->act_more);
    policy_set_unref(pass->policies);
    kube_object_unref(pass->object);
    arena_free(pass->arena);
    mem_free(pass);
}

void passes_free(struct stack_reconciler *r)
{
    worker_free(r->worker);
    loop_timer_free(r->go_on);
    while (r->passes)
        pass_free(r->passes);
}

static void finish(struct pass *pass, enum reconcile_result result, int64_t after_ms)
{
    struct stack_reconciler *r = pass->r;
    const char *name = result == RECONCILE_RETRY ? "retry" : pass->object ? "done" : "gone";

    metrics_add(r->options.metrics, CONTROLLER_RECONCILES, (struct str[]){ str_of(name) }, 1);
    metrics_observe(r->options.metrics, CONTROLLER_RECONCILE_DURATION, NULL,
                    (double)(time_ms(r) - pass->began_ms) / 1000);
    if (result == RECONCILE_RETRY)
        metrics_add(r->options.metrics, CONTROLLER_RETRIES, NULL, 1);
    kube_controller_done(r->queue, pass->key, result, after_ms);
    pass_free(pass);
}

static struct capacity *capacity_of(const struct pass *pass, struct str cluster_id)
{
    const struct backend *backend = pass->r->options.backend;

    return backend->capacity ? backend->capacity(backend->context, cluster_id) : NULL;
}

/* What the plan asks for takes room from now on, before it is even written; or, the status was not
 * taken and nothing is asked for, gives it back. */
static void take_capacity(const struct pass *pass, bool take)
{
    const struct actions *actions = &pass->plan.actions;
    int64_t now_ms = loop_now_ms(pass->r->options.loop);

    for (uint32_t i = 0; i < actions->count; i++) {
        const struct action *action = &actions->items[i];

        if (action->kind != ACTION_UPGRADE && action->kind != ACTION_UNINSTALL)
            continue;

        struct capacity *capacity =
            capacity_of(pass, pass->gathered.observed.clusters.items[action->cluster].id);
        struct str release = kube_key(pass->arena, action->namespace_, action->release_name);

        if (capacity && take)
            capacity_claim(capacity, release, pass->key, now_ms);
        else if (capacity)
            capacity_drop(capacity, release);
    }
}

static void wait_for_capacity(const struct pass *pass)
{
    for (uint32_t i = 0; i < pass->plan.releases.count; i++) {
        const struct release_state *release = &pass->plan.releases.items[i];

        if (!str_eq(release->reason, REASON(WAITING_FOR_CAPACITY)))
            continue;

        struct capacity *capacity = capacity_of(pass, release->cluster_id);

        if (capacity)
            capacity_wait(capacity, pass->key);
    }
}

static void end_if_acted(struct pass *pass)
{
    if (pass->acted < pass->plan.actions.count || (pass->writes && !pass->written))
        return;
    if (pass->writes)
        finish(pass, pass->write_result, pass->write_after_ms);
    else
        finish(pass, RECONCILE_DONE, pass->look_again_ms);
}

/* The finalizer. A failure waits with backoff; what the watch brings ends that wait. */
static void on_stack_written(void *context, const struct error *error, int64_t retry_after_ms)
{
    struct pass *pass = context;
    bool fine = error->code == ERROR_NONE;

    pass->written = true;
    pass->write_result = fine ? RECONCILE_DONE : RECONCILE_RETRY;
    pass->write_after_ms = fine ? pass->look_again_ms : retry_after_ms;
    end_if_acted(pass);
}

static void report_scans(struct pass *pass)
{
    struct scan_report report;
    enum scan_listing listing = scan_listing_of(pass->arena, pass->gathered.stack,
                                                &pass->gathered.observed, &pass->plan, &report);

    scan_reports_put(pass->r->scan_reports, pass->gathered.stack, listing, &report);
}

static void act_some(void *context)
{
    struct pass *pass = context;
    struct stack_reconciler *r = pass->r;
    const struct actions *actions = &pass->plan.actions;
    int64_t until_ms = time_ms(r) + PIECE_MS;
    const struct acting acting = {
        .key = pass->key,
        .stack = pass->gathered.stack,
        .resource_version = pass->resource_version,
        .observed = &pass->gathered.observed,
        .ended = on_stack_written,
        .context = pass,
    };

    while (pass->acted < actions->count && time_ms(r) < until_ms)
        if (actor_act(r->actor, pass->arena, &acting, &actions->items[pass->acted++]))
            pass->writes = true;
    if (pass->acted < actions->count) {
        if (!pass->act_more)
            pass->act_more = loop_timer_create(r->options.loop, act_some, pass);
        loop_timer_set(pass->act_more, 0);
        return;
    }
    end_if_acted(pass);
}

static void act(struct pass *pass)
{
    wait_for_capacity(pass);
    report_scans(pass);
    pass->look_again_ms = clock_sooner_ms(pass->plan.wake_after_ms, pass->gathered.look_again_ms);
    if (pass->r->options.resync_ms > 0)
        pass->look_again_ms = clock_sooner_ms(pass->look_again_ms, pass->r->options.resync_ms);
    act_some(pass);
}

static void tell_spans(struct pass *pass)
{
    struct otlp_spans spans =
        stack_spans(pass->arena, pass->gathered.stack, &pass->stored, &pass->status, &pass->plan,
                    pass->gathered.observed.now_ms);

    for (uint32_t i = 0; i < spans.count; i++)
        span_exporter_add(pass->r->options.spans, &spans.items[i]);
}

static void tell_events(struct pass *pass)
{
    const struct stack_reconciler_options *options = &pass->r->options;
    struct trace_context trace = { STR(""), STR(""), false };

    if (options->spans)
        stack_trace(&pass->gathered.stack->meta, &trace);
    for (uint32_t i = 0; i < pass->events.count; i++) {
        struct kube_event *event = &pass->events.items[i];

        event->resource_version = pass->resource_version;
        event->annotation_key = STR(STACK_TRACE_ID);
        event->annotation = trace.trace_id;
        recorder_emit(options->recorder, event);
    }
}

static void tell_people(struct pass *pass)
{
    const struct stack_reconciler_options *options = &pass->r->options;

    tell_events(pass);
    if (options->spans)
        tell_spans(pass);
    if (pass->stored.phase != pass->status.phase || stack_status_is_blank(&pass->stored))
        log_info(options->log, "stack", LOG_STR("stack", pass->key),
                 LOG_Z("phase", stack_phase_name(pass->status.phase)),
                 LOG_INT("ready", pass->status.ready), LOG_INT("releases", pass->status.releases),
                 LOG_INT("clusters", pass->status.clusters),
                 LOG_STR("message", pass->status.message));
}

static void count_write(const struct pass *pass, const char *result)
{
    metrics_add(pass->r->options.metrics, CONTROLLER_STATUS_WRITES,
                (struct str[]){ str_of(result) }, 1);
}

static void taken(struct pass *pass, struct str body)
{
    struct error ignored = { .code = ERROR_NONE };
    struct json root;

    if (json_read(pass->arena, str_dup(pass->arena, body), &json_limits_default, &root, &ignored) ==
        0) {
        struct str version = json_str(json_walk(root, "metadata", "resourceVersion", NULL));

        if (version.len)
            pass->resource_version = version;
        stack_await(pass->r, pass->key, version);
    }
    actor_drop_notes(pass->r->actor, pass->key, pass->note);
    tell_people(pass);
    act(pass);
}

static void on_status_written(void *context, const struct kube_answer *answer)
{
    struct pass *pass = context;

    switch (answer->error.code) {
    case ERROR_NONE:
        count_write(pass, "written");
        status_pace_written(pass->r->pace, pass->key, pass->status_text.len,
                            loop_now_ms(pass->r->options.loop));
        taken(pass, answer->body);
        return;
    case ERROR_CONFLICT:
    case ERROR_NOT_FOUND:
        count_write(pass, "conflict");
        take_capacity(pass, false);
        /* The watch brings what we did not know, and wakes the key at once; until it does, each
         * try would only be rejected again. */
        finish(pass, RECONCILE_RETRY, -1);
        return;
    default:
        count_write(pass, "failed");
        take_capacity(pass, false);
        log_warn(pass->r->options.log, "status not written", LOG_STR("stack", pass->key),
                 LOG_Z("error", answer->error.text));
        finish(pass, RECONCILE_RETRY, answer->retry_after_ms);
        return;
    }
}

/* The merge patch that makes the stored status the new one; "" if it is that already. */
static struct str status_patch(struct pass *pass)
{
    AUTO(arena_free) struct arena *scratch = arena_create(0);
    struct error ignored = { .code = ERROR_NONE };
    struct json stored = pass->gathered.stack->status_json;
    struct json new;

    if (json_read(scratch, pass->status_text, &json_limits_default, &new, &ignored) < 0 ||
        (json_is(stored, JSON_OBJECT) && json_equal(stored, new)))
        return STR("");

    const struct value *before =
        json_is(stored, JSON_OBJECT) ? value_of(scratch, stored) : value_object(scratch);
    struct value *diff = patch_merge_diff(scratch, before, value_of(scratch, new));
    struct strbuf body = strbuf_new(scratch, 1024);
    struct json_writer w = json_writer(&body);

    json_open_object(&w);
    json_put_key(&w, STR("metadata"));
    json_open_object(&w);
    json_field_str(&w, "resourceVersion", pass->resource_version);
    json_close_object(&w);
    json_field_raw(&w, "status", value_json(scratch, diff));
    json_close_object(&w);
    return str_dup(pass->arena, strbuf_str(&body));
}

/* True: the status is written later, made anew then, and what need not stand in it goes on. */
static bool put_off(struct pass *pass)
{
    struct stack_reconciler *r = pass->r;
    int64_t left_ms = status_pace_left_ms(r->pace, pass->key, loop_now_ms(r->options.loop));

    if (left_ms == 0 || stack_status_is_news(&pass->stored, &pass->status, &pass->plan.actions))
        return false;
    pass->plan.wake_after_ms = clock_sooner_ms(left_ms, pass->plan.wake_after_ms);
    act(pass);
    return true;
}

/* A new Stack gets its finalizer, and a moment later it has more to say; unless that fails. */
static bool only_begins(const struct pass *pass)
{
    const struct actions *actions = &pass->plan.actions;

    return actions->count == 1 && actions->items[0].kind == ACTION_ADD_FINALIZER &&
           stack_status_is_blank(&pass->stored) &&
           !kube_controller_has_failed(pass->r->queue, pass->key);
}

static void write_status(struct pass *pass)
{
    const struct kube_meta *meta = &pass->gathered.stack->meta;
    const struct kube_request patch = {
        .verb = KUBE_PATCH,
        .resource = stack_resource,
        .namespace_ = meta->namespace_,
        .name = meta->name,
        .sub_resource = STR("status"),
        .patch_type = KUBE_PATCH_MERGE,
        .field_manager = STR("herd-controller"),
        .body = pass->patch,
    };

    /* What is about to go needs no last words. */
    if (pass->patch.len == 0 || pass->plan.torn_down || only_begins(pass)) {
        actor_drop_notes(pass->r->actor, pass->key, pass->note);
        if (pass->plan.torn_down)
            tell_people(pass);
        act(pass);
        return;
    }
    if (put_off(pass))
        return;
    kube_client_call(pass->r->options.api, &patch, on_status_written, pass);
}

/* Of what may be another one before all is gathered, a copy. */
static struct gather_sources sources_of(const struct stack_reconciler *r, struct arena *arena)
{
    return (struct gather_sources){
        .others = { informer_cache(r->stacks), r->adopters, r->dependents },
        .clusters = r->clusters,
        .backend = r->options.backend,
        .observers = r->options.observers,
        .references = r->references,
        .tracker = r->tracker,
        .inherited = r->inherited,
        .policies = r->options.policies,
        .access_cache = r->access_cache,
        .settle_ms = r->options.settle_ms,
        .led_ms = r->led_ms,
        .cluster_operations_max = r->options.cluster_operations_max,
        .configuration = &r->options.configuration,
        .all_stacks = r->options.namespace_.len == 0,
        .rancher_trouble_reason = str_dup(arena, r->rancher_trouble_reason),
        .rancher_trouble_message = str_dup(arena, r->rancher_trouble_message),
    };
}

struct str pass_shown(void *context, struct arena *arena, struct str key,
                      struct str secret_versions, struct str words)
{
    const struct stack_reconciler *r = context;
    struct str namespace_, name;

    kube_key_split(key, &namespace_, &name);
    return values_shown(arena, r->references, namespace_, secret_versions, words);
}

/* What changes need is listed where something is to change. True: that begins now, and is over in a
 * moment, so nothing is written about it. */
static bool prepare_changes(const struct pass *pass)
{
    const struct backend *backend = pass->r->options.backend;
    bool begins = false;

    for (uint32_t i = 0; i < pass->plan.unlisted.count && backend->prepare; i++)
        if (backend->prepare(backend->context, pass->plan.unlisted.items[i], pass->key))
            begins = true;
    return begins;
}

/* Pure. */
static void make_plan(void *context)
{
    struct pass *pass = context;
    const struct stack *stack = pass->gathered.stack;
    const struct observed *observed = &pass->gathered.observed;

    pass->stored = stack_status_read(pass->arena, stack->status_json);
    pass->plan = stack_plan(pass->arena, stack, observed);
    pass->status = stack_status_of(pass->arena, stack, observed, &pass->plan);
    pass->status_text = stack_status_write(pass->arena, &pass->status);
    pass->patch = status_patch(pass);
    pass->events = stack_events(pass->arena, stack, pass->resource_version, &pass->stored,
                                &pass->status, &pass->plan);
}

static void claim(struct pass *pass)
{
    struct stack_reconciler *r = pass->r;
    int64_t took_ms = time_ms(r) - pass->planning_ms;

    metrics_observe(r->options.metrics, CONTROLLER_PLAN_DURATION, NULL, (double)took_ms / 1000);
    kube_controller_spent(r->queue, pass->key, took_ms);
    if (pass->gathered.settling && pass->stored.deployments.count) {
        finish(pass, RECONCILE_LATER, SETTLING_MS);
        return;
    }
    if (prepare_changes(pass) && !pass->plan.actions.count) {
        finish(pass, RECONCILE_LATER, LISTING_MS);
        return;
    }
    take_capacity(pass, true);
    if (pass->plan.unasked.count)
        gather_ask_access(&pass->sources, pass->arena, pass->key, loop_now_ms(r->options.loop),
                          &pass->plan.unasked, &pass->gathered);
    write_status(pass);
}

static void on_planned(void *context)
{
    struct pass *pass = context;
    struct stack_reconciler *r = pass->r;

    r->planned = NULL;
    claim(pass);
    loop_timer_set(r->go_on, 0);
}

static bool is_large(const struct pass *pass)
{
    const struct gathered *gathered = &pass->gathered;

    return (size_t)gathered->observed.clusters.count * gathered->stack->spec.charts.count +
               gathered->before.deployments.count >
           LARGE_RELEASES;
}

/* False: it is not over yet, and goes on by itself. */
static bool plan(struct pass *pass, int64_t until_ms)
{
    struct stack_reconciler *r = pass->r;

    if (!gather_some(pass->gathering, loop_clock(r->options.loop), until_ms)) {
        loop_timer_set(r->go_on, 0);
        return false;
    }
    pass->note = actor_apply_notes(r->actor, pass->arena, pass->key, pass->gathered.stack->meta.uid,
                                   pass->gathered.observed.now_ms, &pass->gathered.before);
    if (is_large(pass)) {
        worker_run(r->worker, make_plan, on_planned, pass);
        return false;
    }
    make_plan(pass);
    r->planned = NULL;
    claim(pass);
    return true;
}

/* It is its turn. False: it ended. */
static bool begin(struct pass *pass)
{
    struct stack_reconciler *r = pass->r;
    struct kube_object *object = kube_cache_get(informer_cache(r->stacks), pass->key);
    struct error err = { .code = ERROR_NONE };

    if (!object) {
        log_info(r->options.log, "stack gone", LOG_STR("stack", pass->key));
        stack_forget(r, pass->key);
        finish(pass, RECONCILE_DONE, -1);
        return false;
    }
    pass->object = kube_object_ref(object);
    pass->resource_version = kube_object_resource_version(object);
    if (r->options.policies)
        policies_settle(r->options.policies);
    /* Nothing was tried, so no failure is forgotten. */
    if (!r->leading || stack_is_stale(r, pass->object) ||
        (r->options.policies && !policies_set(r->options.policies))) {
        finish(pass, RECONCILE_LATER, -1);
        return false;
    }
    if (r->options.policies)
        pass->policies = policy_set_ref(policies_set(r->options.policies));
    pass->planning_ms = time_ms(r);
    pass->sources = sources_of(r, pass->arena);
    pass->gathering =
        gather_begin(&pass->sources, pass->arena, pass->object, kube_client_wall_ms(r->options.api),
                     loop_now_ms(r->options.loop), &pass->gathered, &err);
    if (pass->gathering)
        return true;
    log_error(r->options.log, "stack cannot be read", LOG_STR("stack", pass->key),
              LOG_Z("error", err.text));
    finish(pass, RECONCILE_RETRY, -1);
    return false;
}

static struct pass *take_waiting(struct stack_reconciler *r)
{
    struct pass *pass = r->first_waiting;

    if (pass && !(r->first_waiting = pass->next_waiting))
        r->waiting_end = &r->first_waiting;
    return pass;
}

/* Go on with the one that is planned, and with those that wait, for a while. */
static void go_on(void *context)
{
    struct stack_reconciler *r = context;
    int64_t until_ms = time_ms(r) + PIECE_MS;

    /* It tells when it is done. */
    if (worker_is_busy(r->worker))
        return;
    do {
        if (!r->planned) {
            struct pass *pass = take_waiting(r);

            if (!pass)
                return;
            if (!begin(pass))
                continue;
            r->planned = pass;
        }
        if (!plan(r->planned, until_ms))
            return;
    } while (time_ms(r) < until_ms);
    loop_timer_set(r->go_on, 0);
}

void pass_begin(void *context, struct str key)
{
    struct stack_reconciler *r = context;
    struct pass *pass = mem_new(struct pass);

    pass->r = r;
    pass->arena = arena_create(0);
    pass->key = str_dup(pass->arena, key);
    pass->began_ms = time_ms(r);
    pass_link(&r->passes, pass);
    *r->waiting_end = pass;
    r->waiting_end = &pass->next_waiting;
    if (!r->planned)
        loop_timer_set(r->go_on, 0);
}

void passes_create(struct stack_reconciler *r)
{
    r->waiting_end = &r->first_waiting;
    r->go_on = loop_timer_create(r->options.loop, go_on, r);
    r->worker = worker_create(r->options.loop);
}
