/* SPDX-License-Identifier: Apache-2.0 */
/* default.h: what a Stack means where its author said nothing.
 *
 * Constants are in fields.def; what follows from other fields is here: a chart's namespace and
 * releaseName from its name, security and observability from env, the profiles spelled out, the
 * label herd.suse.com/env. Everybody who decodes a Stack defaults it: the stored document has only
 * those defaults that are not in a list (charts, overrides, waves), so that applying the same file
 * again changes nothing. */
#ifndef HERD_STACK_DEFAULT_H
#define HERD_STACK_DEFAULT_H

#include "base/str.h"
#include "stack/model/fields.h"
#include "stack/model/stack.h"

/* A new Stack with every default filled in. Defaulting it again changes nothing. `patch`, if not
 * NULL, gets the RFC 6902 text that adds to the document those that are not in a list: "" if
 * nothing is to be done. Only fields that are absent are added, and none to a spec that is stored
 * as it is; nothing that the author wrote is changed. */
const struct stack *stack_default(struct arena *arena, const struct stack *stack,
                                  struct str *ret_patch);

/* The constants of a table in a struct of its type, decoded: of a kind that has no others. */
void object_default(struct arena *arena, const struct field_table *table, void *spec);
/* The same, and the patch that stack_default describes. In the arena. */
struct str object_default_patch(struct arena *arena, const struct field_table *table, void *spec);

/* Whether security and observability are on there unless the author says otherwise. */
bool env_is_guarded(struct str env);

/* Of a defaulted chart. 0 if it is not a duration (validate says so). */
int64_t chart_timeout_ms(const struct chart *chart);

#endif
