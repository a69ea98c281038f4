/* SPDX-License-Identifier: Apache-2.0 */
/* connection.c: an informer for each collection; requests and their backoff are in files of their
 * own. */
#include "controller/clusters/connection.h"

#include "controller/limits.h"
#include "runtime/limits.h"
#include "base/memory.h"
#include "controller/clusters/rancher_probe.h"
#include "controller/clusters/request_queue.h"

#include <assert.h>

enum {
    START_MS = 20000,                        /* longer than any list that works takes */
    LISTEN_MS = LIMIT_CLUSTER_DEAD_TIME / 6, /* how often it is asked whether it is stale */
};

struct collection {
    struct connection *connection;
    struct collection *next;
    struct collection_options options;
    struct informer *informer; /* NULL: see collection_informer */
};

struct connection {
    struct connection_options options;
    char *id;
    char *prefix; /* "/k8s/clusters/<id>": what stands before /api, /apis and /v1 */
    struct collection *collections;
    uint64_t made; /* collections so far */
    struct request_queue *requests;
    struct request_backoff *backoff;
    struct loop_timer *listen;
    bool reached;
    bool was_read;    /* since Rancher reaches the cluster, */
    bool ever_read;   /* and since somebody follows what is required */
    bool was_stale;   /* as reported last */
    int64_t began_ms; /* when what is required was begun first; -1 = never yet */
};

static int64_t loop_time(const struct connection *connection)
{
    return loop_now_ms(connection_loop(connection));
}

static void tell(struct connection *connection)
{
    connection->options.changed(connection->options.context, connection->options.id);
}

/* Nothing comes in when nothing is heard any more, so it is looked at by the clock. */
static void listen_again(void *context)
{
    struct connection *connection = context;
    bool stale = connection_is_stale(connection, loop_time(connection));

    loop_timer_set(connection->listen, LISTEN_MS);
    if (stale == connection->was_stale)
        return;
    connection->was_stale = stale;
    tell(connection);
}

static void on_idle(void *context)
{
    struct connection *connection = context;

    connection->options.idle(connection->options.context, connection->options.id);
}

static char *prefix_of(struct str id)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf out = strbuf_new(arena, 64);

    strbuf_lit(&out, "/k8s/clusters/");
    kube_percent_encode(&out, id);
    return mem_copy(out.at, out.len);
}

struct connection *connection_create(const struct connection_options *options)
{
    struct connection *connection = mem_new(struct connection);

    connection->options = *options;
    connection->id = mem_copy(options->id.at, options->id.len);
    connection->options.id = str_make(connection->id, options->id.len);
    connection->prefix = prefix_of(options->id);
    connection->began_ms = -1;
    connection->requests = request_queue_create(&(struct request_queue_options){
        .client = options->requests,
        .prefix = str_of(connection->prefix),
        .under_way_max = LIMIT_CLUSTER_REQUESTS,
        .idle = on_idle,
        .context = connection,
    });
    connection->backoff = request_backoff_create(options->seed ^ 2);
    connection->listen = loop_timer_create(connection_loop(connection), listen_again, connection);
    return connection;
}

void connection_free(struct connection *connection)
{
    if (!connection)
        return;
    assert(!connection->collections);
    request_queue_free(connection->requests);
    loop_timer_free(connection->listen);
    request_backoff_free(connection->backoff);
    mem_free(connection->prefix);
    mem_free(connection->id);
    mem_free(connection);
}

struct str connection_id(const struct connection *connection)
{
    return connection->options.id;
}

struct loop *connection_loop(const struct connection *connection)
{
    return kube_client_loop(connection->options.watches);
}

/* --- collections --- */

static bool keep(void *context, struct json object, struct strbuf *kept)
{
    const struct collection *collection = context;

    return collection->options.keep(collection->options.context, object, kept);
}

static void on_change(void *context, struct kube_object *before, struct kube_object *after)
{
    const struct collection *collection = context;

    collection->options.on_change(collection->options.context, before, after);
}

