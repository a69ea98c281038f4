/* SPDX-License-Identifier: Apache-2.0 */
/* chart_graph.c: one node for each chart. */
#include "stack/targets/chart_graph.h"

struct graph *chart_graph_new(struct arena *arena, const struct charts *charts,
                              struct graph_findings *ret_findings)
{
    struct graph *graph = graph_new(arena, charts->count);
    struct graph_findings findings;

    for (uint32_t i = 0; i < charts->count; i++)
        graph_add(graph, charts->items[i].name, charts->items[i].depends_on);
    findings = graph_link(graph);
    if (ret_findings)
        *ret_findings = findings;
    return graph;
}
