/* SPDX-License-Identifier: Apache-2.0 */
/* wire.c: two shapes of errors, and four documents. */
#include "controller/backends/neuvector/wire.h"

#include "base/limits.h"
#include "kube/request.h"
#include "text/json_write.h"

enum {
    NODES_MAX = 1000000, /* a thousand containers as NeuVector describes them */
    SHOWN_MAX = 300,
};

/* Numbers of NeuVector's own in an error's `code`. */
enum {
    CODE_NO_PATH = 1,
    CODE_NOT_ALLOWED = 2,
    CODE_AUTHENTICATION = 3,
    CODE_NO_OBJECT = 7,
    CODE_DENIED = 25,
    CODE_BLOCKED = 47,
    CODE_PASSWORD_EXPIRED = 48,
};

int wire_read(struct arena *arena, struct str body, struct json *ret_json, struct error *err)
{
    struct json_limits limits = json_limits_default;

    limits.bytes_max = limits.string_max = LIMIT_ANSWER_BODY;
    limits.nodes_max = NODES_MAX;
    return json_read(arena, body, &limits, ret_json, err);
}

/* --- what an answer means --- */

static enum wire_answer of_kubernetes(int http_status, struct str message)
{
    if (http_status == 404 || str_starts(message, STR("no service port ")))
        return WIRE_NO_SERVICE;
    if (http_status == 403)
        return WIRE_PROXY_FORBIDDEN;
    return http_status == 503 ? WIRE_NOT_READY : WIRE_ELSEWHERE;
}

/* Rancher's own proxy, which stands before the API server's: whatever words it has for 403. */
static enum wire_answer of_rancher(int http_status)
{
    return http_status == 403 ? WIRE_PROXY_FORBIDDEN : WIRE_ELSEWHERE;
}

static enum wire_answer of_neuvector(int http_status, int64_t code)
{
    static const struct {
        int64_t code;
        enum wire_answer answer;
    } rows[] = {
        { CODE_NO_PATH, WIRE_NOT_FOUND },
        { CODE_NOT_ALLOWED, WIRE_NOT_FOUND },
        { CODE_AUTHENTICATION, WIRE_UNAUTHORIZED },
        { CODE_NO_OBJECT, WIRE_NOT_FOUND },
        { CODE_DENIED, WIRE_DENIED },
        { CODE_BLOCKED, WIRE_UNAUTHORIZED },
        { CODE_PASSWORD_EXPIRED, WIRE_PASSWORD },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].code == code)
            return rows[i].answer;
    return http_status >= 400 && http_status < 500 ? WIRE_REFUSED : WIRE_FAILED;
}

enum wire_answer wire_answer_of(struct arena *arena, int http_status, struct str body,
                                struct str *ret_message)
{
    struct error ignored = { .code = ERROR_NONE };
    struct json root = { NULL, 0 };
    int64_t code = 0;

    *ret_message = STR("");
    if (http_status >= 200 && http_status < 300)
        return WIRE_OK;
    if (wire_read(arena, body, &root, &ignored) < 0)
        return of_rancher(http_status);
    *ret_message = str_shown(arena, json_str(json_get(root, STR("message"))), SHOWN_MAX);
    if (str_eq(json_str(json_get(root, STR("kind"))), STR("Status")))
        return of_kubernetes(http_status, *ret_message);
    if (json_is(json_get(root, STR("error")), JSON_STRING) &&
        json_int64(json_get(root, STR("code")), &code))
        return of_neuvector(http_status, code);
    return of_rancher(http_status);
}

struct str wire_denied_message(struct arena *arena, struct str cluster_id, const char *what,
                               const char *right)
{
    return str_fmt(arena,
                   "NeuVector on cluster %.*s does not let Herd's user or API key %s; give it a "
                   "role with the permission %s",
                   STR_ARG(cluster_id), what, right);
}

/* --- where it is --- */

/* Rancher's chart installs it into the first, NeuVector's own into the second. */
const struct str wire_namespaces[WIRE_NAMESPACES] = { STR_INIT("cattle-neuvector-system"),
                                                      STR_INIT("neuvector") };

