/* SPDX-License-Identifier: Apache-2.0 */
/* stack.c: who wakes whom: every change that is seen becomes keys of the Stacks it concerns.
 *
 * A Stack's own change is looked at at once. What happens in the clusters comes in bursts (an App,
 * its Operation, the same on twenty clusters), so it waits for a moment, and duplicates melt
 * together. */
#include "controller/reconcilers/stack/stack_parts.h"

#include "controller/reconcilers/stack/status_pace.h"
#include "base/map.h"
#include "base/memory.h"
#include "stack/model/stored_status.h"

enum {
    GATHER_DELAY_MS = 25,
    OPEN_AT_ONCE = 64, /* clusters: in about 3 ms */
    OFFER_MS = 1000,   /* capacity is offered when an operation ends; this is for what was missed */
};

static void wake_now(void *context, struct str key)
{
    struct stack_reconciler *r = context;

    kube_controller_add(r->queue, key);
}

static void wake_soon(void *context, struct str key)
{
    struct stack_reconciler *r = context;

    kube_controller_add_after(r->queue, key, GATHER_DELAY_MS);
}

/* Our own writes. */

void stack_await(struct stack_reconciler *r, struct str key, struct str resource_version)
{
    const struct kube_object *object = kube_cache_get(informer_cache(r->stacks), key);

    if (object)
        expectations_set(r->written, key, resource_version, object, STR(""),
                         loop_now_ms(r->options.loop));
}

bool stack_is_stale(struct stack_reconciler *r, const struct kube_object *object)
{
    int64_t left_ms =
        expectations_put_off(r->written, kube_object_key(object), loop_now_ms(r->options.loop));

    if (left_ms > 0)
        kube_controller_add_after(r->queue, kube_object_key(object), left_ms);
    return left_ms > 0;
}

void stack_forget(struct stack_reconciler *r, struct str key)
{
    dependency_tracker_forget(r->tracker, key);
    actor_forget(r->actor, key);
    expectations_forget(r->written, key);
    status_pace_forget(r->pace, key);
    for (const struct observer *const *one = r->options.observers; *one; one++)
        (*one)->forget((*one)->context, key);
}

/* Stacks. */

static void tally(struct stack_reconciler *r, struct arena *arena, struct str kept, double by)
{
    struct error ignored = { .code = ERROR_NONE };
    struct json root = { NULL, 0 };
    struct str scans;
    const char *phase;

    json_read(arena, kept_stack_tally(kept), &json_limits_default, &root, &ignored);
    phase = stack_phase_name(stack_phase_from(json_str(json_get(root, STR("phase")))));
    scans = json_str(json_get(root, STR("scans")));
    metrics_add(r->options.metrics, CONTROLLER_STACKS, (struct str[]){ str_of(phase) }, by);
    for (uint32_t i = 0; i < words_of_scan_progress.count; i++)
        if (str_eq(words_of_scan_progress.words[i].name, scans))
            metrics_add(r->options.metrics, CONTROLLER_STACK_SCANS, (struct str[]){ scans }, by);
    for (enum deployment_state state = DEPLOYMENT_UNKNOWN; state < DEPLOYMENT_REMOVED; state++) {
        struct str name = str_of(deployment_state_name(state));
        int64_t count = 0;

        if (json_int64(json_walk(root, "summary", deployment_state_name(state), NULL), &count) &&
            count > 0)
            metrics_add(r->options.metrics, CONTROLLER_RELEASES, (struct str[]){ name },
                        by * (double)count);
    }
}

static void index_one(struct multimap *map, struct str key, struct str value, bool there)
{
    if (there)
        multimap_add(map, key, value);
    else
        multimap_remove(map, key, value);
}

static void index_dependent(struct stack_reconciler *r, struct arena *arena,
                            const struct kube_object *object, struct json root, bool there)
{
    struct json_iter it = json_iter(json_walk(root, "spec", "dependsOn", NULL));

    while (json_next(&it))
        index_one(r->dependents,
                  kube_key(arena, kube_object_namespace(object),
                           json_str(json_get(it.value, STR("name")))),
                  kube_object_key(object), there);
}

