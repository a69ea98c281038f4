/* SPDX-License-Identifier: Apache-2.0 */
/* workload.c: a workload as JSON, object by object.
 *
 * Only fields that have a meaning here are written: by server-side apply the others stay whose they
 * are. */
#include "workload/draft.h"

#include "kube/names.h"
#include "stack/model/rules.h"
#include "text/digest.h"
#include "text/quantity.h"

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
    [WORKLOAD_CLAIMS] =
        KUBE_RESOURCE_INIT("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", true),
    [WORKLOAD_PODS] = KUBE_RESOURCE_INIT("", "v1", "pods", "Pod", true),
};

/* A whole number as one, else text: an IntOrString, or a quantity. */
static void amount(struct draft *d, const char *name, struct str text)
{
    uint64_t number;

    if (str_to_u64(text, &number))
        draft_number(d, name, (int64_t)number);
    else
        draft_field(d, name, text);
}

/* --- an object --- */

static struct draft *begin(const struct rendering *r)
{
    struct draft *d = arena_new(r->arena, struct draft);

    d->text = strbuf_new(r->arena, 512);
    d->w = json_writer(&d->text);
    json_open_object(&d->w);
    draft_open(d, "metadata");
    draft_labels(d, r);
    draft_close(d);
    draft_close(d);
    return d;
}

static void end(const struct rendering *r, struct draft *d, enum workload_resource resource,
                struct str name)
{
    draft_close(d);
    kube_children_push(r->children,
                       (struct kube_child){ .resource = &workload_child_resources[resource],
                                            .name = name,
                                            .object = strbuf_str(&d->text) });
}

/* --- the controller of the pods --- */

/* As it is now; NULL: there is none yet. */
static const struct child_health *live_controller(const struct rendering *r)
{
    for (uint32_t i = 0; i < r->seen->children->count; i++) {
        const struct seen_child *child = &r->seen->children->items[i];

        if (child->resource == &workload_child_resources[r->workload->controller])
            return &child->health;
    }
    return NULL;
}

static int64_t within(int64_t number, int64_t low, int64_t high)
{
    if (number > high)
        return high;
    return number < low ? low : number;
}

/* An autoscaler sets them: it begins with what the author wants, and leaves alone what has none.
 * What is above its bounds is not left to it: pods would get more GPUs before others go. */
static bool replicas_are_left_out(const struct rendering *r)
{
    const struct child_health *live = live_controller(r);

    return live && live->replicas > 0 && live->replicas <= r->workload->replicas_max;
}

static void put_replicas(struct draft *d, const struct rendering *r)
{
    const struct workload *workload = r->workload;
    const struct child_health *live = live_controller(r);
    int64_t replicas = live && live->replicas >= 0 ? live->replicas : workload->replicas;

    if (!workload->replicas_max)
        draft_number(d, "replicas", workload->replicas);
    else if (!replicas_are_left_out(r))
        draft_number(d, "replicas",
                     within(replicas, workload->replicas_min, workload->replicas_max));
}

/* As end(), of what has replicas: they would be 1 if nobody owned them. */
static void end_controller(const struct rendering *r, struct draft *d)
{
    const struct child_health *live = live_controller(r);

    end(r, d, r->workload->controller, r->workload->name);
    if (replicas_are_left_out(r) && !live->replicas_manager.len)
        r->children->items[r->children->count - 1].handover =
            str_fmt(r->arena, "{\"spec\":{\"replicas\":%lld}}", (long long)live->replicas);
}

static void put_match(struct draft *d, const struct rendering *r)
{
    draft_open(d, "selector");
    draft_open(d, "matchLabels");
    draft_selector(d, r);
    draft_close(d);
    draft_close(d);
}

/* The size and class of the claim template, which is immutable: those that the StatefulSet was made
 * with, whatever the spec says or leaves out since then. workload_check_volumes denies the rest. */
static struct child_health claim_template(const struct rendering *r)
{
    const struct child_health *live = live_controller(r);

    if (live && live->storage.len)
        return *live;
    return (struct child_health){ .storage = r->workload->volume_size,
                                  .storage_class = r->workload->storage_class };
}

