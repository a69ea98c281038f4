/* SPDX-License-Identifier: Apache-2.0 */
/* monitoring_objects.c: the files of this folder with names put in. */
#include "stack/observability/monitoring_objects.h"

#include "base/set.h"
#include "stack/model/fields.h"
#include "text/json_write.h"
#include "text/yaml.h"

extern const struct str monitoring_alerts;
extern const struct str monitoring_dashboard_ai_workloads;
extern const struct str monitoring_dashboard_herd_gpu;
extern const struct str monitoring_dashboard_herd_inference;
extern const struct str monitoring_dashboard_herd_platform;
extern const struct str monitoring_dashboard_herd_vector_db;

static const struct str *const dashboards[DASHBOARDS] = {
    [DASHBOARD_AI_WORKLOADS] = &monitoring_dashboard_ai_workloads,
    [DASHBOARD_GPU] = &monitoring_dashboard_herd_gpu,
    [DASHBOARD_INFERENCE] = &monitoring_dashboard_herd_inference,
    [DASHBOARD_PLATFORM] = &monitoring_dashboard_herd_platform,
    [DASHBOARD_VECTOR_DB] = &monitoring_dashboard_herd_vector_db,
};

/* --- patterns --- */

/* A dot in brackets needs no backslash, which JSON and PromQL would each want doubled. */
static void put_literal(struct strbuf *out, struct str name)
{
    for (size_t i = 0; i < name.len; i++)
        if (name.at[i] == '.')
            strbuf_lit(out, "[.]");
        else
            strbuf_char(out, name.at[i]);
}

/* A controller cuts what stands before the five characters that it makes up for each pod: of a long
 * name the dash and more is gone (k8s.io/apiserver/pkg/storage/names). A Deployment's pods have the
 * hash of their ReplicaSet in between, of up to ten characters, of which a part may be left. */
enum { POD_BASE_MAX = 58, POD_SUFFIX = 5, HASH_MAX = 10 };

static void put_pods(struct strbuf *out, struct str kind, struct str name)
{
    size_t dashes = 2; /* around a hash */
    size_t left = name.len < POD_BASE_MAX ? POD_BASE_MAX - name.len - 1 + POD_SUFFIX : 0;
    bool whole = name.len + dashes + 1 <= POD_BASE_MAX; /* with a hash of one character */
    bool cut = name.len + dashes + HASH_MAX > POD_BASE_MAX;
    bool stateful = str_eq(kind, STR("StatefulSet"));

    put_literal(out, stateful ? name : str_slice(name, 0, POD_BASE_MAX));
    if (stateful)
        strbuf_lit(out, "-[0-9]+");
    else if (!left)
        strbuf_lit(out, "[a-z0-9]{5}");
    else if (!str_eq(kind, STR("Deployment")))
        strbuf_lit(out, "-[a-z0-9]{5}");
    else if (whole && cut)
        strbuf_fmt(out, "-([a-z0-9]+-[a-z0-9]{5}|[a-z0-9]{%zu})", left);
    else if (whole)
        strbuf_lit(out, "-[a-z0-9]+-[a-z0-9]{5}");
    else
        strbuf_fmt(out, "-[a-z0-9]{%zu}", left);
}

struct str monitoring_pods_pattern(struct arena *arena, struct str workloads)
{
    struct strbuf out = strbuf_new(arena, 128);
    struct str one;

    while (str_split(&workloads, ' ', &one) && one.len) {
        struct str kind, namespace_;

        if (!str_split(&one, '/', &kind) || !str_split(&one, '/', &namespace_))
            continue;
        if (out.len)
            strbuf_char(&out, '|');
        put_pods(&out, kind, one);
    }
    return strbuf_str(&out);
}

/* Names of namespaces have nothing that means something in a regular expression. */
struct str monitoring_namespaces_pattern(struct arena *arena,
                                         const struct monitored_release *release)
{
    struct set seen = set_new(arena, 2);
    struct strbuf out = strbuf_new(arena, 64);
    struct str rest = release->workloads;
    struct str one;

    while (str_split(&rest, ' ', &one) && one.len) {
        struct str kind, namespace_;

        if (!str_split(&one, '/', &kind) || !str_split(&one, '/', &namespace_) || !namespace_.len ||
            !set_add(seen, namespace_))
            continue;
        if (out.len)
            strbuf_char(&out, '|');
        strbuf_put(&out, namespace_);
    }
    return out.len ? strbuf_str(&out) : release->namespace_;
}

/* --- the rules --- */

struct placeholder {
    struct str name;
    struct str value;
};