/* Of "cluster:namespace/release" the release. Whoever has something to do with it is woken. */
static void index_adopter(struct stack_reconciler *r, const struct kube_object *object,
                          struct json root, bool there)
{
    struct kube_meta meta;
    struct str rest;
    struct str part;

    kube_meta_read(root, &meta);
    rest = kube_annotation(&meta, STR(STACK_ADOPT));
    while (str_split(&rest, ',', &part)) {
        ptrdiff_t colon = str_find_char(part, ':', 0);
        struct str release =
            str_trim(colon < 0 ? part : str_slice(part, (size_t)colon + 1, part.len));

        if (!release.len)
            continue;
        index_one(r->adopters, release, kube_object_key(object), there);
        dependency_tracker_visit(r->tracker, TRACKED_RELEASE, release, wake_soon, r);
    }
}

/* A release that a Stack has, or had, and that another one adopts. */
static void tell_adopters(struct stack_reconciler *r, struct arena *arena, struct json root)
{
    struct json_iter it = json_iter(json_walk(root, "spec", "charts", NULL));
    struct str adopter;

    while (multimap_count(r->adopters) && json_next(&it)) {
        struct str name = json_str(json_get(it.value, STR("name")));
        struct str namespace_ = json_str(json_get(it.value, STR("namespace")));
        struct str release = json_str(json_get(it.value, STR("releaseName")));
        struct str key =
            kube_key(arena, namespace_.len ? namespace_ : name, release.len ? release : name);

        if (multimap_at(r->adopters, key, 0, &adopter))
            dependency_tracker_visit(r->tracker, TRACKED_RELEASE, key, wake_soon, r);
    }
}

/* It came, or went: metrics count it, and other Stacks find what they need of it. */
static void count_stack(struct stack_reconciler *r, const struct kube_object *object, bool there)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct error ignored = { .code = ERROR_NONE };
    struct json root;

    if (!object)
        return;
    tally(r, arena, kube_object_kept(object), there ? 1 : -1);
    if (kept_stack_read_spec(arena, kube_object_kept(object), &root, &ignored) < 0)
        return;
    index_dependent(r, arena, object, root, there);
    index_adopter(r, object, root, there);
    tell_adopters(r, arena, root);
}

/* A status is written often, and leaves the targets as they are. */
static void index_targets(struct stack_reconciler *r, const struct kube_object *before,
                          const struct kube_object *after)
{
    struct str old = before ? kept_stack_targets(kube_object_kept(before)) : STR("");
    struct str new = after ? kept_stack_targets(kube_object_kept(after)) : STR("");

    if (str_eq(old, new))
        return;
    if (before)
        targets_index_remove(r->targets, kube_object_key(before), old);
    if (after)
        targets_index_add(r->targets, kube_object_key(after), new);
}

static void stack_changed(void *context, struct kube_object *before, struct kube_object *after)
{
    struct stack_reconciler *r = context;
    struct str key = kube_object_key(after ? after : before);
    bool same = before && after && str_eq(kube_object_kept(before), kube_object_kept(after));

    if (!same) {
        count_stack(r, before, false);
        count_stack(r, after, true);
        index_targets(r, before, after);
        dependency_tracker_visit(r->tracker, TRACKED_STACK, key, wake_soon, r);
        if (r->options.stack_changed)
            r->options.stack_changed(r->options.context, key);
    }
    /* What was to be done about our own write was done by whoever wrote it. */
    if (!after || (expectations_observe(r->written, key, kube_object_resource_version(after)) !=
                       OBSERVED_OURS &&
                   !same))
        wake_now(r, key);
}

/* A Stack means something beside the others, those it waits for, and by the policies. So none is
 * looked at before all are there. */
static void go_on(struct stack_reconciler *r)
{
    bool goes_on = r->leading && informer_synced(r->stacks) &&
                   (!r->options.policies || policies_set(r->options.policies));

    if (goes_on) {
        inherited_begin(r->inherited, informer_cache(r->stacks),
                        loop_now_ms(r->options.loop) + r->options.settle_ms);
    }
    kube_controller_pause(r->queue, !goes_on);
}

