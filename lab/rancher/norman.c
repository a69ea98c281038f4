/* SPDX-License-Identifier: Apache-2.0 */
/* norman.c: /v3: clusters, nodes, tokens and the one setting that clients read. */
#include "lab/rancher/jsonf.h"
#include "lab/rancher/inside.h"
#include "lab/rancher/shape.h"

enum { NORMAN_LIMIT = 1000, NORMAN_LIMIT_MAX = 10000 };

static struct str base_of(struct http_exchange *exchange)
{
    return str_fmt(http_view(exchange)->arena, "https://%.*s/v3",
                   STR_ARG(http_header(exchange, "Host")));
}

/* ---- collections ----------------------------------------------------------------------------- */

struct page {
    struct http_exchange *exchange;
    struct arena *arena;
    struct str base;
    struct str (*shape)(struct arena *arena, struct json object, struct str base);
    struct str marker;
    int64_t limit;
    int64_t total, shown;
    bool begun; /* the marker was met, or there is none */
    struct str next;
    struct strbuf out;
};

/* Field equality with the suffixes _ne, _in and _notin; the fields that people filter by. */
static bool passes(struct page *page, struct json shaped)
{
    static const char *const fields[] = { "id",       "name",      "state",
                                          "provider", "driver",    "internal",
                                          "nodeName", "clusterId", "transitioning" };
    static const char *const suffixes[] = { "", "_ne", "_in", "_notin" };

    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        struct json value = json_get(shaped, str_of(fields[i]));
        struct str got = json_is(value, JSON_STRING) ? json_str(value) : json_raw(value);

        for (size_t k = 0; k < 4; k++) {
            struct str want;
            struct str one;
            bool found = false;

            if (!http_query(page->exchange, str_fmt(page->arena, "%s%s", fields[i], suffixes[k]),
                            &want))
                continue;
            if (k < 2)
                found = str_eq(want, got);
            while (k >= 2 && str_split(&want, ',', &one))
                found = found || str_eq(one, got);
            if (found == (k % 2 == 1))
                return false;
        }
    }
    return true;
}

static bool add_to_page(void *context, struct str object)
{
    struct page *page = context;
    struct error ignored;
    struct json root;
    struct json shaped;

    if (json_read(page->arena, str_dup(page->arena, object), &json_limits_default, &root,
                  &ignored) != 0)
        return true;

    struct str text = page->shape(page->arena, root, page->base);

    if (json_read(page->arena, text, &json_limits_default, &shaped, &ignored) != 0 ||
        !passes(page, shaped))
        return true;

    struct str id = json_str(json_get(shaped, STR("id")));

    page->total++;
    if (str_eq(id, page->marker))
        page->begun = true;
    if (!page->begun)
        return true;
    if (page->shown >= page->limit) {
        if (!page->next.len)
            page->next = id;
        return true;
    }
    if (page->shown++)
        strbuf_char(&page->out, ',');
    strbuf_put(&page->out, text);
    return true;
}

static void list(struct simulation *simulation, struct http_exchange *exchange, const char *type,
                 const struct kube_resource *resource,
                 struct str (*shape)(struct arena *arena, struct json object, struct str base))
{
    struct arena *arena = http_view(exchange)->arena;
    struct page page = { .exchange = exchange,
                         .arena = arena,
                         .base = base_of(exchange),
                         .shape = shape,
                         .limit = NORMAN_LIMIT,
                         .begun = true,
                         .out = strbuf_new(arena, 8192) };
    struct error err = { 0 };
    struct str text;
    uint64_t limit;

    if (http_query(exchange, STR("limit"), &text)) {
        if (str_to_u64(text, &limit) && limit > 0)
            page.limit = limit > NORMAN_LIMIT_MAX ? NORMAN_LIMIT_MAX : (int64_t)limit;
        else if (str_eq(text, STR("-1")))
            page.limit = NORMAN_LIMIT_MAX;
    }
    if (http_query(exchange, STR("marker"), &page.marker) && page.marker.len)
        page.begun = false;
    if (api_list(simulation->api, arena, LOCAL_CLUSTER, resource, STR(""), add_to_page, &page,
                 &err) != 0) {
        reply_e2(exchange, 500, "ServerError", str_dup(arena, str_of(err.text)));
        return;
    }

    struct str collection = str_fmt(arena, "%.*s/%ss", STR_ARG(page.base), type);
    struct str next = page.next.len
                          ? jsonf(arena, ",'partial':true,'next':%s",
                                  str_fmt(arena, "%.*s?limit=%lld&marker=%.*s", STR_ARG(collection),
                                          (long long)page.limit, STR_ARG(page.next)))
                          : STR(" ");

