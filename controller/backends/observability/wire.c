/* SPDX-License-Identifier: Apache-2.0 */
/* wire.c: lists of objects, the Prometheus API's envelope, samples and whose they are. */
#include "controller/backends/observability/wire.h"

#include "base/limits.h"
#include "base/set.h"
#include "controller/limits.h"
#include "controller/prometheus.h"
#include "kube/request.h"
#include "text/json.h"
#include "text/limits.h"

#include <math.h>
#include <stdlib.h>

const struct str wire_agent_path =
    STR_INIT("/apis/apps/v1/deployments"
             "?labelSelector=app.kubernetes.io%2Fname%3Dsuse-observability-agent&limit=50");
const struct str wire_prometheus_path =
    STR_INIT("/apis/monitoring.coreos.com/v1/prometheuses?limit=50");
const struct str wire_rules_path = STR_INIT("/api/v1/rules?type=alert&exclude_alerts=true");

static int read_json(struct arena *arena, struct str body, struct json *ret_root, struct error *err)
{
    struct json_limits limits = json_limits_default;

    limits.bytes_max = LIMIT_ANSWER_BODY;
    limits.nodes_max = 10 * LIMIT_JSON_NODES;
    return json_read(arena, body, &limits, ret_root, err);
}

/* --- what there is --- */

/* Its chart writes stackstate.cluster.name into this variable of its containers. */
static struct str cluster_name_of(struct json deployment)
{
    struct json_iter container =
        json_iter(json_walk(deployment, "spec", "template", "spec", "containers", NULL));

    while (json_next(&container))
        for (struct json_iter it = json_iter(json_get(container.value, STR("env")));
             json_next(&it);)
            if (str_eq(json_str(json_get(it.value, STR("name"))), STR("STS_CLUSTER_NAME")))
                return json_str(json_get(it.value, STR("value")));
    return STR("");
}

int wire_agent_read(struct arena *arena, struct str body, struct wire_agent *ret, struct error *err)
{
    struct json root;

    if (read_json(arena, body, &root, err) < 0)
        return error_wrap(err, "its Deployments");
    *ret = (struct wire_agent){ .runs = false };
    for (struct json_iter it = json_iter(json_get(root, STR("items"))); json_next(&it);) {
        int64_t available = 0;

        json_int64(json_walk(it.value, "status", "availableReplicas", NULL), &available);
        ret->runs = ret->runs || available > 0;
        if (!ret->cluster_name.len)
            ret->cluster_name = cluster_name_of(it.value);
    }
    return 0;
}

static bool is_available(struct json object)
{
    struct json_iter it = json_iter(json_walk(object, "status", "conditions", NULL));

    while (json_next(&it))
        if (str_eq(json_str(json_get(it.value, STR("type"))), STR("Available")))
            return str_eq(json_str(json_get(it.value, STR("status"))), STR("True"));
    return false;
}

static const struct str rancher_namespace = STR_INIT("cattle-monitoring-system");

static bool is_preferred(const struct wire_prometheus *a, const struct wire_prometheus *b)
{
    bool a_first = str_eq(a->namespace_, rancher_namespace);
    int order = str_cmp(a->namespace_, b->namespace_);

    if (!b->name.len || a_first != str_eq(b->namespace_, rancher_namespace))
        return !b->name.len || a_first;
    return order < 0 || (order == 0 && str_cmp(a->name, b->name) < 0);
}

int wire_prometheus_read(struct arena *arena, struct str body, struct wire_prometheus *ret,
                         struct error *err)
{
    struct json root;

    if (read_json(arena, body, &root, err) < 0)
        return error_wrap(err, "its Prometheus objects");
    *ret = (struct wire_prometheus){ .name = STR("") };
    for (struct json_iter it = json_iter(json_get(root, STR("items"))); json_next(&it);) {
        struct json spec = json_get(it.value, STR("spec"));
        const struct wire_prometheus one = {
            .namespace_ = json_str(json_walk(it.value, "metadata", "namespace", NULL)),
            .name = json_str(json_walk(it.value, "metadata", "name", NULL)),
            .rules = selection_of(arena, spec, "rule"),
            .monitors = { selection_of(arena, spec, "serviceMonitor"),
                          selection_of(arena, spec, "podMonitor") },
        };

        if (is_available(it.value) && is_preferred(&one, ret))
            *ret = one;
    }
    return 0;
}

