/* SPDX-License-Identifier: Apache-2.0 */
/* graph.c: joining names, Kahn's order, Tarjan's components. All without recursion, so a chain of
 * any length is safe, and linear in nodes and edges. */
#include "stack/targets/graph.h"

#include "base/map.h"

/* Looking for a near name walks all names, so only the first few slips get one. */
enum { NEAREST_MAX = 8 };

/* Each round of looking for cycles is linear, and finds one in each connected component. */
enum { CYCLE_ROUNDS_MAX = 16 };

struct graph_node {
    struct str name;
    struct str_list depends_on;
    struct u32_list needs;
    struct u32_list waiters;
};
LIST_DEFINE(graph_nodes, struct graph_node)

struct graph {
    struct arena *arena;
    struct graph_nodes nodes;
};

struct graph *graph_new(struct arena *arena, uint32_t expected)
{
    struct graph *graph = arena_new(arena, struct graph);

    graph->arena = arena;
    graph->nodes = graph_nodes_new(arena, expected);
    return graph;
}

void graph_add(struct graph *graph, struct str name, struct str_list depends_on)
{
    graph_nodes_push(&graph->nodes, (struct graph_node){
                                        .name = name,
                                        .depends_on = depends_on,
                                        .needs = u32_list_new(graph->arena, depends_on.count),
                                        .waiters = u32_list_new(graph->arena, 0),
                                    });
}

static struct str nearest_name(const struct graph *graph, struct str name)
{
    struct str_nearest nearest = { .name = name };

    for (uint32_t i = 0; i < graph->nodes.count; i++)
        str_nearest_try(&nearest, graph->nodes.items[i].name);
    return nearest.found;
}

/* Nodes by name; of two with one name the first counts. */
static struct map *index_names(const struct graph *graph)
{
    struct map *names = map_new(graph->arena, graph->nodes.count);

    for (uint32_t i = 0; i < graph->nodes.count; i++)
        if (!map_get(names, graph->nodes.items[i].name))
            map_put(names, graph->nodes.items[i].name, &graph->nodes.items[i]);
    return names;
}

struct graph_findings graph_link(struct graph *graph)
{
    struct graph_findings found = graph_findings_new(graph->arena, 0);
    struct graph_node *nodes = graph->nodes.items;
    struct map *names = index_names(graph);
    uint32_t *seen_by = arena_array(graph->arena, uint32_t, graph->nodes.count); /* node + 1 */
    uint32_t searched = 0;

    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        for (uint32_t k = 0; k < nodes[i].depends_on.count; k++) {
            struct str name = nodes[i].depends_on.items[k];
            struct graph_node *other = map_get(names, name);
            struct graph_finding finding = { GRAPH_UNKNOWN_NAME, i, k, STR("") };

            if (!other) {
                if (searched++ < NEAREST_MAX)
                    finding.nearest = nearest_name(graph, name);
            } else if (other == &nodes[i] || str_eq(name, nodes[i].name)) {
                finding.fault = GRAPH_ITSELF;
            } else if (seen_by[other - nodes] == i + 1) {
                finding.fault = GRAPH_REPEATED;
            } else {
                seen_by[other - nodes] = i + 1;
                u32_list_push(&nodes[i].needs, (uint32_t)(other - nodes));
                u32_list_push(&other->waiters, i);
                continue;
            }
            graph_findings_push(&found, finding);
        }
    }
    return found;
}

const struct u32_list *graph_needs(const struct graph *graph, uint32_t node)
{
    return &graph->nodes.items[node].needs;
}

const struct u32_list *graph_waiters(const struct graph *graph, uint32_t node)
{
    return &graph->nodes.items[node].waiters;
}

/* A set of numbers that gives up its least in constant time: bits, and bits of which words of bits
 * have any. Four levels of 64 hold 16 million. */
enum { LEVELS = 4 };

struct ready_set {
    uint64_t *level[LEVELS];
};

static struct ready_set ready_new(struct arena *arena, uint32_t count)
{
    struct ready_set set;
    size_t words = count;

    for (int i = 0; i < LEVELS; i++) {
        words = words / 64 + 1;
        set.level[i] = arena_array(arena, uint64_t, words);
    }
    return set;
}

static void ready_put(struct ready_set *set, uint32_t number)
{
    for (int i = 0; i < LEVELS; i++, number /= 64)
        set->level[i][number / 64] |= 1ULL << (number % 64);
}

