/* SPDX-License-Identifier: Apache-2.0 */
/* write.c: creating and updating. The order of the steps is that of the API server: in shape,
 * mutated, in shape again, checked, validated by webhooks, stored. */
#include "lab/apiserver/admission.h"
#include "lab/apiserver/object.h"
#include "lab/apiserver/roles.h"

enum { CONFLICT_RETRIES = 64 };

static int check_namespace(struct request *rq, const struct value *object)
{
    struct value *namespace_;
    uint64_t version;
    struct failure_subject subject = request_subject(rq);
    const struct kind *kind = catalog_find(rq->catalog, STR(""), STR("v1"), STR("namespaces"));

    if (!rq->kind->namespaced)
        return 0;
    if (rq->namespace_.len == 0)
        return fail_bad_request(&rq->failure,
                                STR("an empty namespace may not be set during creation"));
    if (request_load(rq, kind, STR(""), rq->namespace_, &namespace_, &version) != 0)
        return -1;
    if (!meta_is_going(namespace_))
        return 0;
    subject.name = meta_text(object, "name");
    fail_forbidden(&rq->failure, &subject,
                   str_fmt(rq->arena,
                           "unable to create new content in namespace %.*s because it is being "
                           "terminated",
                           STR_ARG(rq->namespace_)));
    findings_push(&rq->failure.causes,
                  (struct finding){ FINDING_FORBIDDEN, STR("metadata.namespace"),
                                    str_fmt(rq->arena, "namespace %.*s is being terminated",
                                            STR_ARG(rq->namespace_)) });
    return -1;
}

static void give_name(struct request *rq, struct value *object)
{
    struct str base = meta_text(object, "generateName");

    if (meta_text(object, "name").len || base.len == 0)
        return;
    meta_set_text(rq->arena, object, "name",
                  object_generate_name(rq->arena, request_rng(rq), base));
}

/* What the server alone says about a new object. */
static void fill_system_fields(struct request *rq, struct value *object)
{
    meta_remove(object, "resourceVersion");
    meta_remove(object, "deletionTimestamp");
    meta_remove(object, "deletionGracePeriodSeconds");
    meta_remove(object, "selfLink");
    meta_remove(object, "managedFields");
    meta_set_text(rq->arena, object, "uid", object_uid(rq->arena, request_rng(rq)));
    meta_set_text(rq->arena, object, "creationTimestamp", request_time(rq));
    if (kind_has(rq->kind, KIND_GENERATION))
        meta_set(rq->arena, object, "generation", value_int(rq->arena, 1));
    else
        meta_remove(object, "generation");
}

static void drop_status(struct request *rq, struct value *object)
{
    /* Namespaces and pods get theirs from the server itself; definitions right below. */
    if (rq->internal || !kind_has(rq->kind, KIND_STATUS))
        return;
    value_remove(object, STR("status"));
    if (!kind_has(rq->kind, KIND_CUSTOM))
        builtin_default(rq->arena, rq->kind, object);
}

static int prepare_definition(struct request *rq, const struct value *old, struct value *object)
{
    if (!str_eq(rq->kind->plural, STR("customresourcedefinitions")) ||
        str_eq(rq->sub_resource, STR("status")))
        return 0;
    return definition_admit(rq, object, old);
}

int do_create(struct request *rq, struct value *object, struct str *ret_object)
{
    struct failure_subject subject;
    enum store_answer answer;

    if (body_check(rq, object) != 0 || check_namespace(rq, object) != 0)
        return -1;
    if (meta_text(object, "resourceVersion").len && !rq->internal)
        return fail(&rq->failure, 500, "",
                    "resourceVersion should not be set on objects to be created");
    if (body_shape(rq, object, true) != 0)
        return -1;
    give_name(rq, object);
    fill_system_fields(rq, object);
    drop_status(rq, object);
    write_manage_fields(rq, NULL, object);
    rq->name = meta_text(object, "name");
    if (!rq->internal && admission_mutate(rq, NULL, &object) != 0)
        return -1;
    drop_status(rq, object); /* a webhook's patch has brought its default back */
    rq->name = meta_text(object, "name");
    if (roles_admit(rq, NULL, object) != 0 || write_allocate(rq, NULL, object) != 0 ||
        prepare_definition(rq, NULL, object) != 0 || write_validate(rq, NULL, object) != 0)
        return -1;
    if (!rq->internal && admission_validate(rq, NULL, object) != 0)
        return -1;
    subject = request_subject(rq);
    if (rq->dry_run) {
        struct store_key key = request_key(rq, rq->kind, rq->namespace_, rq->name);
        struct store_row row;
        struct error err;

        if (store_get(rq->api->store, rq->arena, &key, &row, &err) == STORE_DONE)
            return fail_already_exists(&rq->failure, &subject);
    }
    if (write_commit(rq, CHANGE_ADDED, object, 0, ret_object, &answer) != 0)
        return -1;
    return answer == STORE_EXISTS ? fail_already_exists(&rq->failure, &subject) : 0;
}

