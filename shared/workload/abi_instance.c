/* SPDX-License-Identifier: Apache-2.0 */
/* abi_instance.c: the spec as a workload, and what its status says beside that of all workloads. */
#include "workload/abi_instance.h"

#include "kube/meta.h"
#include "stack/model/status_rows.h"

#define FIELDS_DEF "workload/abi_instance_fields.def"
#include "stack/model/fields_rows.h"

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

static const struct kube_resource *const children[] = {
    &workload_child_resources[WORKLOAD_DEPLOYMENTS],
    &workload_child_resources[WORKLOAD_STATEFUL_SETS],
    &workload_child_resources[WORKLOAD_SERVICES],
    &workload_child_resources[WORKLOAD_CONFIG_MAPS],
    &workload_child_resources[WORKLOAD_AUTOSCALERS],
    &workload_child_resources[WORKLOAD_DISRUPTION_BUDGETS],
    &workload_child_resources[WORKLOAD_SERVICE_MONITORS],
    &workload_child_resources[WORKLOAD_CLAIMS],
    &workload_child_resources[WORKLOAD_PODS],
};

/* --- the spec as a workload --- */

static void add_flag(struct workload *workload, const char *name, bool on)
{
    workload_add_env(workload, name, on ? STR("true") : STR("false"));
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
        workload_add_env(workload, "ABI_GPU_BACKEND",
                         field_word_name(&words_of_abi_gpu_backend, spec->gpu.backend));
        workload_add_env(workload, "ABI_GPU_MEMORY", spec->gpu.memory);
    }
    if (features->ai) {
        workload_add_env(workload, "ABI_LLM_PROVIDER", spec->llm.provider);
        workload_add_env(workload, "ABI_LLM_MODEL", spec->llm.model);
        workload_add_env(workload, "ABI_LLM_ENDPOINT", spec->llm.endpoint);
    }
    workload_add_api_keys(workload, &spec->secrets);
}

static void read_ports(struct arena *arena, struct workload *workload, const struct abi_spec *spec)
{
    if (spec->features.web)
        workload_add_port(arena, workload, "http", spec->networking.http_port);
    if (spec->features.network)
        workload_add_port(arena, workload, "grpc", spec->networking.grpc_port);
    workload_add_port(arena, workload, "metrics", spec->networking.metrics_port);
    workload->metrics_port = STR("metrics");
    if (spec->features.web)
        workload->health_path = STR("/health");
}

