/* gpu_offer.c: from targets to inventories. */
#include "stack/gpu_offer.h"

#include "stack/claims.h"

#include <stdlib.h>

static int compare_clusters(const void *a, const void *b)
{
    return str_cmp(((const struct fact_cluster *)a)->id, ((const struct fact_cluster *)b)->id);
}

struct fact_clusters gpu_clusters(struct arena *arena, const struct stack *stack,
                                  const struct facts *facts)
{
    struct fact_clusters clusters = fact_clusters_new(arena, 0);
    struct claims choice = claims_of(arena, stack);

    choice.skips.count = 0; /* a chart that is skipped leaves the others */
    for (uint32_t i = 0; facts->clusters_known && i < facts->clusters.count; i++)
        if (choice.releases.count && claims_on(&choice, 0, &facts->clusters.items[i]))
            fact_clusters_push(&clusters, facts->clusters.items[i]);
    if (clusters.count)
        qsort(clusters.items, clusters.count, sizeof(struct fact_cluster), compare_clusters);
    return clusters;
}

const struct inventory *gpu_inventory(const struct fact_cluster *cluster)
{
    return cluster->inventory && cluster->inventory->known ? cluster->inventory : NULL;
}

uint32_t gpu_offered(const struct inventory *inventory)
{
    uint32_t vendors = 0;

    for (uint32_t i = 0; i < inventory->figures.count; i++)
        if (inventory->figures.items[i].allocatable > 0)
            vendors |= gpu_of_resource(inventory->figures.items[i].resource);
    return vendors;
}

/* --- telling --- */

struct gpu_telling gpu_telling_new(struct arena *arena)
{
    return (struct gpu_telling){ .text = strbuf_new(arena, 0) };
}

void gpu_tell(struct gpu_telling *telling, struct str what)
{
    if (telling->count++ >= GPU_TOLD_MAX)
        return;
    if (telling->text.len)
        strbuf_lit(&telling->text, ", ");
    strbuf_put(&telling->text, what);
}

struct str gpu_told(struct gpu_telling *telling)
{
    struct str told = strbuf_str(&telling->text);

    if (telling->count <= GPU_TOLD_MAX)
        return told;
    return str_fmt(telling->text.arena, "%.*s and %u more", STR_ARG(told),
                   telling->count - GPU_TOLD_MAX);
}
