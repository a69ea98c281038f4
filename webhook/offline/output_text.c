/* SPDX-License-Identifier: Apache-2.0 */
/* output_text.c: as compilers tell it, so that editors and CI find the place:
 *
 *     FILE:LINE:COLUMN: error: FIELD: MESSAGE [RULE]
 *         WAY OUT
 *
 * Everything that somebody else wrote is escaped. */
#include "webhook/offline/ink.h"
#include "webhook/offline/output.h"

enum { SHOWN_MAX = 4096 };

struct text {
    const struct report *report;
    const struct output_style *style;
    struct strbuf *out;
};

static void put_shown(struct text *t, struct str foreign)
{
    strbuf_put(t->out, str_shown(t->out->arena, foreign, SHOWN_MAX));
}

static void put_ink(struct text *t, enum ink ink, struct str words)
{
    ink_put(t->out, t->style->colour, ink, str_shown(t->out->arena, words, SHOWN_MAX));
}

static enum ink ink_of(enum severity severity)
{
    if (severity == SEVERITY_DENY)
        return INK_ERROR;
    return severity == SEVERITY_WARN ? INK_WARNING : INK_NOTE;
}

static void put_place(struct text *t, uint32_t file, struct place at)
{
    struct arena *arena = t->out->arena;
    struct str name = output_name(t->report->files.items[file].name, t->style, arena);

    put_ink(t, INK_PLACE, str_fmt(arena, "%.*s:%u:%u:", STR_ARG(name), at.line, at.column));
    strbuf_char(t->out, ' ');
}

static void put_finding(struct text *t, const struct report_finding *finding)
{
    const struct problem *problem = &finding->problem;

    put_place(t, finding->file, finding->at);
    put_ink(t, ink_of(problem->severity), str_of(output_level(problem->severity)));
    strbuf_lit(t->out, ": ");
    if (problem->field.len) {
        put_shown(t, problem->field);
        strbuf_lit(t->out, ": ");
    }
    put_shown(t, problem->message);
    strbuf_char(t->out, ' ');
    put_ink(t, INK_RULE, str_fmt(t->out->arena, "[%.*s]", STR_ARG(problem->rule)));
    strbuf_char(t->out, '\n');
    if (problem->remedy.len) {
        strbuf_lit(t->out, "    ");
        put_shown(t, problem->remedy);
        strbuf_char(t->out, '\n');
    }
}

static void put_passing(struct text *t, const struct report_object *object)
{
    put_place(t, object->file, object->at);
    put_ink(t, INK_GOOD, STR("passes"));
    strbuf_lit(t->out, ": ");
    put_shown(t, output_object(object, t->out->arena));
    strbuf_char(t->out, '\n');
}

static void put_other(struct text *t, const struct other_object *other)
{
    put_place(t, other->file, other->at);
    put_ink(t, INK_NOTE, STR("passed over"));
    strbuf_lit(t->out, ": ");
    put_shown(t, other->kind.len ? other->kind : STR("an object without a kind"));
    if (other->name.len) {
        strbuf_char(t->out, ' ');
        put_shown(t, other->name);
    }
    if (other->api_version.len) {
        strbuf_lit(t->out, " of ");
        put_shown(t, other->api_version);
    }
    strbuf_char(t->out, '\n');
}

static void put_count(struct text *t, uint32_t count, const char *one, const char *more)
{
    strbuf_fmt(t->out, "%u %s", count, count == 1 ? one : more);
}

/* "12 files, 9 Stacks, 1 workload: 3 errors, 1 warning; 4 objects of other kinds were passed
 * over" */
static void put_counts(struct text *t)
{
    const struct report *report = t->report;

    put_count(t, report->files.count - report->unreadable, "file", "files");
    strbuf_lit(t->out, ", ");
    put_count(t, report->count_of[OBJECT_STACK], "Stack", "Stacks");
    if (report->count_of[OBJECT_POLICY]) {
        strbuf_lit(t->out, ", ");
        put_count(t, report->count_of[OBJECT_POLICY], "StackPolicy", "StackPolicies");
    }
    if (report->workloads) {
        strbuf_lit(t->out, ", ");
        put_count(t, report->workloads, "workload", "workloads");
    }
    strbuf_lit(t->out, ": ");
    put_count(t, report->denied, "error", "errors");
    strbuf_lit(t->out, ", ");
    put_count(t, report->warned, "warning", "warnings");
    if (report->audited) {
        strbuf_lit(t->out, ", ");
        put_count(t, report->audited, "note", "notes");
    }
    if (report->others.count) {
        strbuf_lit(t->out, "; ");
        put_count(t, report->others.count, "object of another kind was passed over",
                  "objects of other kinds were passed over");
    }
    if (report->unreadable) {
        strbuf_lit(t->out, "; ");
        put_count(t, report->unreadable, "input could not be read", "inputs could not be read");
    }
    strbuf_char(t->out, '\n');
}

void output_text(const struct report *report, const struct output_style *style, struct strbuf *out)
{
    struct text t = { report, style, out };

    for (uint32_t i = 0; i < report->findings.count; i++)
        if (output_shows(style, &report->findings.items[i].problem))
            put_finding(&t, &report->findings.items[i]);
    if (report->omitted)
        strbuf_fmt(out, "and %u more findings\n", report->omitted);
    for (uint32_t i = 0; style->verbose && i < report->objects.count; i++)
        if (report->objects.items[i].denied + report->objects.items[i].warned == 0)
            put_passing(&t, &report->objects.items[i]);
    for (uint32_t i = 0; style->verbose && i < report->others.count; i++)
        put_other(&t, &report->others.items[i]);
    if (style->counts)
        put_counts(&t);
}
