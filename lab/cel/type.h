/* SPDX-License-Identifier: Apache-2.0 */
/* type.h: types of CEL: what an expression is before it is evaluated.
 *
 * A type is immutable and lives in an arena, or is one of the constants below. CEL_STRUCT has
 * fields by name; CEL_PARAM stands for any type while overloads are matched (unify.h). The
 * identity of list elements, which a schema says, stands here too. Source: cel-spec doc/langdef.md
 * "Types"; k8s.io/apiserver/pkg/cel/types.go. */
#ifndef HERD_LAB_CEL_TYPE_H
#define HERD_LAB_CEL_TYPE_H

#include "base/list.h"
#include "base/map.h"

enum cel_kind {
    CEL_ERROR, /* of a value: what went wrong; of a type: that has been told already */
    CEL_DYN,
    CEL_PARAM,
    CEL_NULL,
    CEL_BOOL,
    CEL_INT,
    CEL_UINT,
    CEL_DOUBLE,
    CEL_STRING,
    CEL_BYTES,
    CEL_TIMESTAMP,
    CEL_DURATION,
    CEL_LIST,
    CEL_MAP,
    CEL_STRUCT,
    CEL_OPTIONAL,
    CEL_TYPE,
    CEL_QUANTITY, /* kubernetes.Quantity */
    CEL_KIND_COUNT,
};

/* How elements of a list are told apart, which decides when two lists are equal. */
enum cel_identity { CEL_ORDERED, CEL_SET, CEL_KEYED };

struct cel_type {
    enum cel_kind kind;
    struct str name;              /* of CEL_STRUCT and CEL_PARAM */
    const struct cel_type *of[2]; /* element; key and value; inside; what a type is the type of */
    uint32_t param;               /* of CEL_PARAM: 1 and 2 are A and B, others are fresh */
    struct map *fields;           /* of CEL_STRUCT: name in CEL -> struct cel_field */
    struct map *members;          /* the same by name in JSON */
    bool open;                    /* of CEL_STRUCT: JSON is as it comes, dyn */
    bool nullable;
    enum cel_identity identity; /* of CEL_LIST */
    struct str_list keys;       /* of CEL_KEYED: members, by their names in JSON */
};

struct cel_field {
    struct str name;   /* in CEL */
    struct str member; /* in JSON */
    const struct cel_type *type;
};

extern const struct cel_type cel_type_error, cel_type_dyn, cel_type_null, cel_type_bool,
    cel_type_int, cel_type_uint, cel_type_double, cel_type_string, cel_type_bytes,
    cel_type_timestamp, cel_type_duration, cel_type_type, cel_type_quantity, cel_type_a, cel_type_b,
    cel_type_list_dyn, cel_type_map_dyn;

const struct cel_type *cel_type_list(struct arena *arena, const struct cel_type *element);
const struct cel_type *cel_type_map(struct arena *arena, const struct cel_type *key,
                                    const struct cel_type *value);
const struct cel_type *cel_type_optional(struct arena *arena, const struct cel_type *inside);
const struct cel_type *cel_type_of_type(struct arena *arena, const struct cel_type *of);
/* Without fields yet. `name` is borrowed. */
struct cel_type *cel_type_struct(struct arena *arena, struct str name);
/* Does nothing if the member's name cannot be one in CEL (cel_escape). */
void cel_type_add_field(struct arena *arena, struct cel_type *type, struct str member,
                        const struct cel_type *of);
const struct cel_field *cel_type_field(const struct cel_type *type, struct str name);

/* A member's name as an identifier: "a-b" is "a__dash__b"; false if it cannot be one.
 * Source: k8s.io/apiserver/pkg/cel/escaping.go. */
bool cel_escape(struct arena *arena, struct str member, struct str *ret_name);
/* A word that CEL keeps to itself, such as "in" or "namespace". */
bool cel_is_reserved(struct str word);

/* Equal in all parts. */
bool cel_type_same(const struct cel_type *a, const struct cel_type *b);
/* As messages of the compiler show it: "list(map(string, int))". */
struct str cel_type_text(struct arena *arena, const struct cel_type *type);
/* As type(x) has it: "list", "google.protobuf.Timestamp". */
struct str cel_type_name(const struct cel_type *type);
/* The type that an identifier such as `int` or `list` names; NULL = none. */
const struct cel_type *cel_type_named(struct str name);

#endif
