/* SPDX-License-Identifier: Apache-2.0 */
/* report.h: what a review of files came to: a value, which output_*.c write in one form each.
 *
 * Files stand in the order in which they were named, objects and findings in that of the files and
 * of the documents in them; of one object, findings are sorted by field. */
#ifndef HERD_WEBHOOK_OFFLINE_REPORT_H
#define HERD_WEBHOOK_OFFLINE_REPORT_H

#include "webhook/offline/objects.h"

/* The rule of what is no finding about an object: what cannot be read. */
#define REPORT_RULE_YAML "input.yaml"
#define REPORT_RULE_YAML_SENTENCE "The document is no Kubernetes object in YAML or JSON."

enum { REPORT_NO_OBJECT = UINT32_MAX };

struct report_file {
    struct str name;
    struct str failure; /* why it could not be read; "" if it was */
};
LIST_DEFINE(report_files, struct report_file)

struct report_object {
    enum object_kind kind;
    uint32_t file;
    struct place at;
    struct str namespace_; /* "" of what has none */
    struct str name;
    bool allowed;
    struct str
        message;     /* of the rejection, as kubectl shows it; "" if its findings are not listed */
    uint32_t denied; /* findings, those that are not listed too */
    uint32_t warned;
};
LIST_DEFINE(report_objects, struct report_object)

struct report_finding {
    uint32_t file;
    uint32_t object; /* number of it, or REPORT_NO_OBJECT */
    struct place at;
    struct problem problem;
};
LIST_DEFINE(report_findings, struct report_finding)

struct report {
    struct report_files files;
    struct report_objects objects;
    struct report_findings findings;
    struct other_objects others;
    uint32_t count_of[OBJECT_KIND_COUNT];
    uint32_t workloads; /* of them */
    uint32_t denied;    /* all, also those that are not listed */
    uint32_t warned;
    uint32_t audited;
    uint32_t omitted;    /* findings that are not listed */
    uint32_t unreadable; /* files */
};

#endif