static void stacks_synced(void *context)
{
    struct stack_reconciler *r = context;

    log_info(r->options.log, "stacks listed",
             LOG_INT("stacks", kube_cache_count(informer_cache(r->stacks))));
    go_on(r);
}

static void stacks_troubled(void *context, const struct error *error)
{
    struct stack_reconciler *r = context;

    if (error)
        log_warn(r->options.log, "stacks cannot be followed", LOG_Z("error", error->text));
    else
        log_info(r->options.log, "stacks can be followed again", LOG_INT("synced", 1));
}

/* The clusters. */

static void backend_release_changed(void *context, struct str release)
{
    struct stack_reconciler *r = context;

    dependency_tracker_visit(r->tracker, TRACKED_RELEASE, release, wake_soon, r);
}

static void backend_stack_changed(void *context, struct str stack)
{
    struct stack_reconciler *r = context;

    /* A stamp is somebody's word: it wakes only a Stack that there is. */
    if (kube_cache_get(informer_cache(r->stacks), stack))
        wake_soon(r, stack);
}

static void clusters_cluster_changed(void *context, struct str id)
{
    struct stack_reconciler *r = context;

    dependency_tracker_visit(r->tracker, TRACKED_CLUSTER, id, wake_soon, r);
    if (r->options.cluster_changed)
        r->options.cluster_changed(r->options.context, id);
}

static void backend_capacity_freed(void *context, struct str id)
{
    struct stack_reconciler *r = context;
    const struct backend *backend = r->options.backend;

    if (!backend->offer_capacity)
        return;
    backend->offer_capacity(backend->context, id, r->options.cluster_operations_max,
                            loop_now_ms(r->options.loop), wake_now, r);
}

static void wake_all(struct stack_reconciler *r)
{
    struct kube_object *object;

    for (size_t cursor = 0; kube_cache_next(informer_cache(r->stacks), &cursor, &object);)
        wake_soon(r, kube_object_key(object));
}

/* What is looked at now and then. */
static void offer_capacity(void *context)
{
    struct stack_reconciler *r = context;
    const struct backend *backend = r->options.backend;

    if (!backend->offer_capacity)
        return;
    backend->offer_capacity(backend->context, STR(""), r->options.cluster_operations_max,
                            loop_now_ms(r->options.loop), wake_soon, r);
    loop_timer_set(r->offer, OFFER_MS);
}

static void look_again(void *context, struct str key, int64_t delay_ms)
{
    struct stack_reconciler *r = context;

    /* Of a report the owner is somebody's word. */
    if (kube_cache_get(informer_cache(r->stacks), key))
        kube_controller_add_after(r->queue, key, delay_ms > 0 ? delay_ms : GATHER_DELAY_MS);
}

static void scan_reports_listed(void *context)
{
    wake_all(context);
}

static bool picks(struct arena *arena, struct str targets, const struct listed_cluster *cluster)
{
    return cluster && kept_targets_pick(arena, targets, cluster->id, cluster->internal,
                                        cluster->label_list, cluster->label_count);
}

struct relabeled {
    struct stack_reconciler *reconciler;
    struct arena *arena;
    const struct listed_cluster *before, *after;
};

static void wake_if_picked_otherwise(void *context, struct str key)
{
    const struct relabeled *cluster = context;
    struct stack_reconciler *r = cluster->reconciler;
    const struct kube_object *object = kube_cache_get(informer_cache(r->stacks), key);
    struct str targets = object ? kept_stack_targets(kube_object_kept(object)) : STR("");

    if (picks(cluster->arena, targets, cluster->before) !=
        picks(cluster->arena, targets, cluster->after))
        wake_soon(r, key);
    arena_reset(cluster->arena);
}

/* The Stacks whose answer it changes: those that picked it before and do not now, or the
 * reverse. */
