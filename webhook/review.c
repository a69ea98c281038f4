/* review.c: what is done with a review depends on its route and operation only.
 *
 *   mutate    CREATE, UPDATE   the patch of defaults and of who asks, or the refusal
 *   validate  CREATE, UPDATE   the refusal, or the warnings and what the change will do
 *   both      DELETE, CONNECT  allowed: a Stack that is going must be able to go
 *   both      of a subresource allowed: an API server writes status without touching the spec
 *
 * An update of a Stack that is being deleted is allowed whatever it says: its finalizers must be
 * removable although a rule may have come after it. That it is being deleted is taken from the
 * stored object: only the API server can write that, while anybody may send one that says so. */
#include "webhook/review.h"

#include "base/plant.h"
#include "stack/access.h"
#include "stack/policy.h"
#include "stack/preview.h"
#include "stack/record.h"

const char *review_operation_name(enum admission_operation operation)
{
    static const char *const names[] = {
        [ADMISSION_CREATE] = "CREATE",
        [ADMISSION_UPDATE] = "UPDATE",
        [ADMISSION_DELETE] = "DELETE",
        [ADMISSION_CONNECT] = "CONNECT",
    };

    return names[operation];
}

/* --- the kinds that are judged --- */

struct asked {
    enum review_route route;
    const struct admission_request *request;
    struct json old_object; /* absent but on an update */
    const struct review_context *context;
};

static void ask_for_user(struct arena *arena, const struct asked *asked, struct record *record,
                         struct verdict *verdict)
{
    const struct admission_request *request = asked->request;
    struct access_user user;

    if (!asked->context->facts->access.ask)
        return;
    user = access_user_of(arena, request->username, request->user_uid, request->groups,
                          request->user_extra);
    access_judge(arena, asked->context->facts, &user, asked->context->severities, record, verdict);
}

static struct verdict judge_stack(struct arena *arena, const struct asked *asked)
{
    const struct review_context *context = asked->context;
    const struct admission_request *request = asked->request;
    const struct recording recording = {
        .object = request->object,
        .old_object = asked->old_object,
        .namespace_ = request->namespace_,
        .username = request->username,
        .groups = request->groups,
        .receipt_key = context->receipt_key,
        .policies = context->facts->policies,
    };
    struct verdict verdict = stack_judge(arena, request->object, asked->old_object, context->facts,
                                         context->severities);
    struct record record = record_begin(arena, &recording, &verdict);

    ask_for_user(arena, asked, &record, &verdict);
    if (asked->route == REVIEW_MUTATE)
        record_write(arena, &record, context->severities, &verdict);
    else
        record_check(arena, &record, context->severities, &verdict);
    if (asked->route == REVIEW_VALIDATE && verdict.allowed)
        verdict.notes = stack_preview(arena, verdict.stack, verdict.chosen, asked->old_object,
                                      context->facts, request->dry_run);
    return verdict;
}

static struct verdict judge_policy(struct arena *arena, const struct asked *asked)
{
    return policy_judge(arena, asked->request->object, asked->old_object);
}

static const struct judged_kind {
    const struct kube_resource *resource;
    struct verdict (*judge)(struct arena *arena, const struct asked *asked);
} kinds[] = {
    { &stack_resource, judge_stack },
    { &policy_resource, judge_policy },
};

/* NULL and an error: it is none of them. */
static const struct judged_kind *find_kind(const struct admission_request *request,
                                           struct error *err)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        const struct kube_resource *resource = kinds[i].resource;

        if (str_eq(request->resource.group, resource->group) &&
            str_eq(request->resource.plural, resource->plural) &&
            str_eq(request->resource.version, resource->version))
            return &kinds[i];
    }
    error_set(err, ERROR_BAD_REQUEST,
              "this webhook judges %.*s and %.*s.%.*s of version %.*s only; mend the rules of the "
              "webhook configuration that sent something else, and leave matchPolicy at Equivalent",
              STR_ARG(stack_resource.plural), STR_ARG(policy_resource.plural),
              STR_ARG(stack_resource.group), STR_ARG(stack_resource.version));
    return NULL;
}

