/* SPDX-License-Identifier: Apache-2.0 */
/* validate.c: all areas in turn, and what an update may keep.
 *
 * A stricter Herd must not lock a Stack that runs. So on an update the stored Stack is validated
 * too, and what was wrong with it already only warns: a finding of one rule, in one words, about
 * the same field with the same value, or the same sum of all that stands there. Each old finding
 * excuses one new one. If neither spec nor labels changed, nothing of the spec is rejected: such an
 * update only touches other metadata. */
#include "stack/rules/validate.h"

#include "base/map.h"
#include "stack/model/fields_canonical.h"
#include "stack/policy/policy_set.h"
#include "stack/rules/finding_severities.h"
#include "stack/model/spec_change.h"
#include "stack/rules/validate_areas.h"
#include "text/json_place.h"

const struct resolved_targets *stack_find(const struct stack *stack, const struct facts *facts,
                                          struct problems *problems)
{
    struct findings findings = findings_new(problems);
    const struct facts *given = facts;
    struct facts seen = *facts;
    struct resolved_targets *chosen;
    bool fits = validate_selector_sizes(stack, &findings);

    seen.clusters_known = fits && given->clusters_known && !given->stored;
    if (!fits)
        seen.stacks.claimants = NULL;
    facts = &seen;
    arena_work_for(problems->arena, "spec.targets.selector");
    chosen = resolved_targets_of(problems->arena, stack, facts);
    arena_work_for(problems->arena, "spec");
    validate_metadata(&stack->meta, &findings);
    validate_annotations(stack, facts, &findings);
    validate_shape(stack, facts, &findings);

    struct graph *graph = validate_graph(stack, &findings);

    validate_stacks(stack, facts, &findings);
    validate_targets(stack, facts, chosen, &findings);
    arena_work_for(problems->arena, "spec.overrides");
    validate_labels_used(stack, chosen, &findings);
    validate_overlap(stack, facts, chosen, &findings);
    validate_gpu(stack, graph, facts, chosen, &findings);
    if (facts->policies && fits && given->stored)
        chosen = resolved_targets_of(problems->arena, stack, given);
    if (facts->policies)
        policy_set_evaluate(facts->policies, stack, chosen, problems);
    return chosen;
}

/* --- severities --- */

static enum severity severity_of(const struct problem *problem,
                                 const struct rule_severities *severities)
{
    enum rule_id id;

    return rule_from(problem->rule, &id) ? severities->of[id] : problem->severity;
}

void findings_set_severities(struct problems *problems, const struct rule_severities *severities)
{
    uint32_t kept = 0;

    problems->denied = 0;
    for (uint32_t i = 0; i < problems->list.count; i++) {
        struct problem problem = problems->list.items[i];

        problem.severity = severity_of(&problem, severities);
        if (problem.severity == SEVERITY_OFF)
            continue;
        problems->denied += problem.severity == SEVERITY_DENY;
        problems->list.items[kept++] = problem;
    }
    problems->list.count = kept;
}

/* --- what was wrong before --- */

/* The part of an object that a rendered field path begins with: what an author writes and an update
 * may keep. False: it is about something else. */
static bool root_of(const struct finding_subject *subject, struct str field, struct json *ret_root,
                    size_t *ret_len)
{
    const struct {
        struct str name;
        struct json root;
    } roots[] = {
        { STR_INIT("spec"), subject->spec.json },
        { STR_INIT("metadata.name"), { NULL, 0 } }, /* nor does the namespace ever change */
        { STR_INIT("metadata.labels"), subject->meta->labels },
        { STR_INIT("metadata.annotations"), subject->meta->annotations },
    };

    for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
        if (!str_starts(field, roots[i].name))
            continue;
        *ret_root = roots[i].root;
        *ret_len = roots[i].name.len;
        return true;
    }
    return false;
}

/* The value at a rendered field path; absent where there is none. */
static struct json value_at(const struct finding_subject *subject, struct str field)
{
    struct json none = { NULL, 0 };
    struct json root = none;
    struct json_place place;
    size_t head = 0;

    if (!root_of(subject, field, &root, &head))
        return none;
    place = json_place_of(root, str_slice(field, head, field.len));
    return place.whole ? place.value : none;
}

/* The field with charts by name in place of number, so that one that moved is still itself. */
static struct str stable_field(const struct charts *charts, struct str field, struct arena *arena)
{
    struct str head = STR("spec.charts[");
    ptrdiff_t close = str_find_char(field, ']', 0);
    uint64_t index;

    if (!charts || !str_starts(field, head) || close < 0 ||
        !str_to_u64(str_slice(field, head.len, (size_t)close), &index) || index >= charts->count)
        return field;

    struct str name = charts->items[index].name;
    struct str rest = str_slice(field, (size_t)close, field.len);

    return str_fmt(arena, "spec.charts[%.*s%.*s", STR_ARG(name), STR_ARG(rest));
}

static struct str identity(const struct finding_subject *subject, const struct problem *problem,
                           struct arena *arena)
{
    struct str field = stable_field(subject->charts, problem->field, arena);

