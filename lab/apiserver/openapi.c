/* SPDX-License-Identifier: Apache-2.0 */
/* openapi.c: /openapi/v3: an index, and one document for each group and version: its kinds'
 * schemas and, for each, the paths from which kubectl learns that fieldValidation and dryRun are
 * understood. What v2 says, says openapi_v2.c. */
#include "lab/apiserver/http.h"
#include "lab/apiserver/openapi_v2.h"

#include "text/digest.h"

struct str openapi_group_path(struct request *rq, const struct kind *kind)
{
    if (kind->group.len == 0)
        return str_fmt(rq->arena, "api/%.*s", STR_ARG(kind->version));
    return str_fmt(rq->arena, "apis/%.*s/%.*s", STR_ARG(kind->group), STR_ARG(kind->version));
}

static void answer_index(struct http_request_of_api *h)
{
    struct request *rq = h->rq;
    struct strbuf out = strbuf_new(rq->arena, 4096);
    struct json_writer w = json_writer(&out);
    struct str_list seen = str_list_new(rq->arena, 16);

    json_open_object(&w);
    json_put_key(&w, STR("paths"));
    json_open_object(&w);
    for (uint32_t i = 0; i < catalog_count(rq->catalog); i++) {
        struct str path = openapi_group_path(rq, catalog_at(rq->catalog, i));
        struct str mark;

        if (str_list_has(&seen, path))
            continue;
        str_list_push(&seen, path);
        mark = str_fmt(rq->arena, "%.*s %llu %s", STR_ARG(path),
                       (unsigned long long)catalog_generation(rq->catalog), HERD_VERSION);
        json_put_key(&w, path);
        json_open_object(&w);
        json_field_str(&w, "serverRelativeURL",
                       str_fmt(rq->arena, "/openapi/v3/%.*s?hash=%.*s", STR_ARG(path),
                               STR_ARG(str_slice(digest_sha256_hex(rq->arena, mark), 0, 32))));
        json_close_object(&w);
    }
    json_close_object(&w);
    json_close_object(&w);
    answer_json(h, 200, strbuf_str(&out));
}

/* "com.suse.herd.v1.Stack"; a built-in kind has the name of its type. */
struct str openapi_schema_name(struct request *rq, const struct kind *kind)
{
    struct str_list parts = str_list_new(rq->arena, 4);
    struct strbuf out = strbuf_new(rq->arena, 64);
    struct str rest = kind->group;
    struct str part;

    if (!kind_has(kind, KIND_CUSTOM))
        return schema_key(rq->arena, kind->schema);
    while (rest.len && str_split(&rest, '.', &part))
        str_list_push(&parts, part);
    for (uint32_t i = parts.count; i-- > 0;)
        strbuf_fmt(&out, "%.*s.", STR_ARG(parts.items[i]));
    strbuf_fmt(&out, "%.*s.%.*s", STR_ARG(kind->version), STR_ARG(kind->kind));
    return strbuf_str(&out);
}

struct str openapi_gvk(struct request *rq, const struct kind *kind)
{
    return str_fmt(rq->arena, "{\"group\":\"%.*s\",\"kind\":\"%.*s\",\"version\":\"%.*s\"}",
                   STR_ARG(kind->group), STR_ARG(kind->kind), STR_ARG(kind->version));
}

static void put_operation(struct request *rq, struct json_writer *w, const struct kind *kind,
                          const char *method, const char *action, const char *parameters)
{
    json_put_key(w, str_of(method));
    json_put_raw(w, str_fmt(rq->arena,
                            "{\"operationId\":\"%s%.*s\",\"parameters\":[%s],\"responses\":{"
                            "\"200\":"
                            "{\"description\":\"OK\",\"content\":{\"application/json\":{\"schema\":"
                            "{\"$ref\":\"#/components/schemas/%.*s\"}}}}},"
                            "\"x-kubernetes-action\":\"%s\","
                            "\"x-kubernetes-group-version-kind\":%.*s}",
                            method, STR_ARG(kind->kind), parameters,
                            STR_ARG(openapi_schema_name(rq, kind)), action,
                            STR_ARG(openapi_gvk(rq, kind))));
}

#define PARAMETER(name)                                                                            \
    "{\"name\":\"" name "\",\"in\":\"query\",\"schema\":{\"type\":\"string\",\"uniqueItems\":"     \
    "true}}"
#define WRITE_PARAMETERS                                                                           \
    PARAMETER("dryRun") "," PARAMETER("fieldManager") "," PARAMETER("fieldValidation")

