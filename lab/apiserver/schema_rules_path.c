/* SPDX-License-Identifier: Apache-2.0 */
/* schema_rules_path.c: the field that a rule blames, as a JSON path below its level. Source:
 * k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go, ValidFieldPath. */
#include "lab/apiserver/schema_cel.h"

/* The token at *at: a delimiter, a quoted key, or what stands before the next delimiter. */
static struct str token(struct str path, size_t *at)
{
    size_t from = *at;

    if (*at >= path.len)
        return STR("");
    if (path.at[from] == '\'') {
        for (++*at; *at < path.len && (path.at[*at] != '\'' || path.at[*at - 1] == '\\'); ++*at)
            ;
        *at += *at < path.len;
        return str_slice(path, from, *at);
    }
    do
        ++*at;
    while (!strchr(".[]", path.at[from]) && *at < path.len && !strchr(".[]", path.at[*at]));
    return str_slice(path, from, *at);
}

/* Without quotes and escapes; false: it had none, or bad ones. */
static bool unquoted(struct arena *arena, struct str quoted, struct str *ret_text)
{
    static const char from[] = "abfnrtv'\\", to[] = "\a\b\f\n\r\t\v'\\";
    struct strbuf out = strbuf_new(arena, quoted.len);

    if (quoted.len < 2 || quoted.at[0] != '\'' || quoted.at[quoted.len - 1] != '\'')
        return false;
    for (size_t i = 1; i + 1 < quoted.len; i++) {
        const char *escape;

        if (quoted.at[i] != '\\') {
            strbuf_char(&out, quoted.at[i]);
            continue;
        }
        escape = strchr(from, quoted.at[++i]);
        if (i + 1 >= quoted.len || !escape)
            return false;
        strbuf_char(&out, to[escape - from]);
    }
    *ret_text = strbuf_str(&out);
    return true;
}

bool schema_field_path(struct arena *arena, const struct schema *schema, struct str path,
                       struct str *ret_path)
{
    struct strbuf out = strbuf_new(arena, path.len + 8);
    size_t at = 0;

    while (at < path.len) {
        struct str sign = token(path, &at), name = token(path, &at);
        bool bracket = str_eq(sign, STR("["));

        if (!bracket && !str_eq(sign, STR(".")))
            return false;
        if (bracket && (!unquoted(arena, name, &name) || !str_eq(token(path, &at), STR("]"))))
            return false;
        if (schema->properties && map_count(schema->properties)) {
            schema = schema_property(schema, name);
            strbuf_fmt(&out, "%s%.*s", out.len ? "." : "", STR_ARG(name));
        } else {
            schema = schema->additional;
            strbuf_fmt(&out, "[%.*s]", STR_ARG(name));
        }
        if (!schema || name.len == 0)
            return false;
    }
    *ret_path = strbuf_str(&out);
    return true;
}
