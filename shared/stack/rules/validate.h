/* SPDX-License-Identifier: Apache-2.0 */
/* validate.h: is this Stack one that can be applied? */
#ifndef HERD_STACK_VALIDATE_H
#define HERD_STACK_VALIDATE_H

#include "stack/model/facts.h"
#include "stack/model/rules.h"
#include "stack/model/verdict.h"

/* All findings of a *defaulted* Stack, sorted by field. `old` is the stored Stack on an update
 * (defaulted too), else NULL: a finding that `old` has as well, in an
 * unchanged field, only warns. */
void stack_validate(const struct stack *stack, const struct stack *old, const struct facts *facts,
                    const struct rule_severities *severities, struct problems *problems);

/* The whole validation on an admission: decode, default, validate in turn. What the webhook, the
 * offline review and the controller's own second look all call. */
struct verdict stack_admit(struct arena *arena, struct json object, struct json old_object,
                           const struct facts *facts, const struct rule_severities *severities);

/* The rejection of an object that cannot be decoded, for what json_read or admission_read say. */
struct verdict stack_undecodable(struct arena *arena, const struct error *why);
/* The rejection of one whose validation was abandoned, because it passed its budget of bytes. */
struct verdict stack_too_large(struct arena *arena);

#endif
