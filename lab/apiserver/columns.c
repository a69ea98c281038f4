/* columns.c: the columns of the built-in kinds: rows for what a JSON path can say, functions for
 * the rest. */
#include "lab/apiserver/columns.h"

static struct str at(struct json object, const char *a, const char *b)
{
    return json_str(json_walk(object, a, b, NULL));
}

static void put_or(struct cells *c, struct str text, const char *otherwise)
{
    json_put_str(c->w, text.len ? text : str_of(otherwise));
}

static void cell_age(struct cells *c, struct json object)
{
    json_put_str(c->w, age_since(c, at(object, "metadata", "creationTimestamp")));
}

static void cell_data_count(struct cells *c, struct json object)
{
    json_put_int(c->w, (int64_t)json_count(json_get(object, STR("data"))) +
                           json_count(json_get(object, STR("binaryData"))));
}

static void cell_secret_count(struct cells *c, struct json object)
{
    json_put_int(c->w, json_count(json_get(object, STR("secrets"))));
}

static void cell_webhook_count(struct cells *c, struct json object)
{
    json_put_int(c->w, json_count(json_get(object, STR("webhooks"))));
}

static void cell_event_first_seen(struct cells *c, struct json object)
{
    struct str time = json_str(json_get(object, STR("firstTimestamp")));

    json_put_str(c->w,
                 age_since(c, time.len ? time : json_str(json_get(object, STR("eventTime")))));
}

static void cell_event_last_seen(struct cells *c, struct json object)
{
    struct str time = json_str(json_get(object, STR("lastTimestamp")));

    if (time.len)
        json_put_str(c->w, age_since(c, time));
    else
        cell_event_first_seen(c, object);
}

static void cell_event_object(struct cells *c, struct json object)
{
    struct strbuf text = strbuf_new(c->arena, 64);
    struct str kind = at(object, "involvedObject", "kind");

    for (size_t i = 0; i < kind.len; i++)
        strbuf_char(&text, (char)(kind.at[i] >= 'A' && kind.at[i] <= 'Z' ? kind.at[i] + 32
                                                                          : kind.at[i]));
    strbuf_char(&text, '/');
    strbuf_put(&text, at(object, "involvedObject", "name"));
    json_put_str(c->w, strbuf_str(&text));
}

static void cell_event_source(struct cells *c, struct json object)
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

static void cell_event_count(struct cells *c, struct json object)
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

static void cell_node_status(struct cells *c, struct json object)
{
    struct str ready = condition_status(object, STR("Ready"));
    struct str text = str_eq(ready, STR("True")) ? STR("Ready")
                      : ready.len                ? STR("NotReady")
                                                 : STR("Unknown");

    if (json_bool(json_walk(object, "spec", "unschedulable", NULL)))
        text = str_fmt(c->arena, "%.*s,SchedulingDisabled", STR_ARG(text));
    json_put_str(c->w, text);
}

static void cell_node_roles(struct cells *c, struct json object)
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

static void cell_node_internal(struct cells *c, struct json object)
{
    node_address(c, object, STR("InternalIP"));
}

static void cell_node_external(struct cells *c, struct json object)
{
    node_address(c, object, STR("ExternalIP"));
}

static void cell_pod_ready(struct cells *c, struct json object)
{
    struct json_iter it = json_iter(json_walk(object, "status", "containerStatuses", NULL));
    unsigned ready = 0;

    while (json_next(&it))
        ready += json_bool(json_get(it.value, STR("ready")));
    json_put_str(c->w, str_fmt(c->arena, "%u/%u", ready,
                               json_count(json_walk(object, "spec", "containers", NULL))));
}

static void cell_pod_status(struct cells *c, struct json object)
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

static void cell_pod_restarts(struct cells *c, struct json object)
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

static void cell_service_ports(struct cells *c, struct json object)
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

static void cell_service_external(struct cells *c, struct json object)
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

static void cell_selector(struct cells *c, struct json object)
{
    pairs(c, json_walk(object, "spec", "selector", NULL));
}

static void cell_deployment_selector(struct cells *c, struct json object)
{
    pairs(c, json_walk(object, "spec", "selector", "matchLabels", NULL));
}

static int64_t number(struct json object, const char *a, const char *b, int64_t otherwise)
{
    int64_t n = otherwise;

    json_int64(json_walk(object, a, b, NULL), &n);
    return n;
}

static void cell_deployment_ready(struct cells *c, struct json object)
{
    json_put_str(c->w, str_fmt(c->arena, "%lld/%lld",
                               (long long)number(object, "status", "readyReplicas", 0),
                               (long long)number(object, "spec", "replicas", 1)));
}

static void cell_deployment_updated(struct cells *c, struct json object)
{
    json_put_int(c->w, number(object, "status", "updatedReplicas", 0));
}

static void cell_deployment_available(struct cells *c, struct json object)
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

static void cell_containers(struct cells *c, struct json object)
{
    of_containers(c, object, "name");
}

static void cell_images(struct cells *c, struct json object)
{
    of_containers(c, object, "image");
}

static void cell_role(struct cells *c, struct json object)
{
    json_put_str(c->w, str_fmt(c->arena, "%.*s/%.*s", STR_ARG(at(object, "roleRef", "kind")),
                               STR_ARG(at(object, "roleRef", "name"))));
}

static void cell_false(struct cells *c, struct json object)
{
    json_put_bool(c->w, json_bool(json_get(object, STR("globalDefault"))));
}

