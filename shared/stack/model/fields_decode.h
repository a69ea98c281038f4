/* SPDX-License-Identifier: Apache-2.0 */
/* fields_decode.h: JSON to a struct, by its table of fields: for the kinds of stack/,
 * and for files of Herd's own.
 *
 * The same for every kind: wrong types (shape.type), unknown fields with the nearest known one
 * (shape.unknown-field), words that the field does not take (shape.enum), bounds of the table
 * (shape.bounds), what is missing (shape.required) go to the findings; the rest is read. */
#ifndef HERD_STACK_FIELDS_DECODE_H
#define HERD_STACK_FIELDS_DECODE_H

#include "stack/model/fields.h"
#include "stack/model/finding.h"

/* `into`: a zeroed struct of the table's type. Strings and JSON views borrow from `object`, lists
 * live in found->arena. */
void fields_decode(struct findings *found, const struct field_table *table, struct json object,
                   void *into, const struct path *at);
/* The same of a stored status, whatever is wrong with it: what cannot be read stays as it is. */
void fields_read(struct arena *arena, const struct field_table *table, struct json object,
                 void *into);

#endif
