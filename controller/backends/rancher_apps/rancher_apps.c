/* SPDX-License-Identifier: Apache-2.0 */
/* rancher_apps.c: the clusters that are open, and one order for each action under way.
 *
 *   changes    upgrade, uninstall, remove lock: they take capacity until the release shows
 *   questions  all else: answers are kept, and told to all who wait for them */
#include "controller/backends/rancher_apps/rancher_apps.h"

#include "base/map.h"
#include "base/memory.h"
#include "base/pack.h"
#include "controller/backends/rancher_apps/answers.h"
#include "controller/backends/rancher_apps/cluster.h"
#include "stack/model/release.h"

enum {
    CHANGES = 1 << ACTION_UPGRADE | 1 << ACTION_UNINSTALL | 1 << ACTION_REMOVE_LOCK,
    QUESTIONS = 1 << ACTION_ENSURE_REPO | 1 << ACTION_REFRESH_REPO | 1 << ACTION_REMOVE_REPO |
                1 << ACTION_RESOLVE_VERSION | 1 << ACTION_READ_LOG | 1 << ACTION_READ_PODS |
                1 << ACTION_READ_HEALTH | 1 << ACTION_MARK,
};

struct rancher_apps {
    struct backend backend;
    struct rancher_client *client;
    struct dict *clusters; /* id -> struct apps_cluster */
    struct order *orders;  /* newest first */
    uint64_t seed;
};

/* An action whose answer is awaited. It knows names only: clusters come and go. */
struct order {
    struct rancher_apps *apps;
    struct order *older, *newer;
    enum action_kind kind;
    struct str cluster_id; /* these stand behind the struct */
    struct str release;    /* namespace/name */
    struct str version;    /* as asked */
    struct str downloaded; /* of REFRESH_REPO: the index's last download before */
    struct str question;   /* of the cluster's lookups; "" = a change */
    request_done *done;
    void *context;
};

static struct order *order_new(struct rancher_apps *apps, const struct backend_order *from,
                               struct str question, request_done *done, void *context)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct action *action = from->action;
    struct str release = kube_key(arena, action->namespace_, action->release_name);
    struct order *order = mem_alloc(sizeof(*order) + from->cluster_id.len + release.len +
                                    action->version.len + action->downloaded.len + question.len);
    char *at = (char *)(order + 1);

    *order = (struct order){
        .apps = apps,
        .older = apps->orders,
        .kind = action->kind,
        .cluster_id = pack_str(&at, from->cluster_id),
        .release = pack_str(&at, release),
        .version = pack_str(&at, action->version),
        .downloaded = pack_str(&at, action->downloaded),
        .question = pack_str(&at, question),
        .done = done,
        .context = context,
    };
    if (order->older)
        order->older->newer = order;
    apps->orders = order;
    return order;
}

static void order_free(struct order *order)
{
    if (order->newer)
        order->newer->older = order->older;
    else
        order->apps->orders = order->older;
    if (order->older)
        order->older->newer = order->newer;
    mem_free(order);
}

static struct apps_cluster *cluster_of(const struct order *order)
{
    return dict_get(order->apps->clusters, order->cluster_id);
}

static int64_t cluster_now_ms(const struct apps_cluster *cluster)
{
    return loop_now_ms(connection_loop(apps_cluster_connection(cluster)));
}

/* --- what came of it --- */

static void keep_capacity(const struct order *order, enum request_result result)
{
    struct apps_cluster *cluster = cluster_of(order);

    if (!cluster)
        return;
    if (result == REQUEST_REJECTED)
        capacity_drop(apps_cluster_capacity(cluster), order->release);
    else
        capacity_asked(apps_cluster_capacity(cluster), order->release, cluster_now_ms(cluster));
}

static void on_changed(void *context, const struct request_outcome *outcome)
{
    struct order *order = context;

    keep_capacity(order, outcome->result);
    order->done(order->context, outcome);
    order_free(order);
}

static struct kept_answer answer_of(const struct order *order, struct arena *arena,
                                    uint32_t failures, const struct request_outcome *outcome)
{
    struct str namespace_, release;

    kube_key_split(order->release, &namespace_, &release);
    switch (order->kind) {
    case ACTION_RESOLVE_VERSION:
        return answer_version(arena, order->version, outcome);
    case ACTION_READ_LOG:
        return answer_log(arena, failures, outcome);
    case ACTION_READ_PODS:
        return answer_pods(arena, release, outcome);
    case ACTION_READ_HEALTH:
        return answer_health(arena, release, outcome);
    case ACTION_REFRESH_REPO:
        return answer_change(order->downloaded, failures, outcome);
    case ACTION_REMOVE_REPO:
        return answer_change(STR(""), failures, outcome);
    case ACTION_ENSURE_REPO:
    case ACTION_MARK:
    case ACTION_ADD_FINALIZER:
    case ACTION_REMOVE_FINALIZER:
    case ACTION_UPGRADE:
    case ACTION_UNINSTALL:
    case ACTION_REMOVE_LOCK:
    case ACTION_KIND_COUNT:
        break;
    }
    return answer_repo(outcome);
}

