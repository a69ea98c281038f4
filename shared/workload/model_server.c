/* SPDX-License-Identifier: Apache-2.0 */
/* model_server.c: spec, what was decided before and what was measured -> a decision -> a workload.
 */
#include "workload/model_server.h"

#include "base/duration.h"
#include "kube/meta.h"
#include "stack/model/decode.h"
#include "stack/model/default.h"
#include "stack/model/status_rows.h"
#include "text/quantity.h"
#include "workload/gpu_steps.h"
#include "workload/scaling.h"

#define FIELDS_DEF "workload/model_server_fields.def"
#include "stack/model/fields_rows.h"

/* A model of hundreds of gigabytes is downloaded first. */
enum { LOAD_SECONDS = 3600 };

STATUS_TABLE(model_status, char, "What became of it; written by herd-controller only.")
STATUS_UNUSED(model_status, "observedGeneration", COUNT64, NONE,
              "The metadata.generation that this status is about.")
STATUS_UNUSED(model_status, "children", COUNTS, NONE,
              "How many objects are desired, and how many are applied.")
STATUS_UNUSED(model_status, "phase", STRING, NONE,
              "Pending, Creating, Running, Updating, Failed or Terminating.")
STATUS_UNUSED(model_status, "replicas", COUNT64, NONE, "How many pods there are.")
STATUS_UNUSED(model_status, "readyReplicas", COUNT64, NONE, "How many of them are ready.")
STATUS_UNUSED(model_status, "selector", STRING, NONE, "The pods, as a label selector.")
STATUS_UNUSED(model_status, "endpoint", STRING, NONE, "URL of the Service.")
STATUS_UNUSED(model_status, "scaling", STRUCT, FIELDS(scaling),
              "How many replicas there are to be, and why.")
STATUS_UNUSED(model_status, "conditions", CONDITIONS, FIELDS(condition),
              "Ready, Progressing, Accepted and Applied.")
STATUS_END(model_status)

static const struct kube_resource *const children[] = {
    &workload_child_resources[WORKLOAD_STATEFUL_SETS],
    &workload_child_resources[WORKLOAD_SERVICES],
    &workload_child_resources[WORKLOAD_CONFIG_MAPS],
    &workload_child_resources[WORKLOAD_AUTOSCALERS],
    &workload_child_resources[WORKLOAD_SERVICE_MONITORS],
    &workload_child_resources[WORKLOAD_CLAIMS],
    &workload_child_resources[WORKLOAD_PODS],
};

static const struct gpu_type {
    struct str name, resource, label, products;
} gpu_types[] = {
#define GPU_TYPE(name, resource, label, products)                                                  \
    { STR_INIT(name), STR_INIT(resource), STR_INIT(label), STR_INIT(products) },
#include "workload/gpu_types.def"
#undef GPU_TYPE
};

/* Each once. */
static const struct str gpu_resources[] = { STR_INIT("nvidia.com/gpu"), STR_INIT("amd.com/gpu") };
enum { GPU_RESOURCES = sizeof(gpu_resources) / sizeof(gpu_resources[0]) };

/* A type without a row is what the node's label says. */
static struct gpu_type gpu_type_of(struct str name)
{
    for (size_t i = 0; i < sizeof(gpu_types) / sizeof(gpu_types[0]); i++)
        if (str_eq(gpu_types[i].name, name))
            return gpu_types[i];
    return (struct gpu_type){ name, STR("nvidia.com/gpu"), STR("nvidia.com/gpu.product"), name };
}

/* --- the inputs of a decision --- */

static int64_t milli_of(struct str number)
{
    struct quantity quantity = { 0 };
    struct error ignored;

    return quantity_parse(number, &quantity, &ignored) < 0 ? 0 : quantity.milli;
}

static int64_t duration_of(struct str text)
{
    int64_t ms = 0;

    return duration_parse(text, &ms) ? ms : 0;
}

static const struct model_sla_profile *profile_of(const struct model_spec *spec)
{
    for (uint32_t i = 0; i < spec->sla.profiles.count; i++) {
        const struct model_sla_profile *profile = &spec->sla.profiles.items[i];

        if ((!profile->gpu_type.len || str_eq(profile->gpu_type, spec->gpu_type)) &&
            (!profile->tensor_parallel_size ||
             profile->tensor_parallel_size == spec->tensor_parallel_size))
            return profile;
    }
    return NULL;
}

