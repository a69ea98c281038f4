/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_values.h: what of a chart's values counts where GPUs are summed up. Internal to gpu_demand.
 * Pure.
 *
 * A tree that is made once for a chart and once for what each override says of it, and then laid
 * over one another as often as clusters differ: maps have their members sorted, so two are merged
 * in one pass, and only maps that both have are copied. */
#ifndef HERD_STACK_GPU_VALUES_H
#define HERD_STACK_GPU_VALUES_H

#include "text/json.h"

struct gpu_value {
    struct str key; /* "" in lists */
    struct json scalar;
    bool is_map, is_list;
    uint32_t count;
    const struct gpu_value *members; /* of a map sorted by key */
};

/* Of a chart: scalars that do not count, and maps and lists that have none that does, are left
 * out. All borrowed from `values` and the arena. */
struct gpu_value gpu_value_of(struct arena *arena, struct json values);
/* Of an override: scalars stay, for each of them takes the place of what it is laid on. */
struct gpu_value gpu_value_over(struct arena *arena, struct json values);

/* By Helm's rule: maps merge, all else replaces. Adds to `steps` how many members were looked at.
 */
struct gpu_value gpu_value_merge(struct arena *arena, const struct gpu_value *base,
                                 const struct gpu_value *over, uint64_t *steps);

/* NULL: there is none. */
const struct gpu_value *gpu_value_get(const struct gpu_value *map, struct str key);

#endif
