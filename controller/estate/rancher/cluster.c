/* cluster.c: follows a cluster by three informers, with indexes from Stacks to Apps and
 * from releases to Operations. */
#include "controller/estate/rancher/cluster_parts.h"

#include "base/limits.h"
#include "base/memory.h"
#include "controller/estate/rancher/keep.h"
#include "controller/estate/rancher/reach.h"

enum {
    START_MS = 20000, /* longer than any list that works takes */
    LISTEN_MS = LIMIT_WATCH_DEAD_TIME / 3, /* how often it is asked whether it is stale */
};

static int64_t loop_time(const struct cluster *cluster)
{
    return loop_now_ms(kube_client_loop(rancher_client_watches(cluster->options.rancher)));
}

/* Nothing comes in when nothing is heard any more, so it is looked at by the clock. */
static void listen_again(void *context)
{
    struct cluster *cluster = context;
    bool stale = cluster_is_stale(cluster, loop_time(cluster));

    loop_timer_set(cluster->listen, LISTEN_MS);
    if (stale == cluster->was_stale)
        return;
    cluster->was_stale = stale;
    cluster->options.cluster_changed(cluster->options.context, cluster->options.id);
}

struct cluster *cluster_create(const struct cluster_options *options)
{
    struct cluster *cluster = mem_new(struct cluster);

    cluster->options = *options;
    cluster->began_ms = -1;
    cluster->id = mem_copy(options->id.at, options->id.len);
    cluster->options.id = str_make(cluster->id, options->id.len);
    cluster->apps_of_stack = multimap_create();
    cluster->operations_of_release = multimap_create();
    cluster->running = dict_create();
    cluster->lookups = lookups_create(options->seed);
    cluster->room = room_create();
    cluster->listen = loop_timer_create(
        kube_client_loop(rancher_client_watches(options->rancher)), listen_again, cluster);
    return cluster;
}

static void running_free(struct dict *running)
{
    struct str key;
    void *value;

    for (size_t cursor = 0; dict_next(running, &cursor, &key, &value);)
        mem_free(value);
    dict_free(running);
}

void cluster_free(struct cluster *cluster)
{
    if (!cluster)
        return;
    loop_timer_free(cluster->listen);
    for (int i = 0; i < FOLLOWED_COUNT; i++)
        informer_free(cluster->informers[i]);
    multimap_free(cluster->apps_of_stack);
    multimap_free(cluster->operations_of_release);
    running_free(cluster->running);
    lookups_free(cluster->lookups);
    room_free(cluster->room);
    mem_free(cluster->id);
    mem_free(cluster);
}

static bool is_same(const struct kube_object *before, const struct kube_object *after)
{
    return before && after && str_eq(kube_object_kept(before), kube_object_kept(after)) &&
           str_eq(kube_object_uid(before), kube_object_uid(after));
}

static void index_app(struct cluster *cluster, const struct kube_object *object, bool there)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct observed_release release;

    if (!object)
        return;
    kept_app(arena, kube_object_kept(object), &release);
    if (release.stack.len == 0)
        return;
    if (there)
        multimap_add(cluster->apps_of_stack, release.stack, kube_object_key(object));
    else
        multimap_remove(cluster->apps_of_stack, release.stack, kube_object_key(object));
    cluster->options.stack_changed(cluster->options.context, release.stack);
}

static void app_changed(void *context, struct kube_object *before, struct kube_object *after)
{
    struct cluster *cluster = context;

    if (is_same(before, after))
        return;
    index_app(cluster, before, false);
    index_app(cluster, after, true);
    cluster->options.release_changed(cluster->options.context,
                                     kube_object_key(after ? after : before));
}

static struct str operation_release(struct arena *arena, const struct kube_object *object)
{
    struct observed_operation operation;

    kept_operation(arena, kube_object_kept(object), &operation);
    return kube_key(arena, kube_object_namespace(object), operation.release_name);
}

/* It shows now, whatever became of it: that ends its claim, and its end makes room. */
static void follow_running(struct cluster *cluster, struct arena *arena, struct str key,
                           const struct kube_object *after)
{
    struct running *was = dict_remove(cluster->running, key);
    struct observed_operation operation = { .state = OPERATION_SUCCEEDED };
    struct str release;

    if (after) {
        kept_operation(arena, kube_object_kept(after), &operation);
        release = operation_release(arena, after);
        room_drop(cluster->room, release);
    }
    if (operation.state == OPERATION_RUNNING) {
        struct running *running = mem_alloc(sizeof(*running) + release.len);

        running->len = release.len;
        memcpy(running->release, release.at, release.len);
        dict_set(cluster->running, key, running);
    } else if (was) {
        cluster->options.room_freed(cluster->options.context, cluster->options.id);
    }
    mem_free(was);
}

static void operation_changed(void *context, struct kube_object *before,
                              struct kube_object *after)
{
    struct cluster *cluster = context;
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
    cluster->options.release_changed(cluster->options.context,
                                     operation_release(arena, after ? after : before));
}

static void repo_changed(void *context, struct kube_object *before, struct kube_object *after)
{
    struct cluster *cluster = context;
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct wire_repo old = { .url = STR("") };
    struct wire_repo new = { .url = STR("") };

    if (is_same(before, after))
        return;
    if (before)
        kept_repo(arena, kube_object_kept(before), &old);
    if (after)
        kept_repo(arena, kube_object_kept(after), &new);

    bool same = before && after && str_eq(old.url, new.url) && old.state == new.state &&
                str_eq(old.message, new.message);
    bool index_changed = !str_eq(old.index_version, new.index_version);
    uint32_t forgotten =
        lookups_forget_repo(cluster->lookups, after ? new.url : old.url, index_changed);

    if (before && after && !str_eq(old.url, new.url))
        lookups_forget_repo(cluster->lookups, old.url, true);
    /* Repositories are downloaded again every hour; mostly nothing comes of it. */
    if (!same || forgotten)
        cluster->options.cluster_changed(cluster->options.context, cluster->options.id);
}

