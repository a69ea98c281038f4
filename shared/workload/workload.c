/* SPDX-License-Identifier: Apache-2.0 */
/* workload.c: a workload as JSON, object by object.
 *
 * Only fields that have a meaning here are written: by server-side apply the others stay whose they
 * are. A change of the configuration changes an annotation of the pods: they are replaced. */
#include "workload/workload.h"

#include "kube/names.h"
#include "text/digest.h"

#define CONFIG_DIGEST "herd.suse.com/config-digest"

const struct kube_resource workload_child_resources[WORKLOAD_RESOURCES] = {
    [WORKLOAD_DEPLOYMENTS] = KUBE_RESOURCE_INIT("apps", "v1", "deployments", "Deployment", true),
    [WORKLOAD_STATEFUL_SETS] =
        KUBE_RESOURCE_INIT("apps", "v1", "statefulsets", "StatefulSet", true),
    [WORKLOAD_JOBS] = KUBE_RESOURCE_INIT("batch", "v1", "jobs", "Job", true),
    [WORKLOAD_SERVICES] = KUBE_RESOURCE_INIT("", "v1", "services", "Service", true),
    [WORKLOAD_CONFIG_MAPS] = KUBE_RESOURCE_INIT("", "v1", "configmaps", "ConfigMap", true),
    [WORKLOAD_AUTOSCALERS] = KUBE_RESOURCE_INIT("autoscaling", "v2", "horizontalpodautoscalers",
                                                "HorizontalPodAutoscaler", true),
    [WORKLOAD_DISRUPTION_BUDGETS] =
        KUBE_RESOURCE_INIT("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", true),
    [WORKLOAD_SERVICE_MONITORS] = KUBE_RESOURCE_INIT("monitoring.coreos.com", "v1",
                                                     "servicemonitors", "ServiceMonitor", true),
    [WORKLOAD_PODS] = KUBE_RESOURCE_INIT("", "v1", "pods", "Pod", true),
};

struct rendering {
    struct arena *arena;
    const struct workload *workload;
    const struct kind_observation *seen;
    struct kube_children *children;
};

struct draft {
    struct strbuf text;
    struct json_writer w;
};

static void key(struct draft *d, const char *name)
{
    json_put_key(&d->w, str_of(name));
}

static void open(struct draft *d, const char *name)
{
    key(d, name);
    json_open_object(&d->w);
}

static void close(struct draft *d)
{
    json_close_object(&d->w);
}

static void field(struct draft *d, const char *name, struct str text)
{
    key(d, name);
    json_put_str(&d->w, text);
}

static void number(struct draft *d, const char *name, int64_t value)
{
    key(d, name);
    json_put_int(&d->w, value);
}

/* A whole number as one, else text: an IntOrString, or a quantity. */
static void amount(struct draft *d, const char *name, struct str text)
{
    uint64_t ignored;

    key(d, name);
    if (str_to_u64(text, &ignored))
        json_put_raw(&d->w, text);
    else
        json_put_str(&d->w, text);
}

/* --- what all objects have --- */

/* What never changes of a pod: selectors are immutable. */
static void put_selector(struct draft *d, const struct rendering *r)
{
    field(d, "app.kubernetes.io/name", r->workload->app);
    field(d, "app.kubernetes.io/instance", r->workload->label_value);
}

static void put_labels(struct draft *d, const struct rendering *r)
{
    open(d, "labels");
    put_selector(d, r);
    field(d, "app.kubernetes.io/managed-by", STR("Herd"));
    if (r->workload->version.len && !kube_not_label_value(r->workload->version))
        field(d, "app.kubernetes.io/version", r->workload->version);
}

static struct draft *begin(const struct rendering *r)
{
    struct draft *d = arena_new(r->arena, struct draft);

    d->text = strbuf_new(r->arena, 512);
    d->w = json_writer(&d->text);
    json_open_object(&d->w);
    open(d, "metadata");
    put_labels(d, r);
    close(d);
    close(d);
    return d;
}

