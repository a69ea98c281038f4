/* SPDX-License-Identifier: Apache-2.0 */
/* write_apply.c: PATCH with application/apply-patch+yaml: an update, or the creation of what is not
 * there, of the object that apply.h computes. */
#include "lab/apiserver/apply.h"
#include "lab/apiserver/object.h"
#include "lab/apiserver/request.h"

enum { TRIES = 64 };

struct applying {
    struct apply apply;
    const struct value *config;
};

/* "namespace/name; group/version, Kind=kind" */
static struct str subject_of(struct request *rq)
{
    return str_fmt(rq->arena, "%.*s/%.*s; %.*s/%.*s, Kind=%.*s", STR_ARG(rq->namespace_),
                   STR_ARG(rq->name), STR_ARG(rq->kind->group), STR_ARG(rq->kind->version),
                   STR_ARG(rq->kind->kind));
}

/* Fields without a place in the schema, and lists without identity, can have no owner. */
static int check_typed(struct request *rq, const struct value *config)
{
    struct str_list unknown = str_list_new(rq->arena, 0);
    struct str_list faults = apply_faults(rq->arena, rq->kind, config);
    struct strbuf text = strbuf_new(rq->arena, 128);

    schema_prune(rq->arena, rq->kind->schema, value_clone(rq->arena, config), true, &unknown);
    for (uint32_t i = 0; i < unknown.count; i++)
        str_list_push(&faults, str_fmt(rq->arena, ".%.*s: field not declared in schema",
                                       STR_ARG(unknown.items[i])));
    if (faults.count == 0)
        return 0;
    if (faults.count > 1)
        strbuf_lit(&text, "errors:");
    for (uint32_t i = 0; i < faults.count; i++)
        strbuf_fmt(&text, "%s%.*s", faults.count > 1 ? "\n  " : "", STR_ARG(faults.items[i]));
    return fail(&rq->failure, 500, "", "failed to create typed patch object (%.*s): %.*s",
                STR_ARG(subject_of(rq)), STR_ARG(strbuf_str(&text)));
}

static int check_config(struct request *rq, struct value *config)
{
    if (value_count(meta_get(config, "managedFields")))
        return fail_bad_request(&rq->failure, STR("metadata.managedFields must be nil"));
    if (body_check(rq, config) != 0)
        return -1;
    meta_remove(config, "managedFields");
    return check_typed(rq, config);
}

static int reject(struct request *rq, const struct apply_conflicts *conflicts)
{
    fail(&rq->failure, 409, "Conflict", "%.*s",
         STR_ARG(apply_conflict_message(rq->arena, conflicts)));
    rq->failure.has_details = true;
    for (uint32_t i = 0; i < conflicts->count; i++)
        findings_push(&rq->failure.causes,
                      (struct finding){ FINDING_MANAGER_CONFLICT, conflicts->items[i].path,
                                        str_fmt(rq->arena, "conflict with %.*s",
                                                STR_ARG(conflicts->items[i].manager)) });
    return -1;
}

/* Fields that kubectl itself applied in the days of last-applied-configuration are kubectl's: such
 * a conflict is with its own past. */
static bool is_own_past(struct request *rq, const struct applying *a, const struct value *live,
                        const struct apply_conflicts *conflicts)
{
    struct str text = value_text(value_walk(
        live, "metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration", NULL));
    struct str_list own;
    struct value *past;
    struct error err;

    if (!str_eq(a->apply.by.manager, STR("kubectl")) ||
        value_read(rq->arena, text, &json_limits_default, &past, &err) != 0)
        return false;
    own = apply_unchanged(rq->arena, rq->kind, past, live);
    for (uint32_t i = 0; i < conflicts->count; i++)
        if (!str_list_has(&own, conflicts->items[i].path))
            return false;
    return true;
}

#define LAST_APPLIED "kubectl.kubernetes.io/last-applied-configuration"

/* What kubectl once applied by itself stays true when it applies by the server: a later `kubectl
 * apply` without the server compares with it. Source:
 * managedfields/internal/lastappliedupdater.go. */
static void refresh_last_applied(struct request *rq, const struct applying *a, struct value *object)
{
    struct value *annotations = meta_get(object, "annotations");
    struct value *config, *own;
    struct strbuf text = strbuf_new(rq->arena, 512);

    if (!str_eq(a->apply.by.manager, STR("kubectl")) || !value_get(annotations, STR(LAST_APPLIED)))
        return;
    config = value_clone(rq->arena, a->config);
    own = meta_get(config, "annotations");
    if (value_remove(own, STR(LAST_APPLIED)) && value_count(own) == 0)
        meta_remove(config, "annotations");
    value_write(config, true, &text);
    strbuf_char(&text, '\n');
    value_set(rq->arena, annotations, STR(LAST_APPLIED), value_str(rq->arena, strbuf_str(&text)));
}

static int apply_to(struct request *rq, const struct applying *a, const struct value *live,
                    struct value **ret_object)
{
    struct apply apply = a->apply;
    struct apply_conflicts conflicts;
    const struct value *managed;

    if (apply_object(rq->arena, &apply, live, a->config, ret_object, &conflicts) != 0) {
        if (!is_own_past(rq, a, live, &conflicts))
            return reject(rq, &conflicts);
        apply.force = true;
        apply_object(rq->arena, &apply, live, a->config, ret_object, &conflicts);
    }
    refresh_last_applied(rq, a, *ret_object);
    managed = meta_get(*ret_object, "managedFields");
    rq->managed_fields = managed ? value_clone(rq->arena, managed) : NULL;
    return 0;
}

static int make(struct request *rq, void *context, const struct value *now,
                struct value **ret_object)
{
    return apply_to(rq, context, now, ret_object);
}

static int create(struct request *rq, const struct applying *a, struct str *ret_object)
{
    struct failure_subject subject = request_subject(rq);
    struct value *object;

    if (rq->sub_resource.len)
        return fail_not_found(&rq->failure, &subject);
    if (apply_to(rq, a, NULL, &object) != 0)
        return -1;
    return do_create(rq, object, ret_object);
}

int do_apply(struct request *rq, struct value *config, bool force, struct str *ret_object,
             bool *ret_created)
{
    struct applying a = { .config = config };
    struct edit edit = { make, &a };

    if (check_config(rq, config) != 0)
        return -1;
    a.apply = (struct apply){ rq->kind, write_manager(rq), force };
    for (int tries = 0; tries < TRIES; tries++) {
        *ret_created = false;
        if (do_update(rq, &edit, ret_object) == 0)
            return 0;
        if (rq->failure.code != 404)
            return -1;
        *ret_created = true;
        if (create(rq, &a, ret_object) == 0)
            return 0;
        if (!str_eq(rq->failure.reason, STR("AlreadyExists")))
            return -1;
    }
    return -1;
}
