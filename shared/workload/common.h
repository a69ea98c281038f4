/* SPDX-License-Identifier: Apache-2.0 */
/* common.h: what the specs of several kinds of workload have (common_fields.def), and what it means
 * for the workload. Pure. */
#ifndef HERD_WORKLOAD_COMMON_H
#define HERD_WORKLOAD_COMMON_H

#include "stack/model/fields.h"
#include "workload/workload.h"

struct workload_api_key {
    uint64_t given;
    struct str name, secret_name, key;
};
LIST_DEFINE(workload_api_keys, struct workload_api_key)
struct workload_secrets {
    uint64_t given;
    struct workload_api_keys api_keys;
};
struct workload_autoscaling {
    uint64_t given;
    bool enabled;
    int64_t min_replicas, max_replicas, target_cpu, target_memory;
};

extern const struct field_table fields_of_workload_secrets;
extern const struct field_table fields_of_workload_autoscaling;

/* An environment variable; nothing if its value is "". */
void workload_add_env(struct workload *workload, const char *name, struct str value);
/* One for each API key. */
void workload_add_api_keys(struct workload *workload, const struct workload_secrets *secrets);
/* A port with the Service NAME-PORT. */
void workload_add_port(struct arena *arena, struct workload *workload, const char *name,
                       int64_t number);
void workload_set_autoscaling(struct workload *workload,
                              const struct workload_autoscaling *autoscaling);

/* What is wrong with spec.autoscaling. */
void workload_check_autoscaling(struct arena *arena, const struct workload_autoscaling *autoscaling,
                                struct problems *problems);

#endif