static void put_paths(struct request *rq, struct json_writer *w, const struct kind *kind)
{
    struct str base =
        str_fmt(rq->arena, "/%.*s/%s%.*s", STR_ARG(openapi_group_path(rq, kind)),
                kind->namespaced ? "namespaces/{namespace}/" : "", STR_ARG(kind->plural));

    json_put_key(w, base);
    json_open_object(w);
    if (!kind_has(kind, KIND_QUESTION))
        put_operation(rq, w, kind, "get", "list",
                      PARAMETER("labelSelector") "," PARAMETER("fieldSelector"));
    put_operation(rq, w, kind, "post", "post", WRITE_PARAMETERS);
    json_close_object(w);
    if (kind_has(kind, KIND_QUESTION))
        return;
    json_put_key(w, str_fmt(rq->arena, "%.*s/{name}", STR_ARG(base)));
    json_open_object(w);
    put_operation(rq, w, kind, "get", "get", "");
    put_operation(rq, w, kind, "put", "put", WRITE_PARAMETERS);
    put_operation(rq, w, kind, "delete", "delete", PARAMETER("dryRun"));
    put_operation(rq, w, kind, "patch", "patch", WRITE_PARAMETERS);
    json_close_object(w);
}

static void put_kind_schema(struct request *rq, struct json_writer *w, const struct kind *kind)
{
    json_put_key(w, openapi_schema_name(rq, kind));
    json_open_object(w);
    schema_write(kind->schema, true, w);
    json_field_raw(w, "x-kubernetes-group-version-kind",
                   str_fmt(rq->arena, "[%.*s]", STR_ARG(openapi_gvk(rq, kind))));
    json_close_object(w);
}

bool openapi_is_kind(const struct builtin *builtin, struct str type)
{
    for (uint32_t i = 0; i < builtin->kinds.count; i++)
        if (str_eq(builtin->kinds.items[i]->schema->name, type))
            return true;
    return false;
}

/* Named types that kinds refer to. All of them in each document: they are small. */
static void put_types(struct request *rq, struct json_writer *w)
{
    const struct map *types = rq->api->builtin->types;

    for (uint32_t i = 0; i < map_count(types); i++) {
        if (openapi_is_kind(rq->api->builtin, map_key(types, i)))
            continue;
        json_put_key(w, schema_key(rq->arena, map_value(types, i)));
        json_open_object(w);
        schema_write(map_value(types, i), false, w);
        json_close_object(w);
    }
}

static bool answer_document(struct http_request_of_api *h, struct str path)
{
    struct request *rq = h->rq;
    struct strbuf out = strbuf_new(rq->arena, 65536);
    struct json_writer w = json_writer(&out);
    uint32_t served = 0;

    json_open_object(&w);
    json_field_str(&w, "openapi", STR("3.0.0"));
    json_field_raw(&w, "info", STR("{\"title\":\"Kubernetes\",\"version\":\"v1.32.4\"}"));
    json_put_key(&w, STR("paths"));
    json_open_object(&w);
    for (uint32_t i = 0; i < catalog_count(rq->catalog); i++)
        if (str_eq(openapi_group_path(rq, catalog_at(rq->catalog, i)), path)) {
            put_paths(rq, &w, catalog_at(rq->catalog, i));
            served++;
        }
    json_close_object(&w);
    json_put_key(&w, STR("components"));
    json_open_object(&w);
    json_put_key(&w, STR("schemas"));
    json_open_object(&w);
    for (uint32_t i = 0; i < catalog_count(rq->catalog); i++)
        if (str_eq(openapi_group_path(rq, catalog_at(rq->catalog, i)), path))
            put_kind_schema(rq, &w, catalog_at(rq->catalog, i));
    put_types(rq, &w);
    json_close_object(&w);
    json_close_object(&w);
    json_close_object(&w);
    if (served == 0)
        return false;
    answer_json(h, 200, strbuf_str(&out));
    return true;
}

static void answer_v2(struct http_request_of_api *h)
{
    static const struct json_limits limits = { .bytes_max = 64 * 1024 * 1024,
                                               .depth_max = 128,
                                               .nodes_max = 4000000,
                                               .string_max = 1024 * 1024 };
    struct request *rq = h->rq;
    struct str document = openapi_v2_document(rq);
    struct json json;
    struct error err;

    if (str_find(h->accept, STR("proto-openapi"), 0) < 0) {
        answer_json(h, 200, document);
    } else if (json_read(rq->arena, document, &limits, &json, &err) != 0) {
        fail_internal(&rq->failure, str_dup(rq->arena, str_of(err.text)));
        answer_failure(h);
    } else {
        http_answer(h->exchange, 200, "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
                    openapi_v2_protobuf(rq->arena, json));
    }
}

bool handle_openapi(struct http_request_of_api *h)
{
    const struct str_list *p = &h->parts;

    if (p->count < 2 || !str_eq(p->items[0], STR("openapi")))
        return false;
    if (p->count == 2 && str_eq(p->items[1], STR("v2"))) {
        answer_v2(h);
        return true;
    }
    if (!str_eq(p->items[1], STR("v3")))
        return false;
    if (p->count == 2) {
        answer_index(h);
        return true;
    }
    return answer_document(h, str_slice(h->path, sizeof("/openapi/v3/") - 1, h->path.len));
}
