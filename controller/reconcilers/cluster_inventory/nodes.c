/* SPDX-License-Identifier: Apache-2.0 */
/* nodes.c: a collection, and how old what it knows may be. */
#include "controller/reconcilers/cluster_inventory/nodes.h"

#include "base/memory.h"
#include "controller/limits.h"
#include "controller/reasons.h"

enum {
    START_MS = 20000, /* longer than any list that works takes */
    PAGE_LIMIT = 100, /* a node is 10 to 30 KiB on the wire, for its images */
};

static const struct kube_resource node_resource =
    KUBE_RESOURCE_INIT("", "v1", "nodes", "Node", false);

enum nodes_state { NODES_STARTING, NODES_READ, NODES_NOT_SYNCED };

struct nodes {
    struct nodes_options options;
    struct connection *connection;
    struct collection *collection; /* NULL: it is being made */
    char *id;
    int64_t began_ms;
    enum nodes_state told;
};

static int64_t loop_time(const struct nodes *nodes)
{
    return loop_now_ms(connection_loop(nodes->connection));
}

/* NULL: nothing was listed yet. */
static const struct informer *informer_of(const struct nodes *nodes)
{
    return nodes->collection ? collection_informer(nodes->collection) : NULL;
}

/* The longest time from one list to the next that works, and a while: tunnels come and go. */
static int64_t known_for_ms(const struct nodes *nodes)
{
    return nodes->options.interval_ms + nodes->options.interval_ms / 5 + LIMIT_INVENTORY_STALE;
}

static enum nodes_state state_of(const struct nodes *nodes, int64_t now_ms)
{
    const struct informer *informer = informer_of(nodes);

    if (!informer)
        return NODES_STARTING;
    if (informer_synced(informer))
        return now_ms - informer_heard_ms(informer) <= known_for_ms(nodes) ? NODES_READ
                                                                           : NODES_NOT_SYNCED;
    return informer_trouble(informer)->code == ERROR_NONE && now_ms - nodes->began_ms < START_MS
               ? NODES_STARTING
               : NODES_NOT_SYNCED;
}

static void tell(struct nodes *nodes)
{
    nodes->options.changed(nodes->options.context, nodes->options.id);
}

void nodes_look(struct nodes *nodes, int64_t now_ms)
{
    enum nodes_state state = state_of(nodes, now_ms);

    if (state == nodes->told)
        return;
    nodes->told = state;
    tell(nodes);
}

static bool keep_node(void *context, struct json object, struct strbuf *kept)
{
    (void)context;
    inventory_keep_node(object, kept);
    return true;
}

static void on_node(void *context, struct kube_object *before, struct kube_object *after)
{
    struct nodes *nodes = context;

    if (before && after && str_eq(kube_object_kept(before), kube_object_kept(after)))
        return; /* a heartbeat */
    if (informer_of(nodes) && informer_synced(informer_of(nodes)))
        tell(nodes);
}

static void on_synced(void *context)
{
    struct nodes *nodes = context;

    nodes->told = NODES_READ;
    tell(nodes);
}

static void on_trouble(void *context, const struct error *error)
{
    struct nodes *nodes = context;

    (void)error;
    nodes_look(nodes, loop_time(nodes));
}

struct nodes *nodes_create(const struct nodes_options *options)
{
    struct nodes *nodes = mem_new(struct nodes);

    nodes->options = *options;
    nodes->id = mem_copy(options->id.at, options->id.len);
    nodes->options.id = str_make(nodes->id, options->id.len);
    nodes->connection = clusters_open(options->clusters, nodes->options.id);
    nodes->began_ms = loop_time(nodes);
    nodes->collection =
        connection_follow(nodes->connection, &(struct collection_options){
                                                 .resource = node_resource,
                                                 .page_limit = PAGE_LIMIT,
                                                 .interval_ms = options->interval_ms,
                                                 .keep = keep_node,
                                                 .on_change = on_node,
                                                 .on_synced = on_synced,
                                                 .on_trouble = on_trouble,
                                                 .context = nodes,
                                             });
    return nodes;
}

void nodes_free(struct nodes *nodes)
{
    if (!nodes)
        return;
    connection_drop(nodes->collection);
    clusters_close(nodes->options.clusters, nodes->options.id);
    mem_free(nodes->id);
    mem_free(nodes);
}

void nodes_refresh(struct nodes *nodes)
{
    collection_refresh(nodes->collection);
}

static void add_all(const struct nodes *nodes, struct inventory *inventory)
{
    struct kube_object *object;

    for (size_t cursor = 0; kube_cache_next(informer_cache(informer_of(nodes)), &cursor, &object);)
        inventory_add_node(inventory, kube_object_kept(object));
}

bool nodes_fill(const struct nodes *nodes, struct arena *arena, int64_t now_ms,
                struct inventory *inventory)
{
    enum nodes_state state = state_of(nodes, now_ms);
    const struct error *trouble = informer_of(nodes) ? informer_trouble(informer_of(nodes)) : NULL;

    if (state == NODES_STARTING)
        return false;
    if (state == NODES_READ) {
        inventory->known = true;
        inventory->reason = controller_reason_name(CONTROLLER_REASON_NODES_READ);
        inventory->message = STR("what the nodes of the cluster say");
        add_all(nodes, inventory);
        return true;
    }
    inventory->reason = controller_reason_name(CONTROLLER_REASON_NODES_UNREADABLE);
    inventory->message = STR("its nodes have not been readable for too long");
    if (trouble && trouble->code != ERROR_NONE)
        inventory->message = str_dup(arena, str_of(trouble->text));
    if (trouble && trouble->code == ERROR_FORBIDDEN) {
        inventory->reason = controller_reason_name(CONTROLLER_REASON_NODES_FORBIDDEN);
        inventory->message = str_fmt(
            arena, "%s; let the user of Herd's Rancher token list nodes there", trouble->text);
    }
    return true;
}

bool nodes_are_known(const struct nodes *nodes, int64_t now_ms)
{
    return state_of(nodes, now_ms) == NODES_READ;
}

size_t nodes_count(const struct nodes *nodes)
{
    return informer_of(nodes) ? kube_cache_count(informer_cache(informer_of(nodes))) : 0;
}