static void end(const struct rendering *r, struct draft *d, enum workload_resource resource,
                struct str name)
{
    close(d);
    kube_children_push(r->children,
                       (struct kube_child){ .resource = &workload_child_resources[resource],
                                            .name = name,
                                            .object = strbuf_str(&d->text) });
}

/* --- pods --- */

static bool has_config(const struct workload *workload)
{
    struct json_iter it = json_iter(workload->config);

    return json_is(workload->config, JSON_OBJECT) && json_next(&it);
}

static void put_env(struct draft *d, const struct workload *workload)
{
    if (!workload->env.count)
        return;
    key(d, "env");
    json_open_array(&d->w);
    for (uint32_t i = 0; i < workload->env.count; i++) {
        const struct workload_env *env = &workload->env.items[i];

        json_open_object(&d->w);
        field(d, "name", env->name);
        if (env->secret.len) {
            open(d, "valueFrom");
            open(d, "secretKeyRef");
            field(d, "name", env->secret);
            field(d, "key", env->key);
            close(d);
            close(d);
        } else {
            field(d, "value", env->value);
        }
        close(d);
    }
    json_close_array(&d->w);
}

static void put_ports(struct draft *d, const struct workload *workload)
{
    if (!workload->ports.count)
        return;
    key(d, "ports");
    json_open_array(&d->w);
    for (uint32_t i = 0; i < workload->ports.count; i++) {
        json_open_object(&d->w);
        field(d, "name", workload->ports.items[i].name);
        number(d, "containerPort", workload->ports.items[i].number);
        close(d);
    }
    json_close_array(&d->w);
}

static void put_probe(struct draft *d, const char *name, const struct workload *workload,
                      int64_t failures)
{
    open(d, name);
    open(d, "httpGet");
    field(d, "path", workload->health_path);
    field(d, "port", workload->ports.items[0].name);
    close(d);
    number(d, "periodSeconds", 10);
    number(d, "failureThreshold", failures);
    close(d);
}

/* One list of the container's resources: what the author wrote, and the GPUs beside it. */
static void put_resource_list(struct draft *d, const struct workload *workload, const char *name)
{
    struct json list = json_get(workload->resources, str_of(name));
    struct json_iter it = json_iter(list);
    bool is_limits = strcmp(name, "limits") == 0;

    if (!json_is(list, JSON_OBJECT) && !(is_limits && workload->gpus))
        return;
    open(d, name);
    while (json_is(list, JSON_OBJECT) && json_next(&it)) {
        if (workload->gpus && str_eq(it.key, workload->gpu_resource))
            continue;
        json_put_key(&d->w, it.key);
        json_put_raw(&d->w, json_raw(it.value));
    }
    if (is_limits && workload->gpus) {
        json_put_key(&d->w, workload->gpu_resource);
        json_put_str(&d->w, str_fmt(d->text.arena, "%lld", (long long)workload->gpus));
    }
    close(d);
}

static void put_resources(struct draft *d, const struct workload *workload)
{
    if (!json_is(workload->resources, JSON_OBJECT) && !workload->gpus)
        return;
    open(d, "resources");
    put_resource_list(d, workload, "requests");
    put_resource_list(d, workload, "limits");
    close(d);
}

static void put_container(struct draft *d, const struct workload *workload)
{
    json_open_object(&d->w);
    field(d, "name", workload->app);
    field(d, "image", workload->image);
    if (workload->pull_policy.len)
        field(d, "imagePullPolicy", workload->pull_policy);
    put_env(d, workload);
    if (has_config(workload)) {
        key(d, "envFrom");
        json_open_array(&d->w);
        json_open_object(&d->w);
        open(d, "configMapRef");
        field(d, "name", workload->name);
        close(d);
        close(d);
        json_close_array(&d->w);
    }
    put_ports(d, workload);
    put_resources(d, workload);
    if (workload->health_path.len && workload->ports.count) {
        put_probe(d, "startupProbe", workload, 60);
        put_probe(d, "readinessProbe", workload, 3);
        put_probe(d, "livenessProbe", workload, 6);
    }
    if (workload->volume_size.len) {
        key(d, "volumeMounts");
        json_open_array(&d->w);
        json_open_object(&d->w);
        field(d, "name", STR("data"));
        field(d, "mountPath", workload->mount_path);
        close(d);
        json_close_array(&d->w);
    }
    close(d);
}

