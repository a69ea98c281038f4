/* policy_check.c: is a rule in order, and does a value keep it? */
#include "stack/policy_check.h"

#include "kube/names.h"

/* --- is it in order? --- */

struct checking {
    struct findings *findings;
    const struct policy_rule *rule;
    const struct path *at;
};

static struct path under(const struct checking *c, const char *field)
{
    return path_field(c->at, str_of(field));
}

static void blame(const struct checking *c, enum rule_id rule, const char *field,
                  const char *message)
{
    struct path at = field ? under(c, field) : *c->at;

    finding_add(c->findings, rule, CAUSE_VALUE_INVALID, &at, STR(""), "%s", message);
}

static void release(void *held)
{
    regex_free(*(struct regex **)held);
}

static struct regex *compile_pattern(const struct checking *c, struct arena *arena,
                                     const char *field, struct str pattern)
{
    struct regex **held = arena_new(arena, struct regex *);
    struct path at = under(c, field);
    struct error err = { 0 };

    if (pattern.len == 0)
        return NULL;
    arena_defer(arena, release, held);
    *held = regex_create(pattern, &err);
    if (!*held)
        finding_add(c->findings, RULE_POLICY_PATTERN, CAUSE_VALUE_INVALID, &at, STR(""), "%s",
                    err.text);
    return *held;
}

static const struct policy_path *compile_path(const struct checking *c, struct arena *arena)
{
    struct path at = under(c, "field");
    struct error err = { 0 };
    const struct policy_path *path;

    if (c->rule->field.len == 0)
        return NULL;
    path = policy_path_compile(arena, c->rule->field, &err);
    if (!path)
        finding_add(c->findings, RULE_POLICY_FIELD, CAUSE_VALUE_INVALID, &at, STR(""),
                    "'%.*s' is no field of a Stack: %s",
                    STR_ARG(finding_shown(c->findings, c->rule->field)), err.text);
    return path;
}

static struct policy_amount compile_amount(const struct checking *c, const char *field,
                                           struct str text, enum policy_path_end end)
{
    bool duration = end == POLICY_END_DURATION;
    struct policy_amount amount = policy_amount_of(
        text, duration ? POLICY_AMOUNT_DURATION : POLICY_AMOUNT_NUMBER);
    struct path at = under(c, field);

    if (text.len == 0)
        return amount;
    if (amount.kind == POLICY_AMOUNT_NONE)
        finding_add(c->findings, RULE_POLICY_AMOUNT, CAUSE_VALUE_INVALID, &at, STR(""),
                    "'%.*s' is no number, quantity or duration",
                    STR_ARG(finding_shown(c->findings, text)));
    else if (duration != (amount.kind == POLICY_AMOUNT_DURATION) && end != POLICY_END_ANY)
        finding_add(c->findings, RULE_POLICY_AMOUNT, CAUSE_VALUE_INVALID, &at,
                    duration ? STR("write it like 30m") : STR("write a number"),
                    "the field is %s duration, so '%.*s' cannot be compared with it",
                    duration ? "a" : "no", STR_ARG(finding_shown(c->findings, text)));
    return amount;
}

static bool asks_for_text(const struct policy_rule *rule)
{
    return STACK_GIVEN(rule, ROW_policy_rule_pattern) ||
           STACK_GIVEN(rule, ROW_policy_rule_not_pattern) ||
           STACK_GIVEN(rule, ROW_policy_rule_allow) || STACK_GIVEN(rule, ROW_policy_rule_deny);
}

static bool asks_for_amount(const struct policy_rule *rule)
{
    return STACK_GIVEN(rule, ROW_policy_rule_minimum) || STACK_GIVEN(rule, ROW_policy_rule_maximum);
}

/* What is asked for must be something that the field can be asked for. */
static void check_end(const struct checking *c, const struct policy_path *path)
{
    const struct policy_rule *rule = c->rule;
    enum policy_path_end end = policy_path_end(path);

    if (!asks_for_text(rule) && !asks_for_amount(rule) && !rule->presence)
        blame(c, RULE_POLICY_CHECK, NULL,
              "says where it looks, but not what it asks for: pattern, notPattern, allow, deny, "
              "minimum, maximum or presence");
    if (asks_for_text(rule) && (end == POLICY_END_COUNT || end == POLICY_END_STRUCT))
        blame(c, RULE_POLICY_CHECK, "field",
              "is a list or an object, which has no text to compare; write [*] or the name of a "
              "member behind it");
    if (asks_for_amount(rule) && (end == POLICY_END_TEXT || end == POLICY_END_STRUCT))
        blame(c, RULE_POLICY_CHECK, "field", "is no number, so it has no minimum and no maximum");
    if (rule->presence == POLICY_PRESENCE_REQUIRED && policy_path_is_deep(path))
        blame(c, RULE_POLICY_CHECK, "presence",
              "** finds what is there, so nothing is ever missing at it");
    if (rule->presence == POLICY_PRESENCE_FORBIDDEN &&
        (asks_for_text(rule) || asks_for_amount(rule)))
        blame(c, RULE_POLICY_CHECK, "presence",
              "what must not be there cannot be asked for anything else");
    if (rule->charts.count && !policy_path_has_charts(path))
        blame(c, RULE_POLICY_CHECK, "charts", "the field belongs to no chart");
}

