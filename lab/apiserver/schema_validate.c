/* SPDX-License-Identifier: Apache-2.0 */
/* schema_validate.c: a value against a schema, in the words of k8s.io/kube-openapi's validator as
 * apiextensions passes them on (pkg/apiserver/validation). */
#include "lab/apiserver/schema.h"

#include "base/duration.h"
#include "kube/names.h"
#include "text/base64.h"
#include "text/time.h"

#include <arpa/inet.h>
#include <math.h>
#include <stdlib.h>

static double number_of(const struct value *value)
{
    char text[64];
    struct str number = value_number_text(value);
    size_t len = number.len < sizeof(text) - 1 ? number.len : sizeof(text) - 1;

    memcpy(text, number.at, len);
    text[len] = '\0';
    return strtod(text, NULL);
}

/* 1.0 is an integer too, as in the API server. */
static bool is_whole(const struct value *value)
{
    double number = number_of(value);

    return number == floor(number);
}

static const char *kind_name(const struct value *value)
{
    switch (value_kind(value)) {
    case JSON_ABSENT:
    case JSON_NULL:
        return "null";
    case JSON_BOOL:
        return "boolean";
    case JSON_NUMBER:
        return is_whole(value) ? "integer" : "number";
    case JSON_STRING:
        return "string";
    case JSON_ARRAY:
        return "array";
    case JSON_OBJECT:
        return "object";
    }
    return "null";
}

static bool has_type(const struct schema *s, const struct value *value)
{
    enum json_kind kind = value_kind(value);

    if (s->int_or_string)
        return kind == JSON_STRING || (kind == JSON_NUMBER && is_whole(value));
    switch (s->type) {
    case SCHEMA_ANY:
        return true;
    case SCHEMA_OBJECT:
        return kind == JSON_OBJECT;
    case SCHEMA_ARRAY:
        return kind == JSON_ARRAY;
    case SCHEMA_STRING:
        return kind == JSON_STRING;
    case SCHEMA_INTEGER:
        return kind == JSON_NUMBER && is_whole(value);
    case SCHEMA_NUMBER:
        return kind == JSON_NUMBER;
    case SCHEMA_BOOLEAN:
        return kind == JSON_BOOL;
    }
    return false;
}

/* "spec.x in body " */
static struct str in_body(struct findings *found, const struct path *at)
{
    return str_fmt(found->arena, "%.*s in body ", STR_ARG(path_render(at, found->arena)));
}

__attribute__((format(printf, 4, 5))) static void invalid(struct findings *found,
                                                          const struct path *at,
                                                          const struct value *value,
                                                          const char *format, ...)
{
    va_list args;
    struct str text;

    va_start(args, format);
    text = str_vfmt(found->arena, format, args);
    va_end(args);
    finding_invalid(found, at, value,
                    str_fmt(found->arena, "%.*s%.*s", STR_ARG(in_body(found, at)), STR_ARG(text)));
}

static void wrong_type(struct findings *found, const struct path *at, const char *want,
                       struct str got)
{
    struct strbuf quoted = strbuf_new(found->arena, got.len + 8);

    finding_quote(&quoted, got);
    finding_type_invalid(found, at, got,
                         str_fmt(found->arena, "%.*smust be of type %s: %.*s",
                                 STR_ARG(in_body(found, at)), want, STR_ARG(strbuf_str(&quoted))));
}

static bool is_uuid(struct str text)
{
    if (text.len != 36)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;

        if (dash ? text.at[i] != '-' : !strchr("0123456789abcdefABCDEF", text.at[i]))
            return false;
    }
    return true;
}

static bool has_format(struct arena *arena, struct str format, struct str text)
{
    struct error err;
    int64_t ms;
    struct str bytes;
    unsigned char address[16];

    if (str_eq(format, STR("date-time")) || str_eq(format, STR("datetime")))
        return time_parse_rfc3339(text, &ms, &err) == 0;
    if (str_eq(format, STR("date")))
        return time_parse_rfc3339(str_fmt(arena, "%.*sT00:00:00Z", STR_ARG(text)), &ms, &err) == 0;
    if (str_eq(format, STR("duration")))
        return duration_parse(text, &ms);
    if (str_eq(format, STR("ipv4")))
        return inet_pton(AF_INET, str_z(arena, text), address) == 1;
    if (str_eq(format, STR("ipv6")))
        return inet_pton(AF_INET6, str_z(arena, text), address) == 1;
    if (str_eq(format, STR("hostname")))
        return !kube_not_dns1123_subdomain(text);
    if (str_eq(format, STR("uuid")))
        return is_uuid(text);
    if (str_eq(format, STR("byte")))
        return base64_decode(arena, text, &bytes, &err) == 0;
    if (str_eq(format, STR("uri")))
        return text.len && (text.at[0] == '/' || str_find_char(text, ':', 0) > 0);
    return true; /* unknown formats are documentation */
}

