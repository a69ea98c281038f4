/* SPDX-License-Identifier: Apache-2.0 */
/* admit.c: the whole validation on an admission, and its words. */
#include "kube/admission.h"
#include "stack/model/limits.h"
#include "stack/targets/resolved_targets.h"
#include "stack/model/decode.h"
#include "stack/model/default.h"
#include "stack/model/finding.h"
#include "stack/rules/finding_severities.h"
#include "stack/rules/validate.h"
#include "text/yaml.h"

void verdict_add(struct arena *arena, struct problems *found,
                 const struct rule_severities *severities, struct verdict *verdict)
{
    if (!found->list.count)
        return;
    findings_set_severities(found, severities);
    for (uint32_t i = 0; i < found->list.count; i++)
        problems_add(&verdict->problems, found->list.items[i]);
    problems_sort(&verdict->problems);
    verdict_word(arena, verdict);
}

/* A stored object has the status that is true: only its own path writes it, and what a client sends
 * along is dropped. */
static const struct stack *read_stack(struct arena *arena, struct json object, struct json stored,
                                      struct problems *problems, struct str *ret_patch)
{
    struct stack *stack = stack_decode(arena, object, problems);

    if (json_is(stored, JSON_OBJECT)) {
        stack->status_json = json_get(stored, STR("status"));
        stack->spec_is_stored = json_equal(stack->spec_json, json_get(stored, STR("spec")));
    }
    return stack_default(arena, stack, ret_patch);
}

/* --- within bounds --- */

struct finding_all {
    const struct stack *stack;
    const struct facts *facts;
    struct problems *problems;
    const struct resolved_targets *chosen;
};

static void find_all(void *context)
{
    struct finding_all *all = context;

    all->chosen = stack_find(all->stack, all->facts, all->problems);
}

static void reject_too_much(struct arena *arena, struct finding_all *all)
{
    static const struct facts nothing;
    struct findings findings = findings_new(all->problems);
    struct path at = path_field(NULL, str_of(arena_worked_for(arena)));

    all->chosen = resolved_targets_of(arena, all->stack, &nothing);
    if (all->facts->stored)
        return; /* the rules were all asked, and the policies when it was stored */
    finding_add(&findings, RULE_SHAPE_WORK, CAUSE_TOO_MANY, &at, STR(""),
                "comparing it with the clusters takes more than %d steps", LIMIT_REVIEW_WORK);
}

struct verdict stack_admit(struct arena *arena, struct json object, struct json old_object,
                           const struct facts *facts, const struct rule_severities *severities)
{
    struct verdict verdict = { .problems = problems_new(arena), .patch = STR("") };
    struct problems old_problems = problems_new(arena);
    const struct stack *old = NULL;
    struct finding_all all = { .facts = facts, .problems = &verdict.problems };

    verdict.stack = read_stack(arena, object, old_object, &verdict.problems, &verdict.patch);
    all.stack = verdict.stack;
    if (!arena_run_within(arena, LIMIT_REVIEW_WORK, find_all, &all))
        reject_too_much(arena, &all);
    verdict.chosen = all.chosen;
    /* The old object is looked at only when there is something that it could excuse. */
    if (verdict.problems.list.count && json_is(old_object, JSON_OBJECT)) {
        all = (struct finding_all){ read_stack(arena, old_object, old_object, &old_problems, NULL),
                                    facts, &old_problems, NULL };
        /* What was not found excuses nothing. */
        (void)arena_run_within(arena, LIMIT_REVIEW_WORK, find_all, &all);
        old = all.stack;
    }
    findings_apply_severities(verdict.stack, old, &old_problems, severities, &verdict.problems);
    verdict_word(arena, &verdict);
    return verdict;
}

/* --- what is no JSON that json_read takes --- */

/* As the author knows it: without what stands around the object in the review. */
static struct str author_field(struct arena *arena, const struct error *why)
{
    struct str around = STR("request.object.");
    struct str field = str_dup(arena, str_of(why->field));

    if (!field.len)
        return STR("request");
    return str_starts(field, around) ? str_slice(field, around.len, field.len) : field;
}

static const struct str smaller = STR_INIT("make it flatter or smaller; large values can be in a "
                                           "ConfigMap that values.configMapRefs names");

static struct str undecodable_remedy(enum error_code code)
{
    return code == ERROR_TOO_LARGE ? smaller : STR("");
}

struct verdict stack_undecodable(struct arena *arena, const struct error *why)
{
    struct verdict verdict = { .problems = problems_new(arena), .patch = STR("") };
    struct findings findings = findings_new(&verdict.problems);
    struct path at = path_field(NULL, author_field(arena, why));
    struct yaml_position in_one_line;
    struct str what;

    if (!yaml_error_place(why, &in_one_line, &what))
        what = str_of(why->text);
    finding_add(&findings, RULE_SHAPE_UNDECODABLE, CAUSE_VALUE_INVALID, &at,
                undecodable_remedy(why->code), "cannot be decoded: %.*s", STR_ARG(what));
    verdict_word(arena, &verdict);
    return verdict;
}

struct verdict stack_too_large(struct arena *arena)
{
    struct verdict verdict = { .problems = problems_new(arena), .patch = STR("") };
    struct findings findings = findings_new(&verdict.problems);
    struct path at = path_field(NULL, STR("spec"));

    finding_add(&findings, RULE_SHAPE_WORK, CAUSE_TOO_LONG, &at, smaller,
                "validating it needs more memory than one review may have");
    verdict_word(arena, &verdict);
    return verdict;
}