struct str wire_controllers_path(struct arena *arena, struct str namespace_)
{
    return str_fmt(arena,
                   "/api/v1/namespaces/%.*s/pods?labelSelector=app%%3Dneuvector-controller-pod"
                   "&limit=50",
                   STR_ARG(namespace_));
}

static bool is_ready(struct json pod)
{
    struct json_iter it = json_iter(json_walk(pod, "status", "conditions", NULL));

    while (json_next(&it))
        if (str_eq(json_str(json_get(it.value, STR("type"))), STR("Ready")))
            return str_eq(json_str(json_get(it.value, STR("status"))), STR("True"));
    return false;
}

uint32_t wire_controllers_read(struct json pods, struct str *ret_pod)
{
    struct json items = json_get(pods, STR("items"));
    struct json_iter it = json_iter(items);

    *ret_pod = STR("");
    while (json_next(&it) && !ret_pod->len)
        if (is_ready(it.value))
            *ret_pod = json_str(json_walk(it.value, "metadata", "name", NULL));
    return json_count(items);
}

/* --- sessions --- */

struct str wire_login_body(struct arena *arena, struct str username, struct str password)
{
    struct strbuf out = strbuf_new(arena, 256);
    struct json_writer w = json_writer(&out);

    json_open_object(&w);
    json_put_key(&w, STR("password"));
    json_open_object(&w);
    json_field_str(&w, "username", username);
    json_field_str(&w, "password", password);
    json_close_object(&w);
    json_close_object(&w);
    return strbuf_str(&out);
}

int wire_login_read(struct json login, struct str *ret_token, struct error *err)
{
    struct str token = json_str(json_walk(login, "token", "token", NULL));

    if (!token.len && !json_bool(json_get(login, STR("need_to_reset_password"))))
        return error_set(err, ERROR_INVALID, "the response to the login has no token");
    *ret_token = token;
    return 0;
}

/* --- scans --- */

int wire_scanners_read(struct json summary, int64_t *ret_scanners, struct error *err)
{
    int64_t scanners;

    if (!json_int64(json_walk(summary, "summary", "scanners", NULL), &scanners) || scanners < 0)
        return error_set(err, ERROR_INVALID,
                         "the summary does not say how many scanners there are");
    *ret_scanners = scanners;
    return 0;
}

static enum wire_scan scan_of(struct str status)
{
    static const struct {
        struct str word;
        enum wire_scan scan;
    } rows[] = {
        { STR_INIT("scheduled"), WIRE_SCAN_UNDER_WAY },
        { STR_INIT("scanning"), WIRE_SCAN_UNDER_WAY },
        { STR_INIT("finished"), WIRE_SCAN_FINISHED },
        { STR_INIT("failed"), WIRE_SCAN_FAILED },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (str_eq(rows[i].word, status))
            return rows[i].scan;
    return WIRE_SCAN_IDLE;
}

static bool read_count(struct json object, const char *name, uint32_t *ret_count)
{
    int64_t count;

    if (!json_int64(json_get(object, str_of(name)), &count) || count < 0 || count > UINT32_MAX)
        return false;
    *ret_count = (uint32_t)count;
    return true;
}

/* Counters mean something once a scan has finished, and not before. */
static int read_summary(struct json summary, struct wire_workload *w, struct error *err)
{
    int64_t scanned_s;

    w->scan = scan_of(json_str(json_get(summary, STR("status"))));
    w->result = json_str(json_get(summary, STR("result")));
    if (w->scan != WIRE_SCAN_FINISHED)
        return 0;
    w->tells_critical = json_is(json_get(summary, STR("critical")), JSON_NUMBER);
    if ((w->tells_critical && !read_count(summary, "critical", &w->critical)) ||
        !read_count(summary, "high", &w->high) || !read_count(summary, "medium", &w->medium) ||
        !json_int64(json_get(summary, STR("scanned_timestamp")), &scanned_s) || scanned_s <= 0)
        return error_set(err, ERROR_INVALID,
                         "the scan of workload %.*s is finished, but its counters are not numbers",
                         STR_ARG(str_slice(w->id, 0, 64)));
    w->scanned_ms = scanned_s * 1000;
    return 0;
}

/* In /v2 in parts, in /v1 flat. */
static struct json part_of(struct json workload, const char *part)
{
    struct json inner = json_get(workload, str_of(part));

