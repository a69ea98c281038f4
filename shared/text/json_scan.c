/* SPDX-License-Identifier: Apache-2.0 */
/* json_scan.c: one strict pass over the bytes (RFC 8259), leaving an index behind.
 *
 * The loop knows two moments: a value is due, or a value has just ended. Open containers stand on
 * an explicit stack, so depth costs no C stack. Key texts are compared when their object closes.
 *
 * Each step takes the place in the text and gives the one behind what it has read, or NULL and the
 * error: so it stays in a register. A node is written when its value has ended, in one go: to read
 * back what was just written in pieces costs more than the reading of a short value. */
#include "text/bytes.h"
#include "text/json_index.h"
#include "text/limits.h"
#include "text/number.h"

#include <stdio.h>

const struct json_limits json_limits_default = {
    .bytes_max = LIMIT_REVIEW_BODY,
    .depth_max = LIMIT_JSON_DEPTH,
    .nodes_max = LIMIT_JSON_NODES,
    .string_max = LIMIT_JSON_STRING,
};

enum { PLACE_BYTES = 200 };

/* A container that has not ended. */
struct open {
    uint32_t node;
    uint32_t count; /* of its members or elements so far */
    enum json_kind kind;
};

struct scan {
    const char *begin;
    const char *end;
    struct json_index *index;
    uint32_t count;    /* nodes in use, keys too */
    uint32_t capacity; /* nodes allocated */
    uint32_t values;   /* what nodes_max bounds */
    uint32_t depth;
    struct open *open; /* the containers around, outermost first */
    const struct json_limits *limits;
    struct error *err;
};

/* The container in which something is wrong, as a path. */
static struct str place_of(const struct scan *s)
{
    const struct json_index *index = s->index;
    struct path *at = arena_array(index->arena, struct path, s->depth + 1);
    const struct path *up = NULL;

    for (uint32_t i = 0; i + 1 < s->depth; i++) {
        const struct open *around = &s->open[i];

        at[i] = around->kind == JSON_ARRAY
                    ? path_index(up, around->count - 1)
                    : path_member(up, json_key_text(index, s->open[i + 1].node - 1));
        up = &at[i];
    }
    return str_shown(index->arena, path_render(up, index->arena), PLACE_BYTES);
}

/* Lines and columns (in characters) are counted only when something is wrong. NULL. */
__attribute__((cold, noinline)) static const char *fail_at(struct scan *s, enum error_code code,
                                                           const char *at, const char *what)
{
    uint32_t line = 1;
    uint32_t column = 1;

    for (const char *p = s->begin; p < at; p++) {
        if (*p == '\n') {
            line++;
            column = 1;
        } else if (((unsigned char)*p & 0xc0) != 0x80) {
            column++;
        }
    }
    error_set(s->err, code, "line %u, column %u: %s%s", line, column, what,
              at >= s->end ? "; the text ends here" : "");
    snprintf(s->err->field, sizeof(s->err->field), "%.*s", STR_ARG(place_of(s)));
    return NULL;
}

static const char *fail(struct scan *s, const char *at, const char *what)
{
    return fail_at(s, ERROR_SYNTAX, at, what);
}

__attribute__((cold, format(printf, 4, 5))) static const char *
fail_fmt(struct scan *s, enum error_code code, const char *at, const char *format, ...)
{
    char what[320];
    va_list args;

    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    return fail_at(s, code, at, what);
}

