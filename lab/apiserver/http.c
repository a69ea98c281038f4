/* SPDX-License-Identifier: Apache-2.0 */
/* http.c: a request from its first byte to its answer. */
#include "lab/apiserver/http.h"

#include "lab/apiserver/object.h"
#include "text/time.h"

struct str query_of(struct http_request_of_api *h, const char *name)
{
    struct str value = { "", 0 };

    http_query(h->exchange, str_of(name), &value);
    return value;
}

bool query_true(struct http_request_of_api *h, const char *name)
{
    struct str value = query_of(h, name);

    return str_eq(value, STR("true")) || str_eq(value, STR("1"));
}

/* RFC 7234 5.5: 299 - "text". The server's list of headers is a stack, hence backwards. */
void http_put_warnings(struct http_request_of_api *h)
{
    for (uint32_t i = h->rq->warnings.count; i-- > 0;) {
        struct strbuf header = strbuf_new(h->rq->arena, 128);
        struct str text = str_shown(h->rq->arena, h->rq->warnings.items[i], 1024);

        strbuf_lit(&header, "299 - \"");
        for (size_t k = 0; k < text.len; k++) {
            if (text.at[k] == '"' || text.at[k] == '\\')
                strbuf_char(&header, '\\');
            strbuf_char(&header, text.at[k]);
        }
        strbuf_char(&header, '"');
        http_answer_header(h->exchange, "Warning", strbuf_str(&header));
    }
}

void answer_json(struct http_request_of_api *h, int status, struct str body)
{
    http_put_warnings(h);
    http_answer_header(h->exchange, "Cache-Control", STR("no-cache, private"));
    http_answer(h->exchange, status, "application/json", body);
}

void answer_failure(struct http_request_of_api *h)
{
    const struct failure *f = &h->rq->failure;

    if (f->retry_after_s)
        http_answer_header(h->exchange, "Retry-After",
                           str_fmt(h->rq->arena, "%lld", (long long)f->retry_after_s));
    if (f->text.len)
        http_answer(h->exchange, f->code, "text/plain; charset=utf-8", f->text);
    else
        answer_json(h, f->code, failure_status(f));
}

void answer_object(struct http_request_of_api *h, int status, struct str object)
{
    struct request *rq = h->rq;
    struct strbuf out = strbuf_new(rq->arena, 1024);
    struct json_writer w = json_writer(&out);
    struct json view;
    struct error err;

    if (h->output == OUTPUT_OBJECT) {
        answer_json(h, status, object);
        return;
    }
    if (json_read(rq->arena, object, &json_limits_default, &view, &err) != 0) {
        fail_internal(&rq->failure, str_of(err.text));
        answer_failure(h);
        return;
    }
    if (h->output == OUTPUT_METADATA) {
        partial_metadata(view, &w);
    } else {
        struct str version = json_str(json_walk(view, "metadata", "resourceVersion", NULL));

        table_begin(rq->kind,
                    str_fmt(rq->arena, "{\"resourceVersion\":\"%.*s\"}", STR_ARG(version)), true,
                    &w);
        table_row(rq->kind, object, view, h->include, rq->now_ms, rq->arena, &w);
        table_end(&w);
    }
    answer_json(h, status, strbuf_str(&out));
}

/* Whether a media type of the Accept header carries as=<what>;g=meta.k8s.io. */
static bool asks_as(struct str type, struct str what)
{
    struct str mark = str_starts(type, STR("application/json")) ? what : STR("\n");
    ptrdiff_t at = str_find(type, mark, 0);

    return at >= 0 && ((size_t)at + mark.len == type.len || type.at[(size_t)at + mark.len] == ';');
}

static void read_accept(struct http_request_of_api *h)
{
    struct str rest = h->accept = http_header(h->exchange, "Accept");
    struct str include = query_of(h, "includeObject");
    struct str type;

    h->output = OUTPUT_OBJECT;
    while (rest.len && str_split(&rest, ',', &type)) {
        type = str_trim(type);
        if (asks_as(type, STR("as=Table")) && str_find(type, STR("v=v1"), 0) >= 0) {
            h->output = OUTPUT_TABLE;
            break;
        }
        if (asks_as(type, STR("as=PartialObjectMetadata")) ||
            asks_as(type, STR("as=PartialObjectMetadataList"))) {
            h->output = OUTPUT_METADATA;
            break;
        }
        if (str_eq(type, STR("application/json")) || str_eq(type, STR("*/*")))
            break;
    }
    h->include = str_eq(include, STR("Object")) ? TABLE_OBJECT
                 : str_eq(include, STR("None")) ? TABLE_NONE
                                                : TABLE_METADATA;
}

