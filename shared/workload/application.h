/* SPDX-License-Identifier: Apache-2.0 */
/* application.h: Applications (cloudnative.elide.dev/v1): a Deployment, or with RunOnce a Job, and
 * a ConfigMap. Pure. */
#ifndef HERD_WORKLOAD_APPLICATION_H
#define HERD_WORKLOAD_APPLICATION_H

#include "workload/workload_kind.h"

enum application_strategy {
    APPLICATION_STRATEGY_UNSET,
    APPLICATION_ROLLING_UPDATE,
    APPLICATION_RECREATE,
    APPLICATION_RUN_ONCE,
};

struct application_spec {
    uint64_t given;
    int64_t replicas;
    struct str image;
    enum application_strategy strategy;
    struct json config;
};

extern const struct field_table fields_of_application_spec;
extern const struct field_table fields_of_application_status;
extern const struct workload_kind application_kind;

#endif
