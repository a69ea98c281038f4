/* SPDX-License-Identifier: Apache-2.0 */
/* application.c: see application.h. */
#include "workload/application.h"

#include "stack/model/status_rows.h"

#define FIELDS_DEF "workload/application_fields.def"
#include "stack/model/fields_rows.h"

STATUS_TABLE(application_status, char, "What became of it; written by herd-controller only.")
STATUS_UNUSED(application_status, "observedGeneration", COUNT64, NONE,
              "The metadata.generation that this status is about.")
STATUS_UNUSED(application_status, "children", COUNTS, NONE,
              "How many objects are desired, and how many are applied.")
STATUS_UNUSED(application_status, "phase", STRING, NONE, "Pending, Running, Failed or Succeeded.")
STATUS_UNUSED(application_status, "replicas", COUNT64, NONE, "How many pods there are.")
STATUS_UNUSED(application_status, "readyReplicas", COUNT64, NONE, "How many of them are ready.")
STATUS_UNUSED(application_status, "selector", STRING, NONE, "The pods, as a label selector.")
STATUS_UNUSED(application_status, "conditions", CONDITIONS, FIELDS(condition),
              "Ready, Progressing, Accepted and Applied.")
STATUS_END(application_status)

static const struct kube_resource *const children[] = {
    &workload_child_resources[WORKLOAD_DEPLOYMENTS],
    &workload_child_resources[WORKLOAD_JOBS],
    &workload_child_resources[WORKLOAD_CONFIG_MAPS],
    &workload_child_resources[WORKLOAD_PODS],
};

static void read(const struct workload_kind *kind, struct arena *arena,
                 const struct kind_observation *seen, struct workload *ret_workload,
                 struct problems *problems)
{
    struct application_spec spec = { 0 };
    struct workload workload = workload_begin(kind, arena, seen, &spec, problems);

    if (spec.strategy == APPLICATION_RUN_ONCE)
        workload.controller = WORKLOAD_JOBS;
    workload.replicas = spec.replicas;
    workload.recreatable = true;
    workload.recreate = spec.strategy == APPLICATION_RECREATE;
    workload.image = spec.image;
    workload.config = spec.config;
    *ret_workload = workload;
}

const struct workload_kind application_kind = {
    .kind = WORKLOAD_KUBE_KIND(
        KUBE_RESOURCE_INIT("cloudnative.elide.dev", "v1", "applications", "Application", true),
        children, 0, "cloudnative.elide.dev/application"),
    .spec = &fields_of_application_spec,
    .app = "application",
    /* A Running that changes is Running: the seeds' words are these. */
    .phases = { {
        [WORKLOAD_PENDING] = STR_INIT("Pending"),
        [WORKLOAD_CREATING] = STR_INIT("Pending"),
        [WORKLOAD_RUNNING] = STR_INIT("Running"),
        [WORKLOAD_UPDATING] = STR_INIT("Running"),
        [WORKLOAD_SUCCEEDED] = STR_INIT("Succeeded"),
        [WORKLOAD_FAILED] = STR_INIT("Failed"),
        [WORKLOAD_TERMINATING] = STR_INIT("Terminating"),
    } },
    .read = read,
};
