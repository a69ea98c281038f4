/* policy_judge.c: all policies, put to one Stack.
 *
 * First which policies are about it; then one walk for each field that any of their rules looks at.
 * Linear in policies, rules and what the Stack has at their fields. */
#include "stack/policy_set_parts.h"

#include "stack/graph.h"

struct judging {
    const struct policy_set *set;
    const struct stack *stack;
    struct arena *arena;
    struct problems *problems;
    bool *is_about; /* by policy */
    uint32_t **told; /* by policy and rule: how many findings */
    struct graph *graph; /* made when a rule asks for it */
    const struct path_group *group;
    struct policy_words words; /* those of the Stack */
};

bool policy_set_matches(const struct policy_set *set, uint32_t index, const struct stack *stack)
{
    const struct ready_policy *policy = &set->policies.items[index];
    const struct policy_match *match = &policy->policy->spec.match;

    if (match->env.count && !policy_globs_match(&match->env, stack->spec.env))
        return false;
    if (match->namespaces.count && !policy_globs_match(&match->namespaces, stack->meta.namespace_))
        return false;
    if (policy_globs_match(&match->exclude_namespaces, stack->meta.namespace_))
        return false;
    return selector_matches(&policy->selector, stack->meta.labels);
}

/* --- findings --- */

static struct policy_words words_of(const struct judging *j, const struct check_ref *ref)
{
    const struct ready_policy *policy = &j->set->policies.items[ref->policy];
    struct policy_words words = j->words;

    words.of[POLICY_WORD_POLICY] = policy->name;
    words.of[POLICY_WORD_RULE] = ref->check->rule->name;
    return words;
}

static struct policy_words words_of_stack(const struct stack *stack)
{
    struct policy_words words = { { STR("") } };

    words.of[POLICY_WORD_NAMESPACE] = stack->meta.namespace_;
    words.of[POLICY_WORD_NAME] = stack->meta.name;
    words.of[POLICY_WORD_ENV] = stack->spec.env;
    return words;
}

/* One more finding of a rule: which it is. */
static uint32_t count_told(struct judging *j, const struct check_ref *ref)
{
    uint32_t rules = j->set->policies.items[ref->policy].checks.count;

    if (!j->told[ref->policy])
        j->told[ref->policy] = arena_array(j->arena, uint32_t, rules);
    return ++j->told[ref->policy][ref->rule];
}

/* False once a rule has told enough; its last finding says so. */
static bool may_tell(struct judging *j, const struct check_ref *ref)
{
    const struct ready_policy *policy = &j->set->policies.items[ref->policy];
    uint32_t told = count_told(j, ref);

    if (told == FINDINGS_PER_RULE_MAX + 1)
        problems_add(j->problems, (struct problem){
            .rule = policy->rule_names.items[ref->rule],
            .field = STR("spec"),
            .message = str_fmt(j->arena, "more than %d findings of this rule; the others are not "
                                         "listed", FINDINGS_PER_RULE_MAX),
            .way_out = STR("mend those that are listed"),
            .severity = policy->severity,
            .cause = CAUSE_TOO_MANY,
        });
    return told <= FINDINGS_PER_RULE_MAX;
}

static struct str shown_words(struct arena *arena, struct str text, struct policy_words words)
{
    for (int i = 0; i < POLICY_WORD_COUNT; i++)
        words.of[i] = str_shown(arena, words.of[i], 80);
    return policy_text_fill(arena, text, &words);
}

static void tell(struct judging *j, const struct check_ref *ref, const struct policy_words *words,
                 const struct policy_fault *fault)
{
    const struct ready_policy *policy = &j->set->policies.items[ref->policy];
    const struct policy_rule *rule = ref->check->rule;
    struct str said = rule->message.len ? shown_words(j->arena, rule->message, *words)
                                        : fault->message;
    struct problem problem = {
        .rule = policy->rule_names.items[ref->rule],
        .field = words->of[POLICY_WORD_FIELD],
        .message = str_fmt(j->arena, "%.*s (policy %.*s)", STR_ARG(said), STR_ARG(policy->name)),
        .way_out = rule->way_out.len
                       ? shown_words(j->arena, rule->way_out, *words)
                       : str_fmt(j->arena, "kubectl get stackpolicy %.*s -o yaml shows the policy",
                                 STR_ARG(policy->name)),
        .severity = policy->severity,
        .cause = fault->cause,
        .sum = fault->sum,
    };

    problems_add(j->problems, problem);
}

/* --- rules about a field --- */

static bool is_about_chart(const struct policy_rule *rule, const struct chart *chart)
{
    return !rule->charts.count || (chart && policy_globs_match(&rule->charts,
                                                               chart_in_repo(chart)));
}

