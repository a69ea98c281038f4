/* SPDX-License-Identifier: Apache-2.0 */
/* cluster.c: three collections of a cluster, with indexes from Stacks to Apps and from releases to
 * Operations. Two of them are followed on demand: a stream that says nothing costs memory, and most
 * clusters do not change most of the time. */
#include "controller/backends/rancher_apps/cluster_parts.h"

#include "base/memory.h"
#include "controller/backends/rancher_apps/keep.h"
#include "controller/limits.h"

static int64_t loop_time(const struct apps_cluster *cluster)
{
    return loop_now_ms(connection_loop(cluster->connection));
}

static void values_free(struct dict *dict)
{
    struct str key;
    void *value;

    for (size_t cursor = 0; dict_next(dict, &cursor, &key, &value);)
        mem_free(value);
    dict_free(dict);
}

static bool is_same(const struct kube_object *before, const struct kube_object *after)
{
    return before && after && str_eq(kube_object_kept(before), kube_object_kept(after)) &&
           str_eq(kube_object_uid(before), kube_object_uid(after));
}

static void count_app(struct apps_cluster *cluster, struct str repo, bool there)
{
    uint32_t *count = dict_get(cluster->apps_of_repo, repo);

    if (!count && there) {
        count = mem_new(uint32_t);
        dict_set(cluster->apps_of_repo, repo, count);
    }
    if (count && (*count += there ? 1 : UINT32_MAX) == 0)
        mem_free(dict_remove(cluster->apps_of_repo, repo));
}

static void workload_changed(void *context, struct kube_object *before, struct kube_object *after)
{
    struct apps_cluster *cluster = context;
    struct str release = kept_workload(kube_object_kept(after ? after : before)).release;

    if (!is_same(before, after) && release.len)
        cluster->events->release_changed(cluster->events->context, release);
}

/* Until then nothing is said of workloads of that kind. */
static void workloads_listed(void *context)
{
    struct apps_cluster *cluster = context;

    cluster->events->cluster_changed(cluster->events->context, connection_id(cluster->connection));
}

/* A kind is followed while a release of a Stack has such a workload. */
static void follow_workloads(struct apps_cluster *cluster)
{
    for (int kind = 0; kind < WORKLOAD_KINDS; kind++) {
        if (!cluster->apps_of_workload[kind]) {
            connection_drop(TAKE(cluster->workloads[kind]));
        } else if (!cluster->workloads[kind]) {
            cluster->workloads[kind] =
                connection_follow(cluster->connection, &(struct collection_options){
                                                           .resource = workload_resources[kind],
                                                           .label_selector = STR(WORKLOAD_SELECTOR),
                                                           .keep = keep_workload,
                                                           .on_change = workload_changed,
                                                           .on_synced = workloads_listed,
                                                           .context = cluster,
                                                       });
        }
    }
}

static void count_workloads(struct apps_cluster *cluster, struct str workloads, bool there)
{
    for (int kind = 0; kind < WORKLOAD_KINDS; kind++)
        if (workloads_have(workloads, (enum workload_kind)kind))
            cluster->apps_of_workload[kind] += there ? 1 : UINT32_MAX;
}

/* Gives the ClusterRepo of Herd's that it came from, or "". */
static struct str index_app(struct apps_cluster *cluster, const struct kube_object *object,
                            bool there)
{
    struct observed_release release;

    if (!object)
        return STR("");
    kept_app(kube_object_kept(object), &release);

    struct str stack = release.marked_stack.len ? release.marked_stack : release.stack;

    if (stack.len == 0)
        return release.repo_name;
    count_workloads(cluster, release.workloads, there);
    if (there)
        multimap_add(cluster->apps_of_stack, stack, kube_object_key(object));
    else
        multimap_remove(cluster->apps_of_stack, stack, kube_object_key(object));
    cluster->events->stack_changed(cluster->events->context, stack);
    return release.repo_name;
}