    return json_is(inner, JSON_OBJECT) ? inner : workload;
}

static int read_workload(struct json workload, struct str namespace_, struct wire_workloads *to,
                         struct error *err)
{
    struct json brief = part_of(workload, "brief");
    struct json security = part_of(workload, "security");
    struct wire_workload w = {
        .id = json_str(json_get(brief, STR("id"))),
        .image_id = json_str(json_get(brief, STR("image_id"))),
        .image = json_str(json_get(brief, STR("image"))),
        .service = json_str(json_get(brief, STR("service"))),
        .policy_mode = json_str(json_get(security, STR("policy_mode"))),
        .profile_mode = json_str(json_get(security, STR("profile_mode"))),
    };

    if (!w.id.len)
        return error_set(err, ERROR_INVALID, "a workload in the list has no id");
    if (!str_eq(json_str(json_get(brief, STR("domain"))), namespace_))
        return 0;
    if (read_summary(json_get(security, STR("scan_summary")), &w, err) < 0)
        return -1;
    wire_workloads_push(to, w);
    return 0;
}

struct str wire_workloads_path(struct arena *arena, struct str namespace_)
{
    struct strbuf out = strbuf_new(arena, 128);

    strbuf_lit(&out, "/v2/workload?f_domain=");
    kube_percent_encode(&out, namespace_);
    return strbuf_str(&out);
}

int wire_workloads_read(struct json answer, struct str namespace_, struct wire_workloads *to,
                        struct error *err)
{
    struct json list = json_get(answer, STR("workloads"));
    struct json_iter it = json_iter(list);

    if (!json_is(list, JSON_ARRAY))
        return error_set(err, ERROR_INVALID, "the response has no list of workloads");
    while (json_next(&it))
        if (read_workload(it.value, namespace_, to, err) < 0)
            return -1;
    return 0;
}

struct str wire_scan_path(struct arena *arena, struct str id)
{
    struct strbuf out = strbuf_new(arena, 128);

    strbuf_lit(&out, "/v1/scan/workload/");
    kube_percent_encode(&out, id);
    return strbuf_str(&out);
}

/* --- policy modes --- */

static const struct str modes[] = { STR_INIT("Discover"), STR_INIT("Monitor"),
                                    STR_INIT("Protect") };

int wire_mode_rank(struct str mode)
{
    for (int i = 0; i < (int)(sizeof(modes) / sizeof(modes[0])); i++)
        if (str_eq(mode, modes[i]))
            return i;
    return -1;
}

struct str wire_mode_name(enum policy_mode mode)
{
    return mode == POLICY_MODE_PROTECT   ? modes[2]
           : mode == POLICY_MODE_MONITOR ? modes[1]
                                         : modes[0];
}

struct str wire_mode_body(struct arena *arena, const struct str_list *services, struct str mode,
                          unsigned parts)
{
    struct strbuf out = strbuf_new(arena, 256);
    struct json_writer w = json_writer(&out);

    json_open_object(&w);
    json_put_key(&w, STR("config"));
    json_open_object(&w);
    json_put_key(&w, STR("services"));
    json_open_array(&w);
    for (uint32_t i = 0; i < services->count; i++)
        json_put_str(&w, services->items[i]);
    json_close_array(&w);
    if (parts & WIRE_POLICY_MODE)
        json_field_str(&w, "policy_mode", mode);
    if (parts & WIRE_PROFILE_MODE)
        json_field_str(&w, "profile_mode", mode);
    json_close_object(&w);
    json_close_object(&w);
    return strbuf_str(&out);
}
