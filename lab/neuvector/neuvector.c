/* SPDX-License-Identifier: Apache-2.0 */
/* neuvector.c: the way through the proxy, who asks, and the few requests that Herd makes.
 *
 * What was asked for stands in the cluster's objects: a scan in an annotation of the pod, a mode in
 * the ConfigMap neuvector-modes of NeuVector's namespace. */
#include "lab/neuvector/neuvector.h"

#include "lab/neuvector/admission.h"
#include "lab/neuvector/response.h"
#include "lab/neuvector/checks.h"
#include "lab/neuvector/sessions.h"
#include "lab/neuvector/vulnerabilities.h"
#include "lab/rancher/inside.h"
#include "lab/rancher/jsonf.h"
#include "text/digest.h"
#include "text/time.h"

#define SERVICE "neuvector-svc-controller-api"
#define LABEL "neuvector-controller-pod"
#define REQUESTED "lab.herd.suse.com/scan-requested"
#define FINDINGS "herd-lab-vulnerabilities" /* ConfigMaps of the management cluster */
#define CHECKS "herd-lab-checks"
#define API_KEY "herd:lab-secret"
#define USERNAME "herd"
#define PASSWORD "lab-password"

enum { SCHEDULED_MS = 5000, SCANNING_MS = 30000 }; /* in life, since a scan was asked for */

/* ---- the proxy ------------------------------------------------------------------------------- */

struct target {
    struct str namespace_, kind, name, path;
};

/* /api/v1/namespaces/NS/services/https:NAME:10443/proxy/PATH, or pods */
static bool target_of(struct str path, struct target *ret_target)
{
    const struct str prefix = STR("/api/v1/namespaces/");
    struct str rest = str_starts(path, prefix) ? str_slice(path, prefix.len, path.len) : STR("");
    struct target target;
    struct str word, place, scheme;

    if (!str_split(&rest, '/', &target.namespace_) || !str_split(&rest, '/', &target.kind) ||
        !str_split(&rest, '/', &place) || !str_split(&rest, '/', &word) ||
        !str_eq(word, STR("proxy")) || !str_split(&place, ':', &scheme) ||
        !str_split(&place, ':', &target.name) || !str_eq(scheme, STR("https")) ||
        !str_eq(place, STR("10443")))
        return false;
    target.path = rest;
    *ret_target = target;
    return str_eq(target.kind, STR("pods")) ||
           (str_eq(target.kind, STR("services")) && str_eq(target.name, STR(SERVICE)));
}

static bool is_ready_controller(struct json pod)
{
    struct json_iter it = json_iter(json_walk(pod, "status", "conditions", NULL));

    if (!str_eq(json_str(json_walk(pod, "metadata", "labels", "app", NULL)), STR(LABEL)))
        return false;
    while (json_next(&it))
        if (str_eq(json_str(json_get(it.value, STR("type"))), STR("Ready")))
            return str_eq(json_str(json_get(it.value, STR("status"))), STR("True"));
    return false;
}

struct search {
    struct arena *arena;
    bool found;
};

static bool look_at_pod(void *context, struct str object)
{
    struct search *search = context;
    struct error ignored;
    struct json pod;

    if (json_read(search->arena, str_dup(search->arena, object), &json_limits_default, &pod,
                  &ignored) == 0 &&
        is_ready_controller(pod))
        search->found = true;
    return !search->found;
}

static void reply_missing(struct nv *nv, const char *kind, struct str name)
{
    reply_e3(nv->exchange, 404, "NotFound",
             str_fmt(nv->arena, "%s \"%.*s\" not found", kind, STR_ARG(name)));
}

/* True: there is a way to a controller that answers. */
static bool enter_service(struct nv *nv, const struct target *target)
{
    struct search search = { .arena = nv->arena };
    struct error err = { 0 };
    struct str stored;

    if (world_get(nv->simulation, nv->arena, nv->cluster, &res_services, target->namespace_,
                  target->name, &stored, &err) != 0) {
        reply_missing(nv, "services", target->name);
        return false;
    }
    world_list(nv->simulation, nv->arena, nv->cluster, &res_pods, target->namespace_, look_at_pod,
               &search, &err);
    if (!search.found)
        reply_e3(nv->exchange, 503, "ServiceUnavailable",
                 STR("no endpoints available for service \"" SERVICE "\""));
    return search.found;
}

