/* SPDX-License-Identifier: Apache-2.0 */
/* finding.c: one finding, from rule and place to a row in `problems`. */
#include "stack/model/finding.h"

struct findings findings_new(struct problems *problems)
{
    return (struct findings){ .arena = problems->arena, .problems = problems };
}

bool finding_is_listed(const struct findings *findings, enum rule_id rule)
{
    return findings->of[rule] < FINDINGS_PER_RULE_MAX;
}

struct str cause_text(struct arena *arena, enum problem_cause cause, struct str detail)
{
    return str_fmt(arena, "%s%s%.*s", problem_cause_text(cause), detail.len ? ": " : "",
                   STR_ARG(detail));
}

static bool is_counted_out(struct findings *findings, enum rule_id rule)
{
    const struct rule *row = rule_of(rule);

    if (++findings->of[rule] <= FINDINGS_PER_RULE_MAX)
        return false;
    if (findings->of[rule] == FINDINGS_PER_RULE_MAX + 1)
        problems_add(findings->problems,
                     (struct problem){
                         .rule = str_of(row->name),
                         .field = STR("spec"),
                         .message = cause_text(
                             findings->arena, CAUSE_TOO_MANY,
                             str_fmt(findings->arena,
                                     "more than %d findings of %s; the others are not listed",
                                     FINDINGS_PER_RULE_MAX, row->name)),
                         .remedy = STR("fix those that are listed, then try again"),
                         .severity = row->severity,
                         .cause = CAUSE_TOO_MANY,
                     });
    return true;
}

void finding_add(struct findings *findings, enum rule_id rule, enum problem_cause cause,
                 const struct path *at, struct str remedy, const char *format, ...)
{
    const struct rule *row = rule_of(rule);
    va_list args;

    if (is_counted_out(findings, rule))
        return;
    va_start(args, format);

    struct str message =
        cause_text(findings->arena, cause, str_vfmt(findings->arena, format, args));

    va_end(args);
    problems_add(findings->problems, (struct problem){
                                         .rule = str_of(row->name),
                                         .field = path_render(at, findings->arena),
                                         .message = message,
                                         .remedy = remedy.len ? remedy : str_of(row->remedy),
                                         .severity = row->severity,
                                         .cause = cause,
                                     });
}

struct str finding_shown(const struct findings *findings, struct str foreign)
{
    return str_shown(findings->arena, foreign, 80);
}

struct str finding_did_you_mean(const struct findings *findings, struct str nearest)
{
    if (!nearest.len)
        return STR("");
    return str_fmt(findings->arena, " (did you mean \"%.*s\"?)",
                   STR_ARG(finding_shown(findings, nearest)));
}

/* A cycle of a thousand names is shown by its ends. */
enum { CYCLE_SHOWN_MAX = 24 };

struct str finding_cycle_shown(const struct findings *findings, const struct str_list *names)
{
    bool whole = names->count <= CYCLE_SHOWN_MAX;
    uint32_t head = whole ? names->count : CYCLE_SHOWN_MAX / 2;
    uint32_t tail = names->count - (whole ? 0 : CYCLE_SHOWN_MAX / 2);
    struct strbuf text = strbuf_new(findings->arena, 128);

    for (uint32_t i = 0; i < names->count; i++) {
        if (i == head && tail > head)
            strbuf_fmt(&text, "(%u more) -> ", tail - head);
        if (i >= head && i < tail)
            continue;
        strbuf_put(&text, finding_shown(findings, names->items[i]));
        strbuf_lit(&text, " -> ");
    }
    if (names->count)
        strbuf_put(&text, finding_shown(findings, names->items[0]));
    return strbuf_str(&text);
}
