/* SPDX-License-Identifier: Apache-2.0 */
/* expectations.h: our own writes that a cache does not show yet.
 *
 * Between the answer to a write and the watch event that brings it, the cache holds an older object
 * than the one that was just written. Whoever decides from it would decide a second time. So the
 * answer's resourceVersion is remembered for the key until the watch shows it, or something newer,
 * or until EXPECTATIONS_WAIT_MS have passed: a watch that is later than that is not waited for.
 *
 * Versions of one collection are ordered numbers (Kubernetes API concepts, "Resource versions"); of
 * a server that has others nothing is expected, and at worst something is written twice.
 * An object on the heap; `now_ms` is the loop's monotonic time. */
#ifndef HERD_RUNTIME_EXPECTATIONS_H
#define HERD_RUNTIME_EXPECTATIONS_H

#include "runtime/cache.h"

enum { EXPECTATIONS_WAIT_MS = 10000 };

struct expectations;

struct expectations *expectations_create(void);
void expectations_free(struct expectations *expectations);
AUTO_DEFINE(expectations_free, struct expectations *)

/* A write of `key` was answered with `resource_version`. `cached` is the object in the cache, or
 * NULL; nothing is expected if it is as new already. `kept`: what the cache will keep of the
 * written object, for expectations_kept; copied, may be "". */
void expectations_set(struct expectations *expectations, struct str key,
                      struct str resource_version, const struct kube_object *cached,
                      struct str kept, int64_t now_ms);
void expectations_forget(struct expectations *expectations, struct str key);

/* For how long at most the cache is not worth deciding from; 0: it is. The caller puts its work off
 * until then, or until the watch shows the write. */
int64_t expectations_put_off(struct expectations *expectations, struct str key, int64_t now_ms);
/* What the cache will keep of the object; "" if nothing is expected. Borrowed until it changes. */
struct str expectations_kept(const struct expectations *expectations, struct str key,
                             int64_t now_ms);

enum observation {
    OBSERVED_NEWS,  /* somebody else's version, or ours, if work was put off for it or it holds what
                       somebody else wrote right before */
    OBSERVED_OLDER, /* from before our write, which is still expected: work waits for that one */
    OBSERVED_OURS,  /* our write, and nothing is new in it */
};
/* The watch brought this version of the object; "" = the object is gone. */
enum observation expectations_observe(struct expectations *expectations, struct str key,
                                      struct str resource_version);

#endif
