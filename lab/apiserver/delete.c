/* SPDX-License-Identifier: Apache-2.0 */
/* delete.c: removing, at once or when the last finalizer is gone. */
#include "lab/apiserver/admission.h"
#include "lab/apiserver/garbage_collector.h"
#include "lab/apiserver/object.h"

static bool is(const struct request *rq, const char *plural)
{
    return !kind_has(rq->kind, KIND_CUSTOM) && str_eq(rq->kind->plural, str_of(plural));
}

static int check_precondition(struct request *rq, const char *what, const char *fate,
                              struct str want, struct str have)
{
    struct failure_subject subject = request_subject(rq);

    if (want.len == 0 || str_eq(want, have))
        return 0;
    subject.plural = subject.kind; /* as every API server has it here */
    return fail_conflict(&rq->failure, &subject,
                         str_fmt(rq->arena,
                                 "the %s in the precondition (%.*s) does not match the %s in "
                                 "record (%.*s). The object might have been %s",
                                 what, STR_ARG(want), what, STR_ARG(have), fate));
}

static int check_preconditions(struct request *rq, const struct delete_options *options,
                               const struct value *object)
{
    if (check_precondition(rq, "UID", "deleted and then recreated", options->uid,
                           meta_text(object, "uid")) != 0)
        return -1;
    return check_precondition(rq, "ResourceVersion", "modified", options->version,
                              meta_text(object, "resourceVersion"));
}

static int check_allowed(struct request *rq)
{
    static const char *const kept[] = { "default", "kube-system", "kube-public" };
    struct failure_subject subject = request_subject(rq);

    for (size_t i = 0; is(rq, "namespaces") && i < sizeof(kept) / sizeof(kept[0]); i++)
        if (str_eq(rq->name, str_of(kept[i])))
            return fail_forbidden(&rq->failure, &subject, STR("this namespace may not be deleted"));
    return 0;
}

static void begin_going(struct request *rq, struct value *object)
{
    meta_set_text(rq->arena, object, "deletionTimestamp", request_time(rq));
    meta_set(rq->arena, object, "deletionGracePeriodSeconds", value_int(rq->arena, 0));
    if (kind_has(rq->kind, KIND_GENERATION))
        meta_set(rq->arena, object, "generation",
                 value_int(rq->arena, meta_generation(object) + 1));
    if (is(rq, "namespaces")) {
        struct value *status = value_object_at(rq->arena, object, STR("status"));

        if (status)
            value_set(rq->arena, status, STR("phase"), value_str(rq->arena, STR("Terminating")));
    }
}

static bool set_finalizer(struct request *rq, struct value *object, const char *name, bool wanted)
{
    struct value *list = meta_get(object, "finalizers");
    bool had = false;

    for (uint32_t i = value_count(list); i-- > 0;)
        if (str_eq(value_text(value_at(list, i)), str_of(name))) {
            had = true;
            if (!wanted)
                value_remove_at(list, i);
        }
    if (wanted && !had) {
        if (!list) {
            meta_set(rq->arena, object, "finalizers", value_array(rq->arena));
            list = meta_get(object, "finalizers");
        }
        value_append(list, value_str(rq->arena, str_of(name)));
    }
    return had != wanted;
}

/* What is to become of dependents is written down as a finalizer, for the
 * garbage_collector. True: changed. */
static bool set_propagation(struct request *rq, const struct delete_options *options,
                            struct value *object)
{
    bool changed;

    if (options->propagation.len == 0)
        return false;
    changed = set_finalizer(rq, object, GARBAGE_COLLECTOR_FOREGROUND,
                            str_eq(options->propagation, STR("Foreground")));
    return set_finalizer(rq, object, GARBAGE_COLLECTOR_ORPHAN,
                         str_eq(options->propagation, STR("Orphan"))) ||
           changed;
}

static bool must_wait(const struct value *object)
{
    return meta_finalizer_count(object) > 0 ||
           value_count(value_walk(object, "spec", "finalizers", NULL)) > 0;
}

/* *ret_again: somebody else was faster, and the request did not insist on a version. */
static int delete_once(struct request *rq, const struct delete_options *options,
                       struct str *ret_object, bool *ret_gone, bool *ret_again)
{
    struct value *old, *object;
    uint64_t version;
    enum store_answer answer;
    struct failure_subject subject = request_subject(rq);
    bool changed;

    *ret_again = false;
    if (request_load(rq, rq->kind, rq->namespace_, rq->name, &old, &version) != 0 ||
        check_preconditions(rq, options, old) != 0 || check_allowed(rq) != 0)
        return -1;
    if (!rq->internal) {
        struct value *none = NULL;

        if (admission_mutate(rq, old, &none) != 0 || admission_validate(rq, old, NULL) != 0)
            return -1;
    }
    object = value_clone(rq->arena, old);
    changed = set_propagation(rq, options, object);
    *ret_gone = !must_wait(object);
    if (!*ret_gone && meta_is_going(object) && !changed) {
        *ret_object = value_json(rq->arena, object);
        return 0;
    }
    if (!*ret_gone && !meta_is_going(object))
        begin_going(rq, object);
    if (write_commit(rq, *ret_gone ? CHANGE_DELETED : CHANGE_MODIFIED, object, version, ret_object,
                     &answer) != 0)
        return -1;
    if (answer == STORE_DONE)
        return 0;
    *ret_again = options->version.len == 0;
    return answer == STORE_MISSING ? fail_not_found(&rq->failure, &subject)
                                   : fail_modified(&rq->failure, &subject);
}

int do_delete(struct request *rq, const struct delete_options *options, struct str *ret_object,
              bool *ret_gone)
{
    bool again = true;

    for (int tries = 0; again && tries < 64; tries++)
        if (delete_once(rq, options, ret_object, ret_gone, &again) == 0)
            return 0;
    return -1;
}
