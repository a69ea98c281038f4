/* SPDX-License-Identifier: Apache-2.0 */
/* steve.c: /v1 of the management cluster and of each downstream agent: get, list, links, and the
 * roads to actions. Writes of objects go through the plain API, as Herd's do. */
#include "lab/rancher/jsonf.h"
#include "lab/rancher/inside.h"
#include "lab/rancher/route.h"
#include "lab/rancher/shape.h"

struct steve_type {
    struct str type; /* singular, as in `type` */
    const struct kube_resource *resource;
    bool local_only;
};

static const struct steve_type types[] = {
    { STR_INIT("management.cattle.io.cluster"), &res_clusters, true },
    { STR_INIT("catalog.cattle.io.clusterrepo"), &res_repos, false },
    { STR_INIT("catalog.cattle.io.app"), &res_apps, false },
    { STR_INIT("catalog.cattle.io.operation"), &res_operations, false },
    { STR_INIT("secret"), &res_secrets, false },
    { STR_INIT("configmap"), &res_configmaps, false },
    { STR_INIT("namespace"), &res_namespaces, false },
    { STR_INIT("node"), &res_nodes, false },
    { STR_INIT("pod"), &res_pods, false },
};

struct steve {
    struct simulation *simulation;
    struct http_exchange *exchange;
    struct arena *arena;
    struct str cluster;
    struct steve_path path;
    const struct steve_type *type;
    struct shape_steve how;
};

/* Singular and plural both reach it. NULL: steve has no such schema, and answers a bare 404. */
static const struct steve_type *type_of(struct str name, bool local)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        struct str type = types[i].type;
        bool plural =
            name.len == type.len + 1 && str_starts(name, type) && str_ends(name, STR("s"));

        if ((plural || str_eq(name, type)) && (local || !types[i].local_only))
            return &types[i];
    }
    return NULL;
}

static int get_object(struct steve *s, struct str *ret_text, struct json *ret_object,
                      struct error *err)
{
    if (world_get(s->simulation, s->arena, s->cluster, s->type->resource, s->path.namespace_,
                  s->path.name, ret_text, err) != 0)
        return -1;
    return json_read(s->arena, *ret_text, &json_limits_default, ret_object, err);
}

static bool is_real(const struct steve *s)
{
    return downstream_of(s->simulation->downstream, s->cluster) != NULL;
}

/* ---- links of a ClusterRepo ------------------------------------------------------------------ */

static void action_error(struct steve *s, const char *text)
{
    /* What an action or link handler raises is never translated. */
    reply_e1(s->exchange, 500, "ServerError", str_dup(s->arena, str_of(text)));
}

static void link_index(struct steve *s, struct json object, const struct catalogue_repo *repo)
{
    struct error err = { 0 };
    struct str index;

    if (!is_real(s))
        reply_json(s->exchange, 200,
                   repo ? catalogue_index(s->arena, repo)
                        : STR("{\"apiVersion\":\"v1\",\"entries\":{}}"));
    else if (repos_real_kept_index(s->simulation, s->arena, s->cluster, object, &index, &err) != 0)
        action_error(s, err.text);
    else
        reply_json(s->exchange, 200, index);
}

static void reply_info(struct steve *s, struct str values, struct str metadata)
{
    reply_json(s->exchange, 200,
               jsonf(s->arena,
                     "{'readme':'','appReadme':'','values':%r,'questions':null,"
                     "'chart':%r}",
                     values, metadata));
}

static void reply_tarball(struct steve *s, struct str name, struct str version, struct str bytes)
{
    http_answer_header(
        s->exchange, "Content-Disposition",
        str_fmt(s->arena, "attachment; filename=%.*s-%.*s.tgz", STR_ARG(name), STR_ARG(version)));
    http_answer(s->exchange, 200, "application/gzip", bytes);
}

static void link_real_chart(struct steve *s, struct json object, struct str link)
{
    struct action_chart wanted = { .annotations = STR_INIT("") };
    struct real_chart chart;
    struct error err = { 0 };

    http_query(s->exchange, STR("chartName"), &wanted.chart);
    http_query(s->exchange, STR("version"), &wanted.version);
    if (!wanted.chart.len)
        reply_e1(s->exchange, 404, "NotFound", STR("not found"));
    else if (repos_real_chart(s->simulation, s->arena, s->cluster, object, &wanted, &chart, &err) !=
             0)
        action_error(s, err.text);
    else if (str_eq(link, STR("info")))
        reply_info(s, chart.values, chart.metadata);
    else if (str_eq(link, STR("icon")))
        http_answer(s->exchange, 200, "image/svg+xml", STR(""));
    else
        reply_tarball(s, chart.row.name, chart.row.version, chart.tarball);
}

