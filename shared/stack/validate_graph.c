/* validate_graph.c: what depends on what, among the charts and among Stacks. */
#include "stack/validate_areas.h"

#include "kube/names.h"

/* A cycle of a thousand charts is shown by its first and last. */
enum { CYCLE_SHOWN_MAX = 24 };

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
    struct strbuf text = strbuf_new(findings->arena, 128);
    uint32_t head = nodes->count > CYCLE_SHOWN_MAX ? CYCLE_SHOWN_MAX / 2 : nodes->count;
    uint32_t tail = nodes->count - (nodes->count > CYCLE_SHOWN_MAX ? CYCLE_SHOWN_MAX / 2 : 0);

    for (uint32_t i = 0; i < nodes->count; i++) {
        if (i == head && tail > head)
            strbuf_fmt(&text, "(%u more) -> ", tail - head);
        if (i >= head && i < tail)
            continue;
        strbuf_put(&text, chart_shown(stack, findings, nodes->items[i]));
        strbuf_lit(&text, " -> ");
    }
    strbuf_put(&text, chart_shown(stack, findings, nodes->items[0]));
    return strbuf_str(&text);
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

static void validate_stacks(const struct stack *stack, struct findings *findings)
{
    const struct name_refs *others = &stack->spec.depends_on;
    struct path spec = path_field(NULL, STR("spec"));
    struct path list = path_field(&spec, STR("dependsOn"));
    struct str_list seen = str_list_new(findings->arena, others->count);

    for (uint32_t i = 0; i < others->count; i++) {
        struct str name = others->items[i].name;
        struct path up = path_index(&list, i);
        struct path at = path_field(&up, STR("name"));
        struct str shown = finding_shown(findings, name);

        if (name.len == 0)
            continue;
        if (kube_not_dns1123_subdomain(name))
            finding_add(findings, RULE_GRAPH_STACK, CAUSE_VALUE_INVALID, &at, STR(""),
                        "'%.*s' is no name of a Stack: it %s", STR_ARG(shown),
                        kube_not_dns1123_subdomain(name));
        else if (str_eq(name, stack->meta.name))
            finding_add(findings, RULE_GRAPH_STACK, CAUSE_VALUE_INVALID, &at,
                        STR("remove the entry"), "the Stack '%.*s' waits for itself",
                        STR_ARG(shown));
        else if (str_list_has(&seen, name))
            finding_add(findings, RULE_GRAPH_STACK, CAUSE_VALUE_DUPLICATE, &at,
                        STR("remove one of the two"), "'%.*s' stands twice", STR_ARG(shown));
        str_list_push(&seen, name);
    }
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
        struct graph_cycles cycles = graph_cycles_of(graph, findings->arena);

        for (uint32_t i = 0; i < cycles.count; i++)
            blame_cycle(stack, &cycles.items[i], &at, findings);
    }
    validate_stacks(stack, findings);
    return graph;
}
