/* SPDX-License-Identifier: Apache-2.0 */
/* cluster_observe.c: what a plan may know of one cluster, out of its informers and lookups. */
#include "controller/backends/rancher_apps/cluster_parts.h"

#include "controller/backends/rancher_apps/keep.h"

enum {
    BRIEF_MS = 5000, /* longer than lists take that work */
    OTHERS_MAX = 32, /* operations of others that are told to a plan; more than may ever be */
};

static const struct kube_cache *cache_of(const struct apps_cluster *cluster, int which)
{
    return informer_cache(collection_informer(cluster->followed[which]));
}

/* Of a kind that is not listed, or must not be, nothing is known, and so nothing bad. */
static struct str find_workload_kept(const void *context, struct str kind, struct str key)
{
    const struct apps_cluster *cluster = context;
    const struct informer *informer = NULL;
    const struct kube_object *workload;

    for (int i = 0; i < WORKLOAD_KINDS; i++)
        if (cluster->workloads[i] && str_eq(kind, workload_resources[i].kind))
            informer = collection_informer(cluster->workloads[i]);
    if (!informer || !informer_synced(informer))
        return WORKLOAD_UNKNOWN;
    workload = kube_cache_get(informer_cache(informer), key);
    return workload ? kube_object_kept(workload) : STR("");
}

static struct observed_health observe_health(const struct apps_cluster *cluster,
                                             struct arena *arena,
                                             const struct observed_release *release, int64_t now_ms,
                                             int64_t *ends_ms)
{
    struct observed_health health =
        workloads_health(arena, release->workloads, find_workload_kept, cluster);
    struct lookup_answer pods;

    if (!health.message.len)
        return health;
    pods = lookups_get(cluster->lookups,
                       lookup_health(arena, release->namespace_, release->name, health.message),
                       now_ms);
    health.pods = str_dup(arena, pods.text.at ? pods.text : STR(""));
    health.pods_read = pods.state != VERSION_NOT_SYNCED;
    if (health.pods_read)
        *ends_ms = clock_sooner_ms(*ends_ms, pods.ends_ms);
    return health;
}

static void observe_release(const struct apps_cluster *cluster, struct arena *arena, struct str key,
                            int64_t now_ms, struct observed_cluster *into, int64_t *ends_ms)
{
    const struct kube_object *app = kube_cache_get(cache_of(cluster, FOLLOWED_APPS), key);
    struct observed_release release;

    if (!app)
        return;
    kept_app(str_dup(arena, kube_object_kept(app)), &release);
    release.namespace_ = str_dup(arena, kube_object_namespace(app));
    release.name = str_dup(arena, kube_object_name(app));
    release.uid = str_dup(arena, kube_object_uid(app));

    release.health = observe_health(cluster, arena, &release, now_ms, ends_ms);
    release.manifest_workloads = release.workloads;
    release.workloads = workloads_owned(arena, release.workloads, key, find_workload_kept, cluster);

    struct lookup_answer mark =
        lookups_get(cluster->lookups, lookup_mark(arena, release.namespace_, release.name), now_ms);

    if (mark.state == VERSION_FAILED) {
        release.mark_trouble =
            mark.text.len ? str_dup(arena, mark.text) : STR("Rancher does not say why");
        *ends_ms = clock_sooner_ms(*ends_ms, mark.ends_ms);
    }
    observed_releases_push(&into->releases, release);
}