    reply_json(exchange, 200,
               jsonf(arena,
                     "{'type':'collection','resourceType':%s,'links':{'self':%s},"
                     "'createTypes':{},'actions':{},'pagination':{'limit':%d,'total':%d%r},"
                     "'sort':{'order':'asc'},'filters':{},'data':[%r]}",
                     str_of(type), collection, page.limit, page.total, next,
                     page.shown ? strbuf_str(&page.out) : STR(" ")));
}

/* ---- one ------------------------------------------------------------------------------------- */

static void get_cluster(struct simulation *simulation, struct http_exchange *exchange,
                        struct str id)
{
    struct arena *arena = http_view(exchange)->arena;
    struct error err = { 0 };
    struct str object = STR("");
    struct json root;

    if (api_get(simulation->api, arena, LOCAL_CLUSTER, &res_clusters, STR(""), id, &object, &err) !=
            0 ||
        json_read(arena, object, &json_limits_default, &root, &err) != 0)
        reply_e2(exchange, 404, "NotFound",
                 str_fmt(arena, "clusters.management.cattle.io \"%.*s\" not found", STR_ARG(id)));
    else
        reply_json(exchange, 200, shape_norman_cluster(arena, root, base_of(exchange)));
}

static void get_root(struct http_exchange *exchange)
{
    struct arena *arena = http_view(exchange)->arena;
    struct str base = base_of(exchange);

    reply_json(exchange, 200,
               jsonf(arena,
                     "{'type':'apiRoot','baseType':'apiRoot','apiVersion':{'group':"
                     "'management.cattle.io','path':'/v3','version':'v3'},'links':{'self':%s,"
                     "'clusters':%s,'nodes':%s,'tokens':%s,'settings':%s}}",
                     base, str_fmt(arena, "%.*s/clusters", STR_ARG(base)),
                     str_fmt(arena, "%.*s/nodes", STR_ARG(base)),
                     str_fmt(arena, "%.*s/tokens", STR_ARG(base)),
                     str_fmt(arena, "%.*s/settings", STR_ARG(base))));
}

static void get_setting(struct simulation *simulation, struct http_exchange *exchange,
                        struct str name)
{
    struct arena *arena = http_view(exchange)->arena;
    struct str value = str_eq(name, STR("cacerts"))          ? str_of(simulation->ca_pem)
                       : str_eq(name, STR("server-version")) ? STR("v2.14.0")
                                                             : STR("");

    if (!value.len && !str_eq(name, STR("cacerts")))
        reply_e2(exchange, 404, "NotFound",
                 str_fmt(arena, "settings.management.cattle.io \"%.*s\" not found", STR_ARG(name)));
    else
        reply_json(exchange, 200,
                   jsonf(arena,
                         "{'type':'setting','baseType':'setting','id':%s,'name':%s,"
                         "'value':%s,'default':'','customized':false,'source':'db',"
                         "'links':{}}",
                         name, name, value));
}

void norman_handle(struct simulation *simulation, struct http_exchange *exchange, struct str rest,
                   const struct token *caller)
{
    const struct http_exchange_view *view = http_view(exchange);
    struct str type = STR("");
    struct str name = STR("");
    bool reads = str_eq(view->method, STR("GET"));

    str_split(&rest, '/', &type);
    str_split(&rest, '/', &name);
    if (str_eq(type, STR("tokens")) || str_eq(type, STR("token")))
        tokens_handle(simulation, exchange, name, caller);
    else if (!reads)
        reply_e2(exchange, 405, "MethodNotAllow",
                 str_fmt(view->arena, "Method %.*s not supported", STR_ARG(view->method)));
    else if (!type.len)
        get_root(exchange);
    else if (str_eq(type, STR("settings")) && name.len)
        get_setting(simulation, exchange, name);
    else if (str_eq(type, STR("clusters")) && name.len)
        get_cluster(simulation, exchange, name);
    else if (str_eq(type, STR("clusters")) || str_eq(type, STR("cluster")))
        list(simulation, exchange, "cluster", &res_clusters, shape_norman_cluster);
    else if (str_eq(type, STR("nodes")) && !name.len)
        list(simulation, exchange, "node", &res_machines, shape_norman_node);
    else
        reply_e2(exchange, 404, "NotFound", STR("failed to find resource by id"));
}