static void put_term(struct draft *d, const struct rendering *r)
{
    field(d, "topologyKey", STR("kubernetes.io/hostname"));
    open(d, "labelSelector");
    open(d, "matchLabels");
    put_selector(d, r);
    close(d);
    close(d);
}

static void put_affinity(struct draft *d, const struct rendering *r)
{
    if (r->workload->anti_affinity == ANTI_AFFINITY_NONE)
        return;
    open(d, "affinity");
    open(d, "podAntiAffinity");
    key(d, r->workload->anti_affinity == ANTI_AFFINITY_HARD
               ? "requiredDuringSchedulingIgnoredDuringExecution"
               : "preferredDuringSchedulingIgnoredDuringExecution");
    json_open_array(&d->w);
    json_open_object(&d->w);
    if (r->workload->anti_affinity == ANTI_AFFINITY_SOFT) {
        number(d, "weight", 100);
        open(d, "podAffinityTerm");
        put_term(d, r);
        close(d);
    } else {
        put_term(d, r);
    }
    close(d);
    json_close_array(&d->w);
    close(d);
    close(d);
}

static void put_pod_spec(struct draft *d, const struct rendering *r)
{
    const struct workload *workload = r->workload;

    open(d, "spec");
    if (workload->controller == WORKLOAD_JOBS)
        field(d, "restartPolicy", STR("OnFailure"));
    if (json_is(workload->node_selector, JSON_OBJECT)) {
        key(d, "nodeSelector");
        json_put_raw(&d->w, json_raw(workload->node_selector));
    }
    if (workload->pull_secrets.count) {
        key(d, "imagePullSecrets");
        json_open_array(&d->w);
        for (uint32_t i = 0; i < workload->pull_secrets.count; i++) {
            json_open_object(&d->w);
            field(d, "name", workload->pull_secrets.items[i]);
            close(d);
        }
        json_close_array(&d->w);
    }
    put_affinity(d, r);
    key(d, "containers");
    json_open_array(&d->w);
    put_container(d, workload);
    json_close_array(&d->w);
    close(d);
}

static void put_template(struct draft *d, const struct rendering *r)
{
    const struct workload *workload = r->workload;

    open(d, "template");
    open(d, "metadata");
    put_labels(d, r);
    json_put_key(&d->w, workload->label);
    json_put_str(&d->w, workload->label_value);
    close(d);
    if (has_config(workload)) {
        open(d, "annotations");
        field(d, CONFIG_DIGEST, digest_sha256_hex(r->arena, json_raw(workload->config)));
        close(d);
    }
    close(d);
    put_pod_spec(d, r);
    close(d);
}

/* --- the controller of the pods --- */

/* How many an autoscaler wants now; else how many the author does. */
static int64_t replicas_of(const struct rendering *r)
{
    const struct workload *workload = r->workload;
    int64_t wanted =
        workload->replicas < workload->replicas_min ? workload->replicas_min : workload->replicas;

    if (!workload->replicas_max)
        return workload->replicas;
    for (uint32_t i = 0; i < r->seen->children->count; i++) {
        const struct seen_child *child = &r->seen->children->items[i];

        if (str_eq(child->resource->plural,
                   workload_child_resources[workload->controller].plural) &&
            child->health.replicas >= 0)
            return child->health.replicas;
    }
    return wanted > workload->replicas_max ? workload->replicas_max : wanted;
}

static void put_match(struct draft *d, const struct rendering *r)
{
    open(d, "selector");
    open(d, "matchLabels");
    put_selector(d, r);
    close(d);
    close(d);
}

