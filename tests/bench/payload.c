/* SPDX-License-Identifier: Apache-2.0 */
/* payload.c: bench-payload: an AdmissionReview as the API server sends it.
 *
 *   bench-payload small|rag|large|cycle|as-it-is create|update|change|first < STACK.yaml
 *
 * A create or update comes as the validating route gets it: with the defaults and the author that
 * the mutating one has written (as-it-is: with the author alone). A change is an update of a value
 * of the spec, and first is what the mutating route gets on a create.
 *
 * The Stack comes from a YAML file, with the last-applied annotation that kubectl adds and the
 * managedFields that the API server adds (one entry for each writer, every field by its path). */
#include "base/memory.h"
#include "stack/model/decode.h"
#include "stack/model/default.h"
#include "text/json_write.h"
#include "text/patch.h"
#include "text/value.h"
#include "text/yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define USERNAME "kubernetes-admin"
#define ADMINISTRATORS "kubeadm:cluster-admins"
#define AUTHENTICATED "system:authenticated"

enum { INPUT_BYTES_MAX = 1024 * 1024 };

static void die(const char *what)
{
    fprintf(stderr, "bench-payload: %s\n", what);
    exit(1);
}

static struct str read_input(struct arena *arena)
{
    char *text = arena_bytes(arena, INPUT_BYTES_MAX);

    return str_make(text, fread(text, 1, INPUT_BYTES_MAX, stdin));
}

/* The FieldsV1 of a value: every map key as f:key, every element of a list of named maps as
 * k:{"name":...}; other lists and scalars are leaves. */
static struct value *fields_of(struct arena *arena, const struct value *value)
{
    struct value *fields = value_object(arena);
    bool is_list = value_kind(value) == JSON_ARRAY;

    if (value_kind(value) != JSON_OBJECT && !value_walk(value_at(value, 0), "name", NULL))
        return fields;
    value_set(arena, fields, STR("."), value_object(arena));
    for (const struct value *m = value_first(value); m; m = value_next(m)) {
        struct str key = is_list ? str_fmt(arena, "k:{\"name\":\"%.*s\"}",
                                           STR_ARG(value_text(value_get(m, STR("name")))))
                                 : str_fmt(arena, "f:%.*s", STR_ARG(value_key(m)));

        value_set(arena, fields, key, fields_of(arena, m));
    }
    return fields;
}

static void set_text(struct arena *arena, struct value *object, const char *key, struct str text)
{
    value_set(arena, object, str_of(key), value_str(arena, text));
}

static void add_managed_fields(struct arena *arena, struct value *object, struct value *metadata)
{
    struct value *entries = value_array(arena);
    struct value *entry = value_object(arena);
    struct value *fields = value_object(arena);
    struct value *meta_fields = value_object(arena);

    value_set(arena, meta_fields, STR("f:annotations"),
              fields_of(arena, value_get(metadata, STR("annotations"))));
    if (value_get(metadata, STR("labels")))
        value_set(arena, meta_fields, STR("f:labels"),
                  fields_of(arena, value_get(metadata, STR("labels"))));
    value_set(arena, fields, STR("f:metadata"), meta_fields);
    value_set(arena, fields, STR("f:spec"), fields_of(arena, value_get(object, STR("spec"))));
    set_text(arena, entry, "manager", STR("kubectl-client-side-apply"));
    set_text(arena, entry, "operation", STR("Update"));
    set_text(arena, entry, "apiVersion", STR("herd.suse.com/v1"));
    set_text(arena, entry, "time", STR("2026-08-20T08:00:00Z"));
    set_text(arena, entry, "fieldsType", STR("FieldsV1"));
    value_set(arena, entry, STR("fieldsV1"), fields);
    value_append(entries, entry);
    value_set(arena, metadata, STR("managedFields"), entries);
}

/* "large": the charts again and again until there are 50, each with a name of its own. */
static void repeat_charts(struct arena *arena, struct value *spec, uint32_t wanted)
{
    struct value *charts = value_get(spec, STR("charts"));
    uint32_t given = value_count(charts);

    for (uint32_t i = given; i < wanted; i++) {
        struct value *chart = value_clone(arena, value_at(charts, i % given));
        struct str name = str_fmt(arena, "%.*s-%u",
                                  STR_ARG(value_text(value_get(chart, STR("name")))), i / given);

        set_text(arena, chart, "name", name);
        set_text(arena, chart, "releaseName", name);
        value_append(charts, chart);
    }
}

static void shape(struct arena *arena, const char *kind, struct value *object)
{
    struct value *spec = value_get(object, STR("spec"));
    struct value *charts = value_get(spec, STR("charts"));

    if (strcmp(kind, "small") == 0) {
        while (value_count(charts) > 1)
            value_remove_at(charts, 1);
    } else if (strcmp(kind, "large") == 0) {
        repeat_charts(arena, spec, 50);
    } else if (strcmp(kind, "cycle") == 0) {
        struct value *needs = value_array(arena);

        value_append(needs,
                     value_clone(arena, value_get(value_at(charts, value_count(charts) - 1),
                                                  STR("name"))));
        value_set(arena, value_at(charts, 0), STR("dependsOn"), needs);
    } else if (strcmp(kind, "rag") != 0 && strcmp(kind, "as-it-is") != 0) {
        die("the kind is small, rag, large, cycle or as-it-is");
    }
}

