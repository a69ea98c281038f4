/* SPDX-License-Identifier: Apache-2.0 */
/* abi_instance.c: the spec as a workload, and what its status says beside that of all workloads. */
#include "workload/abi_instance.h"

#include "kube/meta.h"
#include "stack/model/decode.h"
#include "stack/model/default.h"
#include "stack/model/status_rows.h"
#include "workload/workload_status.h"

#define FIELDS_DEF "workload/abi_instance_fields.def"
#include "stack/model/fields_rows.h"

#define LABEL "abi.io/instance"

STATUS_TABLE(abi_health, char, "How the instance fares.")
STATUS_UNUSED(abi_health, "status", STRING, NONE, "Healthy, Degraded, Unhealthy or Unknown.")
STATUS_UNUSED(abi_health, "message", STRING, NONE, "Why it is not Healthy.")
STATUS_END(abi_health)

STATUS_TABLE(abi_status, char, "What became of it; written by herd-controller only.")
STATUS_UNUSED(abi_status, "observedGeneration", COUNT64, NONE,
              "The metadata.generation that this status is about.")
STATUS_UNUSED(abi_status, "children", COUNTS, NONE,
              "How many objects are desired, and how many are applied.")
STATUS_UNUSED(abi_status, "phase", STRING, NONE,
              "Pending, Creating, Running, Updating, Failed or Terminating.")
STATUS_UNUSED(abi_status, "replicas", COUNT64, NONE, "How many pods there are.")
STATUS_UNUSED(abi_status, "readyReplicas", COUNT64, NONE, "How many of them are ready.")
STATUS_UNUSED(abi_status, "selector", STRING, NONE, "The pods, as a label selector.")
STATUS_UNUSED(abi_status, "health", STRUCT, FIELDS(abi_health), "How the instance fares.")
STATUS_UNUSED(abi_status, "version", STRING, NONE, "The version that runs; absent until one does.")
STATUS_UNUSED(abi_status, "endpoints", LABELS, NONE, "URLs of the Services, by port.")
STATUS_UNUSED(abi_status, "conditions", CONDITIONS, FIELDS(condition),
              "Ready, Progressing, Accepted and Applied.")
STATUS_END(abi_status)

static const struct workload_phases phases = { {
    [WORKLOAD_PENDING] = STR_INIT("Pending"),
    [WORKLOAD_CREATING] = STR_INIT("Creating"),
    [WORKLOAD_RUNNING] = STR_INIT("Running"),
    [WORKLOAD_UPDATING] = STR_INIT("Updating"),
    [WORKLOAD_SUCCEEDED] = STR_INIT("Running"),
    [WORKLOAD_FAILED] = STR_INIT("Failed"),
    [WORKLOAD_TERMINATING] = STR_INIT("Terminating"),
} };

static const struct kube_resource children[] = {
    KUBE_RESOURCE_INIT("apps", "v1", "deployments", "Deployment", true),
    KUBE_RESOURCE_INIT("apps", "v1", "statefulsets", "StatefulSet", true),
    KUBE_RESOURCE_INIT("", "v1", "services", "Service", true),
    KUBE_RESOURCE_INIT("", "v1", "configmaps", "ConfigMap", true),
    KUBE_RESOURCE_INIT("autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler",
                       true),
    KUBE_RESOURCE_INIT("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", true),
    KUBE_RESOURCE_INIT("monitoring.coreos.com", "v1", "servicemonitors", "ServiceMonitor", true),
    KUBE_RESOURCE_INIT("", "v1", "pods", "Pod", true),
};

/* --- the spec as a workload --- */

static void add_env(struct workload *workload, const char *name, struct str value)
{
    if (value.len)
        workload_envs_push(&workload->env,
                           (struct workload_env){ .name = str_of(name), .value = value });
}

static void add_flag(struct workload *workload, const char *name, bool on)
{
    add_env(workload, name, on ? STR("true") : STR("false"));
}

