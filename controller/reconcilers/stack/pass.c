/* SPDX-License-Identifier: Apache-2.0 */
/* pass.c: one reconcile of one Stack.
 *
 *   gather -> plan -> status --differs--> PATCH .../status --taken--> Events, act --> done
 *                        '----- equal -------------------------------> act --> done
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
#include "controller/reconcilers/stack/values.h"
#include "text/patch.h"

enum { SETTLING_MS = 5000 }; /* the first lists wake it earlier */

struct pass {
    struct stack_reconciler *r;
    struct pass *next, *previous;
    struct arena *arena;
    struct kube_object *object;
    struct str key;
    struct str resource_version;
    struct gathered gathered;
    struct stack_status stored; /* as it is in the API server */
    struct plan plan;
    struct stack_status status;
    uint64_t note;
    int64_t look_again_ms; /* once all is done: from then; -1 = not by itself */
    int64_t began_ms;
};
LINKED_DEFINE(pass, struct pass)

static double seconds_since(const struct pass *pass)
{
    return (double)(clock_monotonic_ms(loop_clock(pass->r->options.loop)) - pass->began_ms) / 1000;
}

static void pass_free(struct pass *pass)
{
    pass_unlink(&pass->r->passes, pass);
    kube_object_unref(pass->object);
    arena_free(pass->arena);
    mem_free(pass);
}

void passes_free(struct stack_reconciler *r)
{
    while (r->passes)
        pass_free(r->passes);
}