static void put_volume_template(struct draft *d, const struct rendering *r)
{
    const struct workload *workload = r->workload;
    const struct child_health made = claim_template(r);

    draft_key(d, "volumeClaimTemplates");
    json_open_array(&d->w);
    json_open_object(&d->w);
    draft_open(d, "metadata");
    draft_field(d, "name", STR("data"));
    draft_open(d, "labels");
    draft_selector(d, r);
    json_put_key(&d->w, workload->label);
    json_put_str(&d->w, workload->label_value);
    draft_close(d);
    draft_close(d);
    draft_open(d, "spec");
    draft_key(d, "accessModes");
    json_put_raw(&d->w, STR("[\"ReadWriteOnce\"]"));
    if (made.storage_class.len)
        draft_field(d, "storageClassName", made.storage_class);
    draft_open(d, "resources");
    draft_open(d, "requests");
    draft_field(d, "storage", made.storage);
    draft_close(d);
    draft_close(d);
    draft_close(d);
    draft_close(d);
    json_close_array(&d->w);
}

/* Kubernetes' own bounds of a rolling update, which are not allowed beside Recreate, and stay where
 * nobody who applies them leaves them out (apps/validation.go, ValidateDeploymentStrategy). */
static void put_strategy(struct draft *d, const struct workload *workload)
{
    draft_open(d, "strategy");
    draft_field(d, "type", workload->recreate ? STR("Recreate") : STR("RollingUpdate"));
    if (workload->recreatable && !workload->recreate) {
        draft_open(d, "rollingUpdate");
        draft_field(d, "maxSurge", STR("25%"));
        draft_field(d, "maxUnavailable", STR("25%"));
        draft_close(d);
    }
    draft_close(d);
}

static void render_deployment(const struct rendering *r)
{
    struct draft *d = begin(r);

    draft_open(d, "spec");
    put_replicas(d, r);
    put_match(d, r);
    put_strategy(d, r->workload);
    draft_pod_template(d, r);
    draft_close(d);
    end_controller(r, d);
}

/* It is immutable: the last one is there whatever features are on. */
static struct str last_service(const struct rendering *r)
{
    const struct workload_ports *ports = &r->workload->ports;

    return ports->count ? ports->items[ports->count - 1].service : r->workload->name;
}

static void render_stateful_set(const struct rendering *r)
{
    struct draft *d = begin(r);

    draft_open(d, "spec");
    put_replicas(d, r);
    put_match(d, r);
    draft_field(d, "serviceName", last_service(r));
    draft_field(d, "podManagementPolicy", STR("Parallel"));
    draft_pod_template(d, r);
    if (r->workload->volume_size.len) {
        put_volume_template(d, r);
        draft_open(d, "persistentVolumeClaimRetentionPolicy");
        draft_field(d, "whenDeleted", STR("Delete"));
        draft_field(d, "whenScaled", STR("Retain"));
        draft_close(d);
    }
    draft_close(d);
    end_controller(r, d);
}

/* A Job's pods and completions are immutable: another image, configuration or number is another
 * Job, and the old one is pruned. Nothing else makes one that is complete run again. */
struct str workload_controller_name(struct arena *arena, const struct workload *workload)
{
    struct str config = workload_has_config(workload) ? json_raw(workload->config) : STR("");
    struct str inputs = str_fmt(arena, "%.*s\n%lld\n%.*s", STR_ARG(workload->image),
                                (long long)workload->replicas, STR_ARG(config));

    if (workload->controller != WORKLOAD_JOBS)
        return workload->name;
    return str_fmt(arena, "%.*s-%.*s", STR_ARG(workload->name),
                   STR_ARG(str_slice(digest_sha256_hex(arena, inputs), 0, 8)));
}

static void render_job(const struct rendering *r)
{
    struct draft *d = begin(r);

    draft_open(d, "spec");
    draft_number(d, "completions", r->workload->replicas);
    draft_number(d, "parallelism", r->workload->replicas);
    draft_pod_template(d, r);
    draft_close(d);
    end(r, d, WORKLOAD_JOBS, workload_controller_name(r->arena, r->workload));
}

/* --- what goes with it --- */

/* Before the pods, which have all of it in their environment. */
static void render_config_map(const struct rendering *r)
{
    struct draft *d;

    if (!workload_has_config(r->workload))
        return;
    d = begin(r);
    draft_key(d, "data");
    json_put_raw(&d->w, json_raw(r->workload->config));
    end(r, d, WORKLOAD_CONFIG_MAPS, r->workload->name);
    r->children->items[r->children->count - 1].needed = true;
}

