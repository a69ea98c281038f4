/* protobuf_check.c: the wire format (protobuf.dev/programming-guides/encoding) from the first byte
 * to the last: keys, lengths and wire types; of fields with a row in protobuf.def also whether the
 * bytes are what the schema says. Fields without a row are only measured: protobuf_read decides.
 *
 * A body is "k8s\0" and runtime.Unknown { typeMeta = 1, raw = 2, contentEncoding = 3,
 * contentType = 4 } (k8s.io/apimachinery/pkg/runtime/generated.proto). Go writes all four, and
 * `raw` also when it is empty: a body without it has lost its end. */
#include "lab/apiserver/protobuf_check.h"

#include "text/bytes.h"

enum {
    WIRE_VARINT = 0,
    WIRE_64 = 1,
    WIRE_BYTES = 2,
    WIRE_32 = 5,
    VARINT_BYTES_MAX = 10,
    NUMBER_MAX = (1 << 29) - 1, /* of a field, by the format */
    /* Entries of the maps of one message. A map finds a key by walking, so each costs all before
     * it; a ConfigMap of 1 MiB, the most that etcd takes, seldom has a thousand. */
    ENTRIES_MAX = 10000,
};

static const int64_t year_1_s = -62135596800, year_10000_s = 253402300800;

static const struct row {
    const char *type;
    uint64_t number;
    const char *name;
} rows[] = {
#define PB(type, number, name) { #type, number, #name },
#define PB0 PB
#include "lab/apiserver/protobuf.def"
#undef PB0
#undef PB
};

struct check {
    const char *begin; /* of the body, to tell places */
    const struct json_limits *limits;
    uint32_t fields;
};

struct field {
    uint64_t number;
    unsigned wire;
    uint64_t varint;  /* of WIRE_VARINT */
    struct str bytes; /* of all else */
    const char *at;
};

/* ---- the wire ---- */

static int cut_off(const struct check *c, const char *at, const char *where, struct error *err)
{
    return error_set(err, ERROR_SYNTAX, "protobuf: byte %zu: the body ends within %s",
                     (size_t)(at - c->begin), where);
}

static int take_varint(const struct check *c, struct str *rest, uint64_t *ret_number,
                       struct error *err)
{
    const char *at = rest->at;
    uint64_t number = 0;

    for (unsigned i = 0; i < VARINT_BYTES_MAX; i++) {
        unsigned char byte;

        if (i == rest->len)
            return cut_off(c, at, "a number", err);
        byte = (unsigned char)at[i];
        if (i == VARINT_BYTES_MAX - 1 && byte > 1)
            break;
        number |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte < 0x80) {
            *rest = str_slice(*rest, i + 1, rest->len);
            *ret_number = number;
            return 0;
        }
    }
    return error_set(err, ERROR_SYNTAX, "protobuf: byte %zu: a number has more than 64 bits",
                     (size_t)(at - c->begin));
}

static int take_key(struct check *c, struct str *rest, struct field *f, struct error *err)
{
    uint64_t key;

    *f = (struct field){ .at = rest->at };
    if (++c->fields > c->limits->nodes_max)
        return error_set(err, ERROR_TOO_LARGE, "protobuf: more than %u fields",
                         c->limits->nodes_max);
    if (take_varint(c, rest, &key, err) != 0)
        return -1;
    f->number = key >> 3;
    f->wire = (unsigned)(key & 7);
    if (f->number == 0 || f->number > NUMBER_MAX)
        return error_set(err, ERROR_SYNTAX, "protobuf: byte %zu: %llu is no number of a field",
                         (size_t)(f->at - c->begin), (unsigned long long)f->number);
    return 0;
}

static int take_field(struct check *c, struct str *rest, struct field *f, struct error *err)
{
    uint64_t len = 0;

    if (take_key(c, rest, f, err) != 0)
        return -1;
    switch (f->wire) {
    case WIRE_VARINT:
        return take_varint(c, rest, &f->varint, err);
    case WIRE_64:
        len = 8;
        break;
    case WIRE_32:
        len = 4;
        break;
    case WIRE_BYTES:
        if (take_varint(c, rest, &len, err) != 0)
            return -1;
        break;
    default:
        return error_set(err, ERROR_SYNTAX, "protobuf: byte %zu: wire type %u is not in use",
                         (size_t)(f->at - c->begin), f->wire);
    }
    if (len > rest->len)
        return error_set(err, ERROR_SYNTAX,
                         "protobuf: byte %zu: field %llu says it has %llu bytes, %zu are left",
                         (size_t)(f->at - c->begin), (unsigned long long)f->number,
                         (unsigned long long)len, rest->len);
    f->bytes = str_slice(*rest, 0, (size_t)len);
    *rest = str_slice(*rest, (size_t)len, rest->len);
    return 0;
}

