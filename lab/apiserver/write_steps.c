/* SPDX-License-Identifier: Apache-2.0 */
/* write_steps.c: the steps that creating, updating and deleting share. */
#include "lab/apiserver/admission.h"
#include "lab/apiserver/schema_cel.h"
#include "lab/apiserver/service.h"

#include "base/map.h"

static void add_findings(struct findings *to, const struct findings *from)
{
    for (uint32_t i = 0; i < from->count; i++)
        findings_push(to, from->items[i]);
}

static void check_behind(struct request *rq, const struct value *object, struct findings *found)
{
    const struct kube_resource resource = { rq->kind->group, rq->kind->version, rq->kind->plural,
                                            rq->kind->kind, rq->kind->namespaced };

    if (rq->api->check)
        rq->api->check(rq->api->check_context, rq->cluster, &resource, object, found);
}

/* Rules in CEL need values of the types that their schema says. */
static void check_rules(struct request *rq, const struct value *old, const struct value *object,
                        struct findings *found)
{
    struct str_list warnings = str_list_new(rq->arena, 0);
    bool blocked = false;

    if (!rq->kind->schema->rules_within)
        return;
    for (uint32_t i = 0; i < found->count; i++)
        blocked = blocked || finding_blocks_rules(found->items[i].kind);
    if (blocked) {
        finding_invalid(found, NULL, NULL,
                        STR("some validation rules were not checked because the object was "
                            "invalid; correct the existing errors to complete validation"));
        return;
    }
    schema_cel_validate(rq->kind->schema, object, old, found, &warnings);
    for (uint32_t i = 0; i < warnings.count; i++)
        request_warn(rq, warnings.items[i]);
}

int write_validate(struct request *rq, const struct value *old, struct value *object)
{
    struct findings found = findings_new(rq->arena, 4);
    struct failure_subject subject = request_subject(rq);

    subject.name = meta_text(object, "name");
    meta_validate(rq->kind, object, &found);
    /* What all kinds have in common is checked before what the kind checks, which is that again. */
    for (int checks = 0; old && checks < 2; checks++)
        meta_validate_update(rq->arena, old, object, &found);
    if (kind_has(rq->kind, KIND_CUSTOM)) {
        struct findings lists = findings_new(rq->arena, 0);

        schema_validate(rq->kind->schema, object, NULL, &found);
        schema_validate_lists(rq->kind->schema, object, NULL, &lists);
        add_findings(&found, &lists);
        check_rules(rq, old, object, &found);
    } else {
        builtin_validate(rq->arena, rq->kind, old, object, &found);
    }
    check_behind(rq, object, &found);
    if (found.count)
        return fail_invalid(&rq->failure, &subject, &found);
    return 0;
}

/* An address that no other Service of the cluster has: the first free one from anywhere on. Two
 * that are made at the same moment may meet; nothing in the lab listens on either. */
static int free_address(struct request *rq, struct str *ret_address)
{
    struct collection of = request_collection(rq, rq->kind, STR(""));
    struct map *taken = map_new(rq->arena, 64);
    struct rng rng = request_rng(rq);
    uint32_t from = (uint32_t)rng_below(&rng, SERVICE_ADDRESSES);
    struct store_page page;
    struct error err;

    if (store_list(rq->api->store, rq->arena, &of, NULL, 0, 0, &page, &err) != STORE_DONE)
        return request_store_failed(rq, &err);
    for (uint32_t i = 0; i < page.rows.count; i++) {
        struct json other;

        if (json_read(rq->arena, page.rows.items[i].object, &json_limits_default, &other, &err) ==
            0)
            map_put(taken, json_str(json_walk(other, "spec", "clusterIP", NULL)), taken);
    }
    for (uint32_t i = 0; i < SERVICE_ADDRESSES; i++) {
        *ret_address = service_address_at(rq->arena, from + i);
        if (!map_get(taken, *ret_address))
            return 0;
    }
    return fail_internal(&rq->failure, STR("failed to allocate a serviceIP: range is full"));
}

int write_allocate(struct request *rq, const struct value *old, struct value *object)
{
    struct str address = STR("");

    if (kind_has(rq->kind, KIND_CUSTOM) || !str_eq(rq->kind->plural, STR("services")))
        return 0;
    if (old)
        service_keep_address(rq->arena, old, object);
    if (service_wants_address(object) && free_address(rq, &address) != 0)
        return -1;
    service_put_address(rq->arena, object, address);
    return 0;
}

struct field_writer write_manager(struct request *rq)
{
    return (struct field_writer){
        .manager = str_slice(rq->field_manager, 0, 128),
        .sub_resource = rq->sub_resource,
        .api_version = kind_api_version(rq->arena, rq->kind),
        .time = request_time(rq),
    };
}

void write_manage_fields(struct request *rq, const struct value *old, struct value *object)
{
    struct field_writer writer = write_manager(rq);

    if (!rq->applies)
        managers_update(rq->arena, rq->kind, old, object, &writer);
    else if (rq->managed_fields)
        meta_set(rq->arena, object, "managedFields", value_clone(rq->arena, rq->managed_fields));
    else
        meta_remove(object, "managedFields");
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

    /* Defaults come with decoding, also what is stored: that of a status, which nobody could send,
     * above all. Here they are stored. */
    if (kind_has(rq->kind, KIND_CUSTOM))
        schema_default(rq->arena, rq->kind->schema, stored);
    value_set(rq->arena, stored, STR("apiVersion"),
              value_str(rq->arena, kind_storage_api_version(rq->arena, rq->kind)));
    object_split(rq->arena, stored, &w.head, &w.tail);
    if (w.head.len + w.tail.len > 3 * 1024 * 1024 / 2)
        return fail(&rq->failure, 413, "RequestEntityTooLarge", "etcdserver: request is too large");
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
        struct value *tried = value_clone(rq->arena, stored);

        meta_remove(tried, "resourceVersion");
        text = value_json(rq->arena, tried);
    } else if (!rq->dry_run) {
        after_write(rq, type, text);
    }
    *ret_object = request_present(rq, rq->kind, text);
    return 0;
}
