/* SPDX-License-Identifier: Apache-2.0 */
/* objects_cluster.c: Clusters and their nodes. A Cluster's capacity has cpu, memory and pods only;
 * GPUs are told by nodes alone (rancher v2.14 clusterstats/statsaggregator.go). */
#include "lab/rancher/jsonf.h"
#include "lab/rancher/objects.h"
#include "text/digest.h"
#include "text/quantity.h"

static struct str shape_of(struct arena *arena, const struct described_cluster *c)
{
    return jsonf(arena,
                 "{'nodes':%d,'cpu':%d,'memory':%s,'gpus':%d,'gpuResource':%s,"
                 "'provider':%s,'version':%s,'monitoring':%b}",
                 c->nodes, c->cpu, c->memory, c->gpus, c->gpu_resource, c->provider, c->version,
                 c->monitoring);
}

/* Members of a JSON object without its braces, and a comma behind if there are any. */
static struct str members(struct arena *arena, struct str object)
{
    struct str inner = str_trim(object);

    if (inner.len < 2)
        return STR("");
    inner = str_trim(str_slice(inner, 1, inner.len - 1));
    return inner.len ? str_fmt(arena, "%.*s,", STR_ARG(inner)) : STR(" ");
}

struct str object_cluster(struct arena *arena, const struct described_cluster *c)
{
    bool local = str_eq(c->id, STR("local"));

    return jsonf(arena,
                 "{'apiVersion':'management.cattle.io/v3','kind':'Cluster','metadata':{'name':%s,"
                 "'labels':{%r'provider.cattle.io':%s},'annotations':{%r%s:%s,%s:%s,%s:%s}},"
                 "'spec':{'displayName':%s,'description':'','internal':%b,"
                 "'fleetWorkspaceName':%s,'imported':%b}}",
                 c->id, members(arena, c->labels), c->provider, members(arena, c->annotations),
                 STR(CLUSTER_SHAPE_ANNOTATION), shape_of(arena, c),
                 STR(CLUSTER_CONNECTED_ANNOTATION), c->connected ? STR("true") : STR("false"),
                 STR(CLUSTER_PROVISIONED_ANNOTATION), c->provisioned ? STR("true") : STR("false"),
                 c->display_name, local, local ? STR("fleet-local") : STR("fleet-default"), !local);
}

static void take_text(struct json shape, const char *key, struct str *at)
{
    struct str text = json_str(json_get(shape, str_of(key)));

    if (text.len)
        *at = text;
}

static void take_number(struct json shape, const char *key, int64_t max, int64_t *at)
{
    int64_t number;

    if (json_int64(json_get(shape, str_of(key)), &number) && number >= 0 && number <= max)
        *at = number;
}

struct described_cluster object_cluster_read(struct arena *arena, struct json cluster)
{
    struct json meta = json_get(cluster, STR("metadata"));
    struct json annotations = json_get(meta, STR("annotations"));
    struct described_cluster c = described_cluster_default(json_str(json_get(meta, STR("name"))));
    struct json shape;
    struct error ignored;

    take_text(json_get(cluster, STR("spec")), "displayName", &c.display_name);
    c.connected =
        !str_eq(json_str(json_get(annotations, STR(CLUSTER_CONNECTED_ANNOTATION))), STR("false"));
    c.provisioned =
        !str_eq(json_str(json_get(annotations, STR(CLUSTER_PROVISIONED_ANNOTATION))), STR("false"));
    if (json_read(arena, json_str(json_get(annotations, STR(CLUSTER_SHAPE_ANNOTATION))),
                  &json_limits_default, &shape, &ignored) != 0)
        return c;
    take_text(shape, "provider", &c.provider);
    take_text(shape, "version", &c.version);
    take_text(shape, "memory", &c.memory);
    take_text(shape, "gpuResource", &c.gpu_resource);
    take_number(shape, "nodes", DESCRIBE_NODES_MAX, &c.nodes);
    take_number(shape, "cpu", 4096, &c.cpu);
    take_number(shape, "gpus", 1024, &c.gpus);
    c.monitoring = json_bool(json_get(shape, STR("monitoring")));
    return c;
}

