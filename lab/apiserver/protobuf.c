/* SPDX-License-Identifier: Apache-2.0 */
/* protobuf.c: the wire format (protobuf.dev/programming-guides/encoding), read along the schema of
 * the type: "k8s\0", then runtime.Unknown { typeMeta = 1 { apiVersion = 1,
 * kind = 2 }, raw = 2 }. */
#include "lab/apiserver/protobuf.h"

#include "text/base64.h"
#include "text/bytes.h"
#include "text/time.h"

static const uint64_t YEAR_10000_S = 253402300800;

enum { DEPTH_MAX = 32, WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

static const struct row {
    const char *type;
    uint64_t number;
    const char *name;
    bool zero_counts;
} rows[] = {
#define PB(type, number, name) { #type, number, #name, false },
#define PB0(type, number, name) { #type, number, #name, true },
#include "lab/apiserver/protobuf.def"
#undef PB0
#undef PB
};

struct reader {
    struct arena *arena;
    const struct map *types;
    int depth;
};

/* One field of a message. */
struct field {
    uint64_t number;
    unsigned wire;
    uint64_t varint;
    struct str bytes;
};

static bool take_varint(struct str *rest, uint64_t *ret_number)
{
    uint64_t number = 0;

    for (unsigned shift = 0; shift < 64 && rest->len; shift += 7) {
        unsigned char byte = (unsigned char)rest->at[0];

        *rest = str_slice(*rest, 1, rest->len);
        number |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *ret_number = number;
            return true;
        }
    }
    return false;
}

static int take_field(struct str *rest, struct field *ret_field, struct error *err)
{
    struct field f = { 0 };
    uint64_t key, len = 0;

    if (!take_varint(rest, &key))
        return error_set(err, ERROR_SYNTAX, "protobuf: cut off");
    f.number = key >> 3;
    f.wire = (unsigned)(key & 7);
    if (f.wire == WIRE_VARINT) {
        if (!take_varint(rest, &f.varint))
            return error_set(err, ERROR_SYNTAX, "protobuf: cut off");
    } else if (f.wire == WIRE_BYTES || f.wire == WIRE_64 || f.wire == WIRE_32) {
        len = f.wire == WIRE_64 ? 8 : 4;
        if ((f.wire == WIRE_BYTES && !take_varint(rest, &len)) || len > rest->len)
            return error_set(err, ERROR_SYNTAX, "protobuf: cut off");
        f.bytes = str_slice(*rest, 0, (size_t)len);
        *rest = str_slice(*rest, (size_t)len, rest->len);
    } else {
        return error_set(err, ERROR_SYNTAX, "protobuf: wire type %u", f.wire);
    }
    *ret_field = f;
    return 0;
}

/* The last value of a field in a small message; false if it is not there. */
static bool find_field(struct str message, uint64_t number, struct field *ret_field)
{
    struct field f;
    struct error err;
    bool found = false;

    while (message.len && take_field(&message, &f, &err) == 0)
        if (f.number == number) {
            *ret_field = f;
            found = true;
        }
    return found;
}

/* JSON has UTF-8 without NUL only. */
static int read_text(struct reader *r, struct str text, struct value **ret_value, struct error *err)
{
    uint32_t len;

    for (size_t at = 0; at < text.len; at += len) {
        len = utf8_length(text.at + at, text.at + text.len);
        if (len == 0 || text.at[at] == '\0')
            return error_set(err, ERROR_SYNTAX, "protobuf: a text is not UTF-8 or holds a NUL");
    }
    *ret_value = value_str(r->arena, text);
    return 0;
}

static int read_message(struct reader *r, const struct schema *type, struct str message,
                        struct value **ret_value, struct error *err);

/* metav1.Time and MicroTime { seconds = 1, nanos = 2 }. The zero time is null. */
static int read_time(struct reader *r, const struct schema *s, struct str message,
                     struct value **ret_value, struct error *err)
{
    struct field seconds = { 0 }, nanos = { 0 };
    struct str text;

