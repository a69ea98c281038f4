/* SPDX-License-Identifier: Apache-2.0 */
/* access.h: may the caller read this? The API server is asked with the caller's token, by a
 * SelfSubjectAccessReview, and its answer holds for LIMIT_CONSOLE_ACCESS_TIME.
 *
 * What many threads want to know at once is asked once. */
#ifndef HERD_CONTROLLER_CONSOLE_ACCESS_H
#define HERD_CONTROLLER_CONSOLE_ACCESS_H

#include "controller/console/caller.h"

struct console_access;

struct console_access *console_access_create(struct caller_requests *requests);
void console_access_free(struct console_access *access);
AUTO_DEFINE(console_access_free, struct console_access *)

struct access_question {
    const char *verb; /* get, list, watch */
    const struct kube_resource *resource;
    struct str namespace_; /* "": in all, or cluster-scoped */
    struct str name;       /* "": all */
};

/* 0: the caller may. -1: ERROR_FORBIDDEN; ERROR_UNAUTHORIZED, if the token is nobody's; or why it
 * could not be asked. Waits; `arena` has no budget. Without a token the caller is the controller
 * itself, and may. */
int console_access_check(struct console_access *access, struct arena *arena, struct str token,
                         const struct access_question *question, struct error *err);

/* The SelfSubjectAccessReview. */
void access_question_write(const struct access_question *question, struct strbuf *out);
/* 0 or ERROR_FORBIDDEN by the answer to it; ERROR_INTERNAL if it is none. */
int access_answer_read(struct arena *arena, struct str body, const struct access_question *question,
                       struct error *err);

#endif
