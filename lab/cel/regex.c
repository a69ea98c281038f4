/* SPDX-License-Identifier: Apache-2.0 */
/* regex.c: patterns. RE2, which Kubernetes has, knows less than PCRE2, which text/regex has: what
 * only the latter knows is refused here, so that no rule holds on the lab alone. Both find the
 * leftmost match, preferring what stands first. A subject is at most REGEX_SUBJECT bytes
 * (limits.def) long. Source: github.com/google/re2 wiki "Syntax". */
#include "lab/cel/functions.h"

#include "lab/cel/text.h"

static const char *const perl_groups[] = { "(?=", "(?!", "(?<=", "(?<!", "(?>",  "(?|",
                                           "(?#", "(?(", "(?&",  "(?R",  "(?+",  "(*",
                                           "(?0", "(?1", "(?'",  "(?P>", "(?P=", "(?C" };

/* What RE2 has none of, beginning here; "" if it is fine. */
static struct str foreign(struct str rest)
{
    char next = rest.len > 1 ? rest.at[1] : '\0';

    if (rest.at[0] == '\\')
        return (next >= '1' && next <= '9') || (next && strchr("kgZGKRXhHNVuoc", next))
                   ? str_slice(rest, 0, 2)
                   : STR("");
    for (size_t i = 0; i < sizeof(perl_groups) / sizeof(perl_groups[0]); i++)
        if (str_starts(rest, str_of(perl_groups[i])))
            return str_of(perl_groups[i]);
    if (strchr("*+?}", rest.at[0]) && next == '+')
        return str_slice(rest, 0, 2);
    return STR("");
}

static int check_syntax(struct str pattern, struct error *err)
{
    bool in_class = false;

    for (size_t i = 0; i < pattern.len; i++) {
        struct str found = STR("");

        if (!in_class || pattern.at[i] == '\\')
            found = foreign(str_slice(pattern, i, pattern.len));
        if (found.len && !(in_class && found.at[0] != '\\'))
            return error_set(err, ERROR_SYNTAX,
                             "error parsing regexp: invalid or unsupported Perl syntax: `%.*s`",
                             STR_ARG(found));
        if (pattern.at[i] == '\\') {
            i++;
        } else if (in_class) {
            in_class = pattern.at[i] != ']';
        } else if (pattern.at[i] == '[') {
            in_class = true;
            /* A bracket that comes first is one of the class. */
            i += i + 1 < pattern.len && pattern.at[i + 1] == '^';
            i += i + 1 < pattern.len && pattern.at[i + 1] == ']';
        }
    }
    return 0;
}

struct regex *cel_regex_create(struct str pattern, struct error *err)
{
    if (check_syntax(pattern, err) != 0)
        return NULL;
    return regex_create_search(pattern, err);
}

static void release(void *regex)
{
    regex_free(regex);
}

const struct regex *cel_regex(struct cel_run *run, struct str pattern, struct cel_value *ret_error)
{
    struct regex *regex = map_get(run->regexes, pattern);
    struct error err;

    if (regex)
        return regex;
    regex = cel_regex_create(pattern, &err);
    if (regex)
        arena_defer(run->arena, release, regex);
    else
        *ret_error = cel_errorf(run->arena, "%s", err.text);
    return regex;
}

static struct cel_value too_much(void)
{
    return cel_error(STR("herd-lab cannot match this within its bounds (REGEX_* of limits.def)"));
}

struct cel_value cel_matches(struct cel_run *run, const struct cel_value *args)
{
    struct cel_value error;
    const struct regex *regex = cel_regex(run, args[1].text, &error);
    enum regex_answer answer;

    if (!regex)
        return error;
    answer = regex_match(regex, args[0].text);
    return answer == REGEX_LIMIT ? too_much() : cel_bool(answer == REGEX_YES);
}

struct cel_value cel_find(struct cel_run *run, const struct cel_value *args)
{
    struct cel_value error;
    const struct regex *regex = cel_regex(run, args[1].text, &error);
    size_t from, to;

    if (!regex)
        return error;
    switch (regex_find(regex, args[0].text, 0, &from, &to)) {
    case REGEX_YES:
        return cel_string(str_slice(args[0].text, from, to));
    case REGEX_NO:
        return cel_string(STR(""));
    case REGEX_LIMIT:
        break;
    }
    return too_much();
}

/* An empty match right behind another one does not count. */
static struct cel_value find_all(struct cel_run *run, const struct cel_value *args, int64_t most)
{
    struct cel_values found = cel_values_new(run->arena, 4);
    struct cel_value error;
    const struct regex *regex = cel_regex(run, args[1].text, &error);
    size_t at = 0, from, to, end = SIZE_MAX, bytes;

    if (!regex)
        return error;
    while (at <= args[0].text.len && (most < 0 || found.count < most)) {
        enum regex_answer answer = regex_find(regex, args[0].text, at, &from, &to);

        if (answer == REGEX_LIMIT)
            return too_much();
        if (answer == REGEX_NO)
            break;
        if (from < to || from != end)
            cel_values_push(&found, cel_string(str_slice(args[0].text, from, to)));
        end = at = to;
        if (from < to)
            continue;
        if (at == args[0].text.len)
            break;
        cel_character_at(args[0].text, at, &bytes);
        at += bytes;
    }
    return cel_list_of(run->arena, &found);
}

struct cel_value cel_find_all(struct cel_run *run, const struct cel_value *args)
{
    return find_all(run, args, -1);
}

struct cel_value cel_find_all_most(struct cel_run *run, const struct cel_value *args)
{
    return find_all(run, args, args[2].number);
}
