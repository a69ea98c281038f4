/* SPDX-License-Identifier: Apache-2.0 */
/* json_canonical.c: sorted members, numbers by value. As deep as json_read allows. */
#include "text/json_canonical.h"

#include "text/json_write.h"
#include "text/number.h"

#include <stdlib.h>

struct member {
    struct str key;
    struct json value;
};

static int by_key(const void *a, const void *b)
{
    const struct member *left = a;
    const struct member *right = b;

    return str_cmp(left->key, right->key);
}

static void put_object(struct json object, struct strbuf *out)
{
    uint32_t count = json_count(object);
    struct member *members = arena_array(out->arena, struct member, count);
    struct json_iter it = json_iter(object);

    while (json_next(&it))
        members[it.position] = (struct member){ it.key, it.value };
    if (count > 1)
        qsort(members, count, sizeof(*members), by_key);
    strbuf_char(out, '{');
    for (uint32_t i = 0; i < count; i++) {
        if (i)
            strbuf_char(out, ',');
        json_quote(out, members[i].key);
        strbuf_char(out, ':');
        json_canonical(members[i].value, out);
    }
    strbuf_char(out, '}');
}

static void put_array(struct json array, struct strbuf *out)
{
    struct json_iter it = json_iter(array);

    strbuf_char(out, '[');
    while (json_next(&it)) {
        if (it.position)
            strbuf_char(out, ',');
        json_canonical(it.value, out);
    }
    strbuf_char(out, ']');
}

void json_canonical_number(struct str text, struct strbuf *out)
{
    number_canonical(text, out);
}

void json_canonical(struct json value, struct strbuf *out)
{
    switch (json_kind(value)) {
    case JSON_ABSENT:
        return;
    case JSON_OBJECT:
        put_object(value, out);
        return;
    case JSON_ARRAY:
        put_array(value, out);
        return;
    case JSON_STRING:
        json_quote(out, json_str(value));
        return;
    case JSON_NUMBER:
        number_canonical(json_raw(value), out);
        return;
    case JSON_NULL:
    case JSON_BOOL:
        strbuf_put(out, json_raw(value));
        return;
    }
}