static void put_volume_template(struct draft *d, const struct workload *workload)
{
    key(d, "volumeClaimTemplates");
    json_open_array(&d->w);
    json_open_object(&d->w);
    open(d, "metadata");
    field(d, "name", STR("data"));
    close(d);
    open(d, "spec");
    key(d, "accessModes");
    json_put_raw(&d->w, STR("[\"ReadWriteOnce\"]"));
    if (workload->storage_class.len)
        field(d, "storageClassName", workload->storage_class);
    open(d, "resources");
    open(d, "requests");
    field(d, "storage", workload->volume_size);
    close(d);
    close(d);
    close(d);
    close(d);
    json_close_array(&d->w);
}

static void render_deployment(const struct rendering *r)
{
    struct draft *d = begin(r);

    open(d, "spec");
    number(d, "replicas", replicas_of(r));
    put_match(d, r);
    open(d, "strategy");
    field(d, "type", r->workload->recreate ? STR("Recreate") : STR("RollingUpdate"));
    close(d);
    put_template(d, r);
    close(d);
    end(r, d, WORKLOAD_DEPLOYMENTS, r->workload->name);
}

static void render_stateful_set(const struct rendering *r)
{
    struct draft *d = begin(r);

    open(d, "spec");
    number(d, "replicas", replicas_of(r));
    put_match(d, r);
    field(d, "serviceName",
          r->workload->ports.count ? r->workload->ports.items[0].service : r->workload->name);
    field(d, "podManagementPolicy", STR("Parallel"));
    put_template(d, r);
    if (r->workload->volume_size.len) {
        put_volume_template(d, r->workload);
        open(d, "persistentVolumeClaimRetentionPolicy");
        field(d, "whenDeleted", STR("Delete"));
        field(d, "whenScaled", STR("Retain"));
        close(d);
    }
    close(d);
    end(r, d, WORKLOAD_STATEFUL_SETS, r->workload->name);
}

/* A Job's pods and completions are immutable: another image, configuration or number is another
 * Job, and the old one is pruned. */
static void render_job(const struct rendering *r)
{
    struct draft *d = begin(r);
    struct draft pods = { .text = strbuf_new(r->arena, 512) };
    struct str digest;

    pods.w = json_writer(&pods.text);
    json_open_object(&pods.w);
    put_template(&pods, r);
    number(&pods, "completions", r->workload->replicas);
    close(&pods);
    digest = digest_sha256_hex(r->arena, strbuf_str(&pods.text));
    open(d, "spec");
    number(d, "completions", r->workload->replicas);
    number(d, "parallelism", r->workload->replicas);
    put_template(d, r);
    close(d);
    end(r, d, WORKLOAD_JOBS,
        str_fmt(r->arena, "%.*s-%.*s", STR_ARG(r->workload->name),
                STR_ARG(str_slice(digest, 0, 8))));
}

/* --- what goes with it --- */

static void render_config_map(const struct rendering *r)
{
    struct draft *d;

    if (!has_config(r->workload))
        return;
    d = begin(r);
    key(d, "data");
    json_put_raw(&d->w, json_raw(r->workload->config));
    end(r, d, WORKLOAD_CONFIG_MAPS, r->workload->name);
}

static void render_services(const struct rendering *r)
{
    for (uint32_t i = 0; i < r->workload->ports.count; i++) {
        const struct workload_port *port = &r->workload->ports.items[i];
        struct draft *d;

        if (!port->service.len)
            continue;
        d = begin(r);
        open(d, "spec");
        field(d, "type", r->workload->service_type);
        open(d, "selector");
        put_selector(d, r);
        close(d);
        key(d, "ports");
        json_open_array(&d->w);
        json_open_object(&d->w);
        field(d, "name", port->name);
        number(d, "port", port->number);
        field(d, "targetPort", port->name);
        close(d);
        json_close_array(&d->w);
        close(d);
        end(r, d, WORKLOAD_SERVICES, port->service);
    }
}

