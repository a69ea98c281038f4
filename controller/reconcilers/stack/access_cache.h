/* SPDX-License-Identifier: Apache-2.0 */
/* access_cache.h: what users may do, asked for in the background.
 *
 * Questions are those of stack/access.h. An answer is remembered for LIMIT_ACCESS_FIRST_TIME, and
 * a no for longer each time, up to LIMIT_ACCESS_LAST_TIME. Whoever asked in vain is woken when it
 * comes. */
#ifndef HERD_CONTROLLER_RECONCILERS_STACK_ACCESS_CACHE_H
#define HERD_CONTROLLER_RECONCILERS_STACK_ACCESS_CACHE_H

#include "runtime/client.h"
#include "stack/access/access.h"
#include "stack/access/access_rounds.h"

struct access_cache;

struct access_cache_options {
    struct kube_client *api;
    /* An answer came that the Stack asked for. */
    void (*again)(void *context, struct str key);
    void *context;
};

struct access_cache *access_cache_create(const struct access_cache_options *options);
/* Before the client. */
void access_cache_free(struct access_cache *access_cache);
AUTO_DEFINE(access_cache_free, struct access_cache *)

/* What is known, for the Stack `key`; `until_ms`, by the loop's clock, is -1 while it is being
 * asked for. The user is a recorded one; `trouble` is in the arena. */
struct access_found access_cache_get(struct access_cache *access_cache, struct arena *arena,
                                     const struct access_user *user,
                                     const struct access_question *question, struct str key);
/* The same without asking; `until_ms` is past if the answer is too old, -1 if there is none. */
struct access_found access_cache_peek(const struct access_cache *access_cache, struct arena *arena,
                                      const struct access_user *user,
                                      const struct access_question *question);

#endif
