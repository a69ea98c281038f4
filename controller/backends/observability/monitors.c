/* SPDX-License-Identifier: Apache-2.0 */
/* monitors.c: releases by name, their workloads by name, Services by a label that they select. */
#include "controller/backends/observability/monitors.h"

#include "controller/backends/release_pods.h"
#include "controller/limits.h"
#include "kube/selector.h"

enum { PATH_MAX_BYTES = 256 };

const struct str monitors_namespaces_path = STR_INIT("/api/v1/namespaces");

static const char *const prefixes[MONITOR_KINDS] = { "serviceMonitor", "podMonitor" };
static const struct kube_resource services_resource =
    KUBE_RESOURCE_INIT("", "v1", "services", "Service", true);

struct candidate {
    const struct upkeep_release *release;
    struct str key; /* namespace/name */
    bool others;
    bool unread;
    bool runs;       /* a pod of it was seen */
    struct str note; /* what is wrong with what a pod says of its metrics */
    struct monitor_endpoints endpoints[MONITOR_KINDS];
};
LIST_DEFINE(candidates, struct candidate *)

/* A Service with a port of a usual name. */
struct service {
    struct str name;
    struct str port;
    struct selector selector;
};
LIST_DEFINE(services, struct service)

struct workload {
    struct candidate *of;
    bool seen; /* pods of a workload are alike */
};

enum listing { LISTING_SERVICES, LISTING_PODS, LISTINGS };

struct monitors {
    struct arena *arena;
    struct upkeep *upkeep;
    const struct wire_prometheus *prometheus;
    struct candidates candidates;
    struct map *by_release;   /* namespace/name -> struct candidate */
    struct map *by_workload;  /* "KIND/NAMESPACE/NAME" -> struct workload */
    struct map *by_namespace; /* -> struct candidates that have workloads there */
    struct map *services;     /* "NAMESPACE/KEY=VALUE" -> struct services */
    struct map *labels;       /* of namespaces: -> struct json; NULL = not read */
    struct str bodies[MONITOR_KINDS];
    uint32_t at; /* in by_namespace */
    enum listing listing;
    struct str continue_;
    uint32_t pages;
};

/* --- which releases --- */

static void *list_at(struct map *map, struct arena *arena, struct str key, size_t bytes)
{
    void *list = map_get(map, key);

    if (!list) {
        list = arena_alloc(arena, bytes);
        map_put(map, str_dup(arena, key), list);
    }
    return list;
}

static void add_workloads(struct monitors *m, struct candidate *candidate)
{
    struct str_list namespaces = str_list_new(m->arena, 1);
    struct str rest = candidate->release->of.workloads;
    struct str one;

    while (str_split(&rest, ' ', &one) && one.len) {
        struct workload *workload = arena_new(m->arena, struct workload);

        workload->of = candidate;
        map_put(m->by_workload, one, workload);
    }
    release_namespaces(candidate->release->of.workloads, &namespaces);
    for (uint32_t i = 0; i < namespaces.count; i++) {
        struct candidates *in =
            list_at(m->by_namespace, m->arena, namespaces.items[i], sizeof(*in));

        in->arena = m->arena;
        candidates_push(in, candidate);
    }
}

static void add_candidate(struct monitors *m, const struct upkeep_release *release,
                          const struct sample_index *samples)
{
    struct candidate *candidate = arena_new(m->arena, struct candidate);

    *candidate = (struct candidate){
        .release = release,
        .key = kube_key(m->arena, release->of.namespace_, release->of.name),
        .others = wire_is_scraped(m->arena, samples, release->of.namespace_, release->of.workloads),
        .endpoints = { monitor_endpoints_new(m->arena, 1), monitor_endpoints_new(m->arena, 1) },
    };
    candidates_push(&m->candidates, candidate);
    map_put(m->by_release, candidate->key, candidate);
}

