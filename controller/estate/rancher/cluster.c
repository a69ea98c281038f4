/* cluster.c: three informers, and indexes from Stacks to Apps and from releases to Operations. */
#include "controller/estate/rancher/cluster.h"

#include "base/limits.h"
#include "base/map.h"
#include "base/memory.h"
#include "controller/estate/rancher/keep.h"
#include "controller/multimap.h"
#include "runtime/informer.h"

enum {
    START_MS = 20000, /* longer than any list that works takes */
    LISTEN_MS = LIMIT_WATCH_DEAD_TIME / 3, /* how often it is asked whether it is stale */
    OTHERS_MAX = 32,  /* operations of others that are told to a plan; more than may ever be */
};
enum { FOLLOWED_APPS, FOLLOWED_OPERATIONS, FOLLOWED_REPOS, FOLLOWED_COUNT };

/* An operation under way. */
struct running {
    size_t len;
    char release[]; /* namespace/name */
};

struct cluster {
    struct cluster_options options;
    char *id;
    struct informer *informers[FOLLOWED_COUNT]; /* NULL while it is not followed */
    struct multimap *apps_of_stack;             /* Stack -> namespace/name */
    struct multimap *operations_of_release;     /* namespace/name -> namespace/operation */
    struct dict *running;                       /* namespace/operation -> struct running */
    struct lookups *lookups;
    struct room *room;
    bool was_read;       /* since it is followed, */
    bool ever_read;      /* and since it was opened */
    int64_t began_ms;    /* when it was followed first; -1 = never yet */
    struct loop_timer *listen;
    bool was_stale; /* as was told last */
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

bool cluster_is_starting(const struct cluster *cluster, int64_t now_ms)
{
    return cluster->informers[0] && !cluster->ever_read && cluster_trouble(cluster).len == 0 &&
           now_ms - cluster->began_ms < START_MS;
}

struct str cluster_trouble(const struct cluster *cluster)
{
    for (int i = 0; i < FOLLOWED_COUNT; i++) {
        const struct error *error =
            cluster->informers[i] ? informer_trouble(cluster->informers[i]) : NULL;

        if (error && error->code != ERROR_NONE)
            return str_of(error->text);
    }
    return STR("");
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

static const struct kube_cache *cache_of(const struct cluster *cluster, int which)
{
    return informer_cache(cluster->informers[which]);
}

static void observe_release(const struct cluster *cluster, struct arena *arena, struct str key,
                            struct observed_cluster *into)
{
    const struct kube_object *app = kube_cache_get(cache_of(cluster, FOLLOWED_APPS), key);
    struct observed_release release;

    if (!app)
        return;
    kept_app(arena, str_dup(arena, kube_object_kept(app)), &release);
    release.namespace_ = str_dup(arena, kube_object_namespace(app));
    release.name = str_dup(arena, kube_object_name(app));
    release.uid = str_dup(arena, kube_object_uid(app));
    observed_releases_push(&into->releases, release);
}

static void observe_operations(const struct cluster *cluster, struct arena *arena,
                               struct str release, int64_t now_ms,
                               struct observed_cluster *into, int64_t *ends_ms)
{
    struct str key;

    for (uint32_t i = 0; multimap_at(cluster->operations_of_release, release, i, &key); i++) {
        const struct kube_object *object =
            kube_cache_get(cache_of(cluster, FOLLOWED_OPERATIONS), key);
        struct observed_operation operation;

        if (!object)
            continue;
        kept_operation(arena, str_dup(arena, kube_object_kept(object)), &operation);
        operation.namespace_ = str_dup(arena, kube_object_namespace(object));
        operation.name = str_dup(arena, kube_object_name(object));
        if (operation.state == OPERATION_FAILED) {
            struct lookup_answer log =
                lookups_get(cluster->lookups,
                            lookup_log(arena, operation.namespace_, operation.name), now_ms);

            operation.log_read = log.state == VERSION_FOUND || log.state == VERSION_MISSING;
            if (log.state == VERSION_FAILED)
                *ends_ms = clock_sooner_ms(*ends_ms, log.ends_ms);
            if (log.state == VERSION_FOUND && log.text.len)
                operation.message = str_dup(arena, log.text);
        }
        observed_operations_push(&into->operations, operation);
    }
}

static void observe_other(struct arena *arena, const struct cluster_question *question,
                          struct str release, struct str operation,
                          struct observed_cluster *into)
{
    struct observed_operation other = { .name = str_dup(arena, operation),
                                        .message = STR(""),
                                        .state = OPERATION_RUNNING };

    if (str_list_has(&question->releases, release))
        return;
    kube_key_split(str_dup(arena, release), &other.namespace_, &other.release_name);
    observed_operations_push(&into->operations, other);
}

/* What else the cluster is busy with: no matter whose it is, it takes room. */
static void observe_others(const struct cluster *cluster, struct arena *arena,
                           const struct cluster_question *question, int64_t now_ms,
                           struct observed_cluster *into)
{
    struct str_list claims = room_claims(cluster->room, arena, OTHERS_MAX, now_ms);
    uint32_t count = 0;
    struct str key;
    void *value;

