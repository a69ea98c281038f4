/* SPDX-License-Identifier: Apache-2.0 */
/* scan_report.h: a StackScanReport as a value: what scans found in the images of one Stack. It has
 * the name of the Stack and lives beside it. */
#ifndef HERD_STACK_SCAN_REPORT_H
#define HERD_STACK_SCAN_REPORT_H

#include "stack/model/fields.h"

extern const struct kube_resource scan_report_resource;
extern const struct field_table fields_of_scan_report; /* of struct scan_report */

struct scan_place {
    struct str cluster_id;
    struct str release; /* namespace/name */
};
LIST_DEFINE(scan_places, struct scan_place)

struct scan_image {
    struct str name, digest;
    struct str state; /* Scanned, Queued, Failed, NotCovered */
    int64_t last_scan_ms;
    int64_t critical, high, medium; /* -1 = it was never scanned */
    int64_t failed_checks;          /* -1 = not known */
    int64_t omitted;                /* of these, from the findings */
    int64_t checks_omitted;
    struct scan_places places;
    uint32_t places_omitted;
};
LIST_DEFINE(scan_images, struct scan_image)

struct scan_finding {
    struct str cve, severity, score, package, version, fixed;
    struct str digest; /* of the image */
};
LIST_DEFINE(scan_findings_list, struct scan_finding)

struct scan_check {
    struct str number, level, description, remediation;
    struct str digest; /* of the image */
};
LIST_DEFINE(scan_checks, struct scan_check)

struct scan_summary {
    uint32_t images, scanned;
    int64_t critical, high, medium; /* -1 = nothing was scanned */
    int64_t failed_checks;          /* -1 = those of no image are known */
    uint32_t unknown;               /* releases whose scans are not known */
    uint32_t images_omitted;
    int64_t findings_omitted, checks_omitted;
};

struct scan_report {
    struct scan_summary summary;
    struct scan_images images;
    struct scan_findings_list findings;
    struct scan_checks checks;
};

/* {"report":...}, for kube_child.object. Equal reports give equal bytes. */
struct str scan_report_write(struct arena *arena, const struct scan_report *report);
/* Of a StackScanReport; whatever stands there is read as far as it makes sense. */
struct scan_report scan_report_read(struct arena *arena, struct json object);
/* NULL: the report does not list it. */
const struct scan_image *scan_report_image(const struct scan_report *report, struct str digest);

#endif
