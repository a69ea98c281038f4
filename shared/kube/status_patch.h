/* SPDX-License-Identifier: Apache-2.0 */
/* status_patch.h: the request that puts one status in place of another. */
#ifndef HERD_KUBE_STATUS_PATCH_H
#define HERD_KUBE_STATUS_PATCH_H

#include "kube/request.h"

/* A JSON patch of the status sub-resource: all of `status` (JSON) in place of all that is there, so
 * that nothing stays of what others wrote. The body is in the arena, the rest is borrowed. */
struct kube_request kube_status_replace(struct arena *arena, const struct kube_resource *resource,
                                        struct str namespace_, struct str name,
                                        struct str field_manager, struct str status);

#endif
