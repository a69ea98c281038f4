/* SPDX-License-Identifier: Apache-2.0 */
/* options.h: the flags of herd-controller, read and checked: all that can be rejected is rejected
 * here, before anything starts. */
#ifndef HERD_CONTROLLER_OPTIONS_H
#define HERD_CONTROLLER_OPTIONS_H

#include "controller/console/console.h"
#include "controller/reconcilers/serving_certificate/wire.h"
#include "workload/workload_kind.h"
#include "io/program.h"
#include "runtime/kubeconfig.h"
#include "runtime/span_exporter.h"
#include "stack/model/configuration.h"

extern const struct program controller_program;

struct options {
    struct kube_config api;
    struct kube_config rancher;
    struct str namespace_;
    bool kinds[WORKLOAD_KIND_COUNT]; /* of --kinds */
    struct str prometheus_url;       /* "" = none */
    struct str prometheus_matcher;   /* as measurements_matcher gives it */
    struct str prometheus_ca;
    int64_t prometheus_interval_ms;
    bool kinds_named; /* else all, where they are installed */
    uint32_t workers;
    uint32_t cluster_operations;
    int64_t settle_ms;
    int64_t resync_ms;
    const char *config_file;                  /* may not exist */
    struct configuration_layer configuration; /* what flags say */
    bool check_access;
    const char *neuvector_folder; /* of credentials; "" = none */
    int64_t neuvector_interval_ms;
    struct kube_config suse_observability; /* server "" = none is asked */
    const char *suse_folder;               /* of its token */
    bool leader_elect;
    struct str lease_namespace;
    struct str lease_name;
    struct str identity;
    struct str pod_name;
    struct str pod_uid; /* "" = it is none */
    bool policy_audit;
    bool cluster_inventories;
    int64_t inventory_interval_ms;
    bool own_certificates;
    struct certificate_names certificate_names;
    struct serving_policy certificate_policy;
    struct span_target spans;
    const char *listen_host;
    uint16_t listen_port;
    struct console_settings console;
    bool version;
};

/* -1: one line that says which flag or file, what is wrong with it and how to fix it. */
int options_read(struct arena *arena, const struct flag_values *flags, uint64_t seed,
                 struct options *ret_options, struct error *err);

#endif