struct monitors *monitors_new(struct arena *arena, struct upkeep *upkeep,
                              const struct wire_prometheus *prometheus,
                              const struct sample_index *samples)
{
    struct monitors *m = arena_new(arena, struct monitors);
    uint32_t count = upkeep->releases.count;

    *m = (struct monitors){
        .arena = arena,
        .upkeep = upkeep,
        .prometheus = prometheus,
        .candidates = candidates_new(arena, count),
        .by_release = map_new(arena, count),
        .by_workload = map_new(arena, count),
        .by_namespace = map_new(arena, 8),
        .services = map_new(arena, 8),
        .continue_ = STR(""),
    };
    for (uint32_t i = 0; i < count; i++)
        add_candidate(m, &upkeep->releases.items[i], samples);
    return m;
}

/* --- what there is --- */

struct str monitors_path(struct arena *arena, enum monitor_kind kind)
{
    const struct kube_request list = { .verb = KUBE_LIST,
                                       .resource = upkeep_monitors_resources[kind] };

    return kube_request_path(arena, &list);
}

/* Helm notes on each object which release it is of. */
static void note_chart_monitor(struct monitors *m, struct json stored)
{
    struct json notes = json_walk(stored, "metadata", "annotations", NULL);
    struct str key =
        kube_key(m->arena, json_str(json_get(notes, STR("meta.helm.sh/release-namespace"))),
                 json_str(json_get(notes, STR("meta.helm.sh/release-name"))));
    struct candidate *candidate = map_get(m->by_release, key);

    if (candidate)
        candidate->others = true;
}

int monitors_read(struct monitors *m, enum monitor_kind kind, struct str body, struct error *err)
{
    struct json root;

    if (upkeep_read_json(m->arena, body, &root, err) < 0)
        return error_wrap(err, "its list of %.*s", STR_ARG(upkeep_monitors_resources[kind].plural));
    for (struct json_iter it = json_iter(json_get(root, STR("items"))); json_next(&it);)
        if (!upkeep_is_herds(it.value))
            note_chart_monitor(m, it.value);
    m->bodies[kind] = body;
    if (kind == MONITOR_POD)
        for (uint32_t i = 0; i < m->candidates.count; i++)
            if (!m->candidates.items[i]->others && m->candidates.items[i]->release->ready)
                add_workloads(m, m->candidates.items[i]);
    return 0;
}

bool monitors_ask_namespaces(const struct monitors *m)
{
    const struct wire_prometheus *prometheus = m->prometheus;

    return selection_asks_namespaces(&prometheus->rules) ||
           selection_asks_namespaces(&prometheus->monitors[MONITOR_SERVICE]) ||
           selection_asks_namespaces(&prometheus->monitors[MONITOR_POD]);
}

int monitors_read_namespaces(struct monitors *m, struct str body, struct error *err)
{
    struct json root;

    if (upkeep_read_json(m->arena, body, &root, err) < 0)
        return error_wrap(err, "its list of namespaces");
    m->labels = map_new(m->arena, 32);
    for (struct json_iter it = json_iter(json_get(root, STR("items"))); json_next(&it);) {
        struct json *labels = arena_new(m->arena, struct json);

        *labels = json_walk(it.value, "metadata", "labels", NULL);
        map_put(m->labels, json_str(json_walk(it.value, "metadata", "name", NULL)), labels);
    }
    return 0;
}

/* --- Services and pods, one namespace after the other --- */

struct str monitors_next_path(struct monitors *m, struct arena *arena)
{
    struct str namespace_;

    if (m->at == map_count(m->by_namespace))
        return STR("");
    namespace_ = map_key(m->by_namespace, m->at);
    if (m->listing == LISTING_PODS)
        return release_pods_path(arena, namespace_, m->continue_);

    const struct kube_request list = { .verb = KUBE_LIST,
                                       .resource = services_resource,
                                       .namespace_ = namespace_,
                                       .limit = LIMIT_PODS_LOOKED_AT,
                                       .continue_ = m->continue_ };

    return kube_request_path(arena, &list);
}

static void begin_listing(struct monitors *m, enum listing listing)
{
    m->continue_ = STR("");
    m->pages = 0;
    m->listing = listing == LISTINGS ? LISTING_SERVICES : listing;
    m->at += listing == LISTINGS;
}

