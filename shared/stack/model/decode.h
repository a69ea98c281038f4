/* SPDX-License-Identifier: Apache-2.0 */
/* decode.h: JSON to struct stack, by the table fields.def; and any other kind by its own. */
#ifndef HERD_STACK_DECODE_H
#define HERD_STACK_DECODE_H

#include "base/problem.h"
#include "stack/model/fields.h"

/* Always gives a Stack; what is wrong with it goes to `problems`: wrong types (shape.type), unknown
 * fields with the nearest known one (shape.unknown-field), wrong enum values
 * (shape.enum), bounds of the table (shape.bounds), required fields that are missing
 * (shape.required), too many elements. */
struct stack *stack_decode(struct arena *arena, struct json object, struct problems *problems);

/* The same for an object of `resource`: its apiVersion and kind are checked, and its spec is read
 * by `table` into `spec`, a zeroed struct of the table's type. Strings borrow from `object`. */
void object_decode(struct arena *arena, struct json object, const struct kube_resource *resource,
                   const struct field_table *table, void *spec, struct problems *problems);

#endif
