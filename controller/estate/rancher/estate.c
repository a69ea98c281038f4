/* estate.c: decoded entries of the list, each of one allocation, and the clusters that are open. */
#include "controller/estate/rancher/estate.h"

#include "base/map.h"
#include "base/memory.h"
#include "base/pack.h"
#include "controller/estate/rancher/doubts.h"
#include "controller/estate/rancher/keep.h"
#include "kube/names.h"
#include "runtime/informer.h"

struct estate {
    struct estate_options options;
    struct informer *list;
    struct dict *known;  /* id -> struct estate_cluster */
    struct dict *opened; /* id -> struct cluster */
    struct doubts *doubts; /* of those that are open and not known */
};

static struct estate_cluster *entry_create(const struct kube_object *object)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct wire_cluster read;
    struct str id = kube_object_name(object);

    kept_cluster(arena, kube_object_kept(object), &read);

    struct str labels = json_is(read.labels, JSON_OBJECT) ? json_raw(read.labels) : STR("{}");
    uint32_t pair_count = 2 * json_count(read.labels);
    size_t bytes = id.len + read.display_name.len + read.message.len + labels.len;
    struct json_iter it = json_iter(read.labels);

    while (json_next(&it))
        bytes += it.key.len + json_str(it.value).len;

    struct estate_cluster *entry =
        mem_alloc(sizeof(*entry) + sizeof(struct str) * pair_count + bytes);
    struct str *pairs = (struct str *)(void *)(entry + 1);
    char *at = (char *)(pairs + pair_count);

    *entry = (struct estate_cluster){
        .id = pack_str(&at, id),
        .display_name = pack_str(&at, read.display_name),
        .labels = pack_str(&at, labels),
        .pairs = pairs,
        .pair_count = pair_count,
        .internal = read.internal,
        .disconnected = read.disconnected,
        .usable = read.usable,
        .message = pack_str(&at, read.message),
    };
    it = json_iter(read.labels);
    for (uint32_t i = 0; json_next(&it); i += 2) {
        pairs[i] = pack_str(&at, it.key);
        pairs[i + 1] = pack_str(&at, json_str(it.value));
    }
    return entry;
}

/* Follow it if it is open and can be called. An id that is no DNS name is never put into a path. */
static void adjust(struct estate *estate, struct str id)
{
    struct cluster *cluster = dict_get(estate->opened, id);
    const struct estate_cluster *entry = dict_get(estate->known, id);

    if (entry || !cluster)
        doubts_drop(estate->doubts, id);
    else if (estate->list && estate_is_listed(estate))
        doubts_add(estate->doubts, id);
    if (cluster)
        cluster_follow(cluster, entry && !entry->disconnected &&
                                    !kube_not_dns1123_subdomain(id));
}

static void list_changed(void *context, struct kube_object *before, struct kube_object *after)
{
    struct estate *estate = context;
    const struct estate_options *options = &estate->options;

    if (before && after && str_eq(kube_object_kept(before), kube_object_kept(after)))
        return;

    struct str id = kube_object_name(after ? after : before);
    struct estate_cluster *new = after ? entry_create(after) : NULL;
    struct estate_cluster *old =
        new ? dict_set(estate->known, id, new) : dict_remove(estate->known, id);

    adjust(estate, id);
    if (!old || !new || !str_eq(old->labels, new->labels) || old->internal != new->internal)
        options->labels_changed(options->context, old, new);
    options->cluster_changed(options->context, id);
    mem_free(old);
}

static void list_synced(void *context)
{
    struct estate *estate = context;
    struct str id;
    void *cluster;

    for (size_t cursor = 0; dict_next(estate->opened, &cursor, &id, &cluster);)
        adjust(estate, id);
    estate->options.listed(estate->options.context);
}

static void list_troubled(void *context, const struct error *error)
{
    struct estate *estate = context;

    estate->options.trouble(estate->options.context, STR(""), error);
}