static void declare_rates(const struct model_spec *spec, struct sla_inputs *inputs)
{
    const struct model_sla_profile *profile = profile_of(spec);

    inputs->load.concurrency =
        profile && profile->concurrency ? profile->concurrency : spec->sla.concurrency;
    inputs->load.service_rate = milli_of(profile ? profile->service_rate : spec->sla.service_rate);
    inputs->load.request_rate = inputs->load.min_throughput;
    inputs->request_rate_source = SLA_DECLARED;
    inputs->service_rate_source = inputs->load.service_rate ? SLA_DECLARED : SLA_UNKNOWN;
}

/* As it was measured last: while there are no requests, nobody knows how long they take. */
static void keep_service_rate(const struct sla_inputs *before, struct sla_inputs *inputs)
{
    if (before->service_rate_source != SLA_MEASURED)
        return;
    inputs->load.service_rate = before->load.service_rate;
    inputs->service_rate_source = SLA_MEASURED;
}

/* The load as it was measured last, while nothing is measured. */
static void keep_rates(const struct sla_inputs *before, struct sla_inputs *inputs)
{
    inputs->load.request_rate = before->load.request_rate;
    inputs->unscraped = before->unscraped;
    inputs->request_rate_source = SLA_MEASURED;
    keep_service_rate(before, inputs);
}

static bool is_scraped(struct json measured, struct str pod)
{
    for (struct json_iter it = json_iter(json_get(measured, STR("pods"))); json_next(&it);)
        if (str_eq(json_str(it.value), pod))
            return true;
    return false;
}

/* One that is on no node yet is not said to be unready. */
static bool is_ready(const struct seen_child *pod)
{
    return pod->health.state == OBJECT_CURRENT &&
           str_eq(json_str(json_get(pod->health.status, STR("phase"))), STR("Running"));
}

/* Those that are ready serve requests, whether or not anybody counts them. */
static int64_t unscraped_pods(const struct kind_observation *seen)
{
    int64_t pods = 0;

    for (uint32_t i = 0; i < seen->children->count; i++) {
        const struct seen_child *child = &seen->children->items[i];

        pods += child->resource == &workload_child_resources[WORKLOAD_PODS] && is_ready(child) &&
                !is_scraped(seen->measured, child->name);
    }
    return pods;
}

static void measure_rates(struct json measured, struct sla_inputs *inputs)
{
    int64_t request_rate = 0, service_us = 0;

    json_int64(json_get(measured, STR("requestRate")), &request_rate);
    json_int64(json_get(measured, STR("serviceTime")), &service_us);
    inputs->load.request_rate = request_rate < SLA_RATE_MAX ? request_rate : SLA_RATE_MAX;
    inputs->request_rate_source = SLA_MEASURED;
    if (service_us <= 0)
        return;
    inputs->load.service_rate = inputs->load.concurrency * 1000000000 / service_us;
    if (inputs->load.service_rate > SLA_RATE_MAX)
        inputs->load.service_rate = SLA_RATE_MAX;
    inputs->service_rate_source = inputs->load.service_rate ? SLA_MEASURED : SLA_UNKNOWN;
}

/* A spec that is as it was keeps its decision while nothing is measured; another is decided anew,
 * by the load that was measured last. */
static void add_load(const struct model_spec *spec, const struct kind_observation *seen,
                     const struct scaling *before, int64_t generation, struct sla_inputs *inputs)
{
    struct sla_inputs last = scaling_inputs_of(before);
    bool was_measured = before->replicas >= 0 && last.request_rate_source == SLA_MEASURED;

    declare_rates(spec, inputs);
    if (json_is(json_get(seen->measured, STR("requestRate")), JSON_NUMBER)) {
        measure_rates(seen->measured, inputs);
        inputs->unscraped = unscraped_pods(seen);
        if (was_measured && inputs->service_rate_source != SLA_MEASURED)
            keep_service_rate(&last, inputs);
    } else if (was_measured && json_is(seen->measured, JSON_OBJECT)) {
        keep_rates(&last, inputs);
        inputs->metrics_lost = before->generation == generation;
    }
}

