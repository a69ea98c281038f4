/* SPDX-License-Identifier: Apache-2.0 */
/* token.c: the lexer. */
#include "lab/cel/token.h"

#include "lab/cel/text.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int hex_of(char c)
{
    return is_digit(c)              ? c - '0'
           : (c >= 'a' && c <= 'f') ? c - 'a' + 10
           : (c >= 'A' && c <= 'F') ? c - 'A' + 10
                                    : -1;
}

static char peek(struct str text, size_t at)
{
    return at < text.len ? text.at[at] : '\0';
}

static size_t skip_blank(struct str text, size_t at)
{
    for (; at < text.len; at++) {
        char c = text.at[at];

        if (c == '/' && peek(text, at + 1) == '/') {
            while (at < text.len && text.at[at] != '\n')
                at++;
            at--;
        } else if (c != ' ' && c != '\t' && c != '\r' && c != '\n' && c != '\f') {
            break;
        }
    }
    return at < text.len ? at : text.len;
}

static struct cel_token token(enum cel_token_kind kind, struct str text, size_t at, size_t end)
{
    return (struct cel_token){ kind, at, end, str_slice(text, at, end) };
}

/* What was read until it could be no token any more. */
static struct cel_token broken(struct str text, size_t at, size_t end)
{
    return token(TOKEN_BROKEN, text, at, end);
}

static size_t digits(struct str text, size_t at)
{
    while (is_digit(peek(text, at)))
        at++;
    return at;
}

static struct cel_token number(struct str text, size_t at)
{
    enum cel_token_kind kind = TOKEN_INT;
    size_t end;

    if (peek(text, at) == '0' && peek(text, at + 1) == 'x' && hex_of(peek(text, at + 2)) >= 0) {
        for (end = at + 2; hex_of(peek(text, end)) >= 0; end++)
            ;
    } else {
        end = digits(text, at);
        if (peek(text, end) == '.' && is_digit(peek(text, end + 1))) {
            kind = TOKEN_DOUBLE;
            end = digits(text, end + 1);
        }
        if ((peek(text, end) | 0x20) == 'e') {
            char sign = peek(text, end + 1);
            size_t from = end + 1 + (sign == '+' || sign == '-');

            if (is_digit(peek(text, from))) {
                kind = TOKEN_DOUBLE;
                end = digits(text, from);
            }
        }
    }
    if (kind == TOKEN_INT && (peek(text, end) | 0x20) == 'u')
        return token(TOKEN_UINT, text, at, end + 1);
    return token(kind, text, at, end);
}

/* \n, \x41, \u00e9, \101: puts what it stands for; 0, or the bytes that it took. In bytes, \x and
 * octals are bytes. */
static size_t escape(struct str text, size_t at, bool bytes, struct strbuf *out)
{
    static const char from[] = "abfnrtv\"'\\?`", to[] = "\a\b\f\n\r\t\v\"'\\?`";
    char c = peek(text, at);
    const char *simple = c ? strchr(from, c) : NULL;
    uint32_t code = 0;
    int count = c == 'x' || c == 'X' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;

    if (simple) {
        strbuf_char(out, to[simple - from]);
        return 1;
    }
    if (c >= '0' && c <= '3') {
        for (int i = 0; i < 3; i++) {
            char octal = peek(text, at + (size_t)i);

            if (octal < '0' || octal > '7')
                return 0;
            code = code * 8 + (uint32_t)(octal - '0');
        }
        count = 2;
    } else {
        for (int i = 0; i < count; i++) {
            int digit = hex_of(peek(text, at + 1 + (size_t)i));

            if (digit < 0)
                return 0;
            code = code * 16 + (uint32_t)digit;
        }
    }
    if (count == 0 || (bytes && count > 2) || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return 0;
    if (bytes)
        strbuf_char(out, (char)code);
    else
        cel_put_character(out, code);
    return (size_t)count + 1;
}

/* `at` is that of the quote; `begin` that of what stands before it: r, b. */
static struct cel_token quoted(struct arena *arena, struct str text, size_t begin, size_t at,
                               bool raw, bool bytes)
{
    char quote = text.at[at];
    bool triple = peek(text, at + 1) == quote && peek(text, at + 2) == quote;
    struct str end = triple ? str_slice(text, at, at + 3) : str_slice(text, at, at + 1);
    struct strbuf out = strbuf_new(arena, 32);
    struct cel_token t = token(bytes ? TOKEN_BYTES : TOKEN_STRING, text, begin, text.len);

    for (at += end.len; at < text.len && !str_starts(str_slice(text, at, text.len), end);) {
        char c = text.at[at];
        size_t taken = 1;

        if (!triple && (c == '\n' || c == '\r'))
            return broken(text, begin, at + 1);
        if (c == '\\' && !raw) {
            taken = escape(text, at + 1, bytes, &out);
            if (taken == 0)
                return broken(text, begin, at + 2);
            taken++;
        } else {
            strbuf_char(&out, c);
        }
        at += taken;
    }
    if (at >= text.len)
        return broken(text, begin, text.len);
    t.end = at + end.len;
    t.text = strbuf_str(&out);
    return t;
}

/* r'...', b"...", br'...' */
static bool begins_text(struct str text, size_t at, size_t *ret_quote, bool *ret_raw,
                        bool *ret_bytes)
{
    *ret_raw = *ret_bytes = false;
    if ((peek(text, at) | 0x20) == 'b') {
        *ret_bytes = true;
        at++;
    }
    if ((peek(text, at) | 0x20) == 'r') {
        *ret_raw = true;
        at++;
    }
    *ret_quote = at;
    return peek(text, at) == '"' || peek(text, at) == '\'';
}

static struct cel_token word(struct str text, size_t at)
{
    size_t end = at;

    while (is_letter(peek(text, end)) || is_digit(peek(text, end)))
        end++;
    return token(TOKEN_WORD, text, at, end);
}

static struct cel_token ticked(struct str text, size_t at)
{
    ptrdiff_t end = str_find_char(text, '`', at + 1);

    if (end < 0)
        return broken(text, at, text.len);

    struct cel_token t = token(TOKEN_QUOTED, text, at, (size_t)end + 1);

    t.text = str_slice(text, at + 1, (size_t)end);
    return t;
}

static struct cel_token sign(struct str text, size_t at)
{
    static const char *const signs[] = { "==", "!=", "<=", ">=", "&&", "||", "<", ">",
                                         "[",  "]",  "{",  "}",  "(",  ")",  ".", ",",
                                         "-",  "!",  "?",  ":",  "+",  "*",  "/", "%" };

    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
        if (str_starts(str_slice(text, at, text.len), str_of(signs[i])))
            return token(TOKEN_SIGN, text, at, at + strlen(signs[i]));
    return broken(text, at, strchr("=&|", text.at[at]) ? at + 2 : at + 1);
}

struct cel_token cel_token_at(struct arena *arena, struct str text, size_t at)
{
    size_t quote;
    bool raw, bytes;

    at = skip_blank(text, at);
    if (at >= text.len)
        return token(TOKEN_END, text, at, at);
    if (is_digit(text.at[at]) || (text.at[at] == '.' && is_digit(peek(text, at + 1))))
        return number(text, at);
    if (begins_text(text, at, &quote, &raw, &bytes))
        return quoted(arena, text, at, quote, raw, bytes);
    if (is_letter(text.at[at]))
        return word(text, at);
    if (text.at[at] == '`')
        return ticked(text, at);
    return sign(text, at);
}
