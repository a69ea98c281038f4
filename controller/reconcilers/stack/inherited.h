/* SPDX-License-Identifier: Apache-2.0 */
/* inherited.h: what the leader before asked Rancher for, and is not known to have come to anything.
 *
 * While one controller leads, a release that a Stack has asked for is claimed in memory
 * (capacity.h), so that no other Stack asks for it, too. A new leader has no such memory. It finds
 * the requests in the status of each Stack, and keeps the others from these releases until the
 * requests cannot take effect any more. */
#ifndef HERD_CONTROLLER_RECONCILERS_STACK_INHERITED_H
#define HERD_CONTROLLER_RECONCILERS_STACK_INHERITED_H

#include "base/cleanup.h"
#include "runtime/cache.h"

struct inherited;

struct inherited *inherited_create(void);
void inherited_free(struct inherited *inherited);
AUTO_DEFINE(inherited_free, struct inherited *)

/* Read the requests of all Stacks, as keep_stack keeps them; they count until `until_ms`. */
void inherited_begin(struct inherited *inherited, const struct kube_cache *stacks,
                     int64_t until_ms);

/* The Stack that asked for `release` (namespace/name) on the cluster; "" = none did, or it is too
 * long ago. Borrowed until the next inherited_begin. */
struct str inherited_by(const struct inherited *inherited, struct arena *arena,
                        struct str cluster_id, struct str release, int64_t now_ms);

#endif