static struct sla_inputs inputs_of(const struct model_spec *spec,
                                   const struct kind_observation *seen,
                                   const struct scaling *before, int64_t generation)
{
    struct sla_inputs inputs = {
        .load = { .max_latency_ms = duration_of(spec->sla.max_latency),
                  .permille = milli_of(spec->sla.percentile) / 100,
                  .min_throughput = milli_of(spec->sla.min_throughput) },
        .has_sla = spec->sla.max_latency.len || spec->sla.min_throughput.len,
        .spec_replicas = spec->replicas,
        .min_replicas = spec->autoscaling.enabled ? spec->autoscaling.min_replicas : 0,
        .max_replicas = spec->autoscaling.enabled ? spec->autoscaling.max_replicas : 0,
        .gpus_per_replica = spec->tensor_parallel_size,
        .gpu_budget = spec->gpu_budget,
        .stabilization_ms = duration_of(spec->sla.stabilization_window),
        .now_ms = seen->now_ms,
        .previous = before->replicas > 0 ? before->replicas : 0,
        .fewer_since_ms = before->fewer_since_ms,
        .fewer = before->fewer > 0 ? before->fewer : 0,
    };

    add_load(spec, seen, before, generation, &inputs);
    return inputs;
}

/* What was decided before stays as it is stored while it says the same: its inputs are those that
 * led to it. Until the first answer of whoever measures nothing is decided anew. */
static struct scaling decide(struct arena *arena, const struct model_spec *spec,
                             const struct kind_observation *seen)
{
    struct scaling before = scaling_read(arena, seen->object);
    struct sla_inputs inputs;
    struct scaling decided;
    int64_t generation = 0;

    json_int64(json_walk(seen->object, "metadata", "generation", NULL), &generation);
    inputs = inputs_of(spec, seen, &before, generation);
    if (inputs.metrics_lost && json_is(seen->measured, JSON_OBJECT) &&
        json_is(json_get(seen->measured, STR("error")), JSON_ABSENT))
        return before;
    decided = scaling_decide(arena, &inputs, generation);
    return before.replicas >= 0 && scaling_equal(&before, &decided) ? before : decided;
}

/* --- the workload --- */

static int64_t amount_of(struct json limits, struct str resource)
{
    struct json amount = json_get(limits, resource);
    int64_t gpus = 0;

    return json_int64(amount, &gpus) ? gpus : milli_of(json_str(amount)) / 1000;
}

/* Of all containers, and of any type: the old pods may have another. */
static int64_t gpus_of(const struct child_health *health)
{
    int64_t gpus = 0;

    for (struct json_iter it = json_iter(health->limits); json_next(&it);)
        for (size_t i = 0; i < GPU_RESOURCES; i++)
            gpus += amount_of(it.value, gpu_resources[i]);
    return gpus;
}

static int64_t ordinal_of(struct str pod)
{
    uint64_t ordinal = 0;
    size_t digits = 0;

    while (digits < pod.len && pod.at[pod.len - digits - 1] >= '0' &&
           pod.at[pod.len - digits - 1] <= '9')
        digits++;
    return str_to_u64(str_slice(pod, pod.len - digits, pod.len), &ordinal) ? (int64_t)ordinal : 0;
}

/* An autoscaler may make as many pods as it is allowed to, at any moment. */
static struct gpu_state state_of(struct arena *arena, const struct kind_observation *seen)
{
    struct gpu_state state = { .replicas = -1, .pods = gpu_pods_new(arena, 8) };

    for (uint32_t i = 0; i < seen->children->count; i++) {
        const struct seen_child *child = &seen->children->items[i];
        int64_t gpus = gpus_of(&child->health);

        if (child->resource == &workload_child_resources[WORKLOAD_PODS]) {
            gpu_pods_push(&state.pods, (struct gpu_pod){ ordinal_of(child->name), gpus });
        } else if (child->resource == &workload_child_resources[WORKLOAD_STATEFUL_SETS]) {
            state.gpus = gpus;
        } else if (child->resource != &workload_child_resources[WORKLOAD_AUTOSCALERS]) {
            continue;
        }
        if (state.replicas < child->health.replicas)
            state.replicas = child->health.replicas;
    }
    return state;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* With an autoscaler the decision is the fewest that it may choose, and the budget the most, which
 * it may take at any moment; it begins with what the author wants. */
static void scale(struct arena *arena, const struct kind_observation *seen,
                  const struct model_spec *spec, const struct scaling *decision,
                  struct workload *workload)
{
    struct gpu_state state = state_of(arena, seen);
    struct gpu_step step = { workload->replicas_max ? workload->replicas_max : decision->replicas,
                             spec->tensor_parallel_size };

