/* SPDX-License-Identifier: Apache-2.0 */
/* apistatus.h: metav1.Status, the body of every error of an API server. */
#ifndef HERD_KUBE_APISTATUS_H
#define HERD_KUBE_APISTATUS_H

#include "base/problem.h"
#include "text/json.h"
#include "text/json_write.h"

struct kube_status {
    struct str reason; /* "NotFound", ... */
    struct str message;
    int code;                      /* HTTP */
    struct str kind;               /* details.kind: plural or kind; "" = no details */
    struct str group;              /* details.group */
    struct str name;               /* details.name */
    int64_t retry_after_s;         /* details.retryAfterSeconds; 0 = none */
    const struct problems *causes; /* details.causes, sorted by the caller; NULL = none */
};

/* The whole Status document of a failure. */
void kube_status_write(const struct kube_status *status, struct strbuf *out);

/* Turn an answer that is not 2xx into an error: from a Status body where it is one (the reason
 * decides before the code), else from the HTTP status with the body's beginning shown. */
void kube_error_from_answer(int http_status, struct str body, struct error *ret_error);

#endif
