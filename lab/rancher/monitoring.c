/* SPDX-License-Identifier: Apache-2.0 */
/* monitoring.c: rancher-monitoring, simulated: every ready pod is scraped, and every GPU of a pod
 * has a series of the DCGM exporter, which does not honor labels. How busy a pod's GPUs are, its
 * annotation lab.herd.suse.com/gpu-utilization says. Rules are those of the PrometheusRules. A
 * Prometheus object with the annotation lab.herd.suse.com/prometheus is a real one, on this
 * machine; one with lab.herd.suse.com/scrape: monitors scrapes by ServiceMonitors and PodMonitors
 * alone (scraping.h). */
#include "lab/rancher/inside.h"

#include "kube/request.h"
#include "lab/rancher/jsonf.h"
#include "lab/rancher/promql.h"
#include "lab/rancher/scraping.h"
#include "lab/rancher/workload.h"
#include "text/digest.h"
#include "text/time.h"

#include <stdlib.h>

#define MONITORING_NAMESPACE STR("cattle-monitoring-system")
#define REAL_ANNOTATION "lab.herd.suse.com/prometheus"
#define SCRAPE_ANNOTATION "lab.herd.suse.com/scrape"
#define GPU_UTILIZATION_ANNOTATION "lab.herd.suse.com/gpu-utilization"

enum { GPU_UTILIZATION_USUAL = 75 };

/* --- what the chart leaves in a cluster --- */

static int make_prometheus(struct simulation *simulation, struct arena *arena, struct str id,
                           struct error *err)
{
    static const struct str name = STR_INIT("rancher-monitoring-prometheus");
    struct str now = time_rfc3339(arena, simulation_now(simulation));
    struct str stored;

    if (world_ensure(simulation, arena, id, &res_prometheuses, MONITORING_NAMESPACE,
                     jsonf(arena,
                           "{'apiVersion':'monitoring.coreos.com/v1','kind':'Prometheus',"
                           "'metadata':{'name':%s,'namespace':%s},'spec':{'replicas':1,"
                           "'version':'v2.50.1','ruleSelector':{},'ruleNamespaceSelector':{},"
                           "'serviceMonitorSelector':{},'serviceMonitorNamespaceSelector':{},"
                           "'podMonitorSelector':{},'podMonitorNamespaceSelector':{}}}",
                           name, MONITORING_NAMESPACE),
                     err) != 0)
        return -1;
    return world_merge(simulation, arena, id, &res_prometheuses, MONITORING_NAMESPACE, name,
                       STR("status"),
                       jsonf(arena,
                             "{'status':{'replicas':1,'availableReplicas':1,'conditions':["
                             "{'type':'Available','status':'True','lastTransitionTime':%s}]}}",
                             now),
                       &stored, err);
}

int monitoring_make(struct simulation *simulation, struct arena *arena, struct str id,
                    struct error *err)
{
    for (const char *const *text = definitions_monitoring; *text; text++)
        if (api_add_definition(simulation->api, id, str_of(*text), err) != 0)
            return -1;
    if (world_make_namespace(simulation, arena, id, MONITORING_NAMESPACE, err) != 0 ||
        world_make_namespace(simulation, arena, id, STR("cattle-dashboards"), err) != 0)
        return -1;
    return make_prometheus(simulation, arena, id, err);
}

/* --- its series --- */

struct scrape {
    struct simulation *simulation;
    struct arena *arena;
    struct str cluster;
    struct prom_series_list series;
    const struct scraping *scraping; /* NULL: every ready pod is a target */
    const struct scraped_pod *pod;
};

/* `pairs` are name, value, name, value ... */
static void add_series(struct scrape *s, struct str name, const struct str *pairs,
                       uint32_t pair_count, double value)
{
    struct prom_series series = { .name = name,
                                  .labels = prom_labels_new(s->arena, pair_count),
                                  .value = value };

    for (uint32_t i = 0; i < pair_count; i++)
        prom_labels_push(&series.labels, (struct prom_label){ pairs[2 * i], pairs[2 * i + 1] });
    prom_series_list_push(&s->series, series);
}

