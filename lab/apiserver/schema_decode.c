/* SPDX-License-Identifier: Apache-2.0 */
/* schema_decode.c: what Go's decoder says of a value that its type does not take: of another kind,
 * or a text that is no time and no base64. Source: encoding/json, encoding/base64, time.Parse. */
#include "lab/apiserver/schema.h"

#include "text/base64.h"
#include "text/time.h"

#include <ctype.h>

/* What encoding/json calls the Go type and the JSON value. */
static const char *go_type(const struct schema *s)
{
    switch (s->type) {
    case SCHEMA_STRING:
        return str_eq(s->format, STR("date-time")) ? "Time" : "string";
    case SCHEMA_INTEGER:
        return str_eq(s->format, STR("int64")) ? "int64" : "int32";
    case SCHEMA_NUMBER:
        return "float64";
    case SCHEMA_BOOLEAN:
        return "bool";
    case SCHEMA_ARRAY:
        return s->items && s->items->type == SCHEMA_STRING ? "[]string" : "[]v1";
    case SCHEMA_OBJECT:
        return s->additional && s->additional->type == SCHEMA_STRING ? "map[string]string" : "v1";
    case SCHEMA_ANY:
        return "interface {}";
    }
    return "";
}

static bool go_takes(const struct schema *s, enum json_kind kind)
{
    if (kind == JSON_NULL || s->type == SCHEMA_ANY)
        return true;
    if (s->int_or_string)
        return kind == JSON_STRING || kind == JSON_NUMBER;
    switch (s->type) {
    case SCHEMA_OBJECT:
        return kind == JSON_OBJECT;
    case SCHEMA_ARRAY:
        return kind == JSON_ARRAY;
    case SCHEMA_STRING:
        return kind == JSON_STRING;
    case SCHEMA_INTEGER:
    case SCHEMA_NUMBER:
        return kind == JSON_NUMBER;
    case SCHEMA_BOOLEAN:
        return kind == JSON_BOOL;
    case SCHEMA_ANY:
        return true;
    }
    return true;
}

static const char *const go_kinds[] = {
    [JSON_BOOL] = "bool",   [JSON_NUMBER] = "number", [JSON_STRING] = "string",
    [JSON_ARRAY] = "array", [JSON_OBJECT] = "object",
};

/* Where a text ceases to be base64, as encoding/base64 counts. */
static size_t base64_end(struct str text)
{
    size_t good = 0;

    while (good < text.len &&
           (isalnum((unsigned char)text.at[good]) || memchr("+/\r\n", text.at[good], 4)))
        good++;
    return good < text.len ? good : text.len / 4 * 4;
}

static bool bytes_decode(struct arena *arena, struct str text, struct str *ret_why)
{
    struct str bytes;
    struct error err;

    if (base64_decode(arena, text, &bytes, &err) == 0)
        return true;
    *ret_why = str_fmt(arena, "illegal base64 data at input byte %zu", base64_end(text));
    return false;
}

/* A zone is Z or an offset; digits of any other element stand for digits. */
static bool take_element(struct str *rest, const char *element)
{
    const char *shape = element;
    size_t count;

    if (str_eq(str_of(element), STR("Z07:00")))
        shape = str_starts(*rest, STR("-"))   ? "-07:00"
                : str_starts(*rest, STR("+")) ? "+07:00"
                                              : "Z";
    count = strlen(shape);
    for (size_t i = 0; i < count; i++)
        if (i >= rest->len ||
            (isdigit((unsigned char)shape[i]) ? !isdigit((unsigned char)rest->at[i])
                                              : rest->at[i] != shape[i]))
            return false;
    *rest = str_slice(*rest, count, rest->len);
    return true;
}

/* A layout without a fraction lets one of any length pass. */
static void skip_fraction(struct str *rest)
{
    size_t count = 1;

    if (!str_starts(*rest, STR(".")))
        return;
    while (count < rest->len && isdigit((unsigned char)rest->at[count]))
        count++;
    *rest = str_slice(*rest, count, rest->len);
}

#define FRACTION ".000000"