static void synced(void *context)
{
    struct cluster *cluster = context;

    if (cluster->was_read || !cluster_is_read(cluster))
        return;
    cluster->was_read = cluster->ever_read = true;
    cluster->options.cluster_changed(cluster->options.context, cluster->options.id);
}

static void troubled(void *context, const struct error *error)
{
    struct cluster *cluster = context;

    cluster->options.trouble(cluster->options.context, cluster->options.id, error);
    /* It is heard of again. */
    if (cluster->was_stale && !error)
        loop_timer_set(cluster->listen, 0);
    if (!cluster->was_read)
        cluster->options.cluster_changed(cluster->options.context, cluster->options.id);
}

static const struct followed {
    const struct kube_resource *resource;
    bool (*keep)(void *context, struct json object, struct strbuf *kept);
    void (*changed)(void *context, struct kube_object *before, struct kube_object *after);
} followed[FOLLOWED_COUNT] = {
    [FOLLOWED_APPS] = { &rancher_apps, keep_app, app_changed },
    [FOLLOWED_OPERATIONS] = { &rancher_operations, keep_operation, operation_changed },
    [FOLLOWED_REPOS] = { &rancher_cluster_repos, keep_repo, repo_changed },
};

static void stop(struct cluster *cluster)
{
    for (int i = 0; i < FOLLOWED_COUNT; i++) {
        informer_free(cluster->informers[i]);
        cluster->informers[i] = NULL;
    }
    multimap_free(cluster->apps_of_stack);
    multimap_free(cluster->operations_of_release);
    running_free(cluster->running);
    cluster->apps_of_stack = multimap_create();
    cluster->operations_of_release = multimap_create();
    cluster->running = dict_create();
    cluster->was_read = false;
    cluster->was_stale = false;
    loop_timer_clear(cluster->listen);
}

void cluster_follow(struct cluster *cluster, bool follow)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);

    if (follow == (cluster->informers[0] != NULL))
        return;
    if (!follow) {
        stop(cluster);
        return;
    }
    if (cluster->began_ms < 0)
        cluster->began_ms = loop_time(cluster);
    loop_timer_set(cluster->listen, LISTEN_MS);
    for (int i = 0; i < FOLLOWED_COUNT; i++) {
        const struct informer_options options = {
            .client = rancher_client_watches(cluster->options.rancher),
            .prefix = rancher_prefix(arena, cluster->options.id),
            .resource = *followed[i].resource,
            .seed = cluster->options.seed + (uint64_t)i,
            .keep = followed[i].keep,
            .on_change = followed[i].changed,
            .on_synced = synced,
            .on_trouble = troubled,
            .context = cluster,
        };

        cluster->informers[i] = informer_create(&options);
    }
}

bool cluster_is_read(const struct cluster *cluster)
{
    for (int i = 0; i < FOLLOWED_COUNT; i++)
        if (!cluster->informers[i] || !informer_synced(cluster->informers[i]))
            return false;
    return true;
}

bool cluster_is_stale(const struct cluster *cluster, int64_t now_ms)
{
    for (int i = 0; i < FOLLOWED_COUNT && cluster_is_read(cluster); i++)
        if (now_ms - informer_heard_ms(cluster->informers[i]) > LIMIT_WATCH_DEAD_TIME)
            return true;
    return false;
}

static const struct error *first_trouble(const struct cluster *cluster)
{
    for (int i = 0; i < FOLLOWED_COUNT; i++) {
        const struct error *error =
            cluster->informers[i] ? informer_trouble(cluster->informers[i]) : NULL;

        if (error && error->code != ERROR_NONE)
            return error;
    }
    return NULL;
}

bool cluster_is_starting(const struct cluster *cluster, int64_t now_ms)
{
    return cluster->informers[0] && !cluster->ever_read && !first_trouble(cluster) &&
           now_ms - cluster->began_ms < START_MS;
}

struct str cluster_trouble(const struct cluster *cluster, struct arena *arena)
{
    const struct error *error = first_trouble(cluster);
    struct str way_out = error ? reach_way_out(error->code) : STR("");

    if (!error)
        return STR("");
    return str_fmt(arena, "%s%s%.*s", error->text, way_out.len ? "; " : "", STR_ARG(way_out));
}

struct lookups *cluster_lookups(struct cluster *cluster)
{
    return cluster->lookups;
}

struct room *cluster_room(struct cluster *cluster)
{
    return cluster->room;
}

void cluster_offer_room(struct cluster *cluster, uint32_t operations_max, int64_t now_ms,
                        void (*wake)(void *context, struct str stack), void *context)
{
    AUTO(arena_free) struct arena *arena = NULL;
    uint32_t busy;
    struct str stack;

    if (!room_is_awaited(cluster->room))
        return;
    arena = arena_create(0);
    busy = (uint32_t)dict_count(cluster->running) +
           room_claims(cluster->room, arena, operations_max, now_ms).count;
    while (busy++ < operations_max && room_next(cluster->room, arena, &stack))
        wake(context, stack);
}

size_t cluster_objects(const struct cluster *cluster)
{
    size_t count = 0;

    for (int i = 0; i < FOLLOWED_COUNT; i++)
        if (cluster->informers[i])
            count += kube_cache_count(informer_cache(cluster->informers[i]));
    return count;
}
