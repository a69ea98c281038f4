/* SPDX-License-Identifier: Apache-2.0 */
/* column_cells.c: cells that no path can say. */
#include "lab/apiserver/column_cells.h"

#include "kube/selector.h"

static struct str at(struct json object, const char *a, const char *b)
{
    return json_str(json_walk(object, a, b, NULL));
}

static void put_or(struct cells *c, struct str text, const char *otherwise)
{
    json_put_str(c->w, text.len ? text : str_of(otherwise));
}

void cell_age(struct cells *c, struct json object)
{
    json_put_str(c->w, age_since(c, at(object, "metadata", "creationTimestamp")));
}

void cell_data_count(struct cells *c, struct json object)
{
    json_put_int(c->w, (int64_t)json_count(json_get(object, STR("data"))) +
                           json_count(json_get(object, STR("binaryData"))));
}

void cell_secret_count(struct cells *c, struct json object)
{
    json_put_int(c->w, json_count(json_get(object, STR("secrets"))));
}

void cell_webhook_count(struct cells *c, struct json object)
{
    json_put_int(c->w, json_count(json_get(object, STR("webhooks"))));
}

void cell_event_first_seen(struct cells *c, struct json object)
{
    struct str time = json_str(json_get(object, STR("firstTimestamp")));

    json_put_str(c->w,
                 age_since(c, time.len ? time : json_str(json_get(object, STR("eventTime")))));
}

void cell_event_last_seen(struct cells *c, struct json object)
{
    struct str time = json_str(json_get(object, STR("lastTimestamp")));

    if (time.len)
        json_put_str(c->w, age_since(c, time));
    else
        cell_event_first_seen(c, object);
}

void cell_event_object(struct cells *c, struct json object)
{
    struct strbuf text = strbuf_new(c->arena, 64);
    struct str kind = at(object, "involvedObject", "kind");

    for (size_t i = 0; i < kind.len; i++)
        strbuf_char(&text,
                    (char)(kind.at[i] >= 'A' && kind.at[i] <= 'Z' ? kind.at[i] + 32 : kind.at[i]));
    strbuf_char(&text, '/');
    strbuf_put(&text, at(object, "involvedObject", "name"));
    json_put_str(c->w, strbuf_str(&text));
}

void cell_event_source(struct cells *c, struct json object)
{
    struct str component = at(object, "source", "component");
    struct str host = at(object, "source", "host");

    if (component.len == 0)
        component = json_str(json_get(object, STR("reportingComponent")));
    if (host.len == 0)
        host = json_str(json_get(object, STR("reportingInstance")));
    json_put_str(c->w, host.len ? str_fmt(c->arena, "%.*s, %.*s", STR_ARG(component), STR_ARG(host))
                                : component);
}

void cell_event_count(struct cells *c, struct json object)
{
    int64_t count = 1;

    if (!json_int64(json_walk(object, "series", "count", NULL), &count))
        json_int64(json_get(object, STR("count")), &count);
    json_put_int(c->w, count ? count : 1);
}

static struct str condition_status(struct json object, struct str type)
{
    struct json_iter it = json_iter(json_walk(object, "status", "conditions", NULL));

    while (json_next(&it))
        if (str_eq(json_str(json_get(it.value, STR("type"))), type))
            return json_str(json_get(it.value, STR("status")));
    return STR("");
}

void cell_node_status(struct cells *c, struct json object)
{
    struct str ready = condition_status(object, STR("Ready"));
    struct str text = str_eq(ready, STR("True")) ? STR("Ready")
                      : ready.len                ? STR("NotReady")
                                                 : STR("Unknown");

    if (json_bool(json_walk(object, "spec", "unschedulable", NULL)))
        text = str_fmt(c->arena, "%.*s,SchedulingDisabled", STR_ARG(text));
    json_put_str(c->w, text);
}