    *ret_value = value_null(r->arena);
    if (!find_field(message, 1, &seconds))
        return 0;
    if (seconds.varint >= YEAR_10000_S)
        return error_set(err, ERROR_SYNTAX, "protobuf: a time outside of 1970 to 9999");
    find_field(message, 2, &nanos);
    text = time_rfc3339(r->arena, (int64_t)seconds.varint * 1000);
    if (s->micro)
        text = str_fmt(r->arena, "%.*s.%06uZ", STR_ARG(str_slice(text, 0, text.len - 1)),
                       (unsigned)(nanos.varint / 1000 % 1000000));
    *ret_value = value_str(r->arena, text);
    return 0;
}

/* Quantity { string = 1 }; IntOrString { type = 1, intVal = 2, strVal = 3 }. */
static int read_int_or_string(struct reader *r, const struct schema *s, struct str message,
                              struct value **ret_value, struct error *err)
{
    struct field type = { 0 }, value = { 0 };
    bool is_quantity = s->format.len == 0;

    if (is_quantity) {
        find_field(message, 1, &value);
        return read_text(r, value.bytes, ret_value, err);
    }
    find_field(message, 1, &type);
    find_field(message, type.varint ? 3 : 2, &value);
    if (type.varint)
        return read_text(r, value.bytes, ret_value, err);
    *ret_value = value_int(r->arena, (int64_t)(int32_t)value.varint);
    return 0;
}

/* metav1.FieldsV1 { Raw = 1 }: JSON as it is. */
static int read_fields(struct reader *r, struct str message, struct value **ret_value,
                       struct error *err)
{
    struct field raw = { 0 };

    find_field(message, 1, &raw);
    return value_read(r->arena, raw.bytes, &json_limits_default, ret_value, err);
}

/* A message in which nothing is said: Go's encoder writes empty strings and empty structs out. */
static bool is_void(const struct field *f, int depth)
{
    struct str rest = f->bytes;
    struct field inner;
    struct error err;

    if (f->wire == WIRE_VARINT)
        return f->varint == 0;
    while (rest.len)
        if (depth > DEPTH_MAX || take_field(&rest, &inner, &err) != 0 ||
            !is_void(&inner, depth + 1))
            return false;
    return true;
}

static int read_one(struct reader *r, const struct schema *s, const struct field *f,
                    struct value **ret_value, struct error *err)
{
    if (s->int_or_string)
        return read_int_or_string(r, s, f->bytes, ret_value, err);
    switch (s->type) {
    case SCHEMA_STRING:
        if (str_eq(s->format, STR("date-time")))
            return read_time(r, s, f->bytes, ret_value, err);
        if (!str_eq(s->format, STR("byte")))
            return read_text(r, f->bytes, ret_value, err);
        *ret_value = value_str(r->arena, base64_encode(r->arena, f->bytes));
        return 0;
    case SCHEMA_INTEGER:
        *ret_value = value_int(r->arena, (int64_t)f->varint);
        return 0;
    case SCHEMA_BOOLEAN:
        *ret_value = value_bool(r->arena, f->varint != 0);
        return 0;
    case SCHEMA_OBJECT:
        return read_message(r, s, f->bytes, ret_value, err);
    case SCHEMA_NUMBER:
    case SCHEMA_ARRAY:
    case SCHEMA_ANY:
        break;
    }
    return error_set(err, ERROR_MEDIA_TYPE, "herd-lab does not read this field from protobuf");
}

static int put_entry(struct reader *r, const struct schema *s, const struct field *f,
                     struct value *map, struct error *err)
{
    struct field key = { 0 }, field = { .wire = WIRE_BYTES };
    struct value *value, *name;

    find_field(f->bytes, 1, &key);
    find_field(f->bytes, 2, &field);
    if (read_text(r, key.bytes, &name, err) != 0 ||
        read_one(r, s->additional, &field, &value, err) != 0)
        return -1;
    value_set(r->arena, map, key.bytes, value);
    return 0;
}

static const struct row *row_of(struct str type, uint64_t number)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].number == number && str_eq(type, str_of(rows[i].type)))
            return &rows[i];
    return NULL;
}

/* Go's encoder writes empty strings, zeros and false of plain fields too; JSON leaves them out. */
static bool means_unset(const struct row *row, const struct schema *s, const struct field *f,
                        const struct value *value)
{
    if (value_kind(value) == JSON_NULL)
        return true;
    if (row->zero_counts)
        return false;
    if (s->type == SCHEMA_STRING)
        return value_text(value).len == 0;
    return (s->type == SCHEMA_INTEGER || s->type == SCHEMA_BOOLEAN) && f->varint == 0;
}