void monitors_skip(struct monitors *m)
{
    const struct candidates *in = map_value(m->by_namespace, m->at);

    for (uint32_t i = 0; i < in->count; i++)
        in->items[i]->unread = true;
    begin_listing(m, LISTINGS);
}

static bool is_usual(struct str port)
{
    return str_eq(port, STR("metrics")) || str_eq(port, STR("http-metrics")) ||
           str_eq(port, STR("prometheus"));
}

static struct str usual_port(struct json ports)
{
    for (struct json_iter it = json_iter(ports); json_next(&it);)
        if (is_usual(json_str(json_get(it.value, STR("name")))))
            return json_str(json_get(it.value, STR("name")));
    return STR("");
}

/* A Service selects by equality: any of its labels leads to it. */
static struct str label_key(struct arena *arena, struct str namespace_, struct str key,
                            struct str value)
{
    return str_fmt(arena, "%.*s/%.*s=%.*s", STR_ARG(namespace_), STR_ARG(key), STR_ARG(value));
}

static void read_service(struct monitors *m, struct str namespace_, struct json stored)
{
    struct json spec = json_get(stored, STR("spec"));
    struct str port = usual_port(json_get(spec, STR("ports")));
    struct json_iter labels = json_iter(json_get(spec, STR("selector")));
    struct service service = { .selector = selector_new(m->arena) };
    struct str key = STR("");

    for (; port.len && json_next(&labels);) {
        struct str_list values = str_list_new(m->arena, 1);

        str_list_push(&values, str_dup(m->arena, json_str(labels.value)));
        selector_add(&service.selector, str_dup(m->arena, labels.key), SELECTOR_IN, values);
        if (!key.len)
            key = label_key(m->arena, namespace_, labels.key, json_str(labels.value));
    }
    if (!key.len)
        return;

    struct services *list = list_at(m->services, m->arena, key, sizeof(*list));

    list->arena = m->arena;
    service.name = str_dup(m->arena, json_str(json_walk(stored, "metadata", "name", NULL)));
    service.port = str_dup(m->arena, port);
    services_push(list, service);
}

/* The first by name: of two, such as a headless one beside another, each pod would be two targets.
 */
static const struct service *service_of(const struct monitors *m, struct arena *arena,
                                        struct str namespace_, struct json labels)
{
    const struct service *found = NULL;

    for (struct json_iter it = json_iter(labels); json_next(&it);) {
        const struct services *list =
            map_get(m->services, label_key(arena, namespace_, it.key, json_str(it.value)));

        for (uint32_t i = 0; list && i < list->count; i++)
            if (selector_matches(NULL, &list->items[i].selector, labels) &&
                (!found || str_cmp(list->items[i].name, found->name) < 0))
                found = &list->items[i];
    }
    return found;
}

/* Of all containers: the port with that number, or, if that is 0, with a usual name. */
static bool find_port(struct json pod, int64_t number, struct str *ret_name)
{
    struct json_iter container = json_iter(json_walk(pod, "spec", "containers", NULL));

    while (json_next(&container)) {
        struct json_iter port = json_iter(json_get(container.value, STR("ports")));

        while (json_next(&port)) {
            struct str name = json_str(json_get(port.value, STR("name")));
            int64_t here = 0;

            json_int64(json_get(port.value, STR("containerPort")), &here);
            if (number ? here == number : is_usual(name)) {
                *ret_name = name;
                return true;
            }
        }
    }
    return false;
}

static struct str annotation(struct json pod, const char *name)
{
    return json_str(json_get(json_walk(pod, "metadata", "annotations", NULL), str_of(name)));
}

/* Where a pod says that its metrics are, beside the port. */
static struct monitor_endpoint endpoint_of(struct arena *arena, struct str namespace_,
                                           struct json pod)
{
    struct str path = annotation(pod, "prometheus.io/path");
    struct str scheme = annotation(pod, "prometheus.io/scheme");
    bool usable = str_starts(path, STR("/")) && path.len <= PATH_MAX_BYTES;

    return (struct monitor_endpoint){
        .namespace_ = str_dup(arena, namespace_),
        .path = usable ? str_dup(arena, path) : STR("/metrics"),
        .scheme = str_eq(scheme, STR("https")) ? STR("https") : STR(""),
    };
}