struct scraped_pod {
    struct str namespace_, name, release;
    bool ready;
    int64_t gpus;
    double busy;
};

static bool is_ready(struct json pod)
{
    struct json_iter it = json_iter(json_walk(pod, "status", "conditions", NULL));

    while (json_next(&it))
        if (str_eq(json_str(json_get(it.value, STR("type"))), STR("Ready")))
            return str_eq(json_str(json_get(it.value, STR("status"))), STR("True"));
    return false;
}

static int64_t gpus_of(struct json pod)
{
    struct json_iter it = json_iter(json_walk(pod, "spec", "containers", NULL));
    int64_t gpus = 0;

    while (json_next(&it)) {
        struct str count =
            json_str(json_walk(it.value, "resources", "limits", "nvidia.com/gpu", NULL));
        uint64_t number;

        gpus += str_to_u64(count, &number) && number < 1024 ? (int64_t)number : 0;
    }
    return gpus;
}

static struct scraped_pod pod_of(struct arena *arena, struct json pod)
{
    struct str busy =
        json_str(json_walk(pod, "metadata", "annotations", GPU_UTILIZATION_ANNOTATION, NULL));

    return (struct scraped_pod){
        .namespace_ = json_str(json_walk(pod, "metadata", "namespace", NULL)),
        .name = json_str(json_walk(pod, "metadata", "name", NULL)),
        .release =
            json_str(json_walk(pod, "metadata", "labels", "app.kubernetes.io/instance", NULL)),
        .ready = is_ready(pod),
        .gpus = gpus_of(pod),
        .busy = busy.len ? strtod(str_z(arena, busy), NULL) : GPU_UTILIZATION_USUAL,
    };
}

static bool strikes(const struct scrape *s, enum fault_id fault, const struct scraped_pod *pod)
{
    const struct fault_place place = { .cluster = s->cluster, .release = pod->release };
    struct fault_rule rule;

    return faults_strike(s->simulation, fault, &place, &rule);
}

static void add_target(void *context, const struct prom_labels *more)
{
    struct scrape *s = context;
    const struct scraped_pod *pod = s->pod;
    bool down = strikes(s, FAULT_TARGET_DOWN, pod);
    const struct str labels[] = {
        STR("namespace"), pod->namespace_, STR("pod"),   pod->name,       STR("container"),
        pod->release,     STR("job"),      pod->release, STR("endpoint"), STR("http"),
    };

    add_series(s, STR("up"), labels, sizeof(labels) / sizeof(*labels) / 2, !down);
    for (uint32_t i = 0; i < more->count; i++)
        prom_labels_push(&s->series.items[s->series.count - 1].labels, more->items[i]);
}

static void add_gpus(struct scrape *s, const struct scraped_pod *pod)
{
    for (int64_t i = 0; i < pod->gpus; i++) {
        struct str hash = digest_sha256_hex(s->arena, pod->name);
        const struct str labels[] = {
            STR("namespace"),
            STR("gpu-operator"),
            STR("pod"),
            STR("nvidia-dcgm-exporter-x7k2p"),
            STR("exported_namespace"),
            pod->namespace_,
            STR("exported_pod"),
            pod->name,
            STR("gpu"),
            str_fmt(s->arena, "%lld", (long long)i),
            STR("UUID"),
            str_fmt(s->arena, "GPU-%.*s-%lld", 8, hash.at, (long long)i),
        };

        add_series(s, STR("DCGM_FI_DEV_GPU_UTIL"), labels, sizeof(labels) / sizeof(*labels) / 2,
                   pod->busy);
    }
}