    return str_fmt(arena, "%.*s\n%.*s\n%.*s", STR_ARG(problem->rule), STR_ARG(field),
                   STR_ARG(problem->message));
}

/* Old findings of one identity, newest first. */
struct old_finding {
    const struct problem *problem;
    struct old_finding *next;
};

static struct map *index_old(const struct finding_subject *old, const struct problems *problems,
                             struct arena *arena)
{
    struct map *index = map_new(arena, problems->list.count);

    for (uint32_t i = 0; i < problems->list.count; i++) {
        const struct problem *problem = &problems->list.items[i];
        struct str key = identity(old, problem, arena);
        struct old_finding *entry = arena_new(arena, struct old_finding);

        *entry = (struct old_finding){ problem, map_get(index, key) };
        map_put(index, key, entry);
    }
    return index;
}

/* The object, and the object with its spec in canonical form: there a default that is written out
 * is one that is not. */
struct side {
    const struct finding_subject *subject;
    struct finding_subject canonical;
};

static struct side side_of(struct arena *arena, const struct finding_subject *subject)
{
    struct strbuf text = strbuf_new(arena, 4096);
    struct side side = { .subject = subject, .canonical = *subject };
    struct error ignored;

    side.canonical.spec.json = (struct json){ NULL, 0 };
    fields_canonical(subject->spec.table, subject->spec.spec, &text);
    (void)json_read(arena, strbuf_str(&text), &json_limits_default, &side.canonical.spec.json,
                    &ignored); /* too large: only what is written alike is the same */
    return side;
}

/* Two values that are written alike, or not and mean the same: one of them is left to its default,
 * or both are objects or lists that differ in such. */
static bool same_value(const struct side *now, struct str field, const struct side *old,
                       struct str old_field)
{
    struct json a = value_at(now->subject, field), b = value_at(old->subject, old_field);
    struct json x = value_at(&now->canonical, field), y = value_at(&old->canonical, old_field);
    bool one_is_absent = json_is(a, JSON_ABSENT) != json_is(b, JSON_ABSENT);
    bool have_members = json_count(a) && json_count(b) && !json_is(x, JSON_ABSENT);

    return json_equal(a, b) || ((one_is_absent || have_members) && json_equal(x, y));
}

/* What stands there is as it was, as far as the finding is about it. */
static bool is_as_before(const struct side *now, const struct problem *problem,
                         const struct side *old, const struct problem *before)
{
    return problem->sum.len ? str_eq(problem->sum, before->sum)
                            : same_value(now, problem->field, old, before->field);
}

static bool is_excused(const struct side *now, const struct problem *problem,
                       const struct side *old, struct map *index, struct arena *arena)
{
    struct str key = identity(now->subject, problem, arena);
    struct old_finding *before = map_get(index, key);

    if (!before || !is_as_before(now, problem, old, before->problem))
        return false;
    map_put(index, key, before->next);
    return true;
}

/* Whether an update may keep what stood there. */
static bool is_kept(const struct finding_subject *subject, struct str field)
{
    struct json root;
    size_t len;

    return root_of(subject, field, &root, &len);
}

struct finding_subject finding_subject_of(const struct stack *stack)
{
    return (struct finding_subject){ &stack->meta, spec_form_of(stack), &stack->spec.charts };
}

void findings_excuse(const struct finding_subject *subject, const struct finding_subject *old,
                     const struct problems *old_problems, struct problems *problems)
{
    bool untouched = !spec_form_changed(problems->arena, &subject->spec, &old->spec) &&
                     json_equal(subject->meta->labels, old->meta->labels);
    struct map *index = index_old(old, old_problems, problems->arena);
    struct side now = side_of(problems->arena, subject), then = side_of(problems->arena, old);

    for (uint32_t i = 0; i < problems->list.count; i++) {
        struct problem *problem = &problems->list.items[i];

        if (problem->severity != SEVERITY_DENY || !is_kept(subject, problem->field))
            continue;
        if ((untouched && str_starts(problem->field, STR("spec"))) ||
            is_excused(&now, problem, &then, index, problems->arena)) {
            problem->severity = SEVERITY_WARN;
            problem->excused = true;
            problems->denied--;
        }
    }
}

void findings_apply_severities(const struct stack *stack, const struct stack *old,
                               const struct problems *old_problems,
                               const struct rule_severities *severities, struct problems *problems)
{
    if (problems->list.count == 0)
        return;
    findings_set_severities(problems, severities);
    if (old && problems->denied) {
        struct finding_subject now = finding_subject_of(stack), then = finding_subject_of(old);

        findings_excuse(&now, &then, old_problems, problems);
    }
    problems_sort(problems);
}

void stack_validate(const struct stack *stack, const struct stack *old, const struct facts *facts,
                    const struct rule_severities *severities, struct problems *problems)
{
    struct problems found = problems_new(problems->arena);
    struct problems old_found = problems_new(problems->arena);

    stack_find(stack, facts, &found);
    if (old && found.list.count)
        stack_find(old, facts, &old_found);
    findings_apply_severities(stack, old, &old_found, severities, &found);
    for (uint32_t i = 0; i < found.list.count; i++)
        problems_add(problems, found.list.items[i]);
    problems_sort(problems);
}