static void on_synced(void *context)
{
    const struct collection *collection = context;
    struct connection *connection = collection->connection;

    if (collection->options.on_synced)
        collection->options.on_synced(collection->options.context);
    if (collection->options.need != COLLECTION_REQUIRED || connection->was_read ||
        !connection_is_read(connection))
        return;
    connection->was_read = connection->ever_read = true;
    tell(connection);
}

static void on_trouble(void *context, const struct error *error)
{
    const struct collection *collection = context;
    struct connection *connection = collection->connection;

    if (collection->options.on_trouble)
        collection->options.on_trouble(collection->options.context, error);
    if (collection->options.need == COLLECTION_OPTIONAL)
        return;
    connection->options.trouble(connection->options.context, connection->options.id, error);
    /* It is heard of again. */
    if (connection->was_stale && !error)
        loop_timer_set(connection->listen, 0);
    if (!connection->was_read || collection->options.need == COLLECTION_TEMPORARY)
        tell(connection);
}

static void begin(struct collection *collection)
{
    struct connection *connection = collection->connection;

    if (collection->options.need == COLLECTION_REQUIRED) {
        if (connection->began_ms < 0)
            connection->began_ms = loop_time(connection);
        connection->was_read = false;
        loop_timer_set(connection->listen, LISTEN_MS);
    }
    collection->informer = informer_create(&(struct informer_options){
        .client = connection->options.watches,
        .prefix = str_of(connection->prefix),
        .resource = collection->options.resource,
        .label_selector = collection->options.label_selector,
        .seed = connection->options.seed + connection->made++,
        .keep = collection->options.keep ? keep : NULL,
        .on_change = on_change,
        .on_synced = on_synced,
        .on_trouble = on_trouble,
        .context = collection,
        .page_limit = collection->options.page_limit,
        .interval_ms = collection->options.interval_ms,
        .probe_after_ms = LIMIT_CLUSTER_PROBE_AFTER,
    });
}

static void forget(struct collection *collection)
{
    informer_free(collection->informer);
    collection->informer = NULL;
    if (collection->options.on_forgotten)
        collection->options.on_forgotten(collection->options.context);
}

void connection_use(struct connection *connection, bool reached)
{
    if (reached == connection->reached)
        return;
    connection->reached = reached;
    for (struct collection *one = connection->collections; one; one = one->next) {
        if (reached && !one->informer)
            begin(one);
        else if (!reached && one->options.need != COLLECTION_OPTIONAL)
            forget(one);
    }
    if (reached)
        return;
    connection->was_read = connection->was_stale = false;
    loop_timer_clear(connection->listen);
}

struct collection *connection_follow(struct connection *connection,
                                     const struct collection_options *options)
{
    struct collection *collection = mem_new(struct collection);

    collection->connection = connection;
    collection->options = *options;
    collection->next = connection->collections;
    connection->collections = collection;
    if (connection->reached)
        begin(collection);
    return collection;
}

/* The first from there on that is needed so much. */
static const struct collection *needed_from(const struct collection *at, enum collection_need need)
{
    while (at && at->options.need < need)
        at = at->next;
    return at;
}

/* The one after `one`, or the first. */
static const struct collection *next_needed(const struct connection *connection,
                                            const struct collection *one, enum collection_need need)
{
    return needed_from(one ? one->next : connection->collections, need);
}

static bool requires_some(const struct connection *connection)
{
    return needed_from(connection->collections, COLLECTION_REQUIRED) != NULL;
}

void connection_drop(struct collection *collection)
{
    struct connection *connection = collection ? collection->connection : NULL;
    struct collection **at = connection ? &connection->collections : NULL;

    if (!collection)
        return;
    while (*at != collection)
        at = &(*at)->next;
    *at = collection->next;
    informer_free(collection->informer);
    mem_free(collection);
    if (requires_some(connection))
        return;
    /* Who follows it next begins anew. */
    connection->began_ms = -1;
    connection->was_read = connection->ever_read = connection->was_stale = false;
    loop_timer_clear(connection->listen);
}