static int64_t code_points(struct str text)
{
    int64_t count = 0;

    for (size_t i = 0; i < text.len; i++)
        count += ((unsigned char)text.at[i] & 0xc0) != 0x80;
    return count;
}

static void check_string(const struct schema *s, const struct value *value, const struct path *at,
                         struct findings *found)
{
    struct str text = value_text(value);
    int64_t length = code_points(text);

    if (s->max_length >= 0 && length > s->max_length)
        finding_too_long(found, at, s->max_length);
    if (s->min_length >= 0 && length < s->min_length)
        invalid(found, at, value, "should be at least %lld chars long", (long long)s->min_length);
    if (s->regex && regex_match(s->regex, text) != REGEX_YES)
        invalid(found, at, value, "should match '%.*s'", STR_ARG(s->pattern));
    if (s->format.len && !s->int_or_string && !has_format(found->arena, s->format, text))
        wrong_type(found, at, str_z(found->arena, s->format), text);
}

static void check_number(const struct schema *s, const struct value *value, const struct path *at,
                         struct findings *found)
{
    double n = number_of(value);

    if (s->has_maximum && (s->exclusive_maximum ? n >= s->maximum : n > s->maximum))
        invalid(found, at, value, "should be less than %s%.15g",
                s->exclusive_maximum ? "" : "or equal to ", s->maximum);
    if (s->has_minimum && (s->exclusive_minimum ? n <= s->minimum : n < s->minimum))
        invalid(found, at, value, "should be greater than %s%.15g",
                s->exclusive_minimum ? "" : "or equal to ", s->minimum);
    if (s->has_multiple_of && fabs(remainder(n, s->multiple_of)) > 1e-9)
        invalid(found, at, value, "should be a multiple of %.15g", s->multiple_of);
    if (str_eq(s->format, STR("int32")) && (n < INT32_MIN || n > INT32_MAX))
        invalid(found, at, value, "must be of type int32: \"%.*s\"",
                STR_ARG(value_number_text(value)));
}

static void check_array(const struct schema *s, const struct value *value, const struct path *at,
                        struct findings *found)
{
    int64_t count = value_count(value);
    uint32_t index = 0;

    if (s->max_items >= 0 && count > s->max_items)
        finding_too_many(found, at, count, s->max_items);
    if (s->min_items >= 0 && count < s->min_items)
        invalid(found, at, value_int(found->arena, count), "should have at least %lld items",
                (long long)s->min_items);
    if (!s->items)
        return;
    for (struct value *item = value_first(value); item; item = value_next(item)) {
        struct path here = path_index(at, index++);

        schema_validate(s->items, item, &here, found);
    }
}

static void check_object(const struct schema *s, const struct value *value, const struct path *at,
                         struct findings *found)
{
    int64_t count = value_count(value);

    if (s->max_properties >= 0 && count > s->max_properties)
        finding_too_many(found, at, count, s->max_properties);
    if (s->min_properties >= 0 && count < s->min_properties)
        invalid(found, at, value, "should have at least %lld properties",
                (long long)s->min_properties);
    for (uint32_t i = 0; i < s->required.count; i++) {
        struct path here = path_field(at, s->required.items[i]);

        if (!value_get(value, s->required.items[i]))
            finding_required(found, &here, STR(""));
    }
    for (struct value *member = value_first(value); member; member = value_next(member)) {
        const struct schema *of = schema_property(s, value_key(member));
        struct path here = path_field(at, value_key(member));

        if (!of)
            of = s->additional;
        if (of)
            schema_validate(of, member, &here, found);
    }
}

static bool is_valid(const struct schema *s, const struct value *value, const struct path *at,
                     struct findings *ret_found)
{
    *ret_found = findings_new(ret_found->arena, 0);
    schema_validate(s, value, at, ret_found);
    return ret_found->count == 0;
}

static void add_all(struct findings *found, const struct findings *more)
{
    for (uint32_t i = 0; i < more->count; i++)
        findings_push(found, more->items[i]);
}

/* How many of the schemas hold; the findings of the one that came closest. */
static uint32_t count_valid(const struct schema_list_of *schemas, const struct value *value,
                            const struct path *at, struct findings *ret_closest)
{
    uint32_t valid = 0;
    bool first = true;

    for (uint32_t i = 0; i < schemas->count; i++) {
        struct findings tried = findings_new(ret_closest->arena, 0);

        valid += is_valid(schemas->items[i], value, at, &tried);
        if (first || tried.count < ret_closest->count)
            *ret_closest = tried;
        first = false;
    }
    return valid;
}

static void composed(struct findings *found, const struct path *at, const char *what)
{
    struct str place = path_render(at, found->arena);

    finding_invalid(found, at, value_str(found->arena, STR("")),
                    str_fmt(found->arena, "\"%.*s\" must %s", STR_ARG(place), what));
}

