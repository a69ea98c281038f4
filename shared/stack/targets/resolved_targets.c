/* SPDX-License-Identifier: Apache-2.0 */
/* resolved_targets.c: the one look at all clusters. */
#include "stack/targets/resolved_targets.h"

#include <stdlib.h>

static int compare_clusters(const void *a, const void *b)
{
    return str_cmp(((const struct fact_cluster *)a)->id, ((const struct fact_cluster *)b)->id);
}

struct resolved_targets *resolved_targets_of(struct arena *arena, const struct stack *stack,
                                             const struct facts *facts)
{
    struct resolved_targets *chosen = arena_new(arena, struct resolved_targets);

    chosen->known = facts->clusters_known;
    chosen->claims = claims_of(arena, stack);
    chosen->clusters = fact_clusters_new(arena, 0);
    chosen->contested = arena_array(arena, bool, stack->spec.charts.count);
    for (uint32_t i = 0; facts->clusters_known && i < facts->clusters.count; i++)
        if (claims_choose(arena, &chosen->claims, &facts->clusters.items[i]))
            fact_clusters_push(&chosen->clusters, facts->clusters.items[i]);
    if (chosen->clusters.count)
        qsort(chosen->clusters.items, chosen->clusters.count, sizeof(struct fact_cluster),
              compare_clusters);
    return chosen;
}

bool resolved_targets_have(const struct resolved_targets *chosen, struct str cluster_id)
{
    const struct fact_clusters *clusters = &chosen->clusters;
    struct fact_cluster wanted = { .id = cluster_id };

    return clusters->count &&
           bsearch(&wanted, clusters->items, clusters->count, sizeof(wanted), compare_clusters);
}
