/* SPDX-License-Identifier: Apache-2.0 */
/* workload.c: a Deployment for each release, sized by the values that real charts read. */
#include "lab/rancher/workload.h"

#include "lab/rancher/jsonf.h"
#include "text/digest.h"
#include "text/quantity.h"

static bool is_gpu(struct str key)
{
    return str_eq(key, STR("nvidia.com/gpu")) || str_starts(key, STR("nvidia.com/mig-")) ||
           str_eq(key, STR("amd.com/gpu")) || str_eq(key, STR("gpu.intel.com/i915"));
}

/* A quantity written as a number or as text; -1 if it is none. */
static int64_t whole(struct json value)
{
    struct str text = json_is(value, JSON_STRING) ? json_str(value) : json_raw(value);
    struct quantity quantity;
    struct error ignored;

    if (quantity_parse(text, &quantity, &ignored) != 0)
        return -1;
    return quantity.milli / 1000;
}

/* The first `limits` map (else `requests`) anywhere in the values that names a GPU. */
static int64_t find_gpus(struct json value, struct str map, struct str *ret_key)
{
    struct json_iter it = json_iter(value);

    if (!json_is(value, JSON_OBJECT) && !json_is(value, JSON_ARRAY))
        return 0;
    while (json_next(&it)) {
        int64_t gpus = 0;

        if (str_eq(it.key, map)) {
            struct json_iter entry = json_iter(it.value);

            while (json_is(it.value, JSON_OBJECT) && json_next(&entry)) {
                if (is_gpu(entry.key) && whole(entry.value) > 0) {
                    *ret_key = entry.key;
                    return whole(entry.value);
                }
            }
        }
        gpus = find_gpus(it.value, map, ret_key);
        if (gpus > 0)
            return gpus;
    }
    return 0;
}

static int64_t replicas_of(const struct catalogue_chart *chart, struct json values)
{
    struct json value = values;
    struct str rest = chart->replicas_key;
    struct str part;
    int64_t replicas;

    if (!rest.len)
        return chart->replicas;
    while (str_split(&rest, '.', &part))
        value = json_get(value, part);
    if (!json_int64(value, &replicas) || replicas < 0)
        return chart->replicas;
    return replicas;
}

struct workload workload_of(const struct catalogue_chart *chart, struct json values)
{
    struct workload workload = {
        .chart = chart->name, .version = chart->version, .image = chart->image, .gpu_key = STR("")
    };

    workload.replicas = replicas_of(chart, values);
    workload.gpus = find_gpus(values, STR("limits"), &workload.gpu_key);
    if (!workload.gpus)
        workload.gpus = find_gpus(values, STR("requests"), &workload.gpu_key);
    return workload;
}

struct str workload_manifest(struct arena *arena, const struct workload *w)
{
    if (!w->image.len)
        return STR("");
    return str_fmt(arena,
                   "---\n# Source: %.*s/templates/deployment.yaml\napiVersion: apps/v1\n"
                   "kind: Deployment\nmetadata:\n  name: %.*s\n  namespace: %.*s\nspec:\n"
                   "  replicas: %lld\n  template:\n    spec:\n      containers:\n"
                   "      - name: %.*s\n        image: %.*s\n",
                   STR_ARG(w->chart), STR_ARG(w->release), STR_ARG(w->namespace_),
                   (long long)w->replicas, STR_ARG(w->chart), STR_ARG(w->image));
}

static struct str number(struct arena *arena, int64_t n)
{
    return str_fmt(arena, "%lld", (long long)n);
}

static struct str labels_of(struct arena *arena, const struct workload *w)
{
    return jsonf(arena,
                 "{'app.kubernetes.io/name':%s,'app.kubernetes.io/instance':%s,"
                 "'app.kubernetes.io/managed-by':'Helm','helm.sh/chart':%s}",
                 w->chart, w->release,
                 str_fmt(arena, "%.*s-%.*s", STR_ARG(w->chart), STR_ARG(w->version)));
}

static struct str containers_of(struct arena *arena, const struct workload *w)
{
    struct str resources = STR("{}");

    if (w->gpus)
        resources = jsonf(arena, "{'limits':{%s:%s},'requests':{%s:%s}}", w->gpu_key,
                          number(arena, w->gpus), w->gpu_key, number(arena, w->gpus));
    return jsonf(arena, "[{'name':%s,'image':%s,'resources':%r}]", w->chart, w->image, resources);
}

struct str workload_deployment(struct arena *arena, const struct workload *w)
{
    struct str selector = jsonf(arena,
                                "{'app.kubernetes.io/name':%s,"
                                "'app.kubernetes.io/instance':%s}",
                                w->chart, w->release);

    return jsonf(arena,
                 "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':%s,"
                 "'namespace':%s,'labels':%r,'annotations':{'meta.helm.sh/release-name':%s,"
                 "'meta.helm.sh/release-namespace':%s,%s:%s}},'spec':{'replicas':%d,"
                 "'selector':{'matchLabels':%r},'template':{'metadata':{'labels':%r},"
                 "'spec':{'containers':%r}}}}",
                 w->release, w->namespace_, labels_of(arena, w), w->release, w->namespace_,
                 STR(WORKLOAD_GPU_ANNOTATION), number(arena, w->gpus * w->replicas), w->replicas,
                 selector, labels_of(arena, w), containers_of(arena, w));
}

