/* SPDX-License-Identifier: Apache-2.0 */
/* spec_change.h: did an update change what a Stack, or an object of another kind, says?
 *
 * Defaults are not a change: two specs that mean the same once defaulted are one. */
#ifndef HERD_STACK_SPEC_CHANGE_H
#define HERD_STACK_SPEC_CHANGE_H

#include "stack/model/fields.h"
#include "stack/model/stack.h"

/* A spec as it was written, and as it was read by its table, with defaults. Borrowed. */
struct spec_form {
    struct json json;
    const struct field_table *table;
    const void *spec;
};
struct spec_form spec_form_of(const struct stack *stack);

/* Both are of one table. */
bool spec_form_changed(struct arena *arena, const struct spec_form *form,
                       const struct spec_form *old);
/* Both are defaulted. */
bool spec_changed(struct arena *arena, const struct stack *stack, const struct stack *old);

#endif