static int64_t bytes_of(struct str storage)
{
    struct quantity quantity = { 0 };
    struct error ignored;

    return quantity_parse(storage, &quantity, &ignored) < 0 ? 0 : quantity.milli;
}

/* Claims that are smaller than wanted grow, where their StorageClass lets them. */
static void render_claims(const struct rendering *r)
{
    for (uint32_t i = 0; i < r->seen->children->count; i++) {
        const struct seen_child *child = &r->seen->children->items[i];

        if (child->resource != &workload_child_resources[WORKLOAD_CLAIMS] ||
            bytes_of(child->health.storage) >= bytes_of(r->workload->volume_size))
            continue;
        kube_children_push(
            r->children,
            (struct kube_child){
                .resource = child->resource,
                .name = child->name,
                .partial = true,
                .object = str_fmt(
                    r->arena, "{\"spec\":{\"resources\":{\"requests\":{\"storage\":\"%.*s\"}}}}",
                    STR_ARG(r->workload->volume_size)),
            });
    }
}

static void render_services(const struct rendering *r)
{
    for (uint32_t i = 0; i < r->workload->ports.count; i++) {
        const struct workload_port *port = &r->workload->ports.items[i];
        struct draft *d;

        if (!port->service.len)
            continue;
        d = begin(r);
        draft_open(d, "spec");
        draft_field(d, "type", r->workload->service_type);
        draft_open(d, "selector");
        draft_selector(d, r);
        draft_close(d);
        draft_key(d, "ports");
        json_open_array(&d->w);
        json_open_object(&d->w);
        draft_field(d, "name", port->name);
        draft_number(d, "port", port->number);
        draft_field(d, "targetPort", port->name);
        draft_close(d);
        json_close_array(&d->w);
        draft_close(d);
        end(r, d, WORKLOAD_SERVICES, port->service);
    }
}

static void put_utilization(struct draft *d, const char *resource, int64_t percent)
{
    if (!percent)
        return;
    json_open_object(&d->w);
    draft_field(d, "type", STR("Resource"));
    draft_open(d, "resource");
    draft_field(d, "name", str_of(resource));
    draft_open(d, "target");
    draft_field(d, "type", STR("Utilization"));
    draft_number(d, "averageUtilization", percent);
    draft_close(d);
    draft_close(d);
    draft_close(d);
}

static void render_autoscaler(const struct rendering *r)
{
    const struct workload *workload = r->workload;
    struct draft *d;

    if (!workload->replicas_max)
        return;
    d = begin(r);
    draft_open(d, "spec");
    draft_open(d, "scaleTargetRef");
    draft_field(d, "apiVersion", STR("apps/v1"));
    draft_field(d, "kind", workload_child_resources[workload->controller].kind);
    draft_field(d, "name", workload->name);
    draft_close(d);
    draft_number(d, "minReplicas", workload->replicas_min);
    draft_number(d, "maxReplicas", workload->replicas_max);
    draft_key(d, "metrics");
    json_open_array(&d->w);
    put_utilization(d, "cpu", workload->target_cpu);
    put_utilization(d, "memory", workload->target_memory);
    json_close_array(&d->w);
    draft_close(d);
    end(r, d, WORKLOAD_AUTOSCALERS, workload->name);
}

static void render_disruption_budget(const struct rendering *r)
{
    const struct workload *workload = r->workload;
    struct draft *d;

    if (!workload->min_available.len && !workload->max_unavailable.len)
        return;
    d = begin(r);
    draft_open(d, "spec");
    put_match(d, r);
    if (workload->min_available.len)
        amount(d, "minAvailable", workload->min_available);
    else
        amount(d, "maxUnavailable", workload->max_unavailable);
    draft_close(d);
    end(r, d, WORKLOAD_DISRUPTION_BUDGETS, workload->name);
}

static void render_service_monitor(const struct rendering *r)
{
    struct draft *d;

    if (!r->workload->metrics_port.len)
        return;
    d = begin(r);
    draft_open(d, "spec");
    put_match(d, r);
    draft_key(d, "endpoints");
    json_open_array(&d->w);
    json_open_object(&d->w);
    draft_field(d, "port", r->workload->metrics_port);
    draft_close(d);
    json_close_array(&d->w);
    draft_close(d);
    end(r, d, WORKLOAD_SERVICE_MONITORS, r->workload->name);
}