static void finish(struct pass *pass, enum reconcile_result result, int64_t after_ms)
{
    struct stack_reconciler *r = pass->r;
    const char *name = result == RECONCILE_RETRY ? "retry" : pass->object ? "done" : "gone";

    metrics_add(r->options.metrics, CONTROLLER_RECONCILES, (struct str[]){ str_of(name) }, 1);
    metrics_observe(r->options.metrics, CONTROLLER_RECONCILE_DURATION, NULL, seconds_since(pass));
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

/* The finalizer. A failure waits with backoff; what the watch brings ends that wait. */
static void on_stack_written(void *context, const struct error *error, int64_t retry_after_ms)
{
    struct pass *pass = context;

    if (error->code == ERROR_NONE)
        finish(pass, RECONCILE_DONE, pass->look_again_ms);
    else
        finish(pass, RECONCILE_RETRY, retry_after_ms);
}

static void report_scans(struct pass *pass)
{
    struct scan_report report;
    enum scan_listing listing = scan_listing_of(pass->arena, pass->gathered.stack,
                                                &pass->gathered.observed, &pass->plan, &report);

    scan_reports_put(pass->r->scan_reports, pass->gathered.stack, listing, &report);
}

static void act(struct pass *pass)
{
    const struct acting acting = {
        .key = pass->key,
        .stack = pass->gathered.stack,
        .resource_version = pass->resource_version,
        .observed = &pass->gathered.observed,
        .plan = &pass->plan,
        .ended = on_stack_written,
        .context = pass,
    };

    wait_for_capacity(pass);
    report_scans(pass);
    pass->look_again_ms = clock_sooner_ms(pass->plan.wake_after_ms, pass->gathered.look_again_ms);
    if (pass->r->options.resync_ms > 0)
        pass->look_again_ms = clock_sooner_ms(pass->look_again_ms, pass->r->options.resync_ms);
    if (!actor_act(pass->r->actor, pass->arena, &acting))
        finish(pass, RECONCILE_DONE, pass->look_again_ms);
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
    struct kube_events events =
        stack_events(pass->arena, pass->gathered.stack, pass->resource_version, &pass->stored,
                     &pass->status, &pass->plan);

    if (options->spans)
        stack_trace(&pass->gathered.stack->meta, &trace);
    for (uint32_t i = 0; i < events.count; i++) {
        events.items[i].annotation_key = STR(STACK_TRACE_ID);
        events.items[i].annotation = trace.trace_id;
        recorder_emit(options->recorder, &events.items[i]);
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

/* The merge patch that makes the stored status `after`; "" if it is that already. */
static struct str status_patch(struct pass *pass, struct str after)
{
    struct error ignored = { .code = ERROR_NONE };
    struct json stored = pass->gathered.stack->status_json;
    struct json new;

    if (json_read(pass->arena, after, &json_limits_default, &new, &ignored) < 0 ||
        (json_is(stored, JSON_OBJECT) && json_equal(stored, new)))
        return STR("");

    const struct value *before =
        json_is(stored, JSON_OBJECT) ? value_of(pass->arena, stored) : value_object(pass->arena);
    struct value *diff = patch_merge_diff(pass->arena, before, value_of(pass->arena, new));
    struct strbuf body = strbuf_new(pass->arena, 1024);
    struct json_writer w = json_writer(&body);

    json_open_object(&w);
    json_put_key(&w, STR("metadata"));
    json_open_object(&w);
    json_field_str(&w, "resourceVersion", pass->resource_version);
    json_close_object(&w);
    json_field_raw(&w, "status", value_json(pass->arena, diff));
    json_close_object(&w);
    return strbuf_str(&body);
}

static void write_status(struct pass *pass)
{
    struct str body = status_patch(pass, stack_status_write(pass->arena, &pass->status));
    const struct kube_meta *meta = &pass->gathered.stack->meta;
    const struct kube_request patch = {
        .verb = KUBE_PATCH,
        .resource = stack_resource,
        .namespace_ = meta->namespace_,
        .name = meta->name,
        .sub_resource = STR("status"),
        .patch_type = KUBE_PATCH_MERGE,
        .field_manager = STR("herd-controller"),
        .body = body,
    };

    /* What is about to go needs no last words. */
    if (body.len == 0 || pass->plan.torn_down) {
        actor_drop_notes(pass->r->actor, pass->key, pass->note);
        if (pass->plan.torn_down)
            tell_people(pass);
        act(pass);
        return;
    }
    kube_client_call(pass->r->options.api, &patch, on_status_written, pass);
}

static struct gather_sources sources_of(const struct stack_reconciler *r)
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
        .cluster_operations_max = r->options.cluster_operations_max,
        .configuration = &r->options.configuration,
        .all_stacks = r->options.namespace_.len == 0,
        .rancher_trouble_reason = r->rancher_trouble_reason,
        .rancher_trouble_message = r->rancher_trouble_message,
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

static int make_plan(struct pass *pass, struct error *err)
{
    struct stack_reconciler *r = pass->r;
    const struct gather_sources sources = sources_of(r);
    struct gathered *gathered = &pass->gathered;
    int64_t now_wall_ms = kube_client_wall_ms(r->options.api);

    if (gather(&sources, pass->arena, pass->object, now_wall_ms, loop_now_ms(r->options.loop),
               gathered, err) < 0)
        return -1;
    pass->stored = stack_status_read(pass->arena, gathered->stack->status_json);
    pass->note = actor_apply_notes(r->actor, pass->arena, pass->key, gathered->stack->meta.uid,
                                   now_wall_ms, &gathered->before);
    pass->plan = stack_plan(pass->arena, gathered->stack, &gathered->observed);
    pass->status = stack_status_of(pass->arena, gathered->stack, &gathered->observed, &pass->plan);
    metrics_observe(r->options.metrics, CONTROLLER_PLAN_DURATION, NULL, seconds_since(pass));
    return 0;
}

static struct pass *pass_new(struct stack_reconciler *r, struct str key)
{
    struct pass *pass = mem_new(struct pass);
    struct kube_object *object = kube_cache_get(informer_cache(r->stacks), key);

    pass->r = r;
    pass->arena = arena_create(0);
    pass->key = str_dup(pass->arena, key);
    pass->began_ms = clock_monotonic_ms(loop_clock(r->options.loop));
    if (object) {
        pass->object = kube_object_ref(object);
        pass->resource_version = kube_object_resource_version(object);
    }
    pass_link(&r->passes, pass);
    return pass;
}

void pass_begin(void *context, struct str key)
{
    struct stack_reconciler *r = context;
    struct pass *pass = pass_new(r, key);
    struct error err = { .code = ERROR_NONE };

    if (!pass->object) {
        log_info(r->options.log, "stack gone", LOG_STR("stack", pass->key));
        stack_forget(r, pass->key);
        finish(pass, RECONCILE_DONE, -1);
        return;
    }
    if (r->options.policies)
        policies_settle(r->options.policies);
    /* Nothing was tried, so no failure is forgotten. */
    if (stack_is_stale(r, pass->object) ||
        (r->options.policies && !policies_set(r->options.policies))) {
        finish(pass, RECONCILE_LATER, -1);
        return;
    }
    if (make_plan(pass, &err) < 0) {
        log_error(r->options.log, "stack cannot be read", LOG_STR("stack", pass->key),
                  LOG_Z("error", err.text));
        finish(pass, RECONCILE_RETRY, -1);
        return;
    }
    if (pass->gathered.settling && pass->stored.deployments.count) {
        finish(pass, RECONCILE_LATER, SETTLING_MS);
        return;
    }
    take_capacity(pass, true);
    if (pass->plan.unasked.count) {
        const struct gather_sources sources = sources_of(r);

        gather_ask_access(&sources, pass->arena, pass->key, loop_now_ms(r->options.loop),
                          &pass->plan.unasked, &pass->gathered);
    }
    write_status(pass);
}
