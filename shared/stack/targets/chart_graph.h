/* SPDX-License-Identifier: Apache-2.0 */
/* chart_graph.h: the charts of a Stack by what they depend on. Node i is spec.charts[i]. */
#ifndef HERD_STACK_CHART_GRAPH_H
#define HERD_STACK_CHART_GRAPH_H

#include "stack/model/stack.h"
#include "stack/targets/graph.h"

/* Linked, in the arena; names are borrowed. `ret_findings` has the entries that make no edge; NULL
 * for those who leave them to validation. */
struct graph *chart_graph_new(struct arena *arena, const struct charts *charts,
                              struct graph_findings *ret_findings);

#endif