static bool enter_pod(struct nv *nv, const struct target *target)
{
    struct error err = { 0 };
    struct json pod = { NULL, 0 };
    struct str stored;

    if (world_get(nv->simulation, nv->arena, nv->cluster, &res_pods, target->namespace_,
                  target->name, &stored, &err) != 0 ||
        json_read(nv->arena, stored, &json_limits_default, &pod, &err) != 0) {
        reply_missing(nv, "pods", target->name);
        return false;
    }
    if (is_ready_controller(pod))
        return true;
    reply_e3(nv->exchange, 503, "ServiceUnavailable",
             STR("error trying to reach service: dial tcp 10.42.0.9:10443: connect: connection "
                 "refused"));
    return false;
}

/* ---- answers --------------------------------------------------------------------------------- */

bool nv_strikes(struct nv *nv, enum fault_id id)
{
    const struct fault_place place = { .cluster = nv->cluster };
    struct fault_rule rule;

    return faults_strike(nv->simulation, id, &place, &rule);
}

void nv_reply_message(struct nv *nv, int status, int64_t code, const char *text, struct str message)
{
    reply_json(
        nv->exchange, status,
        jsonf(nv->arena, "{'code':%d,'error':%s,'message':%s}", code, str_of(text), message));
}

void nv_reply_error(struct nv *nv, int status, int64_t code, const char *text)
{
    nv_reply_message(nv, status, code, text, str_of(text));
}

static void reply_unauthorized(struct nv *nv, int status)
{
    nv_reply_error(nv, status, 3, "Authentication failed");
}

void nv_reply_empty(struct nv *nv)
{
    http_answer(nv->exchange, 200, NULL, STR(""));
}

void nv_reply_query(struct nv *nv, struct str json)
{
    if (nv_strikes(nv, FAULT_NEUVECTOR_TRUNCATED))
        json = str_slice(json, 0, json.len / 2);
    reply_json(nv->exchange, 200, json);
}

bool nv_is(struct nv *nv, const char *method, const char *path)
{
    return str_eq(http_view(nv->exchange)->method, str_of(method)) &&
           str_eq(nv->path, str_of(path));
}

static void count(struct nv *nv, enum request_count which)
{
    atomic_fetch_add(&nv->simulation->counts[which], 1);
}

/* ---- who asks -------------------------------------------------------------------------------- */

static void log_in(struct nv *nv)
{
    struct error ignored = { 0 };
    struct json body = { NULL, 0 };
    struct str token;

    json_read(nv->arena, http_view(nv->exchange)->body, &json_limits_default, &body, &ignored);
    body = json_get(body, STR("password"));
    count(nv, COUNT_NEUVECTOR_LOGINS);
    if (!str_eq(json_str(json_get(body, STR("username"))), STR(USERNAME)) ||
        !str_eq(json_str(json_get(body, STR("password"))), STR(PASSWORD))) {
        count(nv, COUNT_NEUVECTOR_REJECTED);
        reply_unauthorized(nv, 401);
        return;
    }
    if (nv_strikes(nv, FAULT_NEUVECTOR_PASSWORD)) {
        reply_json(nv->exchange, 200, STR("{\"token\":null,\"need_to_reset_password\":true}"));
        return;
    }
    token = sessions_begin(nv->simulation->sessions, nv->arena, nv->cluster,
                           simulation_chance(nv->simulation), simulation_now(nv->simulation));
    if (token.len)
        reply_json(nv->exchange, 200,
                   jsonf(nv->arena,
                         "{'token':{'token':%s,'username':%s},"
                         "'need_to_reset_password':false}",
                         token, STR(USERNAME)));
    else
        reply_unauthorized(nv, 401);
}