static struct str fill_in(struct arena *arena, struct str text, const struct placeholder *of,
                          size_t count)
{
    static const struct str mark = STR_INIT("HERD_");
    struct strbuf out = strbuf_new(arena, text.len * 2);
    size_t at = 0;

    for (ptrdiff_t next; (next = str_find(text, mark, at)) >= 0;) {
        size_t i = 0;
        struct str rest = str_slice(text, (size_t)next, text.len);

        while (i < count && !str_starts(rest, of[i].name))
            i++;
        strbuf_put(&out, str_slice(text, at, (size_t)next));
        strbuf_put(&out, i < count ? of[i].value : mark);
        at = (size_t)next + (i < count ? of[i].name.len : mark.len);
    }
    strbuf_put(&out, str_slice(text, at, text.len));
    return strbuf_str(&out);
}

/* As it stands between the quotation marks of a JSON string. */
static struct str escaped(struct arena *arena, struct str text)
{
    struct strbuf out = strbuf_new(arena, text.len + 2);
    struct json_writer w = json_writer(&out);
    struct str quoted;

    json_put_str(&w, text);
    quoted = strbuf_str(&out);
    return str_slice(quoted, 1, quoted.len - 1);
}

static struct str groups_of(struct arena *arena, const struct monitored_release *release)
{
    const struct placeholder placeholders[] = {
        { STR_INIT("HERD_NAMESPACES"),
          escaped(arena, monitoring_namespaces_pattern(arena, release)) },
        { STR_INIT("HERD_NAMESPACE"), escaped(arena, release->namespace_) },
        { STR_INIT("HERD_PODS"),
          escaped(arena, monitoring_pods_pattern(arena, release->workloads)) },
        { STR_INIT("HERD_STACK"), escaped(arena, release->stack) },
        { STR_INIT("HERD_RELEASE"), escaped(arena, release->name) },
    };
    struct yaml_documents documents;
    struct error ignored = { .code = ERROR_NONE };

    if (yaml_read(arena, monitoring_alerts, &documents, &ignored) < 0 || documents.count != 1)
        return STR("{}"); /* a unit test shows that it does not happen */
    return fill_in(arena, documents.items[0].json, placeholders,
                   sizeof(placeholders) / sizeof(*placeholders));
}

static void put_owners(struct json_writer *w, const struct monitored_release *releases,
                       uint32_t count)
{
    json_put_key(w, STR("ownerReferences"));
    json_open_array(w);
    for (uint32_t i = 0; i < count; i++) {
        json_open_object(w);
        json_field_str(w, "apiVersion", STR("catalog.cattle.io/v1"));
        json_field_str(w, "kind", STR("App"));
        json_field_str(w, "name", releases[i].name);
        json_field_str(w, "uid", releases[i].app_uid);
        json_close_object(w);
    }
    json_close_array(w);
}

/* Of an object that goes with the releases, which are those of one Stack in one namespace. */
static void put_metadata(struct json_writer *w, struct str name, struct json labels,
                         const struct monitored_release *releases, uint32_t count)
{
    json_put_key(w, STR("metadata"));
    json_open_object(w);
    json_field_str(w, "name", name);
    json_field_str(w, "namespace", releases[0].namespace_);
    json_field_raw(w, "labels", json_raw(labels));
    json_put_key(w, STR("annotations"));
    json_open_object(w);
    json_field_str(w, MONITORING_STACK, releases[0].stack);
    json_close_object(w);
    put_owners(w, releases, count);
    json_close_object(w);
}

static struct str name_of(struct arena *arena, const struct monitored_release *release)
{
    return str_fmt(arena, MONITORING_RULE_PREFIX "%.*s", STR_ARG(release->name));
}

struct str monitoring_rule(struct arena *arena, const struct monitored_release *release,
                           struct json labels)
{
    struct strbuf out = strbuf_new(arena, 16 * 1024);
    struct json_writer w = json_writer(&out);

    json_open_object(&w);
    json_field_str(&w, "apiVersion", STR("monitoring.coreos.com/v1"));
    json_field_str(&w, "kind", STR("PrometheusRule"));
    put_metadata(&w, name_of(arena, release), labels, release, 1);
    json_field_raw(&w, "spec", groups_of(arena, release));
    json_close_object(&w);
    return strbuf_str(&out);
}

/* --- monitors --- */

/* Of one target: a release that nobody chose to scrape must not flood Prometheus. With more the
 * target is down, and its release Inactive. */
enum { SAMPLES_MAX = 20000 };

static const struct {
    struct str kind;
    struct str endpoints;
} monitor_words[MONITOR_KINDS] = {
    [MONITOR_SERVICE] = { STR_INIT("ServiceMonitor"), STR_INIT("endpoints") },
    [MONITOR_POD] = { STR_INIT("PodMonitor"), STR_INIT("podMetricsEndpoints") },
};

