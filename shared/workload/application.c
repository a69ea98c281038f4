/* SPDX-License-Identifier: Apache-2.0 */
/* application.c: see application.h. */
#include "workload/application.h"

#include "kube/meta.h"
#include "stack/model/decode.h"
#include "stack/model/default.h"
#include "stack/model/status_rows.h"
#include "workload/workload_status.h"

#define FIELDS_DEF "workload/application_fields.def"
#include "stack/model/fields_rows.h"

#define LABEL "cloudnative.elide.dev/application"

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

/* A Running that changes is Running: the seeds' words are these. */
static const struct workload_phases phases = { {
    [WORKLOAD_PENDING] = STR_INIT("Pending"),
    [WORKLOAD_CREATING] = STR_INIT("Pending"),
    [WORKLOAD_RUNNING] = STR_INIT("Running"),
    [WORKLOAD_UPDATING] = STR_INIT("Running"),
    [WORKLOAD_SUCCEEDED] = STR_INIT("Succeeded"),
    [WORKLOAD_FAILED] = STR_INIT("Failed"),
    [WORKLOAD_TERMINATING] = STR_INIT("Terminating"),
} };

static const struct kube_resource children[] = {
    KUBE_RESOURCE_INIT("apps", "v1", "deployments", "Deployment", true),
    KUBE_RESOURCE_INIT("batch", "v1", "jobs", "Job", true),
    KUBE_RESOURCE_INIT("", "v1", "configmaps", "ConfigMap", true),
    KUBE_RESOURCE_INIT("", "v1", "pods", "Pod", true),
};

static void read(struct arena *arena, struct json object, struct workload *ret_workload,
                 struct problems *problems)
{
    struct application_spec spec = { 0 };
    struct kube_meta meta;

    kube_meta_read(object, &meta);
    object_decode(arena, object, &application_kind.resource, &fields_of_application_spec, &spec,
                  problems);
    object_default(arena, &fields_of_application_spec, &spec);
    workload_check_name(arena, meta.name, problems);
    *ret_workload = (struct workload){
        .name = meta.name,
        .app = STR("application"),
        .label = STR(LABEL),
        .label_value = meta.name,
        .controller = spec.strategy == APPLICATION_RUN_ONCE ? WORKLOAD_JOBS : WORKLOAD_DEPLOYMENTS,
        .replicas = spec.replicas,
        .recreate = spec.strategy == APPLICATION_RECREATE,
        .image = spec.image,
        .config = spec.config,
    };
}

static void render(struct arena *arena, const struct kind_observation *seen,
                   struct kube_children *desired, struct problems *problems)
{
    struct workload workload;

    read(arena, seen->object, &workload, problems);
    workload_render(arena, &workload, seen, desired);
}

static void summarize(struct arena *arena, const struct kind_observation *seen,
                      struct json_writer *w, struct kube_conditions *conditions)
{
    struct problems ignored = problems_new(arena);
    struct workload workload;

    read(arena, seen->object, &workload, &ignored);
    workload_summarize(arena, seen, &workload, &phases, w, conditions);
}

const struct kube_kind application_kind = {
    .resource =
        KUBE_RESOURCE_INIT("cloudnative.elide.dev", "v1", "applications", "Application", true),
    .children = children,
    .child_count = sizeof(children) / sizeof(children[0]),
    .watched_count = 1,
    .label = LABEL,
    .field_manager = "herd-controller",
    .force = true,
    .render = render,
    .summarize = summarize,
};
