/* SPDX-License-Identifier: Apache-2.0 */
/* server_wire.c: the REST API's JSON, and the query API that Prometheus has, too. */
#include "controller/backends/observability/server_wire.h"

#include "base/limits.h"
#include "controller/limits.h"
#include "controller/prometheus.h"
#include "kube/request.h"
#include "text/limits.h"

const struct str server_info_path = STR_INIT("/api/server/info");
const struct str server_stackpacks_path = STR_INIT("/api/stackpack");

static int read_json(struct arena *arena, struct str body, struct json *ret_root, struct error *err)
{
    struct json_limits limits = json_limits_default;

    limits.bytes_max = LIMIT_ANSWER_BODY;
    limits.nodes_max = 10 * LIMIT_JSON_NODES;
    return json_read(arena, body, &limits, ret_root, err);
}

int server_info_read(struct arena *arena, struct str body, struct error *err)
{
    struct json root;

    if (read_json(arena, body, &root, err) < 0)
        return -1;
    if (!json_is(json_get(root, STR("version")), JSON_OBJECT))
        return error_set(err, ERROR_INVALID, "it does not say its version");
    return 0;
}

int server_clusters_read(struct arena *arena, struct str body, struct str_list *ret_names,
                         struct error *err)
{
    struct json root;

    if (read_json(arena, body, &root, err) < 0)
        return -1;
    if (!json_is(root, JSON_ARRAY))
        return error_set(err, ERROR_INVALID, "its StackPacks are not a list");
    *ret_names = str_list_new(arena, 8);
    for (struct json_iter pack = json_iter(root); json_next(&pack);) {
        if (!str_eq(json_str(json_get(pack.value, STR("name"))), STR("kubernetes-v2")))
            continue;
        for (struct json_iter it = json_iter(json_get(pack.value, STR("configurations")));
             json_next(&it);)
            str_list_push(ret_names,
                          json_str(json_walk(it.value, "config", "kubernetes_cluster_name", NULL)));
    }
    return 0;
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
}

bool server_can_name(struct str cluster)
{
    for (size_t i = 0; i < cluster.len; i++)
        if (!is_plain(cluster.at[i]) && cluster.at[i] != '.')
            return false;
    return cluster.len > 0 && cluster.len <= LIMIT_SERVER_CLUSTER_NAME;
}

/* Alternatives, in which a dot is just that. */
static void put_any_of(struct strbuf *out, const struct str_list *names)
{
    for (uint32_t i = 0; i < names->count; i++) {
        if (i)
            strbuf_char(out, '|');
        for (size_t k = 0; k < names->items[i].len; k++) {
            char c = names->items[i].at[k];

            if (is_plain(c))
                strbuf_char(out, c);
            else
                strbuf_fmt(out, "[%c]", c);
        }
    }
}

/* `or` takes what is on its right only where nothing with equal labels is on its left: what sends
 * its metrics by itself has no target. */
struct str server_samples_path(struct arena *arena, const struct str_list *clusters,
                               const struct str_list *namespaces)
{
    static const char *const by = "(k8s_cluster_name,k8s_namespace_name,k8s_pod_name)";
    struct strbuf of = strbuf_new(arena, 256);
    struct strbuf path = strbuf_new(arena, 1024);

    strbuf_lit(&of, "{k8s_cluster_name=~\"");
    put_any_of(&of, clusters);
    if (namespaces->count > LIMIT_METRICS_NAMESPACES) {
        strbuf_lit(&of, "\"");
    } else {
        strbuf_lit(&of, "\",k8s_namespace_name=~\"");
        put_any_of(&of, namespaces);
        strbuf_lit(&of, "\"");
    }
    strbuf_lit(&of, ",k8s_pod_name!=\"\"}");

    struct str selected = strbuf_str(&of);

    strbuf_lit(&path, "/prometheus/api/v1/query?query=");
    kube_percent_encode(&path, str_fmt(arena, "min by %s (up%.*s) or count by %s (%.*s)", by,
                                       STR_ARG(selected), by, STR_ARG(selected)));
    return strbuf_str(&path);
}

/* The exporter's own labels say whose a GPU is, so namespaces are not named: those of the pod are
 * the exporter's. Slices report how busy their engine is, as a ratio (wire_samples_path). */
struct str server_gpus_path(struct arena *arena, const struct str_list *clusters)
{
    struct strbuf of = strbuf_new(arena, 256);
    struct strbuf path = strbuf_new(arena, 1024);

    strbuf_lit(&of, "{k8s_cluster_name=~\"");
    put_any_of(&of, clusters);
    strbuf_lit(&of, "\",UUID!=\"\"}[5m])");

    struct str selected = strbuf_str(&of);

    strbuf_lit(&path, "/prometheus/api/v1/query?query=");
    kube_percent_encode(&path, str_fmt(arena,
                                       "avg_over_time(DCGM_FI_DEV_GPU_UTIL%.*s or 100 * "
                                       "avg_over_time(DCGM_FI_PROF_GR_ENGINE_ACTIVE%.*s",
                                       STR_ARG(selected), STR_ARG(selected)));
    return strbuf_str(&path);
}

typedef struct sample sample_reader(struct arena *arena, struct json metric, double value);

static struct sample pod_sample(struct arena *arena, struct json metric, double value)
{
    (void)arena;
    return (struct sample){
        .namespace_ = json_str(json_get(metric, STR("k8s_namespace_name"))),
        .pod = json_str(json_get(metric, STR("k8s_pod_name"))),
        .value = value,
    };
}

/* A GPU without a name would pass for a pod that is up. */
static struct sample gpu_sample(struct arena *arena, struct json metric, double value)
{
    struct sample sample = wire_gpu_sample(arena, metric, value);

    return sample.gpu.len ? sample : (struct sample){ .pod = STR("") };
}

static int read_vector(struct arena *arena, struct str body, sample_reader *sample_of,
                       struct map *ret_samples, struct error *err)
{
    struct json data;

    if (prometheus_data_read(arena, body, "its query API", &data, err) < 0)
        return -1;
    for (struct json_iter it = json_iter(json_get(data, STR("result"))); json_next(&it);) {
        struct json metric = json_get(it.value, STR("metric"));
        struct samples *samples =
            map_get(ret_samples, json_str(json_get(metric, STR("k8s_cluster_name"))));
        struct sample sample;
        double value;

        if (!samples || !prometheus_value_read(arena, json_get(it.value, STR("value")), &value))
            continue;
        sample = sample_of(arena, metric, value);
        if (sample.pod.len && sample.namespace_.len)
            samples_push(samples, sample);
    }
    return 0;
}

int server_samples_read(struct arena *arena, struct str body, struct map *ret_samples,
                        struct error *err)
{
    return read_vector(arena, body, pod_sample, ret_samples, err);
}

int server_gpus_read(struct arena *arena, struct str body, struct map *ret_samples,
                     struct error *err)
{
    return read_vector(arena, body, gpu_sample, ret_samples, err);
}
