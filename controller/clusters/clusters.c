/* SPDX-License-Identifier: Apache-2.0 */
/* clusters.c: decoded entries of the list, each of one allocation, and the open connections. */
#include "controller/clusters/clusters.h"

#include "base/map.h"
#include "base/memory.h"
#include "base/pack.h"
#include "controller/clusters/missing_clusters.h"
#include "controller/clusters/management_cluster.h"
#include "kube/names.h"
#include "runtime/informer.h"

struct clusters {
    struct clusters_options options;
    struct informer *list;
    struct dict *known;               /* id -> struct listed_cluster */
    struct dict *opened;              /* id -> struct opened */
    struct missing_clusters *missing; /* of those that are held and not known */
};

/* It stays, with no users, until the last of its requests is answered. */
struct opened {
    struct connection *connection;
    uint32_t users;
};

static struct listed_cluster *entry_create(const struct kube_object *object)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct management_cluster read;
    struct str id = kube_object_name(object);

    management_cluster_kept(arena, kube_object_kept(object), &read);

    struct str labels = json_is(read.labels, JSON_OBJECT) ? json_raw(read.labels) : STR("{}");
    uint32_t label_count = json_count(read.labels);
    size_t bytes = id.len + read.display_name.len + read.size.len + read.message.len + labels.len;
    struct json_iter it = json_iter(read.labels);

    while (json_next(&it))
        bytes += it.key.len + json_str(it.value).len;

    struct listed_cluster *entry =
        mem_alloc(sizeof(*entry) + sizeof(struct label) * label_count + bytes);
    struct label *list = (struct label *)(void *)(entry + 1);
    char *at = (char *)(list + label_count);

    *entry = (struct listed_cluster){
        .id = pack_str(&at, id),
        .display_name = pack_str(&at, read.display_name),
        .size = pack_str(&at, read.size),
        .labels = pack_str(&at, labels),
        .label_list = list,
        .label_count = label_count,
        .internal = read.internal,
        .disconnected = read.disconnected,
        .usable = read.usable,
        .message = pack_str(&at, read.message),
    };
    it = json_iter(read.labels);
    for (uint32_t i = 0; json_next(&it); i++) {
        list[i].key = pack_str(&at, it.key);
        list[i].value = pack_str(&at, json_str(it.value));
    }
    return entry;
}

/* Use the connection if the cluster can be called. An id that is no DNS name is never put into a
 * path. */
static void adjust(struct clusters *clusters, struct str id)
{
    struct connection *connection = clusters_connection(clusters, id);
    const struct listed_cluster *entry = dict_get(clusters->known, id);

    if (entry || !connection)
        missing_clusters_remove(clusters->missing, id);
    else if (clusters->list && clusters_is_listed(clusters))
        missing_clusters_add(clusters->missing, id);
    if (connection)
        connection_use(connection,
                       entry && !entry->disconnected && !kube_not_dns1123_subdomain(id));
}

static void list_changed(void *context, struct kube_object *before, struct kube_object *after)
{
    struct clusters *clusters = context;
    const struct clusters_options *options = &clusters->options;

    if (before && after && str_eq(kube_object_kept(before), kube_object_kept(after)))
        return;

    struct str id = kube_object_name(after ? after : before);
    struct listed_cluster *new = after ? entry_create(after) : NULL;
    struct listed_cluster *old =
        new ? dict_set(clusters->known, id, new) : dict_remove(clusters->known, id);

    adjust(clusters, id);
    if (!old || !new || !str_eq(old->labels, new->labels) || old->internal != new->internal)
        options->labels_changed(options->context, old, new);
    options->cluster_changed(options->context, id);
    mem_free(old);
}

static void list_synced(void *context)
{
    struct clusters *clusters = context;
    struct str id;
    void *opened;

    for (size_t cursor = 0; dict_next(clusters->opened, &cursor, &id, &opened);)
        adjust(clusters, id);
    clusters->options.listed(clusters->options.context);
}

static void list_troubled(void *context, const struct error *error)
{
    struct clusters *clusters = context;

    clusters->options.trouble(clusters->options.context, STR(""), error);
}

static void missing_settled(void *context, struct str id)
{
    struct clusters *clusters = context;

    clusters->options.cluster_changed(clusters->options.context, id);
}

struct clusters *clusters_create(const struct clusters_options *options)
{
    struct clusters *clusters = mem_new(struct clusters);
    const struct informer_options list = {
        .client = options->api,
        .resource = management_cluster_resource,
        .seed = options->seed,
        .keep = management_cluster_keep,
        .on_change = list_changed,
        .on_synced = list_synced,
        .on_trouble = list_troubled,
        .context = clusters,
    };

    clusters->options = *options;
    clusters->known = dict_create();
    clusters->opened = dict_create();
    clusters->missing = missing_clusters_create(&(struct missing_clusters_options){
        .api = options->api,
        .seed = options->seed ^ 1,
        .settled = missing_settled,
        .context = clusters,
    });
    clusters->list = informer_create(&list);
    return clusters;
}