static int want_wire(const struct check *c, const struct field *f, unsigned wire,
                     struct error *err)
{
    if (f->wire == wire)
        return 0;
    return error_set(err, ERROR_SYNTAX, "protobuf: byte %zu: wire type %u where %u is expected",
                     (size_t)(f->at - c->begin), f->wire, wire);
}

/* ---- scalars and the messages that JSON shows as such ---- */

static int check_text(const struct check *c, const struct field *f, struct error *err)
{
    const char *at = f->bytes.at, *end;

    if (want_wire(c, f, WIRE_BYTES, err) != 0)
        return -1;
    end = at + f->bytes.len;
    if (f->bytes.len > c->limits->string_max)
        return error_set(err, ERROR_TOO_LARGE, "protobuf: byte %zu: a text of more than %zu bytes",
                         (size_t)(f->at - c->begin), c->limits->string_max);
    while (at < end) {
        uint32_t len = utf8_length(at, end);

        if (len == 0 || *at == '\0')
            return error_set(err, ERROR_SYNTAX, "protobuf: byte %zu: a text %s",
                             (size_t)(at - c->begin), len ? "holds a NUL" : "is not UTF-8");
        at += len;
    }
    return 0;
}

static int check_range(const struct check *c, const struct field *f, int64_t min, int64_t max,
                       struct error *err)
{
    int64_t number = (int64_t)f->varint;

    if (want_wire(c, f, WIRE_VARINT, err) != 0)
        return -1;
    if (number >= min && number <= max)
        return 0;
    return error_set(err, ERROR_SYNTAX, "protobuf: byte %zu: %lld is not within %lld and %lld",
                     (size_t)(f->at - c->begin), (long long)number, (long long)min,
                     (long long)max);
}

/* metav1.Time and MicroTime { seconds = 1, nanos = 2 }, in the years that RFC 3339 can write. */
static int check_time(struct check *c, const struct field *time, struct error *err)
{
    struct str rest = time->bytes;
    struct field f;

    if (want_wire(c, time, WIRE_BYTES, err) != 0)
        return -1;
    while (rest.len)
        if (take_field(c, &rest, &f, err) != 0 ||
            (f.number == 1 && check_range(c, &f, year_1_s, year_10000_s - 1, err) != 0) ||
            (f.number == 2 && check_range(c, &f, 0, 999999999, err) != 0))
            return -1;
    return 0;
}

/* Quantity { string = 1 }; IntOrString { type = 1, intVal = 2, strVal = 3 }. */
static int check_int_or_string(struct check *c, bool is_quantity, const struct field *value,
                               struct error *err)
{
    struct str rest = value->bytes;
    struct field f;

    if (want_wire(c, value, WIRE_BYTES, err) != 0)
        return -1;
    while (rest.len)
        if (take_field(c, &rest, &f, err) != 0 ||
            (f.number == (is_quantity ? 1 : 3) && check_text(c, &f, err) != 0) ||
            (!is_quantity && f.number == 1 && check_range(c, &f, 0, 1, err) != 0) ||
            (!is_quantity && f.number == 2 &&
             check_range(c, &f, INT32_MIN, INT32_MAX, err) != 0))
            return -1;
    return 0;
}

/* ---- messages ---- */

static int check_message(struct check *c, const struct schema *type, struct str message,
                         uint32_t depth, struct error *err);

static int check_value(struct check *c, const struct schema *s, const struct field *f,
                       uint32_t depth, struct error *err)
{
    if (s->int_or_string)
        return check_int_or_string(c, s->format.len == 0, f, err);
    switch (s->type) {
    case SCHEMA_STRING:
        if (str_eq(s->format, STR("date-time")))
            return check_time(c, f, err);
        return str_eq(s->format, STR("byte")) ? want_wire(c, f, WIRE_BYTES, err)
                                              : check_text(c, f, err);
    case SCHEMA_INTEGER:
        return str_eq(s->format, STR("int32")) ? check_range(c, f, INT32_MIN, INT32_MAX, err)
                                               : want_wire(c, f, WIRE_VARINT, err);
    case SCHEMA_BOOLEAN:
        return want_wire(c, f, WIRE_VARINT, err);
    case SCHEMA_OBJECT:
        if (want_wire(c, f, WIRE_BYTES, err) != 0)
            return -1;
        return s->properties ? check_message(c, s, f->bytes, depth + 1, err) : 0;
    case SCHEMA_NUMBER:
    case SCHEMA_ARRAY:
    case SCHEMA_ANY:
        break;
    }
    return 0;
}

