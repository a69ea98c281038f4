/* SPDX-License-Identifier: Apache-2.0 */
/* body.c: from the bytes of a request to an object in shape. */
#include "lab/apiserver/object.h"
#include "lab/apiserver/protobuf.h"
#include "lab/apiserver/request.h"
#include "text/yaml.h"

#include <stdlib.h>

enum { BODY_BYTES_MAX = 3 * 1024 * 1024 };

static const struct json_limits limits = {
    .bytes_max = BODY_BYTES_MAX,
    .depth_max = 128,
    .nodes_max = 400000,
    .string_max = 2 * 1024 * 1024,
};

/* What a protobuf body holds: the kind's type, or the options of a deletion. */
static const struct schema *type_of_body(const struct request *rq)
{
    if (rq->verb == VERB_DELETE || rq->verb == VERB_DELETE_COLLECTION)
        return map_get(rq->api->builtin->types, STR("DeleteOptions"));
    if (str_eq(rq->sub_resource, STR("token")))
        return map_get(rq->api->builtin->types, STR("TokenRequest"));
    return rq->kind->schema;
}

static int read_protobuf(struct request *rq, struct str body, struct value **ret_value)
{
    const struct schema *type = type_of_body(rq);
    struct error err;

    if (protobuf_read(rq->arena, rq->api->builtin->types, type, body, ret_value, &err) == 0)
        return 0;
    if (err.code != ERROR_MEDIA_TYPE)
        return fail_bad_request(&rq->failure, str_fmt(rq->arena, "error decoding: %s", err.text));
    return fail(&rq->failure, 415, "UnsupportedMediaType",
                "the body of the request was in an unknown format - accepted media types "
                "include: application/json, application/yaml (%.*s: %s)",
                STR_ARG(rq->kind->kind), err.text);
}

static int read_json(struct request *rq, struct str body, struct value **ret_value)
{
    struct error err;

    if (value_read(rq->arena, body, &limits, ret_value, &err) != 0)
        return fail_bad_request(&rq->failure,
                                str_fmt(rq->arena,
                                        "the object provided is unrecognized (must be of "
                                        "type %.*s): %s",
                                        STR_ARG(rq->kind->kind), err.text));
    if (value_kind(*ret_value) != JSON_OBJECT)
        return fail_bad_request(&rq->failure, STR("the body must be an object"));
    return 0;
}

static int read_yaml(struct request *rq, struct str body, struct value **ret_value)
{
    struct yaml_documents documents;
    struct error err;

    if (yaml_read(rq->arena, body, &documents, &err) != 0)
        return fail_bad_request(&rq->failure, str_fmt(rq->arena, "error decoding: %s", err.text));
    if (documents.count != 1)
        return fail_bad_request(&rq->failure, STR("exactly one YAML document is expected"));
    return read_json(rq, documents.items[0].json, ret_value);
}

static const struct media_type {
    const char *name;
    int (*read)(struct request *rq, struct str body, struct value **ret_value);
} media_types[] = {
    { "application/json", read_json },
    { "application/yaml", read_yaml },
    { "application/vnd.kubernetes.protobuf", read_protobuf },
};

/* A body that does not say what it is, is JSON. */
int body_read(struct request *rq, struct str content_type, struct str body,
              struct value **ret_value)
{
    struct str rest = content_type, name = STR("");

    str_split(&rest, ';', &name);
    name = str_trim(name);
    for (size_t i = 0; i < sizeof(media_types) / sizeof(media_types[0]); i++)
        if (name.len == 0 || str_eq(name, str_of(media_types[i].name)))
            return media_types[i].read(rq, body, ret_value);
    return fail_media_type(&rq->failure, "application/json, application/yaml, "
                                         "application/vnd.kubernetes.protobuf");
}

int body_read_merge(struct request *rq, struct value **ret_body)
{
    struct error err;

    if (value_read(rq->arena, rq->body, &limits, ret_body, &err) != 0)
        return fail_bad_request(&rq->failure,
                                str_fmt(rq->arena, "error decoding patch: %s", err.text));
    if (value_kind(*ret_body) == JSON_OBJECT)
        return 0;
    return fail_bad_request(&rq->failure,
                            str_fmt(rq->arena,
                                    "error decoding patch: json: cannot unmarshal %s into Go value "
                                    "of type map[string]interface {}",
                                    json_kind_name(value_kind(*ret_body))));
}

/* An object that its type does not take: the request's fault, or that of the patch that made it. */
static int fail_decode(struct request *rq, const struct value *object, struct str why)
{
    struct path patch = path_field(NULL, STR("patch"));
    struct failure_subject none = { .group = STR("") };
    struct findings found = findings_new(rq->arena, 1);
    struct strbuf text = strbuf_new(rq->arena, 1024);

    if (rq->verb == VERB_PATCH && !rq->applies) {
        value_write(object, true, &text);
        finding_invalid(&found, &patch, value_str(rq->arena, strbuf_str(&text)), why);
        return fail_invalid(&rq->failure, &none, &found);
    }
    return fail_bad_request(&rq->failure,
                            str_fmt(rq->arena,
                                    "%.*s in version \"%.*s\" cannot be handled as a %.*s: %.*s",
                                    STR_ARG(rq->kind->kind), STR_ARG(rq->kind->version),
                                    STR_ARG(rq->kind->kind), STR_ARG(why)));
}

/* What a definition describes says itself what it is, where all of it is sent. */
static bool says_itself(const struct request *rq)
{
    return (rq->verb == VERB_CREATE || rq->verb == VERB_UPDATE) && !rq->internal &&
           kind_has(rq->kind, KIND_CUSTOM);
}

