/* SPDX-License-Identifier: Apache-2.0 */
/* formats.c: the formats by name, and the simplest of them. */
#include "controller/report/formats.h"

#include "text/json_write.h"
#include "text/sarif.h"

format_write *format_find(struct str name)
{
    static const struct {
        struct str name;
        format_write *write;
    } rows[] = {
        { STR_INIT("json"), format_json },
        { STR_INIT("sarif"), format_sarif },
        { STR_INIT("cyclonedx"), format_cyclonedx },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (str_eq(rows[i].name, name))
            return rows[i].write;
    return NULL;
}

struct str_list report_gaps(struct arena *arena, const struct scan_report *report)
{
    const struct scan_summary *sum = &report->summary;
    const struct {
        int64_t count;
        const char *what;
    } omitted[] = {
        { sum->images_omitted, "images" },
        { sum->findings_omitted, "vulnerabilities" },
        { sum->checks_omitted, "failed compliance checks" },
    };
    struct str_list gaps = str_list_new(arena, 4);

    if (sum->unknown)
        str_list_push(&gaps,
                      str_fmt(arena,
                              "The scans of %u %s of the Stack are not known, so this report does "
                              "not cover %s; the condition SecurityScanned of the Stack says why.",
                              sum->unknown, sum->unknown == 1 ? "release" : "releases",
                              sum->unknown == 1 ? "it" : "them"));
    if (sum->scanned < sum->images)
        str_list_push(&gaps, str_fmt(arena, "%u of %u images have not been scanned.",
                                     sum->images - sum->scanned, sum->images));
    for (size_t i = 0; i < sizeof(omitted) / sizeof(omitted[0]); i++)
        if (omitted[i].count > 0)
            str_list_push(&gaps, str_fmt(arena,
                                         "%lld %s are counted, but not listed: the report has no "
                                         "room for them.",
                                         (long long)omitted[i].count, omitted[i].what));
    return gaps;
}

/* The pages of other advisories do not follow from their names. */
struct report_source report_source_of(struct arena *arena, struct str vulnerability)
{
    static const struct {
        struct str prefix, name, page;
    } rows[] = {
        { STR_INIT("CVE-"), STR_INIT("NVD"), STR_INIT("https://nvd.nist.gov/vuln/detail/") },
        { STR_INIT("GHSA-"), STR_INIT("GitHub"), STR_INIT("https://github.com/advisories/") },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (str_starts(vulnerability, rows[i].prefix))
            return (struct report_source){ rows[i].name,
                                           str_fmt(arena, "%.*s%.*s", STR_ARG(rows[i].page),
                                                   STR_ARG(sarif_uri(arena, vulnerability))) };
    return (struct report_source){ STR("NeuVector"), STR("") };
}

void format_json(const struct reported_stack *stack, struct strbuf *out)
{
    struct str report = scan_report_write(out->arena, &stack->report);
    struct json_writer w = json_writer(out);

    json_open_object(&w);
    json_field_str(&w, "namespace", stack->namespace_);
    json_field_str(&w, "name", stack->name);
    /* {"report":...}: its one member. */
    strbuf_char(out, ',');
    strbuf_put(out, str_slice(report, 1, report.len));
    strbuf_char(out, '\n');
}
