/* SPDX-License-Identifier: Apache-2.0 */
/* facts.c: informers of Rancher's clusters and their inventories, of Stacks and of StackPolicies,
 * in one thread.
 *
 * Of clusters names and labels are kept; each burst of changes makes one new snapshot. Of Stacks
 * it is names, dependsOn and claims, in a table that all snapshots share. While either cannot be
 * read, what was known of it stays; before it was read once, and of Stacks beyond
 * LIMIT_FACT_STACKS bytes, nothing is known (facts.clusters_known is false, facts.stacks.get is
 * NULL). Of policies, not to know them is not the same as none: until they were read once,
 * facts.policies_pending holds validation up, unless the API server says that there is no such
 * kind. */
#include "webhook/facts.h"

#include "webhook/limits.h"

#include "base/memory.h"
#include "runtime/informer.h"
#include "stack/gpu/inventory.h"
#include "stack/model/stack.h"
#include "text/json_write.h"
#include "webhook/known_policies.h"
#include "webhook/known_stacks.h"

#include <pthread.h>
#include <stdatomic.h>

/* Changes within this time make one snapshot. */
enum { SETTLE_MS = 20 };

static const struct kube_resource cluster_resource =
    KUBE_RESOURCE_INIT("management.cattle.io", "v3", "clusters", "Cluster", false);

struct fact_snapshot {
    atomic_uint references;
    struct arena *arena;
    struct known_stacks_table *stacks;
    struct policy_set *policies;
    struct facts facts;
};

struct fact_source {
    pthread_mutex_t lock; /* of `current` */
    struct fact_snapshot *current;
    struct log *log;

    /* The watching thread's own; NULL where nothing is watched. */
    struct loop *loop;
    struct kube_client *client;
    struct informer *clusters;
    struct informer *inventories;
    struct informer *stacks;
    struct informer *policies;
    struct known_policies *known_policies;
    bool policies_absent;                    /* no such kind */
    struct known_stacks_table *known_stacks; /* lock and references of its own */
    bool too_many_stacks;
    struct loop_timer *settle;
    pthread_t thread;
    bool running;
};

static struct fact_snapshot *snapshot_create(void)
{
    struct fact_snapshot *snapshot = mem_new(struct fact_snapshot);

    atomic_init(&snapshot->references, 1);
    snapshot->arena = arena_create(0);
    snapshot->facts.clusters = fact_clusters_new(snapshot->arena, 0);
    return snapshot;
}

static void snapshot_unref(struct fact_snapshot *snapshot)
{
    if (!snapshot || atomic_fetch_sub(&snapshot->references, 1) != 1)
        return;
    arena_free(snapshot->arena);
    known_stacks_unref(snapshot->stacks);
    policy_set_unref(snapshot->policies);
    mem_free(snapshot);
}

static void release_held(void *context)
{
    struct fact_snapshot **held = context;

    snapshot_unref(*held);
}

const struct facts *fact_source_take(struct fact_source *source, struct arena *arena)
{
    /* All that may be abandoned for want of room comes before the reference is taken, so that none
     * is lost. */
    struct fact_snapshot **held = arena_new(arena, struct fact_snapshot *);

    arena_defer(arena, release_held, held);
    pthread_mutex_lock(&source->lock);
    *held = source->current;
    atomic_fetch_add(&(*held)->references, 1);
    pthread_mutex_unlock(&source->lock);
    return &(*held)->facts;
}

static void publish(struct fact_source *source, struct fact_snapshot *snapshot)
{
    pthread_mutex_lock(&source->lock);

    struct fact_snapshot *before = source->current;

    source->current = snapshot;
    pthread_mutex_unlock(&source->lock);
    snapshot_unref(before);
}

/* Of a cluster, keep {"displayName","labels","ready","internal"}. */
static bool keep_cluster(void *context, struct json object, struct strbuf *kept)
{
    struct json_writer w = json_writer(kept);
    struct json labels = json_walk(object, "metadata", "labels", NULL);
    struct json_iter conditions = json_iter(json_walk(object, "status", "conditions", NULL));
    bool ready = false;

    (void)context;
    while (json_next(&conditions))
        if (str_eq(json_str(json_get(conditions.value, STR("type"))), STR("Ready")))
            ready = str_eq(json_str(json_get(conditions.value, STR("status"))), STR("True"));
    json_open_object(&w);
    json_field_str(&w, "displayName", json_str(json_walk(object, "spec", "displayName", NULL)));
    if (json_is(labels, JSON_OBJECT))
        json_field_raw(&w, "labels", json_raw(labels));
    json_field_bool(&w, "ready", ready);
    json_field_bool(&w, "internal", json_bool(json_walk(object, "spec", "internal", NULL)));
    json_close_object(&w);
    return true;
}

static bool keep_inventory(void *context, struct json object, struct strbuf *kept)
{
    (void)context;
    inventory_keep(object, kept);
    return true;
}