/* Targets whose namespace and `label` are not these are dropped. Both are anchored; a namespace has
 * nothing that means something in a regular expression. */
static void put_keep(struct json_writer *w, struct arena *arena, struct str namespace_,
                     struct str label, struct str pattern)
{
    json_open_object(w);
    json_field_str(w, "action", STR("keep"));
    json_put_key(w, STR("sourceLabels"));
    json_open_array(w);
    json_put_str(w, STR("__meta_kubernetes_namespace"));
    json_put_str(w, label);
    json_close_array(w);
    json_field_str(w, "separator", STR("/"));
    json_field_str(w, "regex",
                   str_fmt(arena, "%.*s/(%.*s)", STR_ARG(namespace_), STR_ARG(pattern)));
    json_close_object(w);
}

/* A replacement without source labels is a constant; "$" would refer to a group. */
static void put_stamp(struct json_writer *w, const char *label, struct str value)
{
    json_open_object(w);
    json_field_str(w, "action", STR("replace"));
    json_field_str(w, "targetLabel", str_of(label));
    json_field_str(w, "replacement", value);
    json_close_object(w);
}

static void put_endpoint(struct json_writer *w, struct arena *arena,
                         const struct monitored_release *release,
                         const struct monitor_endpoint *endpoint, int64_t interval_ms)
{
    json_open_object(w);
    if (endpoint->port.len)
        json_field_str(w, "port", endpoint->port);
    else
        json_field_int(w, "targetPort", endpoint->number);
    json_field_str(w, "path", endpoint->path);
    if (endpoint->scheme.len)
        json_field_str(w, "scheme", endpoint->scheme);
    json_field_str(w, "interval", str_fmt(arena, "%llds", (long long)(interval_ms / 1000)));
    json_put_key(w, STR("relabelings"));
    json_open_array(w);
    if (endpoint->service.len)
        put_keep(w, arena, endpoint->namespace_, STR("__meta_kubernetes_service_name"),
                 endpoint->service);
    else
        put_keep(w, arena, endpoint->namespace_, STR("__meta_kubernetes_pod_name"), endpoint->pods);
    put_stamp(w, "herd_stack", release->stack);
    put_stamp(w, MONITORING_RELEASE_LABEL, release->name);
    json_close_array(w);
    json_close_object(w);
}

static void put_namespaces(struct json_writer *w, struct arena *arena,
                           const struct monitor_endpoints *endpoints)
{
    struct str_list seen = str_list_new(arena, 2);

    json_put_key(w, STR("namespaceSelector"));
    json_open_object(w);
    json_put_key(w, STR("matchNames"));
    json_open_array(w);
    for (uint32_t i = 0; i < endpoints->count; i++) {
        if (str_list_has(&seen, endpoints->items[i].namespace_))
            continue;
        str_list_push(&seen, endpoints->items[i].namespace_);
        json_put_str(w, endpoints->items[i].namespace_);
    }
    json_close_array(w);
    json_close_object(w);
}

/* Everything in these namespaces is selected, and each endpoint keeps what is its own: two Services
 * that have the same labels would make each pod two targets. */
struct str monitoring_monitor(struct arena *arena, enum monitor_kind kind,
                              const struct monitored_release *release, struct json labels,
                              const struct monitor_endpoints *endpoints, int64_t interval_ms)
{
    struct strbuf out = strbuf_new(arena, 2048);
    struct json_writer w = json_writer(&out);

    json_open_object(&w);
    json_field_str(&w, "apiVersion", STR("monitoring.coreos.com/v1"));
    json_field_str(&w, "kind", monitor_words[kind].kind);
    put_metadata(&w, name_of(arena, release), labels, release, 1);
    json_put_key(&w, STR("spec"));
    json_open_object(&w);
    json_field_raw(&w, "selector", STR("{}"));
    put_namespaces(&w, arena, endpoints);
    json_field_int(&w, "sampleLimit", SAMPLES_MAX);
    json_put_key(&w, monitor_words[kind].endpoints);
    json_open_array(&w);
    for (uint32_t i = 0; i < endpoints->count; i++)
        put_endpoint(&w, arena, release, &endpoints->items[i], interval_ms);
    json_close_array(&w);
    json_close_object(&w);
    json_close_object(&w);
    return strbuf_str(&out);
}

/* --- tracing --- */

struct str monitoring_instrumentation_name(struct arena *arena, struct str stack)
{
    struct str namespace_;

    str_split(&stack, '/', &namespace_);
    return str_fmt(arena, MONITORING_RULE_PREFIX "%.*s.%.*s", STR_ARG(namespace_), STR_ARG(stack));
}

