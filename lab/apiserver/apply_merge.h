/* SPDX-License-Identifier: Apache-2.0 */
/* apply_merge.h: the two halves of apply that look at values: merge and prune.
 * Inside of apply*.c. */
#ifndef HERD_LAB_APISERVER_APPLY_MERGE_H
#define HERD_LAB_APISERVER_APPLY_MERGE_H

#include "lab/apiserver/field_set.h"

/* `config` laid over `live`: maps and list maps by key, sets joined, all else
 * replaced; null removes. */
struct value *apply_merge(struct arena *arena, const struct schema *schema,
                          const struct value *live, const struct value *config);
/* `value` without the fields that are in `last` and in no manager's set (`owned`) any more. */
struct value *apply_prune(struct arena *arena, const struct schema *schema,
                          const struct value *value, const struct value *last,
                          const struct value *owned);

#endif