static void keep_answer(const struct order *order, struct lookups *lookups, int64_t now_ms,
                        const struct request_outcome *outcome)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    uint32_t failures = lookups_get(lookups, order->question, now_ms).failures;
    struct kept_answer kept = answer_of(order, arena, failures, outcome);

    if (kept.state != VERSION_NOT_SYNCED)
        lookups_put(lookups, order->question, kept.state, kept.text, kept.retry_after_ms, now_ms);
}

/* What was not validated is no answer. */
static void on_answered(void *context, const struct request_outcome *outcome)
{
    struct order *order = context;
    struct apps_cluster *cluster = cluster_of(order);

    if (cluster) {
        struct lookups *lookups = apps_cluster_lookups(cluster);

        if (!request_transient_reason(outcome).len)
            keep_answer(order, lookups, cluster_now_ms(cluster), outcome);
        lookups_end(lookups, order->question, apps_cluster_tell_waiter, cluster);
    }
    order->done(order->context, outcome);
    order_free(order);
}

/* --- changes --- */

static void send_upgrade(struct rancher_client *client, const struct rancher_release *release,
                         const struct backend_order *from, struct order *order)
{
    const struct action *action = from->action;
    const struct wire_upgrade upgrade = {
        .stack = release->stack,
        .stack_uid = release->stack_uid,
        .repo_name = action->repo_name,
        .version = action->version,
        .revision = release->revision,
        .replaces = action->replaces,
        .desired = action->desired,
    };

    rancher_upgrade(client, release, &upgrade, on_changed, order);
}

static void send_change(struct rancher_apps *apps, struct connection *connection,
                        const struct backend_order *from, struct order *order)
{
    const struct action *action = from->action;
    const struct rancher_release release = {
        .connection = connection,
        .namespace_ = action->namespace_,
        .name = action->release_name,
        .uid = action->app_uid,
        .stack = from->key,
        .stack_uid = from->stack->meta.uid,
        .revision = action->revision,
        .stuck = action->stuck,
    };

    if (action->kind == ACTION_UPGRADE)
        send_upgrade(apps->client, &release, from, order);
    else if (action->kind == ACTION_UNINSTALL)
        rancher_uninstall(apps->client, &release, on_changed, order);
    else
        rancher_remove_lock(apps->client, &release, on_changed, order);
}

/* --- questions --- */

static struct str question_of(struct arena *arena, const struct action *action)
{
    switch (action->kind) {
    case ACTION_ENSURE_REPO:
        return lookup_repo(arena, release_repo_url(action->repo));
    case ACTION_REFRESH_REPO:
        return lookup_refresh(arena, release_repo_url(action->repo));
    case ACTION_REMOVE_REPO:
        return lookup_removal(arena, action->repo_uid);
    case ACTION_READ_LOG:
        return lookup_log(arena, action->namespace_, action->operation);
    case ACTION_READ_PODS:
        return lookup_pods(arena, action->namespace_, action->operation, action->failed);
    case ACTION_READ_HEALTH:
        return lookup_health(arena, action->namespace_, action->release_name, action->operation);
    case ACTION_MARK:
        return lookup_mark(arena, action->namespace_, action->release_name);
    case ACTION_RESOLVE_VERSION:
    case ACTION_ADD_FINALIZER:
    case ACTION_REMOVE_FINALIZER:
    case ACTION_UPGRADE:
    case ACTION_UNINSTALL:
    case ACTION_REMOVE_LOCK:
    case ACTION_KIND_COUNT:
        break;
    }
    return lookup_version(arena, release_repo_url(action->repo), action->chart_in_repo,
                          action->version);
}

static void send_mark(struct rancher_client *client, struct connection *connection,
                      const struct backend_order *from, struct order *order)
{
    const struct charts *charts = &from->stack->spec.charts;
    const struct action *action = from->action;
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct wire_mark mark = {
        .uid = action->app_uid,
        .stack = from->key,
        .stack_uid = from->stack->meta.uid,
        .chart_name = action->chart_name,
        .depends_on = action->chart == UINT32_MAX
                          ? STR("")
                          : release_depends_on(arena, &charts->items[action->chart]),
        .replaces = action->replaces,
        .digest = action->digest,
        .corrections = action->corrections,
        .revision = action->revision,
        .now_ms = from->now_wall_ms,
    };

    rancher_mark(client, connection, action->namespace_, action->release_name, &mark, on_answered,
                 order);
}

static void send_question(struct rancher_client *client, struct connection *connection,
                          const struct backend_order *from, struct order *order)
{
    const struct action *action = from->action;

    if (action->kind == ACTION_ENSURE_REPO)
        rancher_ensure_repo(client, connection, action->repo_name, action->repo, on_answered,
                            order);
    else if (action->kind == ACTION_REFRESH_REPO)
        rancher_refresh_repo(client, connection, action->repo_name, from->now_wall_ms, on_answered,
                             order);
    else if (action->kind == ACTION_REMOVE_REPO)
        rancher_remove_repo(client, connection, action->repo_name, action->repo_uid,
                            action->repo_resource_version, on_answered, order);
    else if (action->kind == ACTION_READ_LOG)
        rancher_read_log(client, connection, action->namespace_, action->operation, on_answered,
                         order);
    else if (action->kind == ACTION_MARK)
        send_mark(client, connection, from, order);
    else if (action->kind == ACTION_READ_PODS || action->kind == ACTION_READ_HEALTH)
        rancher_read_pods(client, connection, action->namespace_, on_answered, order);
    else
        rancher_resolve_version(client, connection, action->repo_name, action->chart_in_repo,
                                action->version, on_answered, order);
}