static void read_env(struct workload *workload, const struct abi_spec *spec)
{
    const struct abi_features *features = &spec->features;

    add_flag(workload, "ABI_FEATURE_AI", features->ai);
    add_flag(workload, "ABI_FEATURE_GPU", features->gpu);
    add_flag(workload, "ABI_FEATURE_DATABASE", features->database);
    add_flag(workload, "ABI_FEATURE_NETWORK", features->network);
    add_flag(workload, "ABI_FEATURE_WEB", features->web);
    add_flag(workload, "ABI_FEATURE_PROFILING", features->profiling);
    if (features->gpu) {
        add_env(workload, "ABI_GPU_BACKEND",
                field_word_name(&words_of_abi_gpu_backend, spec->gpu.backend));
        add_env(workload, "ABI_GPU_MEMORY", spec->gpu.memory);
    }
    if (features->ai) {
        add_env(workload, "ABI_LLM_PROVIDER", spec->llm.provider);
        add_env(workload, "ABI_LLM_MODEL", spec->llm.model);
        add_env(workload, "ABI_LLM_ENDPOINT", spec->llm.endpoint);
    }
    for (uint32_t i = 0; i < spec->secrets.api_keys.count; i++) {
        const struct abi_api_key *one = &spec->secrets.api_keys.items[i];

        workload_envs_push(&workload->env, (struct workload_env){ .name = one->name,
                                                                  .secret = one->secret_name,
                                                                  .key = one->key });
    }
}

static void add_port(struct arena *arena, struct workload *workload, const char *name,
                     int64_t number)
{
    workload_ports_push(
        &workload->ports,
        (struct workload_port){ str_of(name), number,
                                str_fmt(arena, "%.*s-%s", STR_ARG(workload->name), name) });
}

static void read_ports(struct arena *arena, struct workload *workload, const struct abi_spec *spec)
{
    if (spec->features.web)
        add_port(arena, workload, "http", spec->networking.http_port);
    if (spec->features.network)
        add_port(arena, workload, "grpc", spec->networking.grpc_port);
    add_port(arena, workload, "metrics", spec->networking.metrics_port);
    workload->metrics_port = STR("metrics");
    if (spec->features.web)
        workload->health_path = STR("/health");
}

static void read_availability(struct workload *workload, const struct abi_spec *spec)
{
    const struct abi_high_availability *wanted = &spec->high_availability;

    if (spec->autoscaling.enabled) {
        workload->replicas_min = spec->autoscaling.min_replicas;
        workload->replicas_max = spec->autoscaling.max_replicas;
        workload->target_cpu = spec->autoscaling.target_cpu;
        workload->target_memory = spec->autoscaling.target_memory;
    }
    if (!wanted->enabled)
        return;
    workload->anti_affinity =
        wanted->anti_affinity == ABI_ANTI_AFFINITY_HARD ? ANTI_AFFINITY_HARD : ANTI_AFFINITY_SOFT;
    workload->min_available = wanted->budget.min_available;
    workload->max_unavailable = wanted->budget.max_unavailable;
    if (!workload->min_available.len && !workload->max_unavailable.len)
        workload->max_unavailable = STR("1");
}

static void read_pods(struct workload *workload, const struct abi_spec *spec)
{
    static const struct str gpu_resources[] = { [ABI_GPU_UNSET] = STR_INIT("nvidia.com/gpu"),
                                                [ABI_GPU_CUDA] = STR_INIT("nvidia.com/gpu"),
                                                [ABI_GPU_ROCM] = STR_INIT("amd.com/gpu"),
                                                [ABI_GPU_INTEL] = STR_INIT("gpu.intel.com/i915") };

    workload->resources = spec->resources;
    if (spec->features.gpu) {
        workload->gpus = spec->gpu.count;
        workload->gpu_resource = gpu_resources[spec->gpu.backend];
    }
    if (spec->storage.enabled) {
        workload->controller = WORKLOAD_STATEFUL_SETS;
        workload->volume_size = spec->storage.size;
        workload->storage_class = spec->storage.storage_class;
        workload->mount_path = spec->storage.mount_path;
    }
}

static void read(struct arena *arena, struct json object, struct workload *ret_workload,
                 struct abi_spec *ret_spec, struct problems *problems)
{
    struct kube_meta meta;

    *ret_spec = (struct abi_spec){ 0 };
    kube_meta_read(object, &meta);
    object_decode(arena, object, &abi_instance_kind.resource, &fields_of_abi_spec, ret_spec,
                  problems);
    object_default(arena, &fields_of_abi_spec, ret_spec);
    workload_check_name(arena, meta.name, problems);
    *ret_workload = (struct workload){
        .name = meta.name,
        .app = STR("abi"),
        .label = STR(LABEL),
        .label_value = meta.name,
        .controller = WORKLOAD_DEPLOYMENTS,
        .replicas = ret_spec->replicas,
        .image = str_fmt(arena, "%.*s:%.*s", STR_ARG(ret_spec->image.repository),
                         STR_ARG(ret_spec->image.tag)),
        .version = ret_spec->image.tag,
        .pull_policy = field_word_name(&words_of_abi_pull_policy, ret_spec->image.pull_policy),
        .pull_secrets = ret_spec->image.pull_secrets,
        .config = ret_spec->config,
        .env = workload_envs_new(arena, 8),
        .ports = workload_ports_new(arena, 3),
        .service_type =
            field_word_name(&words_of_abi_service_type, ret_spec->networking.service_type),
    };
    read_pods(ret_workload, ret_spec);
    read_env(ret_workload, ret_spec);
    read_ports(arena, ret_workload, ret_spec);
    read_availability(ret_workload, ret_spec);
}