/* That of rancher-monitoring looks in one namespace only, that of others in all. */
struct str wire_dashboards_namespace(const struct wire_prometheus *prometheus)
{
    return str_eq(prometheus->namespace_, rancher_namespace) ? STR("cattle-dashboards")
                                                             : prometheus->namespace_;
}

/* --- samples --- */

/* Names of namespaces have nothing that means something in a regular expression. */
static struct str namespaces_matcher(struct arena *arena, const struct str_list *namespaces)
{
    struct strbuf out = strbuf_new(arena, 256);

    if (namespaces->count > LIMIT_METRICS_NAMESPACES)
        return STR("!=\"\"");
    strbuf_lit(&out, "=~\"");
    for (uint32_t i = 0; i < namespaces->count; i++) {
        if (i)
            strbuf_char(&out, '|');
        strbuf_put(&out, namespaces->items[i]);
    }
    strbuf_char(&out, '"');
    return strbuf_str(&out);
}

/* Whose a GPU is stands in exported_ labels where the scrape does not honor the exporter's own.
 * Slices of a GPU report how busy their engine is instead, as a ratio. `or` takes what is on its
 * right only where nothing with equal labels is on its left. */
struct str wire_samples_path(struct arena *arena, const struct str_list *namespaces)
{
    struct str in = namespaces_matcher(arena, namespaces);
    struct strbuf query = strbuf_new(arena, 512);
    struct strbuf path = strbuf_new(arena, 1024);
    static const struct str gpus[] = {
        STR_INIT("avg_over_time(DCGM_FI_DEV_GPU_UTIL{"),
        STR_INIT("100 * avg_over_time(DCGM_FI_PROF_GR_ENGINE_ACTIVE{"),
    };

    strbuf_fmt(&query, "up{namespace%.*s,pod!=\"\"}", STR_ARG(in));
    for (size_t i = 0; i < sizeof(gpus) / sizeof(*gpus); i++)
        strbuf_fmt(&query,
                   " or %.*sexported_namespace%.*s,exported_pod!=\"\"}[5m])"
                   " or %.*snamespace%.*s,exported_pod=\"\",pod!=\"\"}[5m])",
                   STR_ARG(gpus[i]), STR_ARG(in), STR_ARG(gpus[i]), STR_ARG(in));
    strbuf_lit(&path, "/api/v1/query?query=");
    kube_percent_encode(&path, strbuf_str(&query));
    return strbuf_str(&path);
}

static struct str label(struct json metric, const char *name)
{
    return json_str(json_get(metric, str_of(name)));
}

/* Slices of one GPU are told apart by their instance. What is no GPU's has no UUID. */
struct sample wire_gpu_sample(struct arena *arena, struct json metric, double value)
{
    struct str uuid = label(metric, "UUID");
    struct str slice = label(metric, "GPU_I_ID");
    struct str owner = label(metric, "exported_pod");
    bool exported = uuid.len && owner.len;

    return (struct sample){
        .namespace_ = label(metric, exported ? "exported_namespace" : "namespace"),
        .pod = exported ? owner : label(metric, "pod"),
        .herds = label(metric, MONITORING_RELEASE_LABEL).len > 0,
        .gpu = slice.len ? str_fmt(arena, "%.*s/%.*s", STR_ARG(uuid), STR_ARG(slice)) : uuid,
        .value = value,
    };
}

int wire_samples_read(struct arena *arena, struct str body, struct samples *ret, struct error *err)
{
    struct json data;

    if (prometheus_data_read(arena, body, "Prometheus", &data, err) < 0)
        return -1;
    *ret = samples_new(arena, 64);
    for (struct json_iter it = json_iter(json_get(data, STR("result"))); json_next(&it);) {
        double value;

        if (!prometheus_value_read(arena, json_get(it.value, STR("value")), &value))
            continue;

        struct sample sample = wire_gpu_sample(arena, json_get(it.value, STR("metric")), value);

        if (sample.pod.len && sample.namespace_.len)
            samples_push(ret, sample);
    }
    return 0;
}

/* --- rules --- */

struct wire_rules wire_rules_new(struct arena *arena)
{
    return (struct wire_rules){ str_list_new(arena, 0), str_list_new(arena, 0) };
}

