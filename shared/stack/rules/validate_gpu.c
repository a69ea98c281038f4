/* SPDX-License-Identifier: Apache-2.0 */
/* validate_gpu.c: who asks for GPUs, and which charts of the Stack provide them.
 *
 * What the Stack could order right and does not is rejected. Values of ConfigMaps and Secrets are
 * not seen; nothing is concluded from that. Whether clusters have what is asked for, or anything
 * provides it there: validate_provider.c. Whether it fits: validate_fit.c. */
#include "stack/rules/gpu_survey.h"

#include "base/map.h"
#include "stack/model/limits.h"

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
            struct path inline_at = path_field(&values, STR("inline"));
            struct gpu_chart *chart = map_get(names, list->items[k].name);
            struct gpu_requests nobody = { 0 }; /* reported by shape */

            gpu_requests_add(chart ? &chart->asks : &nobody, list->items[k].values.inline_,
                             &inline_at, findings);
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

static void check_awaited(const struct stack_spec *spec, const struct gpu_chart *charts,
                          uint32_t chart, enum gpu_vendor vendor, struct findings *findings)
{
    struct path at = path_field(NULL, STR("spec"));
    struct path list = path_field(&at, STR("charts"));
    struct path up = path_index(&list, chart);
    struct path depends_at = path_field(&up, STR("dependsOn"));
    uint32_t provider = find_provider(spec, charts, 1U << vendor);
    struct str name = finding_shown(findings, spec->charts.items[chart].name);

    if (provider == UINT32_MAX)
        return; /* validate_providers */

    struct str provider_name = finding_shown(findings, spec->charts.items[provider].name);

    finding_add(findings, RULE_GPU_NOT_AWAITED, CAUSE_VALUE_REQUIRED, &depends_at,
                str_fmt(findings->arena, "add %.*s to the dependsOn of %.*s",
                        STR_ARG(provider_name), STR_ARG(name)),
                "\"%.*s\" needs %s GPUs but does not depend on \"%.*s\", which provides them",
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

static void tell_uncounted(struct findings *findings)
{
    struct path spec = path_field(NULL, STR("spec"));
    struct path at = path_field(&spec, STR("overrides"));

    finding_add(findings, RULE_GPU_UNKNOWN, CAUSE_VALUE_INVALID, &at,
                STR("have fewer overrides, or smaller ones"),
                "what the Stack asks of GPUs was not counted: its charts differ from cluster to "
                "cluster in too much for that");
}

/* The clusters, only for a Stack that asks something of them. */
static void check_clusters(struct gpu_survey *survey, struct findings *findings)
{
    struct gpu_counter *counter;
    struct gpu_groups groups;

    if (survey->facts->inventories_kept ||
        (survey->provides && survey->stack->spec.overrides.count)) {
        counter = gpu_counter_new(findings->arena, survey->stack, LIMIT_GPU_STEPS);
        groups = gpu_demand_on(counter, survey->clusters);
        survey->groups = gpu_counter_gave_up(counter) ? NULL : &groups;
        if (!survey->groups)
            tell_uncounted(findings);
    }
    survey->given = stacks_provide(survey->stack, survey->facts, findings->arena);
    validate_providers(survey, findings);
    if (survey->facts->inventories_kept && survey->groups)
        validate_fit(survey, findings);
}

static void check_needs(struct gpu_survey *survey, struct findings *findings)
{
    const struct stack_spec *spec = &survey->stack->spec;
    uint32_t needs = 0;

    for (uint32_t i = 0; i < spec->charts.count; i++) {
        const struct gpu_chart *chart = &survey->charts[i];
        uint32_t open = chart->asks.vendors & ~(chart->provides | chart->awaits);

        needs |= chart->asks.vendors;
        survey->provides |= chart->provides;
        for (int vendor = 0; open >> vendor; vendor++)
            if (open >> vendor & 1)
                check_awaited(spec, survey->charts, i, (enum gpu_vendor)vendor, findings);
    }
    if (needs)
        check_clusters(survey, findings);
}

void validate_gpu(const struct stack *stack, const struct graph *graph, const struct facts *facts,
                  const struct resolved_targets *chosen, struct findings *findings)
{
    const struct stack_spec *spec = &stack->spec;
    struct path at = path_field(NULL, STR("spec"));
    struct gpu_chart *charts = survey(spec, &at, findings);

    for (int vendor = 0; vendor < GPU_VENDOR_COUNT; vendor++)
        spread(graph, charts, spec->charts.count, 1U << vendor, findings->arena);
    check_needs(
        &(struct gpu_survey){
            .stack = stack, .facts = facts, .charts = charts, .clusters = &chosen->clusters },
        findings);
    check_demand(spec, charts, &at, findings);
}
