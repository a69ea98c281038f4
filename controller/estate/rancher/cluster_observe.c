/* cluster_observe.c: what a plan may know of one cluster, out of its informers and lookups. */
#include "controller/estate/rancher/cluster_parts.h"

#include "controller/estate/rancher/keep.h"

enum {
    OTHERS_MAX = 32, /* operations of others that are told to a plan; more than may ever be */
};

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

/* That there is one says that the pod is there still, and so that its container ended by itself. */
static void read_log(const struct cluster *cluster, struct arena *arena, int64_t now_ms,
                     struct observed_operation *operation, int64_t *ends_ms)
{
    struct lookup_answer log = lookups_get(
        cluster->lookups, lookup_log(arena, operation->namespace_, operation->name), now_ms);
    bool found = log.state == VERSION_FOUND;

    operation->log_read = found || log.state == VERSION_MISSING;
    operation->proven = found && operation->state == OPERATION_SUCCEEDED;
    if (log.state == VERSION_FAILED)
        *ends_ms = clock_sooner_ms(*ends_ms, log.ends_ms);
    if (found && operation->state == OPERATION_FAILED && log.text.len)
        operation->message = str_dup(arena, log.text);
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
        if (operation.state != OPERATION_SUCCEEDED) {
            struct lookup_answer pods =
                lookups_get(cluster->lookups,
                            lookup_pods(arena, operation.namespace_, operation.name,
                                        operation.state == OPERATION_FAILED),
                            now_ms);

            operation.pods_read = pods.state != VERSION_UNREAD;
            operation.pods = str_dup(arena, pods.text.at ? pods.text : STR(""));
        }
        if (operation.state != OPERATION_RUNNING)
            read_log(cluster, arena, now_ms, &operation, ends_ms);
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
