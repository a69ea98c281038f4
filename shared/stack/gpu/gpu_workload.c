/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_workload.c: the GPUs of the kind's own fields, and those among the container's limits. */
#include "stack/gpu/gpu_workload.h"

#include "stack/gpu/gpu.h"
#include "text/quantity.h"

static void add(struct gpu_asks *asks, const struct workload *workload, struct str resource,
                int64_t pod)
{
    struct quantity all =
        quantity_times((struct quantity){ pod }, workload_replicas_most(workload));

    if (pod > 0)
        gpu_asks_push(asks,
                      (struct gpu_ask){ .resource = resource, .total = all.milli, .pod = pod });
}

static int64_t whole(struct json value)
{
    struct str text = json_is(value, JSON_NUMBER) ? json_raw(value) : json_str(value);
    struct quantity quantity;
    struct error ignored;

    return quantity_parse(text, &quantity, &ignored) == 0 ? quantity.milli / 1000 : 0;
}

struct gpu_asks gpu_workload_asks(struct arena *arena, const struct workload *workload)
{
    struct gpu_asks asks = gpu_asks_new(arena, 1);
    struct json limits = json_get(workload->resources, STR("limits"));
    struct json_iter it = json_iter(limits);

    add(&asks, workload, workload->gpu_resource, workload->gpus);
    while (json_is(limits, JSON_OBJECT) && json_next(&it))
        if (gpu_is_counted(it.key) && !(workload->gpus && str_eq(it.key, workload->gpu_resource)))
            add(&asks, workload, it.key, whole(it.value));
    return asks;
}