struct str workload_status(struct arena *arena, const struct workload *w, int64_t generation,
                           bool ready, struct str now)
{
    int64_t up = ready ? w->replicas : 0;

    return jsonf(
        arena,
        "{'status':{'observedGeneration':%d,'replicas':%d,'updatedReplicas':%d,"
        "'readyReplicas':%d,'availableReplicas':%d,'unavailableReplicas':%d,"
        "'conditions':[{'type':'Available','status':%s,'reason':%s,"
        "'lastTransitionTime':%s,'lastUpdateTime':%s},{'type':'Progressing','status':'True',"
        "'reason':%s,'lastTransitionTime':%s,'lastUpdateTime':%s}]}}",
        generation, w->replicas, w->replicas, up, up, w->replicas - up,
        ready ? STR("True") : STR("False"),
        ready ? STR("MinimumReplicasAvailable") : STR("MinimumReplicasUnavailable"), now, now,
        ready ? STR("NewReplicaSetAvailable") : STR("ReplicaSetUpdated"), now, now);
}

/* Nine digits that change with what the chart's version makes. */
static struct str template_hash(struct arena *arena, const struct workload *w)
{
    return str_slice(
        digest_sha256_hex(arena, str_fmt(arena, "%.*s/%.*s/%.*s", STR_ARG(w->namespace_),
                                         STR_ARG(w->release), STR_ARG(w->version))),
        0, 9);
}

struct str workload_replica_set_name(struct arena *arena, const struct workload *w)
{
    return str_fmt(arena, "%.*s-%.*s", STR_ARG(w->release), STR_ARG(template_hash(arena, w)));
}

struct str workload_replica_set(struct arena *arena, const struct workload *w, struct str owner)
{
    struct str labels = jsonf(arena,
                              "{'app.kubernetes.io/name':%s,'app.kubernetes.io/instance':%s,"
                              "'pod-template-hash':%s}",
                              w->chart, w->release, template_hash(arena, w));

    return jsonf(arena,
                 "{'apiVersion':'apps/v1','kind':'ReplicaSet','metadata':{'name':%s,"
                 "'namespace':%s,'labels':%r,'ownerReferences':[{'apiVersion':'apps/v1',"
                 "'kind':'Deployment','name':%s,'uid':%s,'controller':true}]},'spec':{"
                 "'replicas':%d,'selector':{'matchLabels':%r},'template':{'metadata':{"
                 "'labels':%r},'spec':{'containers':%r}}}}",
                 workload_replica_set_name(arena, w), w->namespace_, labels, w->release, owner,
                 w->replicas, labels, labels, containers_of(arena, w));
}

/* Stable, so that making it twice makes it once. */
struct str workload_pod_name(struct arena *arena, const struct workload *w, int64_t index)
{
    struct str hash = digest_sha256_hex(arena, workload_replica_set_name(arena, w));

    return str_fmt(arena, "%.*s-%.*s%02lld", STR_ARG(workload_replica_set_name(arena, w)), 3,
                   hash.at, (long long)index);
}

struct str workload_pod(struct arena *arena, const struct workload *w, int64_t index,
                        struct str node, struct str replica_set_uid)
{
    struct str on = node.len ? jsonf(arena, "'nodeName':%s,", node) : STR(" ");

    return jsonf(arena,
                 "{'apiVersion':'v1','kind':'Pod','metadata':{'name':%s,'namespace':%s,"
                 "'labels':%r,'ownerReferences':[{'apiVersion':'apps/v1','kind':'ReplicaSet',"
                 "'name':%s,'uid':%s,'controller':true}]},'spec':{%r'containers':%r}}",
                 workload_pod_name(arena, w, index), w->namespace_, labels_of(arena, w),
                 workload_replica_set_name(arena, w), replica_set_uid, on, containers_of(arena, w));
}

struct str workload_container_id(struct arena *arena, struct str namespace_, struct str pod)
{
    return digest_sha256_hex(
        arena, str_fmt(arena, "container %.*s/%.*s", STR_ARG(namespace_), STR_ARG(pod)));
}

struct str workload_image_id(struct arena *arena, struct str image)
{
    return digest_sha256_hex(arena, str_fmt(arena, "image %.*s", STR_ARG(image)));
}

/* What the kubelet writes once the runtime has the container. */
static struct str running(struct arena *arena, const struct workload *w, int64_t index,
                          struct str now)
{
    struct str pod = workload_pod_name(arena, w, index);

    return jsonf(arena, ",'containerID':%s,'imageID':%s,'state':{'running':{'startedAt':%s}}",
                 str_fmt(arena, "containerd://%.*s",
                         STR_ARG(workload_container_id(arena, w->namespace_, pod))),
                 str_fmt(arena, "sha256:%.*s", STR_ARG(workload_image_id(arena, w->image))), now);
}

struct str workload_pod_status(struct arena *arena, const struct workload *w, int64_t index,
                               bool scheduled, bool ready, struct str now)
{
    struct str unscheduled =
        STR(",{\"type\":\"PodScheduled\",\"status\":\"False\",\"reason\":\"Unschedulable\","
            "\"message\":\"0 nodes are available: Insufficient nvidia.com/gpu.\"}");

    return jsonf(arena,
                 "{'status':{'phase':%s,'startTime':%s,'conditions':[{'type':'Ready','status':%s}"
                 "%r],'containerStatuses':[{'name':%s,'image':%s,'ready':%b,'restartCount':0%r}]}}",
                 ready ? STR("Running") : STR("Pending"), now, ready ? STR("True") : STR("False"),
                 scheduled ? STR(" ") : unscheduled, w->chart, w->image, ready,
                 ready ? running(arena, w, index, now) : STR(" "));
}

int64_t workload_gpus_of_node(struct json node)
{
    struct json_iter it = json_iter(json_walk(node, "status", "allocatable", NULL));
    int64_t gpus = 0;

    while (json_next(&it))
        if (is_gpu(it.key) && whole(it.value) > 0)
            gpus += whole(it.value);
    return gpus;
}
