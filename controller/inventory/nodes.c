/* nodes.c: an informer, and how old what it knows may be. */
#include "controller/inventory/nodes.h"

#include "base/limits.h"
#include "base/memory.h"
#include "runtime/informer.h"

enum {
    START_MS = 20000,   /* longer than any list that works takes */
    PAGE_LIMIT = 100,   /* a node is 10 to 30 KiB on the wire, for its images */
};

static const struct kube_resource node_resource =
    KUBE_RESOURCE_INIT("", "v1", "nodes", "Node", false);

enum nodes_state { NODES_STARTING, NODES_READ, NODES_UNREAD };

struct nodes {
    struct nodes_options options;
    struct informer *informer;
    char *id;
    int64_t began_ms;
    enum nodes_state told;
};

static int64_t loop_time(const struct nodes *nodes)
{
    return loop_now_ms(kube_client_loop(rancher_client_watches(nodes->options.rancher)));
}

/* A watch that is lost for a moment leaves what was known: tunnels come and go. */
static enum nodes_state state_of(const struct nodes *nodes, int64_t now_ms)
{
    const struct informer *informer = nodes->informer;

    if (!informer)
        return NODES_STARTING; /* it is being made */
    if (informer_synced(informer))
        return now_ms - informer_heard_ms(informer) <= LIMIT_INVENTORY_STALE ? NODES_READ
                                                                              : NODES_UNREAD;
    return informer_trouble(informer)->code == ERROR_NONE && now_ms - nodes->began_ms < START_MS
               ? NODES_STARTING
               : NODES_UNREAD;
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
    if (nodes->informer && informer_synced(nodes->informer))
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
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct nodes *nodes = mem_new(struct nodes);

    nodes->options = *options;
    nodes->id = mem_copy(options->id.at, options->id.len);
    nodes->options.id = str_make(nodes->id, options->id.len);
    nodes->began_ms = loop_time(nodes);
    nodes->informer = informer_create(&(struct informer_options){
        .client = rancher_client_watches(options->rancher),
        .prefix = rancher_prefix(arena, options->id),
        .resource = node_resource,
        .seed = options->seed,
        .keep = keep_node,
        .on_change = on_node,
        .on_synced = on_synced,
        .on_trouble = on_trouble,
        .context = nodes,
        .page_limit = PAGE_LIMIT,
    });
    return nodes;
}

void nodes_free(struct nodes *nodes)
{
    if (!nodes)
        return;
    informer_free(nodes->informer);
    mem_free(nodes->id);
    mem_free(nodes);
}

static void add_all(const struct nodes *nodes, struct inventory *inventory)
{
    struct kube_object *object;

    for (size_t cursor = 0;
         kube_cache_next(informer_cache(nodes->informer), &cursor, &object);)
        inventory_add_node(inventory, kube_object_kept(object));
}

bool nodes_fill(const struct nodes *nodes, struct arena *arena, int64_t now_ms,
                struct inventory *inventory)
{
    enum nodes_state state = state_of(nodes, now_ms);
    const struct error *trouble = nodes->informer ? informer_trouble(nodes->informer) : NULL;

    if (state == NODES_STARTING)
        return false;
    if (state == NODES_READ) {
        inventory->known = true;
        inventory->reason = STR("NodesRead");
        inventory->message = STR("what the nodes of the cluster say");
        add_all(nodes, inventory);
        return true;
    }
    inventory->reason = STR("Unreadable");
    inventory->message = STR("its nodes were not heard of for too long");
    if (trouble && trouble->code != ERROR_NONE)
        inventory->message = str_dup(arena, str_of(trouble->text));
    if (trouble && trouble->code == ERROR_FORBIDDEN) {
        inventory->reason = STR("Forbidden");
        inventory->message =
            str_fmt(arena, "%s; let the user of Herd's Rancher token list and watch nodes there",
                    trouble->text);
    }
    return true;
}

bool nodes_are_known(const struct nodes *nodes, int64_t now_ms)
{
    return state_of(nodes, now_ms) == NODES_READ;
}

size_t nodes_count(const struct nodes *nodes)
{
    return kube_cache_count(informer_cache(nodes->informer));
}
