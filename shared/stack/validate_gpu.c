/* validate_gpu.c: who asks for GPUs, and who provides them: a chart of the Stack, or the clusters
 * that it goes to, as far as their inventories tell.
 *
 * What the clusters may have already, or get from another Stack, is only warned about. What the
 * Stack could order right and does not is refused. Values of ConfigMaps and Secrets are not seen;
 * nothing is concluded from that. Whether it fits: validate_fit.c. */
#include "stack/validate_areas.h"

#include "base/map.h"
#include "stack/gpu_offer.h"

struct gpu_chart {
    struct gpu_requests asks;
    uint32_t provides; /* vendors */
    uint32_t awaits;   /* a provider of these, directly or not */
};

/* Which charts wait, however indirectly, for one that provides what. */
static void spread(const struct graph *graph, struct gpu_chart *charts, uint32_t count,
                   uint32_t vendor, struct arena *arena)
{
    struct u32_list providers = u32_list_new(arena, 4);
    bool *awaits = arena_array(arena, bool, count);

    for (uint32_t i = 0; i < count; i++)
        if (charts[i].provides & vendor)
            u32_list_push(&providers, i);
    graph_mark_dependents(graph, arena, &providers, awaits);
    for (uint32_t i = 0; i < count; i++)
        charts[i].awaits |= awaits[i] ? vendor : 0;
}

static void add_override_needs(const struct stack_spec *spec, struct gpu_chart *charts,
                               const struct path *at, struct findings *findings)
{
    struct path overrides = path_field(at, STR("overrides"));
    struct map *names = map_new(findings->arena, spec->overrides.count ? spec->charts.count : 0);

    for (uint32_t i = 0; spec->overrides.count && i < spec->charts.count; i++)
        map_put(names, spec->charts.items[i].name, &charts[i]);
    for (uint32_t i = 0; i < spec->overrides.count; i++) {
        const struct chart_overrides *list = &spec->overrides.items[i].charts;
        struct path up = path_index(&overrides, i);
        struct path charts_at = path_field(&up, STR("charts"));

        for (uint32_t k = 0; k < list->count; k++) {
            struct path item = path_index(&charts_at, k);
            struct path values = path_field(&item, STR("values"));
            struct gpu_chart *chart = map_get(names, list->items[k].name);
            struct gpu_requests nobody = { 0 }; /* told by shape */

            gpu_requests_add(chart ? &chart->asks : &nobody, list->items[k].values, &values,
                             findings);
        }
    }
}

static struct gpu_chart *survey(const struct stack_spec *spec, const struct path *at,
                                struct findings *findings)
{
    struct gpu_chart *charts = arena_array(findings->arena, struct gpu_chart, spec->charts.count);
    struct path list = path_field(at, STR("charts"));

    for (uint32_t i = 0; i < spec->charts.count; i++) {
        struct path up = path_index(&list, i);
        struct path values = path_field(&up, STR("values"));
        struct path inline_at = path_field(&values, STR("inline"));

        charts[i].provides = gpu_of_chart(&spec->charts.items[i]);
        gpu_requests_add(&charts[i].asks, spec->charts.items[i].values.inline_, &inline_at,
                         findings);
    }
    add_override_needs(spec, charts, at, findings);
    return charts;
}

/* A chart of the Stack that provides `vendor`, or UINT32_MAX. */
static uint32_t find_provider(const struct stack_spec *spec, const struct gpu_chart *charts,
                              uint32_t vendor)
{
    for (uint32_t i = 0; i < spec->charts.count; i++)
        if (charts[i].provides & vendor)
            return i;
    return UINT32_MAX;
}

/* Nothing in the Stack provides it: do the clusters, all of them? */
static void check_offer(struct gpu_chart chart, struct str name, enum gpu_vendor vendor,
                        const struct fact_clusters *clusters, struct findings *findings)
{
    struct gpu_telling without = gpu_telling_new(findings->arena);
    /* The place is rendered already: a path of one link carries it as it is. */
    struct path at = path_field(NULL, chart.asks.field_of[vendor]);
    bool unknown = clusters->count == 0;

    for (uint32_t i = 0; i < clusters->count; i++) {
        const struct inventory *inventory = gpu_inventory(&clusters->items[i]);

        if (!inventory)
            unknown = true;
        else if (!(gpu_offered(inventory) >> vendor & 1))
            gpu_tell(&without, finding_shown(findings, clusters->items[i].id));
    }
    if (without.count)
        finding_add(findings, RULE_GPU_NO_PROVIDER, CAUSE_VALUE_NOT_FOUND, &at, STR(""),
                    "'%.*s' needs %s GPUs, no chart of this Stack provides them, and no node "
                    "offers any today on %.*s",
                    STR_ARG(name), gpu_vendor_name(vendor), STR_ARG(gpu_told(&without)));
    else if (unknown)
        finding_add(findings, RULE_GPU_NO_PROVIDER, CAUSE_VALUE_NOT_FOUND, &at, STR(""),
                    "'%.*s' needs %s GPUs, and no chart of this Stack provides them", STR_ARG(name),
                    gpu_vendor_name(vendor));
}

