/* SPDX-License-Identifier: Apache-2.0 */
/* cases_output.c: what tests came to, for people, programs and CI. */
#include "text/json_write.h"
#include "webhook/offline/ink.h"
#include "webhook/offline/output.h"
#include "webhook/offline/xml.h"

enum { SHOWN_MAX = 4096 };

static struct str file_of(const struct case_report *report, const struct case_result *result,
                          const struct output_style *style, struct arena *arena)
{
    return output_name(report->files.items[result->file].name, style, arena);
}

static uint32_t unreadable_of(const struct case_report *report)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < report->files.count; i++)
        count += report->files.items[i].failure.len > 0;
    return count;
}

/* --- text --- */

static void put_result(struct strbuf *out, const struct case_report *report,
                       const struct case_result *result, const struct output_style *style)
{
    struct arena *arena = out->arena;
    bool passed = result->wrong.count == 0;

    ink_put(out, style->colour, INK_PLACE,
            str_fmt(arena, "%.*s:%u:%u:", STR_ARG(file_of(report, result, style, arena)),
                    result->at.line, result->at.column));
    strbuf_char(out, ' ');
    ink_put(out, style->colour, passed ? INK_GOOD : INK_ERROR,
            passed ? STR("passed") : STR("failed"));
    strbuf_fmt(out, ": %.*s\n", STR_ARG(str_shown(arena, result->name, SHOWN_MAX)));
    for (uint32_t i = 0; i < result->wrong.count; i++)
        strbuf_fmt(out, "    %.*s\n", STR_ARG(str_shown(arena, result->wrong.items[i], SHOWN_MAX)));
}

void cases_text(const struct case_report *report, const struct output_style *style,
                struct strbuf *out)
{
    uint32_t count = report->results.count;

    for (uint32_t i = 0; i < count; i++)
        if (style->verbose || report->results.items[i].wrong.count)
            put_result(out, report, &report->results.items[i], style);
    if (style->counts)
        strbuf_fmt(out, "%u test%s: %u passed, %u failed\n", count, count == 1 ? "" : "s",
                   count - report->failed, report->failed);
}

/* --- JSON --- */

void cases_json(const struct case_report *report, const struct output_style *style,
                struct strbuf *out)
{
    struct json_writer w = json_writer(out);

    json_open_object(&w);
    json_field_int(&w, "passed", report->results.count - report->failed);
    json_field_int(&w, "failed", report->failed);
    json_put_key(&w, STR("tests"));
    json_open_array(&w);
    for (uint32_t i = 0; i < report->results.count; i++) {
        const struct case_result *result = &report->results.items[i];

        json_open_object(&w);
        json_field_str(&w, "file", file_of(report, result, style, out->arena));
        json_field_int(&w, "line", result->at.line);
        json_field_int(&w, "column", result->at.column);
        json_field_str(&w, "suite", result->suite);
        json_field_str(&w, "name", result->name);
        json_field_bool(&w, "passed", result->wrong.count == 0);
        json_put_key(&w, STR("wrong"));
        json_open_array(&w);
        for (uint32_t k = 0; k < result->wrong.count; k++)
            json_put_str(&w, result->wrong.items[k]);
        json_close_array(&w);
        json_close_object(&w);
    }
    json_close_array(&w);
    json_close_object(&w);
    strbuf_char(out, '\n');
}

/* --- JUnit --- */

static void put_case(struct strbuf *out, const struct case_report *report,
                     const struct case_result *result, const struct output_style *style)
{
    struct str file = file_of(report, result, style, out->arena);

    strbuf_lit(out, "    <testcase");
    xml_attribute(out, "classname", result->suite);
    xml_attribute(out, "name", result->name);
    if (!result->wrong.count) {
        strbuf_lit(out, "/>\n");
        return;
    }
    strbuf_lit(out, ">\n      <failure");
    xml_attribute(out, "message", result->wrong.items[0]);
    strbuf_lit(out, " type=\"test\">");
    for (uint32_t i = 0; i < result->wrong.count; i++) {
        xml_put(out, file);
        strbuf_fmt(out, ":%u: ", result->at.line);
        xml_put(out, result->wrong.items[i]);
        strbuf_char(out, '\n');
    }
    strbuf_lit(out, "</failure>\n    </testcase>\n");
}

void cases_junit(const struct case_report *report, const struct output_style *style,
                 struct strbuf *out)
{
    uint32_t unreadable = unreadable_of(report);
    struct str counts = str_fmt(out->arena, " tests=\"%u\" failures=\"%u\" errors=\"%u\"",
                                report->results.count + unreadable, report->failed, unreadable);

    strbuf_fmt(out,
               "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
               "<testsuites name=\"herd-webhook review --test\"%.*s>\n  <testsuite"
               " name=\"StackTests\"%.*s>\n",
               STR_ARG(counts), STR_ARG(counts));
    for (uint32_t i = 0; i < report->results.count; i++)
        put_case(out, report, &report->results.items[i], style);
    for (uint32_t i = 0; i < report->files.count; i++) {
        if (!report->files.items[i].failure.len)
            continue;
        strbuf_lit(out, "    <testcase");
        xml_attribute(out, "name", output_name(report->files.items[i].name, style, out->arena));
        strbuf_lit(out, ">\n      <error");
        xml_attribute(out, "message", report->files.items[i].failure);
        strbuf_lit(out, "/>\n    </testcase>\n");
    }
    strbuf_lit(out, "  </testsuite>\n</testsuites>\n");
}
