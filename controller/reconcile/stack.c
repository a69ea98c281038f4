/* stack.c: who wakes whom: every change that is seen becomes keys of the Stacks it concerns.
 *
 * A Stack's own change is looked at at once. What happens in the estate comes in bursts (an App,
 * its Operation, the same on twenty clusters), so it waits for a moment, and duplicates melt
 * together. */
#include "controller/reconcile/stack_parts.h"

#include "base/map.h"
#include "base/memory.h"

enum {
    GATHER_DELAY_MS = 25,
    OFFER_MS = 1000, /* room is offered when an operation ends; this is for what was missed */
    AWAIT_MS = 10000, /* a watch that is later than that is not waited for: preconditions hold */
};

struct awaited {
    uint64_t version;
    int64_t until_ms;
    bool wanted; /* a reconcile was put off for it */
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
    struct awaited *awaited;
    uint64_t version;
    uint64_t seen;

    /* Versions of one collection are ordered numbers (Kubernetes API concepts, "Resource
     * versions"); a server that has others gets no waiting, only preconditions. */
    if (!object || !str_to_u64(resource_version, &version) ||
        !str_to_u64(kube_object_resource_version(object), &seen) || seen >= version)
        return;
    awaited = dict_get(r->awaited, key);
    if (!awaited) {
        awaited = mem_new(struct awaited);
        dict_set(r->awaited, key, awaited);
    }
    awaited->version = version;
    awaited->until_ms = loop_now_ms(r->options.loop) + AWAIT_MS;
}

bool stack_is_stale(struct stack_reconciler *r, const struct kube_object *object)
{
    struct awaited *awaited = dict_get(r->awaited, kube_object_key(object));
    int64_t left_ms = awaited ? awaited->until_ms - loop_now_ms(r->options.loop) : 0;

    if (!awaited)
        return false;
    if (left_ms > 0) {
        awaited->wanted = true;
        kube_controller_add_after(r->queue, kube_object_key(object), left_ms);
        return true;
    }
    mem_free(dict_remove(r->awaited, kube_object_key(object)));
    return false;
}

/* A version of the Stack came. True if it is the one that we wrote ourselves, and nobody waits for
 * it: what was to be done about it was done by whoever wrote it. */
static bool is_our_own(struct stack_reconciler *r, const struct kube_object *object)
{
    struct awaited *awaited = dict_get(r->awaited, kube_object_key(object));
    uint64_t version;

    if (!awaited || !str_to_u64(kube_object_resource_version(object), &version) ||
        version < awaited->version)
        return false;

    bool ours = version == awaited->version && !awaited->wanted;

    mem_free(dict_remove(r->awaited, kube_object_key(object)));
    return ours;
}

void stack_forget(struct stack_reconciler *r, struct str key)
{
    interests_forget(r->interests, key);
    actor_forget(r->actor, key);
    mem_free(dict_remove(r->awaited, key));
}

/* Stacks. */

static void tally(struct stack_reconciler *r, const struct kube_object *object, double by)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct error ignored = { .code = ERROR_NONE };
    struct json root;

    if (!object || json_read(arena, kept_stack_object(arena, kube_object_kept(object)),
                             &json_limits_default, &root, &ignored) < 0)
        return;

    struct stack_status status = stack_status_read(arena, json_get(root, STR("status")));

    metrics_add(r->options.metrics, CONTROLLER_STACKS,
                (struct str[]){ str_of(stack_phase_name(status.phase)) }, by);

    uint32_t counts[DEPLOYMENT_REMOVED];

    stack_status_summary(&status, counts);
    for (enum deployment_state state = DEPLOYMENT_UNKNOWN; state < DEPLOYMENT_REMOVED; state++)
        if (counts[state])
            metrics_add(r->options.metrics, CONTROLLER_RELEASES,
                        (struct str[]){ str_of(deployment_state_name(state)) },
                        by * counts[state]);
}