static int put_field(struct reader *r, const struct schema *type, const struct field *f,
                     struct value *object, struct error *err)
{
    const struct row *row = row_of(type->name, f->number);
    const char *name = row ? row->name : NULL;
    const struct schema *s = name ? schema_property(type, str_of(name)) : NULL;
    struct value *held, *value;

    if ((!s || (s->type == SCHEMA_ANY && !s->int_or_string)) && is_void(f, 0))
        return 0;
    if (!s)
        return error_set(err, ERROR_MEDIA_TYPE,
                         "herd-lab does not read field %llu of %.*s from protobuf",
                         (unsigned long long)f->number, STR_ARG(type->name));
    held = value_get(object, str_of(name));
    if (strcmp(name, "fieldsV1") == 0) {
        if (read_fields(r, f->bytes, &value, err) != 0)
            return error_wrap(err, "%.*s.%s", STR_ARG(type->name), name);
        value_set(r->arena, object, str_of(name), value);
        return 0;
    }
    if (s->type == SCHEMA_OBJECT && s->additional) {
        held = value_object_at(r->arena, object, str_of(name));
        if (held && put_entry(r, s, f, held, err) != 0)
            return error_wrap(err, "%.*s.%s", STR_ARG(type->name), name);
        return 0;
    }
    if (read_one(r, s->type == SCHEMA_ARRAY ? s->items : s, f, &value, err) != 0)
        return error_wrap(err, "%.*s.%s", STR_ARG(type->name), name);
    if (s->type == SCHEMA_ARRAY) {
        if (!held) {
            held = value_array(r->arena);
            value_set(r->arena, object, str_of(name), held);
        }
        value_append(held, value);
    } else if (!means_unset(row, s, f, value)) {
        value_set(r->arena, object, str_of(name), value);
    }
    return 0;
}

static int read_message(struct reader *r, const struct schema *type, struct str message,
                        struct value **ret_value, struct error *err)
{
    struct value *object = value_object(r->arena);
    struct field f;

    if (++r->depth > DEPTH_MAX)
        return error_set(err, ERROR_SYNTAX, "protobuf: nested too deeply");
    while (message.len)
        if (take_field(&message, &f, err) != 0 || put_field(r, type, &f, object, err) != 0)
            return -1;
    r->depth--;
    *ret_value = object;
    return 0;
}

/* TypeMeta { apiVersion = 1, kind = 2 }. */
static int read_type_meta(struct reader *r, struct str message, struct value *object,
                          struct error *err)
{
    static const struct str names[] = { STR_INIT("apiVersion"), STR_INIT("kind") };

    for (uint64_t i = 0; i < 2; i++) {
        struct field text;
        struct value *value;

        if (!find_field(message, i + 1, &text))
            continue;
        if (read_text(r, text.bytes, &value, err) != 0)
            return -1;
        value_set(r->arena, object, names[i], value);
    }
    return 0;
}

int protobuf_read(struct arena *arena, const struct map *types, const struct schema *type,
                  struct str body, struct value **ret_value, struct error *err)
{
    struct reader r = { arena, types, 0 };
    struct str magic = str_make("k8s\0", 4);
    struct field meta = { 0 }, raw;
    struct value *object = NULL;

    if (!str_starts(body, magic))
        return error_set(err, ERROR_SYNTAX, "protobuf: does not begin with \"k8s\" and a zero");
    body = str_slice(body, magic.len, body.len);
    if (!find_field(body, 2, &raw))
        return error_set(err, ERROR_SYNTAX, "protobuf: the body ends before its object");
    if (!type || type->name.len == 0)
        return error_set(err, ERROR_MEDIA_TYPE, "custom resources have no protobuf form");
    if (read_message(&r, type, raw.bytes, &object, err) != 0)
        return -1;
    find_field(body, 1, &meta);
    if (read_type_meta(&r, meta.bytes, object, err) != 0)
        return -1;
    *ret_value = object;
    return 0;
}
