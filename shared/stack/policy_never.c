/* policy_never.c: what a rule asks for, against what the field can be. */
#include "stack/policy_never.h"

#include "stack/decode.h"
#include "stack/default.h"
#include "stack/policy_text.h"

struct looking {
    struct arena *arena; /* of what is found: nothing of it outlives the look */
    struct findings *findings;
    const struct policy_check *check;
    const struct path *at; /* the rule */
};

static void blame(const struct looking *l, const char *field, const char *message,
                  const char *way_out)
{
    struct path at = path_field(l->at, str_of(field));

    finding_add(l->findings, RULE_POLICY_NEVER, CAUSE_VALUE_INVALID, &at, str_of(way_out), "%s",
                message);
}

/* --- a field that takes only certain words --- */

static void blame_word(const struct looking *l, const struct path *at, struct str asked,
                       struct str way_out)
{
    finding_add(l->findings, RULE_POLICY_NEVER, CAUSE_VALUE_NOT_SUPPORTED, at,
                way_out.len ? way_out : STR("ask for what the field takes"),
                "'%.*s' matches nothing that the field takes: %.*s",
                STR_ARG(finding_shown(l->findings, asked)),
                STR_ARG(field_words_shown(l->arena, policy_path_words(l->check->path))));
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
            continue; /* told by itself */
        if (!glob_fits(words, with_stars(l, glob)))
            blame_word(l, &at, glob,
                       finding_did_you_mean(l->findings, field_word_nearest(words, glob)));
    }
}

static void check_pattern(const struct looking *l, const struct field_words *words,
                          const char *field, const struct regex *regex, struct str pattern)
{
    struct path at = path_field(l->at, str_of(field));

    if (!regex || policy_text_word(pattern).len)
        return; /* there is none, or it is told by itself */
    for (uint32_t i = 0; i < words->count; i++)
        if (regex_match(regex, words->words[i].name) == REGEX_YES)
            return;
    blame_word(l, &at, pattern, STR(""));
}

static void check_choice(const struct looking *l)
{
    const struct policy_rule *rule = l->check->rule;
    const struct field_words *words = policy_path_words(l->check->path);

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
                    STR("ask with allow or deny, which take ${namespace}, ${name} and ${env}; for "
                        "the text itself write \\$\\{"),
                    "%.*s stands for nothing in a pattern, where $ is the end: it matches no text",
                    STR_ARG(finding_shown(l->findings, word)));
}

/* --- allow and deny --- */

/* A glob is all that another is, if it matches that as a text: only a * can match its *. */
static bool all_denied(const struct policy_rule *rule)
{
    for (uint32_t i = 0; i < rule->allow.count; i++)
        if (!policy_globs_match(&rule->deny, rule->allow.items[i]))
            return false;
    return rule->allow.count > 0;
}

/* --- a list without elements --- */

static void check_filled(const struct looking *l, int row, const char *field, uint32_t count)
{
    if (STACK_GIVEN(l->check->rule, row) && !count)
        blame(l, field, "is empty, so it asks for nothing",
              "list values, or remove the field; presence: Forbidden asks that nothing is there");
}

/* --- what every Stack has --- */

#define LEAST(targets)                                                                             \
    "{\"metadata\":{\"name\":\"s\",\"namespace\":\"n\",\"annotations\":{"                          \
    "\"" STACK_LAST_APPLIED_BY "\":\"u\"}},\"spec\":{\"targets\":{" targets "},\"charts\":["       \
    "{\"name\":\"c\",\"repo\":\"https://r.io\",\"version\":\"1.0.0\"}]}}"

/* The least that passes; targets are the one thing that every Stack has in one of two ways. */
static const char *const least[] = {
    LEAST("\"clusterIds\":[\"c-1\"]"),
    LEAST("\"selector\":{\"matchLabels\":{\"a\":\"b\"}}"),
};

static void note_found(void *context, const struct policy_value *value, const struct path *at)
{
    bool *found = context;

    (void)at;
    *found = *found || value->kind != POLICY_VALUE_ABSENT;
}

static bool has(const struct looking *l, const char *text)
{
    struct problems ignored = problems_new(l->arena);
    struct error err;
    struct json json;
    bool found = false;

    if (json_read(l->arena, str_of(text), &json_limits_default, &json, &err) < 0)
        return false;
    policy_path_walk(l->check->path,
                     stack_default(l->arena, stack_decode(l->arena, json, &ignored), NULL),
                     l->arena, note_found, &found);
    return found;
}

static bool every_stack_has(const struct looking *l)
{
    for (size_t i = 0; i < sizeof(least) / sizeof(least[0]); i++)
        if (!has(l, least[i]))
            return false;
    return true;
}

/* Of some charts only, "nothing may be there" is how those charts are refused. */
static void check_there(const struct looking *l)
{
    const struct policy_rule *rule = l->check->rule;
    bool forbidden = rule->presence == POLICY_PRESENCE_FORBIDDEN;

    if (!rule->charts.count &&
        (forbidden || policy_globs_match(&rule->deny, STR("*"))) && every_stack_has(l))
        blame(l, forbidden ? "presence" : "deny",
              "every Stack has the field, so none can keep the rule",
              "name more closely what must not be there; to refuse some Stacks altogether, deny "
              "their metadata.namespace, spec.env or label");
}

void policy_never_check(const struct policy_check *check, const struct path *at,
                        struct findings *findings)
{
    struct looking l = { findings->problems->arena, findings, check, at };

    check_words_in(&l, "pattern", check->rule->pattern);
    check_words_in(&l, "notPattern", check->rule->not_pattern);
    check_filled(&l, ROW_policy_rule_allow, "allow", check->rule->allow.count);
    check_filled(&l, ROW_policy_rule_deny, "deny", check->rule->deny.count);
    if (all_denied(check->rule))
        blame(&l, "allow", "deny takes back all that is allowed, so nothing can keep the rule",
              "remove from one of the two what stands in both");
    if (!check->path)
        return;
    check_choice(&l);
    check_there(&l);
}