/* Exactly one of the three says where it looks. */
static void check_where(const struct checking *c)
{
    const struct policy_rule *rule = c->rule;
    int places = (rule->field.len > 0) + (rule->required_chart.len > 0) +
                 (rule->required_dependency.len > 0);

    if (places != 1)
        blame(c, RULE_POLICY_CHECK, NULL,
              places ? "says more than one of field, requiredChart and requiredDependency"
                     : "says none of field, requiredChart and requiredDependency");
    if (!rule->field.len && (asks_for_text(rule) || asks_for_amount(rule) || rule->presence))
        blame(c, RULE_POLICY_CHECK, NULL, "asks for something without a field");
    if (rule->required_chart.len && rule->charts.count)
        blame(c, RULE_POLICY_CHECK, "charts", "requiredChart is about the Stack, not about charts");
}

static void check_bounds(const struct checking *c, const struct policy_check *check)
{
    if (check->minimum.kind && check->minimum.kind == check->maximum.kind &&
        check->minimum.value > check->maximum.value)
        blame(c, RULE_POLICY_AMOUNT, "minimum", "is above the maximum, so nothing can meet both");
}

static void check_words_of(const struct checking *c, const char *field, struct str text, int count)
{
    struct path at = under(c, field);
    struct str unknown = policy_text_unknown_word(text, count);

    if (unknown.len)
        finding_add(c->findings, RULE_POLICY_WORD, CAUSE_VALUE_INVALID, &at, STR(""),
                    "%.*s stands for nothing here",
                    STR_ARG(finding_shown(c->findings, unknown)));
}

static void check_words(const struct checking *c)
{
    const struct policy_rule *rule = c->rule;

    check_words_of(c, "message", rule->message, POLICY_WORD_COUNT);
    check_words_of(c, "wayOut", rule->way_out, POLICY_WORD_COUNT);
    for (uint32_t i = 0; i < rule->allow.count; i++)
        check_words_of(c, "allow", rule->allow.items[i], POLICY_WORDS_OF_STACK);
    for (uint32_t i = 0; i < rule->deny.count; i++)
        check_words_of(c, "deny", rule->deny.items[i], POLICY_WORDS_OF_STACK);
}

struct policy_check policy_check_compile(struct arena *arena, const struct policy_rule *rule,
                                         const struct path *at, struct findings *findings)
{
    struct checking c = { findings, rule, at };
    struct policy_check check = { .rule = rule };
    enum policy_path_end end = POLICY_END_ANY;
    const char *wrong = rule->name.len ? kube_not_dns1123_label(rule->name) : NULL;

    if (rule->given & FIELD_BROKEN)
        return check;
    if (wrong) {
        struct path name_at = under(&c, "name");

        finding_add(findings, RULE_POLICY_NAME, CAUSE_VALUE_INVALID, &name_at, STR(""),
                    "'%.*s' %s", STR_ARG(finding_shown(findings, rule->name)), wrong);
    }
    check_where(&c);
    check.path = compile_path(&c, arena);
    if (check.path) {
        end = policy_path_end(check.path);
        check_end(&c, check.path);
    }
    check.pattern = compile_pattern(&c, arena, "pattern", rule->pattern);
    check.not_pattern = compile_pattern(&c, arena, "notPattern", rule->not_pattern);
    check.minimum = compile_amount(&c, "minimum", rule->minimum, end);
    check.maximum = compile_amount(&c, "maximum", rule->maximum, end);
    check_bounds(&c, &check);
    check_words(&c);
    return check;
}

/* --- does a value keep it? --- */

enum { SHOWN_BYTES = 80 };

static struct str shown(struct arena *arena, struct str foreign)
{
    return str_shown(arena, foreign, SHOWN_BYTES);
}

static struct policy_fault fault(enum problem_cause cause, struct str message)
{
    return (struct policy_fault){ message, cause };
}

static bool is_among(struct arena *arena, const struct str_list *globs, struct str text,
                     const struct policy_words *words)
{
    for (uint32_t i = 0; i < globs->count; i++) {
        struct str glob = globs->items[i];

        if (policy_text_has_words(glob))
            glob = policy_text_fill(arena, glob, words);
        if (policy_glob_matches(glob, text))
            return true;
    }
    return false;
}

