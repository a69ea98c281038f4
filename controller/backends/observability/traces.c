/* SPDX-License-Identifier: Apache-2.0 */
/* traces.c: a few questions in order; Services by what they take, pods by their workload. */
#include "controller/backends/observability/traces.h"

#include "controller/backends/release_pods.h"
#include "controller/clusters/connection.h"
#include "controller/limits.h"

enum { OTLP_HTTP_PORT = 4318, JAEGER_PORT = 16686 };

enum step {
    STEP_API,
    STEP_SERVICES, /* pages */
    STEP_OBJECTS,
    STEP_JAEGER,
    STEP_JAEGER_OLD, /* which knows the API's version 1 only */
    STEP_PODS,       /* pages, of one namespace after the other */
    STEP_DONE,
};

/* What takes traces, the best first. */
enum taker { TAKER_GATEWAY, TAKER_COLLECTOR, TAKER_JAEGER, TAKER_NONE };

struct service_ref {
    struct str namespace_;
    struct str name; /* "" = none was found */
    bool headless;
    enum taker taker;
};

/* A release, and what its pods showed. */
struct traced {
    const struct upkeep_trace *of;
    bool opted_in;
    bool missing; /* a workload that opted in is not known to Jaeger */
};

struct workload {
    struct traced *of;
    bool opted_in;
    bool arrives;
};

struct traces {
    struct arena *arena;
    struct upkeep *upkeep;
    enum step step;
    struct str continue_;
    uint32_t pages;
    uint32_t at; /* in namespaces */
    struct service_ref taker, jaeger;
    struct set services;        /* that Jaeger knows */
    struct str_list namespaces; /* of the workloads */
    struct traced *traced;      /* one for each of upkeep->traces */
    struct map *by_workload;    /* "KIND/NAMESPACE/NAME" -> struct workload */
    bool has_operator, services_read, counted;
};

/* --- what was found --- */

struct traces_found traces_found_new(struct arena *arena)
{
    return (struct traces_found){ .releases = traced_releases_new(arena, 0) };
}

struct traces_found traces_found_dup(struct arena *arena, const struct traces_found *of)
{
    struct traces_found copy = *of;

    copy.releases = traced_releases_new(arena, of->releases.count);
    for (uint32_t i = 0; i < of->releases.count; i++)
        traced_releases_push(&copy.releases,
                             (struct traced_release){ str_dup(arena, of->releases.items[i].release),
                                                      of->releases.items[i].arrives });
    return copy;
}

bool traces_found_equal(const struct traces_found *a, const struct traces_found *b)
{
    bool same = a->has_operator == b->has_operator && a->lacks_endpoint == b->lacks_endpoint &&
                a->counted == b->counted && a->releases.count == b->releases.count;

    for (uint32_t i = 0; same && i < a->releases.count; i++)
        same = str_eq(a->releases.items[i].release, b->releases.items[i].release) &&
               a->releases.items[i].arrives == b->releases.items[i].arrives;
    return same;
}

/* --- the questions --- */

static void add_workloads(struct traces *t, struct traced *traced)
{
    struct str rest = traced->of->of.workloads;
    struct str one;

    release_namespaces(rest, &t->namespaces);
    while (str_split(&rest, ' ', &one) && one.len) {
        struct workload *workload = arena_new(t->arena, struct workload);

        workload->of = traced;
        map_put(t->by_workload, one, workload);
    }
}

struct traces *traces_new(struct arena *arena, struct upkeep *upkeep)
{
    struct traces *t = arena_new(arena, struct traces);

    *t = (struct traces){
        .arena = arena,
        .upkeep = upkeep,
        .step = upkeep->traces.count || map_count(upkeep->stacks.strings) ? STEP_API : STEP_DONE,
        .continue_ = STR(""),
        .taker = { .taker = TAKER_NONE },
        .services = set_new(arena, 16),
        .namespaces = str_list_new(arena, 8),
        .traced = arena_array(arena, struct traced, upkeep->traces.count),
        .by_workload = map_new(arena, upkeep->traces.count),
    };
    for (uint32_t i = 0; i < upkeep->traces.count; i++) {
        t->traced[i].of = &upkeep->traces.items[i];
        add_workloads(t, &t->traced[i]);
    }
    return t;
}

static struct str services_path(const struct traces *t, struct arena *arena)
{
    const struct kube_request list = {
        .verb = KUBE_LIST,
        .resource = KUBE_RESOURCE_INIT("", "v1", "services", "Service", true),
        .limit = LIMIT_PODS_LOOKED_AT,
        .continue_ = t->continue_,
    };

