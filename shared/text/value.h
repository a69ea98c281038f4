/* SPDX-License-Identifier: Apache-2.0 */
/* value.h: JSON values that can be changed: to merge, patch, default and prune.
 *
 * Where json.h is for reading, this is for editing: a tree of cJSON nodes in an arena (cJSON's own
 * header stays inside value.c). Bytes are scanned strictly by json_read before cJSON sees them, and
 * each number keeps its text, so nothing is rounded. Objects keep the order of their members. A
 * value has one place: to put it into a second one, clone it. */
#ifndef HERD_TEXT_VALUE_H
#define HERD_TEXT_VALUE_H

#include "text/json.h"

struct value;

/* json_read, and then a tree. */
int value_read(struct arena *arena, struct str bytes, const struct json_limits *limits,
               struct value **ret_value, struct error *err);
/* A tree of what a view shows; JSON_ABSENT gives NULL. */
struct value *value_of(struct arena *arena, struct json json);

struct value *value_null(struct arena *arena);
struct value *value_bool(struct arena *arena, bool truth);
struct value *value_int(struct arena *arena, int64_t number);
struct value *value_number(struct arena *arena, struct str text); /* a valid JSON number */
struct value *value_str(struct arena *arena, struct str text);
struct value *value_array(struct arena *arena);
struct value *value_object(struct arena *arena);
struct value *value_clone(struct arena *arena, const struct value *value);

/* A copy in which what `change` gives stands in place of each string; keys stay. */
struct value *value_map_strings(struct arena *arena, const struct value *value,
                                struct str (*change)(void *context, struct str text),
                                void *context);

/* All accept NULL, which is JSON_ABSENT. */
enum json_kind value_kind(const struct value *value);
struct str value_text(const struct value *value);        /* of a string; "" else */
struct str value_number_text(const struct value *value); /* of a number; "" else */
bool value_is_true(const struct value *value);
bool value_int64(const struct value *value, int64_t *ret_number);
uint32_t value_count(const struct value *value);

/* Members and elements. value_first/value_next walk both. */
struct value *value_get(const struct value *object, struct str key);
struct value *value_at(const struct value *array, uint32_t index);
/* value_get along several keys; the last argument is NULL. */
struct value *value_walk(const struct value *value, ...) __attribute__((sentinel));
struct value *value_first(const struct value *container);
struct value *value_next(const struct value *member);
struct str value_key(const struct value *member);

/* Replace or append. `member` must be in no other place. */
void value_set(struct arena *arena, struct value *object, struct str key, struct value *member);
/* True if it was there. */
bool value_remove(struct value *object, struct str key);
void value_append(struct value *array, struct value *element);
void value_insert(struct value *array, uint32_t index, struct value *element);
bool value_remove_at(struct value *array, uint32_t index);
/* The object at object[key], made and put there if absent or null; NULL if it is another kind. */
struct value *value_object_at(struct arena *arena, struct value *object, struct str key);

/* Equal as JSON values: object order does not count, numbers compare by value. */
bool value_equal(const struct value *a, const struct value *b);

/* Compact JSON; with `sorted`, object members in byte order of their keys (for digests). */
void value_write(const struct value *value, bool sorted, struct strbuf *out);
struct str value_json(struct arena *arena, const struct value *value);

/* `over` laid on `base`: maps merge, lists and scalars replace, null deletes (Helm's rule for
 * values, which is RFC 7386 but that `over`'s own nulls vanish). Both stay; the result is new. */
struct value *value_merge(struct arena *arena, const struct value *base, const struct value *over);

#endif
