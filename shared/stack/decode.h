/* decode.h: JSON to struct stack, by the table fields.def. */
#ifndef HERD_STACK_DECODE_H
#define HERD_STACK_DECODE_H

#include "base/problem.h"
#include "stack/stack.h"

/* Always gives a Stack; what is wrong with it goes to `problems`: wrong types (shape.type), unknown
 * fields with the nearest known one (shape.unknown-field), wrong enum values
 * (shape.enum), bounds of the table (shape.bounds), required fields that are missing
 * (shape.required), too many elements. */
struct stack *stack_decode(struct arena *arena, struct json object, struct problems *problems);

#endif