void workload_render(struct arena *arena, const struct workload *workload,
                     const struct kind_observation *seen, struct kube_children *children)
{
    const struct rendering r = { arena, workload, seen, children };

    render_config_map(&r);
    render_claims(&r);
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

void workload_deny(struct problems *problems, const char *field, struct str message,
                   const char *remedy)
{
    problems_add(problems, (struct problem){ .field = str_of(field),
                                             .message = message,
                                             .remedy = str_of(remedy),
                                             .severity = SEVERITY_DENY });
}

static void check_claim(struct arena *arena, const struct workload *workload,
                        const struct seen_child *claim, struct problems *problems)
{
    if (!workload->volume_size.len)
        workload_deny(problems, "spec.storage.enabled",
                      str_fmt(arena,
                              "Invalid value: false: the volume %.*s would be deleted with what is "
                              "in it",
                              STR_ARG(claim->name)),
                      "leave it enabled; or delete the object, and create it without storage");
    else if (bytes_of(workload->volume_size) > 0 &&
             bytes_of(claim->health.storage) > bytes_of(workload->volume_size))
        workload_deny(problems, "spec.storage.size",
                      str_fmt(arena,
                              "Invalid value: \"%.*s\": the volume %.*s has %.*s, and volumes do "
                              "not shrink",
                              STR_ARG(workload->volume_size), STR_ARG(claim->name),
                              STR_ARG(claim->health.storage)),
                      "say at least as much as it has");
}

/* The templates of its claims are immutable (apps/v1 StatefulSetSpec). */
static void check_templates(struct arena *arena, const struct workload *workload,
                            const struct seen_child *set, struct problems *problems)
{
    bool has_volumes = set->health.storage.len > 0, wants_volumes = workload->volume_size.len > 0;

    if (has_volumes != wants_volumes)
        workload_deny(
            problems, "spec.storage.enabled",
            str_fmt(arena,
                    "Invalid value: %s: the StatefulSet %.*s was made %s volumes, and that "
                    "cannot be changed",
                    wants_volumes ? "true" : "false", STR_ARG(set->name),
                    has_volumes ? "with" : "without"),
            "delete the StatefulSet, and it is made again as the spec says; or put back "
            "what the spec said");
    else if (workload->storage_class.len &&
             !str_eq(set->health.storage_class, workload->storage_class))
        workload_deny(
            problems, "spec.storage.storageClass",
            str_fmt(arena,
                    "Invalid value: \"%.*s\": the volumes of StatefulSet %.*s have %s%.*s, "
                    "and that cannot be changed",
                    STR_ARG(workload->storage_class), STR_ARG(set->name),
                    set->health.storage_class.len ? "the class " : "the default class",
                    STR_ARG(set->health.storage_class)),
            "put back what the spec said; or delete the object with what is in its "
            "volumes, and create it again");
}

void workload_check_volumes(struct arena *arena, const struct workload *workload,
                            const struct kind_observation *seen, struct problems *problems)
{
    uint32_t found = problems->list.count;

    for (uint32_t i = 0; i < seen->children->count && problems->list.count == found; i++)
        if (seen->children->items[i].resource == &workload_child_resources[WORKLOAD_CLAIMS])
            check_claim(arena, workload, &seen->children->items[i], problems);
    for (uint32_t i = 0; i < seen->children->count && problems->list.count == found; i++)
        if (workload->controller == WORKLOAD_STATEFUL_SETS &&
            seen->children->items[i].resource == &workload_child_resources[WORKLOAD_STATEFUL_SETS])
            check_templates(arena, workload, &seen->children->items[i], problems);
}

void workload_check_name(struct arena *arena, struct str name, struct problems *problems)
{
    bool begins_well = name.len && name.at[0] >= 'a' && name.at[0] <= 'z';

    if (name.len <= WORKLOAD_NAME_MAX && begins_well && !kube_not_dns1123_label(name))
        return;
    problems_add(
        problems,
        (struct problem){
            .rule = str_of(rule_of(RULE_WORKLOAD_NAME)->name),
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