static void clusters_labels_changed(void *context, const struct listed_cluster *before,
                                    const struct listed_cluster *after)
{
    struct stack_reconciler *r = context;
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct relabeled cluster = { r, arena, before, after };

    /* Before both lists are whole every Stack is looked at anyway. */
    if (r->clusters && clusters_is_listed(r->clusters))
        targets_index_visit(r->targets, before, after, wake_if_picked_otherwise, &cluster);
}

static void clusters_listed(void *context)
{
    struct stack_reconciler *r = context;

    log_info(r->options.log, "clusters listed", LOG_INT("synced", 1));
    wake_all(r);
    if (r->options.clusters_listed)
        r->options.clusters_listed(r->options.context);
}

static void clusters_troubled(void *context, struct str id, const struct error *error)
{
    struct stack_reconciler *r = context;

    if (id.len == 0)
        r->clusters_trouble = error ? *error : (struct error){ .code = ERROR_NONE };
    if (error)
        log_warn(r->options.log, id.len ? "cluster cannot be read" : "clusters cannot be listed",
                 LOG_STR("cluster", id), LOG_Z("error", error->text));
    else
        log_info(r->options.log, "clusters can be read again", LOG_STR("cluster", id));
}

/* References. */

static void reference_changed(void *context, enum tracked_kind kind, struct str name)
{
    struct stack_reconciler *r = context;

    dependency_tracker_visit(r->tracker, kind, name, wake_soon, r);
}

static void open_cluster(struct stack_reconciler *r, struct str id)
{
    const struct backend *backend = r->options.backend;
    struct connection *connection = clusters_open(r->clusters, id);

    backend->open(backend->context, connection, &r->backend_events);
    for (const struct observer *const *one = r->options.observers; *one; one++)
        (*one)->open((*one)->context, connection, &r->observer_events);
}

/* A Stack may name thousands, so they are opened a few at a time. */
static void open_some(void *context)
{
    struct stack_reconciler *r = context;
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str_list ids = str_list_new(arena, OPEN_AT_ONCE);
    struct str id;
    void *value;

    for (size_t cursor = 0;
         ids.count < OPEN_AT_ONCE && dict_next(r->unopened, &cursor, &id, &value);)
        str_list_push(&ids, str_dup(arena, id));
    for (uint32_t i = 0; i < ids.count; i++) {
        dict_remove(r->unopened, ids.items[i]);
        open_cluster(r, ids.items[i]);
    }
    if (dict_count(r->unopened))
        loop_timer_set(r->open, 0);
}

static void close_observers(struct stack_reconciler *r, struct str id)
{
    for (const struct observer *const *one = r->options.observers; *one; one++)
        (*one)->close((*one)->context, id);
}

static void tracked_opened(void *context, enum tracked_kind kind, struct str name)
{
    struct stack_reconciler *r = context;

    if (kind == TRACKED_CLUSTER) {
        dict_set(r->unopened, name, r);
        loop_timer_set(r->open, 0);
    } else if (kind == TRACKED_CONFIG_MAP || kind == TRACKED_SECRET) {
        references_open(r->references, kind, name);
    }
}

static void close_cluster(struct stack_reconciler *r, struct str id)
{
    const struct backend *backend = r->options.backend;

    if (dict_remove(r->unopened, id))
        return;
    close_observers(r, id);
    backend->close(backend->context, id);
    clusters_close(r->clusters, id);
}

static void tracked_closed(void *context, enum tracked_kind kind, struct str name)
{
    struct stack_reconciler *r = context;

    if (kind == TRACKED_CLUSTER)
        close_cluster(r, name);
    else if (kind == TRACKED_CONFIG_MAP || kind == TRACKED_SECRET)
        references_close(r->references, kind, name);
}

static void stack_written(void *context, struct str key, struct str resource_version)
{
    stack_await(context, key, resource_version);
}