/* False: it was answered with why not. */
static bool authenticate(struct nv *nv)
{
    struct str token = http_header(nv->exchange, "X-Auth-Token");
    struct str key = http_header(nv->exchange, "X-Auth-Apikey");

    if (token.len && nv_strikes(nv, FAULT_NEUVECTOR_SESSION_ENDED)) {
        sessions_end(nv->simulation->sessions, token);
        reply_unauthorized(nv, 408);
        return false;
    }
    if (token.len ? sessions_use(nv->simulation->sessions, nv->cluster, token,
                                 simulation_now(nv->simulation))
                  : str_eq(key, STR(API_KEY)))
        return true;
    count(nv, COUNT_NEUVECTOR_REJECTED);
    reply_unauthorized(nv, 401);
    return false;
}

/* ---- scans ----------------------------------------------------------------------------------- */

static int64_t requested_ms(struct json pod)
{
    uint64_t at = 0;

    str_to_u64(json_str(json_walk(pod, "metadata", "annotations", REQUESTED, NULL)), &at);
    return (int64_t)at;
}

static struct json added_rows(struct nv *nv, struct str configmap)
{
    struct error ignored = { 0 };
    struct json root = { NULL, 0 };
    struct str stored = STR("");

    if (world_get(nv->simulation, nv->arena, LOCAL_CLUSTER, &res_configmaps, STR("default"),
                  configmap, &stored, &ignored) == 0)
        json_read(nv->arena, stored, &json_limits_default, &root, &ignored);
    return json_get(root, STR("data"));
}

static struct str finished(struct nv *nv, struct str image, int64_t at_ms)
{
    struct vulnerabilities found =
        vulnerabilities_of(nv->arena, image, added_rows(nv, STR(FINDINGS)));

    return jsonf(nv->arena,
                 "{'status':'finished','critical':%d,'high':%d,'medium':%d,'result':'succeeded',"
                 "'scanned_timestamp':%d,'scanned_at':%s,'base_os':'debian:12'}",
                 (int64_t)vulnerabilities_count(&found, STR("Critical")),
                 (int64_t)vulnerabilities_count(&found, STR("High")),
                 (int64_t)vulnerabilities_count(&found, STR("Medium")), at_ms / 1000,
                 time_rfc3339(nv->arena, at_ms));
}

/* While a scan is queued or runs, nothing of the one before is told. */
static struct str scan_summary(struct nv *nv, struct json pod, struct str image)
{
    int64_t asked_ms = requested_ms(pod);
    int64_t end_ms = asked_ms + simulation_scaled(nv->simulation, SCANNING_MS);
    int64_t now_ms = simulation_now(nv->simulation);
    bool scheduled = now_ms < asked_ms + simulation_scaled(nv->simulation, SCHEDULED_MS) ||
                     faults_stand(nv->simulation, FAULT_NEUVECTOR_NO_SCANNER, nv->cluster) ||
                     faults_stand(nv->simulation, FAULT_NEUVECTOR_RESCAN, nv->cluster);

    if (!asked_ms)
        return STR("{\"status\":\"\",\"high\":0,\"medium\":0}");
    if (scheduled || now_ms < end_ms)
        return jsonf(nv->arena, "{'status':%s,'critical':0,'high':0,'medium':0}",
                     scheduled ? STR("scheduled") : STR("scanning"));
    if (faults_stand(nv->simulation, FAULT_NEUVECTOR_SCAN_FAILED, nv->cluster))
        return STR("{\"status\":\"failed\",\"critical\":0,\"high\":0,\"medium\":0,"
                   "\"result\":\"timeout\"}");
    return finished(nv, image, end_ms);
}

/* ---- workloads ------------------------------------------------------------------------------- */

/* A container of a simulated pod, and its pod. */
struct container {
    struct json pod;
    struct str id, image, image_id, namespace_;
    struct str service; /* NAME.NAMESPACE */
};

struct containers_walk {
    struct nv *nv;
    struct str wanted; /* an id; "" = all */
    void (*each)(void *context, const struct container *container);
    void *context;
    bool found;
};

static struct str behind(struct str text, struct str prefix)
{
    return str_starts(text, prefix) ? str_slice(text, prefix.len, text.len) : text;
}

static struct str service_of(struct arena *arena, struct json pod)
{
    struct str name =
        json_str(json_walk(pod, "metadata", "labels", "app.kubernetes.io/instance", NULL));