static void add_pod_endpoint(struct monitors *m, struct candidate *candidate, struct json pod,
                             struct str workload, struct monitor_endpoint endpoint)
{
    bool asked = str_eq(annotation(pod, "prometheus.io/scrape"), STR("true"));
    struct str text = asked ? annotation(pod, "prometheus.io/port") : STR("");
    uint64_t number = 0;
    struct str name = STR("");

    if (text.len && (!str_to_u64(text, &number) || !number || number > UINT16_MAX ||
                     !find_port(pod, (int64_t)number, &name))) {
        candidate->note = str_fmt(
            m->arena, "no container declares the port of the annotation prometheus.io/port, %.*s",
            STR_ARG(str_shown(m->arena, text, 16)));
        return;
    }
    if (!text.len && !find_port(pod, 0, &name))
        return;
    endpoint.port = str_dup(m->arena, name);
    endpoint.number = (uint16_t)number;
    endpoint.pods = monitoring_pods_pattern(m->arena, workload);
    monitor_endpoints_push(&candidate->endpoints[MONITOR_POD], endpoint);
}

static void look_at_pod(struct monitors *m, struct arena *arena, struct str namespace_,
                        struct json pod)
{
    struct str name = release_pod_workload(arena, pod);
    struct workload *workload = name.len ? map_get(m->by_workload, name) : NULL;
    const struct service *service;
    struct monitor_endpoint endpoint;

    if (!workload || workload->seen)
        return;
    workload->seen = workload->of->runs = true;
    if (str_eq(annotation(pod, "prometheus.io/scrape"), STR("false"))) {
        workload->of->note = STR("the annotation prometheus.io/scrape of its pods is false");
        return;
    }
    service = service_of(m, arena, namespace_, json_walk(pod, "metadata", "labels", NULL));
    endpoint = endpoint_of(m->arena, namespace_, pod);
    if (!service) {
        add_pod_endpoint(m, workload->of, pod, name, endpoint);
        return;
    }
    endpoint.service = service->name;
    endpoint.port = service->port;
    monitor_endpoints_push(&workload->of->endpoints[MONITOR_SERVICE], endpoint);
}

/* A long list of pods is not kept: what is taken of it is copied. */
int monitors_read_next(struct monitors *m, struct str body, struct error *err)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str namespace_ = map_key(m->by_namespace, m->at);
    struct json root;

    if (upkeep_read_json(arena, body, &root, err) < 0)
        return error_wrap(err, "its list of %s", m->listing == LISTING_PODS ? "pods" : "services");
    for (struct json_iter it = json_iter(json_get(root, STR("items"))); json_next(&it);)
        if (m->listing == LISTING_PODS)
            look_at_pod(m, arena, namespace_, it.value);
        else
            read_service(m, namespace_, it.value);
    m->continue_ = str_dup(m->arena, json_str(json_walk(root, "metadata", "continue", NULL)));
    if (!m->continue_.len)
        begin_listing(m, m->listing + 1);
    else if (++m->pages >= LIMIT_METRICS_PAGES)
        monitors_skip(m);
    return 0;
}

/* --- what comes of it --- */

static struct json parsed(struct arena *arena, struct str text)
{
    struct json json = { NULL, 0 };
    struct error ignored;

    (void)json_read(arena, text, &json_limits_default, &json, &ignored);
    return json;
}

static struct str namespace_trouble(const struct monitors *m, const struct selection *selection,
                                    const char *prefix, struct str namespace_)
{
    const struct json *labels = m->labels ? map_get(m->labels, namespace_) : NULL;

    return selection_namespace_trouble(m->arena, selection, prefix, namespace_,
                                       str_eq(namespace_, m->prometheus->namespace_),
                                       labels ? *labels : (struct json){ NULL, 0 });
}

/* Why it is not selected; "" = it is. */
static struct str make(struct monitors *m, const struct candidate *candidate,
                       enum monitor_kind kind)
{
    const struct upkeep_release *release = candidate->release;
    const struct selection *selection = &m->prometheus->monitors[kind];
    struct selection_fit fit = selection_fit(m->arena, selection, prefixes[kind],
                                             parsed(m->arena, STR(MONITORING_MONITOR_LABELS)));
    struct str namespace_ = release->of.namespace_;