/* --- what is done --- */

static bool is_going(const struct admission_request *request)
{
    struct kube_meta stored;

    if (request->operation != ADMISSION_UPDATE)
        return request->operation != ADMISSION_CREATE;
    kube_meta_read(request->old_object, &stored);
    return stored.deletion_timestamp.len > 0;
}

static bool needs_no_judgement(const struct admission_request *request)
{
    if (PLANTED(DRY_RUN_PASSES) && request->dry_run)
        return true;
    if (PLANTED(BAD_OLD_EXCUSES) && request->operation == ADMISSION_UPDATE &&
        !json_is(request->old_object, JSON_OBJECT))
        return true;
    return is_going(request) || request->sub_resource.len > 0;
}

static int check_object(const struct admission_request *request, struct error *err)
{
    if (json_is(request->object, JSON_OBJECT))
        return 0;
    return error_set(err, ERROR_BAD_REQUEST,
                     "request.object is %s, not an object: there is nothing to judge",
                     json_kind_name(json_kind(request->object)));
}

/* Both routes judge. A refusal by the mutating one comes first of all, before the API server looks
 * at the schema and stops at what it finds there: so the author is told everything at once, with
 * the ways out. What a later mutating webhook spoils, the validating one still refuses. */
static void judge(struct arena *arena, const struct judged_kind *kind, const struct asked *asked,
                  struct admission_answer *answer, struct review_outcome *outcome)
{
    struct verdict *verdict = arena_new(arena, struct verdict);

    *verdict = kind->judge(arena, asked);
    answer->allowed = verdict->allowed;
    if (!verdict->allowed) {
        answer->code = error_http_status(ERROR_INVALID);
        answer->reason = str_of(error_reason(ERROR_INVALID));
        answer->message = verdict->message;
        answer->causes = &verdict->problems;
    } else if (asked->route == REVIEW_MUTATE) {
        answer->patch = verdict->patch;
        return; /* warnings are for the validating route to give, once */
    }
    outcome->problems = verdict->problems;
    if (verdict->stack && asked->context->facts->policies)
        outcome->policies = policy_outcomes_of(arena, asked->context->facts->policies,
                                               verdict->stack, &verdict->problems);
    for (uint32_t i = 0; i < verdict->warnings.count; i++)
        admission_warn(answer, arena, verdict->warnings.items[i]);
    admission_note(answer, arena, &verdict->notes);
}

int review_answer(struct arena *arena, enum review_route route, struct str body,
                  const struct review_context *context, struct review_outcome *ret_outcome,
                  struct error *err)
{
    struct admission_request request;
    struct review_outcome outcome = { .problems = problems_new(arena) };
    const struct judged_kind *kind;

    if (PLANTED(ALLOWED_FIRST))
        ret_outcome->allowed = true;
    if (admission_read(arena, body, &request, err) < 0)
        return -1;
    kind = find_kind(&request, err);
    if (!kind)
        return -1;

    struct admission_answer answer = {
        .uid = request.uid,
        .allowed = true,
        .resource = request.resource,
        .name = request.name,
        .warnings = str_list_new(arena, 0),
        .audit = str_list_new(arena, 0),
    };

    if (!needs_no_judgement(&request)) {
        if (context->facts->policies_pending)
            return error_set(err, ERROR_UNAVAILABLE,
                             "this webhook has not read the StackPolicies yet, so it cannot say "
                             "yes; try again in a moment");
        struct asked asked = { route, &request, { NULL, 0 }, context };

        if (check_object(&request, err) < 0)
            return -1;
        if (request.operation == ADMISSION_UPDATE)
            asked.old_object = request.old_object;
        judge(arena, kind, &asked, &answer, &outcome);
    }

    struct strbuf out = strbuf_new(arena, 1024 + answer.patch.len * 2);

    admission_write(&answer, &out);
    outcome.answer = strbuf_str(&out);
    outcome.allowed = answer.allowed;
    outcome.operation = request.operation;
    outcome.name = request.name;
    outcome.namespace_ = request.namespace_;
    *ret_outcome = outcome;
    return 0;
}