static void create_parts(struct stack_reconciler *r)
{
    const struct stack_reconciler_options *options = &r->options;

    r->tracker = dependency_tracker_create(&(struct dependency_tracker_options){
        .opened = tracked_opened, .closed = tracked_closed, .context = r });
    r->queue = kube_controller_create(&(struct kube_controller_options){
        .loop = options->loop,
        .workers = options->workers,
        .seed = options->seed,
        .reconcile = pass_begin,
        .context = r,
    });
    r->references = references_create(&(struct references_options){
        .api = options->api,
        .seed = options->seed + 1,
        .changed = reference_changed,
        .context = r,
    });
    if (options->check_access)
        r->access_cache = access_cache_create(&(struct access_cache_options){
            .api = options->api, .again = wake_soon, .context = r });
    r->stacks = informer_create(&(struct informer_options){
        .client = options->api,
        .resource = stack_resource,
        .namespace_ = options->namespace_,
        .seed = options->seed + 2,
        .keep = keep_stack,
        .on_change = stack_changed,
        .on_synced = stacks_synced,
        .on_trouble = stacks_troubled,
        .context = r,
    });
    r->scan_reports = scan_reports_create(&(struct scan_reports_options){
        .api = options->api,
        .log = options->log,
        .namespace_ = options->namespace_,
        .seed = options->seed + 5,
        .again = look_again,
        .listed = scan_reports_listed,
        .context = r,
    });
    r->backend_events = (struct backend_events){
        .release_changed = backend_release_changed,
        .stack_changed = backend_stack_changed,
        .cluster_changed = clusters_cluster_changed,
        .capacity_freed = backend_capacity_freed,
        .context = r,
    };
    r->observer_events =
        (struct observer_events){ .stack_changed = backend_stack_changed, .context = r };
    r->clusters = clusters_create(&(struct clusters_options){
        .api = options->api,
        .requests = options->rancher_requests,
        .watches = options->rancher_watches,
        .seed = options->seed + 3,
        .cluster_changed = clusters_cluster_changed,
        .labels_changed = clusters_labels_changed,
        .listed = clusters_listed,
        .trouble = clusters_troubled,
        .context = r,
    });
    r->actor = actor_create(&(struct actor_options){
        .api = options->api,
        .backend = options->backend,
        .clusters = r->clusters,
        .loop = options->loop,
        .log = options->log,
        .metrics = options->metrics,
        .again = wake_soon,
        .written = stack_written,
        .shown = pass_shown,
        .context = r,
    });
}

struct stack_reconciler *stack_reconciler_create(const struct stack_reconciler_options *options)
{
    struct stack_reconciler *r = mem_new(struct stack_reconciler);

    r->options = *options;
    r->written = expectations_create();
    r->pace = status_pace_create();
    r->adopters = multimap_create();
    r->dependents = multimap_create();
    r->targets = targets_index_create();
    r->inherited = inherited_create();
    r->rancher_trouble = arena_create(0);
    r->rancher_trouble_reason = r->rancher_trouble_message = STR("");
    r->unopened = dict_create();
    r->open = loop_timer_create(options->loop, open_some, r);
    create_parts(r);
    passes_create(r);
    r->offer = loop_timer_create(options->loop, offer_capacity, r);
    loop_timer_set(r->offer, OFFER_MS);
    return r;
}

void stack_reconciler_free(struct stack_reconciler *r)
{
    if (!r)
        return;
    loop_timer_free(r->offer);
    passes_free(r);
    loop_timer_free(r->open);
    dict_free(r->unopened);
    actor_free(r->actor);
    scan_reports_free(r->scan_reports);
    access_cache_free(r->access_cache);
    references_free(r->references);
    close_observers(r, STR(""));
    r->options.backend->close(r->options.backend->context, STR(""));
    clusters_free(r->clusters);
    informer_free(r->stacks);
    kube_controller_free(r->queue);
    dependency_tracker_free(r->tracker);
    multimap_free(r->adopters);
    multimap_free(r->dependents);
    targets_index_free(r->targets);
    inherited_free(r->inherited);
    expectations_free(r->written);
    status_pace_free(r->pace);
    arena_free(r->rancher_trouble);
    mem_free(r);
}

static void rest_observers(struct stack_reconciler *r)
{
    for (const struct observer *const *one = r->options.observers; *one; one++)
        if ((*one)->rest)
            (*one)->rest((*one)->context);
}

