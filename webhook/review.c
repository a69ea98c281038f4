/* SPDX-License-Identifier: Apache-2.0 */
/* review.c: what is done with a review depends on its route and operation only.
 *
 *   mutate    CREATE, UPDATE   the patch of defaults and of who asks, or the rejection
 *   validate  CREATE, UPDATE   the rejection, or the warnings and what the change will do
 *   both      DELETE, CONNECT  allowed: a Stack that is going must be able to go
 *   both      of a subresource allowed: an API server writes status without touching the spec
 *
 * An update of a Stack that is being deleted is allowed whatever it says: its finalizers must be
 * removable although a rule may have come after it. That it is being deleted is taken from the
 * stored object: only the API server can write that, while anybody may send one that says so. */
#include "webhook/review.h"

#include "base/set.h"
#include "stack/access/access.h"
#include "stack/model/policy.h"
#include "stack/preview/preview.h"
#include "stack/rules/admit_workload.h"

enum { RULES_BYTES_MAX = 512 }; /* in a line of the log and an entry of the audit log */

/* --- the kinds that are validated --- */

struct asked {
    enum review_route route;
    const struct admission_request *request;
    struct json old_object;               /* absent but on an update */
    const struct workload_kind *workload; /* NULL: it is of another kind */
    const struct review_context *context;
    struct review_outcome *outcome;
};

static const char *route_name(enum review_route route)
{
    return route == REVIEW_MUTATE ? "mutate" : "validate";
}

static void ask_for_user(struct arena *arena, const struct asked *asked, struct verdict *verdict)
{
    const struct admission_request *request = asked->request;
    struct access_user user = access_user_of(arena, request->username, request->user_uid,
                                             request->groups, request->user_extra);

    access_validate(arena, asked->context->facts, &user, request->namespace_,
                    asked->context->severities, verdict);
}

/* What STACK_TRACEPARENT is to say; NULL: nothing is traced. */
static const struct str *trace_change(struct arena *arena, const struct asked *asked,
                                      const struct verdict *verdict)
{
    if (!asked->context->traced)
        return NULL;
    asked->outcome->trace =
        review_trace_of(arena, route_name(asked->route), asked->request, asked->old_object,
                        author_changes_spec(arena, asked->request, asked->old_object, verdict));
    return &asked->outcome->trace.stored;
}

static struct verdict validate_stack(struct arena *arena, const struct asked *asked)
{
    const struct review_context *context = asked->context;
    const struct admission_request *request = asked->request;
    struct verdict verdict =
        stack_admit(arena, request->object, asked->old_object, context->facts, context->severities);
    bool changes = author_changes(arena, request, asked->old_object, &verdict);
    const struct str *traceparent = trace_change(arena, asked, &verdict);

    if (changes && context->facts->access.ask)
        ask_for_user(arena, asked, &verdict);
    if (asked->route == REVIEW_MUTATE)
        author_write(arena, request, asked->old_object, changes, traceparent, &verdict);
    else if (verdict.allowed)
        verdict.notes = stack_preview(arena, verdict.stack, verdict.chosen, asked->old_object,
                                      context->facts, request->dry_run);
    return verdict;
}

static struct verdict validate_policy(struct arena *arena, const struct asked *asked)
{
    return policy_admit(arena, asked->request->object, asked->old_object);
}

static struct verdict validate_workload(struct arena *arena, const struct asked *asked)
{
    return workload_admit(arena, asked->workload, asked->request->object, asked->old_object,
                          asked->context->facts, asked->context->severities);
}

struct validated_kind {
    const struct kube_resource *resource;
    struct verdict (*validate)(struct arena *arena, const struct asked *asked);
};

static const struct validated_kind kinds[] = {
    { &stack_resource, validate_stack },
    { &policy_resource, validate_policy },
};
/* All kinds of workloads; which of them, asked.workload says. */
static const struct validated_kind workloads = { NULL, validate_workload };

/* NULL and an error: it is none of them. `workload` NULL: it is no workload. */
static const struct validated_kind *find_kind(const struct admission_request *request,
                                              const struct workload_kind **ret_workload,
                                              struct error *err)
{
    *ret_workload = NULL;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        const struct kube_resource *resource = kinds[i].resource;