static void check_vendor(const struct stack_spec *spec, const struct gpu_chart *charts,
                         uint32_t chart, enum gpu_vendor vendor,
                         const struct fact_clusters *clusters, struct findings *findings)
{
    struct path at = path_field(NULL, STR("spec"));
    struct path list = path_field(&at, STR("charts"));
    struct path up = path_index(&list, chart);
    struct path depends_at = path_field(&up, STR("dependsOn"));
    uint32_t provider = find_provider(spec, charts, 1U << vendor);
    struct str name = finding_shown(findings, spec->charts.items[chart].name);

    if (provider == UINT32_MAX) {
        check_offer(charts[chart], name, vendor, clusters, findings);
        return;
    }

    struct str provider_name = finding_shown(findings, spec->charts.items[provider].name);

    finding_add(findings, RULE_GPU_NOT_AWAITED, CAUSE_VALUE_REQUIRED, &depends_at,
                str_fmt(findings->arena, "add %.*s to the dependsOn of %.*s",
                        STR_ARG(provider_name), STR_ARG(name)),
                "'%.*s' needs %s GPUs but does not wait for '%.*s', which provides them",
                STR_ARG(name), gpu_vendor_name(vendor), STR_ARG(provider_name));
}

static void check_demand(const struct stack_spec *spec, const struct gpu_chart *charts,
                         const struct path *spec_at, struct findings *findings)
{
    struct path targets = path_field(spec_at, STR("targets"));
    struct path at = path_field(&targets, STR("selector"));
    bool unseen = false;

    if (!gpu_is_demanded(&spec->targets.selector) || spec->charts.count == 0)
        return;
    for (uint32_t i = 0; i < spec->charts.count; i++) {
        const struct chart_values *values = &spec->charts.items[i].values;

        if (charts[i].asks.vendors || charts[i].provides)
            return;
        unseen = unseen || values->config_map_refs.count || values->secret_refs.count;
    }
    finding_add(findings, unseen ? RULE_GPU_UNSEEN_RESOURCES : RULE_GPU_MISSING_RESOURCES,
                CAUSE_VALUE_INVALID, &at, STR(""),
                unseen ? "demands clusters with GPUs, but no chart visibly requests or provides one"
                       : "demands clusters with GPUs, but no chart requests or provides one");
}

static struct str field_of(void *context, uint32_t chart, struct str resource)
{
    return gpu_requests_field(&((const struct gpu_chart *)context)[chart].asks, resource);
}

/* The clusters, only for a Stack that asks something of them. */
static void check_needs(const struct stack *stack, const struct facts *facts,
                        const struct fact_clusters *clusters, struct gpu_chart *charts,
                        struct findings *findings)
{
    const struct stack_spec *spec = &stack->spec;
    uint32_t needs = 0;
    uint32_t provides = 0;

    for (uint32_t i = 0; i < spec->charts.count; i++) {
        needs |= charts[i].asks.vendors;
        provides |= charts[i].provides;
    }
    if (!needs)
        return;
    for (uint32_t i = 0; i < spec->charts.count; i++) {
        uint32_t open = charts[i].asks.vendors & ~(charts[i].provides | charts[i].awaits);

        for (int vendor = 0; open >> vendor; vendor++)
            if (open >> vendor & 1)
                check_vendor(spec, charts, i, (enum gpu_vendor)vendor, clusters, findings);
    }
    validate_fit(stack, facts, clusters, provides, field_of, charts, findings);
}

void validate_gpu(const struct stack *stack, const struct graph *graph, const struct facts *facts,
                  const struct chosen *chosen, struct findings *findings)
{
    const struct stack_spec *spec = &stack->spec;
    struct path at = path_field(NULL, STR("spec"));
    struct gpu_chart *charts = survey(spec, &at, findings);

    for (int vendor = 0; vendor < GPU_VENDOR_COUNT; vendor++)
        spread(graph, charts, spec->charts.count, 1U << vendor, findings->arena);
    check_needs(stack, facts, &chosen->clusters, charts, findings);
    check_demand(spec, charts, &at, findings);
}
