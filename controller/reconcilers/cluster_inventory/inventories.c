/* SPDX-License-Identifier: Apache-2.0 */
/* inventories.c: who wakes whom, and one cluster after the other.
 *
 *     a list of nodes differs, or fails      its cluster
 *     a Stack changed                        it; then the clusters whose reservations that changes
 *     a cluster came, went, has new labels   it, and all Stacks that ask for GPUs
 *     an inventory changed, not by us        its cluster
 *
 * The queue has Stacks (s), clusters (c) and, when we begin, the clusters that there are (b), told
 * apart by the first letter. */
#include "controller/reconcilers/cluster_inventory/inventories.h"

#include "base/map.h"
#include "base/memory.h"
#include "controller/limits.h"
#include "controller/reconcilers/cluster_inventory/nodes.h"
#include "controller/reconcilers/cluster_inventory/reservations.h"
#include "controller/reconcilers/cluster_inventory/store.h"
#include "controller/metrics.h"
#include "controller/reasons.h"
#include "controller/reconcilers/stack/kept_stack.h"
#include "kube/names.h"
#include "runtime/controller.h"
#include "stack/targets/resolved_targets.h"
#include "stack/model/decode.h"
#include "stack/model/default.h"
#include "stack/gpu/gpu_offer.h"
#include "stack/model/status.h"

enum {
    GATHER_MS = 100,  /* what comes together is written together */
    LABELS_MS = 1000, /* clusters come in bursts, and each wakes many Stacks */
    LOOK_MS = 5000,
    WRITERS = 8,
};

/* A cluster of Rancher's list. */
struct followed {
    struct nodes *nodes; /* NULL: it is not to be called */
    uint64_t labels;     /* a hash: with other ones selectors choose anew */
    uint64_t size;       /* the same: with another one its nodes are listed now */
    int64_t lost_ms;     /* since when Rancher does not reach it; -1 = it does, or too long ago */
};

struct inventories {
    struct inventories_options options;
    struct kube_controller *queue;
    struct inventory_store *store;
    struct reservations *reservations;
    struct dict *followed; /* cluster -> struct followed */
    struct loop_timer *look;
    struct arena *arena;           /* of `clusters` */
    struct fact_clusters clusters; /* of the clusters, for Stacks to choose from */
    bool clusters_are_old;
    bool paused;
};

/* --- keys --- */

static void wake(struct inventories *i, const char *kind, struct str name, int64_t delay_ms)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);

    kube_controller_add_after(i->queue, str_fmt(arena, "%s%.*s", kind, STR_ARG(name)), delay_ms);
}

static void wake_cluster(void *context, struct str id)
{
    wake(context, "c", id, GATHER_MS);
}

static void wake_stack_late(void *context, struct str key)
{
    wake(context, "s", key, LABELS_MS);
}

void inventories_stack_changed(struct inventories *inventories, struct str key)
{
    wake(inventories, "s", key, GATHER_MS);
}

/* --- clusters --- */

static void forget_cluster(struct inventories *i, struct str id)
{
    struct followed *followed = dict_remove(i->followed, id);

    if (!followed)
        return;
    nodes_free(followed->nodes);
    mem_free(followed);
    i->clusters_are_old = true;
}

static struct followed *follow_cluster(struct inventories *i, struct str id)
{
    struct followed *followed = dict_get(i->followed, id);

    if (!followed) {
        followed = mem_new(struct followed);
        followed->lost_ms = -1;
        dict_set(i->followed, id, followed);
    }
    return followed;
}

static void adjust_nodes(struct inventories *i, const struct listed_cluster *cluster,
                         struct followed *followed)
{
    if (cluster->disconnected) {
        if (!followed->nodes)
            return;
        /* Tunnels come and go: what was known stays for a while. */
        if (followed->lost_ms < 0)
            followed->lost_ms = loop_now_ms(i->options.loop);
        return;
    }
    if (followed->nodes && (followed->lost_ms >= 0 || followed->size != str_hash(cluster->size)))
        nodes_refresh(followed->nodes);
    followed->lost_ms = -1;
    followed->size = str_hash(cluster->size);
    if (!followed->nodes) {
        followed->nodes = nodes_create(&(struct nodes_options){
            .clusters = i->options.clusters,
            .id = cluster->id,
            .interval_ms = i->options.interval_ms,
            .changed = wake_cluster,
            .context = i,
        });
    }
}

/* Rancher's own cluster is nobody's target; an id that is no DNS name is never put into a path. */
static bool is_counted(const struct listed_cluster *cluster)
{
    return cluster && !cluster->internal && !kube_not_dns1123_subdomain(cluster->id);
}

