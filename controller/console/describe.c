/* SPDX-License-Identifier: Apache-2.0 */
/* describe.c: the index, the definitions, and the description for tools. */
#include "controller/console/describe.h"

#include "text/json.h"
#include "text/json_write.h"
#include "text/yaml.h"

#include <assert.h>

const struct console_route console_routes[] = {
#define ROUTE(method, path, body_max, handler, label, summary) { method, path, summary },
#include "controller/console/routes.def"
#undef ROUTE
};
const uint32_t console_route_count = sizeof(console_routes) / sizeof(console_routes[0]);

/* --- the index --- */

static void put_endpoint(struct json_writer *w, const char *methods, struct str path,
                         struct str summary)
{
    json_open_object(w);
    json_field_str(w, "methods", str_of(methods));
    json_field_str(w, "path", path);
    json_field_str(w, "description", summary);
    json_close_object(w);
}

static void put_kind_endpoints(struct json_writer *w, const struct console_kind *kind)
{
    struct arena *arena = w->out->arena;
    struct str group = console_group_path(arena, kind);
    const char *plural = kind->crd->plural;
    struct str all = str_fmt(arena, "%.*s/%s", STR_ARG(group), plural);
    struct str some = str_fmt(arena, "%.*s/namespaces/{namespace}/%s", STR_ARG(group), plural);
    struct str collection = kind->resource.namespaced ? some : all;

    if (kind->resource.namespaced)
        put_endpoint(w, "GET", all, str_fmt(arena, "All %s.", plural));
    put_endpoint(w, "GET, POST", collection, str_fmt(arena, "List %s, create one.", plural));
    put_endpoint(w, "GET, PUT, PATCH, DELETE", str_fmt(arena, "%.*s/{name}", STR_ARG(collection)),
                 str_fmt(arena, "One %s.", kind->crd->singular));
}

void describe_index(const struct console_kinds *kinds, struct strbuf *out)
{
    struct json_writer w = json_writer(out);

    json_open_object(&w);
    json_field_str(&w, "name", STR("herd-controller"));
    json_field_str(&w, "version", STR(HERD_VERSION));
    json_field_str(&w, "authentication",
                   STR("Authorization: Bearer TOKEN, a token of the Kubernetes API server"));
    json_put_key(&w, STR("kinds"));
    json_open_array(&w);
    for (uint32_t i = 0; i < kinds->count; i++) {
        json_open_object(&w);
        json_field_str(&w, "apiVersion", kube_api_version(out->arena, &kinds->items[i].resource));
        json_field_str(&w, "kind", kinds->items[i].resource.kind);
        json_close_object(&w);
    }
    json_close_array(&w);
    json_put_key(&w, STR("endpoints"));
    json_open_array(&w);
    for (uint32_t i = 0; i < console_route_count; i++)
        put_endpoint(&w, console_routes[i].method, str_of(console_routes[i].path),
                     str_of(console_routes[i].summary));
    for (uint32_t i = 0; i < kinds->count; i++)
        put_kind_endpoints(&w, &kinds->items[i]);
    json_close_array(&w);
    json_close_object(&w);
    strbuf_char(out, '\n');
}

/* --- the definitions --- */

/* Our own tables: what they give reads back. */
static struct json definition_of(struct arena *arena, const struct console_kind *kind)
{
    struct strbuf text = strbuf_new(arena, 64 * 1024);
    struct yaml_documents documents = yaml_documents_new(arena, 1);
    struct json root = { NULL, 0 };
    struct error err;
    int failed;

    crd_write(kind->crd, &text);
    failed = yaml_read(arena, strbuf_str(&text), &documents, &err) < 0 || !documents.count ||
             json_read(arena, documents.items[0].json, &json_limits_default, &root, &err) < 0;
    assert(!failed);
    (void)failed;
    return root;
}

void describe_definitions(struct arena *arena, const struct console_kinds *kinds,
                          struct strbuf *out)
{
    struct json_writer w = json_writer(out);

    json_open_object(&w);
    json_field_str(&w, "apiVersion", STR("v1"));
    json_field_str(&w, "kind", STR("List"));
    json_put_key(&w, STR("items"));
    json_open_array(&w);
    for (uint32_t i = 0; i < kinds->count; i++)
        json_put_raw(&w, json_raw(definition_of(arena, &kinds->items[i])));
    json_close_array(&w);
    json_close_object(&w);
    strbuf_char(out, '\n');
}

/* --- OpenAPI --- */

/* openapi.json and openapi_kind.json. */
extern const struct str console_openapi_document;
extern const struct str console_openapi_of_kind;

static void copy_members(struct json object, struct json_writer *w)
{
    for (struct json_iter it = json_iter(object); json_next(&it);) {
        json_put_key(w, it.key);
        json_put_raw(w, json_raw(it.value));
    }
}

