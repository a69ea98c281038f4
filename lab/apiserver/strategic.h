/* SPDX-License-Identifier: Apache-2.0 */
/* strategic.h: strategic merge patch, for the built-in kinds: as a merge patch, but lists that have
 * a merge key (types.def) are joined by it.
 * Source: k8s.io/apimachinery/pkg/util/strategicpatch. */
#ifndef HERD_LAB_APISERVER_STRATEGIC_H
#define HERD_LAB_APISERVER_STRATEGIC_H

#include "base/error.h"
#include "lab/apiserver/schema.h"

/* `document` stays; the result is new. -1: a directive that is not understood. */
int strategic_merge(struct arena *arena, const struct schema *schema, const struct value *document,
                    const struct value *patch, struct value **ret_result, struct error *err);

#endif
