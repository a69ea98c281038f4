/* SPDX-License-Identifier: Apache-2.0 */
/* common.c: see common.h. */
#include "workload/common.h"

#define FIELDS_DEF "workload/common_fields.def"
#include "stack/model/fields_rows.h"

void workload_add_env(struct workload *workload, const char *name, struct str value)
{
    if (value.len)
        workload_envs_push(&workload->env,
                           (struct workload_env){ .name = str_of(name), .value = value });
}

void workload_add_api_keys(struct workload *workload, const struct workload_secrets *secrets)
{
    for (uint32_t i = 0; i < secrets->api_keys.count; i++) {
        const struct workload_api_key *one = &secrets->api_keys.items[i];

        workload_envs_push(&workload->env, (struct workload_env){ .name = one->name,
                                                                  .secret = one->secret_name,
                                                                  .key = one->key });
    }
}

void workload_add_port(struct arena *arena, struct workload *workload, const char *name,
                       int64_t number)
{
    workload_ports_push(
        &workload->ports,
        (struct workload_port){ str_of(name), number,
                                str_fmt(arena, "%.*s-%s", STR_ARG(workload->name), name) });
}

void workload_set_autoscaling(struct workload *workload,
                              const struct workload_autoscaling *autoscaling)
{
    if (!autoscaling->enabled)
        return;
    workload->replicas_min = autoscaling->min_replicas;
    workload->replicas_max = autoscaling->max_replicas;
    workload->target_cpu = autoscaling->target_cpu;
    workload->target_memory = autoscaling->target_memory;
}

void workload_check_autoscaling(struct arena *arena, const struct workload_autoscaling *autoscaling,
                                struct problems *problems)
{
    if (autoscaling->enabled && autoscaling->min_replicas > autoscaling->max_replicas)
        workload_deny(problems, "spec.autoscaling.minReplicas",
                      str_fmt(arena, "Invalid value: %lld: it is above maxReplicas, %lld",
                              (long long)autoscaling->min_replicas,
                              (long long)autoscaling->max_replicas),
                      "lower minReplicas or raise maxReplicas");
}