void cell_node_roles(struct cells *c, struct json object)
{
    struct strbuf roles = strbuf_new(c->arena, 32);
    struct json_iter it = json_iter(json_walk(object, "metadata", "labels", NULL));
    struct str prefix = STR("node-role.kubernetes.io/");

    while (json_next(&it)) {
        struct str role = { "", 0 };

        if (str_starts(it.key, prefix))
            role = str_slice(it.key, prefix.len, it.key.len);
        else if (str_eq(it.key, STR("kubernetes.io/role")))
            role = json_str(it.value);
        if (role.len == 0)
            continue;
        if (roles.len)
            strbuf_char(&roles, ',');
        strbuf_put(&roles, role);
    }
    put_or(c, strbuf_str(&roles), "<none>");
}

static void node_address(struct cells *c, struct json object, struct str type)
{
    struct json_iter it = json_iter(json_walk(object, "status", "addresses", NULL));

    while (json_next(&it))
        if (str_eq(json_str(json_get(it.value, STR("type"))), type)) {
            json_put_str(c->w, json_str(json_get(it.value, STR("address"))));
            return;
        }
    json_put_str(c->w, STR("<none>"));
}

void cell_node_internal(struct cells *c, struct json object)
{
    node_address(c, object, STR("InternalIP"));
}

void cell_node_external(struct cells *c, struct json object)
{
    node_address(c, object, STR("ExternalIP"));
}

void cell_pod_ready(struct cells *c, struct json object)
{
    struct json_iter it = json_iter(json_walk(object, "status", "containerStatuses", NULL));
    unsigned ready = 0;

    while (json_next(&it))
        ready += json_bool(json_get(it.value, STR("ready")));
    json_put_str(c->w, str_fmt(c->arena, "%u/%u", ready,
                               json_count(json_walk(object, "spec", "containers", NULL))));
}

void cell_pod_status(struct cells *c, struct json object)
{
    struct str text = at(object, "status", "phase");
    struct json_iter it = json_iter(json_walk(object, "status", "containerStatuses", NULL));

    if (at(object, "status", "reason").len)
        text = at(object, "status", "reason");
    while (json_next(&it)) {
        struct str waiting = json_str(json_walk(it.value, "state", "waiting", "reason", NULL));
        struct str ended = json_str(json_walk(it.value, "state", "terminated", "reason", NULL));

        if (waiting.len)
            text = waiting;
        else if (ended.len)
            text = ended;
    }
    if (at(object, "metadata", "deletionTimestamp").len)
        text = STR("Terminating");
    json_put_str(c->w, text);
}

void cell_pod_restarts(struct cells *c, struct json object)
{
    struct json_iter it = json_iter(json_walk(object, "status", "containerStatuses", NULL));
    int64_t sum = 0;

    while (json_next(&it)) {
        int64_t restarts = 0;

        json_int64(json_get(it.value, STR("restartCount")), &restarts);
        sum += restarts;
    }
    json_put_str(c->w, str_fmt(c->arena, "%lld", (long long)sum));
}

void cell_service_ports(struct cells *c, struct json object)
{
    struct strbuf text = strbuf_new(c->arena, 32);
    struct json_iter it = json_iter(json_walk(object, "spec", "ports", NULL));

    while (json_next(&it)) {
        struct str protocol = json_str(json_get(it.value, STR("protocol")));

        if (text.len)
            strbuf_char(&text, ',');
        strbuf_put(&text, json_raw(json_get(it.value, STR("port"))));
        if (!json_is(json_get(it.value, STR("nodePort")), JSON_ABSENT)) {
            strbuf_char(&text, ':');
            strbuf_put(&text, json_raw(json_get(it.value, STR("nodePort"))));
        }
        strbuf_char(&text, '/');
        strbuf_put(&text, protocol.len ? protocol : STR("TCP"));
    }
    put_or(c, strbuf_str(&text), "<none>");
}

void cell_service_external(struct cells *c, struct json object)
{
    struct str type = at(object, "spec", "type");

    if (str_eq(type, STR("ExternalName")))
        put_or(c, at(object, "spec", "externalName"), "<none>");
    else
        json_put_str(c->w, str_eq(type, STR("LoadBalancer")) ? STR("<pending>") : STR("<none>"));
}