static void look(void *context, const struct policy_value *value, const struct path *at)
{
    struct judging *j = context;
    struct policy_subject subject = { .arena = j->arena, .value = value, .words = &j->words };

    for (uint32_t i = 0; i < j->group->checks.count; i++) {
        const struct check_ref *ref = &j->group->checks.items[i];
        struct policy_fault fault;

        if (!j->is_about[ref->policy] ||
            (ref->check->asks & POLICY_ASKS_CHARTS &&
             !is_about_chart(ref->check->rule, value->chart)) ||
            !policy_check_breaks(ref->check, &subject, &fault) || !may_tell(j, ref))
            continue;

        struct policy_words words = words_of(j, ref);

        words.of[POLICY_WORD_FIELD] = path_render(at, j->arena);
        words.of[POLICY_WORD_VALUE] = value->text;
        fault.sum = value->summed ? str_fmt(j->arena, "sum %.*s", STR_ARG(value->text)) : STR("");
        if (value->chart)
            words.of[POLICY_WORD_CHART] = value->chart->name;
        tell(j, ref, &words, &fault);
    }
}

static bool anyone_asks(const struct judging *j, const struct check_refs *checks)
{
    for (uint32_t i = 0; i < checks->count; i++)
        if (j->is_about[checks->items[i].policy])
            return true;
    return false;
}

/* --- rules about the Stack as a whole --- */

static void check_required_chart(struct judging *j, const struct check_ref *ref,
                                 const struct policy_rule *rule)
{
    const struct charts *charts = &j->stack->spec.charts;
    struct policy_words words = words_of(j, ref);
    struct policy_fault fault = { .cause = CAUSE_VALUE_REQUIRED, .sum = STR("none") };

    for (uint32_t i = 0; i < charts->count; i++)
        if (policy_glob_matches(rule->required_chart, chart_in_repo(&charts->items[i])))
            return;
    if (!may_tell(j, ref))
        return;
    words.of[POLICY_WORD_FIELD] = STR("spec.charts");
    fault.message = str_fmt(j->arena, "there is no chart '%.*s', which is required",
                            STR_ARG(str_shown(j->arena, rule->required_chart, 80)));
    tell(j, ref, &words, &fault);
}

static struct graph *graph_of(struct judging *j)
{
    const struct charts *charts = &j->stack->spec.charts;

    if (j->graph)
        return j->graph;
    j->graph = graph_new(j->arena, charts->count);
    for (uint32_t i = 0; i < charts->count; i++)
        graph_add(j->graph, charts->items[i].name, charts->items[i].depends_on);
    graph_link(j->graph); /* what is wrong with it, validate_graph tells */
    return j->graph;
}

/* Which charts wait for one that the rule names. */
static bool *find_waiters(struct judging *j, const struct policy_rule *rule)
{
    const struct charts *charts = &j->stack->spec.charts;
    bool *waits = arena_array(j->arena, bool, charts->count);
    struct u32_list named = u32_list_new(j->arena, 4);

    for (uint32_t i = 0; i < charts->count; i++)
        if (policy_glob_matches(rule->required_dependency, chart_in_repo(&charts->items[i])))
            u32_list_push(&named, i);
    graph_mark_dependents(graph_of(j), j->arena, &named, waits);
    return waits;
}

static void check_required_dependency(struct judging *j, const struct check_ref *ref,
                                      const struct policy_rule *rule)
{
    const struct charts *charts = &j->stack->spec.charts;
    const bool *waits = find_waiters(j, rule);

    for (uint32_t i = 0; i < charts->count; i++) {
        const struct chart *chart = &charts->items[i];
        struct policy_words words = words_of(j, ref);
        struct policy_fault fault = { .cause = CAUSE_VALUE_REQUIRED };

        if (waits[i] || !is_about_chart(rule, chart) ||
            policy_glob_matches(rule->required_dependency, chart_in_repo(chart)) ||
            !may_tell(j, ref))
            continue;
        words.of[POLICY_WORD_FIELD] = str_fmt(j->arena, "spec.charts[%u].dependsOn", i);
        words.of[POLICY_WORD_CHART] = chart->name;
        fault.message = str_fmt(j->arena, "'%.*s' does not wait for '%.*s', as is required",
                                STR_ARG(str_shown(j->arena, chart->name, 80)),
                                STR_ARG(str_shown(j->arena, rule->required_dependency, 80)));
        tell(j, ref, &words, &fault);
    }
}

static void check_other(struct judging *j, const struct check_ref *ref)
{
    const struct policy_rule *rule = ref->check->rule;

    if (rule->required_chart.len)
        check_required_chart(j, ref, rule);
    else
        check_required_dependency(j, ref, rule);
}

void policy_set_judge(const struct policy_set *set, const struct stack *stack,
                      struct problems *problems)
{
    struct arena *arena = problems->arena;
    struct judging j = { .set = set, .stack = stack, .arena = arena, .problems = problems,
                         .words = words_of_stack(stack) };

    j.is_about = arena_array(arena, bool, set->policies.count);
    j.told = arena_array(arena, uint32_t *, set->policies.count);
    for (uint32_t i = 0; i < set->policies.count; i++)
        j.is_about[i] = policy_set_matches(set, i, stack);
    for (uint32_t i = 0; i < set->groups.count; i++) {
        j.group = &set->groups.items[i];
        if (anyone_asks(&j, &j.group->checks))
            policy_path_walk(j.group->path, stack, arena, look, &j);
    }
    for (uint32_t i = 0; i < set->others.count; i++)
        if (j.is_about[set->others.items[i].policy])
            check_other(&j, &set->others.items[i]);
}
