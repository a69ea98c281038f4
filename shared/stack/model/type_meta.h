/* SPDX-License-Identifier: Apache-2.0 */
/* type_meta.h: what stands at the top of a Stack or StackPolicy. Internal to stack/.
 *
 * The API server's business, but an offline review, and a stored object of a later version, come
 * here too. */
#ifndef HERD_STACK_TYPE_META_H
#define HERD_STACK_TYPE_META_H

#include "kube/resource.h"
#include "stack/model/fields.h"
#include "stack/model/finding.h"

/* apiVersion and kind are those of `resource`, and nothing stands there that belongs elsewhere.
 * `spec`: the fields of its spec. */
void type_meta_check(struct json object, const struct kube_resource *resource,
                     const struct field_table *spec, struct findings *findings);

#endif