static inline const char *behind_space(const struct scan *s, const char *at)
{
    while (at < s->end && (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r'))
        at++;
    return at;
}

/* ---- nodes ---- */

static void grow(struct scan *s)
{
    struct json_index *index = s->index;
    size_t old_bytes = sizeof(struct json_node) * s->capacity;
    uint32_t capacity = s->capacity * 2;

    if (!arena_extend(index->arena, index->nodes, old_bytes, old_bytes * 2)) {
        struct json_node *nodes =
            arena_bytes(index->arena, arena_array_bytes(capacity, sizeof(struct json_node)));

        memcpy(nodes, index->nodes, sizeof(struct json_node) * s->count);
        index->nodes = nodes;
    }
    s->capacity = capacity;
}

/* Takes the next node, to be written once what it stands for has ended. */
static inline uint32_t take_node(struct scan *s)
{
    if (s->count == s->capacity)
        grow(s);
    return s->count++;
}

static inline uint32_t offset(const struct scan *s, const char *at)
{
    return (uint32_t)(at - s->begin);
}

static inline void add_leaf(struct scan *s, enum json_kind kind, uint32_t flags, const char *start,
                            const char *end)
{
    uint32_t node = take_node(s);

    s->index->nodes[node] = (struct json_node){ .start = offset(s, start),
                                                .end = offset(s, end),
                                                .next = node + 1,
                                                .kind = kind,
                                                .flags = flags & 15 };
}

/* ---- strings ---- */

/* `at` is on a backslash. */
static const char *scan_escape(struct scan *s, const char *at)
{
    if (s->end - at < 2)
        return fail_at(s, ERROR_SYNTAX, s->end, "expected the rest of an escape");
    switch (at[1]) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
        return at + 2;
    case 'u':
        break;
    default:
        return fail(s, at, "unknown escape; JSON has \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX");
    }

    int32_t code = json_hex_code(at + 2, s->end);

    if (code < 0)
        return fail(s, at, "expected four hexadecimal digits after \\u");
    if (code == 0)
        return fail(s, at, "\\u0000 is not allowed");
    if (code >= 0xdc00 && code < 0xe000)
        return fail(s, at, "a low surrogate without the high one before it");
    if (code >= 0xd800 && code < 0xdc00) {
        int32_t low =
            s->end - at >= 12 && at[6] == '\\' && at[7] == 'u' ? json_hex_code(at + 8, s->end) : -1;

        if (low < 0xdc00 || low > 0xdfff)
            return fail(s, at, "a high surrogate without the low one behind it");
        at += 6;
    }
    return at + 6;
}

/* The rest of a string: `at` is somewhere behind its opening quote. */
static const char *scan_rest(struct scan *s, const char *opening, const char *at, bool *ret_escaped)
{
    while (at < s->end && *at != '"') {
        if (*at == '\\') {
            *ret_escaped = true;
            at = scan_escape(s, at);
            if (!at)
                return NULL;
        } else if ((unsigned char)*at < 0x20) {
            return fail(s, at, "a control character in a string; write it as an escape");
        } else {
            uint32_t length = utf8_length(at, s->end);

            if (length == 0)
                return fail(s, at, "bytes that are not UTF-8");
            at += length;
        }
        at = quoted_end(at, s->end, ret_escaped);
    }
    if (at == s->end)
        return fail(s, at, "expected '\"' at the end of a string");
    at++;
    if ((size_t)(at - opening) > s->limits->string_max)
        return fail_fmt(s, ERROR_TOO_LARGE, opening, "a string of more than %zu bytes",
                        s->limits->string_max);
    return at;
}

/* `at` is on the opening quote. Sets *ret_escaped if there is a backslash. Most strings are plain
 * and short, and end here. */
static inline const char *scan_string(struct scan *s, const char *at, bool *ret_escaped)
{
    const char *end = quoted_end(at + 1, s->end, ret_escaped);

    if (end < s->end && *end == '"' && (size_t)(end - at) < s->limits->string_max)
        return end + 1;
    return scan_rest(s, at, end, ret_escaped);
}

/* ---- keys ---- */

/* A key and its colon. The member's value comes next. */
static const char *scan_key(struct scan *s, const char *at)
{
    struct json_index *index = s->index;
    bool escaped = false;
    uint32_t place = 0;

    at = behind_space(s, at);
    if (at == s->end || *at != '"')
        return fail(s, at, "expected a key in double quotes");

    uint32_t node = take_node(s);
    const char *start = at + 1;

    at = scan_string(s, at, &escaped);
    if (!at)
        return NULL;

    struct str text = str_make(start, (size_t)(at - 1 - start));

    if (escaped) {
        text = json_unescape(index->arena, text);
        place = index->decoded.count;
        str_list_push(&index->decoded, text);
    }
    index->nodes[node] = (struct json_node){
        .start = offset(s, start),
        .end = offset(s, at) - 1,
        .next = key_signature(text),
        .kind = JSON_STRING,
        .flags = JSON_FLAG_KEY | (escaped ? JSON_FLAG_ESCAPED : 0),
        .count = place & JSON_COUNT_MAX,
    };
    at = behind_space(s, at);
    if (at == s->end || *at != ':')
        return fail(s, at, "expected ':' after a key");
    return at + 1;
}

static int duplicate(struct scan *s, uint32_t key)
{
    struct str text = json_key_text(s->index, key);

    fail_fmt(s, ERROR_SYNTAX, s->begin + s->index->nodes[key].start - 1, "duplicate key \"%s\"",
             str_shown(s->index->arena, text, 128).at);
    return -1;
}

/* No two members of the object that closes have one key: by pairs if few, else sorted. */
static int check_keys(struct scan *s, uint32_t object, uint32_t count)
{
    enum { FEW = 16 };
    const struct json_index *index = s->index;
    uint32_t key = object + 1;
    uint32_t keys[FEW];

    if (count < 2)
        return 0;
    if (count <= FEW) {
        uint64_t seen = 0; /* signatures, a bit for all that end alike */

        for (uint32_t i = 0; i < count; i++, key = index->nodes[key + 1].next) {
            uint64_t bit = 1ULL << (index->nodes[key].next & 63);

            for (uint32_t k = 0; seen & bit && k < i; k++)
                if (json_keys_compare(index, keys[k], key) == 0)
                    return duplicate(s, key);
            seen |= bit;
            keys[i] = key;
        }
        return 0;
    }

    uint32_t *sorted = json_keys_sorted(index, object);
    uint32_t first = UINT32_MAX;

    for (uint32_t i = 1; i < count; i++)
        if (json_keys_compare(index, sorted[i - 1], sorted[i]) == 0 && sorted[i] < first)
            first = sorted[i];
    return first == UINT32_MAX ? 0 : duplicate(s, first);
}

/* ---- values ---- */

static bool is_digit(const struct scan *s, const char *at)
{
    return at < s->end && *at >= '0' && *at <= '9';
}

static const char *scan_digits(struct scan *s, const char *at, const char *what)
{
    if (!is_digit(s, at))
        return fail(s, at, what);
    while (is_digit(s, at))
        at++;
    return at;
}

static const char *scan_exponent(struct scan *s, const char *at)
{
    at++;
    if (at < s->end && (*at == '+' || *at == '-'))
        at++;
    return scan_digits(s, at, "expected a digit in the exponent");
}

static const char *scan_number(struct scan *s, const char *at)
{
    const char *start = at;
    uint32_t flags = 0;
    bool has_exponent = false;

    if (*at == '-')
        at++;
    if (at < s->end && *at == '0') {
        if (is_digit(s, ++at))
            return fail(s, start, "a number must not begin with 0");
    } else {
        at = scan_digits(s, at, "expected a digit after '-'");
    }
    if (at && at < s->end && *at == '.') {
        flags = JSON_FLAG_FRACTION;
        at = scan_digits(s, at + 1, "expected a digit after '.'");
    }
    if (at && at < s->end && (*at == 'e' || *at == 'E')) {
        flags = JSON_FLAG_FRACTION;
        has_exponent = true;
        at = scan_exponent(s, at);
    }
    if (!at)
        return NULL;
    if ((size_t)(at - start) > s->limits->string_max)
        return fail_fmt(s, ERROR_TOO_LARGE, start, "a number of more than %zu bytes",
                        s->limits->string_max);
    if ((has_exponent || at - start > NUMBER_DIGITS_SURE) &&
        !number_fits(str_make(start, (size_t)(at - start))))
        return fail(s, start, "a number beyond what 64 bit floating point holds");
    add_leaf(s, JSON_NUMBER, flags, start, at);
    return at;
}

static const char *scan_word(struct scan *s, const char *at, enum json_kind kind, struct str word,
                             uint32_t flags)
{
    if (!str_starts(str_make(at, (size_t)(s->end - at)), word))
        return fail(s, at, "expected a value");
    add_leaf(s, kind, flags, at, at + word.len);
    return at + word.len;
}

static const char *scan_text(struct scan *s, const char *at)
{
    const char *start = at;
    bool escaped = false;

    at = scan_string(s, at, &escaped);
    if (at)
        add_leaf(s, JSON_STRING, escaped ? JSON_FLAG_ESCAPED : 0, start, at);
    return at;
}

/* `at` is on '{' or '['; gives the place where the first member or element is due. An empty
 * container stays open, to be closed by its bracket. */
static const char *scan_open(struct scan *s, const char *at, enum json_kind kind)
{
    if (s->depth == s->limits->depth_max)
        return fail_fmt(s, ERROR_TOO_LARGE, at, "more than %u levels of nesting",
                        s->limits->depth_max);

    uint32_t node = take_node(s);

    s->index->nodes[node].start = offset(s, at);
    s->open[s->depth++] = (struct open){ node, 0, kind };
    return at + 1;
}

/* `at` is on the closing bracket of the innermost container. */
static const char *close_container(struct scan *s, const char *at)
{
    const struct open *open = &s->open[s->depth - 1];
    struct json_node *node = &s->index->nodes[open->node];

    *node = (struct json_node){ .start = node->start,
                                .end = offset(s, at) + 1,
                                .next = s->count,
                                .kind = open->kind,
                                .count = open->count & JSON_COUNT_MAX };
    if (open->kind == JSON_OBJECT && check_keys(s, open->node, open->count) < 0)
        return NULL;
    s->depth--;
    return at + 1;
}

/* A value is due. A leaf is scanned whole, a container opened. */
static const char *scan_value(struct scan *s, const char *at)
{
    at = behind_space(s, at);
    if (at == s->end)
        return fail(s, at, "expected a value");
    if (++s->values > s->limits->nodes_max)
        return fail_fmt(s, ERROR_TOO_LARGE, at, "more than %u values", s->limits->nodes_max);
    if (s->depth)
        s->open[s->depth - 1].count++;
    switch (*at) {
    case '{':
        return scan_open(s, at, JSON_OBJECT);
    case '[':
        return scan_open(s, at, JSON_ARRAY);
    case '"':
        return scan_text(s, at);
    case 't':
        return scan_word(s, at, JSON_BOOL, STR("true"), JSON_FLAG_TRUE);
    case 'f':
        return scan_word(s, at, JSON_BOOL, STR("false"), 0);
    case 'n':
        return scan_word(s, at, JSON_NULL, STR("null"), 0);
    case '-':
    case '0' ... '9':
        return scan_number(s, at);
    default:
        return fail(s, at, "expected a value");
    }
}

/* Behind a value, or behind an opening bracket: close what closes, until a value is due again or
 * the document is done. */
static const char *scan_after(struct scan *s, const char *at, bool *ret_due)
{
    while (at && s->depth) {
        const struct open *around = &s->open[s->depth - 1];
        bool is_object = around->kind == JSON_OBJECT;

        at = behind_space(s, at);
        if (at < s->end && *at == (is_object ? '}' : ']')) {
            at = close_container(s, at);
            continue;
        }
        if (around->count) {
            if (at == s->end || *at != ',')
                return fail(s, at,
                            is_object ? "expected ',' or '}' after a member"
                                      : "expected ',' or ']' after an element");
            at++;
        }
        return is_object ? scan_key(s, at) : at;
    }
    *ret_due = false;
    return at;
}

/* One value with all that is in it. */
static const char *scan_whole(struct scan *s, const char *at)
{
    bool due = true;

    while (at && due)
        at = scan_after(s, scan_value(s, at), &due);
    return at;
}

/* A review as the API server sends it has a node for each 11 to 12 bytes. */
static uint32_t expected_nodes(size_t bytes, const struct json_limits *limits)
{
    uint32_t most = limits->nodes_max * 2 + 2; /* keys are nodes too */
    size_t guess = bytes / 11 + 8;

    return guess < most ? (uint32_t)guess : most;
}

int json_read(struct arena *arena, struct str bytes, const struct json_limits *limits,
              struct json *ret_root, struct error *err)
{
    struct json_limits bound = *limits;

    if (bound.nodes_max > JSON_COUNT_MAX)
        bound.nodes_max = JSON_COUNT_MAX;
    if (bound.bytes_max > UINT32_MAX)
        bound.bytes_max = UINT32_MAX;
    if (bytes.len > bound.bytes_max)
        return error_set(err, ERROR_TOO_LARGE, "the text has %zu bytes, more than %zu", bytes.len,
                         bound.bytes_max);

    struct json_index *index = arena_new(arena, struct json_index);
    const char *begin = bytes.at ? bytes.at : "";
    const char *at;
    struct scan s = { .begin = begin,
                      .end = begin + bytes.len,
                      .index = index,
                      .capacity = expected_nodes(bytes.len, &bound),
                      .open = arena_bytes(arena, arena_array_bytes((size_t)bound.depth_max + 1,
                                                                   sizeof(struct open))),
                      .limits = &bound,
                      .err = err };

    *index = (struct json_index){ arena, str_make(begin, bytes.len), NULL, str_list_new(arena, 0) };
    index->nodes = arena_bytes(arena, sizeof(struct json_node) * s.capacity);
    at = scan_whole(&s, begin);
    if (!at)
        return -1;
    at = behind_space(&s, at);
    if (at != s.end) {
        fail(&s, at, "expected the end of the text after the value");
        return -1;
    }
    *ret_root = (struct json){ index, 0 };
    return 0;
}