static void put_utilization(struct draft *d, const char *resource, int64_t percent)
{
    if (!percent)
        return;
    json_open_object(&d->w);
    field(d, "type", STR("Resource"));
    open(d, "resource");
    field(d, "name", str_of(resource));
    open(d, "target");
    field(d, "type", STR("Utilization"));
    number(d, "averageUtilization", percent);
    close(d);
    close(d);
    close(d);
}

static void render_autoscaler(const struct rendering *r)
{
    const struct workload *workload = r->workload;
    struct draft *d;

    if (!workload->replicas_max)
        return;
    d = begin(r);
    open(d, "spec");
    open(d, "scaleTargetRef");
    field(d, "apiVersion", STR("apps/v1"));
    field(d, "kind", workload_child_resources[workload->controller].kind);
    field(d, "name", workload->name);
    close(d);
    number(d, "minReplicas", workload->replicas_min);
    number(d, "maxReplicas", workload->replicas_max);
    key(d, "metrics");
    json_open_array(&d->w);
    put_utilization(d, "cpu", workload->target_cpu);
    put_utilization(d, "memory", workload->target_memory);
    json_close_array(&d->w);
    close(d);
    end(r, d, WORKLOAD_AUTOSCALERS, workload->name);
}

static void render_disruption_budget(const struct rendering *r)
{
    const struct workload *workload = r->workload;
    struct draft *d;

    if (!workload->min_available.len && !workload->max_unavailable.len)
        return;
    d = begin(r);
    open(d, "spec");
    put_match(d, r);
    if (workload->min_available.len)
        amount(d, "minAvailable", workload->min_available);
    else
        amount(d, "maxUnavailable", workload->max_unavailable);
    close(d);
    end(r, d, WORKLOAD_DISRUPTION_BUDGETS, workload->name);
}

static void render_service_monitor(const struct rendering *r)
{
    struct draft *d;

    if (!r->workload->metrics_port.len)
        return;
    d = begin(r);
    open(d, "spec");
    put_match(d, r);
    key(d, "endpoints");
    json_open_array(&d->w);
    json_open_object(&d->w);
    field(d, "port", r->workload->metrics_port);
    close(d);
    json_close_array(&d->w);
    close(d);
    end(r, d, WORKLOAD_SERVICE_MONITORS, r->workload->name);
}

void workload_render(struct arena *arena, const struct workload *workload,
                     const struct kind_observation *seen, struct kube_children *children)
{
    const struct rendering r = { arena, workload, seen, children };

    render_config_map(&r);
    render_services(&r);
    if (workload->controller == WORKLOAD_JOBS)
        render_job(&r);
    else if (workload->controller == WORKLOAD_STATEFUL_SETS)
        render_stateful_set(&r);
    else
        render_deployment(&r);
    render_autoscaler(&r);
    render_disruption_budget(&r);
    render_service_monitor(&r);
}

struct str workload_selector(struct arena *arena, const struct workload *workload)
{
    return str_fmt(arena, "app.kubernetes.io/instance=%.*s,app.kubernetes.io/name=%.*s",
                   STR_ARG(workload->label_value), STR_ARG(workload->app));
}

void workload_check_name(struct arena *arena, struct str name, struct problems *problems)
{
    bool begins_well = name.len && name.at[0] >= 'a' && name.at[0] <= 'z';

    if (name.len <= WORKLOAD_NAME_MAX && begins_well && !kube_not_dns1123_label(name))
        return;
    problems_add(
        problems,
        (struct problem){
            .field = STR("metadata.name"),
            .message =
                str_fmt(arena, "Invalid value: \"%.*s\": Services and pods are named after it",
                        STR_ARG(name)),
            .remedy = str_fmt(arena,
                              "choose at most %d lower-case letters, digits and '-', the first a "
                              "letter, the last no '-'",
                              WORKLOAD_NAME_MAX),
            .severity = SEVERITY_DENY });
}
