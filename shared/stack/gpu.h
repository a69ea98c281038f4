/* gpu.h: what a chart's values ask of GPUs. Internal to stack/.
 *
 * A chart requests GPUs where a map named requests or limits, anywhere in its values, names an
 * extended GPU resource. Vendors are bits, because a provider of one serves no other. */
#ifndef HERD_STACK_GPU_H
#define HERD_STACK_GPU_H

#include "stack/finding.h"

enum gpu_vendor {
#define GPU_VENDOR(id, name) GPU_##id,
#define GPU_RESOURCE(vendor, name)
#define GPU_MEASURE(name)
#define GPU_PROVIDER(vendor, chart)
#define GPU_LABEL(key)
#include "stack/gpu_providers.def"
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

/* Vendors that `values` (an object or absent, at `at`) asks for; what is wrong with how it asks
 * goes to `findings`. `ret_field` gets the rendered place of the first request, if there is one. */
uint32_t gpu_requests(struct json values, const struct path *at, struct findings *findings,
                      struct str *ret_field);

#endif
