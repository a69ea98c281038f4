/* SPDX-License-Identifier: Apache-2.0 */
/* pointer.c: tokens between slashes; "~1" is a slash, "~0" a tilde. */
#include "text/pointer.h"

static int unescape(struct arena *arena, struct str part, struct str *ret_token, struct error *err)
{
    struct strbuf token;

    *ret_token = part;
    if (str_find_char(part, '~', 0) < 0)
        return 0;
    token = strbuf_new(arena, part.len);
    for (size_t i = 0; i < part.len; i++) {
        if (part.at[i] != '~') {
            strbuf_char(&token, part.at[i]);
            continue;
        }
        if (++i == part.len || (part.at[i] != '0' && part.at[i] != '1'))
            return error_set(err, ERROR_SYNTAX,
                             "a JSON Pointer writes '~' as \"~0\" and '/' as \"~1\"");
        strbuf_char(&token, part.at[i] == '0' ? '~' : '/');
    }
    *ret_token = strbuf_str(&token);
    return 0;
}

int pointer_parse(struct arena *arena, struct str pointer, struct str_list *ret_tokens,
                  struct error *err)
{
    struct str_list tokens = str_list_new(arena, 0);
    struct str rest = str_slice(pointer, 1, pointer.len);
    struct str part;

    if (pointer.len == 0) {
        *ret_tokens = tokens;
        return 0;
    }
    if (pointer.at[0] != '/')
        return error_set(err, ERROR_SYNTAX, "a JSON Pointer begins with '/', or is empty");
    while (str_split(&rest, '/', &part)) {
        struct str token;

        if (unescape(arena, part, &token, err) < 0)
            return -1;
        str_list_push(&tokens, token);
    }
    *ret_tokens = tokens;
    return 0;
}

/* RFC 6901 section 4: digits without leading zeros. */
static bool index_from(struct str token, uint32_t *ret_index)
{
    uint64_t number;

    if (!str_to_u64(token, &number) || number >= UINT32_MAX)
        return false;
    *ret_index = (uint32_t)number;
    return true;
}

struct value *pointer_get(struct value *root, const struct str_list *tokens)
{
    struct value *value = root;

    for (uint32_t i = 0; i < tokens->count && value; i++) {
        uint32_t index;

        if (value_kind(value) == JSON_ARRAY)
            value = index_from(tokens->items[i], &index) ? value_at(value, index) : NULL;
        else
            value = value_get(value, tokens->items[i]);
    }
    return value;
}

static struct json element_view(struct json array, uint32_t index)
{
    struct json_iter it = json_iter(array);

    while (json_next(&it))
        if (it.position == index)
            return it.value;
    return (struct json){ NULL, 0 };
}

struct json pointer_view(struct json root, const struct str_list *tokens)
{
    struct json value = root;

    for (uint32_t i = 0; i < tokens->count; i++) {
        uint32_t index;

        if (!json_is(value, JSON_ARRAY))
            value = json_get(value, tokens->items[i]);
        else if (index_from(tokens->items[i], &index))
            value = element_view(value, index);
        else
            value = (struct json){ NULL, 0 };
    }
    return value;
}

void pointer_push(struct strbuf *out, struct str token)
{
    strbuf_char(out, '/');
    for (size_t i = 0; i < token.len; i++) {
        if (token.at[i] == '~')
            strbuf_lit(out, "~0");
        else if (token.at[i] == '/')
            strbuf_lit(out, "~1");
        else
            strbuf_char(out, token.at[i]);
    }
}