/* False: the same is asked already, or may not be asked yet. */
static bool begin_question(const struct apps_cluster *cluster, struct str question, struct str key)
{
    struct connection *connection = apps_cluster_connection(cluster);
    struct lookups *lookups = apps_cluster_lookups(cluster);
    int64_t now_ms = cluster_now_ms(cluster);

    return request_backoff_ends_ms(connection_backoff(connection), now_ms) < 0 &&
           lookups_get(lookups, question, now_ms).state != VERSION_FAILED &&
           lookups_begin(lookups, question, key);
}

/* --- struct backend --- */

static bool act(void *context, const struct backend_order *from, request_done *done,
                void *done_context)
{
    struct rancher_apps *apps = context;
    struct apps_cluster *cluster = dict_get(apps->clusters, from->cluster_id);
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str question;

    if (!cluster)
        return false;
    if (1 << from->action->kind & CHANGES) {
        send_change(apps, apps_cluster_connection(cluster), from,
                    order_new(apps, from, STR(""), done, done_context));
        return true;
    }
    question = question_of(arena, from->action);
    if (!begin_question(cluster, question, from->key))
        return false;
    send_question(apps->client, apps_cluster_connection(cluster), from,
                  order_new(apps, from, question, done, done_context));
    return true;
}

static void open_cluster(void *context, struct connection *connection,
                         const struct backend_events *events)
{
    struct rancher_apps *apps = context;
    struct str id = connection_id(connection);

    dict_set(apps->clusters, id,
             apps_cluster_create(connection, events, apps->seed ^ str_hash(id)));
}

static void close_all(struct rancher_apps *apps)
{
    struct str id;
    void *cluster;

    for (size_t cursor = 0; dict_next(apps->clusters, &cursor, &id, &cluster);)
        apps_cluster_free(cluster);
    dict_free(apps->clusters);
    apps->clusters = dict_create();
}

static void close_cluster(void *context, struct str cluster_id)
{
    struct rancher_apps *apps = context;

    if (cluster_id.len)
        apps_cluster_free(dict_remove(apps->clusters, cluster_id));
    else
        close_all(apps);
}

static int64_t observe(void *context, struct str cluster_id, struct arena *arena,
                       const struct backend_question *question, int64_t now_ms,
                       struct observed_cluster *ret_cluster)
{
    const struct rancher_apps *apps = context;

    return apps_cluster_observe(dict_get(apps->clusters, cluster_id), arena, question, now_ms,
                                ret_cluster);
}

static bool prepare(void *context, struct str cluster_id, struct str stack)
{
    const struct rancher_apps *apps = context;
    struct apps_cluster *cluster = dict_get(apps->clusters, cluster_id);

    return cluster && apps_cluster_prepare(cluster, stack);
}

static struct capacity *capacity_of(void *context, struct str cluster_id)
{
    const struct rancher_apps *apps = context;
    const struct apps_cluster *cluster = dict_get(apps->clusters, cluster_id);

    return cluster ? apps_cluster_capacity(cluster) : NULL;
}

static void offer_capacity(void *context, struct str cluster_id, uint32_t operations_max,
                           int64_t now_ms, void (*wake)(void *context, struct str stack),
                           void *wake_context)
{
    const struct rancher_apps *apps = context;
    void *cluster = cluster_id.len ? dict_get(apps->clusters, cluster_id) : NULL;
    struct str id;

    if (cluster)
        apps_cluster_offer_capacity(cluster, operations_max, now_ms, wake, wake_context);
    for (size_t cursor = 0; !cluster_id.len && dict_next(apps->clusters, &cursor, &id, &cluster);)
        apps_cluster_offer_capacity(cluster, operations_max, now_ms, wake, wake_context);
}

struct rancher_apps *rancher_apps_create(uint64_t seed)
{
    struct rancher_apps *apps = mem_new(struct rancher_apps);

    apps->backend = (struct backend){
        .actions = CHANGES | QUESTIONS,
        .open = open_cluster,
        .close = close_cluster,
        .observe = observe,
        .prepare = prepare,
        .act = act,
        .capacity = capacity_of,
        .offer_capacity = offer_capacity,
        .context = apps,
    };
    apps->client = rancher_client_create();
    apps->clusters = dict_create();
    apps->seed = seed;
    return apps;
}

void rancher_apps_free(struct rancher_apps *apps)
{
    if (!apps)
        return;
    close_all(apps);
    dict_free(apps->clusters);
    rancher_client_free(apps->client);
    while (apps->orders)
        order_free(apps->orders);
    mem_free(apps);
}

const struct backend *rancher_apps_backend(const struct rancher_apps *apps)
{
    return &apps->backend;
}
