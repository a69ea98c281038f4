/* write_steps.c: the steps that creating, updating and deleting share. */
#include "lab/apiserver/admission.h"
#include "lab/apiserver/field_set.h"
#include "lab/apiserver/object.h"

static void add_findings(struct findings *to, const struct findings *from)
{
    for (uint32_t i = 0; i < from->count; i++)
        findings_push(to, from->items[i]);
}

int write_validate(struct request *rq, const struct value *old, struct value *object)
{
    struct findings found = findings_new(rq->arena, 4);
    struct failure_subject subject = request_subject(rq);

    subject.name = meta_text(object, "name");
    meta_validate(rq->kind, object, &found);
    if (old)
        meta_validate_update(rq->arena, old, object, &found);
    if (kind_has(rq->kind, KIND_CUSTOM)) {
        struct findings lists = findings_new(rq->arena, 0);

        schema_validate(rq->kind->schema, object, NULL, &found);
        schema_validate_lists(rq->kind->schema, object, NULL, &lists);
        add_findings(&found, &lists);
    } else {
        builtin_validate(rq->arena, rq->kind, old, object, &found);
    }
    if (found.count)
        return fail_invalid(&rq->failure, &subject, &found);
    return 0;
}

void write_manage_fields(struct request *rq, const struct value *old, struct value *object)
{
    struct field_writer writer = {
        .manager = str_slice(rq->field_manager, 0, 128),
        .sub_resource = rq->sub_resource,
        .api_version = kind_api_version(rq->arena, rq->kind),
        .time = request_time(rq),
    };

    fields_update(rq->arena, rq->kind, old, object, &writer);
}

static struct str assemble(struct request *rq, struct str head, uint64_t version, struct str tail)
{
    struct strbuf out = strbuf_new(rq->arena, head.len + tail.len + 24);

    strbuf_put(&out, head);
    strbuf_u64(&out, version);
    strbuf_put(&out, tail);
    return strbuf_str(&out);
}

int write_commit(struct request *rq, enum change_type type, const struct value *object,
                 uint64_t expected, struct str *ret_object, enum store_answer *ret_answer)
{
    struct store_write w = {
        .type = type,
        .key = request_key(rq, rq->kind, rq->namespace_, meta_text(object, "name")),
        .expected = expected,
    };
    struct value *stored = value_clone(rq->arena, object);
    struct error err;
    uint64_t version = expected;
    struct str text;

    value_set(rq->arena, stored, STR("apiVersion"),
              value_str(rq->arena, kind_storage_api_version(rq->arena, rq->kind)));
    object_split(rq->arena, stored, &w.head, &w.tail);
    if (w.head.len + w.tail.len > 3 * 1024 * 1024 / 2)
        return fail(&rq->failure, 413, "RequestEntityTooLarge",
                    "etcdserver: request is too large");
    if (rq->dry_run) {
        *ret_answer = STORE_DONE;
    } else {
        *ret_answer = store_write(rq->api->store, &w, &version, &err);
        if (*ret_answer == STORE_FAILED)
            return request_store_failed(rq, &err);
        if (*ret_answer != STORE_DONE)
            return 0;
    }
    text = assemble(rq, w.head, version, w.tail);
    /* A creation that was only tried has no version. */
    if (rq->dry_run && type == CHANGE_ADDED) {
        struct value *tried = value_clone(rq->arena, object);

        meta_remove(tried, "resourceVersion");
        text = value_json(rq->arena, tried);
    } else if (!rq->dry_run) {
        after_write(rq, type, text);
    }
    *ret_object = request_present(rq, rq->kind, text);
    return 0;
}