static void link_chart(struct steve *s, const struct catalogue_repo *repo, struct str link)
{
    struct str name = STR("");
    struct str version = STR("");
    const struct catalogue_chart *chart = NULL;
    struct error err = { 0 };

    http_query(s->exchange, STR("chartName"), &name);
    http_query(s->exchange, STR("version"), &version);
    if (!name.len) {
        reply_e1(s->exchange, 404, "NotFound", STR("not found"));
    } else if (!repo) {
        action_error(s, "no chart name found");
    } else if (catalogue_find(s->arena, repo, name, version, &chart, &err) != 0) {
        action_error(s, err.text);
    } else if (str_eq(link, STR("info"))) {
        reply_info(s, catalogue_values(s->arena, chart),
                   catalogue_metadata(s->arena, chart, STR("")));
    } else if (str_eq(link, STR("icon"))) {
        http_answer(s->exchange, 200, "image/svg+xml", STR(""));
    } else {
        /* An empty tar, gzipped: nobody in the lab unpacks charts. */
        reply_tarball(s, chart->name, chart->version,
                      str_make("\x1f\x8b\x08\0\0\0\0\0\0\x03\x03\0\0\0\0\0\0\0\0\0", 20));
    }
}

static void repo_link(struct steve *s, struct json object, struct str link)
{
    struct str map = json_str(json_walk(object, "status", "indexConfigMapName", NULL));
    const struct catalogue_repo *repo =
        repos_catalogue(s->simulation, s->arena, s->cluster, object);

    if (!map.len)
        action_error(s, "configmaps \"\" not found");
    else if (str_eq(link, STR("index")))
        link_index(s, object, repo);
    else if (!str_eq(link, STR("info")) && !str_eq(link, STR("chart")) &&
             !str_eq(link, STR("icon")))
        reply_e1(s->exchange, 404, "NotFound", STR("not found"));
    else if (is_real(s))
        link_real_chart(s, object, link);
    else
        link_chart(s, repo, link);
}

/* ---- logs of an Operation -------------------------------------------------------------------- */

static void operation_logs(struct steve *s, struct json object)
{
    struct str log;

    if (json_bool(json_walk(object, "status", "podCreated", NULL)) &&
        engine_log(s->simulation, s->arena, s->cluster, object, &log))
        reply_text(s->exchange, 200, log);
    else
        reply_e1(s->exchange, 404, "NotFound", STR("not found"));
}

/* ---- get and list ---------------------------------------------------------------------------- */

static void get_one(struct steve *s)
{
    struct str link = s->path.link;
    struct str text = STR("");
    struct json object;
    struct error err = { 0 };

    if (!link.len)
        http_query(s->exchange, STR("link"), &link);
    if (get_object(s, &text, &object, &err) != 0)
        reply_store_error(s->exchange, &err);
    else if (link.len && s->type->resource == &res_repos)
        repo_link(s, object, link);
    else if (str_eq(link, STR("logs")) && s->type->resource == &res_operations)
        operation_logs(s, object);
    else if (link.len)
        reply_e1(s->exchange, 404, "NotFound", STR("not found"));
    else
        reply_json(s->exchange, 200, shape_steve(s->arena, object, &s->how));
}

struct steve_list {
    struct steve *s;
    struct str filter;
    uint64_t limit, skip;
    uint64_t count, shown;
    struct strbuf out;
};

/* "metadata.labels[env]=edge", "spec.displayName!=x"; one comparison. */
static bool filter_holds(struct json object, struct str filter)
{
    ptrdiff_t equals = str_find_char(filter, '=', 0);
    bool negated = equals > 0 && filter.at[equals - 1] == '!';
    struct str path = str_slice(filter, 0, equals < 0 ? filter.len : (size_t)(equals - negated));
    struct str want = equals < 0 ? STR("") : str_slice(filter, (size_t)equals + 1, filter.len);
    struct json value = object;
    ptrdiff_t open = str_find_char(path, '[', 0);
    struct str rest = open < 0 ? path : str_slice(path, 0, (size_t)open);
    struct str part;

    if (str_starts(want, STR("=")))
        want = str_slice(want, 1, want.len);
    while (str_split(&rest, '.', &part))
        value = json_get(value, part);
    if (open >= 0 && path.len >= (size_t)open + 2)
        value = json_get(value, str_slice(path, (size_t)open + 1, path.len - 1));
    if (equals < 0)
        return !json_is(value, JSON_ABSENT);

    struct str got = json_is(value, JSON_STRING) ? json_str(value) : json_raw(value);

    return (json_is(value, JSON_ABSENT) ? false : str_eq(got, want)) != negated;
}

