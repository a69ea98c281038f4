/* json_scan.c: one strict pass over the bytes (RFC 8259), leaving an index behind.
 *
 * The loop knows two moments: a value is due, or a value has just ended. Open containers stand on
 * an explicit stack, so depth costs no C stack. Key texts are compared when their object closes. */
#include "base/limits.h"
#include "base/plant.h"
#include "text/bytes.h"
#include "text/json_index.h"
#include "text/number.h"

#include <stdio.h>

const struct json_limits json_limits_default = {
    .bytes_max = LIMIT_REVIEW_BODY,
    .depth_max = LIMIT_JSON_DEPTH,
    .nodes_max = LIMIT_JSON_NODES,
    .string_max = LIMIT_JSON_STRING,
};

struct scan {
    const char *at;
    const char *begin;
    const char *end;
    struct json_index *index;
    uint32_t count;    /* nodes in use, keys too */
    uint32_t capacity; /* nodes allocated */
    uint32_t values;   /* what nodes_max bounds */
    uint32_t depth;
    uint32_t *open; /* nodes of the containers around `at`, outermost first */
    const struct json_limits *limits;
    struct error *err;
};

/* Lines and columns (in characters) are counted only when something is wrong. */
static int fail_at(struct scan *s, enum error_code code, const char *at, const char *what)
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
    return error_set(s->err, code, "line %u, column %u: %s%s", line, column, what,
                     at >= s->end ? "; the text ends here" : "");
}

static int fail(struct scan *s, const char *what)
{
    return fail_at(s, ERROR_SYNTAX, s->at, what);
}

__attribute__((format(printf, 4, 5))) static int fail_fmt(struct scan *s, enum error_code code,
                                                          const char *at, const char *format, ...)
{
    char what[320];
    va_list args;

    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    return fail_at(s, code, at, what);
}

