/* SPDX-License-Identifier: Apache-2.0 */
/* openapi_v2.c: the document. kubectl up to 1.26 learns from it what fields a kind has, and from
 * the parameters of PATCH whether the server understands dryRun. */
#include "lab/apiserver/http.h"
#include "lab/apiserver/openapi_v2.h"

#define PARAMETER(name)                                                                            \
    "{\"name\":\"" name "\",\"in\":\"query\",\"type\":\"string\",\"uniqueItems\":true}"
#define WRITES PARAMETER("dryRun") "," PARAMETER("fieldManager") "," PARAMETER("fieldValidation")

static void put_operation(struct request *rq, struct json_writer *w, const struct kind *kind,
                          const char *method, const char *action, const char *parameters)
{
    json_put_key(w, str_of(method));
    json_put_raw(w, str_fmt(rq->arena,
                            "{\"operationId\":\"%s%.*s\",\"produces\":[\"application/json\"],"
                            "\"parameters\":[%s],\"responses\":{\"200\":{\"description\":\"OK\","
                            "\"schema\":{\"$ref\":\"#/definitions/%.*s\"}}},"
                            "\"x-kubernetes-action\":\"%s\","
                            "\"x-kubernetes-group-version-kind\":%.*s}",
                            action, STR_ARG(kind->kind), parameters,
                            STR_ARG(openapi_schema_name(rq, kind)), action,
                            STR_ARG(openapi_gvk(rq, kind))));
}

static void put_paths(struct request *rq, struct json_writer *w, const struct kind *kind)
{
    struct str base =
        str_fmt(rq->arena, "/%.*s/%s%.*s", STR_ARG(openapi_group_path(rq, kind)),
                kind->namespaced ? "namespaces/{namespace}/" : "", STR_ARG(kind->plural));

    json_put_key(w, base);
    json_open_object(w);
    put_operation(rq, w, kind, "post", "post", WRITES);
    json_close_object(w);
    if (kind_has(kind, KIND_QUESTION))
        return;
    json_put_key(w, str_fmt(rq->arena, "%.*s/{name}", STR_ARG(base)));
    json_open_object(w);
    put_operation(rq, w, kind, "get", "get", "");
    put_operation(rq, w, kind, "put", "put", WRITES);
    put_operation(rq, w, kind, "delete", "delete", PARAMETER("dryRun"));
    put_operation(rq, w, kind, "patch", "patch", WRITES "," PARAMETER("force"));
    json_close_object(w);
}

static void put_definitions(struct request *rq, struct json_writer *w)
{
    const struct map *types = rq->api->builtin->types;

    for (uint32_t i = 0; i < catalog_count(rq->catalog); i++) {
        const struct kind *kind = catalog_at(rq->catalog, i);

        json_put_key(w, openapi_schema_name(rq, kind));
        json_open_object(w);
        schema_write_v2(kind->schema, true, w);
        json_field_raw(w, "x-kubernetes-group-version-kind",
                       str_fmt(rq->arena, "[%.*s]", STR_ARG(openapi_gvk(rq, kind))));
        json_close_object(w);
    }
    for (uint32_t i = 0; i < map_count(types); i++) {
        if (openapi_is_kind(rq->api->builtin, map_key(types, i)))
            continue;
        json_put_key(w, schema_key(rq->arena, map_value(types, i)));
        json_open_object(w);
        schema_write_v2(map_value(types, i), false, w);
        json_close_object(w);
    }
}

struct str openapi_v2_document(struct request *rq)
{
    struct strbuf out = strbuf_new(rq->arena, 262144);
    struct json_writer w = json_writer(&out);

    json_open_object(&w);
    json_field_str(&w, "swagger", STR("2.0"));
    json_field_raw(&w, "info", STR("{\"title\":\"Kubernetes\",\"version\":\"v1.32.4\"}"));
    json_put_key(&w, STR("paths"));
    json_open_object(&w);
    for (uint32_t i = 0; i < catalog_count(rq->catalog); i++)
        put_paths(rq, &w, catalog_at(rq->catalog, i));
    json_close_object(&w);
    json_put_key(&w, STR("definitions"));
    json_open_object(&w);
    put_definitions(rq, &w);
    json_close_object(&w);
    json_close_object(&w);
    return strbuf_str(&out);
}