/* A template with `word` replaced. */
static struct json fill(struct arena *arena, struct str template, struct str word, struct str by)
{
    struct strbuf text = strbuf_new(arena, template.len + 1024);
    struct json root = { NULL, 0 };
    struct error err;
    size_t from = 0;
    int failed;

    for (ptrdiff_t at; (at = str_find(template, word, from)) >= 0; from = (size_t)at + word.len) {
        strbuf_put(&text, str_slice(template, from, (size_t)at));
        strbuf_put(&text, by);
    }
    strbuf_put(&text, str_slice(template, from, template.len));
    failed = json_read(arena, strbuf_str(&text), &json_limits_default, &root, &err);
    assert(failed == 0);
    (void)failed;
    return root;
}

static void put_path(struct json_writer *w, struct str path, const char *parameters,
                     struct json operations)
{
    json_put_key(w, path);
    json_open_object(w);
    if (parameters)
        json_field_raw(w, "parameters", str_of(parameters));
    copy_members(operations, w);
    json_close_object(w);
}

#define NAMESPACE "{\"$ref\":\"#/components/parameters/namespace\"}"
#define NAME "{\"$ref\":\"#/components/parameters/name\"}"

static void put_paths_of(struct arena *arena, const struct console_kind *kind, struct json template,
                         struct json_writer *w)
{
    struct str group = console_group_path(arena, kind);
    bool namespaced = kind->resource.namespaced;
    struct str all = str_fmt(arena, "%.*s/%s", STR_ARG(group), kind->crd->plural);
    struct str collection = str_fmt(arena, "%.*s/%s%s", STR_ARG(group),
                                    namespaced ? "namespaces/{namespace}/" : "", kind->crd->plural);

    if (namespaced)
        put_path(w, all, NULL, json_get(template, STR("all")));
    put_path(w, collection, namespaced ? "[" NAMESPACE "]" : NULL,
             json_get(template, STR("collection")));
    put_path(w, str_fmt(arena, "%.*s/{name}", STR_ARG(collection)),
             namespaced ? "[" NAMESPACE "," NAME "]" : "[" NAME "]",
             json_get(template, STR("object")));
}

static struct json schema_of(struct arena *arena, const struct console_kind *kind)
{
    struct json_iter versions =
        json_iter(json_walk(definition_of(arena, kind), "spec", "versions", NULL));

    json_next(&versions);
    return json_walk(versions.value, "schema", "openAPIV3Schema", NULL);
}

static void put_paths(struct arena *arena, const struct console_kinds *kinds,
                      const struct json *templates, struct json document, struct json_writer *w)
{
    json_put_key(w, STR("paths"));
    json_open_object(w);
    copy_members(json_get(document, STR("paths")), w);
    for (uint32_t i = 0; i < kinds->count; i++)
        put_paths_of(arena, &kinds->items[i], templates[i], w);
    json_close_object(w);
}

static void put_components(struct arena *arena, const struct console_kinds *kinds,
                           const struct json *templates, struct json document,
                           struct json_writer *w)
{
    json_put_key(w, STR("components"));
    json_open_object(w);
    for (struct json_iter it = json_iter(json_get(document, STR("components"))); json_next(&it);) {
        json_put_key(w, it.key);
        if (!str_eq(it.key, STR("schemas"))) {
            json_put_raw(w, json_raw(it.value));
            continue;
        }
        json_open_object(w);
        copy_members(it.value, w);
        for (uint32_t i = 0; i < kinds->count; i++) {
            struct str kind = kinds->items[i].resource.kind;

            json_put_key(w, kind);
            json_put_raw(w, json_raw(schema_of(arena, &kinds->items[i])));
            json_put_key(w, str_fmt(arena, "%.*sList", STR_ARG(kind)));
            json_put_raw(w, json_raw(json_get(templates[i], STR("list"))));
        }
        json_close_object(w);
    }
    json_close_object(w);
}

void describe_openapi(struct arena *arena, const struct console_kinds *kinds, struct strbuf *out)
{
    struct json document =
        fill(arena, console_openapi_document, STR("$VERSION"), STR(HERD_VERSION));
    struct json templates[CONSOLE_KINDS_MAX];
    struct json_writer w = json_writer(out);

    for (uint32_t i = 0; i < kinds->count; i++)
        templates[i] =
            fill(arena, console_openapi_of_kind, STR("$KIND"), kinds->items[i].resource.kind);
    json_open_object(&w);
    for (struct json_iter it = json_iter(document); json_next(&it);) {
        if (str_eq(it.key, STR("paths"))) {
            put_paths(arena, kinds, templates, document, &w);
        } else if (str_eq(it.key, STR("components"))) {
            put_components(arena, kinds, templates, document, &w);
        } else {
            json_put_key(&w, it.key);
            json_put_raw(&w, json_raw(it.value));
        }
    }
    json_close_object(&w);
    strbuf_char(out, '\n');
}
