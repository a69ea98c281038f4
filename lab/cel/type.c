/* SPDX-License-Identifier: Apache-2.0 */
/* type.c: the table of types, their names, and those that are made of others. */
#include "lab/cel/type.h"

#include <stdio.h>

#define SIMPLE(kind_)                                                                              \
    {                                                                                              \
        .kind = (kind_)                                                                            \
    }

const struct cel_type cel_type_error = SIMPLE(CEL_ERROR);
const struct cel_type cel_type_dyn = SIMPLE(CEL_DYN);
const struct cel_type cel_type_null = SIMPLE(CEL_NULL);
const struct cel_type cel_type_bool = SIMPLE(CEL_BOOL);
const struct cel_type cel_type_int = SIMPLE(CEL_INT);
const struct cel_type cel_type_uint = SIMPLE(CEL_UINT);
const struct cel_type cel_type_double = SIMPLE(CEL_DOUBLE);
const struct cel_type cel_type_string = SIMPLE(CEL_STRING);
const struct cel_type cel_type_bytes = SIMPLE(CEL_BYTES);
const struct cel_type cel_type_timestamp = SIMPLE(CEL_TIMESTAMP);
const struct cel_type cel_type_duration = SIMPLE(CEL_DURATION);
const struct cel_type cel_type_type = SIMPLE(CEL_TYPE);
const struct cel_type cel_type_quantity = SIMPLE(CEL_QUANTITY);
const struct cel_type cel_type_a = { .kind = CEL_PARAM, .name = STR_INIT("A"), .param = 1 };
const struct cel_type cel_type_b = { .kind = CEL_PARAM, .name = STR_INIT("B"), .param = 2 };
const struct cel_type cel_type_list_dyn = { .kind = CEL_LIST, .of = { &cel_type_dyn } };
const struct cel_type cel_type_map_dyn = { .kind = CEL_MAP,
                                           .of = { &cel_type_dyn, &cel_type_dyn } };

/* text: in messages; name: as an identifier and of type(x), "" = the text */
static const struct word {
    const char *text, *name;
    const struct cel_type *type; /* NULL: no identifier names it */
} words[CEL_KIND_COUNT] = {
    [CEL_ERROR] = { "!error!", "", NULL },
    [CEL_DYN] = { "dyn", "", NULL },
    [CEL_PARAM] = { "dyn", "", NULL },
    [CEL_NULL] = { "null", "null_type", &cel_type_null },
    [CEL_BOOL] = { "bool", "", &cel_type_bool },
    [CEL_INT] = { "int", "", &cel_type_int },
    [CEL_UINT] = { "uint", "", &cel_type_uint },
    [CEL_DOUBLE] = { "double", "", &cel_type_double },
    [CEL_STRING] = { "string", "", &cel_type_string },
    [CEL_BYTES] = { "bytes", "", &cel_type_bytes },
    [CEL_TIMESTAMP] = { "timestamp", "google.protobuf.Timestamp", &cel_type_timestamp },
    [CEL_DURATION] = { "duration", "google.protobuf.Duration", &cel_type_duration },
    [CEL_LIST] = { "list", "", &cel_type_list_dyn },
    [CEL_MAP] = { "map", "", &cel_type_map_dyn },
    [CEL_STRUCT] = { "object", "", NULL },
    [CEL_OPTIONAL] = { "optional_type", "", NULL },
    [CEL_TYPE] = { "type", "", &cel_type_type },
    [CEL_QUANTITY] = { "kubernetes.Quantity", "", &cel_type_quantity },
};

static const char *const reserved[] = {
    "true",      "false",  "null",     "in",   "as",  "break",  "const",
    "continue",  "else",   "for",      "if",   "let", "import", "package",
    "namespace", "return", "function", "loop", "var", "void",   "while",
};

static struct cel_type *made(struct arena *arena, enum cel_kind kind, const struct cel_type *first,
                             const struct cel_type *second)
{
    struct cel_type *type = arena_new(arena, struct cel_type);

    type->kind = kind;
    type->of[0] = first;
    type->of[1] = second;
    return type;
}

const struct cel_type *cel_type_list(struct arena *arena, const struct cel_type *element)
{
    return made(arena, CEL_LIST, element, NULL);
}