static bool scrape_pod(void *context, struct str object)
{
    const struct prom_labels none = { .count = 0 };
    struct scrape *s = context;
    struct error ignored;
    struct json json;

    if (json_read(s->arena, str_dup(s->arena, object), &json_limits_default, &json, &ignored) != 0)
        return true;

    struct scraped_pod pod = pod_of(s->arena, json);

    if (!pod.release.len || !pod.ready)
        return true;
    s->pod = &pod;
    if (!strikes(s, FAULT_METRICS_MISSING, &pod) && s->scraping)
        scraping_targets(s->scraping, json, add_target, s);
    else if (!strikes(s, FAULT_METRICS_MISSING, &pod))
        add_target(s, &none);
    if (!strikes(s, FAULT_GPU_MISSING, &pod))
        add_gpus(s, &pod);
    return true;
}

/* --- its API --- */

struct prometheus {
    struct simulation *simulation;
    struct http_exchange *exchange;
    struct arena *arena;
    struct str cluster;
    struct json spec; /* of the first one that scrapes by monitors alone; absent: none does */
};

static void reply_data(struct prometheus *p, struct str data)
{
    reply_json(p->exchange, 200, jsonf(p->arena, "{'status':'success','data':%r}", data));
}

static void put_series(struct strbuf *out, struct arena *arena, const struct prom_series *series,
                       double now_s)
{
    if (out->len)
        strbuf_char(out, ',');
    strbuf_lit(out, "{\"metric\":{");
    if (series->name.len)
        jsonf_put(out, "'__name__':%s", series->name);
    for (uint32_t i = 0; i < series->labels.count; i++)
        jsonf_put(out, i || series->name.len ? ",%s:%s" : "%s:%s", series->labels.items[i].name,
                  series->labels.items[i].value);
    strbuf_fmt(out, "},\"value\":[%.3f,\"%g\"]}", now_s, series->value);
    (void)arena;
}

static void query(struct prometheus *p)
{
    struct scrape s = { .simulation = p->simulation,
                        .arena = p->arena,
                        .cluster = p->cluster,
                        .series = prom_series_list_new(p->arena, 64) };
    struct strbuf out = strbuf_new(p->arena, 4096);
    struct prom_series_list vector;
    struct error err = { 0 };
    struct str text = STR("");

    http_query(p->exchange, STR("query"), &text);
    if (json_is(p->spec, JSON_OBJECT))
        s.scraping = scraping_read(p->simulation, p->arena, p->cluster, p->spec);
    api_list(p->simulation->api, p->arena, p->cluster, &res_pods, STR(""), scrape_pod, &s, &err);
    if (promql_evaluate(p->arena, text, &s.series, &vector, &err) != 0) {
        reply_json(p->exchange, 422,
                   jsonf(p->arena, "{'status':'error','errorType':'execution','error':%s}",
                         str_of(err.text)));
        return;
    }
    for (uint32_t i = 0; i < vector.count; i++)
        put_series(&out, p->arena, &vector.items[i], (double)simulation_now(p->simulation) / 1000);
    reply_data(p, jsonf(p->arena, "{'resultType':'vector','result':[%r]}",
                        out.len ? strbuf_str(&out) : STR(" ")));
}

struct groups {
    struct arena *arena;
    struct strbuf out;
};

static struct str rules_of(struct arena *arena, struct json group)
{
    struct strbuf out = strbuf_new(arena, 512);

    for (struct json_iter it = json_iter(json_get(group, STR("rules"))); json_next(&it);) {
        struct str name = json_str(json_get(it.value, STR("alert")));
        struct str labels = json_raw(json_get(it.value, STR("labels")));

        if (!name.len)
            continue;
        jsonf_put(&out,
                  "%r{'state':'inactive','name':%s,'query':%s,'labels':%r,'alerts':[],"
                  "'health':'ok','type':'alerting'}",
                  out.len ? STR(",") : STR(" "), name, json_str(json_get(it.value, STR("expr"))),
                  labels.len ? labels : STR("{}"));
    }
    return out.len ? strbuf_str(&out) : STR(" ");
}