static const struct element {
    const char *shape;
    const char *name; /* of a number that has bounds */
    unsigned least, most;
} layout[] = {
    { "2006", NULL, 0, 0 },   { "-", NULL, 0, 0 },       { "01", "month", 1, 12 },
    { "-", NULL, 0, 0 },      { "02", "day", 1, 31 },    { "T", NULL, 0, 0 },
    { "15", "hour", 0, 23 },  { ":", NULL, 0, 0 },       { "04", "minute", 0, 59 },
    { ":", NULL, 0, 0 },      { "05", "second", 0, 59 }, { FRACTION, NULL, 0, 0 },
    { "Z07:00", NULL, 0, 0 },
};

/* A text that is being taken apart as a time; `why` is what stops it. */
struct timing {
    struct str text, rest;
    bool micro;
    struct strbuf why;
};

static bool mismatch(struct timing *t, const char *shape)
{
    strbuf_fmt(&t->why, " as \"2006-01-02T15:04:05%sZ07:00\": cannot parse ",
               t->micro ? FRACTION : "");
    finding_quote(&t->why, t->rest);
    strbuf_fmt(&t->why, " as \"%s\"", shape);
    return false;
}

static bool out_of_range(struct timing *t, const char *name)
{
    strbuf_fmt(&t->why, ": %s out of range", name);
    return false;
}

static bool take(struct timing *t, const struct element *element)
{
    struct str before = t->rest;
    unsigned number;

    if (!t->micro && element->shape[0] == '.') {
        skip_fraction(&t->rest);
        return true;
    }
    if (!take_element(&t->rest, element->shape))
        return mismatch(t, element->shape);
    if (!element->name)
        return true;
    number = (unsigned)(before.at[0] - '0') * 10 + (unsigned)(before.at[1] - '0');
    return (number >= element->least && number <= element->most) || out_of_range(t, element->name);
}

static bool take_all(struct timing *t)
{
    struct error err;
    int64_t ms;

    for (size_t i = 0; i < sizeof(layout) / sizeof(layout[0]); i++)
        if (!take(t, &layout[i]))
            return false;
    if (t->rest.len) {
        strbuf_lit(&t->why, ": extra text: ");
        finding_quote(&t->why, t->rest);
        return false;
    }
    /* Days of the month are all that is left. */
    return time_parse_rfc3339(t->text, &ms, &err) == 0 || out_of_range(t, "day");
}

static bool time_decodes(struct arena *arena, struct str text, bool micro, struct str *ret_why)
{
    struct timing t = { text, text, micro, strbuf_new(arena, 128) };

    strbuf_lit(&t.why, "parsing time ");
    finding_quote(&t.why, text);
    if (take_all(&t))
        return true;
    *ret_why = strbuf_str(&t.why);
    return false;
}

static bool text_decodes(struct arena *arena, const struct schema *s, struct str text,
                         struct str *ret_why)
{
    if (str_eq(s->format, STR("byte")))
        return bytes_decode(arena, text, ret_why);
    if (str_eq(s->format, STR("date-time")))
        return time_decodes(arena, text, s->micro, ret_why);
    return true;
}

/* The first place that does not fit; its path without indexes, as Go names struct fields. */
static bool decodes(struct arena *arena, const struct schema *s, const struct value *value,
                    struct str place, struct str *ret_why)
{
    enum json_kind kind = value_kind(value);

    if (!go_takes(s, kind)) {
        *ret_why = str_fmt(arena, "json: cannot unmarshal %s into Go struct field %.*s of type %s",
                           go_kinds[kind], STR_ARG(place), go_type(s));
        return false;
    }
    if (kind == JSON_STRING)
        return text_decodes(arena, s, value_text(value), ret_why);
    if (kind == JSON_ARRAY && s->items) {
        for (struct value *item = value_first(value); item; item = value_next(item))
            if (!decodes(arena, s->items, item, place, ret_why))
                return false;
    } else if (kind == JSON_OBJECT) {
        for (struct value *member = value_first(value); member; member = value_next(member)) {
            const struct schema *of = schema_property(s, value_key(member));
            struct str here =
                of ? str_fmt(arena, "%.*s.%.*s", STR_ARG(place), STR_ARG(value_key(member)))
                   : place;

            if (!of)
                of = s->additional;
            if (of && !decodes(arena, of, member, here, ret_why))
                return false;
        }
    }
    return true;
}

bool schema_decodes(struct arena *arena, const struct schema *s, const struct value *value,
                    struct str kind, struct str *ret_why)
{
    return decodes(arena, s, value, kind, ret_why);
}