const struct cel_type *cel_type_map(struct arena *arena, const struct cel_type *key,
                                    const struct cel_type *value)
{
    return made(arena, CEL_MAP, key, value);
}

const struct cel_type *cel_type_optional(struct arena *arena, const struct cel_type *inside)
{
    return made(arena, CEL_OPTIONAL, inside, NULL);
}

const struct cel_type *cel_type_of_type(struct arena *arena, const struct cel_type *of)
{
    return made(arena, CEL_TYPE, of, NULL);
}

struct cel_type *cel_type_struct(struct arena *arena, struct str name)
{
    struct cel_type *type = made(arena, CEL_STRUCT, NULL, NULL);

    type->name = name;
    type->fields = map_new(arena, 8);
    type->members = map_new(arena, 8);
    return type;
}

void cel_type_add_field(struct arena *arena, struct cel_type *type, struct str member,
                        const struct cel_type *of)
{
    struct cel_field *field = arena_new(arena, struct cel_field);

    if (!cel_escape(arena, member, &field->name))
        return;
    field->member = member;
    field->type = of;
    map_put(type->fields, field->name, field);
    map_put(type->members, member, field);
}

const struct cel_field *cel_type_field(const struct cel_type *type, struct str name)
{
    const struct cel_field *field = type->fields ? map_get(type->fields, name) : NULL;
    char escaped[32];

    /* Behind a dot a reserved word is none. */
    if (field || !type->fields || !cel_is_reserved(name))
        return field;
    snprintf(escaped, sizeof(escaped), "__%.*s__", STR_ARG(name));
    return map_get(type->fields, str_of(escaped));
}

bool cel_is_reserved(struct str word)
{
    for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++)
        if (str_eq(word, str_of(reserved[i])))
            return true;
    return false;
}

bool cel_escape(struct arena *arena, struct str member, struct str *ret_name)
{
    struct strbuf name = strbuf_new(arena, member.len + 16);

    if (member.len == 0 || (member.at[0] >= '0' && member.at[0] <= '9'))
        return false;
    if (cel_is_reserved(member)) {
        *ret_name = str_fmt(arena, "__%.*s__", STR_ARG(member));
        return true;
    }
    for (size_t i = 0; i < member.len; i++) {
        char c = member.at[i];

        if (c == '_' && i + 1 < member.len && member.at[i + 1] == '_') {
            strbuf_lit(&name, "__underscores__");
            i++;
        } else if (c == '.') {
            strbuf_lit(&name, "__dot__");
        } else if (c == '-') {
            strbuf_lit(&name, "__dash__");
        } else if (c == '/') {
            strbuf_lit(&name, "__slash__");
        } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                   c == '_') {
            strbuf_char(&name, c);
        } else {
            return false;
        }
    }
    *ret_name = strbuf_str(&name);
    return true;
}

bool cel_type_same(const struct cel_type *a, const struct cel_type *b)
{
    if (a == b)
        return true;
    if (!a || !b || a->kind != b->kind || a->param != b->param)
        return false;
    if (a->kind == CEL_STRUCT)
        return str_eq(a->name, b->name);
    return cel_type_same(a->of[0], b->of[0]) && cel_type_same(a->of[1], b->of[1]);
}

struct str cel_type_name(const struct cel_type *type)
{
    if (type->kind == CEL_STRUCT)
        return type->name;
    return str_of(words[type->kind].name[0] ? words[type->kind].name : words[type->kind].text);
}

static void put_text(struct strbuf *out, const struct cel_type *type)
{
    strbuf_put(out, type->kind == CEL_STRUCT ? type->name : str_of(words[type->kind].text));
    if (!type->of[0])
        return;
    strbuf_char(out, '(');
    put_text(out, type->of[0]);
    if (type->of[1]) {
        strbuf_lit(out, ", ");
        put_text(out, type->of[1]);
    }
    strbuf_char(out, ')');
}

struct str cel_type_text(struct arena *arena, const struct cel_type *type)
{
    struct strbuf out = strbuf_new(arena, 32);

    put_text(&out, type);
    return strbuf_str(&out);
}

const struct cel_type *cel_type_named(struct str name)
{
    for (uint32_t i = 0; i < CEL_KIND_COUNT; i++)
        if (words[i].type && str_eq(name, cel_type_name(words[i].type)))
            return words[i].type;
    return NULL;
}
