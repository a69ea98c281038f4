/* SPDX-License-Identifier: Apache-2.0 */
/* json_skim.c: a cursor that counts brackets. */
#include "text/json_skim.h"

static struct str behind(struct str text, size_t offset)
{
    return str_slice(text, offset, text.len);
}

static struct str without_space(struct str text)
{
    size_t at = 0;

    while (at < text.len && strchr(" \t\r\n", text.at[at]) && text.at[at])
        at++;
    return behind(text, at);
}

static bool begins(struct str text, char c)
{
    return text.len && text.at[0] == c;
}

/* `text` begins with a quote: the bytes up to behind the closing one, or all. */
static size_t string_bytes(struct str text)
{
    for (size_t at = 1; at < text.len; at++)
        if (text.at[at] == '\\')
            at++;
        else if (text.at[at] == '"')
            return at + 1;
    return text.len;
}

/* The bytes of the value that `text` begins with: up to what ends it around, or all. */
static size_t value_bytes(struct str text)
{
    size_t depth = 0;
    size_t at = 0;

    while (at < text.len) {
        char c = text.at[at];

        if (depth == 0 && (c == ',' || c == '}' || c == ']'))
            break;
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
        at += c == '"' ? string_bytes(behind(text, at)) : 1;
    }
    return at;
}

struct json_skim json_skim(struct str object)
{
    struct str text = without_space(object);

    return (struct json_skim){ .rest_ = begins(text, '{') ? behind(text, 1) : STR("") };
}

bool json_skim_next(struct json_skim *skim)
{
    struct str text = without_space(skim->rest_);
    size_t bytes;

    skim->rest_ = STR("");
    if (begins(text, ','))
        text = without_space(behind(text, 1));
    if (!begins(text, '"'))
        return false;
    bytes = string_bytes(text);
    skim->key = str_slice(text, 1, bytes - 1);
    text = without_space(behind(text, bytes));
    if (!begins(text, ':'))
        return false;
    text = without_space(behind(text, 1));
    bytes = value_bytes(text);
    skim->value = str_slice(text, 0, bytes);
    skim->rest_ = behind(text, bytes);
    return true;
}

struct str json_skim_text(struct str value, size_t bytes_max)
{
    struct str text = str_trim(value);

    if (text.len < 2 || !begins(text, '"') || text.at[text.len - 1] != '"')
        return STR("");
    text = str_slice(text, 1, text.len - 1);
    if (text.len > bytes_max)
        return STR("");
    for (size_t i = 0; i < text.len; i++)
        if (text.at[i] < ' ' || text.at[i] > '~' || text.at[i] == '"' || text.at[i] == '\\')
            return STR("");
    return text;
}
