/* SPDX-License-Identifier: Apache-2.0 */
/* policy_text.c: globs and ${words}. */
#include "stack/policy/policy_text.h"

static const struct str words[POLICY_WORD_COUNT] = {
    [POLICY_WORD_NAMESPACE] = STR_INIT("namespace"),
    [POLICY_WORD_NAME] = STR_INIT("name"),
    [POLICY_WORD_ENV] = STR_INIT("env"),
    [POLICY_WORD_POLICY] = STR_INIT("policy"),
    [POLICY_WORD_RULE] = STR_INIT("rule"),
    [POLICY_WORD_FIELD] = STR_INIT("field"),
    [POLICY_WORD_VALUE] = STR_INIT("value"),
    [POLICY_WORD_CHART] = STR_INIT("chart"),
};

/* The next ${word} at or after `from`: its bounds with the braces. False: there is none. */
static bool next_word(struct str text, size_t from, size_t *ret_begin, size_t *ret_end)
{
    ptrdiff_t begin = str_find(text, STR("${"), from);
    ptrdiff_t close = begin < 0 ? -1 : str_find_char(text, '}', (size_t)begin);

    if (close < 0)
        return false;
    *ret_begin = (size_t)begin;
    *ret_end = (size_t)close + 1;
    return true;
}

static int word_of(struct str name, int count)
{
    for (int i = 0; i < count; i++)
        if (str_eq(words[i], name))
            return i;
    return -1;
}

struct str policy_text_unknown_word(struct str text, int count)
{
    size_t begin, end = 0;

    while (next_word(text, end, &begin, &end)) {
        struct str name = str_slice(text, begin + 2, end - 1);

        if (word_of(name, count) < 0)
            return str_slice(text, begin, end);
    }
    return STR("");
}

struct str policy_text_word(struct str text)
{
    size_t begin, end = 0;

    while (next_word(text, end, &begin, &end))
        if (word_of(str_slice(text, begin + 2, end - 1), POLICY_WORD_COUNT) >= 0 &&
            (begin == 0 || text.at[begin - 1] != '\\'))
            return str_slice(text, begin, end);
    return STR("");
}

bool policy_text_has_words(struct str text)
{
    size_t begin, end;

    return next_word(text, 0, &begin, &end);
}

struct str policy_text_fill(struct arena *arena, struct str text, const struct policy_words *values)
{
    struct strbuf out = strbuf_new(arena, text.len + 64);
    size_t begin, end, done = 0;

    while (next_word(text, done, &begin, &end)) {
        int word = word_of(str_slice(text, begin + 2, end - 1), POLICY_WORD_COUNT);

        strbuf_put(&out, str_slice(text, done, begin));
        if (word >= 0)
            strbuf_put(&out, values->of[word]);
        done = end;
    }
    strbuf_put(&out, str_slice(text, done, text.len));
    return strbuf_str(&out);
}

bool policy_glob_matches(struct str glob, struct str text)
{
    ptrdiff_t first = str_find_char(glob, '*', 0);

    if (first < 0)
        return str_eq(glob, text);
    if (!str_starts(text, str_slice(glob, 0, (size_t)first)))
        return false;

    size_t g = (size_t)first, t = (size_t)first;
    size_t star = SIZE_MAX; /* the last * seen, and where its text begins that is tried next */
    size_t retry = 0;

    while (t < text.len) {
        if (g < glob.len && glob.at[g] == '*') {
            star = g++;
            retry = t;
        } else if (g < glob.len && glob.at[g] == text.at[t]) {
            g++;
            t++;
        } else if (star != SIZE_MAX) {
            g = star + 1;
            t = ++retry;
        } else {
            return false;
        }
    }
    while (g < glob.len && glob.at[g] == '*')
        g++;
    return g == glob.len;
}

bool policy_globs_match(const struct str_list *globs, struct str text)
{
    for (uint32_t i = 0; i < globs->count; i++)
        if (policy_glob_matches(globs->items[i], text))
            return true;
    return false;
}