    return str_fmt(arena, "%.*s.%.*s", STR_ARG(name),
                   STR_ARG(json_str(json_walk(pod, "metadata", "namespace", NULL))));
}

static bool walk_pod(void *context, struct str object)
{
    struct containers_walk *walk = context;
    struct arena *arena = walk->nv->arena;
    struct error ignored;
    struct json pod;
    struct json_iter it;

    if (json_read(arena, str_dup(arena, object), &json_limits_default, &pod, &ignored) != 0)
        return true;
    it = json_iter(json_walk(pod, "status", "containerStatuses", NULL));
    while (json_next(&it)) {
        const struct container container = {
            .pod = pod,
            .id = behind(json_str(json_get(it.value, STR("containerID"))), STR("containerd://")),
            .image = json_str(json_get(it.value, STR("image"))),
            .image_id = behind(json_str(json_get(it.value, STR("imageID"))), STR("sha256:")),
            .namespace_ = json_str(json_walk(pod, "metadata", "namespace", NULL)),
            .service = service_of(arena, pod),
        };

        if (!container.id.len || (walk->wanted.len && !str_eq(container.id, walk->wanted)))
            continue;
        walk->found = true;
        walk->each(walk->context, &container);
    }
    return true;
}

static bool walk_containers(struct nv *nv, struct str wanted,
                            void (*each)(void *context, const struct container *container),
                            void *context)
{
    struct containers_walk walk = { nv, wanted, each, context, false };
    struct error err = { 0 };

    world_list(nv->simulation, nv->arena, nv->cluster, &res_pods, STR(""), walk_pod, &walk, &err);
    return walk.found;
}

struct group_search {
    struct str service;
    bool found;
};

static void match_service(void *context, const struct container *container)
{
    struct group_search *search = context;

    search->found = search->found || str_eq(container->service, search->service);
}

bool nv_has_group(struct nv *nv, struct str group)
{
    struct group_search search = { behind(group, STR("nv.")), false };

    walk_containers(nv, STR(""), match_service, &search);
    return str_starts(group, STR("nv.")) && search.found;
}

static struct json modes_of(struct nv *nv)
{
    struct error ignored = { 0 };
    struct json root = { NULL, 0 };
    struct str stored = STR("");

    if (world_get(nv->simulation, nv->arena, nv->cluster, &res_configmaps, nv->namespace_,
                  STR("neuvector-modes"), &stored, &ignored) == 0)
        json_read(nv->arena, stored, &json_limits_default, &root, &ignored);
    return json_get(root, STR("data"));
}

struct workload_list {
    struct nv *nv;
    struct str domain; /* "" = all */
    struct json modes;
    struct strbuf *out;
};

/* The pod is a workload, too, and its container a child of that. */
static void put_workload(void *context, const struct container *container)
{
    struct workload_list *list = context;
    struct arena *arena = list->nv->arena;
    struct str mode = json_str(json_get(list->modes, container->service));
    struct str parent = digest_sha256_hex(arena, container->id);

    if (list->domain.len && !str_eq(list->domain, container->namespace_))
        return;
    if (!mode.len)
        mode = STR("Discover");
    jsonf_put(list->out,
              "%r{'brief':{'id':%s,'domain':%s,'image':'','image_id':'','service':%s},"
              "'security':{'policy_mode':%s,'profile_mode':%s,'scan_summary':{'status':''}}},",
              list->out->len ? STR(",") : STR(" "), parent, container->namespace_,
              container->service, mode, mode);
    jsonf_put(list->out,
              "{'brief':{'id':%s,'domain':%s,'image':%s,'image_id':%s,'service':%s},"
              "'security':{'policy_mode':%s,'profile_mode':%s,'scan_summary':%r},"
              "'rt_attributes':{'share_ns_with':%s}}",
              container->id, container->namespace_, container->image, container->image_id,
              container->service, mode, mode,
              scan_summary(list->nv, container->pod, container->image), parent);
}

