/* SPDX-License-Identifier: Apache-2.0 */
/* draft.c: see draft.h. A change of the configuration changes an annotation of the pods: they are
 * replaced. */
#include "workload/draft.h"

#include "kube/names.h"
#include "stack/model/rules.h"
#include "text/digest.h"

enum { PROBE_SECONDS = 10 };

#define CONFIG_DIGEST "herd.suse.com/config-digest"

void draft_key(struct draft *d, const char *name)
{
    json_put_key(&d->w, str_of(name));
}

void draft_open(struct draft *d, const char *name)
{
    draft_key(d, name);
    json_open_object(&d->w);
}

void draft_close(struct draft *d)
{
    json_close_object(&d->w);
}

void draft_field(struct draft *d, const char *name, struct str text)
{
    draft_key(d, name);
    json_put_str(&d->w, text);
}

void draft_number(struct draft *d, const char *name, int64_t value)
{
    draft_key(d, name);
    json_put_int(&d->w, value);
}

/* --- what all objects have --- */

void draft_selector(struct draft *d, const struct rendering *r)
{
    draft_field(d, "app.kubernetes.io/name", r->workload->app);
    draft_field(d, "app.kubernetes.io/instance", r->workload->label_value);
}

void draft_labels(struct draft *d, const struct rendering *r)
{
    draft_open(d, "labels");
    draft_selector(d, r);
    draft_field(d, "app.kubernetes.io/managed-by", STR("Herd"));
    if (r->workload->version.len && !kube_not_label_value(r->workload->version))
        draft_field(d, "app.kubernetes.io/version", r->workload->version);
}

/* --- pods --- */

bool workload_has_config(const struct workload *workload)
{
    struct json_iter it = json_iter(workload->config);

    return json_is(workload->config, JSON_OBJECT) && json_next(&it);
}

static void put_strings(struct draft *d, const char *name, const struct str_list *strings)
{
    draft_key(d, name);
    json_open_array(&d->w);
    for (uint32_t i = 0; i < strings->count; i++)
        json_put_str(&d->w, strings->items[i]);
    json_close_array(&d->w);
}

static void put_env(struct draft *d, const struct workload *workload)
{
    if (!workload->env.count)
        return;
    draft_key(d, "env");
    json_open_array(&d->w);
    for (uint32_t i = 0; i < workload->env.count; i++) {
        const struct workload_env *env = &workload->env.items[i];

        json_open_object(&d->w);
        draft_field(d, "name", env->name);
        if (env->secret.len) {
            draft_open(d, "valueFrom");
            draft_open(d, "secretKeyRef");
            draft_field(d, "name", env->secret);
            draft_field(d, "key", env->key);
            draft_close(d);
            draft_close(d);
        } else {
            draft_field(d, "value", env->value);
        }
        draft_close(d);
    }
    json_close_array(&d->w);
}

static void put_ports(struct draft *d, const struct workload *workload)
{
    if (!workload->ports.count)
        return;
    draft_key(d, "ports");
    json_open_array(&d->w);
    for (uint32_t i = 0; i < workload->ports.count; i++) {
        json_open_object(&d->w);
        draft_field(d, "name", workload->ports.items[i].name);
        draft_number(d, "containerPort", workload->ports.items[i].number);
        draft_close(d);
    }
    json_close_array(&d->w);
}

static void put_probe(struct draft *d, const char *name, const struct workload *workload,
                      int64_t failures)
{
    draft_open(d, name);
    draft_open(d, "httpGet");
    draft_field(d, "path", workload->health_path);
    draft_field(d, "port", workload->ports.items[0].name);
    draft_close(d);
    draft_number(d, "periodSeconds", PROBE_SECONDS);
    draft_number(d, "failureThreshold", failures);
    draft_close(d);
}

/* One list of the container's resources: what the author wrote, and the GPUs beside it. */
static void put_resource_list(struct draft *d, const struct workload *workload, const char *name)
{
    struct json list = json_get(workload->resources, str_of(name));
    struct json_iter it = json_iter(list);
    bool is_limits = strcmp(name, "limits") == 0;

    if (!json_is(list, JSON_OBJECT) && !(is_limits && workload->gpus))
        return;
    draft_open(d, name);
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
    draft_close(d);
}

static void put_resources(struct draft *d, const struct workload *workload)
{
    if (!json_is(workload->resources, JSON_OBJECT) && !workload->gpus)
        return;
    draft_open(d, "resources");
    put_resource_list(d, workload, "requests");
    put_resource_list(d, workload, "limits");
    draft_close(d);
}

static void put_mount(struct draft *d, const char *name, struct str path)
{
    json_open_object(&d->w);
    draft_field(d, "name", str_of(name));
    draft_field(d, "mountPath", path);
    draft_close(d);
}

static void put_mounts(struct draft *d, const struct workload *workload)
{
    if (!workload->volume_size.len && !workload->shared_memory)
        return;
    draft_key(d, "volumeMounts");
    json_open_array(&d->w);
    if (workload->volume_size.len)
        put_mount(d, "data", workload->mount_path);
    if (workload->shared_memory)
        put_mount(d, "shared-memory", STR(WORKLOAD_SHARED_MEMORY));
    json_close_array(&d->w);
}

