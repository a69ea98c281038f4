/* validate.c: all areas in turn, and what an update may keep.
 *
 * A stricter Herd must not lock a Stack that runs. So on an update the stored Stack is judged too,
 * and what was wrong with it already only warns: a finding of one rule, in one words, about the
 * same field with the same value. Each old finding excuses one new one. If the spec did not
 * change at all, nothing of it is refused: such an update only touches metadata. */
#include "stack/validate_areas.h"

#include "base/map.h"
#include "stack/settle.h"
#include "text/json_place.h"

void stack_find(const struct stack *stack, const struct facts *facts, struct problems *problems)
{
    struct findings findings = findings_new(problems);

    validate_shape(stack, facts, &findings);

    struct graph *graph = validate_graph(stack, &findings);

    validate_stacks(stack, facts, &findings);
    validate_targets(stack, facts, &findings);
    validate_gpu(stack, graph, &findings);
}

/* --- severities --- */

static enum severity severity_of(const struct problem *problem,
                                 const struct rule_severities *severities)
{
    enum rule_id id;

    return rule_from(problem->rule, &id) ? severities->of[id] : problem->severity;
}

/* Rules that are off go, the others get their severity. */
static void apply_severities(struct problems *problems, const struct rule_severities *severities)
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

/* The value at a field of a spec; absent where there is none. */
static struct json value_at(struct json spec, struct str field)
{
    struct json none = { NULL, 0 };
    size_t head = strlen("spec");
    struct json_place place;

    if (!str_starts(field, STR("spec")))
        return none;
    place = json_place_of(spec, str_slice(field, head, field.len));
    return place.whole ? place.value : none;
}

/* The field with charts by name in place of number, so that one that moved is still itself. */
static struct str stable_field(const struct stack *stack, struct str field, struct arena *arena)
{
    struct str head = STR("spec.charts[");
    ptrdiff_t close = str_find_char(field, ']', 0);
    uint64_t index;

    if (!str_starts(field, head) || close < 0 ||
        !str_to_u64(str_slice(field, head.len, (size_t)close), &index) ||
        index >= stack->spec.charts.count)
        return field;

    struct str name = stack->spec.charts.items[index].name;
    struct str rest = str_slice(field, (size_t)close, field.len);

    return str_fmt(arena, "spec.charts[%.*s%.*s", STR_ARG(name), STR_ARG(rest));
}

static struct str identity(const struct stack *stack, const struct problem *problem,
                           struct arena *arena)
{
    struct str field = stable_field(stack, problem->field, arena);

    return str_fmt(arena, "%.*s\n%.*s\n%.*s", STR_ARG(problem->rule), STR_ARG(field),
                   STR_ARG(problem->message));
}

/* Old findings of one identity, newest first. */
struct old_finding {
    const struct problem *problem;
    struct old_finding *next;
};

static struct map *index_old(const struct stack *old, const struct problems *problems,
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

static bool is_excused(const struct stack *stack, const struct problem *problem,
                       const struct stack *old, struct map *index, struct arena *arena)
{
    struct str key = identity(stack, problem, arena);
    struct old_finding *before = map_get(index, key);

    if (!before || !json_equal(value_at(stack->spec_json, problem->field),
                               value_at(old->spec_json, before->problem->field)))
        return false;
    map_put(index, key, before->next);
    return true;
}

static void excuse(const struct stack *stack, const struct stack *old,
                   const struct problems *old_problems, struct problems *problems)
{
    bool untouched = json_equal(stack->spec_json, old->spec_json);
    struct map *index = untouched ? NULL : index_old(old, old_problems, problems->arena);

    for (uint32_t i = 0; i < problems->list.count; i++) {
        struct problem *problem = &problems->list.items[i];

        if (problem->severity != SEVERITY_DENY || !str_starts(problem->field, STR("spec")))
            continue;
        if (untouched || is_excused(stack, problem, old, index, problems->arena)) {
            problem->severity = SEVERITY_WARN;
            problems->denied--;
        }
    }
}

void findings_settle(const struct stack *stack, const struct stack *old,
                     const struct problems *old_problems,
                     const struct rule_severities *severities, struct problems *problems)
{
    if (problems->list.count == 0)
        return;
    apply_severities(problems, severities);
    if (old && problems->denied)
        excuse(stack, old, old_problems, problems);
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
    findings_settle(stack, old, &old_found, severities, &found);
    for (uint32_t i = 0; i < found.list.count; i++)
        problems_add(problems, found.list.items[i]);
    problems_sort(problems);
}
