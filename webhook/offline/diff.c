/* diff.c: findings are compared as sets of lines; of one object they stand together. */
#include "webhook/offline/diff.h"

#include "base/map.h"
#include "webhook/offline/output.h"

const char *diff_change_name(enum diff_change change)
{
    static const char *const names[DIFF_COUNT] = {
        [DIFF_NONE] = "unchanged",
        [DIFF_REFUSED] = "newly refused",
        [DIFF_PASSES] = "newly passes",
        [DIFF_TOLD] = "told otherwise",
    };

    return names[change];
}

/* A report, and the findings of the object at hand: [first, next). */
struct side {
    const struct report *report;
    uint32_t first, next;
};

/* Objects are asked for in their order, and their findings stand in it; one may have none, and
 * between them stand those of no object. */
static void go_to(struct side *side, uint32_t object)
{
    const struct report_finding *items = side->report->findings.items;
    uint32_t count = side->report->findings.count;

    while (side->next < count &&
           (items[side->next].object == REPORT_NO_OBJECT || items[side->next].object < object))
        side->next++;
    side->first = side->next;
    while (side->next < count && items[side->next].object == object)
        side->next++;
}

static struct str line_of(const struct side *side, uint32_t finding, struct arena *arena)
{
    const struct problem *problem = &side->report->findings.items[finding].problem;

    return str_fmt(arena, "%s %.*s %.*s", severity_name(problem->severity),
                   STR_ARG(problem->rule), STR_ARG(output_sentence(problem, arena)));
}

/* The findings of `a` that `b` has not. */
static struct u32_list only_in(const struct side *a, const struct side *b, struct arena *arena,
                               struct arena *scratch)
{
    struct map *lines = map_new(scratch, b->next - b->first);
    struct u32_list only = u32_list_new(arena, 0);

    for (uint32_t i = b->first; i < b->next; i++)
        map_put(lines, line_of(b, i, scratch), lines);
    for (uint32_t i = a->first; i < a->next; i++)
        if (!map_get(lines, line_of(a, i, scratch)))
            u32_list_push(&only, i);
    return only;
}

static enum diff_change change_of(bool before, bool after, const struct diff_stack *stack)
{
    if (before != after)
        return after ? DIFF_PASSES : DIFF_REFUSED;
    return stack->added.count || stack->gone.count ? DIFF_TOLD : DIFF_NONE;
}

static void compare(struct diff *diff, struct side *before, struct side *after, uint32_t object,
                    struct arena *scratch)
{
    struct arena *arena = diff->stacks.arena;
    struct diff_stack stack = { .object = object };

    go_to(before, object);
    go_to(after, object);
    stack.added = only_in(after, before, arena, scratch);
    stack.gone = only_in(before, after, arena, scratch);
    for (uint32_t i = 0; i < stack.added.count; i++)
        stack.warned |= diff->after->findings.items[stack.added.items[i]].problem.severity ==
                        SEVERITY_WARN;
    stack.change = change_of(before->report->objects.items[object].allowed,
                             after->report->objects.items[object].allowed, &stack);
    diff->count_of[stack.change]++;
    diff->warned += stack.warned;
    if (stack.change != DIFF_NONE)
        diff_stacks_push(&diff->stacks, stack);
    arena_reset(scratch);
}

struct diff diff_reports(struct arena *arena, const struct report *before,
                         const struct report *after)
{
    AUTO(arena_free) struct arena *scratch = arena_create(0);
    struct diff diff = { .before = before, .after = after, .stacks = diff_stacks_new(arena, 0) };
    struct side old_side = { .report = before };
    struct side new_side = { .report = after };

    for (uint32_t i = 0; i < after->objects.count; i++)
        if (after->objects.items[i].kind == OBJECT_STACK)
            compare(&diff, &old_side, &new_side, i, scratch);
    return diff;
}