/* What an update may not touch comes from the object as it is. */
static void keep_system_fields(struct request *rq, const struct value *old, struct value *object)
{
    static const char *const kept[] = { "creationTimestamp", "deletionTimestamp",
                                        "deletionGracePeriodSeconds", "generation" };

    meta_remove(object, "selfLink");
    /* A namespace's own finalizers are changed by its finalize path only. */
    if (str_eq(rq->kind->plural, STR("namespaces")) && !rq->internal &&
        !str_eq(rq->sub_resource, STR("finalize")) && value_get(old, STR("spec")))
        value_set(rq->arena, object, STR("spec"),
                  value_clone(rq->arena, value_get(old, STR("spec"))));
    if (meta_text(object, "uid").len == 0)
        meta_set_text(rq->arena, object, "uid", meta_text(old, "uid"));
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
        const struct value *value = meta_get(old, kept[i]);

        if (value)
            meta_set(rq->arena, object, kept[i], value_clone(rq->arena, value));
        else
            meta_remove(object, kept[i]);
    }
}

/* Status is written by its own path, and nothing else is. */
static struct value *split_status(struct request *rq, const struct value *old, struct value *object)
{
    struct value *result;
    const struct value *status;

    if (!kind_has(rq->kind, KIND_STATUS))
        return object;
    if (str_eq(rq->sub_resource, STR("status"))) {
        result = value_clone(rq->arena, old);
        status = value_get(object, STR("status"));
    } else {
        result = object;
        status = value_get(old, STR("status"));
    }
    if (status)
        value_set(rq->arena, result, STR("status"), value_clone(rq->arena, status));
    else
        value_remove(result, STR("status"));
    return result;
}

/* Equal in all that counts as desired: not metadata, and not a status with a path of its own. */
static bool same_desire(struct request *rq, const struct value *a, const struct value *b)
{
    struct value *x = value_clone(rq->arena, a);
    struct value *y = value_clone(rq->arena, b);

    value_remove(x, STR("metadata"));
    value_remove(y, STR("metadata"));
    if (kind_has(rq->kind, KIND_STATUS)) {
        value_remove(x, STR("status"));
        value_remove(y, STR("status"));
    }
    return value_equal(x, y);
}

static bool same_but_managers(struct request *rq, const struct value *a, const struct value *b)
{
    struct value *x = value_clone(rq->arena, a);
    struct value *y = value_clone(rq->arena, b);

    meta_remove(x, "managedFields");
    meta_remove(y, "managedFields");
    meta_remove(x, "resourceVersion");
    meta_remove(y, "resourceVersion");
    return value_equal(x, y);
}

/* A version that is no number; "" and "0" stand for any. */
static int read_version(struct request *rq, const struct value *object, uint64_t *ret_version)
{
    struct str text = meta_text(object, "resourceVersion");
    struct strbuf shown = strbuf_new(rq->arena, 32);

    *ret_version = 0;
    if (text.len == 0 || str_to_u64(text, ret_version))
        return 0;
    finding_quote(&shown, text);
    return fail(&rq->failure, 500, "", "strconv.ParseUint: parsing %.*s: invalid syntax",
                STR_ARG(strbuf_str(&shown)));
}

/* Not only absent: a client that edits the list of managers sends one. */
static bool brings_managers(const struct value *old, const struct value *object)
{
    const struct value *managers = meta_get(object, "managedFields");

    return managers && !value_equal(managers, meta_get(old, "managedFields"));
}

