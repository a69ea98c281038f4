/* review.c: what is done with a review depends on its route and operation only.
 *
 *   mutate    CREATE, UPDATE   the patch that fills in defaults; never a refusal
 *   validate  CREATE, UPDATE   every finding; allowed if none of them denies
 *   both      DELETE, CONNECT  allowed: a Stack that is going must be able to go
 *   both      of a subresource allowed: an API server writes status without touching the spec
 *
 * An update of a Stack that is being deleted is allowed whatever it says: its finalizers must be
 * removable although a rule may have come after it. That it is being deleted is taken from the
 * stored object: only the API server can write that, while anybody may send a new one that says so. */
#include "webhook/review.h"

#include "stack/decode.h"
#include "stack/default.h"

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

static int check_resource(const struct admission_request *request, struct error *err)
{
    if (str_eq(request->resource.group, stack_resource.group) &&
        str_eq(request->resource.plural, stack_resource.plural) &&
        str_eq(request->resource.version, stack_resource.version))
        return 0;
    return error_set(err, ERROR_BAD_REQUEST,
                     "this webhook judges %.*s.%.*s of version %.*s only; mend the rules of the "
                     "webhook configuration that sent something else, and leave matchPolicy at "
                     "Equivalent",
                     STR_ARG(stack_resource.plural), STR_ARG(stack_resource.group),
                     STR_ARG(stack_resource.version));
}

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

/* What is no Stack of this version has no defaults of it; /validate refuses it. */
static bool is_stack(struct json object)
{
    struct str api_version = json_str(json_get(object, STR("apiVersion")));

    return str_eq(json_str(json_get(object, STR("kind"))), stack_resource.kind) &&
           str_eq(api_version, STR(STACK_GROUP "/" STACK_VERSION));
}

static void mutate(struct arena *arena, const struct admission_request *request,
                   struct admission_answer *answer)
{
    if (!is_stack(request->object))
        return;

    /* What is wrong is for /validate to say: here it only keeps defaults from being guessed. */
    struct problems ignored = problems_new(arena);
    const struct stack *stack = stack_decode(arena, request->object, &ignored);

    stack_default(arena, stack, &answer->patch);
}

static void validate(struct arena *arena, const struct admission_request *request,
                     const struct review_context *context, struct admission_answer *answer,
                     struct review_outcome *outcome)
{
    struct json none = { NULL, 0 };
    bool update = request->operation == ADMISSION_UPDATE;
    struct verdict *verdict = arena_new(arena, struct verdict);

    *verdict = stack_judge(arena, request->object, update ? request->old_object : none,
                           context->facts, context->severities);
    outcome->problems = verdict->problems;
    answer->allowed = verdict->allowed;
    for (uint32_t i = 0; i < verdict->warnings.count; i++)
        admission_warn(answer, arena, verdict->warnings.items[i]);
    if (verdict->allowed)
        return;
    answer->code = error_http_status(ERROR_INVALID);
    answer->reason = str_of(error_reason(ERROR_INVALID));
    answer->message = verdict->message;
    answer->causes = &verdict->problems;
}

int review_answer(struct arena *arena, enum review_route route, struct str body,
                  const struct review_context *context, struct review_outcome *ret_outcome,
                  struct error *err)
{
    struct admission_request request;
    struct review_outcome outcome = { .problems = problems_new(arena) };

    if (admission_read(arena, body, &request, err) < 0 || check_resource(&request, err) < 0)
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
        if (check_object(&request, err) < 0)
            return -1;
        if (route == REVIEW_MUTATE)
            mutate(arena, &request, &answer);
        else
            validate(arena, &request, context, &answer, &outcome);
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
