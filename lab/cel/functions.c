/* SPDX-License-Identifier: Apache-2.0 */
/* functions.c: functions.def as a table, and the types that its rows name. */
#include "lab/cel/functions.h"

#include <stdlib.h>

#define LIST_TYPE(name, element)                                                                   \
    static const struct cel_type name = { .kind = CEL_LIST, .of = { &(element) } };
#define OPTIONAL_TYPE(name, inside)                                                                \
    static const struct cel_type name = { .kind = CEL_OPTIONAL, .of = { &(inside) } };
LIST_TYPE(list_a, cel_type_a)
LIST_TYPE(list_list_a, list_a)
LIST_TYPE(list_bool, cel_type_bool)
LIST_TYPE(list_bytes, cel_type_bytes)
LIST_TYPE(list_double, cel_type_double)
LIST_TYPE(list_duration, cel_type_duration)
LIST_TYPE(list_int, cel_type_int)
LIST_TYPE(list_string, cel_type_string)
LIST_TYPE(list_timestamp, cel_type_timestamp)
LIST_TYPE(list_uint, cel_type_uint)
static const struct cel_type map_ab = { .kind = CEL_MAP, .of = { &cel_type_a, &cel_type_b } };
static const struct cel_type type_a = { .kind = CEL_TYPE, .of = { &cel_type_a } };
OPTIONAL_TYPE(optional_a, cel_type_a)
OPTIONAL_TYPE(optional_b, cel_type_b)
OPTIONAL_TYPE(optional_list_a, list_a)
OPTIONAL_TYPE(optional_map_ab, map_ab)
LIST_TYPE(list_optional_a, optional_a)

#define NONE NULL
#define A &cel_type_a
#define B &cel_type_b
#define DYN &cel_type_dyn
#define BOOL &cel_type_bool
#define INT &cel_type_int
#define UINT &cel_type_uint
#define DOUBLE &cel_type_double
#define STRING &cel_type_string
#define BYTES &cel_type_bytes
#define TIMESTAMP &cel_type_timestamp
#define DURATION &cel_type_duration
#define QUANTITY &cel_type_quantity
#define TYPE_A &type_a
#define MAP_AB &map_ab
#define LIST_A &list_a
#define LIST_LIST_A &list_list_a
#define LIST_DYN &cel_type_list_dyn
#define LIST_BOOL &list_bool
#define LIST_BYTES &list_bytes
#define LIST_DOUBLE &list_double
#define LIST_DURATION &list_duration
#define LIST_INT &list_int
#define LIST_STRING &list_string
#define LIST_TIMESTAMP &list_timestamp
#define LIST_UINT &list_uint
#define LIST_OPTIONAL_A &list_optional_a
#define OPTIONAL_A &optional_a
#define OPTIONAL_B &optional_b
#define OPTIONAL_LIST_A &optional_list_a
#define OPTIONAL_MAP_AB &optional_map_ab

enum { GLOBAL, MEMBER };

static const struct cel_function functions[] = {
#define FUNCTION(name, style, result, cost, function, ...)                                         \
    { (name), (style) == MEMBER, (result), COST_##cost, (function), { __VA_ARGS__ } },
#define OPERATOR(name, result, ...)                                                                \
    { (name), (name)[0] == 'o', (result), COST_NONE, NULL, { __VA_ARGS__ } },
#define REFUSED(name, why)
#include "lab/cel/functions.def"
#undef FUNCTION
#undef OPERATOR
#undef REFUSED
};

static const struct refusal {
    const char *name, *why;
} refusals[] = {
#define FUNCTION(name, style, result, cost, function, ...)
#define OPERATOR(name, result, ...)
#define REFUSED(name, why) { (name), (why) },
#include "lab/cel/functions.def"
#undef FUNCTION
#undef OPERATOR
#undef REFUSED
};

enum { FUNCTIONS = sizeof(functions) / sizeof(functions[0]) };

const struct cel_function *cel_functions_all(uint32_t *ret_count)
{
    *ret_count = FUNCTIONS;
    return functions;
}

const struct cel_function *cel_functions_named(struct str name, uint32_t *ret_count)
{
    const struct cel_function *first = NULL;

    *ret_count = 0;
    for (uint32_t i = 0; i < FUNCTIONS; i++)
        if (str_eq(name, str_of(functions[i].name))) {
            first = first ? first : &functions[i];
            ++*ret_count;
        }
    return first;
}

uint32_t cel_function_count(const struct cel_function *function)
{
    uint32_t count = 0;

    while (function->args[count])
        count++;
    return count;
}

const char *cel_refusal(struct str name)
{
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
        if (str_eq(name, str_of(refusals[i].name)))
            return refusals[i].why;
    return NULL;
}