static void doubt_settled(void *context, struct str id)
{
    struct estate *estate = context;

    estate->options.cluster_changed(estate->options.context, id);
}

struct estate *estate_create(const struct estate_options *options)
{
    struct estate *estate = mem_new(struct estate);
    const struct informer_options list = {
        .client = options->api,
        .resource = rancher_clusters,
        .seed = options->seed,
        .keep = keep_cluster,
        .on_change = list_changed,
        .on_synced = list_synced,
        .on_trouble = list_troubled,
        .context = estate,
    };

    estate->options = *options;
    estate->known = dict_create();
    estate->opened = dict_create();
    estate->doubts = doubts_create(&(struct doubts_options){
        .api = options->api,
        .seed = options->seed ^ 1,
        .settled = doubt_settled,
        .context = estate,
    });
    estate->list = informer_create(&list);
    return estate;
}

void estate_free(struct estate *estate)
{
    struct str id;
    void *value;

    if (!estate)
        return;
    doubts_free(estate->doubts);
    informer_free(estate->list);
    for (size_t cursor = 0; dict_next(estate->opened, &cursor, &id, &value);)
        cluster_free(value);
    dict_free(estate->opened);
    for (size_t cursor = 0; dict_next(estate->known, &cursor, &id, &value);)
        mem_free(value);
    dict_free(estate->known);
    mem_free(estate);
}

bool estate_is_listed(const struct estate *estate)
{
    return informer_synced(estate->list);
}

bool estate_is_troubled(const struct estate *estate)
{
    return informer_trouble(estate->list)->code != ERROR_NONE;
}

const struct estate_cluster *estate_get(const struct estate *estate, struct str id)
{
    return dict_get(estate->known, id);
}

bool estate_is_gone(const struct estate *estate, struct str id)
{
    return doubts_is_gone(estate->doubts, id);
}

struct str estate_doubt(const struct estate *estate, struct str id)
{
    return doubts_message(estate->doubts, id);
}

bool estate_next(const struct estate *estate, size_t *cursor,
                 const struct estate_cluster **ret_cluster)
{
    struct str id;
    void *value;

    if (!dict_next(estate->known, cursor, &id, &value))
        return false;
    *ret_cluster = value;
    return true;
}

void estate_open(struct estate *estate, struct str id)
{
    const struct cluster_options options = {
        .rancher = estate->options.rancher,
        .id = id,
        .seed = estate->options.seed ^ str_hash(id),
        .release_changed = estate->options.release_changed,
        .stack_changed = estate->options.stack_changed,
        .cluster_changed = estate->options.cluster_changed,
        .room_freed = estate->options.room_freed,
        .trouble = estate->options.trouble,
        .context = estate->options.context,
    };

    if (dict_get(estate->opened, id))
        return;
    dict_set(estate->opened, id, cluster_create(&options));
    adjust(estate, id);
}

void estate_close(struct estate *estate, struct str id)
{
    cluster_free(dict_remove(estate->opened, id));
    adjust(estate, id);
}

struct cluster *estate_opened(const struct estate *estate, struct str id)
{
    return dict_get(estate->opened, id);
}

void estate_offer_room(const struct estate *estate, uint32_t operations_max, int64_t now_ms,
                       void (*wake)(void *context, struct str stack), void *context)
{
    struct str id;
    void *value;

    for (size_t cursor = 0; dict_next(estate->opened, &cursor, &id, &value);)
        cluster_offer_room(value, operations_max, now_ms, wake, context);
}

void estate_counts(const struct estate *estate, size_t *ret_followed, size_t *ret_objects)
{
    struct str id;
    void *value;
    size_t followed = 0;
    size_t objects = 0;

    for (size_t cursor = 0; dict_next(estate->opened, &cursor, &id, &value);) {
        followed += cluster_is_read(value);
        objects += cluster_objects(value);
    }
    *ret_followed = followed;
    *ret_objects = objects;
}