void inventories_cluster_changed(struct inventories *i, struct str id)
{
    const struct listed_cluster *cluster = clusters_get(i->options.clusters, id);
    struct followed *followed;
    uint64_t labels;

    if (i->paused)
        return;
    wake_cluster(i, id);
    if (!is_counted(cluster)) {
        forget_cluster(i, id);
        return;
    }
    followed = follow_cluster(i, id);
    adjust_nodes(i, cluster, followed);
    labels = str_hash(cluster->labels) | 1;
    if (followed->labels == labels)
        return;
    followed->labels = labels;
    i->clusters_are_old = true;
    reservations_each(i->reservations, wake_stack_late, i);
}

static const struct fact_clusters *known_clusters(struct inventories *i)
{
    const struct listed_cluster *cluster;

    if (!i->clusters_are_old)
        return &i->clusters;
    i->clusters_are_old = false;
    arena_reset(i->arena);
    i->clusters = fact_clusters_new(i->arena, 0);
    for (size_t cursor = 0; clusters_next(i->options.clusters, &cursor, &cluster);) {
        struct fact_cluster one;

        if (is_counted(cluster) && clusters_fact(i->arena, cluster, &one))
            fact_clusters_push(&i->clusters, one);
    }
    return &i->clusters;
}

/* --- one Stack --- */

static bool is_rejected(struct arena *arena, struct json object)
{
    struct kube_conditions conditions =
        kube_conditions_read(arena, json_walk(object, "status", "conditions", NULL));
    const struct kube_condition *accepted = kube_condition_find(&conditions, STR("Accepted"));

    return accepted && accepted->status == CONDITION_FALSE;
}

/* Whether it could ask for GPUs on some cluster, whatever clusters there are. */
static bool may_ask(struct arena *arena, const struct stack *stack)
{
    static const struct u32_list none;

    return stack->spec.overrides.count ||
           gpu_demand(gpu_counter_new(arena, stack, UINT64_MAX), &none).count;
}

static void reservation(struct inventories *i, struct str key)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct kube_object *object = kube_cache_get(i->options.stacks, key);
    struct problems problems = problems_new(arena);
    struct facts facts = { .clusters_known = true };
    struct error ignored;
    struct json json;

    if (!object || kept_stack_read(arena, kube_object_kept(object), &json, &ignored) < 0 ||
        is_rejected(arena, json)) {
        reservations_forget(i->reservations, key, wake_cluster, i);
        return;
    }

    const struct stack *stack = stack_default(arena, stack_decode(arena, json, &problems), NULL);

    if (!may_ask(arena, stack)) {
        reservations_forget(i->reservations, key, wake_cluster, i);
        return;
    }
    facts.clusters = *known_clusters(i);

    const struct fact_clusters *clusters = &resolved_targets_of(arena, stack, &facts)->clusters;
    struct gpu_groups groups = gpu_demand_bounded(arena, stack, clusters);

    reservations_put(i->reservations, key, &groups, clusters, wake_cluster, i);
}

/* --- one cluster --- */

/* And as much is known of it as before. */
static bool is_lost_briefly(const struct inventories *i, const struct followed *followed)
{
    int64_t now_ms = loop_now_ms(i->options.loop);

    return followed && followed->nodes && followed->lost_ms >= 0 &&
           now_ms - followed->lost_ms < LIMIT_INVENTORY_STALE &&
           nodes_are_known(followed->nodes, now_ms);
}

/* False: it is too early to say anything. */
static bool fill(const struct inventories *i, struct arena *arena,
                 const struct listed_cluster *cluster, struct inventory *inventory)
{
    const struct followed *followed = dict_get(i->followed, cluster->id);
    struct error ignored;

    inventory->display_name = cluster->display_name;
    inventory->ready = cluster->usable || is_lost_briefly(i, followed);
    (void)json_read(arena, cluster->labels, &json_limits_default, &inventory->labels, &ignored);
    if (followed && followed->nodes && (followed->lost_ms < 0 || is_lost_briefly(i, followed))) {
        if (!nodes_fill(followed->nodes, arena, loop_now_ms(i->options.loop), inventory))
            return false;
    } else {
        inventory->reason = controller_reason_name(CONTROLLER_REASON_CLUSTER_DISCONNECTED);
        inventory->message = cluster->message;
    }
    reservations_add_to(i->reservations, arena, cluster->id, inventory);
    return true;
}

/* True: it is being written, and the key is done later. */
static bool look_at(struct inventories *i, struct str id)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct listed_cluster *cluster = clusters_get(i->options.clusters, id);
    struct inventory inventory = inventory_new(arena);
    struct str status;

    if (!inventory_store_synced(i->store) || !clusters_is_listed(i->options.clusters))
        return false; /* both wake all clusters when they are */
    if (!is_counted(cluster)) {
        /* That of Rancher's own cluster, where workloads run, is its administrators'. */
        if ((cluster && cluster->internal) || !inventory_store_has(i->store, id))
            return false;
        inventory_store_remove(i->store, id);
        return true;
    }
    if (!fill(i, arena, cluster, &inventory))
        return false;
    status = inventory_status(arena, &inventory, inventory_store_status(i->store, arena, id),
                              clock_wall_ms(loop_clock(i->options.loop)));
    if (status.len == 0)
        return false;
    inventory_store_write(i->store, id, status);
    return true;
}