static void stack_changed(void *context, struct kube_object *before, struct kube_object *after)
{
    struct stack_reconciler *r = context;
    struct str key = kube_object_key(after ? after : before);
    bool same = before && after && str_eq(kube_object_kept(before), kube_object_kept(after));

    if (!same) {
        tally(r, before, -1);
        tally(r, after, 1);
        interests_tell(r->interests, TOPIC_STACK, key, wake_soon, r);
        if (r->options.stack_changed)
            r->options.stack_changed(r->options.context, key);
    }
    if (!after || (!is_our_own(r, after) && !same))
        wake_now(r, key);
}

/* A Stack means something beside the others: those it waits for, and receipts that prove that there
 * are receipts. So none is looked at before all are there. */
static void go_on(struct stack_reconciler *r)
{
    bool goes_on = r->leading && informer_synced(r->stacks);

    if (goes_on)
        receipts_begin(r->receipts, informer_cache(r->stacks));
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

/* The estate. */

static void estate_release_changed(void *context, struct str release)
{
    struct stack_reconciler *r = context;

    interests_tell(r->interests, TOPIC_RELEASE, release, wake_soon, r);
}

static void estate_stack_changed(void *context, struct str stack)
{
    struct stack_reconciler *r = context;

    /* A stamp is somebody's word: it wakes only a Stack that there is. */
    if (kube_cache_get(informer_cache(r->stacks), stack))
        wake_soon(r, stack);
}

static void estate_cluster_changed(void *context, struct str id)
{
    struct stack_reconciler *r = context;

    interests_tell(r->interests, TOPIC_CLUSTER, id, wake_soon, r);
    if (r->options.cluster_changed)
        r->options.cluster_changed(r->options.context, id);
}

static void estate_room_freed(void *context, struct str id)
{
    struct stack_reconciler *r = context;
    struct cluster *cluster = estate_opened(r->estate, id);

    if (cluster)
        cluster_offer_room(cluster, r->options.cluster_operations_max,
                           loop_now_ms(r->options.loop), wake_now, r);
}

static void wake_all(struct stack_reconciler *r)
{
    struct kube_object *object;

    for (size_t cursor = 0; kube_cache_next(informer_cache(r->stacks), &cursor, &object);)
        wake_soon(r, kube_object_key(object));
}

/* What is looked at now and then. */
static void offer_room(void *context)
{
    struct stack_reconciler *r = context;

    estate_offer_room(r->estate, r->options.cluster_operations_max,
                      loop_now_ms(r->options.loop), wake_soon, r);
    loop_timer_set(r->offer, OFFER_MS);
    if (receipts_look(r->receipts, loop_now_ms(r->options.loop)))
        wake_all(r);
}

static bool picks(struct arena *arena, struct str targets, const struct estate_cluster *cluster)
{
    return cluster && kept_targets_pick(arena, targets, cluster->id, cluster->internal,
                                        cluster->pairs, cluster->pair_count);
}

/* The Stacks whose answer it changes: those that picked it before and do not now, or the
 * reverse. */
static void estate_labels_changed(void *context, const struct estate_cluster *before,
                                  const struct estate_cluster *after)
{
    struct stack_reconciler *r = context;
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct kube_object *object;

    /* Before both lists are whole every Stack is looked at anyway. */
    if (!r->estate || !estate_is_listed(r->estate))
        return;
    for (size_t cursor = 0;
         kube_cache_next(informer_cache(r->stacks), &cursor, &object);) {
        struct str targets = kept_stack_targets(kube_object_kept(object));

        if (picks(arena, targets, before) != picks(arena, targets, after))
            wake_soon(r, kube_object_key(object));
        arena_reset(arena);
    }
}

static void estate_listed(void *context)
{
    struct stack_reconciler *r = context;

    log_info(r->options.log, "clusters listed", LOG_INT("synced", 1));
    wake_all(r);
    if (r->options.clusters_listed)
        r->options.clusters_listed(r->options.context);
}

static void estate_troubled(void *context, struct str id, const struct error *error)
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

static void reference_changed(void *context, enum topic_kind kind, struct str name)
{
    struct stack_reconciler *r = context;

    interests_tell(r->interests, kind, name, wake_soon, r);
}

static void topic_opened(void *context, enum topic_kind kind, struct str name)
{
    struct stack_reconciler *r = context;

    if (kind == TOPIC_CLUSTER)
        estate_open(r->estate, name);
    else if (kind == TOPIC_CONFIG_MAP || kind == TOPIC_SECRET)
        references_open(r->references, kind, name);
}

static void topic_closed(void *context, enum topic_kind kind, struct str name)
{
    struct stack_reconciler *r = context;

    if (kind == TOPIC_CLUSTER)
        estate_close(r->estate, name);
    else if (kind == TOPIC_CONFIG_MAP || kind == TOPIC_SECRET)
        references_close(r->references, kind, name);
}

static void stack_written(void *context, struct str key, struct str resource_version)
{
    stack_await(context, key, resource_version);
}

static void create_parts(struct stack_reconciler *r)
{
    const struct stack_reconciler_options *options = &r->options;

    r->interests = interests_create(&(struct interests_options){
        .opened = topic_opened, .closed = topic_closed, .context = r });
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
    r->receipts = receipts_create(options->receipt_key_file, options->receipts_mode,
                                  options->receipts_settle_ms, options->log);
    if (options->check_access)
        r->accesses = accesses_create(&(struct accesses_options){
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
    r->estate = estate_create(&(struct estate_options){
        .api = options->api,
        .rancher = options->rancher,
        .seed = options->seed + 3,
        .release_changed = estate_release_changed,
        .stack_changed = estate_stack_changed,
        .cluster_changed = estate_cluster_changed,
        .room_freed = estate_room_freed,
        .labels_changed = estate_labels_changed,
        .listed = estate_listed,
        .trouble = estate_troubled,
        .context = r,
    });
    r->actor = actor_create(&(struct actor_options){
        .api = options->api,
        .rancher = options->rancher,
        .estate = r->estate,
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
    r->awaited = dict_create();
    create_parts(r);
    r->offer = loop_timer_create(options->loop, offer_room, r);
    loop_timer_set(r->offer, OFFER_MS);
    return r;
}

void stack_reconciler_free(struct stack_reconciler *r)
{
    struct str key;
    void *awaited;

    if (!r)
        return;
    loop_timer_free(r->offer);
    passes_free(r);
    actor_free(r->actor);
    accesses_free(r->accesses);
    receipts_free(r->receipts);
    references_free(r->references);
    estate_free(r->estate);
    informer_free(r->stacks);
    kube_controller_free(r->queue);
    interests_free(r->interests);
    for (size_t cursor = 0; dict_next(r->awaited, &cursor, &key, &awaited);)
        mem_free(awaited);
    dict_free(r->awaited);
    mem_free(r);
}

void stack_reconciler_pause(struct stack_reconciler *r, bool paused)
{
    r->leading = !paused;
    go_on(r);
}

uint32_t stack_reconciler_busy(const struct stack_reconciler *r)
{
    return kube_controller_busy(r->queue) + actor_in_flight(r->actor);
}

const struct kube_cache *stack_reconciler_stacks(const struct stack_reconciler *r)
{
    return informer_cache(r->stacks);
}

const struct estate *stack_reconciler_estate(const struct stack_reconciler *r)
{
    return r->estate;
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
    return estate_is_listed(r->estate) ? STR("") : STR("Rancher's clusters are being listed");
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

void stack_reconciler_measure(const struct stack_reconciler *r)
{
    struct metrics *metrics = r->options.metrics;
    size_t followed;
    size_t objects;

    estate_counts(r->estate, &followed, &objects);
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
    metrics_set(metrics, CONTROLLER_INFORMER_OBJECTS, (struct str[]){ STR("estate") },
                (double)objects);
    metrics_set(metrics, CONTROLLER_INFORMER_OBJECTS, (struct str[]){ STR("references") },
                (double)references_count(r->references));
}
