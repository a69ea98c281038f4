/* gpu_offer.c: what inventories say, and some of it in words. */
#include "stack/gpu_offer.h"

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