static uint32_t busy_observers(const struct stack_reconciler *r)
{
    uint32_t busy = 0;

    for (const struct observer *const *one = r->options.observers; *one; one++)
        busy += (*one)->is_busy && (*one)->is_busy((*one)->context);
    return busy;
}

/* Once it led it is paused at the end of the process only. */
void stack_reconciler_pause(struct stack_reconciler *r, bool paused)
{
    if (paused && r->leading)
        rest_observers(r);
    if (!paused && !r->leading)
        r->led_ms = loop_now_ms(r->options.loop);
    r->leading = !paused;
    go_on(r);
}

uint32_t stack_reconciler_busy(const struct stack_reconciler *r)
{
    return kube_controller_busy(r->queue) + actor_in_flight(r->actor) + busy_observers(r);
}

const struct kube_cache *stack_reconciler_stacks(const struct stack_reconciler *r)
{
    return informer_cache(r->stacks);
}

struct clusters *stack_reconciler_clusters(const struct stack_reconciler *r)
{
    return r->clusters;
}

struct str stack_reconciler_stacks_trouble(const struct stack_reconciler *r)
{
    const struct error *trouble = informer_trouble(r->stacks);

    if (trouble->code != ERROR_NONE)
        return str_of(trouble->text);
    return informer_synced(r->stacks) ? STR("") : STR("Stacks are being listed");
}

struct str stack_reconciler_clusters_trouble(const struct stack_reconciler *r)
{
    if (r->clusters_trouble.code != ERROR_NONE)
        return str_of(r->clusters_trouble.text);
    return clusters_is_listed(r->clusters) ? STR("") : STR("Rancher's clusters are being listed");
}

void stack_reconciler_configure(struct stack_reconciler *r,
                                const struct configuration *configuration)
{
    struct kube_object *object;
    size_t cursor = 0;

    r->options.configuration = *configuration;
    while (kube_cache_next(informer_cache(r->stacks), &cursor, &object))
        wake_now(r, kube_object_key(object));
}

void stack_reconciler_policies_changed(struct stack_reconciler *r)
{
    go_on(r);
    wake_all(r);
}

void stack_reconciler_rancher_trouble(struct stack_reconciler *r, struct str reason,
                                      struct str message)
{
    arena_reset(r->rancher_trouble);
    r->rancher_trouble_reason = str_dup(r->rancher_trouble, reason);
    r->rancher_trouble_message = str_dup(r->rancher_trouble, message);
    if (!reason.len)
        clusters_retry(r->clusters);
    wake_all(r);
}

void stack_reconciler_measure(const struct stack_reconciler *r)
{
    struct metrics *metrics = r->options.metrics;
    size_t followed;
    size_t objects;

    clusters_counts(r->clusters, &followed, &objects);
    metrics_set(metrics, CONTROLLER_QUEUE_DEPTH, NULL, (double)kube_controller_depth(r->queue));
    metrics_set(metrics, CONTROLLER_ACTIONS_IN_FLIGHT, NULL, actor_in_flight(r->actor));
    metrics_set(metrics, CONTROLLER_EVENTS_FAILED, NULL,
                (double)recorder_failed(r->options.recorder));
    metrics_set(metrics, CONTROLLER_EVENTS_DROPPED, NULL,
                (double)recorder_dropped(r->options.recorder));
    metrics_set(metrics, CONTROLLER_INFORMER_OBJECTS, (struct str[]){ STR("stacks") },
                (double)kube_cache_count(informer_cache(r->stacks)));
    metrics_set(metrics, CONTROLLER_INFORMER_OBJECTS, (struct str[]){ STR("clusters") },
                (double)followed);
    metrics_set(metrics, CONTROLLER_INFORMER_OBJECTS, (struct str[]){ STR("cluster-objects") },
                (double)objects);
    metrics_set(metrics, CONTROLLER_INFORMER_OBJECTS, (struct str[]){ STR("references") },
                (double)references_count(r->references));
}