static const struct row {
    const char *plural;
    const char *name, *type;
    int64_t priority;
    const char *path; /* or */
    void (*cell)(struct cells *c, struct json object);
} rows[] = {
    { "namespaces", "Status", "string", 0, ".status.phase", NULL },
    { "configmaps", "Data", "string", 0, NULL, cell_data_count },
    { "secrets", "Type", "string", 0, ".type", NULL },
    { "secrets", "Data", "string", 0, NULL, cell_data_count },
    { "serviceaccounts", "Secrets", "string", 0, NULL, cell_secret_count },
    { "events", "Last Seen", "string", 0, NULL, cell_event_last_seen },
    { "events", "Type", "string", 0, ".type", NULL },
    { "events", "Reason", "string", 0, ".reason", NULL },
    { "events", "Object", "string", 0, NULL, cell_event_object },
    { "events", "Subobject", "string", 1, ".involvedObject.fieldPath", NULL },
    { "events", "Source", "string", 1, NULL, cell_event_source },
    { "events", "Message", "string", 0, ".message", NULL },
    { "events", "First Seen", "string", 1, NULL, cell_event_first_seen },
    { "events", "Count", "string", 1, NULL, cell_event_count },
    { "events", "Name", "string", 1, ".metadata.name", NULL },
    { "nodes", "Status", "string", 0, NULL, cell_node_status },
    { "nodes", "Roles", "string", 0, NULL, cell_node_roles },
    { "nodes", "Age", "string", 0, NULL, cell_age },
    { "nodes", "Version", "string", 0, ".status.nodeInfo.kubeletVersion", NULL },
    { "nodes", "Internal-IP", "string", 1, NULL, cell_node_internal },
    { "nodes", "External-IP", "string", 1, NULL, cell_node_external },
    { "nodes", "OS-Image", "string", 1, ".status.nodeInfo.osImage", NULL },
    { "nodes", "Kernel-Version", "string", 1, ".status.nodeInfo.kernelVersion", NULL },
    { "nodes", "Container-Runtime", "string", 1, ".status.nodeInfo.containerRuntimeVersion", NULL },
    { "pods", "Ready", "string", 0, NULL, cell_pod_ready },
    { "pods", "Status", "string", 0, NULL, cell_pod_status },
    { "pods", "Restarts", "string", 0, NULL, cell_pod_restarts },
    { "pods", "Age", "string", 0, NULL, cell_age },
    { "pods", "IP", "string", 1, ".status.podIP", NULL },
    { "pods", "Node", "string", 1, ".spec.nodeName", NULL },
    { "services", "Type", "string", 0, ".spec.type", NULL },
    { "services", "Cluster-IP", "string", 0, ".spec.clusterIP", NULL },
    { "services", "External-IP", "string", 0, NULL, cell_service_external },
    { "services", "Port(s)", "string", 0, NULL, cell_service_ports },
    { "services", "Age", "string", 0, NULL, cell_age },
    { "services", "Selector", "string", 1, NULL, cell_selector },
    { "deployments", "Ready", "string", 0, NULL, cell_deployment_ready },
    { "deployments", "Up-to-date", "string", 0, NULL, cell_deployment_updated },
    { "deployments", "Available", "string", 0, NULL, cell_deployment_available },
    { "deployments", "Age", "string", 0, NULL, cell_age },
    { "deployments", "Containers", "string", 1, NULL, cell_containers },
    { "deployments", "Images", "string", 1, NULL, cell_images },
    { "deployments", "Selector", "string", 1, NULL, cell_deployment_selector },
    { "leases", "Holder", "string", 0, ".spec.holderIdentity", NULL },
    { "priorityclasses", "Value", "integer", 0, ".value", NULL },
    { "priorityclasses", "Global-Default", "boolean", 0, NULL, cell_false },
    { "clusterroles", "Created At", "string", 0, ".metadata.creationTimestamp", NULL },
    { "roles", "Created At", "string", 0, ".metadata.creationTimestamp", NULL },
    { "customresourcedefinitions", "Created At", "string", 0, ".metadata.creationTimestamp", NULL },
    { "clusterrolebindings", "Role", "string", 0, NULL, cell_role },
    { "rolebindings", "Role", "string", 0, NULL, cell_role },
    { "mutatingwebhookconfigurations", "Webhooks", "integer", 0, NULL, cell_webhook_count },
    { "validatingwebhookconfigurations", "Webhooks", "integer", 0, NULL, cell_webhook_count },
};

/* Kinds whose last column is not Age, or that have it in the middle. */
static bool has_own_age(const struct kind *kind)
{
    static const char *const plurals[] = { "events",      "nodes",
                                           "pods",        "services",
                                           "deployments", "clusterroles",
                                           "roles",       "customresourcedefinitions" };

    for (size_t i = 0; i < sizeof(plurals) / sizeof(plurals[0]); i++)
        if (str_eq(kind->plural, str_of(plurals[i])))
            return true;
    return false;
}

static const struct jsonpath *path_of(struct arena *arena, const char *text)
{
    struct error err;

    return text ? jsonpath_compile(arena, str_of(text), &err) : NULL;
}

void columns_builtin(struct arena *arena, struct kind *kind)
{
    kind->columns = columns_new(arena, 8);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (str_eq(kind->plural, str_of(rows[i].plural)))
            columns_push(&kind->columns,
                         (struct column){ .name = str_of(rows[i].name),
                                          .type = str_of(rows[i].type),
                                          .format = STR(""),
                                          .description = STR(""),
                                          .priority = rows[i].priority,
                                          .path = path_of(arena, rows[i].path),
                                          .cell = rows[i].cell });
    if (!has_own_age(kind))
        columns_push(&kind->columns, (struct column){ .name = STR("Age"),
                                                      .type = STR("string"),
                                                      .format = STR(""),
                                                      .description = STR(""),
                                                      .cell = cell_age });
}