/* The least, taken out; false if there is none. */
static bool ready_take(struct ready_set *set, uint32_t *ret_number)
{
    uint32_t number = 0;

    for (int i = LEVELS - 1; i >= 0; i--) {
        if (!set->level[i][number])
            return false; /* only the top can be empty */
        number = number * 64 + (uint32_t)__builtin_ctzll(set->level[i][number]);
    }
    *ret_number = number;
    for (int i = 0; i < LEVELS; i++, number /= 64) {
        set->level[i][number / 64] &= ~(1ULL << (number % 64));
        if (set->level[i][number / 64])
            break;
    }
    return true;
}

int graph_order(const struct graph *graph, struct arena *arena, struct u32_list *ret_order)
{
    uint32_t count = graph->nodes.count;
    struct u32_list order = u32_list_new(arena, count);
    uint32_t *waits_for = arena_array(arena, uint32_t, count);
    struct ready_set ready = ready_new(arena, count);
    uint32_t node;

    for (uint32_t i = 0; i < count; i++) {
        waits_for[i] = graph->nodes.items[i].needs.count;
        if (waits_for[i] == 0)
            ready_put(&ready, i);
    }
    while (ready_take(&ready, &node)) {
        const struct u32_list *waiters = graph_waiters(graph, node);

        u32_list_push(&order, node);
        for (uint32_t k = 0; k < waiters->count; k++)
            if (--waits_for[waiters->items[k]] == 0)
                ready_put(&ready, waiters->items[k]);
    }
    /* What was never ready is on a cycle, or behind one. */
    if (order.count < count)
        return -1;
    *ret_order = order;
    return 0;
}

void graph_mark_dependents(const struct graph *graph, struct arena *arena,
                           const struct u32_list *of, bool *marked)
{
    struct u32_list open = u32_list_new(arena, of->count + 16);

    for (uint32_t i = 0; i < of->count; i++)
        u32_list_push(&open, of->items[i]);
    while (open.count) {
        const struct u32_list *waiters = graph_waiters(graph, open.items[--open.count]);

        for (uint32_t k = 0; k < waiters->count; k++) {
            if (marked[waiters->items[k]])
                continue;
            marked[waiters->items[k]] = true;
            u32_list_push(&open, waiters->items[k]);
        }
    }
}

bool graph_reaches(const struct graph *graph, struct arena *arena, uint32_t node,
                   bool (*test)(void *context, uint32_t other), void *context)
{
    bool *seen = arena_array(arena, bool, graph->nodes.count);
    struct u32_list open = u32_list_new(arena, 16);

    u32_list_push(&open, node);
    while (open.count) {
        const struct u32_list *needs = graph_needs(graph, open.items[--open.count]);

        for (uint32_t k = 0; k < needs->count; k++) {
            uint32_t other = needs->items[k];

            if (seen[other])
                continue;
            if (test(context, other))
                return true;
            seen[other] = true;
            u32_list_push(&open, other);
        }
    }
    return false;
}

/* Tarjan's components, with a stack of our own in place of recursion. */
struct components {
    const struct u32_list *needs; /* of each node, without the edges that were cut */
    uint32_t *number;             /* in which order nodes were met, from 1; 0 = not yet */
    uint32_t *low;
    uint32_t *next_need;  /* how far each node's needs were walked */
    uint32_t *component;  /* of a finished node, from 1 */
    struct u32_list path; /* the walk from its root */
    struct u32_list open; /* met, and in no component yet */
    uint32_t met;
    uint32_t count;
};

static void enter(struct components *c, uint32_t node)
{
    c->number[node] = c->low[node] = ++c->met;
    u32_list_push(&c->path, node);
    u32_list_push(&c->open, node);
}

static void lower(struct components *c, uint32_t node, uint32_t to)
{
    if (to < c->low[node])
        c->low[node] = to;
}

/* `node` is the root of a component: it and all above it on `open`. */
static void close_component(struct components *c, uint32_t node)
{
    uint32_t member;

    c->count++;
    do {
        member = c->open.items[--c->open.count];
        c->component[member] = c->count;
    } while (member != node);
}

static void walk_from(struct components *c, uint32_t root)
{
    enter(c, root);
    while (c->path.count) {
        uint32_t node = c->path.items[c->path.count - 1];
        const struct u32_list *needs = &c->needs[node];

        if (c->next_need[node] < needs->count) {
            uint32_t other = needs->items[c->next_need[node]++];

            if (!c->number[other])
                enter(c, other);
            else if (!c->component[other])
                lower(c, node, c->number[other]);
            continue;
        }
        c->path.count--;
        if (c->path.count)
            lower(c, c->path.items[c->path.count - 1], c->low[node]);
        if (c->low[node] == c->number[node])
            close_component(c, node);
    }
}

/* The proposal: the node that most others wait for is a foundation, and a foundation should not
 * wait for what stands on it. Of equals the last, whose edge closes the cycle. */
