/* body.c: from the bytes of a request to an object in shape. */
#include "lab/apiserver/object.h"
#include "lab/apiserver/protobuf.h"
#include "lab/apiserver/protobuf_check.h"
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

    if (protobuf_check(type, body, &limits, &err) == 0 &&
        protobuf_read(rq->arena, rq->api->builtin->types, type, body, ret_value, &err) == 0)
        return 0;
    if (err.code != ERROR_MEDIA_TYPE)
        return fail_bad_request(&rq->failure, str_fmt(rq->arena, "error decoding: %s", err.text));
    return fail(&rq->failure, 415, "UnsupportedMediaType",
                "the body of the request was in an unknown format - accepted media types "
                "include: application/json, application/yaml (%.*s: %s)",
                STR_ARG(rq->kind->kind), err.text);
}

int body_read(struct request *rq, struct str content_type, struct str body,
              struct value **ret_value)
{
    struct yaml_documents documents;
    struct error err;

    if (str_find(content_type, STR("protobuf"), 0) >= 0)
        return read_protobuf(rq, body, ret_value);
    if (str_find(content_type, STR("yaml"), 0) >= 0) {
        if (yaml_read(rq->arena, body, &documents, &err) != 0)
            return fail_bad_request(&rq->failure,
                                    str_fmt(rq->arena, "error decoding: %s", err.text));
        if (documents.count != 1)
            return fail_bad_request(&rq->failure, STR("exactly one YAML document is expected"));
        body = documents.items[0].json;
    }
    if (value_read(rq->arena, body, &limits, ret_value, &err) != 0)
        return fail_bad_request(
            &rq->failure, str_fmt(rq->arena, "the object provided is unrecognized (must be of "
                                             "type %.*s): %s",
                                  STR_ARG(rq->kind ? rq->kind->kind : STR("object")), err.text));
    if (value_kind(*ret_value) != JSON_OBJECT)
        return fail_bad_request(&rq->failure, STR("the body must be an object"));
    return 0;
}

static int check_type(struct request *rq, struct value *object)
{
    struct str want = kind_api_version(rq->arena, rq->kind);
    struct str version = value_text(value_get(object, STR("apiVersion")));
    struct str kind = value_text(value_get(object, STR("kind")));

    if (version.len == 0)
        value_set(rq->arena, object, STR("apiVersion"), value_str(rq->arena, want));
    if (kind.len == 0)
        value_set(rq->arena, object, STR("kind"), value_str(rq->arena, rq->kind->kind));
    if (version.len && !str_eq(version, want))
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

int body_check(struct request *rq, struct value *object)
{
    struct str name, namespace_, why;
    enum json_kind meta = value_kind(value_get(object, STR("metadata")));

    if (check_type(rq, object) != 0)
        return -1;
    if (meta != JSON_OBJECT && meta != JSON_ABSENT && meta != JSON_NULL)
        return fail_bad_request(&rq->failure, STR("metadata must be an object"));
    value_object_at(rq->arena, object, STR("metadata"));
    if (!schema_decodes(rq->arena,
                        kind_has(rq->kind, KIND_CUSTOM)
                            ? schema_property(rq->kind->schema, STR("metadata"))
                            : rq->kind->schema,
                        kind_has(rq->kind, KIND_CUSTOM) ? value_get(object, STR("metadata"))
                                                        : object,
                        kind_has(rq->kind, KIND_CUSTOM) ? STR("ObjectMeta") : rq->kind->kind, &why))
        return fail_bad_request(
            &rq->failure, str_fmt(rq->arena,
                                  "%.*s in version \"%.*s\" cannot be handled as a %.*s: %.*s",
                                  STR_ARG(rq->kind->kind), STR_ARG(rq->kind->version),
                                  STR_ARG(rq->kind->kind), STR_ARG(why)));
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
    meta_set_text(rq->arena, object, "namespace",
                  rq->kind->namespaced ? rq->namespace_ : STR(""));
    return 0;
}

static int compare_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static int report_unknown(struct request *rq, struct str_list *unknown)
{
    struct strbuf text = strbuf_new(rq->arena, 128);

    /* Those of custom resources are found by pruning, which sorts them. */
    if (unknown->count && kind_has(rq->kind, KIND_CUSTOM))
        qsort(unknown->items, unknown->count, sizeof(unknown->items[0]), compare_text);
    for (uint32_t i = 0; i < unknown->count; i++) {
        struct str one =
            str_fmt(rq->arena, "unknown field \"%.*s\"", STR_ARG(unknown->items[i]));

        if (rq->validation == VALIDATION_WARN)
            request_warn(rq, one);
        if (i)
            strbuf_lit(&text, ", ");
        strbuf_put(&text, one);
    }
    if (rq->validation != VALIDATION_STRICT || unknown->count == 0)
        return 0;
    return fail_bad_request(
        &rq->failure,
        str_fmt(rq->arena,
                "%.*s in version \"%.*s\" cannot be handled as a %.*s: strict decoding error: %.*s",
                STR_ARG(rq->kind->kind), STR_ARG(rq->kind->version), STR_ARG(rq->kind->kind),
                STR_ARG(strbuf_str(&text))));
}

int body_shape(struct request *rq, struct value *object, bool report)
{
    struct str_list unknown = str_list_new(rq->arena, 0);

    schema_prune(rq->arena, rq->kind->schema, object, true, &unknown);
    if (report && report_unknown(rq, &unknown) != 0)
        return -1;
    if (kind_has(rq->kind, KIND_CUSTOM))
        schema_default(rq->arena, rq->kind->schema, object);
    else
        builtin_default(rq->arena, rq->kind, object);
    if (str_eq(rq->kind->plural, STR("customresourcedefinitions")))
        definition_default(rq->arena, object);
    return 0;
}