struct str wire_rules_release(struct arena *arena, struct str stack, struct str release)
{
    return str_fmt(arena, "%.*s %.*s", STR_ARG(stack), STR_ARG(release));
}

static void read_group(struct json group, struct wire_rules *rules, struct set releases)
{
    for (struct json_iter it = json_iter(json_get(group, STR("rules"))); json_next(&it);) {
        struct str stack = json_str(json_walk(it.value, "labels", "herd_stack", NULL));
        struct str release = json_str(json_walk(it.value, "labels", "herd_release", NULL));
        struct str health = json_str(json_get(it.value, STR("health")));
        bool alert = str_eq(json_str(json_get(it.value, STR("type"))), STR("alerting"));

        if (!alert || !stack.len || str_eq(health, STR("err")))
            continue;
        str_list_push(&rules->stacks, stack);
        release = wire_rules_release(rules->stacks.arena, stack, release);
        if (set_add(releases, release))
            str_list_push(&rules->releases, release);
    }
}

int wire_rules_read(struct arena *arena, struct str body, struct wire_rules *ret, struct error *err)
{
    struct set releases = set_new(arena, 16);
    struct json data;

    if (prometheus_data_read(arena, body, "Prometheus", &data, err) < 0)
        return -1;
    *ret = wire_rules_new(arena);
    for (struct json_iter it = json_iter(json_get(data, STR("groups"))); json_next(&it);)
        read_group(it.value, ret, releases);
    return 0;
}

/* --- whose a pod is --- */

enum {
    POD_SUFFIX = 5,    /* that a controller makes up for each of its pods */
    POD_BASE_MAX = 58, /* what stands before it is cut there */
};

static bool is_word(struct str text, bool digits_only)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];

        if (!(c >= '0' && c <= '9') && (digits_only || !(c >= 'a' && c <= 'z')))
            return false;
    }
    return text.len > 0;
}

/* Behind "NAME-"; false if it does not begin so. */
static bool after_name(struct str pod, struct str name, struct str *ret_rest)
{
    if (!str_starts(pod, name) || pod.len <= name.len || pod.at[name.len] != '-')
        return false;
    *ret_rest = str_slice(pod, name.len + 1, pod.len);
    return true;
}

/* Of a name that fills the base: neither the dash behind it nor a hash is left. */
static bool is_of_cut(struct str pod, struct str name)
{
    return pod.len == POD_BASE_MAX + POD_SUFFIX &&
           str_starts(pod, str_slice(name, 0, POD_BASE_MAX)) &&
           is_word(str_slice(pod, POD_BASE_MAX, pod.len), false);
}

/* Of a ReplicaSet's pod, and that is named NAME-hash. */
static bool is_of_deployment(struct str pod, struct str name)
{
    struct str rest;
    ptrdiff_t dash;

    if (!after_name(pod, name, &rest))
        return false;
    dash = str_find_char(rest, '-', 0);
    if (dash < 0)
        return pod.len == POD_BASE_MAX + POD_SUFFIX && is_word(rest, false);
    return is_word(str_slice(rest, 0, (size_t)dash), false) &&
           rest.len - (size_t)dash - 1 == POD_SUFFIX &&
           is_word(str_slice(rest, (size_t)dash + 1, rest.len), false);
}

bool wire_pod_is_of(struct str pod, struct str kind, struct str name)
{
    struct str rest;

    if (str_eq(kind, STR("StatefulSet")))
        return after_name(pod, name, &rest) && is_word(rest, true);
    if (name.len >= POD_BASE_MAX)
        return is_of_cut(pod, name);
    if (str_eq(kind, STR("Deployment")))
        return is_of_deployment(pod, name);
    return after_name(pod, name, &rest) && rest.len == POD_SUFFIX && is_word(rest, false);
}

/* --- samples by workload --- */

LIST_DEFINE(sample_refs, const struct sample *)

static void index_under(struct sample_index *index, struct str name, const struct sample *sample)
{
    struct str key = kube_key(index->arena, sample->namespace_, name);
    struct sample_refs *list = map_get(index->lists, key);

    if (!list) {
        list = arena_new(index->arena, struct sample_refs);
        *list = sample_refs_new(index->arena, 2);
        map_put(index->lists, key, list);
    }
    sample_refs_push(list, sample);
}

