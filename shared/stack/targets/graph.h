/* SPDX-License-Identifier: Apache-2.0 */
/* graph.h: in which order can things that name each other be deployed?
 *
 * A node is anything with a name and a dependsOn list. Pure; equal input gives equal
 * order, so equal Stacks give equal plans. Everything lives in the arena. */
#ifndef HERD_STACK_GRAPH_H
#define HERD_STACK_GRAPH_H

#include "base/list.h"
#include "base/path.h"

struct graph;

/* An empty graph with room for `expected` nodes; it grows beyond. */
struct graph *graph_new(struct arena *arena, uint32_t expected);

/* Add a node; the first is number 0. `name` and `depends_on` are borrowed; the names in
 * `depends_on` may be added later. */
void graph_add(struct graph *graph, struct str name, struct str_list depends_on);

/* What is wrong with one entry of one dependsOn list. */
enum graph_fault { GRAPH_UNKNOWN_NAME, GRAPH_REPEATED, GRAPH_ITSELF };
struct graph_finding {
    enum graph_fault fault;
    uint32_t node;
    uint32_t entry;     /* index in the node's list */
    struct str nearest; /* of UNKNOWN_NAME: the nearest name, "" if none is near */
};
LIST_DEFINE(graph_findings, struct graph_finding)

/* Join names to nodes, once all are added. Faulty entries make no edge. */
struct graph_findings graph_link(struct graph *graph);

/* One cycle: `nodes` in order of dependence, each depending on the next, the last on the first; it
 * begins at its least node. `cut` is the edge whose removal is proposed: nodes[cut]'s entry. */
struct graph_cycle {
    struct u32_list nodes;
    uint32_t cut;
};
LIST_DEFINE(graph_cycles, struct graph_cycle)

/* Nodes so that each comes after all that it depends on, lower numbers first where free. 0; or -1
 * if there are cycles: `ret_order` untouched. Linear in nodes and edges. */
int graph_order(const struct graph *graph, struct arena *arena, struct u32_list *ret_order);
/* Cycles to fix: the shortest through the least node of each strongly connected component, then, as
 * if the proposed edges were cut, those that are left, and so on for a bounded number of rounds. No
 * cycle is listed twice; cutting all proposed edges leaves none, unless
 * `ret_more` (or NULL) is true. Linear. */
struct graph_cycles graph_cycles_of(const struct graph *graph, struct arena *arena, bool *ret_more);

/* Nodes that `node` depends on directly, after graph_link. */
const struct u32_list *graph_needs(const struct graph *graph, uint32_t node);
/* Nodes that depend on `node` directly. */
const struct u32_list *graph_waiters(const struct graph *graph, uint32_t node);
/* Set marked[n] of every node n that depends on one of `of`, however far. Linear. */
void graph_mark_dependents(const struct graph *graph, struct arena *arena,
                           const struct u32_list *of, bool *marked);
/* Whether `node` depends on any node for which test(context, other) holds, however far. Linear. */
bool graph_reaches(const struct graph *graph, struct arena *arena, uint32_t node,
                   bool (*test)(void *context, uint32_t other), void *context);

#endif