    upkeep_objects_push(
        &m->upkeep->monitors[kind],
        (struct upkeep_object){
            namespace_, str_fmt(m->arena, MONITORING_RULE_PREFIX "%.*s", STR_ARG(release->of.name)),
            monitoring_monitor(m->arena, kind, &release->of, fit.labels,
                               &candidate->endpoints[kind], release->interval_ms),
            release->of.stack });
    return fit.trouble.len ? fit.trouble
                           : namespace_trouble(m, selection, prefixes[kind], namespace_);
}

static struct monitor_finding finding_of(struct monitors *m, const struct candidate *candidate)
{
    struct monitor_finding finding = { .release = candidate->key, .state = MONITOR_OTHERS };

    if (candidate->others)
        return finding;
    finding.state = MONITOR_UNDECIDED;
    if (candidate->unread || !candidate->runs)
        return finding;
    finding.state = MONITOR_NOTHING;
    finding.message = candidate->note.len
                          ? candidate->note
                          : STR("no Service and no pod of it has a port named metrics, "
                                "http-metrics or prometheus, and no pod the annotations "
                                "prometheus.io/scrape and port");
    for (int kind = 0; kind < MONITOR_KINDS; kind++) {
        struct str trouble;

        if (!candidate->endpoints[kind].count)
            continue;
        trouble = make(m, candidate, (enum monitor_kind)kind);
        if (finding.state != MONITOR_MADE || !finding.message.len)
            finding.message = trouble.len
                                  ? str_fmt(m->arena,
                                            "Prometheus %.*s/%.*s does not select the monitor "
                                            "that Herd made of it: %.*s",
                                            STR_ARG(m->prometheus->namespace_),
                                            STR_ARG(m->prometheus->name), STR_ARG(trouble))
                                  : STR("");
        finding.state = MONITOR_MADE;
    }
    return finding;
}

int monitors_decide(struct monitors *m, struct upkeep_changes *changes,
                    struct monitor_findings *ret_findings, struct error *err)
{
    struct monitor_findings findings = monitor_findings_new(m->arena, m->candidates.count);

    for (uint32_t i = 0; i < m->candidates.count; i++) {
        struct monitor_finding finding = finding_of(m, m->candidates.items[i]);

        monitor_findings_push(&findings, finding);
        if (finding.state == MONITOR_UNDECIDED)
            set_add(m->upkeep->undecided, finding.release);
    }
    for (int kind = 0; kind < MONITOR_KINDS; kind++)
        if (upkeep_monitors(m->arena, m->upkeep, (enum monitor_kind)kind, m->bodies[kind], changes,
                            err) < 0)
            return -1;
    *ret_findings = findings;
    return 0;
}

struct rule_findings monitors_unselected_rules(const struct monitors *m)
{
    const struct selection *selection = &m->prometheus->rules;
    struct rule_findings findings = rule_findings_new(m->arena, 1);
    struct set stacks = set_new(m->arena, 4);
    struct selection_fit fit =
        selection_fit(m->arena, selection, "rule", parsed(m->arena, STR(MONITORING_RULE_LABELS)));

    for (uint32_t i = 0; i < m->upkeep->rules.count; i++) {
        const struct upkeep_object *rule = &m->upkeep->rules.items[i];
        struct str trouble = fit.trouble.len
                                 ? fit.trouble
                                 : namespace_trouble(m, selection, "rule", rule->namespace_);

        if (trouble.len && set_add(stacks, rule->stack))
            rule_findings_push(
                &findings,
                (struct rule_finding){
                    rule->stack,
                    str_fmt(m->arena,
                            "Prometheus %.*s/%.*s does not select "
                            "PrometheusRule %.*s/%.*s: %.*s",
                            STR_ARG(m->prometheus->namespace_), STR_ARG(m->prometheus->name),
                            STR_ARG(rule->namespace_), STR_ARG(rule->name), STR_ARG(trouble)) });
    }
    return findings;
}
