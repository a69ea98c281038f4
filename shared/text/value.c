/* SPDX-License-Identifier: Apache-2.0 */
/* value.c: trees of cJSON nodes in an arena.
 *
 * A `struct value *` is a cJSON *. Of cJSON we take the node and the list operations that neither
 * allocate nor free (append, detach, walk). What would allocate, free, parse or print is
 * not called: nodes are built from json_read's index, so cJSON's leniency (first of duplicate keys,
 * strings cut at \u0000, rounded integers, keys without case) has no way in, nothing fails
 * silently, and no global hooks are set. A number keeps its text in `valuestring`; strings and keys
 * end with a NUL in the arena. Recursion is as deep as the value: json_read bounds that. */
#include "text/value.h"

#include "text/bytes.h"
#include "text/lookup.h"
#include "text/number.h"

#include <cjson/cJSON.h>

static struct value *as_value(cJSON *node)
{
    return (struct value *)(void *)node;
}

static cJSON *as_node(const struct value *value)
{
    return (cJSON *)(uintptr_t)value;
}

static cJSON *new_node(struct arena *arena, int type)
{
    cJSON *node = arena_new(arena, cJSON);

    node->type = type;
    return node;
}

/* A copy with a NUL behind. A NUL inside, which no JSON text can hold, becomes U+FFFD: the rest of
 * the string must not vanish. */
static char *copy_text(struct arena *arena, struct str text)
{
    if (text.len == 0 || !memchr(text.at, '\0', text.len))
        return (char *)(uintptr_t)str_dup(arena, text).at;

    struct strbuf buf = strbuf_new(arena, text.len + 16);
    struct str part;

    for (bool first = true; str_split(&text, '\0', &part); first = false) {
        if (!first)
            strbuf_lit(&buf, UTF8_REPLACEMENT);
        strbuf_put(&buf, part);
    }
    return (char *)(uintptr_t)strbuf_str(&buf).at;
}

static cJSON *text_node(struct arena *arena, int type, struct str text)
{
    cJSON *node = new_node(arena, type);

    node->valuestring = copy_text(arena, text);
    return node;
}

static void append_node(cJSON *container, cJSON *node)
{
    cJSON_AddItemToArray(container, node);
}

static void name_node(struct arena *arena, cJSON *node, struct str key)
{
    node->string = copy_text(arena, key);
    node->type |= cJSON_StringIsConst;
}

/* ---- making ---- */

int value_read(struct arena *arena, struct str bytes, const struct json_limits *limits,
               struct value **ret_value, struct error *err)
{
    struct json root;

    if (json_read(arena, bytes, limits, &root, err) < 0)
        return -1;
    *ret_value = value_of(arena, root);
    return 0;
}

static cJSON *node_from(struct arena *arena, struct json json)
{
    enum json_kind kind = json_kind(json);
    struct json_iter it = json_iter(json);
    cJSON *node;

    switch (kind) {
    case JSON_ABSENT:
        return NULL;
    case JSON_NULL:
        return new_node(arena, cJSON_NULL);
    case JSON_BOOL:
        return new_node(arena, json_bool(json) ? cJSON_True : cJSON_False);
    case JSON_NUMBER:
        return text_node(arena, cJSON_Number, json_raw(json));
    case JSON_STRING:
        return text_node(arena, cJSON_String, json_str(json));
    case JSON_ARRAY:
    case JSON_OBJECT:
        break;
    }
    node = new_node(arena, kind == JSON_ARRAY ? cJSON_Array : cJSON_Object);
    while (json_next(&it)) {
        cJSON *member = node_from(arena, it.value);

        if (kind == JSON_OBJECT)
            name_node(arena, member, it.key);
        append_node(node, member);
    }
    return node;
}

struct value *value_of(struct arena *arena, struct json json)
{
    return as_value(node_from(arena, json));
}

struct value *value_null(struct arena *arena)
{
    return as_value(new_node(arena, cJSON_NULL));
}

struct value *value_bool(struct arena *arena, bool truth)
{
    return as_value(new_node(arena, truth ? cJSON_True : cJSON_False));
}

struct value *value_int(struct arena *arena, int64_t number)
{
    char text[24];
    struct strbuf buf = { arena, text, 0, sizeof(text) - 1 };

    strbuf_i64(&buf, number);
    return value_number(arena, strbuf_str(&buf));
}

struct value *value_number(struct arena *arena, struct str text)
{
    return as_value(text_node(arena, cJSON_Number, text));
}

struct value *value_str(struct arena *arena, struct str text)
{
    return as_value(text_node(arena, cJSON_String, text));
}

struct value *value_array(struct arena *arena)
{
    return as_value(new_node(arena, cJSON_Array));
}

struct value *value_object(struct arena *arena)
{
    return as_value(new_node(arena, cJSON_Object));
}

static cJSON *clone_node(struct arena *arena, const cJSON *from)
{
    cJSON *node = new_node(arena, from->type & 0xff);
    const cJSON *member;

    if (from->valuestring)
        node->valuestring = copy_text(arena, str_of(from->valuestring));
    cJSON_ArrayForEach(member, from)
    {
        cJSON *copy = clone_node(arena, member);

        if (member->string)
            name_node(arena, copy, str_of(member->string));
        append_node(node, copy);
    }
    return node;
}