static void put_container(struct draft *d, const struct workload *workload)
{
    json_open_object(&d->w);
    draft_field(d, "name", workload->app);
    draft_field(d, "image", workload->image);
    if (workload->pull_policy.len)
        draft_field(d, "imagePullPolicy", workload->pull_policy);
    if (workload->args.count)
        put_strings(d, "args", &workload->args);
    put_env(d, workload);
    if (workload_has_config(workload)) {
        draft_key(d, "envFrom");
        json_open_array(&d->w);
        json_open_object(&d->w);
        draft_open(d, "configMapRef");
        draft_field(d, "name", workload->name);
        draft_close(d);
        draft_close(d);
        json_close_array(&d->w);
    }
    put_ports(d, workload);
    put_resources(d, workload);
    if (workload->health_path.len && workload->ports.count) {
        put_probe(d, "startupProbe", workload,
                  workload->startup_seconds ? workload->startup_seconds / PROBE_SECONDS : 60);
        put_probe(d, "readinessProbe", workload, 3);
        put_probe(d, "livenessProbe", workload, 6);
    }
    put_mounts(d, workload);
    draft_close(d);
}

static void put_term(struct draft *d, const struct rendering *r)
{
    draft_field(d, "topologyKey", STR("kubernetes.io/hostname"));
    draft_open(d, "labelSelector");
    draft_open(d, "matchLabels");
    draft_selector(d, r);
    draft_close(d);
    draft_close(d);
}

/* A node with one of the products. */
static void put_node_affinity(struct draft *d, const struct workload *workload)
{
    draft_open(d, "nodeAffinity");
    draft_open(d, "requiredDuringSchedulingIgnoredDuringExecution");
    draft_key(d, "nodeSelectorTerms");
    json_open_array(&d->w);
    json_open_object(&d->w);
    draft_key(d, "matchExpressions");
    json_open_array(&d->w);
    json_open_object(&d->w);
    draft_field(d, "key", workload->gpu_label);
    draft_field(d, "operator", STR("In"));
    put_strings(d, "values", &workload->gpu_products);
    draft_close(d);
    json_close_array(&d->w);
    draft_close(d);
    json_close_array(&d->w);
    draft_close(d);
    draft_close(d);
}

static void put_pod_anti_affinity(struct draft *d, const struct rendering *r)
{
    draft_open(d, "podAntiAffinity");
    draft_key(d, r->workload->anti_affinity == ANTI_AFFINITY_HARD
                     ? "requiredDuringSchedulingIgnoredDuringExecution"
                     : "preferredDuringSchedulingIgnoredDuringExecution");
    json_open_array(&d->w);
    json_open_object(&d->w);
    if (r->workload->anti_affinity == ANTI_AFFINITY_SOFT) {
        draft_number(d, "weight", 100);
        draft_open(d, "podAffinityTerm");
        put_term(d, r);
        draft_close(d);
    } else {
        put_term(d, r);
    }
    draft_close(d);
    json_close_array(&d->w);
    draft_close(d);
}

static void put_affinity(struct draft *d, const struct rendering *r)
{
    const struct workload *workload = r->workload;

    if (workload->anti_affinity == ANTI_AFFINITY_NONE && !workload->gpu_label.len)
        return;
    draft_open(d, "affinity");
    if (workload->gpu_label.len)
        put_node_affinity(d, workload);
    if (workload->anti_affinity != ANTI_AFFINITY_NONE)
        put_pod_anti_affinity(d, r);
    draft_close(d);
}

static void put_pod_spec(struct draft *d, const struct rendering *r)
{
    const struct workload *workload = r->workload;

    draft_open(d, "spec");
    if (workload->controller == WORKLOAD_JOBS)
        draft_field(d, "restartPolicy", STR("OnFailure"));
    if (workload->pull_secrets.count) {
        draft_key(d, "imagePullSecrets");
        json_open_array(&d->w);
        for (uint32_t i = 0; i < workload->pull_secrets.count; i++) {
            json_open_object(&d->w);
            draft_field(d, "name", workload->pull_secrets.items[i]);
            draft_close(d);
        }
        json_close_array(&d->w);
    }
    put_affinity(d, r);
    if (workload->shared_memory) {
        draft_key(d, "volumes");
        json_put_raw(&d->w,
                     STR("[{\"name\":\"shared-memory\",\"emptyDir\":{\"medium\":\"Memory\"}}]"));
    }
    draft_key(d, "containers");
    json_open_array(&d->w);
    put_container(d, workload);
    json_close_array(&d->w);
    draft_close(d);
}

void draft_pod_template(struct draft *d, const struct rendering *r)
{
    const struct workload *workload = r->workload;

    draft_open(d, "template");
    draft_open(d, "metadata");
    draft_labels(d, r);
    json_put_key(&d->w, workload->label);
    json_put_str(&d->w, workload->label_value);
    draft_close(d);
    if (workload_has_config(workload)) {
        draft_open(d, "annotations");
        draft_field(d, CONFIG_DIGEST, digest_sha256_hex(r->arena, json_raw(workload->config)));
        draft_close(d);
    }
    draft_close(d);
    put_pod_spec(d, r);
    draft_close(d);
}
