/* SPDX-License-Identifier: Apache-2.0 */
/* policy_never.c: what a rule asks for, against what the field can be. */
#include "stack/policy/policy_never.h"

#include "stack/policy/policy_text.h"

struct looking {
    struct arena *arena; /* of what is found: nothing of it outlives the look */
    struct findings *findings;
    const struct policy_check *check;
    const struct policy_path *path; /* in one of its kinds */
    const struct path *at;          /* the rule */
};

/* --- a field that takes only certain words --- */

static void blame_word(const struct looking *l, const struct path *at, struct str asked,
                       struct str nearest)
{
    finding_add(l->findings, RULE_POLICY_NEVER, CAUSE_VALUE_NOT_SUPPORTED, at, STR(""),
                "\"%.*s\": matches none of the field's %.*s%.*s",
                STR_ARG(finding_shown(l->findings, asked)),
                STR_ARG(field_words_supported(l->arena, policy_path_words(l->path))),
                STR_ARG(finding_did_you_mean(l->findings, nearest)));
}

static bool glob_fits(const struct field_words *words, struct str glob)
{
    for (uint32_t i = 0; i < words->count; i++)
        if (policy_glob_matches(glob, words->words[i].name))
            return true;
    return false;
}

/* A ${word} may stand for anything. */
static struct str with_stars(const struct looking *l, struct str text)
{
    struct policy_words stars;

    for (int i = 0; i < POLICY_WORD_COUNT; i++)
        stars.of[i] = STR("*");
    return policy_text_fill(l->arena, text, &stars);
}

static void check_list(const struct looking *l, const struct field_words *words, const char *field,
                       const struct str_list *globs)
{
    struct path list = path_field(l->at, str_of(field));

    for (uint32_t i = 0; i < globs->count; i++) {
        struct str glob = globs->items[i];
        struct path at = path_index(&list, i);

        if (policy_text_unknown_word(glob, POLICY_WORDS_OF_STACK).len)
            continue; /* has a finding of its own */
        if (!glob_fits(words, with_stars(l, glob)))
            blame_word(l, &at, glob, field_word_nearest(words, glob));
    }
}

static void check_pattern(const struct looking *l, const struct field_words *words,
                          const char *field, const struct regex *regex, struct str pattern)
{
    struct path at = path_field(l->at, str_of(field));

    if (!regex || policy_text_word(pattern).len)
        return; /* there is none, or it has a finding of its own */
    for (uint32_t i = 0; i < words->count; i++)
        if (regex_match(regex, words->words[i].name) == REGEX_YES)
            return;
    blame_word(l, &at, pattern, STR(""));
}

static void check_choice(const struct looking *l)
{
    const struct policy_rule *rule = l->check->rule;
    const struct field_words *words = policy_path_words(l->path);

    if (!words)
        return;
    check_list(l, words, "allow", &rule->allow);
    check_list(l, words, "deny", &rule->deny);
    check_pattern(l, words, "pattern", l->check->pattern, rule->pattern);
    check_pattern(l, words, "notPattern", l->check->not_pattern, rule->not_pattern);
}

/* --- a ${word} in a pattern: there $ is the end of the text, and nothing stands behind that --- */

static void check_words_in(const struct looking *l, const char *field, struct str pattern)
{
    struct path at = path_field(l->at, str_of(field));
    struct str word = policy_text_word(pattern);

    if (word.len)
        finding_add(l->findings, RULE_POLICY_NEVER, CAUSE_VALUE_INVALID, &at,
                    STR("use allow or deny, which support ${namespace}, ${name} and ${env}; to "
                        "match the text itself, write \\$\\{"),
                    "\"%.*s\": must not be in a pattern, where $ is the end of the value: no value "
                    "can match",
                    STR_ARG(finding_shown(l->findings, word)));
}

/* --- a list without elements --- */

static void check_filled(const struct looking *l, int row, const char *field, uint32_t count)
{
    struct path at = path_field(l->at, str_of(field));

    if (STACK_GIVEN(l->check->rule, row) && !count)
        finding_add(
            l->findings, RULE_POLICY_NEVER, CAUSE_VALUE_REQUIRED, &at,
            STR("list values, or remove the field; presence: Forbidden demands that a field is "
                "not set"),
            "must have at least 1 item");
}

void policy_never_check(const struct policy_check *check, const struct path *at,
                        struct findings *findings)
{
    struct looking l = { findings->problems->arena, findings, check, NULL, at };
    uint32_t before;

    check_words_in(&l, "pattern", check->rule->pattern);
    check_words_in(&l, "notPattern", check->rule->not_pattern);
    check_filled(&l, ROW_policy_rule_allow, "allow", check->rule->allow.count);
    check_filled(&l, ROW_policy_rule_deny, "deny", check->rule->deny.count);
    before = findings->problems->list.count;
    for (int i = 0; i < POLICY_KIND_COUNT && findings->problems->list.count == before; i++) {
        l.path = check->paths[i];
        if (l.path)
            check_choice(&l);
    }
}