static struct str mebibytes(struct arena *arena, struct str memory, int64_t times)
{
    struct quantity quantity = { 0 };
    struct error ignored;

    quantity_parse(memory, &quantity, &ignored);
    return str_fmt(arena, "%lldMi", (long long)(quantity.milli / 1000 / (1024 * 1024) * times));
}

static struct str version_json(struct arena *arena, struct str version)
{
    struct str rest = str_starts(version, STR("v")) ? str_slice(version, 1, version.len) : version;
    struct str major = STR("1");
    struct str minor = STR("34");

    str_split(&rest, '.', &major);
    str_split(&rest, '.', &minor);
    return jsonf(arena,
                 "{'major':%s,'minor':%s,'gitVersion':%s,'gitTreeState':'clean',"
                 "'compiler':'gc','goVersion':'go1.24.9','platform':'linux/amd64'}",
                 major, minor, version);
}

/* One condition. Its time stays while its status stays: nothing changes by itself. */
static struct str condition(struct arena *arena, struct json before, const char *type,
                            const char *status, const char *reason, const char *message,
                            struct str now)
{
    struct json_iter it = json_iter(json_walk(before, "status", "conditions", NULL));
    struct str when = now;

    while (json_next(&it))
        if (str_eq(json_str(json_get(it.value, STR("type"))), str_of(type)) &&
            str_eq(json_str(json_get(it.value, STR("status"))), str_of(status)))
            when = json_str(json_get(it.value, STR("lastUpdateTime")));
    return jsonf(arena,
                 "{'type':%s,'status':%s,'reason':%s,'message':%s,'lastUpdateTime':%s,"
                 "'lastTransitionTime':%s}",
                 str_of(type), str_of(status), str_of(reason), str_of(message), when, when);
}

static struct str conditions(struct arena *arena, const struct cluster_health *health,
                             struct json before)
{
    struct str now = health->now;
    bool up = health->connected && health->provisioned;
    struct str provisioned =
        condition(arena, before, "Provisioned", health->provisioned ? "True" : "Unknown", "",
                  health->provisioned ? "" : "waiting for the cluster's agent", now);
    struct str connected =
        condition(arena, before, "Connected", up ? "True" : "False", "", "", now);
    struct str ready = up ? condition(arena, before, "Ready", "True", "", "", now)
                       : health->provisioned
                           ? condition(arena, before, "Ready", "False", "Disconnected",
                                       "Cluster agent is not connected", now)
                           : condition(arena, before, "Ready", "Unknown", "", "", now);

    return jsonf(arena, "[%r,%r,%r]", provisioned, connected, ready);
}

struct str object_cluster_status(struct arena *arena, const struct described_cluster *c,
                                 const struct cluster_health *health, struct json before)
{
    int64_t workers = c->nodes;
    struct str cpu = str_fmt(arena, "%lld", (long long)(c->cpu * workers));
    struct str memory = mebibytes(arena, c->memory, workers);
    struct str pods = str_fmt(arena, "%lld", (long long)(110 * workers));
    struct str amounts = jsonf(arena, "{'cpu':%s,'memory':%s,'pods':%s}", cpu, memory, pods);

    return jsonf(arena,
                 "{'status':{'driver':%s,'provider':%s,'nodeCount':%d,'linuxWorkerCount':%d,"
                 "'apiEndpoint':'https://10.43.0.1:443','version':%r,'capacity':%r,"
                 "'allocatable':%r,'requested':{'cpu':'350m','memory':'380Mi','pods':'9'},"
                 "'limits':{'cpu':'0','memory':'0','pods':'0'},'conditions':%r}}",
                 str_eq(c->id, STR("local")) ? STR("k3s") : STR("imported"), c->provider, c->nodes,
                 workers, version_json(arena, c->version), amounts, amounts,
                 conditions(arena, health, before));
}

/* ---- nodes ----------------------------------------------------------------------------------- */

struct str object_node_name(struct arena *arena, const struct described_cluster *c, int64_t index)
{
    return str_fmt(arena, "%.*s-worker-%lld", STR_ARG(c->id), (long long)index + 1);
}