struct value *value_clone(struct arena *arena, const struct value *value)
{
    return value ? as_value(clone_node(arena, as_node(value))) : NULL;
}

/* ---- reading ---- */

enum json_kind value_kind(const struct value *value)
{
    if (!value)
        return JSON_ABSENT;
    switch (as_node(value)->type & 0xff) {
    case cJSON_False:
    case cJSON_True:
        return JSON_BOOL;
    case cJSON_Number:
        return JSON_NUMBER;
    case cJSON_String:
        return JSON_STRING;
    case cJSON_Array:
        return JSON_ARRAY;
    case cJSON_Object:
        return JSON_OBJECT;
    default:
        return JSON_NULL;
    }
}

struct str value_text(const struct value *value)
{
    return value_kind(value) == JSON_STRING ? str_of(as_node(value)->valuestring) : STR("");
}

struct str value_number_text(const struct value *value)
{
    return value_kind(value) == JSON_NUMBER ? str_of(as_node(value)->valuestring) : STR("");
}

bool value_is_true(const struct value *value)
{
    return value && (as_node(value)->type & 0xff) == cJSON_True;
}

bool value_int64(const struct value *value, int64_t *ret_number)
{
    return number_int64(value_number_text(value), ret_number);
}

uint32_t value_count(const struct value *value)
{
    return value ? (uint32_t)cJSON_GetArraySize(as_node(value)) : 0;
}

struct value *value_get(const struct value *object, struct str key)
{
    const cJSON *member;

    if (value_kind(object) != JSON_OBJECT)
        return NULL;
    cJSON_ArrayForEach(member, as_node(object)) if (str_eq(str_of(member->string), key)) return (
        struct value *)(uintptr_t)member;
    return NULL;
}

struct value *value_at(const struct value *array, uint32_t index)
{
    if (value_kind(array) != JSON_ARRAY || index > INT32_MAX)
        return NULL;
    return as_value(cJSON_GetArrayItem(as_node(array), (int)index));
}

struct value *value_walk(const struct value *value, ...)
{
    va_list keys;
    const char *key;

    va_start(keys, value);
    while ((key = va_arg(keys, const char *)))
        value = value_get(value, str_of(key));
    va_end(keys);
    return as_value(as_node(value));
}

struct value *value_first(const struct value *container)
{
    return container ? as_value(as_node(container)->child) : NULL;
}

struct value *value_next(const struct value *member)
{
    return member ? as_value(as_node(member)->next) : NULL;
}

struct str value_key(const struct value *member)
{
    return member && as_node(member)->string ? str_of(as_node(member)->string) : STR("");
}

/* ---- changing ---- */

/* cJSON_ReplaceItemViaPointer would free what it replaces. The first child's `prev` is the last. */
static void put_in_place(cJSON *container, cJSON *old, cJSON *node)
{
    bool was_last = container->child->prev == old;

    node->next = old->next;
    node->prev = old->prev;
    if (container->child == old)
        container->child = node;
    else
        node->prev->next = node;
    if (node->next)
        node->next->prev = node;
    if (was_last)
        container->child->prev = node;
    old->next = NULL;
    old->prev = NULL;
}

void value_set(struct arena *arena, struct value *object, struct str key, struct value *member)
{
    struct value *old = value_get(object, key);

    if (old == member)
        return;
    if (!old) {
        value_add(arena, object, key, member);
        return;
    }
    name_node(arena, as_node(member), key);
    put_in_place(as_node(object), as_node(old), as_node(member));
}

void value_add(struct arena *arena, struct value *object, struct str key, struct value *member)
{
    name_node(arena, as_node(member), key);
    append_node(as_node(object), as_node(member));
}

static bool detach(struct value *container, struct value *member)
{
    return member && cJSON_DetachItemViaPointer(as_node(container), as_node(member));
}

bool value_remove(struct value *object, struct str key)
{
    return detach(object, value_get(object, key));
}

/* What was a member before has a key no more. */
static cJSON *nameless(struct value *element)
{
    as_node(element)->string = NULL;
    as_node(element)->type &= 0xff;
    return as_node(element);
}

void value_append(struct value *array, struct value *element)
{
    append_node(as_node(array), nameless(element));
}

/* cJSON_InsertItemInArray of Debian 12 (1.7.15-1+deb12u4) rejects, silently, every place but the
 * first and the last: its check of the list reads `prev` of the new item. */
void value_insert(struct value *array, uint32_t index, struct value *element)
{
    cJSON *behind = as_node(value_at(array, index));
    cJSON *node = nameless(element);

    if (!behind) {
        append_node(as_node(array), node);
        return;
    }
    node->next = behind;
    node->prev = behind->prev;
    behind->prev = node;
    if (as_node(array)->child == behind)
        as_node(array)->child = node;
    else
        node->prev->next = node;
}

bool value_remove_at(struct value *array, uint32_t index)
{
    return detach(array, value_at(array, index));
}

struct value *value_object_at(struct arena *arena, struct value *object, struct str key)
{
    struct value *member = value_get(object, key);

    if (member && value_kind(member) != JSON_NULL)
        return value_kind(member) == JSON_OBJECT ? member : NULL;
    member = value_object(arena);
    value_set(arena, object, key, member);
    return member;
}
