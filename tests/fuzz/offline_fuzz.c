/* SPDX-License-Identifier: Apache-2.0 */
/* offline_fuzz.c: any file gets a report; findings stand in it, and each form of the report is one that its readers take. */
#include "fuzz.h"

#include "text/json.h"
#include "webhook/offline/validate.h"
#include "webhook/offline/output.h"

/* YAML ends lines with these, too (1.1, b-break): the lines of a reader who knows only \n are no more. */
static uint32_t lines_of(struct str text)
{
    static const char *const ends[] = { "\n", "\r", "\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9" };
    uint32_t lines = 1;

    for (size_t i = 0; i < text.len; i++)
        for (size_t k = 0; k < sizeof(ends) / sizeof(ends[0]); k++)
            lines += str_starts(str_slice(text, i, text.len), str_of(ends[k]));
    return lines;
}

static void check_places(const struct report *report, struct str text)
{
    uint32_t lines = lines_of(text);

    for (uint32_t i = 0; i < report->findings.count; i++) {
        const struct report_finding *finding = &report->findings.items[i];

        MUST(finding->at.line >= 1 && finding->at.line <= lines + 1);
        MUST(finding->at.column >= 1);
        MUST(finding->problem.rule.len && finding->problem.message.len);
    }
    for (uint32_t i = 0; i < report->objects.count; i++)
        MUST(report->objects.items[i].allowed == (report->objects.items[i].denied == 0));
}

/* Nothing that moves a cursor, but the ends of lines. */
static void check_text(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        MUST(((unsigned char)text.at[i] >= ' ' || text.at[i] == '\n') && text.at[i] != 0x7f);
}

static void check_json(struct arena *arena, struct str text)
{
    const struct json_limits limits = { text.len, 128, UINT32_MAX, text.len };
    struct json root;
    struct error err;

    MUST(json_read(arena, text, &limits, &root, &err) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct offline_config config = { .namespace_ = STR("default"), .configuration = configuration_default() };
    struct output_style style = { .least = SEVERITY_AUDIT, .counts = true, .verbose = true };
    struct str text = str_make((const char *)data, size);
    struct input_files files = input_files_new(arena, 1);

    input_files_push(&files, (struct input_file){ .name = STR("f.yaml"), .bytes = text });

    struct report report = offline_review(arena, &files, &config);
    struct strbuf lines = strbuf_new(arena, 1024);
    struct strbuf json = strbuf_new(arena, 1024);
    struct strbuf sarif = strbuf_new(arena, 1024);
    struct strbuf junit = strbuf_new(arena, 1024);

    check_places(&report, text);
    output_text(&report, &style, &lines);
    check_text(strbuf_str(&lines));
    output_json(&report, &style, &json);
    check_json(arena, strbuf_str(&json));
    output_sarif(&report, &style, &sarif);
    check_json(arena, strbuf_str(&sarif));
    output_junit(&report, &style, &junit);
    return 0;
}
