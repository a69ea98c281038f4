/* SPDX-License-Identifier: Apache-2.0 */
/* failure.h: why a request was rejected, and the metav1.Status that says so.
 *
 * Texts are those of k8s.io/apimachinery/pkg/api/errors. A function that fails fills a
 * `struct failure` whose texts live in the request's arena and returns -1. */
#ifndef HERD_LAB_APISERVER_FAILURE_H
#define HERD_LAB_APISERVER_FAILURE_H

#include "base/error.h"
#include "lab/apiserver/finding.h"

struct failure {
    struct arena *arena;
    int code; /* HTTP; 0 = nothing failed */
    struct str reason;
    struct str message;
    bool has_details;
    struct str group, kind, name; /* of details */
    struct findings causes;
    int64_t retry_after_s;
    struct str status; /* a whole Status document that somebody else wrote; "" = none */
    struct str text;   /* said as plain text, in place of a Status; "" = none */
};

/* The collection or kind that failed, for message and details. */
struct failure_subject {
    struct str group;
    struct str plural;
    struct str kind;
    struct str name;
};

struct failure failure_new(struct arena *arena);

/* All return -1. */
__attribute__((format(printf, 4, 5))) int fail(struct failure *f, int code, const char *reason,
                                               const char *format, ...);
int fail_not_found(struct failure *f, const struct failure_subject *of);
int fail_already_exists(struct failure *f, const struct failure_subject *of);
/* "Operation cannot be fulfilled on ...: why". */
int fail_conflict(struct failure *f, const struct failure_subject *of, struct str why);
int fail_modified(struct failure *f, const struct failure_subject *of);
int fail_forbidden(struct failure *f, const struct failure_subject *of, struct str why);
int fail_invalid(struct failure *f, const struct failure_subject *of,
                 const struct findings *causes);
int fail_bad_request(struct failure *f, struct str message);
int fail_internal(struct failure *f, struct str message);
int fail_expired(struct failure *f, struct str message);

/* By the code alone, as the server answers for what it knows nothing of: 404, 405, 422. */
int fail_generic(struct failure *f, int code);
/* In plain text: `text` is a constant. */
int fail_text(struct failure *f, int code, struct str text);
/* "create is not supported on resources of kind ..." */
int fail_not_supported(struct failure *f, const struct failure_subject *of, const char *action);
/* 415; `accepted` is a list of media types for people. */
int fail_media_type(struct failure *f, const char *accepted);

/* The Status document. */
struct str failure_status(const struct failure *f);
/* The same as an error of ours, for callers in this process. Always -1. */
int failure_to_error(const struct failure *f, struct error *err);

#endif