static void opened_free(struct opened *opened)
{
    connection_free(opened->connection);
    mem_free(opened);
}

void clusters_free(struct clusters *clusters)
{
    struct str id;
    void *value;

    if (!clusters)
        return;
    missing_clusters_free(clusters->missing);
    informer_free(clusters->list);
    for (size_t cursor = 0; dict_next(clusters->opened, &cursor, &id, &value);)
        opened_free(value);
    dict_free(clusters->opened);
    for (size_t cursor = 0; dict_next(clusters->known, &cursor, &id, &value);)
        mem_free(value);
    dict_free(clusters->known);
    mem_free(clusters);
}

bool clusters_is_listed(const struct clusters *clusters)
{
    return informer_synced(clusters->list);
}

bool clusters_is_troubled(const struct clusters *clusters)
{
    return informer_trouble(clusters->list)->code != ERROR_NONE;
}

const struct listed_cluster *clusters_get(const struct clusters *clusters, struct str id)
{
    return dict_get(clusters->known, id);
}

bool clusters_is_gone(const struct clusters *clusters, struct str id)
{
    return missing_clusters_is_gone(clusters->missing, id);
}

struct str clusters_missing_message(const struct clusters *clusters, struct str id)
{
    return missing_clusters_message(clusters->missing, id);
}

bool clusters_next(const struct clusters *clusters, size_t *cursor,
                   const struct listed_cluster **ret_cluster)
{
    struct str id;
    void *value;

    if (!dict_next(clusters->known, cursor, &id, &value))
        return false;
    *ret_cluster = value;
    return true;
}

bool clusters_fact(struct arena *arena, const struct listed_cluster *cluster,
                   struct fact_cluster *ret_fact)
{
    struct fact_cluster fact = {
        .id = str_dup(arena, cluster->id),
        .display_name = str_dup(arena, cluster->display_name),
        .internal = cluster->internal,
    };
    struct error ignored;

    if (json_read(arena, str_dup(arena, cluster->labels), &json_limits_default, &fact.labels,
                  &ignored) < 0)
        return false;
    *ret_fact = fact;
    return true;
}

static void leave_if_unused(void *context, struct str id)
{
    struct clusters *clusters = context;
    const struct opened *opened = dict_get(clusters->opened, id);

    if (opened->users == 0 && !connection_is_busy(opened->connection))
        opened_free(dict_remove(clusters->opened, id));
}

static void connection_changed(void *context, struct str id)
{
    const struct clusters *clusters = context;

    clusters->options.cluster_changed(clusters->options.context, id);
}

static void connection_troubled(void *context, struct str id, const struct error *error)
{
    const struct clusters *clusters = context;

    clusters->options.trouble(clusters->options.context, id, error);
}

static struct opened *open_connection(struct clusters *clusters, struct str id)
{
    struct opened *opened = mem_new(struct opened);

    opened->connection = connection_create(&(struct connection_options){
        .requests = clusters->options.requests,
        .watches = clusters->options.watches,
        .id = id,
        .seed = clusters->options.seed ^ str_hash(id),
        .changed = connection_changed,
        .trouble = connection_troubled,
        .idle = leave_if_unused,
        .context = clusters,
    });
    dict_set(clusters->opened, id, opened);
    return opened;
}

struct connection *clusters_open(struct clusters *clusters, struct str id)
{
    struct opened *opened = dict_get(clusters->opened, id);

    if (!opened)
        opened = open_connection(clusters, id);
    opened->users++;
    adjust(clusters, id);
    return opened->connection;
}

void clusters_close(struct clusters *clusters, struct str id)
{
    struct opened *opened = dict_get(clusters->opened, id);

    if (--opened->users > 0)
        return;
    connection_use(opened->connection, false);
    adjust(clusters, id);
    leave_if_unused(clusters, id);
}

struct connection *clusters_connection(const struct clusters *clusters, struct str id)
{
    const struct opened *opened = dict_get(clusters->opened, id);

    return opened && opened->users ? opened->connection : NULL;
}

void clusters_retry(const struct clusters *clusters)
{
    struct str id;
    void *value;

    for (size_t cursor = 0; dict_next(clusters->opened, &cursor, &id, &value);)
        connection_retry(((struct opened *)value)->connection);
}

void clusters_counts(const struct clusters *clusters, size_t *ret_followed, size_t *ret_objects)
{
    struct str id;
    void *value;
    size_t followed = 0;
    size_t objects = 0;

    for (size_t cursor = 0; dict_next(clusters->opened, &cursor, &id, &value);) {
        const struct connection *connection = ((struct opened *)value)->connection;

        followed += connection_is_read(connection);
        objects += connection_objects(connection);
    }
    *ret_followed = followed;
    *ret_objects = objects;
}