    step = gpu_step_next(&state, step, spec->gpu_budget);
    workload->gpus = step.gpus;
    workload->replicas = step.replicas;
    if (!workload->replicas_max)
        return;
    workload->replicas_min = least(decision->replicas, step.replicas);
    workload->replicas_max = step.replicas;
    workload->replicas = least(spec->replicas, step.replicas);
    if (workload->replicas < workload->replicas_min)
        workload->replicas = workload->replicas_min;
}

static void add_args(struct arena *arena, const struct model_spec *spec, struct workload *workload)
{
    if (spec->args.count) {
        workload->args = spec->args;
        return;
    }
    workload->args = str_list_new(arena, 3);
    str_list_push(&workload->args, str_fmt(arena, "--model=%.*s", STR_ARG(spec->model)));
    if (workload->gpus)
        str_list_push(&workload->args,
                      str_fmt(arena, "--tensor-parallel-size=%lld", (long long)workload->gpus));
    str_list_push(&workload->args, str_fmt(arena, "--port=%lld", (long long)spec->port));
}

/* What the author says of a name counts. */
static void put_setting(struct json_writer *w, struct json config, const char *name,
                        struct str value)
{
    if (!value.len || !json_is(json_get(config, str_of(name)), JSON_ABSENT))
        return;
    json_put_key(w, str_of(name));
    json_put_str(w, value);
}

static struct json settings_of(struct arena *arena, const struct model_spec *spec,
                               const struct workload *workload)
{
    struct strbuf text = strbuf_new(arena, 256);
    struct json_writer w = json_writer(&text);
    struct json_iter it = json_iter(spec->config);
    struct error ignored;
    struct json settings = { 0 };

    json_open_object(&w);
    while (json_is(spec->config, JSON_OBJECT) && json_next(&it)) {
        json_put_key(&w, it.key);
        json_put_raw(&w, json_raw(it.value));
    }
    put_setting(&w, spec->config, "MODEL_NAME", spec->model);
    put_setting(&w, spec->config, "GPU_TYPE", spec->gpu_type);
    if (spec->storage.enabled)
        put_setting(&w, spec->config, "HF_HOME", spec->storage.mount_path);
    put_setting(&w, spec->config, "TENSOR_PARALLEL_SIZE",
                str_fmt(arena, "%lld", (long long)workload->gpus));
    json_close_object(&w);
    /* Our own bytes: they read back. */
    json_read(arena, strbuf_str(&text), &json_limits_default, &settings, &ignored);
    return settings;
}

static void add_hardware(struct arena *arena, const struct model_spec *spec,
                         struct workload *workload)
{
    struct gpu_type type = gpu_type_of(spec->gpu_type);
    struct str rest = type.products, product;

    workload->resources = spec->resources;
    workload->gpu_resource = type.resource;
    if (spec->gpu_type.len) {
        workload->gpu_label = type.label;
        workload->gpu_products = str_list_new(arena, 4);
        while (rest.len && str_split(&rest, '|', &product))
            str_list_push(&workload->gpu_products, product);
    }
    if (!spec->storage.enabled)
        return;
    workload->volume_size = spec->storage.size;
    workload->storage_class = spec->storage.storage_class;
    workload->mount_path = spec->storage.mount_path;
}

/* They would escape the budget. */
static void check_resources(const struct model_spec *spec, struct problems *problems)
{
    static const char *const lists[] = { "limits", "requests" };

    for (int list = 0; list < 2; list++)
        for (size_t i = 0; i < GPU_RESOURCES; i++)
            if (!json_is(json_get(json_get(spec->resources, str_of(lists[list])), gpu_resources[i]),
                         JSON_ABSENT))
                workload_deny(problems, list ? "spec.resources.requests" : "spec.resources.limits",
                              STR("Forbidden: the GPUs of a model are those of tensorParallelSize"),
                              "say tensorParallelSize instead");
}

static void validate(struct arena *arena, const struct model_spec *spec, struct problems *problems)
{
    workload_check_autoscaling(arena, &spec->autoscaling, problems);
    if (spec->gpu_budget && spec->gpu_budget < spec->tensor_parallel_size)
        workload_deny(problems, "spec.gpuBudget",
                      str_fmt(arena,
                              "Invalid value: %lld: not even one replica fits, which has %lld GPUs",
                              (long long)spec->gpu_budget, (long long)spec->tensor_parallel_size),
                      "raise gpuBudget or lower tensorParallelSize");
    check_resources(spec, problems);
    if (spec->sla.given &&
        (milli_of(spec->sla.percentile) / 100 > 999 || milli_of(spec->sla.percentile) % 100))
        workload_deny(problems, "spec.sla.percentile",
                      str_fmt(arena,
                              "Invalid value: %.*s: it is counted in tenths, and no queue keeps a "
                              "latency for all requests",
                              STR_ARG(spec->sla.percentile)),
                      "say 95 or 99.9, for example");
}

static void read(const struct workload_kind *kind, struct arena *arena,
                 const struct kind_observation *seen, struct workload *ret_workload,
                 struct problems *problems)
{
    struct model_spec spec = { 0 };
    struct workload workload = workload_begin(kind, arena, seen, &spec, problems);
    struct scaling decision = decide(arena, &spec, seen);