        if (str_eq(request->resource.group, resource->group) &&
            str_eq(request->resource.plural, resource->plural) &&
            str_eq(request->resource.version, resource->version))
            return &kinds[i];
    }
    *ret_workload = workload_kind_find(&request->resource);
    if (*ret_workload)
        return &workloads;
    error_set(err, ERROR_BAD_REQUEST,
              "this webhook validates %.*s and %.*s.%.*s of version %.*s, and workloads, only; fix "
              "the rules of the "
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

static bool needs_no_validation(const struct admission_request *request)
{
    return is_going(request) || request->sub_resource.len > 0;
}

static int check_object(const struct admission_request *request, struct error *err)
{
    if (json_is(request->object, JSON_OBJECT))
        return 0;
    return error_set(err, ERROR_BAD_REQUEST,
                     "request.object is %s, not an object: there is nothing to validate",
                     json_kind_name(json_kind(request->object)));
}

static void reject(struct admission_answer *answer, const struct verdict *verdict)
{
    answer->allowed = false;
    answer->code = error_http_status(ERROR_INVALID);
    answer->reason = str_of(error_reason(ERROR_INVALID));
    answer->message = verdict->message;
    answer->causes = &verdict->problems;
}

static void count_policies(struct arena *arena, const struct policy_set *policies,
                           const struct verdict *verdict, struct review_outcome *outcome)
{
    if (policies && verdict->stack)
        outcome->policies = policy_outcomes_of(arena, policies, verdict->stack, verdict->chosen,
                                               &verdict->problems);
    else if (policies && verdict->workload)
        outcome->policies =
            policy_outcomes_of_workload(arena, policies, verdict->workload, &verdict->problems);
}

/* Both routes validate. A rejection by the mutating one comes first of all, before the API server
 * looks at the schema and stops at what it finds there: so the author is told everything at once,
 * with the remedies. What a later mutating webhook spoils, the validating one still rejects. */
static void validate(struct arena *arena, const struct validated_kind *kind,
                     const struct asked *asked, struct admission_answer *answer,
                     struct review_outcome *outcome)
{
    struct verdict *verdict = arena_new(arena, struct verdict);

    *verdict = kind->validate(arena, asked);
    outcome->findings = verdict->problems.list.count;
    if (!verdict->allowed) {
        reject(answer, verdict);
    } else if (asked->route == REVIEW_MUTATE) {
        answer->patch = verdict->patch;
        return; /* warnings are for the validating route to give, once */
    }
    outcome->problems = verdict->problems;
    count_policies(arena, asked->context->facts->policies, verdict, outcome);
    for (uint32_t i = 0; i < verdict->warnings.count; i++)
        admission_warn(answer, arena, verdict->warnings.items[i]);
    admission_note(answer, arena, &verdict->notes);
}

/* Each rule that denies, once, in the order of the findings; what does not fit is counted. */
static struct str denying_rules(struct arena *arena, const struct problems *problems)
{
    struct set named = set_new(arena, 16);
    struct strbuf out = strbuf_new(arena, 64);
    uint32_t left_out = 0;

    for (uint32_t i = 0; i < problems->list.count; i++) {
        const struct problem *problem = &problems->list.items[i];

        if (problem->severity != SEVERITY_DENY || !set_add(named, problem->rule))
            continue;
        if (left_out || out.len + problem->rule.len > RULES_BYTES_MAX)
            left_out++;
        else
            strbuf_fmt(&out, "%s%.*s", out.len ? "," : "", STR_ARG(problem->rule));
    }
    if (left_out)
        strbuf_fmt(&out, ",and %u more", left_out);
    return strbuf_str(&out);
}

static void finish(struct arena *arena, const struct admission_request *request,
                   struct admission_answer *answer, struct review_outcome *outcome)
{
    struct strbuf out = strbuf_new(arena, 1024 + answer->patch.len * 2);

    outcome->rules = STR("");
    if (!answer->allowed) {
        outcome->rules = denying_rules(arena, &outcome->problems);
        str_list_push(&answer->audit, STR("rejected-by"));
        str_list_push(&answer->audit, outcome->rules);
    }
    admission_write(answer, &out);
    outcome->answer = strbuf_str(&out);
    outcome->allowed = answer->allowed;
    outcome->operation = request->operation_name.len ? request->operation_name : STR("unknown");
    outcome->kind = request->resource.kind;
    outcome->name = request->name;
    outcome->namespace_ = request->namespace_;
    outcome->username = request->username;
    outcome->dry_run = request->dry_run;
    if (request->dry_run || (answer->allowed && !outcome->trace.changes))
        outcome->trace.context.sampled = false;
}

static struct admission_answer answer_to(struct arena *arena,
                                         const struct admission_request *request)
{
    return (struct admission_answer){
        .uid = request->uid,
        .allowed = true,
        .resource = request->resource,
        .name = request->name,
        .warnings = str_list_new(arena, 0),
        .audit = str_list_new(arena, 0),
    };
}

/* --- what cannot be decoded, or is too large to be validated --- */

struct answering {
    struct arena *arena;
    enum review_route route;
    struct str body;
    const struct review_context *context;
    struct review_outcome *ret_outcome;
    struct error *err;
    int result;
};

/* An API server shows the author what an answer with the review's uid says; of an HTTP error it
 * says that the webhook failed. */
static void reject_unread(struct arena *arena, const struct answering *a,
                          const struct admission_request *request, const struct verdict *verdict,
                          struct review_outcome *outcome)
{
    struct admission_answer answer = answer_to(arena, request);

    reject(&answer, verdict);
    outcome->problems = verdict->problems;
    outcome->findings = verdict->problems.list.count;
    if (a->context->traced)
        outcome->trace =
            review_trace_of(arena, route_name(a->route), request, request->old_object, false);
    finish(arena, request, &answer, outcome);
}

/* --- one review --- */

static int answer_review(const struct answering *a)
{
    struct admission_request request;
    struct review_outcome outcome = { .problems = problems_new(a->arena) };
    const struct workload_kind *workload;
    const struct validated_kind *kind;

    if (admission_read(a->arena, a->body, &request, a->err) < 0) {
        if (!admission_identify(a->body, &request))
            return -1;

        struct verdict verdict = stack_undecodable(a->arena, a->err);

        reject_unread(a->arena, a, &request, &verdict, &outcome);
        *a->ret_outcome = outcome;
        return 0;
    }
    kind = find_kind(&request, &workload, a->err);
    if (!kind)
        return -1;

    struct admission_answer answer = answer_to(a->arena, &request);

    if (!needs_no_validation(&request)) {
        if (a->context->facts->policies_pending)
            return error_set(a->err, ERROR_UNAVAILABLE,
                             "this webhook has not read the StackPolicies yet, so it accepts "
                             "nothing; try again in a moment");
        struct asked asked = { a->route, &request, { NULL, 0 }, workload, a->context, &outcome };

        if (check_object(&request, a->err) < 0)
            return -1;
        if (request.operation == ADMISSION_UPDATE)
            asked.old_object = request.old_object;
        validate(a->arena, kind, &asked, &answer, &outcome);
    }

    finish(a->arena, &request, &answer, &outcome);
    *a->ret_outcome = outcome;
    return 0;
}

static void answer_within_budget(void *context)
{
    struct answering *a = context;

    a->result = answer_review(a);
}

static int reject_too_large(struct arena *spare, const struct answering *a)
{
    struct admission_request request;
    struct review_outcome outcome = { .problems = problems_new(spare) };
    struct verdict verdict = stack_too_large(spare);

    if (!admission_identify(a->body, &request))
        return error_set(a->err, ERROR_TOO_LARGE, "the review needs more memory than one may have");
    reject_unread(spare, a, &request, &verdict, &outcome);
    *a->ret_outcome = outcome;
    return 0;
}

int review_answer(struct arena *arena, enum review_route route, struct str body,
                  const struct review_context *context, struct review_outcome *ret_outcome,
                  struct error *err)
{
    struct answering answering = { arena, route, body, context, ret_outcome, err, -1 };
    struct arena *spare = arena_beside(arena);

    if (arena_run(arena, answer_within_budget, &answering) < 0)
        return reject_too_large(spare, &answering);
    return answering.result;
}
