/* admitted.c: the receipt, and what the status says of before. */
#include "stack/admitted.h"

#include "base/plant.h"
#include "stack/reasons.h"

enum receipts_mode receipts_mode_from(struct str name)
{
    if (str_eq(name, STR("hold")))
        return RECEIPTS_HOLD;
    return str_eq(name, STR("warn")) ? RECEIPTS_WARN : RECEIPTS_IGNORE;
}

static const struct kube_condition *accepted(const struct stack_status *before)
{
    return before ? kube_condition_find(&before->conditions, STR("Accepted")) : NULL;
}

static bool was_accepted(const struct stack_status *before, int64_t generation)
{
    const struct kube_condition *condition = accepted(before);

    return condition && condition->status == CONDITION_TRUE &&
           condition->observed_generation == generation;
}

bool stack_was_held(const struct stack_status *before)
{
    const struct kube_condition *condition = accepted(before);

    return condition && condition->status == CONDITION_FALSE &&
           str_eq(condition->reason, REASON(NOT_ADMITTED));
}

/* Who asks for a receipt writes another text in its place (record.h): also whoever asked while the
 * webhook was out. */
static const char *other_text(const struct kube_meta *meta)
{
    return str_eq(kube_annotation(meta, STR(STACK_RECEIPT)), STR("wanted")) ? "again" : "wanted";
}

static struct str doubt(struct arena *arena, const struct kube_meta *meta, enum receipt_state state)
{
    return str_fmt(arena,
                   "%s: it was stored while Herd's webhook was not asked, or changed since; have "
                   "it judged: kubectl annotate stack %.*s -n %.*s " STACK_RECEIPT
                   "=%s --overwrite",
                   state == RECEIPT_MISSING ? "it carries no receipt of its judgement"
                                            : "its receipt is not one of this spec and author",
                   STR_ARG(meta->name), STR_ARG(meta->namespace_), other_text(meta));
}

struct admitted stack_admitted(struct arena *arena, enum receipts_mode mode, struct str key,
                               const struct stack *stack, const struct stack_status *before)
{
    struct admitted admitted = { .doubt = STR("") };
    enum receipt_state state;

    if (!key.len)
        return admitted;
    state = receipt_check(arena, key, stack, STR(""), &admitted.receipt);
    admitted.judged = state == RECEIPT_VALID;
    if (admitted.judged || mode == RECEIPTS_IGNORE || stack->meta.deletion_timestamp.len)
        return admitted;
    admitted.held = mode == RECEIPTS_HOLD && !was_accepted(before, stack->meta.generation) &&
                    !PLANTED(UNJUDGED_PASSES);
    admitted.doubt = doubt(arena, &stack->meta, state);
    return admitted;
}