/* The first few of what is allowed. */
static struct str among_shown(struct arena *arena, const struct str_list *globs,
                              const struct policy_words *words)
{
    enum { MOST = 4 };
    struct strbuf out = strbuf_new(arena, 128);

    for (uint32_t i = 0; i < globs->count && i < MOST; i++) {
        if (i)
            strbuf_lit(&out, ", ");
        strbuf_put(&out, shown(arena, policy_text_fill(arena, globs->items[i], words)));
    }
    if (globs->count > MOST)
        strbuf_fmt(&out, " and %u more", globs->count - MOST);
    return strbuf_str(&out);
}

/* A pattern that hits its bounds has no answer: then the value does not keep the rule. */
static bool breaks_pattern(struct arena *arena, const struct policy_check *check, struct str text,
                           struct policy_fault *ret_fault)
{
    if (check->pattern && regex_match(check->pattern, text) != REGEX_YES) {
        *ret_fault = fault(CAUSE_VALUE_INVALID,
                           str_fmt(arena, "'%.*s' does not match %.*s", STR_ARG(shown(arena, text)),
                                   STR_ARG(shown(arena, check->rule->pattern))));
        return true;
    }
    if (check->not_pattern && regex_match(check->not_pattern, text) != REGEX_NO) {
        *ret_fault = fault(CAUSE_FORBIDDEN,
                           str_fmt(arena, "'%.*s' matches %.*s, which is not allowed",
                                   STR_ARG(shown(arena, text)),
                                   STR_ARG(shown(arena, check->rule->not_pattern))));
        return true;
    }
    return false;
}

static bool breaks_lists(struct arena *arena, const struct policy_check *check, struct str text,
                         const struct policy_words *words, struct policy_fault *ret_fault)
{
    const struct policy_rule *rule = check->rule;

    if (rule->allow.count && !is_among(arena, &rule->allow, text, words)) {
        struct str allowed = among_shown(arena, &rule->allow, words);

        *ret_fault = fault(CAUSE_VALUE_NOT_SUPPORTED,
                           str_fmt(arena, "'%.*s' is not allowed; only %.*s",
                                   STR_ARG(shown(arena, text)), STR_ARG(allowed)));
        return true;
    }
    if (rule->deny.count && is_among(arena, &rule->deny, text, words)) {
        *ret_fault = fault(CAUSE_FORBIDDEN, str_fmt(arena, "'%.*s' is not allowed",
                                                    STR_ARG(shown(arena, text))));
        return true;
    }
    return false;
}

static bool breaks_bounds(struct arena *arena, const struct policy_check *check,
                          const struct policy_value *value, struct policy_fault *ret_fault)
{
    const struct policy_amount *bound = check->minimum.kind ? &check->minimum : &check->maximum;
    struct str text = shown(arena, value->text);
    const char *count = value->kind == POLICY_VALUE_COUNT ? "has " : "";
    struct policy_amount amount;

    if (!bound->kind)
        return false;
    amount = policy_amount_of(value->text, bound->kind);
    if (amount.kind != bound->kind)
        *ret_fault = fault(CAUSE_VALUE_INVALID,
                           str_fmt(arena, "'%.*s' cannot be compared with the bound %.*s",
                                   STR_ARG(text),
                                   STR_ARG(check->minimum.kind ? check->rule->minimum
                                                               : check->rule->maximum)));
    else if (check->minimum.kind && amount.value < check->minimum.value)
        *ret_fault = fault(CAUSE_VALUE_INVALID,
                           str_fmt(arena, "%s%.*s is below the least, %.*s", count, STR_ARG(text),
                                   STR_ARG(check->rule->minimum)));
    else if (check->maximum.kind && amount.value > check->maximum.value)
        *ret_fault = fault(CAUSE_VALUE_INVALID,
                           str_fmt(arena, "%s%.*s is above the most, %.*s", count, STR_ARG(text),
                                   STR_ARG(check->rule->maximum)));
    else
        return false;
    return true;
}

static bool breaks_presence(const struct policy_check *check, const struct policy_value *value,
                            struct policy_fault *ret_fault)
{
    bool absent = value->kind == POLICY_VALUE_ABSENT;

    if (absent && check->rule->presence == POLICY_PRESENCE_REQUIRED) {
        *ret_fault = fault(CAUSE_VALUE_REQUIRED, STR("is required"));
        return true;
    }
    if (!absent && check->rule->presence == POLICY_PRESENCE_FORBIDDEN) {
        *ret_fault = fault(CAUSE_FORBIDDEN, STR("must not be set"));
        return true;
    }
    return false;
}

bool policy_check_breaks(struct arena *arena, const struct policy_check *check,
                         const struct policy_value *value, const struct policy_words *words,
                         struct policy_fault *ret_fault)
{
    if (breaks_presence(check, value, ret_fault))
        return true;
    if (value->kind == POLICY_VALUE_ABSENT)
        return false;
    if (value->kind != POLICY_VALUE_COUNT &&
        (breaks_pattern(arena, check, value->text, ret_fault) ||
         breaks_lists(arena, check, value->text, words, ret_fault)))
        return true;
    return breaks_bounds(arena, check, value, ret_fault);
}
