/* validate_graph.c: what depends on what, among the charts. */
#include "stack/validate_areas.h"

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
        if (name.len) /* an empty entry was told by decode */
            finding_add(findings, RULE_GRAPH_UNKNOWN, CAUSE_VALUE_NOT_FOUND, &at,
                        finding_did_you_mean(findings, finding->nearest),
                        "there is no chart '%.*s' in this Stack", STR_ARG(name));
        return;
    case GRAPH_ITSELF:
        finding_add(findings, RULE_GRAPH_ITSELF, CAUSE_VALUE_INVALID, &at, STR(""),
                    "the chart '%.*s' waits for itself", STR_ARG(name));
        return;
    case GRAPH_REPEATED:
        finding_add(findings, RULE_GRAPH_REPEATED, CAUSE_VALUE_DUPLICATE, &at, STR(""),
                    "'%.*s' stands twice", STR_ARG(name));
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
                str_fmt(findings->arena, "cut the edge %.*s -> %.*s",
                        STR_ARG(chart_shown(stack, findings, from)),
                        STR_ARG(chart_shown(stack, findings, to))),
                "the charts wait for one another: %.*s",
                STR_ARG(cycle_shown(stack, &cycle->nodes, findings)));
}

struct graph *validate_graph(const struct stack *stack, struct findings *findings)
{
    const struct charts *charts = &stack->spec.charts;
    struct graph *graph = graph_new(findings->arena, charts->count);
    struct path spec = path_field(NULL, STR("spec"));
    struct path at = path_field(&spec, STR("charts"));
    struct u32_list order;

    for (uint32_t i = 0; i < charts->count; i++)
        graph_add(graph, charts->items[i].name, charts->items[i].depends_on);

    struct graph_findings entries = graph_link(graph);

    for (uint32_t i = 0; i < entries.count; i++)
        blame_entry(stack, &entries.items[i], &at, findings);
    if (graph_order(graph, findings->arena, &order) != 0) {
        bool more;
        struct graph_cycles cycles = graph_cycles_of(graph, findings->arena, &more);

        for (uint32_t i = 0; i < cycles.count; i++)
            blame_cycle(stack, &cycles.items[i], &at, findings);
        if (more)
            finding_add(findings, RULE_GRAPH_CYCLE, CAUSE_TOO_MANY, &at,
                        STR("cut the edges that are proposed, then try again"),
                        "the charts wait for one another in more ways than are listed");
    }
    return graph;
}