    validate(arena, &spec, problems);
    if (!spec.model.len)
        spec.model = workload.name;
    workload.controller = WORKLOAD_STATEFUL_SETS;
    workload.image = spec.image;
    workload.service_type = STR("ClusterIP");
    workload.health_path = STR("/health");
    workload.startup_seconds = LOAD_SECONDS;
    workload.metrics_port = STR("http");
    workload_add_port(arena, &workload, "http", spec.port);
    workload_set_autoscaling(&workload, &spec.autoscaling);
    workload_add_api_keys(&workload, &spec.secrets);
    add_hardware(arena, &spec, &workload);
    workload.shared_memory = spec.tensor_parallel_size > 1;
    scale(arena, seen, &spec, &decision, &workload);
    add_args(arena, &spec, &workload);
    workload.config = settings_of(arena, &spec, &workload);
    *ret_workload = workload;
}

static void summarize(const struct workload_kind *kind, struct arena *arena,
                      const struct kind_observation *seen, const struct workload *workload,
                      const struct workload_status *status, struct json_writer *w,
                      struct kube_conditions *conditions)
{
    const struct workload_port *port = &workload->ports.items[0];
    struct problems ignored = problems_new(arena);
    struct model_spec spec = { 0 };
    struct scaling scaling;
    struct kube_meta meta;

    (void)status;
    kube_meta_read(seen->object, &meta);
    workload_begin(kind, arena, seen, &spec, &ignored);
    scaling = decide(arena, &spec, seen);
    json_field_str(w, "endpoint",
                   str_fmt(arena, "http://%.*s.%.*s.svc:%lld", STR_ARG(port->service),
                           STR_ARG(meta.namespace_), (long long)port->number));
    scaling_write(arena, &scaling, w);
    scaling_set_conditions(&scaling, conditions, seen->now_ms);
}

#define MODEL_KIND(group, plural, kind_, label_, app_, spec_)                                      \
    {                                                                                              \
        .kind = WORKLOAD_KUBE_KIND(KUBE_RESOURCE_INIT(group, "v1", plural, kind_, true), children, \
                                   1, label_),                                                     \
        .spec = &fields_of_##spec_, .app = app_, .gpus = "tensorParallelSize", .measured = true,   \
        .phases = { {                                                                              \
            [WORKLOAD_PENDING] = STR_INIT("Pending"),                                              \
            [WORKLOAD_CREATING] = STR_INIT("Creating"),                                            \
            [WORKLOAD_RUNNING] = STR_INIT("Running"),                                              \
            [WORKLOAD_UPDATING] = STR_INIT("Updating"),                                            \
            [WORKLOAD_SUCCEEDED] = STR_INIT("Running"),                                            \
            [WORKLOAD_FAILED] = STR_INIT("Failed"),                                                \
            [WORKLOAD_TERMINATING] = STR_INIT("Terminating"),                                      \
        } },                                                                                       \
        .read = read, .summarize = summarize                                                       \
    }

const struct workload_kind model_deployment_kind =
    MODEL_KIND("herd.suse.com", "modeldeployments", "ModelDeployment",
               "herd.suse.com/modeldeployment", "model-deployment", model_spec);
const struct workload_kind llm_model_kind =
    MODEL_KIND("ai.example.com", "llmmodels", "LLMModel", "ai.example.com/llmmodel", "llm-model",
               llm_model_spec);
