/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_offer.c: what inventories say. */
#include "stack/gpu/gpu_offer.h"

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