    return kube_request_path(arena, &list);
}

static struct str jaeger_path(const struct traces *t, struct arena *arena, struct str path)
{
    const struct connection_service service = { "http", t->jaeger.namespace_, t->jaeger.name,
                                                JAEGER_PORT };

    return connection_service_path(arena, &service, path);
}

struct str traces_next_path(struct traces *t, struct arena *arena)
{
    switch (t->step) {
    case STEP_API:
        return STR("/apis/opentelemetry.io/v1alpha1");
    case STEP_SERVICES:
        return services_path(t, arena);
    case STEP_OBJECTS:
        return upkeep_instrumentations_path(arena);
    case STEP_JAEGER:
        return jaeger_path(t, arena, STR("/api/v3/services"));
    case STEP_JAEGER_OLD:
        return jaeger_path(t, arena, STR("/api/services"));
    case STEP_PODS:
        return release_pods_path(arena, t->namespaces.items[t->at], t->continue_);
    case STEP_DONE:
        break;
    }
    return STR("");
}

enum traces_question traces_question(const struct traces *t)
{
    switch (t->step) {
    case STEP_OBJECTS:
        return TRACES_OBJECTS;
    case STEP_JAEGER:
    case STEP_JAEGER_OLD:
        return TRACES_JAEGER;
    case STEP_DONE:
        return TRACES_NOTHING;
    case STEP_API:
    case STEP_SERVICES:
    case STEP_PODS:
        break;
    }
    return TRACES_CLUSTER;
}

static void go_on(struct traces *t, enum step step)
{
    t->step = step;
    t->continue_ = STR("");
    t->pages = 0;
}

/* Whether there is another page; of too many, what they are about is not known. */
static bool has_more(struct traces *t, struct json root, bool *ret_too_many)
{
    t->continue_ = str_dup(t->arena, json_str(json_walk(root, "metadata", "continue", NULL)));
    *ret_too_many = t->continue_.len && ++t->pages >= LIMIT_METRICS_PAGES;
    return t->continue_.len > 0;
}

/* What comes after the Instrumentations. */
static enum step after_objects(const struct traces *t)
{
    return t->jaeger.name.len && t->namespaces.count ? STEP_JAEGER : STEP_DONE;
}

void traces_skip(struct traces *t)
{
    go_on(t, t->step == STEP_OBJECTS ? after_objects(t) : STEP_DONE);
}

/* --- the operator --- */

static void read_api(struct traces *t, int status, struct json root)
{
    struct json_iter it = json_iter(json_get(root, STR("resources")));

    while (status == 200 && json_next(&it))
        if (str_eq(json_str(json_get(it.value, STR("name"))),
                   upkeep_instrumentations_resource.plural))
            t->has_operator = true;
    go_on(t, !t->has_operator              ? STEP_DONE
             : t->upkeep->traces.count > 0 ? STEP_SERVICES
                                           : STEP_OBJECTS);
}

/* --- Services --- */

static bool has_port(struct json spec, int64_t wanted)
{
    for (struct json_iter it = json_iter(json_get(spec, STR("ports"))); json_next(&it);) {
        int64_t port = 0;

        if (json_int64(json_get(it.value, STR("port")), &port) && port == wanted)
            return true;
    }
    return false;
}

static bool is_jaeger(struct json stored, struct str name)
{
    static const struct str label = STR_INIT("app.kubernetes.io/name");
    struct json labels = json_walk(stored, "metadata", "labels", NULL);

    return str_eq(json_str(json_get(labels, label)), STR("jaeger")) ||
           str_eq(name, STR("jaeger")) || str_ends(name, STR("-query"));
}

/* That of SUSE Observability's server wants a key, which pods do not have. */
static enum taker taker_of(struct json stored, struct str name, struct json spec)
{
    if (!has_port(spec, OTLP_HTTP_PORT) || str_ends(name, STR("suse-observability-otel-collector")))
        return TAKER_NONE;
    if (str_ends(name, STR("-otel-telemetry-gateway")))
        return TAKER_GATEWAY;
    return is_jaeger(stored, name) ? TAKER_JAEGER : TAKER_COLLECTOR;
}

/* Of two equally good ones the first by namespace and name, in whatever order they come. */
static bool is_better(const struct service_ref *a, const struct service_ref *b)
{
    int order = str_cmp(a->namespace_, b->namespace_);

    if (!b->name.len || a->taker != b->taker)
        return !b->name.len || a->taker < b->taker;
    if (a->headless != b->headless)
        return b->headless;
    return order < 0 || (order == 0 && str_cmp(a->name, b->name) < 0);
}

