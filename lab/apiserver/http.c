/* http.c: from a path and a method to a verb on a kind. */
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

        table_begin(rq->kind, str_fmt(rq->arena, "{\"resourceVersion\":\"%.*s\"}",
                                      STR_ARG(version)),
                    true, &w);
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

/* The user agent's beginning, as the API server names managers that do not name themselves. */
static struct str default_manager(struct http_request_of_api *h)
{
    struct str agent = http_header(h->exchange, "User-Agent");
    ptrdiff_t slash = str_find_char(agent, '/', 0);

    if (slash > 0)
        agent = str_slice(agent, 0, (size_t)slash);
    return agent.len ? agent : STR("unknown");
}

static int read_options(struct http_request_of_api *h)
{
    struct request *rq = h->rq;
    struct str dry_run = query_of(h, "dryRun");
    struct str validation = query_of(h, "fieldValidation");

    rq->field_manager = query_of(h, "fieldManager");
    if (rq->field_manager.len == 0)
        rq->field_manager = default_manager(h);
    rq->dry_run = str_eq(dry_run, STR("All"));
    if (dry_run.len && !rq->dry_run) {
        fail(&rq->failure, 422, "Invalid",
             "Options.meta.k8s.io \"\" is invalid: dryRun: Unsupported value: []string{\"%.*s\"}: "
             "supported values: \"All\"",
             STR_ARG(str_shown(rq->arena, dry_run, 100)));
        return -1;
    }
    rq->validation = str_eq(validation, STR("Strict"))   ? VALIDATION_STRICT
                     : str_eq(validation, STR("Ignore")) ? VALIDATION_IGNORE
                                                         : VALIDATION_WARN;
    if (validation.len && rq->validation == VALIDATION_WARN &&
        !str_eq(validation, STR("Warn")))
        return fail(&rq->failure, 422, "Invalid",
                    "Options.meta.k8s.io \"\" is invalid: fieldValidation: Unsupported value: "
                    "\"%.*s\": supported values: \"Ignore\", \"Strict\", \"Warn\"",
                    STR_ARG(str_shown(rq->arena, validation, 100)));
    return 0;
}

/* /api/v1/... or /apis/<group>/<version>/..., from the segment behind the version on. */
static bool find_kind(struct http_request_of_api *h)
{
    struct request *rq = h->rq;
    const struct str_list *p = &h->parts;
    bool core = p->count > 2 && str_eq(p->items[0], STR("api"));
    bool grouped = p->count > 3 && str_eq(p->items[0], STR("apis"));
    uint32_t at = core ? 2 : 3;
    struct str group = core ? STR("") : grouped ? p->items[1] : STR("");
    struct str version = core ? p->items[1] : grouped ? p->items[2] : STR("");

    if (!core && !grouped)
        return false;
    /* namespaces/<ns>/<plural>...; but namespaces/<ns>, .../status and .../finalize are the
     * namespace. */
    if (str_eq(p->items[at], STR("namespaces")) && p->count > at + 2 &&
        !(core && (str_eq(p->items[at + 2], STR("status")) ||
                   str_eq(p->items[at + 2], STR("finalize"))))) {
        rq->namespace_ = p->items[at + 1];
        at += 2;
    }
    rq->kind = catalog_find(rq->catalog, group, version, p->items[at]);
    if (!rq->kind || (rq->namespace_.len && !rq->kind->namespaced))
        return false;
    if (p->count > at + 1)
        rq->name = p->items[at + 1];
    if (p->count > at + 2)
        rq->sub_resource = p->items[at + 2];
    return p->count <= at + 3;
}

static int check_sub_resource(struct request *rq)
{
    struct failure_subject subject = request_subject(rq);
    bool finalize = str_eq(rq->sub_resource, STR("finalize")) &&
                    str_eq(rq->kind->plural, STR("namespaces"));

    if (rq->sub_resource.len == 0 || finalize ||
        (str_eq(rq->sub_resource, STR("status")) && kind_has(rq->kind, KIND_STATUS)) ||
        (str_eq(rq->sub_resource, STR("scale")) && kind_has(rq->kind, KIND_SCALE)) ||
        (str_eq(rq->sub_resource, STR("token")) && kind_has(rq->kind, KIND_TOKEN)))
        return 0;
    fail_not_found(&rq->failure, &subject);
    rq->failure.message = STR("the server could not find the requested resource");
    return -1;
}

static bool find_verb(struct http_request_of_api *h)
{
    struct request *rq = h->rq;
    struct str method = http_view(h->exchange)->method;
    bool one = rq->name.len > 0;

    if (str_eq(method, STR("GET")) || str_eq(method, STR("HEAD")))
        rq->verb = query_true(h, "watch") ? VERB_WATCH : one ? VERB_GET : VERB_LIST;
    else if (str_eq(method, STR("POST")) &&
             (!one || str_eq(rq->sub_resource, STR("token"))))
        rq->verb = VERB_CREATE;
    else if (str_eq(method, STR("PUT")) && one)
        rq->verb = VERB_UPDATE;
    else if (str_eq(method, STR("PATCH")) && one)
        rq->verb = VERB_PATCH;
    else if (str_eq(method, STR("DELETE")))
        rq->verb = one ? VERB_DELETE : VERB_DELETE_COLLECTION;
    else
        return false;
    if (kind_has(rq->kind, KIND_QUESTION) && rq->verb != VERB_CREATE)
        return false;
    return true;
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

static void handle_resource(struct http_request_of_api *h)
{
    struct request *rq = h->rq;

    if (!find_kind(h)) {
        fail(&rq->failure, 404, "NotFound", "the server could not find the requested resource");
        rq->failure.has_details = true;
        answer_failure(h);
        return;
    }
    if (!find_verb(h)) {
        fail(&rq->failure, 405, "MethodNotAllowed",
             "the server does not allow this method on the requested resource");
        rq->failure.has_details = true;
        answer_failure(h);
        return;
    }
    if (rq->kind->deprecation.len)
        request_warn(rq, rq->kind->deprecation);
    if (check_sub_resource(rq) != 0 || read_options(h) != 0)
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
