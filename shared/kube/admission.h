/* SPDX-License-Identifier: Apache-2.0 */
/* admission.h: AdmissionReview v1, in and out.
 * Source: k8s.io/api/admission/v1/types.go; the API server's checks of an answer:
 * k8s.io/apiserver/pkg/admission/plugin/webhook/request/admissionreview.go. */
#ifndef HERD_KUBE_ADMISSION_H
#define HERD_KUBE_ADMISSION_H

#include "base/problem.h"
#include "kube/resource.h"
#include "text/json.h"

enum admission_operation {
    ADMISSION_CREATE,
    ADMISSION_UPDATE,
    ADMISSION_DELETE,
    ADMISSION_CONNECT,
};

struct admission_request {
    struct str uid;
    struct kube_resource resource;
    struct str sub_resource;
    struct str name;
    struct str namespace_;
    enum admission_operation operation;
    struct str operation_name; /* "CREATE", ... */
    struct str username;
    struct str user_uid;
    struct json groups;
    struct json user_extra;
    struct json object;     /* absent or null on DELETE */
    struct json old_object; /* absent or null on CREATE */
    bool dry_run;
};

/* -1: not an AdmissionReview v1 with a request that has uid, resource and operation, or a member of
 * it is of another type than there. */
int admission_read(struct arena *arena, struct str body, struct admission_request *ret_request,
                   struct error *err);

/* What tells a review that admission_read does not take apart from others: whoever sent it learns
 * why it is rejected only from an answer with its uid. True: `uid` is there, and of the other
 * strings of the request those that can be read; all else is as of an empty request. Takes time in
 * the length of the body and allocates nothing. */
bool admission_identify(struct str body, struct admission_request *ret_request);

struct admission_answer {
    struct str uid;
    bool allowed;
    int code;                      /* of a rejection: 422, 403, ... */
    struct str reason;             /* of a rejection: "Invalid", ... */
    struct str message;            /* of a rejection, for people */
    const struct problems *causes; /* of a rejection: details.causes (denied ones only) */
    struct kube_resource resource; /* for details.kind and .group */
    struct str name;               /* for details.name */
    struct str_list warnings;      /* kept within kubectl's limits: see admission_warn */
    struct str patch;              /* RFC 6902 text; "" or "[]" = none. Never with a rejection */
    struct str_list audit;         /* key, value, key, value ... for auditAnnotations */
    size_t warning_bytes;          /* admission_warn's own count */
    uint32_t warnings_left_out;    /* and of those that the last one stands for */
};

enum { ADMISSION_WARNING_BYTES = 253 };

/* Add a warning: control characters escaped, and beyond ADMISSION_WARNING_BYTES cut with "...",
 * which makes 256; the API server drops what exceeds 4096 bytes in all, so beyond that one last
 * warning counts the rest. */
void admission_warn(struct admission_answer *answer, struct arena *arena, struct str text);

/* Add what is good to know, too, behind all warnings: as much as there is room for; the rest is
 * counted, and where a warning was left out there is none. */
void admission_note(struct admission_answer *answer, struct arena *arena,
                    const struct str_list *notes);

void admission_write(const struct admission_answer *answer, struct strbuf *out);

#endif