static void consider(struct arena *arena, struct service_ref *best, const struct service_ref *one)
{
    if (!is_better(one, best))
        return;
    *best = *one;
    best->namespace_ = str_dup(arena, one->namespace_);
    best->name = str_dup(arena, one->name);
}

static void read_service(struct traces *t, struct json stored)
{
    struct json spec = json_get(stored, STR("spec"));
    struct service_ref one = {
        .namespace_ = json_str(json_walk(stored, "metadata", "namespace", NULL)),
        .name = json_str(json_walk(stored, "metadata", "name", NULL)),
        .headless = str_eq(json_str(json_get(spec, STR("clusterIP"))), STR("None")),
    };

    one.taker = taker_of(stored, one.name, spec);
    if (one.taker != TAKER_NONE)
        consider(t->arena, &t->taker, &one);
    one.taker = TAKER_JAEGER;
    if (is_jaeger(stored, one.name) && has_port(spec, JAEGER_PORT))
        consider(t->arena, &t->jaeger, &one);
}

/* Of one Stack in one namespace. */
struct together {
    struct monitored_releases releases;
    struct str sampling_ratio;
};

static struct map *by_stack_and_namespace(const struct traces *t)
{
    const struct upkeep_traces *traces = &t->upkeep->traces;
    struct map *map = map_new(t->arena, traces->count);

    for (uint32_t i = 0; i < traces->count; i++) {
        const struct upkeep_trace *one = &traces->items[i];
        struct str key = kube_key(t->arena, one->of.stack, one->of.namespace_);
        struct together *together = map_get(map, key);

        if (one->paused)
            continue;
        if (!together) {
            together = arena_new(t->arena, struct together);
            *together =
                (struct together){ monitored_releases_new(t->arena, 4), one->sampling_ratio };
            map_put(map, key, together);
        }
        monitored_releases_push(&together->releases, one->of);
    }
    return map;
}

static void add_instrumentations(struct traces *t)
{
    struct str endpoint = str_fmt(t->arena, "http://%.*s.%.*s.svc:%d", STR_ARG(t->taker.name),
                                  STR_ARG(t->taker.namespace_), OTLP_HTTP_PORT);
    struct map *map = by_stack_and_namespace(t);

    for (uint32_t i = 0; i < map_count(map); i++) {
        const struct together *one = map_value(map, i);
        const struct monitored_release *first = &one->releases.items[0];

        upkeep_objects_push(
            &t->upkeep->instrumentations,
            (struct upkeep_object){
                first->namespace_, monitoring_instrumentation_name(t->arena, first->stack),
                monitoring_instrumentation(t->arena, &one->releases, endpoint, one->sampling_ratio),
                first->stack });
    }
}

static void read_services(struct traces *t, struct json root)
{
    bool too_many;

    for (struct json_iter it = json_iter(json_get(root, STR("items"))); json_next(&it);)
        read_service(t, it.value);
    if (has_more(t, root, &too_many)) {
        if (too_many)
            traces_skip(t);
        return;
    }
    t->services_read = true;
    if (t->taker.name.len)
        add_instrumentations(t);
    go_on(t, STEP_OBJECTS);
}

/* --- Jaeger --- */

static void add_services(struct traces *t, struct json names)
{
    for (struct json_iter it = json_iter(names); json_next(&it);)
        set_add(t->services, str_dup(t->arena, json_str(it.value)));
    go_on(t, STEP_PODS);
}

/* "Nothing found" is a 404 of its own; any other means that it has no such API, as a page for
 * people does. */
static void read_jaeger(struct traces *t, int status, struct json root)
{
    bool empty = status == 404 && json_is(json_get(root, STR("error")), JSON_OBJECT);

    if (empty || (status == 200 && json_is(root, JSON_OBJECT)))
        add_services(t, json_get(root, STR("services")));
    else
        go_on(t, STEP_JAEGER_OLD);
}

static int read_old_jaeger(struct traces *t, int status, struct json root, struct error *err)
{
    struct json data = json_get(root, STR("data"));

    if (status != 200 || !json_is(root, JSON_OBJECT) ||
        !json_is(json_get(root, STR("errors")), JSON_NULL))
        return error_set(err, ERROR_INTERNAL,
                         "it answers neither /api/v3/services nor /api/services");
    add_services(t, data);
    return 0;
}

/* --- pods --- */

static bool says_false(struct str text)
{
    static const char word[] = "false";
    bool same = text.len == sizeof(word) - 1;

    for (size_t i = 0; same && i < text.len; i++)
        same = (text.at[i] | 0x20) == word[i];
    return same;
}