static void app_changed(void *context, struct kube_object *before, struct kube_object *after)
{
    struct apps_cluster *cluster = context;

    if (is_same(before, after))
        return;

    struct str old_repo = index_app(cluster, before, false);
    struct str new_repo = index_app(cluster, after, true);

    follow_workloads(cluster);
    if (new_repo.len)
        count_app(cluster, new_repo, true);
    if (old_repo.len)
        count_app(cluster, old_repo, false);
    capacity_settled(cluster->capacity, kube_object_key(after ? after : before));
    cluster->events->release_changed(cluster->events->context,
                                     kube_object_key(after ? after : before));
}

static struct str operation_release(struct arena *arena, const struct kube_object *object)
{
    struct observed_operation operation;

    kept_operation(kube_object_kept(object), &operation);
    return kube_key(arena, kube_object_namespace(object), operation.release_name);
}

/* It shows now: its claim takes no slot any more, and its end frees one. */
static void follow_running(struct apps_cluster *cluster, struct arena *arena, struct str key,
                           const struct kube_object *after)
{
    struct running *was = dict_remove(cluster->running, key);
    struct observed_operation operation = { .state = OPERATION_SUCCEEDED };
    struct str release;

    if (after) {
        kept_operation(kube_object_kept(after), &operation);
        release = operation_release(arena, after);
        if (operation.state == OPERATION_FAILED)
            capacity_drop(cluster->capacity, release);
        else
            capacity_shown(cluster->capacity, release, operation.state == OPERATION_RUNNING,
                           loop_time(cluster));
    } else if (was) {
        capacity_shown(cluster->capacity, str_make(was->release, was->len), false,
                       loop_time(cluster));
    }
    if (operation.state == OPERATION_RUNNING) {
        struct running *running = mem_alloc(sizeof(*running) + release.len);

        running->len = release.len;
        memcpy(running->release, release.at, release.len);
        dict_set(cluster->running, key, running);
    } else if (was) {
        cluster->events->capacity_freed(cluster->events->context,
                                        connection_id(cluster->connection));
    }
    mem_free(was);
}

static void operation_changed(void *context, struct kube_object *before, struct kube_object *after)
{
    struct apps_cluster *cluster = context;
    AUTO(arena_free) struct arena *arena = arena_create(0);

    if (is_same(before, after))
        return;
    if (before)
        multimap_remove(cluster->operations_of_release, operation_release(arena, before),
                        kube_object_key(before));
    if (after)
        multimap_add(cluster->operations_of_release, operation_release(arena, after),
                     kube_object_key(after));
    follow_running(cluster, arena, kube_object_key(after ? after : before), after);
    cluster->events->release_changed(cluster->events->context,
                                     operation_release(arena, after ? after : before));
}

static void repo_changed(void *context, struct kube_object *before, struct kube_object *after)
{
    struct apps_cluster *cluster = context;
    struct wire_repo old = { .url = STR("") };
    struct wire_repo new = { .url = STR("") };

    if (is_same(before, after))
        return;
    if (before)
        kept_repo(kube_object_kept(before), &old);
    if (after)
        kept_repo(kube_object_kept(after), &new);

    bool same = before && after && str_eq(old.url, new.url) &&
                old.state == new.state &&str_eq(old.message, new.message);
    bool index_changed = !str_eq(old.index_version, new.index_version);
    uint32_t forgotten =
        lookups_forget_repo(cluster->lookups, after ? new.url : old.url, index_changed);

    /* Of one that is seen for the first time nobody knows how long ago it was downloaded. */
    if (before && after && new.downloaded.len && !str_eq(old.downloaded, new.downloaded))
        lookups_downloaded(cluster->lookups, new.url, loop_time(cluster));
    if (before && after && !str_eq(old.url, new.url))
        lookups_forget_repo(cluster->lookups, old.url, true);
    /* Repositories are downloaded again every hour; mostly nothing comes of it. */
    if (!same || forgotten)
        cluster->events->cluster_changed(cluster->events->context,
                                         connection_id(cluster->connection));
}