struct str object_node(struct arena *arena, const struct described_cluster *c, int64_t index)
{
    struct str name = object_node_name(arena, c, index);
    struct str gpu = c->gpus ? jsonf(arena, ",%s:'true'",
                                     str_fmt(arena, "%.*s.present", STR_ARG(c->gpu_resource)))
                             : STR(" ");

    return jsonf(arena,
                 "{'apiVersion':'v1','kind':'Node','metadata':{'name':%s,'labels':{"
                 "'kubernetes.io/hostname':%s,'kubernetes.io/os':'linux',"
                 "'kubernetes.io/arch':'amd64','node-role.kubernetes.io/worker':'true'%r},"
                 "'annotations':{'management.cattle.io/pod-requests':%s}},"
                 "'spec':{'podCIDR':%s}}",
                 name, name, gpu, STR("{\"cpu\":\"350m\",\"memory\":\"380Mi\",\"pods\":\"9\"}"),
                 str_fmt(arena, "10.42.%lld.0/24", (long long)(index % 250)));
}

struct str object_node_status(struct arena *arena, const struct described_cluster *c, int64_t index,
                              struct str now)
{
    struct str gpu = c->gpus ? jsonf(arena, ",%s:%s", c->gpu_resource,
                                     str_fmt(arena, "%lld", (long long)c->gpus))
                             : STR(" ");
    struct str amounts =
        jsonf(arena, "{'cpu':%s,'memory':%s,'pods':'110','ephemeral-storage':'200Gi'%r}",
              str_fmt(arena, "%lld", (long long)c->cpu), c->memory, gpu);

    return jsonf(
        arena,
        "{'status':{'capacity':%r,'allocatable':%r,'nodeInfo':{'kubeletVersion':%s,"
        "'osImage':'SLE Micro 6.1','operatingSystem':'linux','architecture':'amd64',"
        "'containerRuntimeVersion':'containerd://2.1.4','kernelVersion':'6.4.0'},"
        "'addresses':[{'type':'InternalIP','address':%s},{'type':'Hostname',"
        "'address':%s}],'conditions':[{'type':'Ready','status':'True',"
        "'reason':'KubeletReady','message':'kubelet is posting ready status',"
        "'lastHeartbeatTime':%s,'lastTransitionTime':%s}]}}",
        amounts, amounts, c->version,
        str_fmt(arena, "10.0.%lld.%lld", (long long)(index / 250), (long long)(index % 250 + 1)),
        object_node_name(arena, c, index), now, now);
}

/* Rancher calls them m-xxxxx; the name follows from the node's: a second copy is the first. */
static struct str machine_name(struct arena *arena, struct str node)
{
    return str_fmt(arena, "machine-%.*s", 10, digest_sha256_hex(arena, node).at);
}

struct str object_machine(struct arena *arena, struct str cluster, struct json node)
{
    struct str name = json_str(json_walk(node, "metadata", "name", NULL));

    return jsonf(arena,
                 "{'apiVersion':'management.cattle.io/v3','kind':'Node','metadata':{'name':%s,"
                 "'namespace':%s},'spec':{'displayName':'','requestedHostname':%s,'worker':true,"
                 "'controlPlane':false,'etcd':false}}",
                 machine_name(arena, name), cluster, name);
}

struct str object_machine_status(struct arena *arena, struct json node)
{
    struct json meta = json_get(node, STR("metadata"));
    struct json labels = json_get(meta, STR("labels"));

    return jsonf(arena,
                 "{'status':{'nodeName':%s,'nodeLabels':%r,'internalNodeStatus':%r,"
                 "'requested':{'cpu':'350m','memory':'380Mi','pods':'9'},'conditions':["
                 "{'type':'Ready','status':'True'},{'type':'Registered','status':'True'}]}}",
                 json_str(json_get(meta, STR("name"))),
                 json_is(labels, JSON_OBJECT) ? json_raw(labels) : STR("{}"),
                 json_is(json_get(node, STR("status")), JSON_OBJECT)
                     ? json_raw(json_get(node, STR("status")))
                     : STR("{}"));
}
