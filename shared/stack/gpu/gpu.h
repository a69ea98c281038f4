/* SPDX-License-Identifier: Apache-2.0 */
/* gpu.h: what a chart's values ask of GPUs. Internal to stack/.
 *
 * A chart requests GPUs where a map named requests or limits, anywhere in its values, names an
 * extended GPU resource. Vendors are bits, because a provider of one serves no other. */
#ifndef HERD_STACK_GPU_H
#define HERD_STACK_GPU_H

#include "stack/model/finding.h"
#include "stack/model/stack.h"

enum gpu_vendor {
#define GPU_VENDOR(id, name) GPU_##id,
#define GPU_RESOURCE(vendor, name)
#define GPU_MEASURE(name)
#define GPU_PROVIDER(vendor, chart)
#define GPU_LABEL(key)
#include "stack/gpu/gpu_providers.def"
#undef GPU_VENDOR
#undef GPU_RESOURCE
#undef GPU_MEASURE
#undef GPU_PROVIDER
#undef GPU_LABEL
    GPU_VENDOR_COUNT
};

const char *gpu_vendor_name(enum gpu_vendor vendor);

/* The vendor's bit; 0 for any other resource, and for what can be no name of one. */
uint32_t gpu_of_resource(struct str resource);
/* Whether it is GPUs, or parts of them, that the resource counts. */
bool gpu_is_counted(struct str resource);
uint32_t gpu_of_chart(const struct chart *chart); /* that it provides */
/* Whether a selector lets only clusters with GPUs pass. */
bool gpu_is_demanded(const struct label_selector *selector);

/* What values ask for, and where: of several places the first by the alphabet, for an API server
 * sorts what an author wrote in another order. Zeroed, nothing. */
struct gpu_requests {
    uint32_t vendors;
    struct str field_of[GPU_VENDOR_COUNT];
    struct map *fields; /* by resource -> struct str */
};
/* Add what `values` (an object or absent, at `at`) asks for; what is wrong with how it asks goes to
 * `findings`. What was there keeps its place. */
void gpu_requests_add(struct gpu_requests *requests, struct json values, const struct path *at,
                      struct findings *findings);
/* "" if it is not asked for. */
struct str gpu_requests_field(const struct gpu_requests *requests, struct str resource);

#endif