static uint32_t choose_cut(const struct graph *graph, const struct u32_list *cycle)
{
    uint32_t cut = 0;

    for (uint32_t i = 1; i < cycle->count; i++)
        if (graph_waiters(graph, cycle->items[i])->count >=
            graph_waiters(graph, cycle->items[cut])->count)
            cut = i;
    return cut;
}

/* The shortest cycle through `start`, found breadth first among the nodes of its component. */
static struct graph_cycle cycle_through(const struct graph *graph, const struct components *c,
                                        struct arena *arena, uint32_t start, uint32_t *came_from)
{
    struct u32_list queue = u32_list_new(arena, 16);
    uint32_t last = UINT32_MAX;

    u32_list_push(&queue, start);
    for (uint32_t head = 0; last == UINT32_MAX; head++) {
        uint32_t node = queue.items[head];
        const struct u32_list *needs = &c->needs[node];

        for (uint32_t k = 0; k < needs->count && last == UINT32_MAX; k++) {
            uint32_t other = needs->items[k];

            if (other == start) {
                last = node;
            } else if (c->component[other] == c->component[start] && !came_from[other]) {
                came_from[other] = node + 1;
                u32_list_push(&queue, other);
            }
        }
    }

    struct u32_list back = u32_list_new(arena, 8);
    struct graph_cycle cycle = { u32_list_new(arena, 8), 0 };

    for (uint32_t node = last; node != start; node = came_from[node] - 1)
        u32_list_push(&back, node);
    u32_list_push(&cycle.nodes, start);
    while (back.count)
        u32_list_push(&cycle.nodes, back.items[--back.count]);
    cycle.cut = choose_cut(graph, &cycle.nodes);
    return cycle;
}

static void find_components(struct components *c, struct arena *arena, uint32_t count)
{
    c->number = arena_array(arena, uint32_t, count);
    c->low = arena_array(arena, uint32_t, count);
    c->next_need = arena_array(arena, uint32_t, count);
    c->component = arena_array(arena, uint32_t, count);
    c->path = u32_list_new(arena, 0);
    c->open = u32_list_new(arena, 0);
    for (uint32_t i = 0; i < count; i++)
        if (!c->number[i])
            walk_from(c, i);
}

/* One cycle of each component of more than one node. */
static struct graph_cycles cycles_of_round(const struct graph *graph, const struct u32_list *needs,
                                           struct arena *arena)
{
    uint32_t count = graph->nodes.count;
    struct graph_cycles cycles = graph_cycles_new(arena, 0);
    struct components c = { .needs = needs };

    find_components(&c, arena, count);

    uint32_t *size = arena_array(arena, uint32_t, c.count + 1);
    uint32_t *came_from = arena_array(arena, uint32_t, count);

    for (uint32_t i = 0; i < count; i++)
        size[c.component[i]]++;
    /* The first node met of each component is its least. */
    for (uint32_t i = 0; i < count; i++) {
        if (size[c.component[i]] > 1)
            graph_cycles_push(&cycles, cycle_through(graph, &c, arena, i, came_from));
        size[c.component[i]] = 0;
    }
    return cycles;
}

/* The proposal applied: the next round sees what is left. */
static void cut(const struct graph_cycle *cycle, struct u32_list *needs)
{
    struct u32_list *from = &needs[cycle->nodes.items[cycle->cut]];
    uint32_t to = cycle->nodes.items[(cycle->cut + 1) % cycle->nodes.count];
    uint32_t kept = 0;

    for (uint32_t k = 0; k < from->count; k++)
        if (from->items[k] != to)
            from->items[kept++] = from->items[k];
    from->count = kept;
}

static struct u32_list *copy_needs(const struct graph *graph, struct arena *arena)
{
    struct u32_list *copies = arena_array(arena, struct u32_list, graph->nodes.count);

    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        const struct u32_list *needs = graph_needs(graph, i);

        copies[i] = u32_list_new(arena, needs->count);
        for (uint32_t k = 0; k < needs->count; k++)
            u32_list_push(&copies[i], needs->items[k]);
    }
    return copies;
}

struct graph_cycles graph_cycles_of(const struct graph *graph, struct arena *arena, bool *ret_more)
{
    struct u32_list *needs = copy_needs(graph, arena);
    struct graph_cycles all = graph_cycles_new(arena, 0);
    struct graph_cycles some = cycles_of_round(graph, needs, arena);

    for (int round = 0; round < CYCLE_ROUNDS_MAX && some.count; round++) {
        for (uint32_t i = 0; i < some.count; i++) {
            graph_cycles_push(&all, some.items[i]);
            cut(&some.items[i], needs);
        }
        some = cycles_of_round(graph, needs, arena);
    }
    if (ret_more)
        *ret_more = some.count > 0;
    return all;
}