static void list_workloads(struct nv *nv)
{
    struct strbuf out = strbuf_new(nv->arena, 4096);
    struct workload_list list = { .nv = nv, .modes = modes_of(nv), .out = &out };

    (void)http_query(nv->exchange, STR("f_domain"), &list.domain);
    if (!nv_strikes(nv, FAULT_NEUVECTOR_EMPTY))
        walk_containers(nv, STR(""), put_workload, &list);
    nv_reply_query(nv,
                   jsonf(nv->arena, "{'workloads':[%r]}", out.len ? strbuf_str(&out) : STR(" ")));
}

static void put_rows(struct strbuf *out, const struct vulnerabilities *found)
{
    for (uint32_t i = 0; i < found->count; i++) {
        const struct vulnerability *row = &found->items[i];

        jsonf_put(out,
                  "%r{'name':%s,'severity':%s,'score':%r,'score_v3':%r,'package_name':%s,"
                  "'package_version':%s,'fixed_version':%s}",
                  i ? STR(",") : STR(" "), row->name, row->severity, row->score, row->score,
                  row->package, row->version, row->fixed);
    }
}

static void put_report(void *context, const struct container *container)
{
    struct nv *nv = context;
    struct strbuf out = strbuf_new(nv->arena, 1024);
    struct vulnerabilities found =
        vulnerabilities_of(nv->arena, container->image, added_rows(nv, STR(FINDINGS)));

    if (requested_ms(container->pod))
        put_rows(&out, &found);
    nv_reply_query(nv, jsonf(nv->arena, "{'report':{'vulnerabilities':[%r]}}",
                             out.len ? strbuf_str(&out) : STR(" ")));
}

static void request_scan(void *context, const struct container *container)
{
    struct nv *nv = context;
    struct error err = { 0 };
    struct str stored;
    struct str now = str_fmt(nv->arena, "%lld", (long long)simulation_now(nv->simulation));

    world_merge(nv->simulation, nv->arena, nv->cluster, &res_pods, container->namespace_,
                json_str(json_walk(container->pod, "metadata", "name", NULL)), STR(""),
                jsonf(nv->arena, "{'metadata':{'annotations':{%s:%s}}}", STR(REQUESTED), now),
                &stored, &err);
    count(nv, COUNT_NEUVECTOR_SCANS);
    nv_reply_empty(nv);
}

bool nv_may_write(struct nv *nv)
{
    if (!nv_strikes(nv, FAULT_NEUVECTOR_READ_ONLY))
        return true;
    nv_reply_error(nv, 403, 25, "Object access denied");
    return false;
}

static void handle_scan(struct nv *nv, struct str id)
{
    bool reads = str_eq(http_view(nv->exchange)->method, STR("GET"));

    if (!reads && !nv_may_write(nv))
        return;
    if (!walk_containers(nv, id, reads ? put_report : request_scan, nv))
        nv_reply_error(nv, 404, 7, "Object not found");
}

/* ---- compliance ------------------------------------------------------------------------------ */

static void put_checks(void *context, const struct container *container)
{
    struct nv *nv = context;
    struct strbuf out = strbuf_new(nv->arena, 1024);
    struct lab_checks found =
        lab_checks_of(nv->arena, container->image, added_rows(nv, STR(CHECKS)));
    int64_t run_s =
        nv_strikes(nv, FAULT_NEUVECTOR_UNCHECKED) ? 0 : requested_ms(container->pod) / 1000;

    for (uint32_t i = 0; run_s && i < found.count; i++) {
        const struct lab_check *row = &found.items[i];

        jsonf_put(&out,
                  "%r{'test_number':%s,'category':'docker','type':'container','level':%s,"
                  "'description':%s,'remediation':%s,'message':[]}",
                  i ? STR(",") : STR(" "), row->test, row->level, row->description,
                  row->remediation);
    }
    nv_reply_query(nv, jsonf(nv->arena,
                             "{'run_timestamp':%d,'run_at':'','docker_cis_version':'1.6.0',"
                             "'items':[%r]}",
                             run_s, out.len ? strbuf_str(&out) : STR(" ")));
}