static struct value *with_defaults(struct arena *arena, const struct value *object)
{
    struct problems ignored = problems_new(arena);
    struct value *whole = NULL;
    struct str patch;
    struct json json;
    struct error err;

    if (json_read(arena, value_json(arena, object), &json_limits_default, &json, &err) < 0)
        die(err.text);
    stack_default(arena, stack_decode(arena, json, &ignored), &patch);
    if (!patch.len)
        return value_clone(arena, object);
    if (patch_apply(arena, object, patch, &whole, &err) < 0)
        die(err.text);
    return whole;
}

/* `plain`: what the author applied. */
static void complete(struct arena *arena, struct value *object, struct str plain, bool recorded)
{
    struct value *metadata = value_object_at(arena, object, STR("metadata"));
    struct value *annotations = value_object_at(arena, metadata, STR("annotations"));

    set_text(arena, annotations, "kubectl.kubernetes.io/last-applied-configuration",
             str_fmt(arena, "%.*s\n", STR_ARG(plain)));
    if (recorded) {
        set_text(arena, annotations, "herd.suse.com/last-applied-by", STR(USERNAME));
        set_text(arena, annotations, "herd.suse.com/last-applied-by-groups",
                 STR(ADMINISTRATORS "," AUTHENTICATED));
    }
    if (!value_get(metadata, STR("namespace")))
        set_text(arena, metadata, "namespace", STR("default"));
    set_text(arena, metadata, "uid", STR("5f4b6d0a-7c1e-4f0e-9d5c-2b8c1f0a3e77"));
    set_text(arena, metadata, "creationTimestamp", STR("2026-08-20T08:00:00Z"));
    value_set(arena, metadata, STR("generation"), value_int(arena, 1));
    add_managed_fields(arena, object, metadata);
}

/* The object as it was before its last chart got another version. */
static struct value *before_change(struct arena *arena, const struct value *object)
{
    struct value *old = value_clone(arena, object);
    struct value *charts = value_get(value_get(old, STR("spec")), STR("charts"));

    set_text(arena, value_at(charts, value_count(charts) - 1), "version", STR("0.0.1"));
    return old;
}

/* `old` NULL: a create. */
static void write_review(struct arena *arena, const struct value *object, const struct value *old)
{
    struct strbuf out = strbuf_new(arena, 64 * 1024);
    struct json_writer w = json_writer(&out);
    struct str resource = STR("{\"group\":\"herd.suse.com\",\"version\":\"v1\",\"resource\":\"stacks\"}");
    struct str kind = STR("{\"group\":\"herd.suse.com\",\"version\":\"v1\",\"kind\":\"Stack\"}");
    struct str json = value_json(arena, object);

    json_open_object(&w);
    json_field_str(&w, "kind", STR("AdmissionReview"));
    json_field_str(&w, "apiVersion", STR("admission.k8s.io/v1"));
    json_put_key(&w, STR("request"));
    json_open_object(&w);
    json_field_str(&w, "uid", STR("705ab4f5-6393-11e8-b7cc-42010a800002"));
    json_field_raw(&w, "kind", kind);
    json_field_raw(&w, "resource", resource);
    json_field_raw(&w, "requestKind", kind);
    json_field_raw(&w, "requestResource", resource);
    json_field_str(&w, "name", value_text(value_walk(object, "metadata", "name", NULL)));
    json_field_str(&w, "namespace", STR("default"));
    json_field_str(&w, "operation", old ? STR("UPDATE") : STR("CREATE"));
    json_field_raw(&w, "userInfo",
                   STR("{\"username\":\"" USERNAME "\",\"groups\":[\"" ADMINISTRATORS "\",\"" AUTHENTICATED
                       "\"]}"));
    json_field_raw(&w, "object", json);
    json_field_raw(&w, "oldObject", old ? value_json(arena, old) : STR("null"));
    json_field_bool(&w, "dryRun", false);
    json_field_raw(&w, "options",
                   STR("{\"kind\":\"CreateOptions\",\"apiVersion\":\"meta.k8s.io/v1\",\"fieldManager\":"
                       "\"kubectl-client-side-apply\",\"fieldValidation\":\"Strict\"}"));
    json_close_object(&w);
    json_close_object(&w);
    fwrite(out.at, 1, out.len, stdout);
}

int main(int argc, char **argv)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct yaml_documents documents;
    struct value *object;
    struct value *old = NULL;
    struct str plain;
    struct error err;

    if (argc != 3)
        die("usage: bench-payload small|rag|large|cycle|as-it-is create|update|change|first < STACK.yaml");
    if (yaml_read(arena, read_input(arena), &documents, &err) < 0 || documents.count == 0 ||
        value_read(arena, documents.items[0].json, &json_limits_default, &object, &err) < 0)
        die(err.text);
    shape(arena, argv[1], object);
    plain = value_json(arena, object);
    if (strcmp(argv[1], "as-it-is") != 0 && strcmp(argv[2], "first") != 0)
        object = with_defaults(arena, object);
    complete(arena, object, plain, strcmp(argv[2], "first") != 0);
    if (strcmp(argv[2], "update") == 0)
        old = object;
    else if (strcmp(argv[2], "change") == 0)
        old = before_change(arena, object);
    write_review(arena, object, old);
    return 0;
}
