/* judge.c: the whole judgement on an admission, and its words. */
#include "kube/admission.h"
#include "stack/decode.h"
#include "stack/default.h"
#include "stack/settle.h"

/* What a refusal spells out; the rest is counted. kubectl prints it all on one screen. */
enum { MESSAGE_FINDINGS_MAX = 40 };
enum { WARNED_MESSAGE_BYTES_MIN = 64 };

/* "field: message; way out" */
static void put_finding(struct strbuf *out, const struct problem *problem)
{
    strbuf_put(out, problem->field);
    strbuf_lit(out, ": ");
    strbuf_put(out, problem->message);
    if (problem->way_out.len) {
        strbuf_lit(out, "; ");
        strbuf_put(out, problem->way_out);
    }
}

/* One fault stands on one line; several are counted and listed. */
static struct str refusal(struct arena *arena, const struct problems *problems)
{
    struct strbuf out = strbuf_new(arena, 512);
    uint32_t told = 0;

    if (problems->denied > 1)
        strbuf_fmt(&out, "%u faults:", problems->denied);
    for (uint32_t i = 0; i < problems->list.count && told < MESSAGE_FINDINGS_MAX; i++) {
        if (problems->list.items[i].severity != SEVERITY_DENY)
            continue;
        if (problems->denied > 1)
            strbuf_lit(&out, "\n- ");
        put_finding(&out, &problems->list.items[i]);
        told++;
    }
    if (told < problems->denied)
        strbuf_fmt(&out, "\n- and %u more", problems->denied - told);
    return strbuf_str(&out);
}

/* Of a line that is too long the message is cut, which may list many clusters, so that the way out
 * behind it stays. */
static struct str warning(struct arena *arena, const struct problem *problem)
{
    size_t around = problem->field.len + problem->way_out.len + 4;
    size_t room = WARNED_MESSAGE_BYTES_MIN;
    struct problem fitting = *problem;
    struct strbuf line = { .arena = arena };

    if (around + room <= ADMISSION_WARNING_BYTES)
        room = ADMISSION_WARNING_BYTES - around;
    if (fitting.message.len > room)
        fitting.message = str_shown(arena, problem->message, room - 3);
    put_finding(&line, &fitting);
    return strbuf_str(&line);
}

static struct str_list warnings(struct arena *arena, const struct problems *problems)
{
    struct str_list lines = str_list_new(arena, 0);

    for (uint32_t i = 0; i < problems->list.count; i++) {
        if (problems->list.items[i].severity == SEVERITY_WARN)
            str_list_push(&lines, warning(arena, &problems->list.items[i]));
    }
    return lines;
}

void verdict_word(struct arena *arena, struct verdict *verdict)
{
    verdict->allowed = verdict->problems.denied == 0;
    verdict->warnings = warnings(arena, &verdict->problems);
    verdict->message = verdict->allowed ? STR("") : refusal(arena, &verdict->problems);
    if (!verdict->allowed)
        verdict->patch = STR("");
}

void verdict_add(struct arena *arena, struct problems *found,
                 const struct rule_severities *severities, struct verdict *verdict)
{
    if (!found->list.count)
        return;
    findings_weigh(found, severities);
    for (uint32_t i = 0; i < found->list.count; i++)
        problems_add(&verdict->problems, found->list.items[i]);
    problems_sort(&verdict->problems);
    verdict_word(arena, verdict);
}

static const struct stack *read_stack(struct arena *arena, struct json object,
                                      struct problems *problems, struct str *ret_patch)
{
    return stack_default(arena, stack_decode(arena, object, problems), ret_patch);
}

struct verdict stack_judge(struct arena *arena, struct json object, struct json old_object,
                           const struct facts *facts, const struct rule_severities *severities)
{
    struct verdict verdict = { .problems = problems_new(arena), .patch = STR("") };
    struct problems old_problems = problems_new(arena);
    const struct stack *old = NULL;

    verdict.stack = read_stack(arena, object, &verdict.problems, &verdict.patch);
    verdict.chosen = stack_find(verdict.stack, facts, &verdict.problems);
    /* The old object is looked at only when there is something that it could excuse. */
    if (verdict.problems.list.count && json_is(old_object, JSON_OBJECT)) {
        old = read_stack(arena, old_object, &old_problems, NULL);
        stack_find(old, facts, &old_problems);
    }
    findings_settle(verdict.stack, old, &old_problems, severities, &verdict.problems);
    verdict_word(arena, &verdict);
    return verdict;
}
