/* SPDX-License-Identifier: Apache-2.0 */
/* output_junit.c: JUnit's XML as CI systems read it: a suite for each file, a case for each Stack
 * and for each document that could not be read. Findings that fail are the case's failure; warnings
 * are its output. The attributes are those that Jenkins' schema of JUnit (junit-10.xsd) has: the
 * class of a case is its file, and each line of a failure begins with the place. */
#include "webhook/offline/output.h"
#include "webhook/offline/xml.h"

struct junit {
    const struct report *report;
    const struct output_style *style;
    struct arena *arena;
    uint32_t finding; /* the next that is told */
    uint32_t object;
    uint32_t cases; /* of all files */
    uint32_t failures;
};

struct junit_case {
    uint32_t file;
    struct place at;
    struct str name;
    bool fails;
    const struct problem *first; /* that makes it fail; NULL: it is not listed */
    struct strbuf failures;      /* lines */
    struct strbuf warnings;
};

static void add_line(struct junit *j, struct junit_case *c, const struct report_finding *finding)
{
    const struct problem *problem = &finding->problem;
    bool failing = problem->severity >= j->style->fails;
    struct strbuf *lines = failing ? &c->failures : &c->warnings;

    if (!output_shows(j->style, problem))
        return;
    if (failing && !c->first)
        c->first = problem;
    strbuf_fmt(lines, "%.*s:%u:%u: %s: %.*s [%.*s]\n",
               STR_ARG(output_name(j->report->files.items[finding->file].name, j->style, j->arena)),
               finding->at.line, finding->at.column, output_level(problem->severity),
               STR_ARG(output_sentence(problem, j->arena)), STR_ARG(problem->rule));
}

static void put_element(struct strbuf *out, const char *name, const struct strbuf *text)
{
    strbuf_fmt(out, "      <%s>", name);
    xml_put(out, str_make(text->at, text->len));
    strbuf_fmt(out, "</%s>\n", name);
}

static void put_failure(struct junit *j, const struct junit_case *c, struct strbuf *out)
{
    strbuf_lit(out, "      <failure");
    xml_attribute(out, "message",
                  c->first ? output_sentence(c->first, j->arena)
                           : STR("there are too many findings to list its own"));
    xml_attribute(out, "type", c->first ? c->first->rule : STR("omitted"));
    strbuf_char(out, '>');
    xml_put(out, str_make(c->failures.at, c->failures.len));
    strbuf_lit(out, "</failure>\n");
}

static void put_case(struct junit *j, const struct junit_case *c, struct strbuf *out)
{
    struct str file = output_name(j->report->files.items[c->file].name, j->style, j->arena);

    strbuf_lit(out, "    <testcase");
    xml_attribute(out, "classname", file);
    xml_attribute(out, "name", c->name);
    if (!c->fails && !c->warnings.len) {
        strbuf_lit(out, "/>\n");
        return;
    }
    strbuf_lit(out, ">\n");
    if (c->fails)
        put_failure(j, c, out);
    if (c->warnings.len)
        put_element(out, "system-out", &c->warnings);
    strbuf_lit(out, "    </testcase>\n");
}

/* The case of what comes next of `file`: a document that could not be read, or a Stack. */
static bool next_case(struct junit *j, uint32_t file, struct junit_case *ret_case)
{
    const struct report_findings *findings = &j->report->findings;
    const struct report_finding *finding =
        j->finding < findings->count ? &findings->items[j->finding] : NULL;
    const struct report_object *object =
        j->object < j->report->objects.count ? &j->report->objects.items[j->object] : NULL;
    struct junit_case c = { .file = file,
                            .failures = { .arena = j->arena },
                            .warnings = { .arena = j->arena } };

    if (object && object->file != file)
        object = NULL;
    if (finding && finding->file == file && finding->object == REPORT_NO_OBJECT &&
        (!object || finding->at.line < object->at.line)) {
        c.at = finding->at;
        c.name = str_fmt(j->arena, "line %u", finding->at.line);
        c.fails = true;
        add_line(j, &c, finding);
        j->finding++;
    } else if (object) {
        c.at = object->at;
        c.name = output_object(object, j->arena);
        c.fails = object->denied || (object->warned && j->style->fails <= SEVERITY_WARN);
        for (; j->finding < findings->count && findings->items[j->finding].object == j->object;
             j->finding++)
            add_line(j, &c, &findings->items[j->finding]);
        j->object++;
    } else {
        return false;
    }
    *ret_case = c;
    return true;
}

static void put_unreadable(struct junit *j, uint32_t file, struct strbuf *out)
{
    struct str name = output_name(j->report->files.items[file].name, j->style, j->arena);

    strbuf_lit(out, "    <testcase");
    xml_attribute(out, "classname", name);
    xml_attribute(out, "name", STR("is read"));
    strbuf_lit(out, ">\n      <error");
    xml_attribute(out, "message", j->report->files.items[file].failure);
    strbuf_lit(out, "/>\n    </testcase>\n");
}

static void put_counts(struct strbuf *out, struct arena *arena, uint32_t cases, uint32_t failures,
                       uint32_t errors)
{
    xml_attribute(out, "tests", str_fmt(arena, "%u", cases));
    xml_attribute(out, "failures", str_fmt(arena, "%u", failures));
    xml_attribute(out, "errors", str_fmt(arena, "%u", errors));
}

static void put_suite(struct junit *j, uint32_t file, struct strbuf *out)
{
    struct strbuf inner = strbuf_new(j->arena, 1024);
    bool unreadable = j->report->files.items[file].failure.len > 0;
    uint32_t cases = 0;
    uint32_t failures = 0;
    struct junit_case c;

    if (unreadable)
        put_unreadable(j, file, &inner);
    for (; next_case(j, file, &c); cases++) {
        failures += c.fails;
        put_case(j, &c, &inner);
    }
    cases += unreadable;
    j->cases += cases;
    j->failures += failures;
    if (!cases)
        return; /* nothing but objects of other kinds */
    strbuf_lit(out, "  <testsuite");
    xml_attribute(out, "name", output_name(j->report->files.items[file].name, j->style, j->arena));
    put_counts(out, j->arena, cases, failures, unreadable);
    strbuf_lit(out, ">\n");
    strbuf_put(out, strbuf_str(&inner));
    strbuf_lit(out, "  </testsuite>\n");
}

void output_junit(const struct report *report, const struct output_style *style, struct strbuf *out)
{
    struct junit j = { .report = report, .style = style, .arena = out->arena };
    struct strbuf suites = strbuf_new(out->arena, 4096);

    for (uint32_t i = 0; i < report->files.count; i++)
        put_suite(&j, i, &suites);
    strbuf_lit(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites");
    xml_attribute(out, "name", STR("herd-webhook review"));
    put_counts(out, out->arena, j.cases, j.failures, report->unreadable);
    strbuf_lit(out, ">\n");
    strbuf_put(out, strbuf_str(&suites));
    strbuf_lit(out, "</testsuites>\n");
}