static int fail_no_kind(struct request *rq)
{
    return fail_bad_request(&rq->failure,
                            str_fmt(rq->arena,
                                    "the object provided is unrecognized (must be of type %.*s): "
                                    "Object 'Kind' is missing in '%.*s' (%.*s%s)",
                                    STR_ARG(rq->kind->kind), STR_ARG(rq->body),
                                    STR_ARG(str_slice(rq->body, 0, 30)),
                                    rq->body.len > 30 ? " ..." : ""));
}

static int check_type(struct request *rq, struct value *object)
{
    struct str want = kind_api_version(rq->arena, rq->kind);
    struct str version = value_text(value_get(object, STR("apiVersion")));
    struct str kind = value_text(value_get(object, STR("kind")));

    if (kind.len == 0 && says_itself(rq))
        return fail_no_kind(rq);
    if (version.len == 0 && !says_itself(rq)) {
        version = want;
        value_set(rq->arena, object, STR("apiVersion"), value_str(rq->arena, want));
    }
    if (kind.len == 0)
        value_set(rq->arena, object, STR("kind"), value_str(rq->arena, rq->kind->kind));
    if (!str_eq(version, want))
        return fail_bad_request(&rq->failure,
                                str_fmt(rq->arena,
                                        "the API version in the data (%.*s) does not match the "
                                        "expected API version (%.*s)",
                                        STR_ARG(version), STR_ARG(want)));
    if (kind.len && !str_eq(kind, rq->kind->kind))
        return fail_bad_request(
            &rq->failure, str_fmt(rq->arena,
                                  "%.*s in version \"%.*s\" cannot be handled as a %.*s: no kind "
                                  "\"%.*s\" is registered for this resource",
                                  STR_ARG(kind), STR_ARG(rq->kind->version),
                                  STR_ARG(rq->kind->kind), STR_ARG(kind)));
    return 0;
}

/* Of a custom resource, the metadata alone have a type in Go. */
static int check_decodes(struct request *rq, const struct value *object)
{
    bool custom = kind_has(rq->kind, KIND_CUSTOM);
    const struct schema *type =
        custom ? schema_property(rq->kind->schema, STR("metadata")) : rq->kind->schema;
    struct str why;

    if (schema_decodes(rq->arena, type, custom ? value_get(object, STR("metadata")) : object,
                       custom ? STR("ObjectMeta") : rq->kind->kind, &why))
        return 0;
    return fail_decode(rq, object, why);
}

int body_check(struct request *rq, struct value *object)
{
    struct str name, namespace_;
    enum json_kind meta = value_kind(value_get(object, STR("metadata")));

    if (check_type(rq, object) != 0)
        return -1;
    if (meta != JSON_OBJECT && meta != JSON_ABSENT && meta != JSON_NULL)
        return fail_bad_request(&rq->failure, STR("metadata must be an object"));
    value_object_at(rq->arena, object, STR("metadata"));
    if (check_decodes(rq, object) != 0)
        return -1;
    name = meta_text(object, "name");
    namespace_ = meta_text(object, "namespace");
    if (rq->name.len && name.len && !str_eq(name, rq->name))
        return fail_bad_request(&rq->failure,
                                str_fmt(rq->arena,
                                        "the name of the object (%.*s) does not match the name on "
                                        "the URL (%.*s)",
                                        STR_ARG(name), STR_ARG(rq->name)));
    if (rq->kind->namespaced && namespace_.len && !str_eq(namespace_, rq->namespace_))
        return fail_bad_request(&rq->failure,
                                str_fmt(rq->arena,
                                        "the namespace of the provided object does not match the "
                                        "namespace sent on the request"));
    if (rq->name.len)
        meta_set_text(rq->arena, object, "name", rq->name);
    meta_set_text(rq->arena, object, "namespace", rq->kind->namespaced ? rq->namespace_ : STR(""));
    return 0;
}

static int compare_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static int report_unknown(struct request *rq, const struct value *object, struct str_list *unknown)
{
    struct strbuf text = strbuf_new(rq->arena, 128);

    /* Those of custom resources are found by pruning, which sorts them. */
    if (unknown->count && kind_has(rq->kind, KIND_CUSTOM))
        qsort(unknown->items, unknown->count, sizeof(unknown->items[0]), compare_text);
    for (uint32_t i = 0; i < unknown->count; i++) {
        struct str one = str_fmt(rq->arena, "unknown field \"%.*s\"", STR_ARG(unknown->items[i]));

        if (rq->validation == VALIDATION_WARN)
            request_warn(rq, one);
        if (i)
            strbuf_lit(&text, ", ");
        strbuf_put(&text, one);
    }
    if (rq->validation != VALIDATION_STRICT || unknown->count == 0)
        return 0;
    return fail_decode(
        rq, object, str_fmt(rq->arena, "strict decoding error: %.*s", STR_ARG(strbuf_str(&text))));
}

int body_shape(struct request *rq, struct value *object, bool report)
{
    struct str_list unknown = str_list_new(rq->arena, 0);
    bool strict = report && rq->validation == VALIDATION_STRICT;
    const struct value *whole = strict ? value_clone(rq->arena, object) : object;

    schema_prune(rq->arena, rq->kind->schema, object, true, &unknown);
    if (report && report_unknown(rq, whole, &unknown) != 0)
        return -1;
    if (kind_has(rq->kind, KIND_CUSTOM))
        schema_default(rq->arena, rq->kind->schema, object);
    else
        builtin_default(rq->arena, rq->kind, object);
    if (str_eq(rq->kind->plural, STR("customresourcedefinitions")))
        definition_default(rq->arena, object);
    return 0;
}
