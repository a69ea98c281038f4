/* SPDX-License-Identifier: Apache-2.0 */
/* openapi_v2_protobuf.c: JSON to protobuf by the rows of openapi_v2.def. Protobuf: a field is its
 * number and wire type as one varint, then a varint, or a length and bytes; a message is its
 * fields. */
#include "lab/apiserver/openapi_v2.h"

enum message {
    NONE,
    DOCUMENT,
    INFO,
    PATHS,
    PATH,
    OPERATION,
    PARAMETERS_ITEM,
    PARAMETER,
    NON_BODY,
    QUERY,
    RESPONSES,
    RESPONSE_VALUE,
    RESPONSE,
    SCHEMA_ITEM,
    SCHEMAS,
    SCHEMA,
    TYPE,
    ANY,
};

enum form { TEXT, TEXTS, ONE, EACH, YAML, YAMLS, NAMED, WRAP };

static const struct field {
    enum message message;
    uint32_t number;
    const char *name;
    enum form form;
    enum message of;
} fields[] = {
#define FIELD(message, number, name, form, of) { message, number, name, form, of },
#include "lab/apiserver/openapi_v2.def"
#undef FIELD
};

static struct str encode(struct arena *arena, enum message message, struct json value);

static void put_varint(struct strbuf *out, uint64_t number)
{
    for (; number >= 128; number >>= 7)
        strbuf_char(out, (char)(number | 128));
    strbuf_char(out, (char)number);
}

static void put_bytes(struct strbuf *out, uint32_t number, struct str bytes)
{
    put_varint(out, (uint64_t)number << 3 | 2);
    put_varint(out, bytes.len);
    strbuf_put(out, bytes);
}

/* Any's second field is YAML, which JSON is. */
static struct str any(struct arena *arena, struct json value)
{
    struct strbuf out = strbuf_new(arena, 64);

    put_bytes(&out, 2, str_fmt(arena, "%.*s\n", STR_ARG(json_raw(value))));
    return strbuf_str(&out);
}

static void put_named(struct arena *arena, struct strbuf *out, const struct field *field,
                      struct str name, struct json value)
{
    struct strbuf pair = strbuf_new(arena, 256);

    put_bytes(&pair, 1, name);
    put_bytes(&pair, 2, encode(arena, field->of, value));
    put_bytes(out, field->number, strbuf_str(&pair));
}

static void put_each(struct arena *arena, struct strbuf *out, const struct field *field,
                     struct json list)
{
    struct json_iter it = json_iter(list);

    while (json_next(&it))
        put_bytes(out, field->number,
                  field->form == TEXTS   ? json_str(it.value)
                  : field->form == YAMLS ? any(arena, it.value)
                                         : encode(arena, field->of, it.value));
}

static void put_field(struct arena *arena, struct strbuf *out, const struct field *field,
                      struct str name, struct json value)
{
    switch (field->form) {
    case TEXT:
        put_bytes(out, field->number, json_str(value));
        break;
    case TEXTS:
        if (json_is(value, JSON_STRING))
            put_bytes(out, field->number, json_str(value));
        else
            put_each(arena, out, field, value);
        break;
    case ONE:
    case WRAP:
        put_bytes(out, field->number, encode(arena, field->of, value));
        break;
    case EACH:
    case YAMLS:
        put_each(arena, out, field, value);
        break;
    case YAML:
        put_bytes(out, field->number, str_fmt(arena, "%.*s\n", STR_ARG(json_raw(value))));
        break;
    case NAMED:
        put_named(arena, out, field, name, value);
        break;
    }
}

/* The row of a member; NULL if this form does not say it. */
static const struct field *find(enum message message, struct str name)
{
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        struct str row = str_of(fields[i].name);

        if (fields[i].message == message &&
            (str_eq(row, name) || str_eq(row, STR("*")) ||
             (str_eq(row, STR("x-*")) && str_starts(name, STR("x-")))))
            return &fields[i];
    }
    return NULL;
}

/* A message that is made of the value as a whole, not of its members. */
static const struct field *whole(enum message message)
{
    const struct field *field = find(message, STR("*"));
    bool is_whole = field && field->form != NAMED && str_eq(str_of(field->name), STR("*"));

    return is_whole ? field : NULL;
}

static struct str encode(struct arena *arena, enum message message, struct json value)
{
    struct strbuf out = strbuf_new(arena, 256);
    const struct field *field = whole(message);
    struct json_iter it = json_iter(value);

    if (field) {
        put_field(arena, &out, field, STR(""), value);
        return strbuf_str(&out);
    }
    while (json_next(&it)) {
        field = find(message, it.key);
        if (field)
            put_field(arena, &out, field, it.key, it.value);
    }
    return strbuf_str(&out);
}

struct str openapi_v2_protobuf(struct arena *arena, struct json document)
{
    return encode(arena, DOCUMENT, document);
}