static void apps_forgotten(void *context)
{
    struct apps_cluster *cluster = context;

    multimap_free(cluster->apps_of_stack);
    values_free(cluster->apps_of_repo);
    cluster->apps_of_stack = multimap_create();
    cluster->apps_of_repo = dict_create();
    memset(cluster->apps_of_workload, 0, sizeof(cluster->apps_of_workload));
    follow_workloads(cluster);
}

static void operations_forgotten(void *context)
{
    struct apps_cluster *cluster = context;

    multimap_free(cluster->operations_of_release);
    values_free(cluster->running);
    cluster->operations_of_release = multimap_create();
    cluster->running = dict_create();
}

static void change_listed(void *context)
{
    struct apps_cluster *cluster = context;

    if (apps_cluster_knows_changes(cluster))
        cluster->events->capacity_freed(cluster->events->context,
                                        connection_id(cluster->connection));
}

static const struct followed {
    const struct kube_resource *resource;
    enum collection_need need;
    bool (*keep)(void *context, struct json object, struct strbuf *kept);
    void (*changed)(void *context, struct kube_object *before, struct kube_object *after);
    void (*listed)(void *context);
    void (*forgotten)(void *context);
} followed[FOLLOWED_COUNT] = {
    [FOLLOWED_APPS] = { &rancher_apps, COLLECTION_REQUIRED, keep_app, app_changed, NULL,
                        apps_forgotten },
    [FOLLOWED_OPERATIONS] = { &rancher_operations, COLLECTION_TEMPORARY, keep_operation,
                              operation_changed, change_listed, operations_forgotten },
    [FOLLOWED_REPOS] = { &rancher_cluster_repos, COLLECTION_TEMPORARY, keep_repo, repo_changed,
                         change_listed, NULL },
};

static void follow(struct apps_cluster *cluster, int which)
{
    cluster->followed[which] =
        connection_follow(cluster->connection, &(struct collection_options){
                                                   .resource = *followed[which].resource,
                                                   .need = followed[which].need,
                                                   .keep = followed[which].keep,
                                                   .on_change = followed[which].changed,
                                                   .on_synced = followed[which].listed,
                                                   .on_forgotten = followed[which].forgotten,
                                                   .context = cluster,
                                               });
}

/* --- Operations and ClusterRepos --- */

static bool is_listed(const struct collection *collection)
{
    const struct informer *informer = collection ? collection_informer(collection) : NULL;

    return informer && informer_synced(informer);
}

bool apps_cluster_knows_changes(const struct apps_cluster *cluster)
{
    return is_listed(cluster->followed[FOLLOWED_OPERATIONS]) &&
           is_listed(cluster->followed[FOLLOWED_REPOS]);
}

/* A release of a Stack is not as it should be: sooner or later it changes. */
static bool has_unsettled_app(const struct apps_cluster *cluster)
{
    const struct informer *apps = collection_informer(cluster->followed[FOLLOWED_APPS]);
    struct kube_object *object;

    for (size_t cursor = 0; apps && kube_cache_next(informer_cache(apps), &cursor, &object);) {
        struct observed_release release;

        kept_app(kube_object_kept(object), &release);
        if ((release.marked_stack.len || release.stack.len) && release.phase != RELEASE_DEPLOYED)
            return true;
    }
    return false;
}

static bool needs_changes(const struct apps_cluster *cluster, int64_t now_ms)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);

    return now_ms - cluster->needed_ms < LIMIT_CHANGES_IDLE || dict_count(cluster->running) ||
           capacity_is_awaited(cluster->capacity) ||
           capacity_claims(cluster->capacity, arena, 1, now_ms).count || has_unsettled_app(cluster);
}

/* What is found in a repository is true as long as somebody follows it. */
static void forget_repos(struct apps_cluster *cluster)
{
    const struct informer *repos = collection_informer(cluster->followed[FOLLOWED_REPOS]);
    struct kube_object *object;

    for (size_t cursor = 0; repos && kube_cache_next(informer_cache(repos), &cursor, &object);) {
        struct wire_repo repo;

        kept_repo(kube_object_kept(object), &repo);
        lookups_forget_repo(cluster->lookups, repo.url, true);
    }
}