/* NULL: there is none. */
static const struct inventory *inventory_of(const struct fact_source *source, struct arena *arena,
                                            struct str cluster)
{
    const struct kube_object *object = kube_cache_get(informer_cache(source->inventories), cluster);
    struct inventory *inventory;
    struct error err;
    struct json kept;

    if (!object || json_read(arena, str_dup(arena, kube_object_kept(object)), &json_limits_default,
                             &kept, &err) < 0)
        return NULL;
    inventory = arena_new(arena, struct inventory);
    *inventory = inventory_read(arena, kept);
    return inventory;
}

static void add_cluster(const struct fact_source *source, struct fact_snapshot *snapshot,
                        const struct kube_object *object)
{
    struct arena *arena = snapshot->arena;
    struct error err;
    struct json kept;

    /* Our own bytes, written by keep_cluster: they read back. */
    if (json_read(arena, str_dup(arena, kube_object_kept(object)), &json_limits_default, &kept,
                  &err) < 0)
        return;
    fact_clusters_push(&snapshot->facts.clusters,
                       (struct fact_cluster){
                           .id = str_dup(arena, kube_object_name(object)),
                           .display_name = json_str(json_get(kept, STR("displayName"))),
                           .labels = json_get(kept, STR("labels")),
                           .ready = json_bool(json_get(kept, STR("ready"))),
                           .internal = json_bool(json_get(kept, STR("internal"))),
                           .inventory = inventory_of(source, arena, kube_object_name(object)),
                       });
}

static bool stacks_are_known(const struct fact_source *source)
{
    return informer_synced(source->stacks) && !source->too_many_stacks;
}

/* What was known stays while it cannot be read again. */
static void add_policies(struct fact_source *source, struct fact_snapshot *snapshot)
{
    snapshot->facts.policies_pending =
        !informer_synced(source->policies) && !source->policies_absent;
    if (!informer_synced(source->policies))
        return;
    snapshot->policies =
        known_policies_take(source->known_policies, informer_cache(source->policies));
    snapshot->facts.policies = snapshot->policies;
}

/* The table goes with the last snapshot that has it. */
static void forget_stacks(struct fact_source *source)
{
    known_stacks_unref(source->known_stacks);
    source->known_stacks = NULL;
}

static void rebuild(void *context)
{
    struct fact_source *source = context;
    const struct kube_cache *cache = informer_cache(source->clusters);
    struct fact_snapshot *snapshot = snapshot_create();
    struct kube_object *object;
    size_t cursor = 0;

    snapshot->facts.clusters_known = informer_synced(source->clusters);
    while (snapshot->facts.clusters_known && kube_cache_next(cache, &cursor, &object))
        add_cluster(source, snapshot, object);
    snapshot->facts.inventories_kept = kube_cache_count(informer_cache(source->inventories)) > 0;
    if (source->too_many_stacks)
        forget_stacks(source);
    if (stacks_are_known(source)) {
        snapshot->stacks = known_stacks_ref(source->known_stacks);
        snapshot->facts.stacks = known_stacks_facts(snapshot->stacks);
    }
    add_policies(source, snapshot);
    log_debug(source->log, "facts read", LOG_INT("clusters", snapshot->facts.clusters.count),
              LOG_INT("stacks", informer_synced(source->stacks)
                                    ? (int64_t)kube_cache_count(informer_cache(source->stacks))
                                    : -1));
    publish(source, snapshot);
}

static void schedule(struct fact_source *source)
{
    if (!loop_timer_is_set(source->settle))
        loop_timer_set(source->settle, SETTLE_MS);
}

static void on_synced(void *context)
{
    rebuild(context);
}

static void tell_trouble(struct fact_source *source, const char *resource,
                         const struct error *error)
{
    if (error)
        log_warn(source->log, "cannot be watched; what was known stays",
                 LOG_Z("resource", resource), LOG_Z("error", error->text));
    else
        log_info(source->log, "is watched again", LOG_Z("resource", resource));
}

/* --- clusters --- */

static void on_cluster(void *context, struct kube_object *before, struct kube_object *after)
{
    struct fact_source *source = context;

    if (before && after && str_eq(kube_object_kept(before), kube_object_kept(after)))
        return;
    if (source->clusters && informer_synced(source->clusters))
        schedule(source);
}

static void on_cluster_trouble(void *context, const struct error *error)
{
    tell_trouble(context, "clusters", error);
}

/* --- inventories: of a cluster without one, or before they were read, nothing is said --- */

static void on_inventory(void *context, struct kube_object *before, struct kube_object *after)
{
    struct fact_source *source = context;

    if (before && after && str_eq(kube_object_kept(before), kube_object_kept(after)))
        return;
    if (source->inventories && informer_synced(source->inventories))
        schedule(source);
}

static void on_inventory_trouble(void *context, const struct error *error)
{
    tell_trouble(context, "clusterinventories", error);
}

/* --- Stacks --- */

/* Once there are too many, none is kept any more, and nothing is said of any. */
static void give_up_stacks(struct fact_source *source)
{
    source->too_many_stacks = true;
    log_warn(source->log,
             "too many Stacks to know them all: nothing is said of cycles among them, nor of "
             "releases that two of them claim; the controller still tells both",
             LOG_INT("bytes_max", LIMIT_FACT_STACKS));
    schedule(source);
}

