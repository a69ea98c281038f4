/* SPDX-License-Identifier: Apache-2.0 */
/* json.h: strict reading of JSON, without building a tree.
 *
 * json_read scans the bytes once: UTF-8, no NUL (also not as \u0000), no lone surrogates, no
 * duplicate key in an object, no trailing bytes, RFC 8259 numbers, bounded depth, nodes and string
 * length. What it leaves behind is an index: where each value begins and ends. A `struct json` is a
 * view of one value, passed by value; reading it decodes only that value.
 *
 * The bytes and the arena outlive all views. An absent value is a view too: json_get on anything
 * that has no such member gives it, and all readers accept it. */
#ifndef HERD_TEXT_JSON_H
#define HERD_TEXT_JSON_H

#include "base/error.h"
#include "base/str.h"

enum json_kind {
    JSON_ABSENT,
    JSON_NULL,
    JSON_BOOL,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT,
};

struct json_index; /* opaque: made by json_read */

struct json {
    const struct json_index *index; /* NULL: absent */
    uint32_t node;
};

struct json_limits {
    size_t bytes_max;
    uint32_t depth_max;
    uint32_t nodes_max;
    size_t string_max; /* bytes of one string or number as written */
};

/* The bounds of limits.def, with LIMIT_REVIEW_BODY bytes. */
extern const struct json_limits json_limits_default;

/* 0 and the root; or -1: ERROR_SYNTAX or ERROR_TOO_LARGE, with line, column and what was
 * expected; `field` is the object or array in which that is, "" at the top. */
int json_read(struct arena *arena, struct str bytes, const struct json_limits *limits,
              struct json *ret_root, struct error *err);

enum json_kind json_kind(struct json value);
/* "object", "array", "string", "number", "boolean", "null", "nothing": for messages. */
const char *json_kind_name(enum json_kind kind);
static inline bool json_is(struct json value, enum json_kind kind)
{
    return json_kind(value) == kind;
}

/* Member `key` of an object (case counts). */
struct json json_get(struct json object, struct str key);
/* json_get along several keys; the last argument is NULL. */
struct json json_walk(struct json value, ...) __attribute__((sentinel));
/* False: no object in `value`, at any depth, has member `key`. One pass over its index. */
bool json_may_hold(struct json value, struct str key);
/* How many members or elements; 0 for all else. */
uint32_t json_count(struct json value);

/* Members of an object or elements of an array, in order:
 *     struct json_iter it = json_iter(value);
 *     while (json_next(&it)) use(it.key, it.value); */
struct json_iter {
    struct str key; /* decoded; "" for elements */
    struct json value;
    uint32_t position; /* 0 for the first */
    uint32_t next_, end_;
    struct json of_;
    struct arena *arena_;
};

/* Keys with escapes are decoded into the arena of json_read. */
struct json_iter json_iter(struct json value);
bool json_next(struct json_iter *iter);

/* The value's bytes as they stand in the input. */
struct str json_raw(struct json value);
/* A string's text: a view of the input where it has no escapes, else decoded into the arena of
 * json_read. "" for what is not a string. */
struct str json_str(struct json value);
bool json_bool(struct json value); /* false for what is not true */
/* A number that is a whole int64_t, written without fraction or exponent; else false. */
bool json_int64(struct json value, int64_t *ret_number);
/* Any number, rounded; 0 for what is not one. */
double json_double(struct json value);
/* Byte offset of the value in the input. */
size_t json_offset(struct json value);

/* Equal as JSON values: object order does not count, numbers compare by value. */
bool json_equal(struct json a, struct json b);

#endif
