/* SPDX-License-Identifier: Apache-2.0 */
/* suse_observability.c: who asks, and the few requests that Herd makes. */
#include "lab/suse_observability/suse_observability.h"

#include "lab/rancher/inside.h"
#include "lab/rancher/jsonf.h"
#include "lab/rancher/promql.h"
#include "lab/suse_observability/monitors.h"

#define TOKEN "svctok-lab-secret"

struct so {
    struct simulation *simulation;
    struct http_exchange *exchange;
    struct arena *arena;
};

/* --- its clusters --- */

struct agent {
    struct arena *arena;
    struct str name; /* "" = none says one */
};

static struct str name_in(struct json deployment)
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

static bool look_at_deployment(void *context, struct str object)
{
    struct agent *agent = context;
    struct error ignored;
    struct json json, labels;

    if (json_read(agent->arena, str_dup(agent->arena, object), &json_limits_default, &json,
                  &ignored) != 0)
        return true;
    labels = json_walk(json, "metadata", "labels", NULL);
    if (str_eq(json_str(json_get(labels, STR("app.kubernetes.io/name"))),
               STR("suse-observability-agent")))
        agent->name = name_in(json);
    return !agent->name.len;
}

/* What the cluster is called there; "" = it is not known. */
static struct str known_as(struct so *so, struct str cluster)
{
    const struct fault_place place = { .cluster = cluster };
    struct agent agent = { .arena = so->arena };
    struct fault_rule rule;
    struct error err = { 0 };

    if (faults_strike(so->simulation, FAULT_SUSE_UNKNOWN, &place, &rule))
        return STR("");
    world_list(so->simulation, so->arena, cluster, &res_deployments, STR(""), look_at_deployment,
               &agent, &err);
    return agent.name;
}

static void answer_stackpacks(struct so *so)
{
    struct str_list ids = clusters_ids(so->simulation, so->arena);
    struct strbuf out = strbuf_new(so->arena, 1024);

    for (uint32_t i = 0; i < ids.count; i++) {
        struct str name = known_as(so, ids.items[i]);

        if (name.len)
            jsonf_put(&out,
                      "%r{'id':%d,'status':'INSTALLED','config':{'kubernetes_cluster_name':%s}}",
                      out.len ? STR(",") : STR(" "), (int64_t)i + 1, name);
    }
    reply_json(so->exchange, 200,
               jsonf(so->arena,
                     "[{'name':'common','displayName':'Common','configurations':[]},"
                     "{'name':'kubernetes-v2','displayName':'Kubernetes','configurations':[%r]}]",
                     out.len ? strbuf_str(&out) : STR(" ")));
}

/* --- its series --- */

/* What comes by OpenTelemetry says in these where it comes from. */
static struct str label_of(struct str name)
{
    return str_eq(name, STR("namespace")) ? STR("k8s_namespace_name")
           : str_eq(name, STR("pod"))     ? STR("k8s_pod_name")
                                          : name;
}

static void add_series(struct so *so, struct str cluster, struct str name,
                       struct prom_series_list *all)
{
    struct prom_series_list series;

    monitoring_series(so->simulation, so->arena, cluster, &series);
    for (uint32_t i = 0; i < series.count; i++) {
        struct prom_series one = series.items[i];

        for (uint32_t k = 0; k < one.labels.count; k++)
            one.labels.items[k].name = label_of(one.labels.items[k].name);
        prom_labels_push(&one.labels, (struct prom_label){ STR("k8s_cluster_name"), name });
        prom_series_list_push(all, one);
    }
}

static struct str vector_of(struct so *so, const struct prom_series_list *vector)
{
    struct strbuf out = strbuf_new(so->arena, 4096);

    for (uint32_t i = 0; i < vector->count; i++) {
        const struct prom_series *one = &vector->items[i];

        strbuf_fmt(&out, "%s{\"metric\":{", i ? "," : "");
        for (uint32_t k = 0; k < one->labels.count; k++)
            jsonf_put(&out, k ? ",%s:%s" : "%s:%s", one->labels.items[k].name,
                      one->labels.items[k].value);
        strbuf_fmt(&out, "},\"value\":[%lld,\"%g\"]}",
                   (long long)(simulation_now(so->simulation) / 1000), one->value);
    }
    return out.len ? strbuf_str(&out) : STR(" ");
}