static void handle_get(struct http_request_of_api *h)
{
    struct str object;

    if (do_get(h->rq, &object) != 0)
        answer_failure(h);
    else
        answer_object(h, 200, object);
}

static void (*const handlers[])(struct http_request_of_api *h) = {
    [VERB_GET] = handle_get,       [VERB_LIST] = handle_list,
    [VERB_WATCH] = handle_watch,   [VERB_CREATE] = handle_create,
    [VERB_UPDATE] = handle_update, [VERB_PATCH] = handle_patch,
    [VERB_DELETE] = handle_delete, [VERB_DELETE_COLLECTION] = handle_delete_collection,
};

static bool writes(const struct request *rq)
{
    return rq->verb == VERB_CREATE || rq->verb == VERB_UPDATE || rq->verb == VERB_PATCH;
}

static void handle_resource(struct http_request_of_api *h)
{
    struct request *rq = h->rq;

    if (find_route(h) != 0) {
        answer_failure(h);
        return;
    }
    if (rq->kind->deprecation.len)
        request_warn(rq, rq->kind->deprecation);
    if (writes(rq) && read_write_options(h) != 0)
        answer_failure(h);
    else if (kind_has(rq->kind, KIND_QUESTION))
        handle_question(h);
    else if (str_eq(rq->sub_resource, STR("token")))
        handle_token_request(h);
    else if (str_eq(rq->sub_resource, STR("scale")))
        handle_scale(h);
    else
        handlers[rq->verb](h);
}

static struct str_list split_path(struct arena *arena, struct str path)
{
    struct str_list parts = str_list_new(arena, 8);
    struct str rest = path;
    struct str part;

    while (rest.len && str_split(&rest, '/', &part))
        if (part.len)
            str_list_push(&parts, part);
    return parts;
}

static struct http_request_of_api *begin(struct api *api, struct http_exchange *exchange,
                                         struct str cluster, struct str path,
                                         const struct api_caller *caller)
{
    const struct http_exchange_view *view = http_view(exchange);
    struct request *rq = arena_new(view->arena, struct request);
    struct http_request_of_api *h = arena_new(view->arena, struct http_request_of_api);

    *rq = (struct request){ .api = api,
                            .arena = view->arena,
                            .catalog = request_catalog(api, view->arena, cluster),
                            .cluster = cluster,
                            .caller = caller,
                            .namespace_ = STR(""),
                            .name = STR(""),
                            .sub_resource = STR(""),
                            .content_type = view->content_type,
                            .body = view->body,
                            .now_ms = clock_wall_ms(api->clock),
                            .warnings = str_list_new(view->arena, 2),
                            .failure = failure_new(view->arena) };
    *h = (struct http_request_of_api){ .exchange = exchange, .rq = rq, .path = path };
    h->parts = split_path(view->arena, path);
    read_accept(h);
    return h;
}

bool api_allows(struct api *api, struct http_exchange *exchange, struct str cluster,
                const struct api_caller *caller)
{
    struct http_request_of_api *h =
        begin(api, exchange, cluster, http_view(exchange)->path, caller);

    if (impersonate(h) == 0 && authorize(h) == 0)
        return true;
    answer_failure(h);
    return false;
}

void api_handle(struct api *api, struct http_exchange *exchange, struct str cluster,
                struct str path, const struct api_caller *caller)
{
    struct http_request_of_api *h = begin(api, exchange, cluster, path, caller);
    struct request *rq = h->rq;

    if (!rq->catalog) {
        fail(&rq->failure, 404, "NotFound", "the lab has no cluster \"%.*s\"",
             STR_ARG(str_shown(rq->arena, cluster, 100)));
        answer_failure(h);
    } else if (impersonate(h) != 0 || authorize(h) != 0) {
        answer_failure(h);
    } else if (!handle_discovery(h) && !handle_openapi(h)) {
        handle_resource(h);
    }
}
