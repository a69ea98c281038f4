/* SPDX-License-Identifier: Apache-2.0 */
/* webhook_caller.h: blocking HTTPS calls for threads that wait: one loop in a thread of its own
 * carries all of them, and keeps connections to each webhook open. */
#ifndef HERD_LAB_APISERVER_WEBHOOK_CALLER_H
#define HERD_LAB_APISERVER_WEBHOOK_CALLER_H

#include "base/error.h"

struct webhook_call {
    struct str url;         /* complete, with ?timeout= */
    struct str server_name; /* to check the certificate against; "" = the URL's host */
    struct str ca_pem;      /* "" = the system's */
    struct str body;
    int64_t timeout_ms;
    int status; /* 0: no answer, see error */
    struct str answer, content_type;
    struct error error;
};

struct webhook_caller;

struct webhook_caller *webhook_caller_create(void);
void webhook_caller_free(struct webhook_caller *caller);
AUTO_DEFINE(webhook_caller_free, struct webhook_caller *)

/* All at once; returns when each has an answer, in the arena, or an error. From any thread. */
void webhook_call_all(struct webhook_caller *caller, struct arena *arena,
                      struct webhook_call *calls, uint32_t count);

#endif
