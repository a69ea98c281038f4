/* SPDX-License-Identifier: Apache-2.0 */
/* scan_report.c: written and read by the tables. */
#include "stack/model/scan_report.h"

#include "stack/model/fields_canonical.h"
#include "stack/model/fields_decode.h"
#include "stack/model/status_rows.h"

#include "stack/model/scan_report_fields.def"

const struct kube_resource scan_report_resource =
    KUBE_RESOURCE_INIT(STACK_GROUP, STACK_VERSION, "stackscanreports", "StackScanReport", true);

struct str scan_report_write(struct arena *arena, const struct scan_report *report)
{
    struct strbuf out = strbuf_new(arena, 4096);

    strbuf_lit(&out, "{\"report\":");
    fields_canonical(&fields_of_scan_report, report, &out);
    strbuf_char(&out, '}');
    return strbuf_str(&out);
}

static void forget_if_absent(struct json object, struct str name, int64_t *number)
{
    if (!json_is(json_get(object, name), JSON_NUMBER))
        *number = -1;
}

/* The reader leaves 0 where nothing stands, and that would be a number. */
static void forget_what_is_absent(struct json list, struct scan_images *images)
{
    struct json_iter it = json_iter(list);

    for (uint32_t i = 0; i < images->count && json_next(&it); i++) {
        struct scan_image *image = &images->items[i];

        forget_if_absent(it.value, STR("critical"), &image->critical);
        forget_if_absent(it.value, STR("high"), &image->high);
        forget_if_absent(it.value, STR("medium"), &image->medium);
        forget_if_absent(it.value, STR("complianceFailures"), &image->failed_checks);
    }
}

struct scan_report scan_report_read(struct arena *arena, struct json object)
{
    struct scan_report report = {
        .summary = { .critical = -1, .high = -1, .medium = -1, .failed_checks = -1 },
        .images = scan_images_new(arena, 0),
        .findings = scan_findings_list_new(arena, 0),
        .checks = scan_checks_new(arena, 0),
    };

    fields_read(arena, &fields_of_scan_report, json_get(object, STR("report")), &report);
    forget_what_is_absent(json_walk(object, "report", "images", NULL), &report.images);
    return report;
}

const struct scan_image *scan_report_image(const struct scan_report *report, struct str digest)
{
    for (uint32_t i = 0; i < report->images.count; i++)
        if (str_eq(report->images.items[i].digest, digest))
            return &report->images.items[i];
    return NULL;
}
