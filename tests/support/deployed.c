/* SPDX-License-Identifier: Apache-2.0 */
/* deployed.c: what becomes of each chart on each cluster, when nothing goes wrong. */
#include "support/deployed.h"

#include "stack/targets/resolved_targets.h"
#include "stack/model/decode.h"
#include "stack/model/default.h"
#include "stack/model/release.h"
#include "stack/model/status.h"
#include "support/stack_builder.h"

/* False: an override leaves it out. */
static bool overridden(const struct stack *stack, const struct chart *chart,
                       const struct u32_list *overrides, struct str *ret_version)
{
    bool there = true;

    *ret_version = chart->version;
    for (uint32_t i = 0; i < overrides->count; i++) {
        const struct chart_overrides *charts = &stack->spec.overrides.items[overrides->items[i]].charts;

        for (uint32_t k = 0; k < charts->count; k++) {
            const struct chart_override *one = &charts->items[k];

            if (!str_eq(one->name, chart->name))
                continue;
            there = there && !one->skip;
            *ret_version = one->version.len ? one->version : *ret_version;
        }
    }
    return there;
}

static void deploy(struct arena *arena, const struct stack *stack, const struct fact_cluster *cluster,
                   const struct override_matcher *matcher, struct stack_status *status)
{
    struct u32_list overrides = override_matcher_on(matcher, arena, cluster->id, cluster->labels);

    str_list_push(&status->target_clusters, cluster->id);
    str_list_push(&status->held_clusters, cluster->id);
    for (uint32_t i = 0; i < stack->spec.charts.count; i++) {
        const struct chart *chart = &stack->spec.charts.items[i];
        struct str version;

        if (overridden(stack, chart, &overrides, &version))
            release_states_push(&status->deployments, (struct release_state){
                .chart_name = chart->name, .cluster_id = cluster->id, .namespace_ = chart->namespace_,
                .release_name = chart->release_name, .state = DEPLOYMENT_DEPLOYED,
                .version = version, .digest = STR("sha256:x"), .installed = true });
    }
}

struct str deployed_status(struct arena *arena, const struct stack *stack, const struct facts *facts)
{
    struct override_matcher *matcher = override_matcher_new(arena, stack);
    struct resolved_targets *chosen = resolved_targets_of(arena, stack, facts);
    const struct str_list *ids = &chosen->claims.targets.ids;
    struct stack_status status = { .phase = PHASE_DEPLOYED, .observed_generation = 1, .counted = true,
                                   .target_clusters = str_list_new(arena, 4),
                                   .held_clusters = str_list_new(arena, 0),
                                   .deployments = release_states_new(arena, 4),
                                   .conditions = kube_conditions_new(arena, 0) };

    for (uint32_t i = 0; i < chosen->clusters.count; i++)
        deploy(arena, stack, &chosen->clusters.items[i], matcher, &status);
    for (uint32_t i = 0; !facts->clusters_known && i < ids->count; i++)
        deploy(arena, stack, &(struct fact_cluster){ .id = ids->items[i] }, matcher, &status);
    return stack_status_write(arena, &status);
}

struct json deployed_stack(struct arena *arena, struct json object, const struct facts *facts)
{
    struct problems ignored = problems_new(arena);
    const struct stack *stack = stack_default(arena, stack_decode(arena, object, &ignored), NULL);
    struct str text = json_raw(object);

    return test_json(arena, str_fmt(arena, "%.*s,\"status\":%.*s}", (int)text.len - 1, text.at,
                                    STR_ARG(deployed_status(arena, stack, facts))));
}