static void put_tracing(struct json_writer *w, struct str stack, struct str endpoint,
                        struct str sampling_ratio)
{
    json_put_key(w, STR("spec"));
    json_open_object(w);
    json_put_key(w, STR("exporter"));
    json_open_object(w);
    json_field_str(w, "endpoint", endpoint);
    json_close_object(w);
    json_field_raw(w, "propagators", STR("[\"tracecontext\",\"baggage\"]"));
    json_put_key(w, STR("sampler"));
    json_open_object(w);
    json_field_str(w, "type", STR("parentbased_traceidratio"));
    json_field_str(w, "argument", sampling_ratio);
    json_close_object(w);
    json_put_key(w, STR("resource"));
    json_open_object(w);
    json_put_key(w, STR("resourceAttributes"));
    json_open_object(w);
    json_field_str(w, "herd.stack", stack);
    json_close_object(w);
    json_close_object(w);
    json_close_object(w);
}

struct str monitoring_instrumentation(struct arena *arena,
                                      const struct monitored_releases *releases,
                                      struct str endpoint, struct str sampling_ratio)
{
    struct str stack = releases->items[0].stack;
    struct strbuf out = strbuf_new(arena, 1024);
    struct json_writer w = json_writer(&out);
    struct json labels = { NULL, 0 };
    struct error ignored;

    (void)json_read(arena, STR(MONITORING_RULE_LABELS), &json_limits_default, &labels, &ignored);
    json_open_object(&w);
    json_field_str(&w, "apiVersion", STR("opentelemetry.io/v1alpha1"));
    json_field_str(&w, "kind", STR("Instrumentation"));
    put_metadata(&w, monitoring_instrumentation_name(arena, stack), labels, releases->items,
                 releases->count);
    put_tracing(&w, stack, endpoint, sampling_ratio);
    json_close_object(&w);
    return strbuf_str(&out);
}

/* --- dashboards --- */

struct str monitoring_dashboard(struct arena *arena, struct str uid, struct str namespace_)
{
    struct strbuf out = strbuf_new(arena, 16 * 1024);
    struct json_writer w = json_writer(&out);
    unsigned which = field_word_value(&words_of_dashboard, uid);

    if (which == DASHBOARD_NONE)
        return STR("");
    json_open_object(&w);
    json_field_str(&w, "apiVersion", STR("v1"));
    json_field_str(&w, "kind", STR("ConfigMap"));
    json_put_key(&w, STR("metadata"));
    json_open_object(&w);
    json_field_str(&w, "name", str_fmt(arena, MONITORING_DASHBOARD_PREFIX "%.*s", STR_ARG(uid)));
    json_field_str(&w, "namespace", namespace_);
    json_field_raw(&w, "labels",
                   STR("{\"app.kubernetes.io/managed-by\":\"Herd\",\"grafana_dashboard\":\"1\"}"));
    json_close_object(&w);
    json_put_key(&w, STR("data"));
    json_open_object(&w);
    json_put_key(&w, str_fmt(arena, "herd-%.*s.json", STR_ARG(uid)));
    json_put_str(&w, *dashboards[which]);
    json_close_object(&w);
    json_close_object(&w);
    return strbuf_str(&out);
}

/* --- comparison --- */

/* What others add to an object stays: a merge patch could not remove it. */
static bool holds(struct json stored, struct json wanted)
{
    for (struct json_iter it = json_iter(wanted); json_next(&it);) {
        struct json have = json_get(stored, it.key);
        bool both = json_is(have, JSON_OBJECT) && json_is(it.value, JSON_OBJECT);

        if (both ? !holds(have, it.value) : !json_equal(have, it.value))
            return false;
    }
    return true;
}

static bool owners_hold(struct json stored, struct json wanted)
{
    struct json_iter want = json_iter(wanted);

    while (json_next(&want)) {
        struct json_iter have = json_iter(stored);
        bool found = false;

        while (!found && json_next(&have))
            found = holds(have.value, want.value);
        if (!found)
            return false;
    }
    return true;
}

bool monitoring_is_as_wanted(struct json stored, struct json wanted)
{
    struct json have = json_get(stored, STR("metadata"));
    struct json want = json_get(wanted, STR("metadata"));

    return holds(json_get(stored, STR("spec")), json_get(wanted, STR("spec"))) &&
           holds(json_get(stored, STR("data")), json_get(wanted, STR("data"))) &&
           holds(json_get(have, STR("labels")), json_get(want, STR("labels"))) &&
           holds(json_get(have, STR("annotations")), json_get(want, STR("annotations"))) &&
           owners_hold(json_get(have, STR("ownerReferences")),
                       json_get(want, STR("ownerReferences")));
}