static void pairs(struct cells *c, struct json map)
{
    struct strbuf text = strbuf_new(c->arena, 32);
    struct json_iter it = json_iter(map);

    while (json_next(&it)) {
        struct str value = json_str(it.value);

        strbuf_fmt(&text, "%s%.*s=%.*s", text.len ? "," : "", STR_ARG(it.key), STR_ARG(value));
    }
    put_or(c, strbuf_str(&text), "<none>");
}

void cell_selector(struct cells *c, struct json object)
{
    pairs(c, json_walk(object, "spec", "selector", NULL));
}

void cell_deployment_selector(struct cells *c, struct json object)
{
    pairs(c, json_walk(object, "spec", "selector", "matchLabels", NULL));
}

static int64_t number(struct json object, const char *a, const char *b, int64_t otherwise)
{
    int64_t n = otherwise;

    json_int64(json_walk(object, a, b, NULL), &n);
    return n;
}

void cell_deployment_ready(struct cells *c, struct json object)
{
    json_put_str(c->w, str_fmt(c->arena, "%lld/%lld",
                               (long long)number(object, "status", "readyReplicas", 0),
                               (long long)number(object, "spec", "replicas", 1)));
}

void cell_deployment_updated(struct cells *c, struct json object)
{
    json_put_int(c->w, number(object, "status", "updatedReplicas", 0));
}

void cell_deployment_available(struct cells *c, struct json object)
{
    json_put_int(c->w, number(object, "status", "availableReplicas", 0));
}

static void of_containers(struct cells *c, struct json object, const char *member)
{
    struct strbuf text = strbuf_new(c->arena, 32);
    struct json_iter it =
        json_iter(json_walk(object, "spec", "template", "spec", "containers", NULL));

    while (json_next(&it)) {
        if (text.len)
            strbuf_char(&text, ',');
        strbuf_put(&text, json_str(json_get(it.value, str_of(member))));
    }
    json_put_str(c->w, strbuf_str(&text));
}

void cell_containers(struct cells *c, struct json object)
{
    of_containers(c, object, "name");
}

void cell_images(struct cells *c, struct json object)
{
    of_containers(c, object, "image");
}

void cell_role(struct cells *c, struct json object)
{
    json_put_str(c->w, str_fmt(c->arena, "%.*s/%.*s", STR_ARG(at(object, "roleRef", "kind")),
                               STR_ARG(at(object, "roleRef", "name"))));
}

void cell_false(struct cells *c, struct json object)
{
    json_put_bool(c->w, json_bool(json_get(object, STR("globalDefault"))));
}

void cell_node_selector(struct cells *c, struct json object)
{
    pairs(c, json_walk(object, "spec", "template", "spec", "nodeSelector", NULL));
}

void cell_pod_selector(struct cells *c, struct json object)
{
    struct selector selector;
    struct error err;
    bool is_one = selector_read(c->arena, json_walk(object, "spec", "podSelector", NULL), &selector,
                                &err) == 0;

    put_or(c, is_one ? selector_text(c->arena, &selector) : STR(""), "<none>");
}

void cell_missing_level(struct cells *c, struct json object)
{
    put_or(c, condition_status(object, STR("Dangling")), "?");
}

void cell_validation_count(struct cells *c, struct json object)
{
    json_put_int(c->w, json_count(json_walk(object, "spec", "validations", NULL)));
}

/* Two texts with a '/' between them; the second alone without the first. */
static void put_path(struct cells *c, struct json of, const char *first, const char *second)
{
    struct str a = json_str(json_get(of, str_of(first)));
    struct str b = json_str(json_get(of, str_of(second)));

    if (a.len)
        b = str_fmt(c->arena, "%.*s/%.*s", STR_ARG(a), STR_ARG(b));
    put_or(c, b, "<unset>");
}

void cell_param_kind(struct cells *c, struct json object)
{
    put_path(c, json_walk(object, "spec", "paramKind", NULL), "apiVersion", "kind");
}

void cell_param_ref(struct cells *c, struct json object)
{
    put_path(c, json_walk(object, "spec", "paramRef", NULL), "namespace", "name");
}