static bool keep_stack(void *context, struct json object, struct strbuf *kept)
{
    struct fact_source *source = context;

    if (source->too_many_stacks)
        return false;
    known_stacks_keep(object, kept);
    return true;
}

static void on_stack(void *context, struct kube_object *before, struct kube_object *after)
{
    struct fact_source *source = context;

    if (source->too_many_stacks)
        return;
    known_stacks_put(source->known_stacks, before, after);
    if (source->stacks && kube_cache_bytes(informer_cache(source->stacks)) +
                                  known_stacks_bytes(source->known_stacks) >
                              LIMIT_FACT_STACKS)
        give_up_stacks(source);
}

static void on_stack_trouble(void *context, const struct error *error)
{
    tell_trouble(context, "stacks", error);
}

/* --- policies --- */

static bool keep_policy(void *context, struct json object, struct strbuf *kept)
{
    (void)context;
    policy_keep(object, kept);
    return true;
}

static void on_policy(void *context, struct kube_object *before, struct kube_object *after)
{
    struct fact_source *source = context;

    if (before && after && str_eq(kube_object_kept(before), kube_object_kept(after)))
        return;
    known_policies_changed(source->known_policies);
    if (source->policies && informer_synced(source->policies))
        schedule(source);
}

static void on_policy_trouble(void *context, const struct error *error)
{
    struct fact_source *source = context;

    source->policies_absent = error && error->code == ERROR_NOT_FOUND;
    if (source->policies_absent)
        schedule(source);
    tell_trouble(source, "stackpolicies", error);
}

static void *watch_thread(void *context)
{
    struct fact_source *source = context;

    loop_run(source->loop);
    return NULL;
}

static void watch_all(struct fact_source *source)
{
    struct informer_options clusters = {
        .client = source->client,
        .resource = cluster_resource,
        .seed = (uint64_t)clock_wall_ms(system_clock()),
        .keep = keep_cluster,
        .on_change = on_cluster,
        .on_synced = on_synced,
        .on_trouble = on_cluster_trouble,
        .context = source,
    };
    struct informer_options inventories = clusters;
    struct informer_options stacks = clusters;
    struct informer_options policies = clusters;

    stacks.resource = stack_resource;
    stacks.seed++;
    stacks.keep = keep_stack;
    stacks.on_change = on_stack;
    stacks.on_trouble = on_stack_trouble;
    policies.resource = policy_resource;
    policies.seed += 2;
    policies.keep = keep_policy;
    policies.on_change = on_policy;
    policies.on_trouble = on_policy_trouble;
    inventories.resource = inventory_resource;
    inventories.seed += 3;
    inventories.keep = keep_inventory;
    inventories.on_change = on_inventory;
    inventories.on_trouble = on_inventory_trouble;
    source->clusters = informer_create(&clusters);
    source->inventories = informer_create(&inventories);
    source->stacks = informer_create(&stacks);
    source->policies = informer_create(&policies);
}

static int start_watching(struct fact_source *source, const struct kube_config *config,
                          struct error *err)
{
    source->loop = loop_create();
    source->settle = loop_timer_create(source->loop, rebuild, source);
    source->client = kube_client_create(
        &(struct kube_client_options){
            .loop = source->loop, .config = config, .user_agent = "herd-webhook/" HERD_VERSION },
        err);
    if (!source->client)
        return error_wrap(err, "cannot watch clusters, Stacks and policies");
    watch_all(source);
    if (pthread_create(&source->thread, NULL, watch_thread, source) != 0)
        return error_set(err, ERROR_INTERNAL,
                         "cannot start the thread that watches clusters, Stacks and policies");
    source->running = true;
    return 0;
}

struct fact_source *fact_source_create(const struct kube_config *config, struct log *log,
                                       struct error *err)
{
    AUTO(fact_source_free) struct fact_source *source = mem_new(struct fact_source);

    pthread_mutex_init(&source->lock, NULL);
    source->log = log;
    source->current = snapshot_create();
    source->known_stacks = known_stacks_create();
    source->known_policies = known_policies_create(log);
    source->current->facts.policies_pending = config != NULL;
    if (config && start_watching(source, config, err) < 0)
        return NULL;
    return TAKE(source);
}

void fact_source_free(struct fact_source *source)
{
    if (!source)
        return;
    if (source->running) {
        loop_stop(source->loop);
        pthread_join(source->thread, NULL);
    }
    informer_free(source->clusters);
    informer_free(source->inventories);
    informer_free(source->stacks);
    informer_free(source->policies);
    kube_client_free(source->client);
    loop_timer_free(source->settle);
    loop_free(source->loop);
    snapshot_unref(source->current);
    known_stacks_unref(source->known_stacks);
    known_policies_free(source->known_policies);
    pthread_mutex_destroy(&source->lock);
    mem_free(source);
}