/* That there is one says that the pod is there still, and so that its container ended by itself. */
static void read_log(const struct apps_cluster *cluster, struct arena *arena, int64_t now_ms,
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

static void observe_operations(const struct apps_cluster *cluster, struct arena *arena,
                               struct str release, int64_t now_ms, struct observed_cluster *into,
                               int64_t *ends_ms)
{
    struct str key;

    for (uint32_t i = 0; multimap_at(cluster->operations_of_release, release, i, &key); i++) {
        const struct kube_object *object =
            kube_cache_get(cache_of(cluster, FOLLOWED_OPERATIONS), key);
        struct observed_operation operation;

        if (!object)
            continue;
        kept_operation(str_dup(arena, kube_object_kept(object)), &operation);
        operation.namespace_ = str_dup(arena, kube_object_namespace(object));
        operation.name = str_dup(arena, kube_object_name(object));
        if (operation.state != OPERATION_SUCCEEDED) {
            struct lookup_answer pods =
                lookups_get(cluster->lookups,
                            lookup_pods(arena, operation.namespace_, operation.name,
                                        operation.state == OPERATION_FAILED),
                            now_ms);

            operation.pods_read = pods.state != VERSION_NOT_SYNCED;
            operation.pods = str_dup(arena, pods.text.at ? pods.text : STR(""));
        }
        if (operation.state != OPERATION_RUNNING)
            read_log(cluster, arena, now_ms, &operation, ends_ms);
        observed_operations_push(&into->operations, operation);
    }
}

/* Another Stack has asked for a release that this one wants, too: it was faster. */
static void observe_claim(const struct apps_cluster *cluster, struct arena *arena,
                          const struct backend_question *question, struct str release,
                          int64_t now_ms, struct observed_cluster *into)
{
    struct str stack = capacity_claimant(cluster->capacity, release, now_ms);

    if (stack.len && !str_eq(stack, question->stack))
        observed_operations_push(&into->operations,
                                 capacity_claimed_operation(arena, release, stack));
}

static void observe_other(struct arena *arena, const struct backend_question *question,
                          struct str release, struct str operation, struct observed_cluster *into)
{
    struct observed_operation other = { .name = str_dup(arena, operation),
                                        .message = STR(""),
                                        .state = OPERATION_RUNNING };

    if (str_list_has(&question->releases, release))
        return;
    kube_key_split(str_dup(arena, release), &other.namespace_, &other.release_name);
    observed_operations_push(&into->operations, other);
}

/* What else the cluster is busy with: no matter whose it is, it takes a slot. */
static void observe_others(const struct apps_cluster *cluster, struct arena *arena,
                           const struct backend_question *question, int64_t now_ms,
                           struct observed_cluster *into)
{
    struct str_list claims = capacity_claims(cluster->capacity, arena, OTHERS_MAX, now_ms);
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

/* Of several that serve a URL: one that is ready, then one that may be, then the first by name. */
static bool is_better(const struct wire_repo *a, const struct wire_repo *b)
{
    if ((a->state == REPO_READY) != (b->state == REPO_READY))
        return a->state == REPO_READY;
    if ((a->state == REPO_UNUSABLE) != (b->state == REPO_UNUSABLE))
        return b->state == REPO_UNUSABLE;
    return str_cmp(a->name, b->name) < 0;
}

static struct wire_repo read_repo(struct arena *arena, const struct kube_object *object)
{
    struct wire_repo repo;

    kept_repo(str_dup(arena, kube_object_kept(object)), &repo);
    repo.name = str_dup(arena, kube_object_name(object));
    return repo;
}

static struct wire_repo best_repo(const struct apps_cluster *cluster, struct arena *arena,
                                  struct str url)
{
    struct wire_repo best = { .state = REPO_ABSENT, .name = STR("") };
    struct kube_object *object;

    for (size_t cursor = 0; kube_cache_next(cache_of(cluster, FOLLOWED_REPOS), &cursor, &object);) {
        struct wire_repo repo;

        /* A look before reading: most are of other repositories. */
        if (str_find(kube_object_kept(object), url, 0) < 0)
            continue;
        repo = read_repo(arena, object);
        if (str_eq(repo.url, url) && (best.name.len == 0 || is_better(&repo, &best)))
            best = repo;
    }
    return best;
}

/* None serves the URL: one may be made, unless the last try failed, or somebody gave another URL to
 * the one that Herd made. */
static struct observed_repo observe_missing_repo(const struct apps_cluster *cluster,
                                                 struct arena *arena, struct str url,
                                                 int64_t now_ms, int64_t *ends_ms)
{
    struct lookup_answer failure = lookups_get(cluster->lookups, lookup_repo(arena, url), now_ms);
    struct observed_repo repo = { .url = url,
                                  .name = release_repo_name(arena, url),
                                  .state = REPO_ABSENT,
                                  .message = STR(""),
                                  .downloaded = STR("") };
    const struct kube_object *taken = kube_cache_get(cache_of(cluster, FOLLOWED_REPOS), repo.name);

    if (taken) {
        repo.state = REPO_UNUSABLE;
        repo.message = str_fmt(arena,
                               "ClusterRepo %.*s on %.*s was made for %.*s, but its spec.url is "
                               "%.*s now; set it back, or delete that ClusterRepo",
                               STR_ARG(repo.name), STR_ARG(connection_id(cluster->connection)),
                               STR_ARG(url), STR_ARG(read_repo(arena, taken).url));
    } else if (failure.state == VERSION_FAILED) {
        repo.state = REPO_FAILED;
        repo.message = str_dup(arena, failure.text);
        *ends_ms = clock_sooner_ms(*ends_ms, failure.ends_ms);
    }
    return repo;
}

static struct observed_repo observe_repo(const struct apps_cluster *cluster, struct arena *arena,
                                         struct str url, int64_t now_ms, int64_t *ends_ms)
{
    struct wire_repo best = best_repo(cluster, arena, url);

    if (best.name.len == 0)
        return observe_missing_repo(cluster, arena, url, now_ms, ends_ms);
    if (best.state == REPO_UNUSABLE)
        best.message = str_fmt(arena, "ClusterRepo %.*s on %.*s %.*s", STR_ARG(best.name),
                               STR_ARG(connection_id(cluster->connection)), STR_ARG(best.message));
    return (struct observed_repo){ url, best.name, best.state, best.message, best.downloaded };
}

/* What Herd made, under the name that it gives, and no release comes from. One that could not be
 * deleted in a few tries is not told again. */
static void observe_leftovers(const struct apps_cluster *cluster, struct arena *arena,
                              int64_t now_ms, struct observed_cluster *into, int64_t *ends_ms)
{
    struct kube_object *object;

    for (size_t cursor = 0; kube_cache_next(cache_of(cluster, FOLLOWED_REPOS), &cursor, &object);) {
        struct wire_repo repo = read_repo(arena, object);
        struct lookup_answer removal;

        if (!repo.managed || dict_get(cluster->apps_of_repo, repo.name) ||
            !str_eq(repo.name, release_repo_name(arena, repo.url)))
            continue;
        removal =
            lookups_get(cluster->lookups, lookup_removal(arena, kube_object_uid(object)), now_ms);
        if (removal.state == VERSION_FOUND || removal.state == VERSION_MISSING)
            continue;
        if (removal.state == VERSION_FAILED)
            *ends_ms = clock_sooner_ms(*ends_ms, removal.ends_ms);
        observed_leftovers_push(
            &into->leftovers,
            (struct observed_leftover){
                .name = repo.name,
                .url = repo.url,
                .uid = str_dup(arena, kube_object_uid(object)),
                .resource_version = str_dup(arena, kube_object_resource_version(object)),
            });
    }
}

static struct str downloaded_of(const struct observed_repos *repos, struct str url)
{
    for (uint32_t i = 0; i < repos->count; i++)
        if (str_eq(repos->items[i].url, url))
            return repos->items[i].downloaded;
    return STR("");
}

static void observe_version(const struct apps_cluster *cluster, struct arena *arena, int64_t now_ms,
                            const struct observed_repos *repos, struct observed_version *version,
                            int64_t *ends_ms)
{
    int64_t refresh_ends_ms = -1;
    struct lookup_answer answer =
        lookups_get(cluster->lookups,
                    lookup_version(arena, version->repo, version->chart, version->version), now_ms);

    version->state = answer.state;
    if (answer.state == VERSION_FOUND)
        version->resolved = str_dup(arena, answer.text);
    else if (answer.state != VERSION_NOT_SYNCED)
        version->message = str_dup(arena, answer.text);
    if (answer.state == VERSION_FAILED)
        *ends_ms = clock_sooner_ms(*ends_ms, answer.ends_ms);
    if (answer.state != VERSION_MISSING)
        return;
    version->state =
        lookups_absence(cluster->lookups, version->repo, downloaded_of(repos, version->repo),
                        &answer, now_ms, &refresh_ends_ms);
    *ends_ms = clock_sooner_ms(*ends_ms, refresh_ends_ms);
}

static void observe_backoff(const struct apps_cluster *cluster, struct arena *arena, int64_t now_ms,
                            struct observed_cluster *into, int64_t *ends_ms)
{
    int64_t backoff_ends_ms =
        request_backoff_ends_ms(connection_backoff(cluster->connection), now_ms);

    if (backoff_ends_ms < 0)
        return;
    *ends_ms = clock_sooner_ms(*ends_ms, backoff_ends_ms);
    into->backoff_reason = request_backoff_reason(connection_backoff(cluster->connection));
    into->backoff_message =
        str_dup(arena, request_backoff_message(connection_backoff(cluster->connection)));
}

/* Whether what is there can be told without its operations and repositories. */
static bool is_settled(const struct backend_question *question,
                       const struct observed_releases *releases)
{
    if (question->asked || question->leaves)
        return false;
    for (uint32_t i = 0; i < releases->count; i++)
        if (releases->items[i].phase != RELEASE_DEPLOYED)
            return false;
    return true;
}

static struct str unlisted_message(const struct apps_cluster *cluster, struct arena *arena)
{
    struct str trouble = connection_trouble(cluster->connection, arena);

    return trouble.len ? trouble : STR("its Operations and ClusterRepos are being listed");
}

static int64_t observe_changes(const struct apps_cluster *cluster, struct arena *arena,
                               const struct backend_question *question, int64_t now_ms,
                               struct observed_cluster *ret_cluster)
{
    const struct observed_releases *releases = &ret_cluster->releases;
    int64_t ends_ms = -1;

    for (uint32_t i = 0; i < question->releases.count; i++) {
        observe_operations(cluster, arena, question->releases.items[i], now_ms, ret_cluster,
                           &ends_ms);
        observe_claim(cluster, arena, question, question->releases.items[i], now_ms, ret_cluster);
    }
    for (uint32_t i = 0; i < releases->count; i++) {
        struct str key = kube_key(arena, releases->items[i].namespace_, releases->items[i].name);

        if (!str_list_has(&question->releases, key))
            observe_operations(cluster, arena, key, now_ms, ret_cluster, &ends_ms);
    }
    observe_others(cluster, arena, question, now_ms, ret_cluster);
    for (uint32_t i = 0; i < question->repos.count; i++)
        observed_repos_push(
            &ret_cluster->repos,
            observe_repo(cluster, arena, question->repos.items[i], now_ms, &ends_ms));
    for (uint32_t i = 0; i < question->versions.count; i++)
        observe_version(cluster, arena, now_ms, &ret_cluster->repos,
                        observed_versions_push(&ret_cluster->versions, question->versions.items[i]),
                        &ends_ms);
    if (question->leaves)
        observe_leftovers(cluster, arena, now_ms, ret_cluster, &ends_ms);
    return ends_ms;
}

int64_t apps_cluster_observe(struct apps_cluster *cluster, struct arena *arena,
                             const struct backend_question *question, int64_t now_ms,
                             struct observed_cluster *ret_cluster)
{
    int64_t ends_ms = -1;
    struct str key;

    ret_cluster->releases = observed_releases_new(arena, question->releases.count);
    ret_cluster->operations = observed_operations_new(arena, question->releases.count);
    ret_cluster->repos = observed_repos_new(arena, question->repos.count);
    ret_cluster->versions = observed_versions_new(arena, question->versions.count);
    ret_cluster->leftovers = observed_leftovers_new(arena, 0);

    for (uint32_t i = 0; i < question->releases.count; i++)
        observe_release(cluster, arena, question->releases.items[i], now_ms, ret_cluster, &ends_ms);
    /* Those with the Stack's mark or stamp that neither its spec nor its status names any more. */
    for (uint32_t i = 0; multimap_at(cluster->apps_of_stack, question->stack, i, &key); i++)
        if (!str_list_has(&question->releases, key))
            observe_release(cluster, arena, key, now_ms, ret_cluster, &ends_ms);

    bool settled = is_settled(question, &ret_cluster->releases);

    if (!settled)
        (void)apps_cluster_prepare(cluster, question->stack);
    if (apps_cluster_knows_changes(cluster)) {
        ends_ms = clock_sooner_ms(ends_ms,
                                  observe_changes(cluster, arena, question, now_ms, ret_cluster));
    } else {
        ret_cluster->unlisted_message = unlisted_message(cluster, arena);
        ret_cluster->listing_briefly =
            cluster->followed[FOLLOWED_OPERATIONS] && now_ms - cluster->began_ms < BRIEF_MS;
        if (!settled) {
            ret_cluster->state = CLUSTER_NOT_SYNCED;
            ret_cluster->message = ret_cluster->unlisted_message;
        }
    }
    observe_backoff(cluster, arena, now_ms, ret_cluster, &ends_ms);
    return ends_ms;
}
