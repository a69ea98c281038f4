/* SPDX-License-Identifier: Apache-2.0 */
/* policy_check.c: is a rule valid, and does a value satisfy it? */
#include "stack/policy/policy_check.h"

#include "kube/names.h"
#include "stack/policy/policy_never.h"
#include "text/enumerate.h"

/* --- is it valid? --- */

struct checking {
    struct findings *findings;
    const struct policy_rule *rule;
    unsigned kinds;
    const struct path *at;
};

static struct path under(const struct checking *c, const char *field)
{
    return path_field(c->at, str_of(field));
}

static void blame(const struct checking *c, enum rule_id rule, const char *field,
                  const char *message, struct str remedy)
{
    struct path at = field ? under(c, field) : *c->at;

    finding_add(c->findings, rule, CAUSE_VALUE_INVALID, &at, remedy, "%s", message);
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

static const struct policy_path *compile_path(const struct checking *c, struct arena *arena,
                                              unsigned kind)
{
    struct path at = under(c, "field");
    struct str name = policy_kind_name(kind);
    struct error err = { 0 };
    const struct policy_path *path = policy_path_compile(arena, kind, c->rule->field, &err);

    if (!path)
        finding_add(c->findings, RULE_POLICY_FIELD, CAUSE_VALUE_INVALID, &at,
                    kind == POLICY_KIND_STACK
                        ? STR("")
                        : STR("name a field of all kinds in match.kinds, or write a policy for "
                              "each kind; docs/workloads.md lists computed fields"),
                    "\"%.*s\": must be a field of a%s %.*s: %s",
                    STR_ARG(finding_shown(c->findings, c->rule->field)),
                    str_find_char(STR("AEIOU"), name.at[0], 0) < 0 ? "" : "n", STR_ARG(name),
                    err.text);
    return path;
}

static struct policy_amount compile_amount(const struct checking *c, const char *field,
                                           struct str text, enum policy_path_end end)
{
    bool duration = end == POLICY_END_DURATION;
    struct policy_amount amount =
        policy_amount_of(text, duration ? POLICY_AMOUNT_DURATION : POLICY_AMOUNT_NUMBER);
    struct path at = under(c, field);

    if (text.len == 0)
        return amount;
    if (amount.kind == POLICY_AMOUNT_NONE)
        finding_add(c->findings, RULE_POLICY_AMOUNT, CAUSE_VALUE_INVALID, &at, STR(""),
                    "\"%.*s\": must be a number, quantity or duration",
                    STR_ARG(finding_shown(c->findings, text)));
    else if (duration != (amount.kind == POLICY_AMOUNT_DURATION) && end != POLICY_END_ANY)
        finding_add(c->findings, RULE_POLICY_AMOUNT, CAUSE_VALUE_INVALID, &at,
                    duration ? STR("write it like 30m") : STR("write a number"),
                    "\"%.*s\": must be a %s, as the field is",
                    STR_ARG(finding_shown(c->findings, text)),
                    duration ? "Go duration" : "number or quantity");
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

/* The checks must fit the type of the field. */
static void check_end(const struct checking *c, const struct policy_path *path)
{
    const struct policy_rule *rule = c->rule;
    enum policy_path_end end = policy_path_end(path);

    if (!asks_for_text(rule) && !asks_for_amount(rule) && !rule->presence)
        blame(c, RULE_POLICY_CHECK, NULL,
              "must have a check: pattern, notPattern, allow, deny, minimum, maximum or presence",
              STR("add one of them"));
    if (asks_for_text(rule) && (end == POLICY_END_COUNT || end == POLICY_END_STRUCT))
        blame(c, RULE_POLICY_CHECK, "field",
              "must be a scalar for pattern, notPattern, allow and deny, not a list or an object",
              STR("append [*] or the name of a member"));
    if (asks_for_amount(rule) && (end == POLICY_END_TEXT || end == POLICY_END_STRUCT))
        blame(c, RULE_POLICY_CHECK, "field",
              "must be a number, quantity or duration for minimum and maximum",
              STR("use pattern, allow or deny for a string, and presence for an object"));
    if (rule->presence == POLICY_PRESENCE_REQUIRED && policy_path_is_deep(path))
        blame(c, RULE_POLICY_CHECK, "presence",
              "Required cannot be combined with **, which finds only fields that are set",
              STR("write the whole path, or use another check"));
    if (rule->presence == POLICY_PRESENCE_FORBIDDEN &&
        (asks_for_text(rule) || asks_for_amount(rule)))
        blame(c, RULE_POLICY_CHECK, "presence", "Forbidden cannot be combined with other checks",
              STR("keep presence: Forbidden alone, or remove it"));
    if (rule->charts.count && !policy_path_has_charts(path))
        blame(c, RULE_POLICY_CHECK, "charts",
              "may not be specified for a field that does not belong to a chart",
              STR("remove charts, or name a field of spec.charts[*]"));
}

/* The field, in each kind that the rule is about: there it must be of one type. False: it is
 * not. */
static bool compile_paths(const struct checking *c, struct arena *arena, struct policy_check *check,
                          enum policy_path_end *ret_end)
{
    const struct policy_path *first = NULL;

    for (unsigned kind = 0; c->rule->field.len && kind < POLICY_KIND_COUNT; kind++) {
        if (!(c->kinds >> kind & 1))
            continue;
        check->paths[kind] = compile_path(c, arena, kind);
        if (!check->paths[kind])
            return false;
        if (first && policy_path_end(first) != policy_path_end(check->paths[kind])) {
            blame(c, RULE_POLICY_FIELD, "field", "must be of one type in all kinds of match.kinds",
                  STR("write a policy for each kind"));
            return false;
        }
        first = check->paths[kind];
    }
    if (!first)
        return false;
    *ret_end = policy_path_end(first);
    check_end(c, first);
    return true;
}

/* Exactly one of the three says what the rule is about. */
static void check_where(const struct checking *c)
{
    const struct policy_rule *rule = c->rule;
    int places = (rule->field.len > 0) + (rule->required_chart.len > 0) +
                 (rule->required_dependency.len > 0);

    if (places != 1)
        blame(c, RULE_POLICY_CHECK, NULL,
              places ? "must have only one of field, requiredChart and requiredDependency"
                     : "must have one of field, requiredChart and requiredDependency",
              places ? STR("keep one of them, and write a rule for each of the others")
                     : STR("add one of them"));
    if (!rule->field.len && (asks_for_text(rule) || asks_for_amount(rule) || rule->presence))
        blame(c, RULE_POLICY_CHECK, NULL, "must have a field for its checks",
              STR("name the field, or remove the checks"));
    if (rule->required_chart.len && rule->charts.count)
        blame(c, RULE_POLICY_CHECK, "charts",
              "may not be specified with requiredChart, which is about the Stack as a whole",
              STR("remove charts; match selects the Stacks"));
    if (c->kinds & ~(1U << POLICY_KIND_STACK) &&
        (rule->required_chart.len || rule->required_dependency.len || rule->charts.count))
        blame(c, RULE_POLICY_KIND, NULL, "only Stacks have charts",
              STR("write a policy of its own for Stacks"));
}

static void check_bounds(const struct checking *c, const struct policy_check *check)
{
    if (check->minimum.kind && check->minimum.kind == check->maximum.kind &&
        check->minimum.value > check->maximum.value)
        blame(c, RULE_POLICY_AMOUNT, "minimum", "must be less than or equal to maximum",
              STR("lower the minimum or raise the maximum"));
}

static void check_words_of(const struct checking *c, const char *field, struct str text, int count)
{
    struct path at = under(c, field);
    struct str unknown = policy_text_unknown_word(text, count);

    if (unknown.len)
        finding_add(c->findings, RULE_POLICY_WORD, CAUSE_VALUE_INVALID, &at, STR(""),
                    "\"%.*s\": must be a placeholder that is supported here",
                    STR_ARG(finding_shown(c->findings, unknown)));
}

static void check_words(const struct checking *c)
{
    const struct policy_rule *rule = c->rule;

    check_words_of(c, "message", rule->message, POLICY_WORD_COUNT);
    check_words_of(c, "remedy", rule->remedy, POLICY_WORD_COUNT);
    for (uint32_t i = 0; i < rule->allow.count; i++)
        check_words_of(c, "allow", rule->allow.items[i], POLICY_WORDS_OF_STACK);
    for (uint32_t i = 0; i < rule->deny.count; i++)
        check_words_of(c, "deny", rule->deny.items[i], POLICY_WORDS_OF_STACK);
}

static bool have_words(const struct str_list *globs)
{
    for (uint32_t i = 0; i < globs->count; i++)
        if (policy_text_has_words(globs->items[i]))
            return true;
    return false;
}

static unsigned asks_of(const struct policy_check *check)
{
    const struct policy_rule *rule = check->rule;

    return (rule->charts.count ? POLICY_ASKS_CHARTS : 0) |
           (rule->presence ? POLICY_ASKS_PRESENCE : 0) |
           (check->pattern || check->not_pattern ? POLICY_ASKS_PATTERN : 0) |
           (rule->allow.count || rule->deny.count ? POLICY_ASKS_LISTS : 0) |
           (have_words(&rule->allow) || have_words(&rule->deny) ? POLICY_ASKS_WORDS : 0) |
           (check->minimum.kind || check->maximum.kind ? POLICY_ASKS_BOUNDS : 0);
}

struct policy_check policy_check_compile(struct arena *arena, const struct policy_rule *rule,
                                         unsigned kinds, const struct path *at,
                                         struct findings *findings)
{
    struct checking c = { findings, rule, kinds, at };
    struct policy_check check = { .rule = rule };
    enum policy_path_end end = POLICY_END_ANY;
    const char *wrong = rule->name.len ? kube_not_dns1123_label(rule->name) : NULL;

    if (rule->given & FIELD_BROKEN)
        return check;
    if (wrong) {
        struct path name_at = under(&c, "name");

        finding_add(findings, RULE_POLICY_NAME, CAUSE_VALUE_INVALID, &name_at, STR(""),
                    "\"%.*s\": %s", STR_ARG(finding_shown(findings, rule->name)), wrong);
    }
    check_where(&c);
    (void)compile_paths(&c, arena, &check, &end); /* else there is a finding */
    check.pattern = compile_pattern(&c, arena, "pattern", rule->pattern);
    check.not_pattern = compile_pattern(&c, arena, "notPattern", rule->not_pattern);
    check.minimum = compile_amount(&c, "minimum", rule->minimum, end);
    check.maximum = compile_amount(&c, "maximum", rule->maximum, end);
    check_bounds(&c, &check);
    check_words(&c);
    policy_never_check(&check, at, findings);
    check.asks = asks_of(&check);
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
    return (struct policy_fault){ .message = message, .cause = cause };
}

static bool is_among(const struct policy_check *check, const struct policy_subject *subject,
                     const struct str_list *globs)
{
    struct str text = subject->value->text;

    if (!(check->asks & POLICY_ASKS_WORDS))
        return policy_globs_match(globs, text);
    for (uint32_t i = 0; i < globs->count; i++)
        if (policy_glob_matches(policy_text_fill(subject->arena, globs->items[i], subject->words),
                                text))
            return true;
    return false;
}

/* The first few of what is allowed. */
static struct str among_shown(struct arena *arena, const struct str_list *globs,
                              const struct policy_words *words)
{
    enum { MOST = 4 };
    struct enumeration names = enumeration_new(arena, MOST);

    for (uint32_t i = 0; i < globs->count && i < MOST; i++)
        enumeration_add(
            &names,
            str_fmt(arena, "\"%.*s\"",
                    STR_ARG(shown(arena, policy_text_fill(arena, globs->items[i], words)))));
    names.count = globs->count;
    return enumeration_text(&names);
}

/* A pattern that hits its bounds has no answer: then the value does not keep the rule. */
static bool breaks_pattern(const struct policy_check *check, const struct policy_subject *subject,
                           struct policy_fault *ret_fault)
{
    struct arena *arena = subject->arena;
    struct str text = subject->value->text;

    if (check->pattern && regex_match(check->pattern, text) != REGEX_YES) {
        *ret_fault = fault(CAUSE_VALUE_INVALID,
                           str_fmt(arena, "\"%.*s\": must match %.*s", STR_ARG(shown(arena, text)),
                                   STR_ARG(shown(arena, check->rule->pattern))));
        return true;
    }
    if (check->not_pattern && regex_match(check->not_pattern, text) != REGEX_NO) {
        *ret_fault =
            fault(CAUSE_FORBIDDEN, str_fmt(arena, "\"%.*s\" matches %.*s, which is not allowed",
                                           STR_ARG(shown(arena, text)),
                                           STR_ARG(shown(arena, check->rule->not_pattern))));
        return true;
    }
    return false;
}

static bool breaks_lists(const struct policy_check *check, const struct policy_subject *subject,
                         struct policy_fault *ret_fault)
{
    const struct policy_rule *rule = check->rule;
    struct arena *arena = subject->arena;
    struct str text = subject->value->text;

    if (rule->allow.count && !is_among(check, subject, &rule->allow)) {
        struct str allowed = among_shown(arena, &rule->allow, subject->words);

        *ret_fault = fault(CAUSE_VALUE_NOT_SUPPORTED,
                           str_fmt(arena, "\"%.*s\": supported values: %.*s",
                                   STR_ARG(shown(arena, text)), STR_ARG(allowed)));
        return true;
    }
    if (rule->deny.count && is_among(check, subject, &rule->deny)) {
        *ret_fault = fault(CAUSE_FORBIDDEN,
                           str_fmt(arena, "\"%.*s\" is not allowed", STR_ARG(shown(arena, text))));
        return true;
    }
    return false;
}

static struct policy_amount amount_of(struct policy_subject *subject, enum policy_amount_kind kind)
{
    if (!subject->is_known[kind]) {
        subject->amounts[kind] = policy_amount_of(subject->value->text, kind);
        subject->is_known[kind] = true;
    }
    return subject->amounts[kind];
}

static struct str bound_fault(const struct policy_subject *subject, const char *what,
                              struct str bound)
{
    const struct policy_value *value = subject->value;
    const char *of_what =
        value->kind == POLICY_VALUE_COUNT ? "the number of elements" : value->measure;

    return str_fmt(subject->arena, "%.*s: %s%smust be %s than or equal to %.*s",
                   STR_ARG(shown(subject->arena, value->text)), of_what ? of_what : "",
                   of_what ? " " : "", what, STR_ARG(bound));
}

static bool breaks_bounds(const struct policy_check *check, struct policy_subject *subject,
                          struct policy_fault *ret_fault)
{
    const struct policy_rule *rule = check->rule;
    enum policy_amount_kind kind = check->minimum.kind ? check->minimum.kind : check->maximum.kind;
    struct policy_amount amount = amount_of(subject, kind);
    struct str message;

    if (amount.kind != kind)
        message = str_fmt(subject->arena, "\"%.*s\": cannot be compared with %.*s",
                          STR_ARG(shown(subject->arena, subject->value->text)),
                          STR_ARG(check->minimum.kind ? rule->minimum : rule->maximum));
    else if (check->minimum.kind && amount.value < check->minimum.value)
        message = bound_fault(subject, "greater", rule->minimum);
    else if (check->maximum.kind && amount.value > check->maximum.value)
        message = bound_fault(subject, "less", rule->maximum);
    else
        return false;
    *ret_fault = fault(CAUSE_VALUE_INVALID, message);
    return true;
}

static bool breaks_presence(const struct policy_check *check, bool absent,
                            struct policy_fault *ret_fault)
{
    if (absent && check->rule->presence == POLICY_PRESENCE_REQUIRED) {
        *ret_fault = fault(CAUSE_VALUE_REQUIRED, STR("must be set"));
        return true;
    }
    if (!absent && check->rule->presence == POLICY_PRESENCE_FORBIDDEN) {
        *ret_fault = fault(CAUSE_FORBIDDEN, STR("must not be set"));
        return true;
    }
    return false;
}

bool policy_check_breaks(const struct policy_check *check, struct policy_subject *subject,
                         struct policy_fault *ret_fault)
{
    bool absent = subject->value->kind == POLICY_VALUE_ABSENT;
    bool text = !absent && subject->value->kind != POLICY_VALUE_COUNT;

    return (check->asks & POLICY_ASKS_PRESENCE && breaks_presence(check, absent, ret_fault)) ||
           (text && check->asks & POLICY_ASKS_PATTERN &&
            breaks_pattern(check, subject, ret_fault)) ||
           (text && check->asks & POLICY_ASKS_LISTS && breaks_lists(check, subject, ret_fault)) ||
           (!absent && check->asks & POLICY_ASKS_BOUNDS &&
            breaks_bounds(check, subject, ret_fault));
}