static bool add_groups(void *context, struct str object)
{
    struct groups *groups = context;
    struct arena *arena = groups->arena;
    struct error ignored;
    struct json rule;

    if (json_read(arena, str_dup(arena, object), &json_limits_default, &rule, &ignored) != 0)
        return true;

    struct json meta = json_get(rule, STR("metadata"));
    struct str file = str_fmt(arena, "/etc/prometheus/rules/%.*s-%.*s-%.*s.yaml",
                              STR_ARG(json_str(json_get(meta, STR("namespace")))),
                              STR_ARG(json_str(json_get(meta, STR("name")))),
                              STR_ARG(json_str(json_get(meta, STR("uid")))));

    for (struct json_iter it = json_iter(json_walk(rule, "spec", "groups", NULL)); json_next(&it);)
        jsonf_put(&groups->out, "%r{'name':%s,'file':%s,'interval':30,'rules':[%r]}",
                  groups->out.len ? STR(",") : STR(" "), json_str(json_get(it.value, STR("name"))),
                  file, rules_of(arena, it.value));
    return true;
}

static void rules(struct prometheus *p)
{
    struct groups groups = { p->arena, strbuf_new(p->arena, 4096) };
    struct error err = { 0 };

    api_list(p->simulation->api, p->arena, p->cluster, &res_prometheus_rules, STR(""), add_groups,
             &groups, &err);
    reply_data(
        p, jsonf(p->arena, "{'groups':[%r]}", groups.out.len ? strbuf_str(&groups.out) : STR(" ")));
}

bool monitoring_proxied(struct str path, struct str *ret_namespace, struct str *ret_service,
                        struct str *ret_rest)
{
    static const struct str prefix = STR_INIT("/api/v1/namespaces/");
    static const struct str proxy = STR_INIT("proxy");
    struct str rest = path;
    struct str part;

    if (!str_starts(path, prefix))
        return false;
    rest = str_slice(path, prefix.len, path.len);
    if (!str_split(&rest, '/', ret_namespace) || !str_split(&rest, '/', &part) ||
        !str_eq(part, STR("services")) || !str_split(&rest, '/', ret_service) ||
        !str_starts(rest, proxy))
        return false;
    *ret_rest = str_slice(rest, proxy.len, rest.len);
    return true;
}

struct found_prometheus {
    struct arena *arena;
    bool found;
    struct str real;  /* its address; "" = it is simulated */
    struct json spec; /* if it scrapes by monitors alone */
};

static bool look_at_prometheus(void *context, struct str object)
{
    struct found_prometheus *found = context;
    struct error ignored;
    struct json json;

    found->found = true;
    if (json_read(found->arena, str_dup(found->arena, object), &json_limits_default, &json,
                  &ignored) != 0)
        return true;

    struct json notes = json_walk(json, "metadata", "annotations", NULL);

    found->real = json_str(json_get(notes, STR(REAL_ANNOTATION)));
    if (str_eq(json_str(json_get(notes, STR(SCRAPE_ANNOTATION))), STR("monitors")))
        found->spec = json_get(json, STR("spec"));
    return !found->real.len;
}

/* The operator makes the Service with the first Prometheus of a namespace. */
static struct found_prometheus find_prometheus(struct prometheus *p, struct str namespace_)
{
    struct found_prometheus found = { .arena = p->arena };
    struct error err = { 0 };

    api_list(p->simulation->api, p->arena, p->cluster, &res_prometheuses, namespace_,
             look_at_prometheus, &found, &err);
    return found;
}

/* With its query, encoded anew. */
static void answer_as(struct prometheus *p, struct str address, struct str path)
{
    struct strbuf url = strbuf_new(p->arena, 1024);
    struct str query_text = STR("");
    struct error err = { 0 };
    struct str body = STR("");
    int status = 503;

    strbuf_put(&url, path);
    if (http_query(p->exchange, STR("query"), &query_text)) {
        strbuf_lit(&url, "?query=");
        kube_percent_encode(&url, query_text);
    }
    if (forward_get(p->arena, address, strbuf_str(&url), &status, &body, &err) != 0)
        reply_e3(p->exchange, 503, "ServiceUnavailable",
                 str_fmt(p->arena, "error trying to reach service: %s", err.text));
    else
        reply_json(p->exchange, status, body);
}

