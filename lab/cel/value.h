/* SPDX-License-Identifier: Apache-2.0 */
/* value.h: values of CEL.
 *
 * A value is passed by value; what it points to lives in the arena of the evaluation, or is the
 * JSON that it shows and outlives it. JSON becomes values as a type says, or as it comes where the
 * type is dyn; objects only when somebody looks into them. Nothing here fails: what goes wrong is a
 * value too, of kind CEL_ERROR, and its text is what the API server says. */
#ifndef HERD_LAB_CEL_VALUE_H
#define HERD_LAB_CEL_VALUE_H

#include "lab/cel/type.h"
#include "text/quantity.h"
#include "text/value.h"

struct cel_list;
struct cel_map;

/* Since 1970, UTC. */
struct cel_moment {
    int64_t seconds;
    int32_t nanos;    /* 0 to 999999999 */
    int32_t offset_s; /* of the zone that it was written in, which shows only as text */
};

struct cel_value {
    enum cel_kind kind;
    union {
        bool truth;
        int64_t number;   /* CEL_INT; CEL_DURATION in nanoseconds */
        uint64_t natural; /* CEL_UINT */
        double real;      /* CEL_DOUBLE */
        struct str text;  /* CEL_STRING, CEL_BYTES, CEL_ERROR */
        struct cel_moment moment;
        const struct cel_list *list;
        const struct cel_map *map;       /* CEL_MAP, CEL_STRUCT */
        const struct cel_type *type;     /* CEL_TYPE */
        const struct cel_value *inside;  /* CEL_OPTIONAL; NULL = none */
        const struct quantity *quantity; /* CEL_QUANTITY */
    };
};

LIST_DEFINE(cel_values, struct cel_value)

struct cel_list {
    struct cel_value *items;
    uint32_t count;
    struct cel_values *room;     /* whose items these are: the last may be added to in place */
    const struct cel_type *type; /* of a list from JSON: its identity; else NULL */
};

/* Either pairs, or a view of a JSON object. */
struct cel_map {
    struct cel_values keys, values;
    const struct value *json; /* NULL: pairs */
    const struct cel_type *type;
};

/* What evaluation carries along. */
struct cel_run;

struct cel_value cel_error(struct str text);
__attribute__((format(printf, 2, 3))) struct cel_value cel_errorf(struct arena *arena,
                                                                  const char *format, ...);
struct cel_value cel_no_overload(void);
struct cel_value cel_null(void);
struct cel_value cel_bool(bool truth);
struct cel_value cel_int(int64_t number);
struct cel_value cel_uint(uint64_t natural);
struct cel_value cel_double(double real);
struct cel_value cel_string(struct str text);
struct cel_value cel_duration(int64_t nanos);
struct cel_value cel_none(void);
struct cel_value cel_some(struct arena *arena, struct cel_value inside);
struct cel_value cel_list_of(struct arena *arena, const struct cel_values *items);
/* The list and one more, or all of another: what both have in common is shared. */
struct cel_value cel_list_join(struct arena *arena, const struct cel_list *a,
                               const struct cel_list *b);
struct cel_value cel_map_of(struct arena *arena, struct cel_values keys, struct cel_values values);

/* JSON as a type says; NULL is null. */
struct cel_value cel_from_json(struct arena *arena, const struct value *json,
                               const struct cel_type *type);

static inline bool cel_is_error(const struct cel_value *value)
{
    return value->kind == CEL_ERROR;
}

/* The value of a key. False: there is none; *ret_value may be an error instead, as for a key that
 * cannot be one. */
bool cel_map_find(struct arena *arena, const struct cel_value *map, const struct cel_value *key,
                  struct cel_value *ret_value);
uint32_t cel_map_count(const struct cel_map *map);
struct cel_values cel_map_keys(struct arena *arena, const struct cel_value *map);

/* Characters, bytes, elements, pairs; 1 for all else. */
uint64_t cel_size(const struct cel_value *value);
int64_t cel_characters(struct str text);

bool cel_equal(struct arena *arena, const struct cel_value *a, const struct cel_value *b);
/* -1, 0, 1; or 2: the kinds have no order. NaN is after nothing and before nothing: 3. */
int cel_compare(const struct cel_value *a, const struct cel_value *b);

/* The type of a value as type(x) has it. */
const struct cel_type *cel_value_type(const struct cel_value *value);
/* As one would write it in CEL, for tests and messages. */
struct str cel_show(struct arena *arena, const struct cel_value *value);

#endif