static void check_composed(const struct schema *s, const struct value *value, const struct path *at,
                           struct findings *found)
{
    struct findings closest = findings_new(found->arena, 0);
    uint32_t valid;

    if (s->any_of.count && count_valid(&s->any_of, value, at, &closest) == 0) {
        composed(found, at, "validate at least one schema (anyOf)");
        add_all(found, &closest);
    }
    if (s->one_of.count) {
        valid = count_valid(&s->one_of, value, at, &closest);
        if (valid == 0) {
            composed(found, at, "validate one and only one schema (oneOf). Found none valid");
            add_all(found, &closest);
        } else if (valid > 1) {
            composed(found, at,
                     str_z(found->arena, str_fmt(found->arena,
                                                 "validate one and only one schema (oneOf). "
                                                 "Found %u valid alternatives",
                                                 valid)));
        }
    }
    if (s->all_of.count) {
        bool all = true;

        for (uint32_t i = 0; i < s->all_of.count; i++) {
            struct findings tried = findings_new(found->arena, 0);

            if (!is_valid(s->all_of.items[i], value, at, &tried)) {
                all = false;
                add_all(found, &tried);
            }
        }
        if (!all)
            composed(found, at, "validate all the schemas (allOf)");
    }
    if (s->not_ && is_valid(s->not_, value, at, &closest))
        composed(found, at, "not validate the schema (not)");
}

static void check_enum(const struct schema *s, const struct value *value, const struct path *at,
                       struct findings *found)
{
    struct str_list supported;

    for (struct value *known = value_first(s->enum_); known; known = value_next(known))
        if (value_equal(known, value))
            return;
    supported = str_list_new(found->arena, value_count(s->enum_));
    for (struct value *known = value_first(s->enum_); known; known = value_next(known))
        str_list_push(&supported, value_kind(known) == JSON_STRING
                                      ? value_text(known)
                                      : value_json(found->arena, known));
    finding_not_supported(found, at, value, &supported);
}

void schema_validate(const struct schema *s, const struct value *value, const struct path *at,
                     struct findings *found)
{
    enum json_kind kind = value_kind(value);

    if (kind == JSON_NULL && s->nullable)
        return;
    if (!has_type(s, value)) {
        wrong_type(found, at, s->int_or_string ? "integer,string" : schema_type_name(s->type),
                   str_of(kind_name(value)));
        return;
    }
    if (s->enum_)
        check_enum(s, value, at, found);
    if (kind == JSON_STRING)
        check_string(s, value, at, found);
    else if (kind == JSON_NUMBER)
        check_number(s, value, at, found);
    else if (kind == JSON_ARRAY)
        check_array(s, value, at, found);
    else if (kind == JSON_OBJECT)
        check_object(s, value, at, found);
    check_composed(s, value, at, found);
}

/* The members of an element of a list map that make its identity. */
static struct value *identity(struct arena *arena, const struct schema *s,
                              const struct value *element)
{
    struct value *keys = value_object(arena);

    if (s->list != SCHEMA_LIST_MAP)
        return value_clone(arena, element);
    for (uint32_t i = 0; i < s->list_keys.count; i++) {
        const struct value *key = value_get(element, s->list_keys.items[i]);

        if (key)
            value_set(arena, keys, s->list_keys.items[i], value_clone(arena, key));
    }
    return keys;
}

static void check_unique(const struct schema *s, const struct value *value, const struct path *at,
                         struct findings *found)
{
    struct map *seen = map_new(found->arena, value_count(value));
    uint32_t index = 0;

    for (struct value *element = value_first(value); element; element = value_next(element)) {
        struct path here = path_index(at, index++);
        struct value *id = identity(found->arena, s, element);
        struct strbuf text = strbuf_new(found->arena, 64);

        value_write(id, true, &text);
        if (map_get(seen, strbuf_str(&text)))
            finding_duplicate(found, &here, id);
        map_put(seen, strbuf_str(&text), id);
    }
}

void schema_validate_lists(const struct schema *s, const struct value *value, const struct path *at,
                           struct findings *found)
{
    uint32_t index = 0;

    if (value_kind(value) == JSON_ARRAY && s->items) {
        if (s->list != SCHEMA_LIST_ATOMIC)
            check_unique(s, value, at, found);
        for (struct value *item = value_first(value); item; item = value_next(item)) {
            struct path here = path_index(at, index++);

            schema_validate_lists(s->items, item, &here, found);
        }
    }
    if (value_kind(value) != JSON_OBJECT)
        return;
    for (struct value *member = value_first(value); member; member = value_next(member)) {
        const struct schema *of = schema_property(s, value_key(member));
        struct path here = path_field(at, value_key(member));

        if (!of)
            of = s->additional;
        if (of)
            schema_validate_lists(of, member, &here, found);
    }
}