/* An entry of a map is a message { key = 1, value = 2 }. */
static int check_entry(struct check *c, const struct schema *of, const struct field *entry,
                       uint32_t depth, struct error *err)
{
    struct str rest = entry->bytes;
    struct field f;

    if (want_wire(c, entry, WIRE_BYTES, err) != 0)
        return -1;
    while (rest.len)
        if (take_field(c, &rest, &f, err) != 0 || (f.number == 1 && check_text(c, &f, err) != 0) ||
            (f.number == 2 && check_value(c, of, &f, depth, err) != 0))
            return -1;
    return 0;
}

static const char *name_of(struct str type, uint64_t number)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].number == number && str_eq(type, str_of(rows[i].type)))
            return rows[i].name;
    return NULL;
}

static int check_field(struct check *c, const struct schema *type, const struct field *f,
                       uint32_t *entries, uint32_t depth, struct error *err)
{
    const char *name = name_of(type->name, f->number);
    const struct schema *s = name ? schema_property(type, str_of(name)) : NULL;
    int failed;

    if (!s)
        return 0;
    if (s->type == SCHEMA_OBJECT && s->additional) {
        if (++*entries > ENTRIES_MAX)
            return error_set(err, ERROR_TOO_LARGE, "protobuf: a map of more than %d entries",
                             ENTRIES_MAX);
        failed = check_entry(c, s->additional, f, depth, err);
    } else {
        failed = check_value(c, s->type == SCHEMA_ARRAY ? s->items : s, f, depth, err);
    }
    return failed ? error_wrap(err, "%.*s.%s", STR_ARG(type->name), name) : 0;
}

static int check_message(struct check *c, const struct schema *type, struct str message,
                         uint32_t depth, struct error *err)
{
    uint32_t entries = 0;
    struct field f;

    if (depth > c->limits->depth_max)
        return error_set(err, ERROR_TOO_LARGE, "protobuf: nested more than %u deep",
                         c->limits->depth_max);
    while (message.len)
        if (take_field(c, &message, &f, err) != 0 ||
            check_field(c, type, &f, &entries, depth, err) != 0)
            return -1;
    return 0;
}

/* ---- the envelope ---- */

/* TypeMeta { apiVersion = 1, kind = 2 }. */
static int check_type_meta(struct check *c, const struct field *meta, struct error *err)
{
    struct str rest = meta->bytes;
    struct field f;

    if (want_wire(c, meta, WIRE_BYTES, err) != 0)
        return -1;
    while (rest.len)
        if (take_field(c, &rest, &f, err) != 0 || (f.number <= 2 && check_text(c, &f, err) != 0))
            return -1;
    return 0;
}

static int check_part(struct check *c, const struct schema *type, const struct field *f,
                      struct error *err)
{
    switch (f->number) {
    case 1:
        return check_type_meta(c, f, err);
    case 2:
        if (want_wire(c, f, WIRE_BYTES, err) != 0)
            return -1;
        return check_message(c, type, f->bytes, 1, err);
    case 3:
    case 4:
        if (check_text(c, f, err) != 0)
            return -1;
        if (f->bytes.len == 0 ||
            (f->number == 4 && str_eq(f->bytes, STR("application/vnd.kubernetes.protobuf"))))
            return 0;
        return error_set(err, ERROR_MEDIA_TYPE, "the envelope holds an object in %s",
                         f->number == 3 ? "a content encoding" : "another media type");
    default:
        return 0;
    }
}

static bool has_rows(const struct schema *type)
{
    for (size_t i = 0; type && i < sizeof(rows) / sizeof(rows[0]); i++)
        if (str_eq(type->name, str_of(rows[i].type)))
            return true;
    return false;
}

int protobuf_check(const struct schema *type, struct str body, const struct json_limits *limits,
                   struct error *err)
{
    struct check c = { body.at, limits, 0 };
    struct str magic = str_make("k8s\0", 4);
    struct str rest = str_slice(body, magic.len, body.len);
    bool has_raw = false;
    struct field f;

    if (body.len > limits->bytes_max)
        return error_set(err, ERROR_TOO_LARGE, "protobuf: more than %zu bytes", limits->bytes_max);
    if (!str_starts(body, magic))
        return error_set(err, ERROR_SYNTAX, "protobuf: does not begin with \"k8s\" and a zero");
    if (!has_rows(type))
        return error_set(err, ERROR_MEDIA_TYPE,
                         "herd-lab does not know its protobuf form: send it as JSON or YAML");
    while (rest.len) {
        if (take_field(&c, &rest, &f, err) != 0 || check_part(&c, type, &f, err) != 0)
            return -1;
        has_raw = has_raw || f.number == 2;
    }
    if (!has_raw)
        return error_set(err, ERROR_SYNTAX, "protobuf: the body ends before its object");
    return 0;
}