static void answer(struct prometheus *p, struct str path)
{
    const struct fault_place place = { .cluster = p->cluster };
    struct fault_rule rule;

    if (faults_strike(p->simulation, FAULT_PROMETHEUS_STARTING, &place, &rule)) {
        http_answer_header(p->exchange, "X-Prometheus-Stopping", STR("false"));
        reply_text(p->exchange, 503, STR("Service Unavailable"));
    } else if (str_eq(path, STR("/api/v1/query"))) {
        query(p);
    } else if (str_eq(path, STR("/api/v1/rules"))) {
        rules(p);
    } else {
        reply_text(p->exchange, 404, STR("404 page not found\n"));
    }
}

bool monitoring_handle(struct simulation *simulation, struct http_exchange *exchange,
                       struct str cluster, struct str path)
{
    struct prometheus p = { .simulation = simulation,
                            .exchange = exchange,
                            .arena = http_view(exchange)->arena,
                            .cluster = cluster };
    struct found_prometheus found;
    struct str namespace_, service, rest;

    if (!monitoring_proxied(path, &namespace_, &service, &rest) ||
        !str_eq(service, STR("http:prometheus-operated:9090")))
        return false;
    found = find_prometheus(&p, namespace_);
    p.spec = found.spec;
    if (found.real.len)
        answer_as(&p, found.real, rest);
    else if (found.found)
        answer(&p, rest);
    else
        reply_e3(exchange, 404, "NotFound", STR("services \"prometheus-operated\" not found"));
    return true;
}

void monitoring_series(struct simulation *simulation, struct arena *arena, struct str cluster,
                       struct prom_series_list *ret_series)
{
    struct scrape s = { .simulation = simulation,
                        .arena = arena,
                        .cluster = cluster,
                        .series = prom_series_list_new(arena, 64) };
    struct error err = { 0 };

    api_list(simulation->api, arena, cluster, &res_pods, STR(""), scrape_pod, &s, &err);
    *ret_series = s.series;
}

/* --- what a real Prometheus scrapes --- */

/* As the exporter says it, before a scrape renames what clashes. */
static void export_series(struct strbuf *out, const struct prom_series *series)
{
    static const struct str prefix = STR_INIT("exported_");

    strbuf_fmt(out, "%.*s{", STR_ARG(series->name));
    for (uint32_t i = 2; i < series->labels.count; i++) {
        struct prom_label label = series->labels.items[i];

        if (str_starts(label.name, prefix))
            label.name = str_slice(label.name, prefix.len, label.name.len);
        strbuf_fmt(out, "%s%.*s=\"%.*s\"", i > 2 ? "," : "", STR_ARG(label.name),
                   STR_ARG(label.value));
    }
    strbuf_fmt(out, "} %g\n", series->value);
}

static struct str exported(struct scrape *s)
{
    struct strbuf out = strbuf_new(s->arena, 4096);
    struct error err = { 0 };

    api_list(s->simulation->api, s->arena, s->cluster, &res_pods, STR(""), scrape_pod, s, &err);
    for (uint32_t i = 0; i < s->series.count; i++)
        if (!str_eq(s->series.items[i].name, STR("up")))
            export_series(&out, &s->series.items[i]);
    return strbuf_str(&out);
}

void monitoring_export(struct simulation *simulation, struct http_exchange *exchange,
                       struct str cluster)
{
    struct arena *arena = http_view(exchange)->arena;
    struct scrape s = { .simulation = simulation,
                        .arena = arena,
                        .cluster = cluster,
                        .series = prom_series_list_new(arena, 64) };
    struct scraped_pod pod = { .release = STR("") };

    if (!http_query(exchange, STR("release"), &pod.release))
        http_answer(exchange, 200, "text/plain; version=0.0.4", exported(&s));
    else if (strikes(&s, FAULT_TARGET_DOWN, &pod))
        reply_text(exchange, 503, STR("not ready\n"));
    else
        http_answer(exchange, 200, "text/plain; version=0.0.4", STR("ready 1\n"));
}