static struct str before_last_dash(struct str name)
{
    size_t end = name.len;

    while (end && name.at[end - 1] != '-')
        end--;
    return str_slice(name, 0, end ? end - 1 : 0);
}

/* Every name that wire_pod_is_of could take it for; long ones as far as they are not cut. */
static void index_sample(struct sample_index *index, const struct sample *sample)
{
    struct str once = before_last_dash(sample->pod);
    struct str twice = before_last_dash(once);

    if (once.len)
        index_under(index, once, sample);
    if (twice.len)
        index_under(index, twice, sample);
    if (sample->pod.len != POD_BASE_MAX + POD_SUFFIX)
        return;
    for (size_t len = POD_BASE_MAX - 1; len <= POD_BASE_MAX; len++)
        if (len != once.len && len != twice.len)
            index_under(index, str_slice(sample->pod, 0, len), sample);
}

struct sample_index sample_index_new(struct arena *arena, const struct samples *samples)
{
    struct sample_index index = { arena, map_new(arena, samples->count),
                                  STR_INIT("none of its pods is scraped") };

    for (uint32_t i = 0; i < samples->count; i++)
        index_sample(&index, &samples->items[i]);
    return index;
}

static void add_matching(const struct sample_index *index, struct str namespace_, struct str kind,
                         struct str name, struct set seen, struct sample_refs *to)
{
    struct arena *arena = to->arena;
    struct str key = kube_key(arena, namespace_, str_slice(name, 0, POD_BASE_MAX));
    const struct sample_refs *list = map_get(index->lists, key);

    for (uint32_t i = 0; list && i < list->count; i++) {
        const struct sample *const *one = &list->items[i];

        if (wire_pod_is_of((*one)->pod, kind, name) &&
            set_add(seen, str_make((const char *)one, sizeof(*one))))
            sample_refs_push(to, *one);
    }
}

/* Each once, also where two workloads are named alike. */
static struct sample_refs samples_of(struct arena *arena, const struct sample_index *index,
                                     struct str namespace_, struct str workloads)
{
    struct sample_refs found = sample_refs_new(arena, 8);
    struct set seen = set_new(arena, 8);
    struct str one;

    while (str_split(&workloads, ' ', &one) && one.len) {
        struct str kind;
        struct str in;

        if (str_split(&one, '/', &kind) && str_split(&one, '/', &in))
            add_matching(index, in.len ? in : namespace_, kind, one, seen, &found);
    }
    return found;
}

bool wire_is_scraped(struct arena *arena, const struct sample_index *index, struct str namespace_,
                     struct str workloads)
{
    struct sample_refs samples = samples_of(arena, index, namespace_, workloads);

    for (uint32_t i = 0; i < samples.count; i++)
        if (!samples.items[i]->gpu.len && !samples.items[i]->herds)
            return true;
    return false;
}

struct observed_metrics wire_metrics_of(struct arena *arena, const struct sample_index *index,
                                        struct str namespace_, struct str workloads)
{
    struct observed_metrics metrics = { .state = METRICS_PENDING, .message = index->nothing };
    struct sample_refs samples = samples_of(arena, index, namespace_, workloads);
    struct set seen = set_new(arena, 8);
    struct str down = STR("");
    uint32_t targets = 0, lost = 0, gpus = 0;
    double sum = 0;

    for (uint32_t i = 0; i < samples.count; i++) {
        const struct sample *sample = samples.items[i];

        if (!sample->gpu.len) {
            targets++;
            if (sample->value < 1 && !lost++)
                down = sample->pod;
        } else if (set_add(seen, sample->gpu)) {
            sum += sample->value;
            gpus++;
        }
    }
    metrics.has_gpus = gpus > 0;
    metrics.gpu_percent = gpus ? sum / gpus : 0;
    if (!targets)
        return metrics;
    metrics.state = lost ? METRICS_INACTIVE : METRICS_ACTIVE;
    metrics.message = STR("");
    if (lost)
        metrics.message = str_fmt(arena, "%u of %u targets %s down, such as that of pod %.*s", lost,
                                  targets, targets == 1 ? "is" : "are", STR_ARG(down));
    return metrics;
}