void collection_refresh(struct collection *collection)
{
    informer_retry(collection->informer);
}

const struct informer *collection_informer(const struct collection *collection)
{
    return collection->informer;
}

/* --- liveness --- */

bool connection_is_read(const struct connection *connection)
{
    for (const struct collection *one = NULL;
         (one = next_needed(connection, one, COLLECTION_REQUIRED));)
        if (!one->informer || !informer_synced(one->informer))
            return false;
    return requires_some(connection);
}

bool connection_is_stale(const struct connection *connection, int64_t now_ms)
{
    if (!connection_is_read(connection))
        return false;
    for (const struct collection *one = NULL;
         (one = next_needed(connection, one, COLLECTION_TEMPORARY));)
        if (one->informer && informer_synced(one->informer) &&
            now_ms - informer_heard_ms(one->informer) > LIMIT_CLUSTER_DEAD_TIME)
            return true;
    return false;
}

int64_t connection_resumed_ms(const struct connection *connection)
{
    int64_t resumed_ms = 0;

    for (const struct collection *one = NULL;
         (one = next_needed(connection, one, COLLECTION_TEMPORARY));)
        if (one->informer && informer_synced(one->informer) &&
            informer_resumed_ms(one->informer) > resumed_ms)
            resumed_ms = informer_resumed_ms(one->informer);
    return resumed_ms;
}

static const struct error *first_trouble(const struct connection *connection)
{
    for (const struct collection *one = NULL;
         (one = next_needed(connection, one, COLLECTION_TEMPORARY));)
        if (one->informer && informer_trouble(one->informer)->code != ERROR_NONE)
            return informer_trouble(one->informer);
    return NULL;
}

bool connection_is_starting(const struct connection *connection, int64_t now_ms)
{
    return connection->reached && !connection->ever_read && !first_trouble(connection) &&
           (connection->began_ms < 0 || now_ms - connection->began_ms < START_MS);
}

struct str connection_trouble(const struct connection *connection, struct arena *arena)
{
    const struct error *error = first_trouble(connection);
    struct str remedy = error ? rancher_probe_remedy(error->code) : STR("");

    if (!error)
        return STR("");
    return str_fmt(arena, "%s%s%.*s", error->text, remedy.len ? "; " : "", STR_ARG(remedy));
}

size_t connection_objects(const struct connection *connection)
{
    size_t count = 0;

    for (const struct collection *one = NULL;
         (one = next_needed(connection, one, COLLECTION_TEMPORARY));)
        if (one->informer)
            count += kube_cache_count(informer_cache(one->informer));
    return count;
}

void connection_retry(struct connection *connection)
{
    request_backoff_end(connection->backoff);
    for (const struct collection *one = NULL;
         (one = next_needed(connection, one, COLLECTION_OPTIONAL));)
        informer_retry(one->informer);
}

/* --- requests --- */

void connection_send(struct connection *connection, const struct kube_raw *raw, kube_done *done,
                     void *context)
{
    request_queue_send(connection->requests, raw, done, context);
}

bool connection_is_busy(const struct connection *connection)
{
    return request_queue_is_busy(connection->requests);
}

struct request_backoff *connection_backoff(const struct connection *connection)
{
    return connection->backoff;
}

struct str connection_service_path(struct arena *arena, const struct connection_service *service,
                                   struct str path)
{
    struct strbuf out = strbuf_new(arena, path.len + 128);

    strbuf_lit(&out, "/api/v1/namespaces");
    kube_put_segment(&out, service->namespace_);
    strbuf_fmt(&out, "/services/%s:", service->scheme);
    kube_percent_encode(&out, service->name);
    strbuf_fmt(&out, ":%u/proxy", service->port);
    strbuf_put(&out, path);
    return strbuf_str(&out);
}
