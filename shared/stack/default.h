/* default.h: what a Stack means where its author said nothing.
 *
 * Defaults that a schema can say stand in fields.def (and so in the CRD); those that follow from
 * other fields are here: a chart's namespace and releaseName from its name, security and
 * observability from env, the profiles spelled out, the label herd.suse.com/env. */
#ifndef HERD_STACK_DEFAULT_H
#define HERD_STACK_DEFAULT_H

#include "base/str.h"
#include "stack/stack.h"

/* A new Stack with every default filled in. Defaulting it again changes nothing. `patch`, if not
 * NULL, gets the RFC 6902 text that does the same to the document: "" if nothing is to be done.
 * Only fields that are absent are added; nothing that the author wrote is changed. */
const struct stack *stack_default(struct arena *arena, const struct stack *stack,
                                  struct str *ret_patch);

/* Whether security and observability are on there unless the author says otherwise. */
bool env_is_guarded(struct str env);

/* Of a defaulted chart. 0 if it is not a duration (validate says so). */
int64_t chart_timeout_ms(const struct chart *chart);

#endif
