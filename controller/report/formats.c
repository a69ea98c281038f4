/* SPDX-License-Identifier: Apache-2.0 */
/* formats.c: the formats by name, and the simplest of them. */
#include "controller/report/formats.h"

#include "text/json_write.h"

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
