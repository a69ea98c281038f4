/* policy_choice.c: words, globs and patterns of a rule against the words of its field. */
#include "stack/policy_choice.h"

#include "stack/policy_text.h"

struct choosing {
    struct findings *findings;
    const struct field_words *words;
    const struct path *rule;
};

static void blame(const struct choosing *c, const struct path *at, struct str asked,
                  struct str way_out)
{
    finding_add(c->findings, RULE_POLICY_CHECK, CAUSE_VALUE_NOT_SUPPORTED, at,
                way_out.len ? way_out : STR("ask for what the field takes"),
                "'%.*s' matches nothing that the field takes: %.*s",
                STR_ARG(finding_shown(c->findings, asked)),
                STR_ARG(field_words_shown(c->findings->arena, c->words)));
}

static bool glob_fits(const struct choosing *c, struct str glob)
{
    for (uint32_t i = 0; i < c->words->count; i++)
        if (policy_glob_matches(glob, c->words->words[i].name))
            return true;
    return false;
}

static struct str with_stars(const struct choosing *c, struct str text)
{
    struct policy_words stars;

    for (int i = 0; i < POLICY_WORD_COUNT; i++)
        stars.of[i] = STR("*");
    return policy_text_fill(c->findings->arena, text, &stars);
}

static void check_list(const struct choosing *c, const char *field, const struct str_list *globs)
{
    struct path list = path_field(c->rule, str_of(field));

    for (uint32_t i = 0; i < globs->count; i++) {
        struct str glob = globs->items[i];
        struct path at = path_index(&list, i);

        if (policy_text_unknown_word(glob, POLICY_WORDS_OF_STACK).len)
            continue; /* told by itself */
        if (!glob_fits(c, with_stars(c, glob)))
            blame(c, &at, glob,
                  finding_did_you_mean(c->findings, field_word_nearest(c->words, glob)));
    }
}

static void check_pattern(const struct choosing *c, const char *field, const struct regex *regex,
                          struct str pattern)
{
    struct path at = path_field(c->rule, str_of(field));

    if (!regex)
        return; /* there is none, or it is told by itself */
    for (uint32_t i = 0; i < c->words->count; i++)
        if (regex_match(regex, c->words->words[i].name) == REGEX_YES)
            return;
    blame(c, &at, pattern, STR(""));
}

void policy_choice_check(const struct policy_check *check, const struct path *at,
                         struct findings *findings)
{
    const struct policy_rule *rule = check->rule;
    struct choosing c = { findings, check->path ? policy_path_words(check->path) : NULL, at };

    if (!c.words)
        return;
    check_list(&c, "allow", &rule->allow);
    check_list(&c, "deny", &rule->deny);
    check_pattern(&c, "pattern", check->pattern, rule->pattern);
    check_pattern(&c, "notPattern", check->not_pattern, rule->not_pattern);
}
