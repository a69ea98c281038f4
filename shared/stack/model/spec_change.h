/* SPDX-License-Identifier: Apache-2.0 */
/* spec_change.h: did an update change what the Stack says?
 *
 * Defaults are not a change: two specs that mean the same once defaulted are one. */
#ifndef HERD_STACK_SPEC_CHANGE_H
#define HERD_STACK_SPEC_CHANGE_H

#include "stack/model/stack.h"

/* Both are defaulted. */
bool spec_changed(struct arena *arena, const struct stack *stack, const struct stack *old);

#endif
