/* SPDX-License-Identifier: Apache-2.0 */
/* verdict.c: the words of a verdict. */
#include "stack/model/verdict.h"

#include "kube/admission.h"
#include "stack/model/rules.h"

/* What a rejection spells out; the rest is counted. kubectl prints it all on one screen. */
enum { MESSAGE_FINDINGS_MAX = 40 };
enum { WARNED_MESSAGE_BYTES_MIN = 64 };

/* "field: message; remedy" */
static void put_finding(struct strbuf *out, const struct problem *problem)
{
    strbuf_put(out, problem->field);
    strbuf_lit(out, ": ");
    strbuf_put(out, problem->message);
    if (problem->remedy.len) {
        strbuf_lit(out, "; ");
        strbuf_put(out, problem->remedy);
    }
}

/* One fault stands on one line; several are counted and listed. */
static struct str rejection(struct arena *arena, const struct problems *problems)
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

/* Of a line that is too long the message is cut, which may list many clusters, so that the remedy
 * behind it stays. */
static struct str warning(struct arena *arena, const struct problem *problem)
{
    size_t around = problem->field.len + problem->remedy.len + 4;
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

static bool only_warns_of_overlap(const struct problem *problem)
{
    enum rule_id id;

    return problem->severity != SEVERITY_DENY && rule_from(problem->rule, &id) &&
           str_eq(str_of(rule_of(id)->area), STR("overlap"));
}

/* A Stack that is rejected claims nothing, and whoever may not apply it need not learn who claims
 * what. */
static void drop_overlaps(struct problems *problems)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < problems->list.count; i++)
        if (!only_warns_of_overlap(&problems->list.items[i]))
            problems->list.items[kept++] = problems->list.items[i];
    problems->list.count = kept;
}

void verdict_word(struct arena *arena, struct verdict *verdict)
{
    verdict->allowed = verdict->problems.denied == 0;
    if (!verdict->allowed)
        drop_overlaps(&verdict->problems);
    verdict->warnings = warnings(arena, &verdict->problems);
    verdict->message = verdict->allowed ? STR("") : rejection(arena, &verdict->problems);
    if (!verdict->allowed)
        verdict->patch = STR("");
}