    for (uint32_t i = 0; i < claims.count; i++)
        observe_other(arena, question, claims.items[i], STR(""), into);
    for (size_t cursor = 0;
         count < OTHERS_MAX && dict_next(cluster->running, &cursor, &key, &value); count++) {
        const struct running *running = value;
        struct str namespace_;
        struct str name;

        kube_key_split(key, &namespace_, &name);
        observe_other(arena, question, str_make(running->release, running->len), name, into);
    }
}

/* Of several that serve a URL: one that is ready, and among those the first by name. */
static bool is_better(const struct wire_repo *a, const struct wire_repo *b)
{
    if ((a->state == REPO_READY) != (b->state == REPO_READY))
        return a->state == REPO_READY;
    return str_cmp(a->name, b->name) < 0;
}

static struct observed_repo observe_repo(struct cluster *cluster, struct arena *arena,
                                         struct str url, int64_t now_ms, int64_t *ends_ms)
{
    struct wire_repo best = { .state = REPO_ABSENT, .name = STR(""), .message = STR("") };
    struct kube_object *object;

    for (size_t cursor = 0;
         kube_cache_next(cache_of(cluster, FOLLOWED_REPOS), &cursor, &object);) {
        struct str kept = kube_object_kept(object);
        struct wire_repo repo;

        /* A look before reading: most are of other repositories. */
        if (str_find(kept, url, 0) < 0)
            continue;
        kept_repo(arena, str_dup(arena, kept), &repo);
        repo.name = str_dup(arena, kube_object_name(object));
        if (str_eq(repo.url, url) && (best.name.len == 0 || is_better(&repo, &best)))
            best = repo;
    }
    if (best.name.len == 0) {
        struct lookup_answer failure =
            lookups_get(cluster->lookups, lookup_repo(arena, url), now_ms);

        best.name = release_repo_name(arena, url);
        if (failure.state == VERSION_FAILED) {
            best.state = REPO_FAILED;
            best.message = str_dup(arena, failure.text);
            *ends_ms = clock_sooner_ms(*ends_ms, failure.ends_ms);
        }
    }
    return (struct observed_repo){ url, best.name, best.state, best.message };
}

static void observe_version(struct cluster *cluster, struct arena *arena, int64_t now_ms,
                            struct observed_version *version, int64_t *ends_ms)
{
    struct lookup_answer answer =
        lookups_get(cluster->lookups,
                    lookup_version(arena, version->repo, version->chart, version->version), now_ms);

    version->state = answer.state;
    if (answer.state == VERSION_FOUND)
        version->resolved = str_dup(arena, answer.text);
    else if (answer.state != VERSION_UNREAD)
        version->message = str_dup(arena, answer.text);
    if (answer.state == VERSION_FAILED)
        *ends_ms = clock_sooner_ms(*ends_ms, answer.ends_ms);
}

int64_t cluster_observe(struct cluster *cluster, struct arena *arena,
                        const struct cluster_question *question, int64_t now_ms,
                        struct observed_cluster *ret_cluster)
{
    int64_t ends_ms = -1;
    struct str key;

    ret_cluster->releases = observed_releases_new(arena, 0);
    ret_cluster->operations = observed_operations_new(arena, 0);
    ret_cluster->repos = observed_repos_new(arena, question->repos.count);
    ret_cluster->versions = observed_versions_new(arena, question->versions.count);

    for (uint32_t i = 0; i < question->releases.count; i++) {
        observe_release(cluster, arena, question->releases.items[i], ret_cluster);
        observe_operations(cluster, arena, question->releases.items[i], now_ms, ret_cluster,
                           &ends_ms);
    }
    /* Those with the Stack's stamp that neither its spec nor its status names any more. */
    for (uint32_t i = 0; multimap_at(cluster->apps_of_stack, question->stack, i, &key); i++)
        if (!str_list_has(&question->releases, key)) {
            observe_release(cluster, arena, key, ret_cluster);
            observe_operations(cluster, arena, key, now_ms, ret_cluster, &ends_ms);
        }
    observe_others(cluster, arena, question, now_ms, ret_cluster);
    for (uint32_t i = 0; i < question->repos.count; i++)
        observed_repos_push(&ret_cluster->repos,
                            observe_repo(cluster, arena, question->repos.items[i], now_ms,
                                         &ends_ms));
    for (uint32_t i = 0; i < question->versions.count; i++)
        observe_version(cluster, arena, now_ms,
                        observed_versions_push(&ret_cluster->versions,
                                               question->versions.items[i]),
                        &ends_ms);
    return ends_ms;
}