/* v1/workload/ID/compliance */
static bool is_compliance(struct nv *nv, struct str *ret_id)
{
    struct str rest = nv->path;
    struct str word;

    return str_eq(http_view(nv->exchange)->method, STR("GET")) && str_split(&rest, '/', &word) &&
           str_eq(word, STR("v1")) && str_split(&rest, '/', &word) &&
           str_eq(word, STR("workload")) && str_split(&rest, '/', ret_id) &&
           str_eq(rest, STR("compliance"));
}

static void handle_compliance(struct nv *nv, struct str id)
{
    count(nv, COUNT_NEUVECTOR_COMPLIANCE);
    if (nv_strikes(nv, FAULT_NEUVECTOR_NO_COMPLIANCE))
        nv_reply_error(nv, 403, 25, "Object access denied");
    else if (!walk_containers(nv, id, put_checks, nv))
        nv_reply_error(nv, 404, 7, "Object not found");
}

static void set_modes(struct nv *nv)
{
    struct strbuf data = strbuf_new(nv->arena, 256);
    struct error err = { 0 };
    struct json body = { NULL, 0 };
    struct json_iter it;
    struct str stored;

    if (!nv_may_write(nv))
        return;
    json_read(nv->arena, http_view(nv->exchange)->body, &json_limits_default, &body, &err);
    body = json_get(body, STR("config"));
    it = json_iter(json_get(body, STR("services")));
    while (json_next(&it))
        jsonf_put(&data, "%r%s:%s", data.len ? STR(",") : STR(" "), json_str(it.value),
                  json_str(json_get(body, STR("policy_mode"))));
    world_ensure(nv->simulation, nv->arena, nv->cluster, &res_configmaps, nv->namespace_,
                 STR("{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":"
                     "\"neuvector-modes\"}}"),
                 &err);
    world_merge(nv->simulation, nv->arena, nv->cluster, &res_configmaps, nv->namespace_,
                STR("neuvector-modes"), STR(""),
                jsonf(nv->arena, "{'data':{%r}}", data.len ? strbuf_str(&data) : STR(" ")), &stored,
                &err);
    nv_reply_empty(nv);
}

/* ---- requests -------------------------------------------------------------------------------- */

static void handle_authenticated(struct nv *nv)
{
    const struct str scan = STR("v1/scan/workload/");
    bool none = faults_stand(nv->simulation, FAULT_NEUVECTOR_NO_SCANNER, nv->cluster);
    struct str id;

    if (nv_is(nv, "DELETE", "v1/auth")) {
        sessions_end(nv->simulation->sessions, http_header(nv->exchange, "X-Auth-Token"));
        nv_reply_empty(nv);
    } else if (nv_is(nv, "GET", "v1/system/summary")) {
        nv_reply_query(nv, jsonf(nv->arena, "{'summary':{'controllers':1,'scanners':%d}}",
                                 (int64_t)(none ? 0 : 1)));
    } else if (nv_is(nv, "GET", "v2/workload")) {
        list_workloads(nv);
    } else if (nv_is(nv, "PATCH", "v1/service/config")) {
        set_modes(nv);
    } else if (str_starts(nv->path, scan)) {
        handle_scan(nv, str_slice(nv->path, scan.len, nv->path.len));
    } else if (nv_handle_admission(nv) || nv_handle_response(nv)) {
        return;
    } else if (is_compliance(nv, &id)) {
        handle_compliance(nv, id);
    } else {
        nv_reply_error(nv, 404, 1, "URL not found");
    }
}

bool neuvector_handle(struct simulation *simulation, struct http_exchange *exchange,
                      struct str cluster, struct str path)
{
    struct target target;
    struct nv nv = { .simulation = simulation,
                     .exchange = exchange,
                     .arena = http_view(exchange)->arena,
                     .cluster = cluster };

    if (!target_of(path, &target))
        return false;
    nv.namespace_ = target.namespace_;
    nv.path = target.path;
    if (!(str_eq(target.kind, STR("pods")) ? enter_pod(&nv, &target) : enter_service(&nv, &target)))
        return true;
    count(&nv, COUNT_NEUVECTOR);
    if (nv_is(&nv, "POST", "v1/auth"))
        log_in(&nv);
    else if (authenticate(&nv))
        handle_authenticated(&nv);
    return true;
}