/* "true" or the name of an Instrumentation. */
static bool opted_in(struct json pod)
{
    static const struct str prefix = STR_INIT("instrumentation.opentelemetry.io/inject-");
    struct json_iter it = json_iter(json_walk(pod, "metadata", "annotations", NULL));

    while (json_next(&it))
        if (str_starts(it.key, prefix) && !str_ends(it.key, STR("-container-names")) &&
            json_str(it.value).len && !says_false(json_str(it.value)))
            return true;
    return false;
}

/* The operator names what it injects into by OTEL_SERVICE_NAME, unless the pod does. */
static bool is_known(const struct traces *t, struct json pod, struct str workload)
{
    static const struct str annotation = STR_INIT("resource.opentelemetry.io/service.name");
    struct json_iter container = json_iter(json_walk(pod, "spec", "containers", NULL));
    struct str name =
        json_str(json_get(json_walk(pod, "metadata", "annotations", NULL), annotation));
    bool named = false;

    while (json_next(&container))
        for (struct json_iter env = json_iter(json_get(container.value, STR("env")));
             json_next(&env);)
            if (str_eq(json_str(json_get(env.value, STR("name"))), STR("OTEL_SERVICE_NAME"))) {
                named = true;
                if (set_has(t->services, json_str(json_get(env.value, STR("value")))))
                    return true;
            }
    if (!name.len)
        while (str_split(&workload, '/', &name))
            continue;
    return !named && set_has(t->services, name);
}

static void look_at_pod(struct traces *t, struct arena *arena, struct json pod)
{
    struct str name = release_pod_workload(arena, pod);
    struct workload *workload = name.len ? map_get(t->by_workload, name) : NULL;

    if (!workload || !opted_in(pod))
        return;
    workload->opted_in = true;
    workload->arrives = workload->arrives || is_known(t, pod, name);
}

static void read_pods(struct traces *t, struct arena *arena, struct json root)
{
    bool too_many;

    for (struct json_iter it = json_iter(json_get(root, STR("items"))); json_next(&it);)
        look_at_pod(t, arena, it.value);
    if (has_more(t, root, &too_many)) {
        if (too_many)
            traces_skip(t);
        return;
    }
    t->counted = ++t->at == t->namespaces.count;
    go_on(t, t->counted ? STEP_DONE : STEP_PODS);
}

/* --- answers --- */

static int read_objects(struct traces *t, struct str body, struct upkeep_changes *changes,
                        struct error *err)
{
    go_on(t, after_objects(t));
    return upkeep_instrumentations(t->arena, t->upkeep, body, changes, err);
}

/* A long list is not kept: what is taken of it is copied. */
int traces_read(struct traces *t, int status, struct str body, struct upkeep_changes *changes,
                struct error *err)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct json root = { NULL, 0 };
    struct error unreadable = { .code = ERROR_NONE };
    bool read = upkeep_read_json(arena, body, &root, &unreadable) == 0;

    switch (t->step) {
    case STEP_API:
        read_api(t, status, root);
        return 0;
    case STEP_JAEGER:
        read_jaeger(t, status, root);
        return 0;
    case STEP_JAEGER_OLD:
        return read_old_jaeger(t, status, root, err);
    case STEP_OBJECTS:
        return read_objects(t, body, changes, err);
    case STEP_SERVICES:
    case STEP_PODS:
    case STEP_DONE:
        break;
    }
    if (!read || status != 200)
        return error_set(err, ERROR_INTERNAL, "%s",
                         read ? "it does not know them" : unreadable.text);
    if (t->step == STEP_SERVICES)
        read_services(t, root);
    else
        read_pods(t, arena, root);
    return 0;
}

struct traces_found traces_conclude(const struct traces *t)
{
    struct traces_found found = traces_found_new(t->arena);

    found.has_operator = t->has_operator;
    found.lacks_endpoint = t->services_read && !t->taker.name.len;
    found.counted = t->counted;
    for (uint32_t i = 0; t->counted && i < map_count(t->by_workload); i++) {
        const struct workload *workload = map_value(t->by_workload, i);

        workload->of->opted_in = workload->of->opted_in || workload->opted_in;
        workload->of->missing = workload->of->missing || (workload->opted_in && !workload->arrives);
    }
    for (uint32_t i = 0; t->counted && i < t->upkeep->traces.count; i++) {
        const struct traced *one = &t->traced[i];

        if (one->opted_in)
            traced_releases_push(
                &found.releases,
                (struct traced_release){
                    kube_key(t->arena, one->of->of.namespace_, one->of->of.name), !one->missing });
    }
    return found;
}