bool apps_cluster_rest(struct apps_cluster *cluster, int64_t now_ms)
{
    if (!cluster->followed[FOLLOWED_OPERATIONS])
        return false;
    if (needs_changes(cluster, now_ms))
        return true;
    forget_repos(cluster);
    connection_drop(TAKE(cluster->followed[FOLLOWED_OPERATIONS]));
    connection_drop(TAKE(cluster->followed[FOLLOWED_REPOS]));
    operations_forgotten(cluster);
    return false;
}

static void on_rest(void *context)
{
    struct apps_cluster *cluster = context;

    if (apps_cluster_rest(cluster, loop_time(cluster)))
        loop_timer_set(cluster->rest, LIMIT_CHANGES_IDLE);
}

bool apps_cluster_prepare(struct apps_cluster *cluster, struct str stack)
{
    bool begins = !cluster->followed[FOLLOWED_OPERATIONS];

    cluster->needed_ms = loop_time(cluster);
    if (!apps_cluster_knows_changes(cluster))
        capacity_wait(cluster->capacity, stack);
    if (!begins)
        return false;
    cluster->began_ms = cluster->needed_ms;
    follow(cluster, FOLLOWED_OPERATIONS);
    follow(cluster, FOLLOWED_REPOS);
    loop_timer_set(cluster->rest, LIMIT_CHANGES_IDLE);
    return true;
}

struct apps_cluster *apps_cluster_create(struct connection *connection,
                                         const struct backend_events *events, uint64_t seed)
{
    struct apps_cluster *cluster = mem_new(struct apps_cluster);

    cluster->connection = connection;
    cluster->events = events;
    cluster->apps_of_stack = multimap_create();
    cluster->operations_of_release = multimap_create();
    cluster->running = dict_create();
    cluster->apps_of_repo = dict_create();
    cluster->lookups = lookups_create(seed);
    cluster->capacity = capacity_create();
    cluster->rest = loop_timer_create(connection_loop(connection), on_rest, cluster);
    follow(cluster, FOLLOWED_APPS);
    return cluster;
}

void apps_cluster_free(struct apps_cluster *cluster)
{
    if (!cluster)
        return;
    loop_timer_free(cluster->rest);
    for (int i = 0; i < FOLLOWED_COUNT; i++)
        connection_drop(cluster->followed[i]);
    for (int kind = 0; kind < WORKLOAD_KINDS; kind++)
        connection_drop(cluster->workloads[kind]);
    multimap_free(cluster->apps_of_stack);
    multimap_free(cluster->operations_of_release);
    values_free(cluster->running);
    values_free(cluster->apps_of_repo);
    lookups_free(cluster->lookups);
    capacity_free(cluster->capacity);
    mem_free(cluster);
}

struct connection *apps_cluster_connection(const struct apps_cluster *cluster)
{
    return cluster->connection;
}

struct lookups *apps_cluster_lookups(const struct apps_cluster *cluster)
{
    return cluster->lookups;
}

struct capacity *apps_cluster_capacity(const struct apps_cluster *cluster)
{
    return cluster->capacity;
}

void apps_cluster_tell_waiter(void *cluster, struct str stack)
{
    const struct backend_events *events = ((struct apps_cluster *)cluster)->events;

    events->stack_changed(events->context, stack);
}

void apps_cluster_offer_capacity(struct apps_cluster *cluster, uint32_t operations_max,
                                 int64_t now_ms, void (*wake)(void *context, struct str stack),
                                 void *context)
{
    AUTO(arena_free) struct arena *arena = NULL;
    uint32_t busy;
    struct str stack;

    if (!capacity_is_awaited(cluster->capacity) || !apps_cluster_knows_changes(cluster))
        return;
    arena = arena_create(0);
    busy = (uint32_t)dict_count(cluster->running) +
           capacity_claims(cluster->capacity, arena, operations_max, now_ms).count;
    while (busy++ < operations_max && capacity_next(cluster->capacity, arena, &stack))
        wake(context, stack);
}
