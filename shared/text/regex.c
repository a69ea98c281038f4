/* SPDX-License-Identifier: Apache-2.0 */
/* regex.c: PCRE2 within bounds.
 *
 * PCRE2's match limit counts for each start position and the JIT counts differently from the
 * interpreter, so limits alone do not bound time: the subject is short and the pattern is anchored,
 * which leaves one start position. The compiled code is bounded too: `(a{1000}){1000}` is short.
 * What a match needs is made for each call, so one pattern serves many threads. */
#include "text/regex.h"

#include "base/memory.h"
#include "text/limits.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

struct regex {
    pcre2_general_context *memory;
    pcre2_code *code;
    pcre2_match_context *limits; /* read only once it is made */
};

/* Memory of ours, which ends the process instead of failing: else a pattern or an answer would be
 * called wrong for want of memory. */
static void *take_memory(size_t bytes, void *none)
{
    (void)none;
    return mem_resize(NULL, bytes);
}

static void give_memory(void *held, void *none)
{
    (void)none;
    mem_free(held);
}

static void name_compile_error(struct str pattern, int code, PCRE2_SIZE offset, struct error *err)
{
    unsigned char text[256];
    AUTO(arena_free) struct arena *arena = arena_create(0);

    if (pcre2_get_error_message(code, text, sizeof(text)) < 0)
        memcpy(text, "bad pattern", sizeof("bad pattern"));
    error_set(err, ERROR_SYNTAX, "pattern \"%s\", offset %zu: %s",
              str_shown(arena, pattern, 256).at, offset, (const char *)text);
}

static int check_size(const pcre2_code *code, struct error *err)
{
    size_t bytes = 0;

    pcre2_pattern_info(code, PCRE2_INFO_SIZE, &bytes);
    if (bytes > LIMIT_REGEX_COMPILED)
        return error_set(err, ERROR_TOO_LARGE,
                         "the pattern, offset 0, needs %zu bytes when compiled, more than %d; use "
                         "smaller counts in braces",
                         bytes, LIMIT_REGEX_COMPILED);
    return 0;
}

static struct regex *create(struct str pattern, struct error *err)
{
    /* \C matches half a character. (*LIMIT_...) in a pattern can only lower the limits. */
    const uint32_t options = PCRE2_UTF | PCRE2_ANCHORED | PCRE2_ENDANCHORED |
                             PCRE2_NEVER_BACKSLASH_C | PCRE2_DOLLAR_ENDONLY;
    AUTO(regex_free) struct regex *regex = NULL;
    pcre2_compile_context *context;
    PCRE2_SIZE offset = 0;
    int code = 0;

    regex = mem_new(struct regex);
    regex->memory = pcre2_general_context_create(take_memory, give_memory, NULL);
    regex->limits = pcre2_match_context_create(regex->memory);
    context = pcre2_compile_context_create(regex->memory);
    pcre2_set_parens_nest_limit(context, 32);
    regex->code = pcre2_compile((PCRE2_SPTR)(pattern.at ? pattern.at : ""), pattern.len, options,
                                &code, &offset, context);
    pcre2_compile_context_free(context);
    if (!regex->code) {
        name_compile_error(pattern, code, offset, err);
        return NULL;
    }
    if (check_size(regex->code, err) < 0)
        return NULL;
    /* Fails where the machine has no JIT: the interpreter then matches, within the same limits. */
    (void)pcre2_jit_compile(regex->code, PCRE2_JIT_COMPLETE);
    pcre2_set_match_limit(regex->limits, LIMIT_REGEX_MATCH);
    pcre2_set_depth_limit(regex->limits, LIMIT_REGEX_MATCH);
    pcre2_set_heap_limit(regex->limits, LIMIT_REGEX_HEAP / 1024);
    return TAKE(regex);
}

static int check_length(struct str pattern, struct error *err)
{
    if (pattern.len <= LIMIT_REGEX_PATTERN)
        return 0;
    return error_set(err, ERROR_TOO_LARGE, "the pattern has %zu bytes, more than %d", pattern.len,
                     LIMIT_REGEX_PATTERN);
}

struct regex *regex_create(struct str pattern, struct error *err)
{
    return check_length(pattern, err) == 0 ? create(pattern, err) : NULL;
}

void regex_free(struct regex *regex)
{
    if (!regex)
        return;
    pcre2_match_context_free(regex->limits);
    pcre2_code_free(regex->code);
    pcre2_general_context_free(regex->memory);
    mem_free(regex);
}

/* What comes before and behind the match is let through; the match itself is group 1. */
struct regex *regex_create_search(struct str pattern, struct error *err)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);

    return check_length(pattern, err) != 0
               ? NULL
               : create(str_fmt(arena, "(?s:.*?)(%.*s)(?s:.*)", STR_ARG(pattern)), err);
}

static enum regex_answer match(const struct regex *regex, struct str subject, size_t at,
                               pcre2_match_data *data)
{
    PCRE2_SPTR text = (PCRE2_SPTR)(subject.at ? subject.at : "");
    int result = pcre2_match(regex->code, text, subject.len, at, 0, data, regex->limits);

    /* The JIT has 32 KiB of stack; the interpreter has the heap limit. */
    if (result == PCRE2_ERROR_JIT_STACKLIMIT)
        result = pcre2_match(regex->code, text, subject.len, at, PCRE2_NO_JIT, data, regex->limits);
    if (result >= 0)
        return REGEX_YES;
    /* Anything but "no match" (a limit, bytes that are not UTF-8) is not an answer. */
    return result == PCRE2_ERROR_NOMATCH ? REGEX_NO : REGEX_LIMIT;
}

enum regex_answer regex_find(const struct regex *regex, struct str subject, size_t at,
                             size_t *ret_from, size_t *ret_to)
{
    pcre2_match_data *data;
    enum regex_answer answer;

    if (subject.len > LIMIT_REGEX_SUBJECT)
        return REGEX_LIMIT;
    data = pcre2_match_data_create(2, regex->memory);
    answer = match(regex, subject, at, data);
    if (answer == REGEX_YES) {
        *ret_from = pcre2_get_ovector_pointer(data)[2];
        *ret_to = pcre2_get_ovector_pointer(data)[3];
    }
    pcre2_match_data_free(data);
    return answer;
}

enum regex_answer regex_match(const struct regex *regex, struct str subject)
{
    pcre2_match_data *data;
    enum regex_answer answer;

    if (subject.len > LIMIT_REGEX_SUBJECT)
        return REGEX_LIMIT;
    data = pcre2_match_data_create(1, regex->memory);
    answer = match(regex, subject, 0, data);
    pcre2_match_data_free(data);
    return answer;
}