static void answer_query(struct so *so)
{
    struct str_list ids = clusters_ids(so->simulation, so->arena);
    struct prom_series_list all = prom_series_list_new(so->arena, 64);
    struct prom_series_list vector;
    struct str query = STR("");
    struct error err = { 0 };

    http_query(so->exchange, STR("query"), &query);
    for (uint32_t i = 0; i < ids.count; i++) {
        struct str name = known_as(so, ids.items[i]);

        if (name.len)
            add_series(so, ids.items[i], name, &all);
    }
    if (promql_evaluate(so->arena, query, &all, &vector, &err) != 0)
        reply_json(so->exchange, 422,
                   jsonf(so->arena, "{'status':'error','errorType':'execution','error':%s}",
                         str_of(err.text)));
    else
        reply_json(so->exchange, 200,
                   jsonf(so->arena,
                         "{'status':'success','data':{'resultType':'vector','result':[%r]}}",
                         vector_of(so, &vector)));
}

/* --- the way in --- */

static void answer_info(struct so *so)
{
    reply_json(so->exchange, 200,
               STR("{\"version\":{\"major\":7,\"minor\":0,\"patch\":0,\"diff\":\"\",\"commit\":"
                   "\"lab\",\"isDev\":false},\"deploymentMode\":\"SelfHosted\"}"));
}

static void list_monitors(struct so *so)
{
    lab_monitors_list(so->simulation, so->exchange);
}

static void import_monitors(struct so *so)
{
    lab_monitors_import(so->simulation, so->exchange);
}

#define MONITOR_PATH "/api/monitors/"

static void delete_monitor(struct so *so)
{
    struct str path = http_view(so->exchange)->path;

    lab_monitors_delete(so->simulation, so->exchange,
                        str_slice(path, sizeof(MONITOR_PATH) - 1, path.len));
}

static const struct {
    const char *method;
    struct str path; /* with a slash at its end: what begins so */
    void (*answer)(struct so *so);
} answers[] = {
    { "GET", STR_INIT("/api/server/info"), answer_info },
    { "GET", STR_INIT("/api/stackpack"), answer_stackpacks },
    { "GET", STR_INIT("/prometheus/api/v1/query"), answer_query },
    { "GET", STR_INIT("/api/monitors"), list_monitors },
    { "POST", STR_INIT("/api/import"), import_monitors },
    { "DELETE", STR_INIT(MONITOR_PATH), delete_monitor },
};

static bool is_at(struct str path, struct str row)
{
    return str_ends(row, STR("/")) ? str_starts(path, row) : str_eq(path, row);
}

static void answer(struct so *so)
{
    const struct http_exchange_view *view = http_view(so->exchange);
    const struct fault_place anywhere = { .cluster = STR_INIT("") };
    struct fault_rule rule;

    if (!str_eq(view->method, STR("GET")) &&
        faults_strike(so->simulation, FAULT_SUSE_READ_ONLY, &anywhere, &rule)) {
        http_answer(so->exchange, 403, NULL, STR(""));
        return;
    }
    for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++)
        if (str_eq(view->method, str_of(answers[i].method)) && is_at(view->path, answers[i].path)) {
            answers[i].answer(so);
            return;
        }
    reply_text(so->exchange, 404, STR("404 page not found\n"));
}

void suse_observability_handle(struct simulation *simulation, struct http_exchange *exchange)
{
    struct so so = { simulation, exchange, http_view(exchange)->arena };
    const struct fault_place anywhere = { .cluster = STR_INIT("") };
    struct fault_rule rule;

    atomic_fetch_add(&simulation->counts[COUNT_SUSE_OBSERVABILITY], 1);
    if (faults_strike(simulation, FAULT_SUSE_DOWN, &anywhere, &rule)) {
        reply_text(exchange, 503, STR("upstream connect error or disconnect/reset before headers"));
    } else if (!str_eq(http_header(exchange, "X-API-Key"), STR(TOKEN)) ||
               faults_strike(simulation, FAULT_SUSE_TOKEN, &anywhere, &rule)) {
        atomic_fetch_add(&simulation->counts[COUNT_SUSE_OBSERVABILITY_REJECTED], 1);
        http_answer(exchange, 401, NULL, STR(""));
    } else {
        answer(&so);
    }
}