static void read_availability(struct workload *workload, const struct abi_spec *spec)
{
    const struct abi_high_availability *wanted = &spec->high_availability;

    workload_set_autoscaling(workload, &spec->autoscaling);
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

/* --- what its tables cannot say --- */

static void deny_repeated(struct arena *arena, struct str field, struct str value,
                          const char *remedy, struct problems *problems)
{
    workload_deny(problems, str_z(arena, field),
                  str_fmt(arena, "Duplicate value: %.*s", STR_ARG(value)), remedy);
}

/* Of those that its features leave. */
static void check_ports(struct arena *arena, const struct workload_ports *ports,
                        struct problems *problems)
{
    for (uint32_t i = 1; i < ports->count; i++)
        for (uint32_t k = 0; k < i; k++)
            if (ports->items[i].number == ports->items[k].number) {
                deny_repeated(
                    arena,
                    str_fmt(arena, "spec.networking.%.*sPort", STR_ARG(ports->items[i].name)),
                    str_fmt(arena, "%lld: %.*sPort is the same", (long long)ports->items[i].number,
                            STR_ARG(ports->items[k].name)),
                    "give each port a number of its own", problems);
                break;
            }
}

static void check_pull_secrets(struct arena *arena, const struct str_list *names,
                               struct problems *problems)
{
    for (uint32_t i = 1; i < names->count; i++)
        if (str_list_has(&(struct str_list){ .items = names->items, .count = i }, names->items[i]))
            deny_repeated(arena, str_fmt(arena, "spec.image.pullSecrets[%u]", i),
                          str_fmt(arena, "\"%.*s\"", STR_ARG(names->items[i])),
                          "remove one of the two", problems);
}

static void validate(struct arena *arena, const struct abi_spec *spec, struct problems *problems)
{
    const struct abi_disruption_budget *budget = &spec->high_availability.budget;

    workload_check_autoscaling(arena, &spec->autoscaling, problems);
    check_pull_secrets(arena, &spec->image.pull_secrets, problems);
    if (budget->min_available.len && budget->max_unavailable.len)
        workload_deny(problems, "spec.highAvailability.podDisruptionBudget",
                      STR("Invalid value: minAvailable and maxUnavailable exclude each other"),
                      "keep one of them");
}

/* --- all of it --- */

static void read(const struct workload_kind *kind, struct arena *arena,
                 const struct kind_observation *seen, struct workload *ret_workload,
                 struct problems *problems)
{
    struct abi_spec spec = { 0 };
    struct workload workload = workload_begin(kind, arena, seen, &spec, problems);

    validate(arena, &spec, problems);
    workload.replicas = spec.replicas;
    workload.image =
        str_fmt(arena, "%.*s:%.*s", STR_ARG(spec.image.repository), STR_ARG(spec.image.tag));
    workload.version = spec.image.tag;
    workload.pull_policy = field_word_name(&words_of_abi_pull_policy, spec.image.pull_policy);
    workload.pull_secrets = spec.image.pull_secrets;
    workload.config = spec.config;
    workload.service_type =
        field_word_name(&words_of_abi_service_type, spec.networking.service_type);
    read_pods(&workload, &spec);
    read_env(&workload, &spec);
    read_ports(arena, &workload, &spec);
    check_ports(arena, &workload.ports, problems);
    read_availability(&workload, &spec);
    *ret_workload = workload;
}

/* --- status --- */

static struct str health_of(const struct workload_status *status)
{
    if (status->phase == WORKLOAD_RUNNING && !status->message.len)
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

static void summarize(const struct workload_kind *kind, struct arena *arena,
                      const struct kind_observation *seen, const struct workload *workload,
                      const struct workload_status *status, struct json_writer *w,
                      struct kube_conditions *conditions)
{
    struct str version = json_str(json_walk(seen->object, "status", "version", NULL));
    struct kube_meta meta;

    (void)kind;
    (void)conditions;
    kube_meta_read(seen->object, &meta);
    json_put_key(w, STR("health"));
    json_open_object(w);
    json_field_str(w, "status", health_of(status));
    if (status->message.len)
        json_field_str(w, "message", status->message);
    json_close_object(w);
    /* The one before runs until all pods are replaced. */
    if (status->phase == WORKLOAD_RUNNING && !status->message.len)
        version = workload->version;
    if (version.len)
        json_field_str(w, "version", version);
    write_endpoints(arena, workload, meta.namespace_, w);
}

const struct workload_kind abi_instance_kind = {
    .kind =
        WORKLOAD_KUBE_KIND(KUBE_RESOURCE_INIT("abi.io", "v1", "abiinstances", "AbiInstance", true),
                           children, 1, "abi.io/instance"),
    .spec = &fields_of_abi_spec,
    .app = "abi",
    .phases = { {
        [WORKLOAD_PENDING] = STR_INIT("Pending"),
        [WORKLOAD_CREATING] = STR_INIT("Creating"),
        [WORKLOAD_RUNNING] = STR_INIT("Running"),
        [WORKLOAD_UPDATING] = STR_INIT("Updating"),
        [WORKLOAD_SUCCEEDED] = STR_INIT("Running"),
        [WORKLOAD_FAILED] = STR_INIT("Failed"),
        [WORKLOAD_TERMINATING] = STR_INIT("Terminating"),
    } },
    .read = read,
    .summarize = summarize,
};