static void on_written(void *context, struct str id, enum reconcile_result result, int64_t after_ms)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct inventories *i = context;

    kube_controller_done(i->queue, str_fmt(arena, "c%.*s", STR_ARG(id)), result, after_ms);
}

static void work_on(void *context, struct str key)
{
    struct inventories *i = context;
    struct str name = str_slice(key, 1, key.len);

    if (key.at[0] == 'b')
        inventories_cluster_changed(i, name);
    else if (key.at[0] == 's')
        reservation(i, name);
    else if (look_at(i, name))
        return;
    kube_controller_done(i->queue, key, RECONCILE_DONE, -1);
}

/* Those that there are, and those that have an inventory all the same. */
static void wake_all(void *context)
{
    struct inventories *i = context;
    struct str id;
    void *followed;

    for (size_t cursor = 0; dict_next(i->followed, &cursor, &id, &followed);)
        wake_cluster(i, id);
    for (size_t cursor = 0; inventory_store_next(i->store, &cursor, &id);)
        wake_cluster(i, id);
}

void inventories_clusters_listed(struct inventories *inventories)
{
    wake_all(inventories);
}

static void on_look(void *context)
{
    struct inventories *i = context;
    int64_t now_ms = loop_now_ms(i->options.loop);
    struct str id;
    void *value;

    for (size_t cursor = 0; dict_next(i->followed, &cursor, &id, &value);) {
        struct followed *followed = value;

        if (followed->lost_ms >= 0 && now_ms - followed->lost_ms >= LIMIT_INVENTORY_STALE) {
            nodes_free(TAKE(followed->nodes));
            followed->lost_ms = -1;
            wake_cluster(i, id);
        }
        if (followed->nodes)
            nodes_look(followed->nodes, now_ms);
    }
    loop_timer_set(i->look, LOOK_MS);
}

/* --- the object --- */

struct inventories *inventories_create(const struct inventories_options *options)
{
    struct inventories *i = mem_new(struct inventories);

    i->options = *options;
    i->paused = true;
    i->clusters_are_old = true;
    i->arena = arena_create(0);
    i->reservations = reservations_create();
    i->followed = dict_create();
    i->look = loop_timer_create(options->loop, on_look, i);
    i->queue = kube_controller_create(&(struct kube_controller_options){
        .loop = options->loop,
        .workers = WRITERS,
        .seed = options->seed,
        .reconcile = work_on,
        .context = i,
    });
    i->store = inventory_store_create(&(struct inventory_store_options){
        .loop = options->loop,
        .api = options->api,
        .log = options->log,
        .metrics = options->metrics,
        .seed = options->seed + 1,
        .changed = wake_cluster,
        .synced = wake_all,
        .done = on_written,
        .context = i,
    });
    return i;
}

void inventories_free(struct inventories *i)
{
    struct str id;
    void *value;

    if (!i)
        return;
    for (size_t cursor = 0; dict_next(i->followed, &cursor, &id, &value);) {
        nodes_free(((struct followed *)value)->nodes);
        mem_free(value);
    }
    dict_free(i->followed);
    inventory_store_free(i->store);
    kube_controller_free(i->queue);
    loop_timer_free(i->look);
    reservations_free(i->reservations);
    arena_free(i->arena);
    mem_free(i);
}

static void begin(struct inventories *i)
{
    const struct listed_cluster *cluster;
    struct kube_object *object;

    for (size_t cursor = 0; clusters_next(i->options.clusters, &cursor, &cluster);)
        wake(i, "b", cluster->id, 0);
    for (size_t cursor = 0; kube_cache_next(i->options.stacks, &cursor, &object);)
        inventories_stack_changed(i, kube_object_key(object));
    loop_timer_set(i->look, LOOK_MS);
}

void inventories_pause(struct inventories *inventories, bool paused)
{
    if (inventories->paused == paused)
        return;
    inventories->paused = paused;
    kube_controller_pause(inventories->queue, paused);
    if (!paused)
        begin(inventories);
}

void inventories_measure(const struct inventories *i)
{
    uint32_t known = 0;
    size_t nodes = 0;
    struct str id;
    void *value;

    for (size_t cursor = 0; dict_next(i->followed, &cursor, &id, &value);) {
        const struct nodes *of = ((struct followed *)value)->nodes;

        known += of && nodes_are_known(of, loop_now_ms(i->options.loop));
        nodes += of ? nodes_count(of) : 0;
    }
    metrics_set(i->options.metrics, CONTROLLER_INVENTORIES, (struct str[]){ STR("known") }, known);
    metrics_set(i->options.metrics, CONTROLLER_INVENTORIES, (struct str[]){ STR("unknown") },
                (double)(dict_count(i->followed) - known));
    metrics_set(i->options.metrics, CONTROLLER_INFORMER_OBJECTS, (struct str[]){ STR("nodes") },
                (double)nodes);
}