static inline void skip_space(struct scan *s)
{
    while (s->at < s->end &&
           (*s->at == ' ' || *s->at == '\n' || *s->at == '\t' || *s->at == '\r'))
        s->at++;
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

/* Two are always free behind the one given, so a key and its value need one check. */
static inline struct json_node *add_node(struct scan *s, enum json_kind kind, uint32_t start)
{
    if (s->count + 2 > s->capacity)
        grow(s);

    struct json_node *node = &s->index->nodes[s->count++];

    *node = (struct json_node){ .start = start, .next = s->count, .kind = kind };
    return node;
}

static inline uint32_t offset(const struct scan *s)
{
    return (uint32_t)(s->at - s->begin);
}

/* ---- strings ---- */

/* `at` is on a backslash; moves behind the escape. */
static int scan_escape(struct scan *s)
{
    if (s->end - s->at < 2)
        return fail_at(s, ERROR_SYNTAX, s->end, "expected the rest of an escape");
    if (s->at[1] != 'u') {
        if (s->at[1] == '\0' || !strchr("\"\\/bfnrt", s->at[1]))
            return fail(s, "unknown escape; JSON has \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX");
        s->at += 2;
        return 0;
    }

    int32_t code = json_hex_code(s->at + 2, s->end);

    if (code < 0)
        return fail(s, "expected four hexadecimal digits after \\u");
    if (code == 0)
        return fail(s, "\\u0000 is not allowed");
    if (code >= 0xdc00 && code < 0xe000)
        return fail(s, "a low surrogate without the high one before it");
    if (code >= 0xd800 && code < 0xdc00) {
        int32_t low = s->end - s->at >= 12 && s->at[6] == '\\' && s->at[7] == 'u'
                          ? json_hex_code(s->at + 8, s->end)
                          : -1;

        if (low < 0xdc00 || low > 0xdfff)
            return fail(s, "a high surrogate without the low one behind it");
        s->at += 6;
    }
    s->at += 6;
    return 0;
}

/* `at` is on the opening quote; moves behind the closing one. *ret_flags gets JSON_FLAG_ESCAPED
 * if there was a backslash. */
static int scan_string(struct scan *s, uint32_t *ret_flags)
{
    const char *opening = s->at++;

    for (;;) {
        s->at = plain_end(s->at, s->end);
        if (s->at == s->end)
            return fail(s, "expected '\"' at the end of a string");
        if (*s->at == '"')
            break;
        if (*s->at == '\\') {
            *ret_flags = JSON_FLAG_ESCAPED;
            if (scan_escape(s) < 0)
                return -1;
            continue;
        }
        if ((unsigned char)*s->at < 0x20)
            return fail(s, "a control character in a string; write it as an escape");

        uint32_t length = utf8_length(s->at, s->end);

        if (length == 0)
            return fail(s, "bytes that are not UTF-8");
        s->at += length;
    }
    s->at++;
    if ((size_t)(s->at - opening) > s->limits->string_max)
        return fail_fmt(s, ERROR_TOO_LARGE, opening, "a string of more than %zu bytes",
                        s->limits->string_max);
    return 0;
}

/* ---- keys ---- */

/* A key and its colon. The member's value comes next. */
static int scan_key(struct scan *s)
{
    uint32_t flags = 0;

    skip_space(s);
    if (s->at == s->end || *s->at != '"')
        return fail(s, "expected a key in double quotes");

    struct json_node *key = add_node(s, JSON_STRING, offset(s) + 1);

    if (scan_string(s, &flags) < 0)
        return -1;
    key->end = offset(s) - 1;

    struct str text = str_make(s->begin + key->start, key->end - key->start);

    if (flags) {
        text = json_unescape(s->index->arena, text);
        key->count = s->index->decoded.count & JSON_COUNT_MAX;
        str_list_push(&s->index->decoded, text);
    }
    key->flags = (flags | JSON_FLAG_KEY) & 15;
    key->next = key_signature(text);
    skip_space(s);
    if (s->at == s->end || *s->at != ':')
        return fail(s, "expected ':' after a key");
    s->at++;
    return 0;
}

static int duplicate(struct scan *s, uint32_t key)
{
    struct str text = json_key_text(s->index, key);

    return fail_fmt(s, ERROR_SYNTAX, s->begin + s->index->nodes[key].start - 1,
                    "duplicate key \"%s\"", str_shown(s->index->arena, text, 128).at);
}

/* No two members of the object that closes have one key: by pairs if few, else sorted. */
static int check_keys(struct scan *s, uint32_t object)
{
    enum { FEW = 16 };
    const struct json_index *index = s->index;
    uint32_t count = index->nodes[object].count;
    uint32_t key = object + 1;
    uint32_t keys[FEW];

    if (count < 2 || PLANTED(LAST_KEY_WINS))
        return 0;
    if (count <= FEW) {
        for (uint32_t i = 0; i < count; i++, key = index->nodes[key + 1].next) {
            for (uint32_t k = 0; k < i; k++)
                if (index->nodes[keys[k]].next == index->nodes[key].next &&
                    json_keys_compare(index, keys[k], key) == 0)
                    return duplicate(s, key);
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

static bool is_digit(const struct scan *s)
{
    return s->at < s->end && *s->at >= '0' && *s->at <= '9';
}

static int scan_digits(struct scan *s, const char *what)
{
    if (!is_digit(s))
        return fail(s, what);
    while (is_digit(s))
        s->at++;
    return 0;
}

static int scan_number(struct scan *s)
{
    struct json_node *node = add_node(s, JSON_NUMBER, offset(s));
    const char *start = s->at;
    bool has_exponent = false;

    if (*s->at == '-')
        s->at++;
    if (s->at < s->end && *s->at == '0') {
        s->at++;
        if (is_digit(s))
            return fail_at(s, ERROR_SYNTAX, start, "a number must not begin with 0");
    } else if (scan_digits(s, "expected a digit after '-'") < 0) {
        return -1;
    }
    if (s->at < s->end && *s->at == '.') {
        node->flags = JSON_FLAG_FRACTION;
        s->at++;
        if (scan_digits(s, "expected a digit after '.'") < 0)
            return -1;
    }
    if (s->at < s->end && (*s->at == 'e' || *s->at == 'E')) {
        node->flags = JSON_FLAG_FRACTION;
        has_exponent = true;
        s->at++;
        if (s->at < s->end && (*s->at == '+' || *s->at == '-'))
            s->at++;
        if (scan_digits(s, "expected a digit in the exponent") < 0)
            return -1;
    }
    if ((size_t)(s->at - start) > s->limits->string_max)
        return fail_fmt(s, ERROR_TOO_LARGE, start, "a number of more than %zu bytes",
                        s->limits->string_max);
    if ((has_exponent || s->at - start > NUMBER_DIGITS_SURE) &&
        !number_fits(str_make(start, (size_t)(s->at - start))))
        return fail_at(s, ERROR_SYNTAX, start, "a number beyond what 64 bit floating point holds");
    node->end = offset(s);
    return 0;
}

static int scan_word(struct scan *s, enum json_kind kind, struct str word, uint32_t flags)
{
    if (!str_starts(str_make(s->at, (size_t)(s->end - s->at)), word))
        return fail(s, "expected a value");

    struct json_node *node = add_node(s, kind, offset(s));

    s->at += word.len;
    node->end = offset(s);
    node->flags = flags & 15;
    return 0;
}

static int scan_text(struct scan *s)
{
    uint32_t flags = 0;
    uint32_t node = s->count;

    add_node(s, JSON_STRING, offset(s));
    if (scan_string(s, &flags) < 0)
        return -1;
    s->index->nodes[node].end = offset(s);
    s->index->nodes[node].flags = flags & 15;
    return 0;
}

/* `at` is on '{' or '['. Moves to where the first member's value or first element is due; an empty
 * container stays open, to be closed by its bracket. */
static int scan_open(struct scan *s, enum json_kind kind)
{
    if (s->depth == s->limits->depth_max)
        return fail_fmt(s, ERROR_TOO_LARGE, s->at, "more than %u levels of nesting",
                        s->limits->depth_max);
    s->open[s->depth++] = s->count;
    add_node(s, kind, offset(s));
    s->at++;
    return 0;
}

static int close_container(struct scan *s)
{
    uint32_t open = s->open[--s->depth];
    struct json_node *node = &s->index->nodes[open];

    s->at++;
    node->end = offset(s);
    node->next = s->count;
    return node->kind == JSON_OBJECT ? check_keys(s, open) : 0;
}

/* A value is due. A leaf is scanned whole, a container opened. */
static int scan_value(struct scan *s)
{
    skip_space(s);
    if (s->at == s->end)
        return fail(s, "expected a value");
    if (++s->values > s->limits->nodes_max && !PLANTED(NODES_WITHOUT_END))
        return fail_fmt(s, ERROR_TOO_LARGE, s->at, "more than %u values", s->limits->nodes_max);
    if (s->depth)
        s->index->nodes[s->open[s->depth - 1]].count++;
    switch (*s->at) {
    case '{':
        return scan_open(s, JSON_OBJECT);
    case '[':
        return scan_open(s, JSON_ARRAY);
    case '"':
        return scan_text(s);
    case 't':
        return scan_word(s, JSON_BOOL, STR("true"), JSON_FLAG_TRUE);
    case 'f':
        return scan_word(s, JSON_BOOL, STR("false"), 0);
    case 'n':
        return scan_word(s, JSON_NULL, STR("null"), 0);
    case '-':
    case '0' ... '9':
        return scan_number(s);
    default:
        return fail(s, "expected a value");
    }
}

/* Behind a value, or behind an opening bracket: close what closes, until a value is due again or
 * the document is done. */
static int scan_after(struct scan *s, bool *ret_due)
{
    while (s->depth) {
        const struct json_node *around = &s->index->nodes[s->open[s->depth - 1]];
        bool is_object = around->kind == JSON_OBJECT;

        skip_space(s);
        if (s->at < s->end && *s->at == (is_object ? '}' : ']')) {
            if (close_container(s) < 0)
                return -1;
            continue;
        }
        if (around->count) {
            if (s->at == s->end || *s->at != ',')
                return fail(s, is_object ? "expected ',' or '}' after a member"
                                         : "expected ',' or ']' after an element");
            s->at++;
        }
        *ret_due = true;
        return is_object ? scan_key(s) : 0;
    }
    *ret_due = false;
    return 0;
}

/* A review as the API server sends it has a node for each 16 to 20 bytes. */
static uint32_t expected_nodes(size_t bytes, const struct json_limits *limits)
{
    uint32_t most = limits->nodes_max * 2 + 2; /* keys are nodes too */
    size_t guess = bytes / 16 + 8;

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
        return error_set(err, ERROR_TOO_LARGE, "the text has %zu bytes, more than %zu",
                         bytes.len, bound.bytes_max);

    struct json_index *index = arena_new(arena, struct json_index);
    const char *begin = bytes.at ? bytes.at : "";
    struct scan s = { .at = begin,
                      .begin = begin,
                      .end = begin + bytes.len,
                      .index = index,
                      .capacity = expected_nodes(bytes.len, &bound),
                      .open = arena_bytes(arena, sizeof(uint32_t) * ((size_t)bound.depth_max + 1)),
                      .limits = &bound,
                      .err = err };
    bool due = true;

    *index = (struct json_index){ arena, str_make(begin, bytes.len), NULL,
                                  str_list_new(arena, 0) };
    index->nodes = arena_bytes(arena, sizeof(struct json_node) * s.capacity);
    while (due)
        if (scan_value(&s) < 0 || scan_after(&s, &due) < 0)
            return -1;
    skip_space(&s);
    if (s.at != s.end)
        return fail(&s, "expected the end of the text after the value");
    *ret_root = (struct json){ index, 0 };
    return 0;
}
