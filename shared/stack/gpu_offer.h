/* gpu_offer.h: what the clusters that a Stack goes to have to offer, as far as the facts tell.
 * Internal to stack/. */
#ifndef HERD_STACK_GPU_OFFER_H
#define HERD_STACK_GPU_OFFER_H

#include "stack/facts.h"
#include "stack/finding.h"
#include "stack/gpu.h"
#include "stack/inventory.h"

/* NULL: not known. */
const struct inventory *gpu_inventory(const struct fact_cluster *cluster);
/* Vendors of which its nodes offer something. */
uint32_t gpu_offered(const struct inventory *inventory);

/* "a, b, c and 4 more": the first few are told, the rest is counted. */
struct gpu_telling {
    struct strbuf text;
    uint32_t count;
};
enum { GPU_TOLD_MAX = 3 };
struct gpu_telling gpu_telling_new(struct arena *arena);
void gpu_tell(struct gpu_telling *telling, struct str what);
struct str gpu_told(struct gpu_telling *telling);

/* Where the chart asks for the resource. */
typedef struct str gpu_field_of(void *context, uint32_t chart, struct str resource);

/* Whether what the Stack asks for fits: gpu.fit, gpu.busy, gpu.unknown, and gpu.no-provider
 * where overrides skip the chart that provides. `provides`: the vendors that charts of the Stack
 * bring. `clusters`: those that the Stack
 * chooses (chosen.h). */
void validate_fit(const struct stack *stack, const struct facts *facts,
                  const struct fact_clusters *clusters, uint32_t provides, gpu_field_of *field_of,
                  void *context, struct findings *findings);

#endif