static bool list_one(void *context, struct str text)
{
    struct steve_list *list = context;
    struct steve *s = list->s;
    struct str any = list->filter;
    struct str one;
    struct error ignored;
    struct json object;
    bool holds = !any.len;

    if (json_read(s->arena, str_dup(s->arena, text), &json_limits_default, &object, &ignored) != 0)
        return true;
    while (any.len && str_split(&any, ',', &one))
        holds = holds || filter_holds(object, one);
    if (!holds || list->count++ < list->skip || list->shown >= list->limit)
        return true;
    if (list->shown++)
        strbuf_char(&list->out, ',');
    strbuf_put(&list->out, shape_steve(s->arena, object, &s->how));
    return true;
}

static uint64_t number_of(struct http_exchange *exchange, struct str name, uint64_t otherwise)
{
    struct str text;
    uint64_t number;

    return http_query(exchange, name, &text) && str_to_u64(text, &number) ? number : otherwise;
}

static void list_all(struct steve *s)
{
    struct steve_list list = { .s = s, .out = strbuf_new(s->arena, 8192) };
    uint64_t page = number_of(s->exchange, STR("page"), 1);
    struct error err = { 0 };

    list.limit =
        number_of(s->exchange, STR("pagesize"), number_of(s->exchange, STR("limit"), 100000));
    list.skip = number_of(s->exchange, STR("continue"), page > 1 ? (page - 1) * list.limit : 0);
    http_query(s->exchange, STR("filter"), &list.filter);
    if (world_list(s->simulation, s->arena, s->cluster, s->type->resource, s->path.namespace_,
                   list_one, &list, &err) != 0) {
        reply_store_error(s->exchange, &err);
        return;
    }

    struct str more =
        list.skip + list.shown < list.count
            ? jsonf(s->arena, "'continue':%s,",
                    str_fmt(s->arena, "%llu", (unsigned long long)(list.skip + list.shown)))
            : STR(" ");

    reply_json(s->exchange, 200,
               jsonf(s->arena,
                     "{'type':'collection','links':{'self':%s},'createTypes':{},'actions':{},"
                     "'resourceType':%s,'revision':'',%r'count':%d,'data':[%r]}",
                     str_fmt(s->arena, "%.*s/%.*ss", STR_ARG(s->how.base), STR_ARG(s->how.type)),
                     s->type->type, more, (int64_t)list.count,
                     list.shown ? strbuf_str(&list.out) : STR(" ")));
}

static void post(struct steve *s, struct str action)
{
    bool on_repo = s->type->resource == &res_repos &&
                   (str_eq(action, STR("install")) || str_eq(action, STR("upgrade")));
    bool on_app = s->type->resource == &res_apps && str_eq(action, STR("uninstall"));

    if (on_repo || on_app)
        post_action(s->simulation, s->exchange, s->cluster, s->path.namespace_, s->path.name,
                    action);
    else
        reply_e1(s->exchange, 403, "PermissionDenied",
                 str_fmt(s->arena, "no such action %.*s", STR_ARG(action)));
}

void steve_handle(struct simulation *simulation, struct http_exchange *exchange, struct str cluster,
                  struct str rest)
{
    const struct http_exchange_view *view = http_view(exchange);
    bool local = str_eq(cluster, LOCAL_CLUSTER);
    struct steve s = {
        .simulation = simulation, .exchange = exchange, .arena = view->arena, .cluster = cluster
    };
    struct str left = rest;
    struct str name = STR("");
    struct str action;
    struct str data;

    str_split(&left, '/', &name);
    s.type = type_of(name, local);
    if (!s.type || !steve_path_of(rest, s.type->resource->namespaced, &s.path)) {
        http_answer(exchange, 404, NULL, STR(""));
        return;
    }
    s.how.type = s.type->type;
    s.how.helm_data =
        http_query(exchange, STR("includeHelmData"), &data) && str_eq(data, STR("true"));
    s.how.base = local ? str_fmt(s.arena, "https://%.*s/v1", STR_ARG(http_header(exchange, "Host")))
                       : str_fmt(s.arena, "https://%.*s/k8s/clusters/%.*s/v1",
                                 STR_ARG(http_header(exchange, "Host")), STR_ARG(cluster));
    if (str_eq(view->method, STR("POST")) && http_query(exchange, STR("action"), &action))
        post(&s, action);
    else if (!str_eq(view->method, STR("GET")))
        reply_e1(exchange, 405, "MethodNotAllowed",
                 str_fmt(s.arena, "Method %.*s not supported", STR_ARG(view->method)));
    else if (s.path.name.len)
        get_one(&s);
    else
        list_all(&s);
}
