/* SPDX-License-Identifier: Apache-2.0 */
/* formats.h: a StackScanReport as documents of others' formats. Pure. What stands in the object is
 * not trusted: whatever it says, the documents are valid. */
#ifndef HERD_CONTROLLER_REPORT_FORMATS_H
#define HERD_CONTROLLER_REPORT_FORMATS_H

#include "stack/model/scan_report.h"

struct reported_stack {
    struct str namespace_;
    struct str name;
    struct scan_report report;
};

typedef void format_write(const struct reported_stack *stack, struct strbuf *out);
/* json, sarif, cyclonedx; NULL: none of these. */
format_write *format_find(struct str name);

/* What the report does not cover, a sentence each; empty: it covers all. */
struct str_list report_gaps(struct arena *arena, const struct scan_report *report);

/* Who describes a vulnerability, and on which page; `page` "": Herd knows of none. */
struct report_source {
    struct str name, page;
};
struct report_source report_source_of(struct arena *arena, struct str vulnerability);

/* The report as the controller wrote it, under the name of its Stack. */
void format_json(const struct reported_stack *stack, struct strbuf *out);
/* SARIF 2.1.0: a rule for each vulnerability, a result for each image and package that has it;
 * the same of compliance checks and the images that fail them. */
void format_sarif(const struct reported_stack *stack, struct strbuf *out);
/* CycloneDX 1.5: the images as components, and what affects them. */
void format_cyclonedx(const struct reported_stack *stack, struct strbuf *out);

#endif