/* --- what its tables cannot say --- */

static void deny(struct problems *problems, const char *field, struct str message,
                 const char *remedy)
{
    problems_add(problems, (struct problem){ .field = str_of(field),
                                             .message = message,
                                             .remedy = str_of(remedy),
                                             .severity = SEVERITY_DENY });
}

static void validate(struct arena *arena, const struct abi_spec *spec, struct problems *problems)
{
    const struct abi_autoscaling *scaling = &spec->autoscaling;
    const struct abi_disruption_budget *budget = &spec->high_availability.budget;

    if (scaling->enabled && scaling->min_replicas > scaling->max_replicas)
        deny(problems, "spec.autoscaling.minReplicas",
             str_fmt(arena, "Invalid value: %lld: it is above maxReplicas, %lld",
                     (long long)scaling->min_replicas, (long long)scaling->max_replicas),
             "lower minReplicas or raise maxReplicas");
    if (budget->min_available.len && budget->max_unavailable.len)
        deny(problems, "spec.highAvailability.podDisruptionBudget",
             STR("Invalid value: minAvailable and maxUnavailable exclude each other"),
             "keep one of them");
}

static void render(struct arena *arena, const struct kind_observation *seen,
                   struct kube_children *desired, struct problems *problems)
{
    struct workload workload;
    struct abi_spec spec;

    read(arena, seen->object, &workload, &spec, problems);
    validate(arena, &spec, problems);
    workload_render(arena, &workload, seen, desired);
}

/* --- status --- */

static struct str health_of(const struct workload_status *status)
{
    if (status->phase == WORKLOAD_RUNNING)
        return STR("Healthy");
    if (status->phase == WORKLOAD_PENDING || status->phase == WORKLOAD_TERMINATING)
        return STR("Unknown");
    return status->ready ? STR("Degraded") : STR("Unhealthy");
}

static void write_endpoints(struct arena *arena, const struct workload *workload,
                            struct str namespace_, struct json_writer *w)
{
    json_put_key(w, STR("endpoints"));
    json_open_object(w);
    for (uint32_t i = 0; i < workload->ports.count; i++) {
        const struct workload_port *port = &workload->ports.items[i];
        bool is_grpc = str_eq(port->name, STR("grpc"));

        json_put_key(w, port->name);
        json_put_str(w,
                     str_fmt(arena, "%s%.*s.%.*s.svc:%lld%s", is_grpc ? "" : "http://",
                             STR_ARG(port->service), STR_ARG(namespace_), (long long)port->number,
                             str_eq(port->name, STR("metrics")) ? "/metrics" : ""));
    }
    json_close_object(w);
}

static void summarize(struct arena *arena, const struct kind_observation *seen,
                      struct json_writer *w, struct kube_conditions *conditions)
{
    struct problems ignored = problems_new(arena);
    struct str version = json_str(json_walk(seen->object, "status", "version", NULL));
    struct workload_status status;
    struct workload workload;
    struct abi_spec spec;
    struct kube_meta meta;

    kube_meta_read(seen->object, &meta);
    read(arena, seen->object, &workload, &spec, &ignored);
    status = workload_summarize(arena, seen, &workload, &phases, w, conditions);
    json_put_key(w, STR("health"));
    json_open_object(w);
    json_field_str(w, "status", health_of(&status));
    if (status.message.len)
        json_field_str(w, "message", status.message);
    json_close_object(w);
    /* The one before runs until all pods are replaced. */
    if (status.phase == WORKLOAD_RUNNING)
        version = workload.version;
    if (version.len)
        json_field_str(w, "version", version);
    write_endpoints(arena, &workload, meta.namespace_, w);
}

const struct kube_kind abi_instance_kind = {
    .resource = KUBE_RESOURCE_INIT("abi.io", "v1", "abiinstances", "AbiInstance", true),
    .children = children,
    .child_count = sizeof(children) / sizeof(children[0]),
    .watched_count = 1,
    .label = LABEL,
    .field_manager = "herd-controller",
    .force = true,
    .render = render,
    .summarize = summarize,
};
