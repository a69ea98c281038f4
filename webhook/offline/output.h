/* SPDX-License-Identifier: Apache-2.0 */
/* output.h: a report in one form of bytes. Pure: where they go is the caller's. */
#ifndef HERD_WEBHOOK_OFFLINE_OUTPUT_H
#define HERD_WEBHOOK_OFFLINE_OUTPUT_H

#include "webhook/offline/cases.h"
#include "webhook/offline/report.h"

struct output_style {
    struct str folder;   /* the working folder: names within it are shown relative to it */
    enum severity fails; /* the least severity that makes a review fail */
    enum severity least; /* findings below it are left out */
    bool counts;         /* text: with a last line */
    bool verbose;        /* text: Stacks that pass and objects of other kinds too */
    bool colour;         /* text: for a terminal */
};

struct output {
    const char *name; /* of --output */
    void (*write)(const struct report *report, const struct output_style *style,
                  struct strbuf *out);
    /* Of --test; NULL: tests have no such form. */
    void (*write_cases)(const struct case_report *report, const struct output_style *style,
                        struct strbuf *out);
};

/* NULL if there is none of that name. */
const struct output *output_find(struct str name);

void output_text(const struct report *report, const struct output_style *style, struct strbuf *out);
void output_json(const struct report *report, const struct output_style *style, struct strbuf *out);
void output_sarif(const struct report *report, const struct output_style *style,
                  struct strbuf *out);
void output_junit(const struct report *report, const struct output_style *style,
                  struct strbuf *out);

void cases_text(const struct case_report *report, const struct output_style *style,
                struct strbuf *out);
void cases_json(const struct case_report *report, const struct output_style *style,
                struct strbuf *out);
void cases_junit(const struct case_report *report, const struct output_style *style,
                 struct strbuf *out);

/* --- what the forms have in common --- */

/* A severity as compilers and SARIF call it: "error", "warning", "note". */
const char *output_level(enum severity severity);
/* A file's name for people and machines: relative to the working folder if it lies in it, else as
 * it was given; control characters escaped. */
struct str output_name(struct str file, const struct output_style *style, struct arena *arena);
/* "field: message; remedy", without what is empty. */
struct str output_sentence(const struct problem *problem, struct arena *arena);
/* "namespace/name", or the name of what has no namespace. */
struct str output_object(const struct report_object *object, struct arena *arena);
static inline bool output_shows(const struct output_style *style, const struct problem *problem)
{
    return problem->severity >= style->least;
}

#endif