static int check_preconditions(struct request *rq, const struct value *old, uint64_t version,
                               const struct value *object, bool *ret_insists)
{
    struct failure_subject subject = request_subject(rq);
    struct str uid = meta_text(object, "uid");
    uint64_t want;

    /* A patch names no object to be replaced: its uid is a change, and rejected as one. */
    if (rq->verb != VERB_PATCH && uid.len && !str_eq(uid, meta_text(old, "uid")))
        return fail_conflict(&rq->failure, &subject,
                             str_fmt(rq->arena,
                                     "Precondition failed: UID in precondition: %.*s, UID in "
                                     "object meta: %.*s",
                                     STR_ARG(uid), STR_ARG(meta_text(old, "uid"))));
    if (read_version(rq, object, &want) != 0)
        return -1;
    *ret_insists = want != 0;
    if (*ret_insists && want != version)
        return fail_modified(&rq->failure, &subject);
    if (!*ret_insists && rq->verb == VERB_UPDATE && !rq->internal &&
        kind_has(rq->kind, KIND_CUSTOM)) {
        struct findings found = findings_new(rq->arena, 1);

        findings_push(&found, (struct finding){ FINDING_INVALID, STR("metadata.resourceVersion"),
                                                STR("Invalid value: 0: must be specified for an "
                                                    "update") });
        subject.kind = subject.plural; /* as every API server has it here */
        return fail_invalid(&rq->failure, &subject, &found);
    }
    return 0;
}

/* The current object goes: its last finalizer was taken off. */
static bool is_finished(const struct value *old, const struct value *object)
{
    return meta_is_going(old) && meta_finalizer_count(object) == 0 &&
           value_count(value_walk(object, "spec", "finalizers", NULL)) == 0;
}

static int update_once(struct request *rq, const struct edit *edit, struct str *ret_object,
                       bool *ret_again)
{
    struct value *old, *object;
    uint64_t version;
    bool insists = false, gone = false, manages = false;
    enum store_answer answer;
    struct failure_subject subject = request_subject(rq);

    *ret_again = false;
    if (request_load(rq, rq->kind, rq->namespace_, rq->name, &old, &version) != 0 ||
        edit->make(rq, edit->context, old, &object) != 0 || body_check(rq, object) != 0 ||
        check_preconditions(rq, old, version, object, &insists) != 0)
        return -1;
    manages = rq->applies || brings_managers(old, object);
    keep_system_fields(rq, old, object);
    if (body_shape(rq, object, true) != 0 || write_allocate(rq, old, object) != 0)
        return -1;
    object = split_status(rq, old, object);
    write_manage_fields(rq, old, object);
    if (!rq->internal && admission_mutate(rq, old, &object) != 0)
        return -1;
    if (kind_has(rq->kind, KIND_GENERATION) && !same_desire(rq, old, object))
        meta_set(rq->arena, object, "generation", value_int(rq->arena, meta_generation(old) + 1));
    if (roles_admit(rq, old, object) != 0 || prepare_definition(rq, old, object) != 0 ||
        write_validate(rq, old, object) != 0)
        return -1;
    if (!rq->internal && admission_validate(rq, old, object) != 0)
        return -1;
    gone = is_finished(old, object);
    if (!gone && same_but_managers(rq, old, object) && !(manages && brings_managers(old, object))) {
        *ret_object = value_json(rq->arena, old);
        return 0;
    }
    if (write_commit(rq, gone ? CHANGE_DELETED : CHANGE_MODIFIED, object, version, ret_object,
                     &answer) != 0)
        return -1;
    if (answer == STORE_DONE)
        return 0;
    /* A patch is made anew on what stands there now; one that names a version fails then. */
    if (insists && rq->verb != VERB_PATCH)
        return fail_modified(&rq->failure, &subject);
    *ret_again = true;
    return fail_modified(&rq->failure, &subject);
}

int do_update(struct request *rq, const struct edit *edit, struct str *ret_object)
{
    bool again = true;

    for (int tries = 0; tries < CONFLICT_RETRIES; tries++) {
        if (update_once(rq, edit, ret_object, &again) == 0)
            return 0;
        if (!again)
            return -1;
        rq->warnings.count = 0;
    }
    return -1;
}
