/* SPDX-License-Identifier: Apache-2.0 */
/* validate_graph.c: what depends on what, among the charts. */
#include "stack/rules/validate_areas.h"

#include "stack/targets/chart_graph.h"

static void blame_entry(const struct stack *stack, const struct graph_finding *finding,
                        const struct path *charts, struct findings *findings)
{
    const struct chart *chart = &stack->spec.charts.items[finding->node];
    struct path up = path_index(charts, finding->node);
    struct path list = path_field(&up, STR("dependsOn"));
    struct path at = path_index(&list, finding->entry);
    struct str name = finding_shown(findings, chart->depends_on.items[finding->entry]);

    switch (finding->fault) {
    case GRAPH_UNKNOWN_NAME:
        if (name.len) /* an empty entry has a finding of decode */
            finding_add(findings, RULE_GRAPH_UNKNOWN, CAUSE_VALUE_NOT_FOUND, &at, STR(""),
                        "\"%.*s\": no chart of this Stack has that name%.*s", STR_ARG(name),
                        STR_ARG(finding_did_you_mean(findings, finding->nearest)));
        return;
    case GRAPH_ITSELF:
        finding_add(findings, RULE_GRAPH_ITSELF, CAUSE_VALUE_INVALID, &at, STR(""),
                    "\"%.*s\": the chart depends on itself", STR_ARG(name));
        return;
    case GRAPH_REPEATED:
        finding_add(findings, RULE_GRAPH_REPEATED, CAUSE_VALUE_DUPLICATE, &at, STR(""), "\"%.*s\"",
                    STR_ARG(name));
        return;
    }
}

static struct str chart_shown(const struct stack *stack, struct findings *findings, uint32_t chart)
{
    return finding_shown(findings, stack->spec.charts.items[chart].name);
}

static struct str cycle_shown(const struct stack *stack, const struct u32_list *nodes,
                              struct findings *findings)
{
    struct str_list names = str_list_new(findings->arena, nodes->count);

    for (uint32_t i = 0; i < nodes->count; i++)
        str_list_push(&names, stack->spec.charts.items[nodes->items[i]].name);
    return finding_cycle_shown(findings, &names);
}

static void blame_cycle(const struct stack *stack, const struct graph_cycle *cycle,
                        const struct path *charts, struct findings *findings)
{
    uint32_t from = cycle->nodes.items[cycle->cut];
    uint32_t to = cycle->nodes.items[(cycle->cut + 1) % cycle->nodes.count];
    struct path up = path_index(charts, from);
    struct path at = path_field(&up, STR("dependsOn"));

    finding_add(findings, RULE_GRAPH_CYCLE, CAUSE_VALUE_INVALID, &at,
                str_fmt(findings->arena, "remove one edge, for example %.*s -> %.*s",
                        STR_ARG(chart_shown(stack, findings, from)),
                        STR_ARG(chart_shown(stack, findings, to))),
                "dependency cycle: %.*s", STR_ARG(cycle_shown(stack, &cycle->nodes, findings)));
}

struct graph *validate_graph(const struct stack *stack, struct findings *findings)
{
    struct graph_findings entries;
    struct graph *graph = chart_graph_new(findings->arena, &stack->spec.charts, &entries);
    struct path spec = path_field(NULL, STR("spec"));
    struct path at = path_field(&spec, STR("charts"));
    struct u32_list order;

    for (uint32_t i = 0; i < entries.count; i++)
        blame_entry(stack, &entries.items[i], &at, findings);
    if (graph_order(graph, findings->arena, &order) != 0) {
        bool more;
        struct graph_cycles cycles = graph_cycles_of(graph, findings->arena, &more);

        for (uint32_t i = 0; i < cycles.count; i++)
            blame_cycle(stack, &cycles.items[i], &at, findings);
        if (more)
            finding_add(findings, RULE_GRAPH_CYCLE, CAUSE_TOO_MANY, &at,
                        STR("remove the edges that are proposed, then try again"),
                        "there are more dependency cycles than are listed");
    }
    return graph;
}
