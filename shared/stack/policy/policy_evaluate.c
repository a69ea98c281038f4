/* SPDX-License-Identifier: Apache-2.0 */
/* policy_evaluate.c: all policies, put to one Stack or workload.
 *
 * First which policies are about it; then one walk for each field that any of their rules looks at.
 * Linear in policies, rules and what the Stack has at their fields. */
#include "stack/policy/policy_set_parts.h"

#include "stack/gpu/gpu_offer.h"
#include "stack/targets/chart_graph.h"
#include "stack/policy/policy_places.h"
#include "text/enumerate.h"

/* Whether a policy is about a Stack. */
enum match {
    MATCH_NOT_ASKED,
    MATCH_NOT,
    MATCH_PERHAPS, /* nobody knows, so it counts */
    MATCH_SURELY,
};

struct validating {
    const struct policy_set *set;
    struct policy_object object;
    const struct stack *stack; /* NULL: it is a workload; then nothing else asks for it */
    const struct resolved_targets *chosen;
    struct arena *arena;
    struct problems *problems;
    const enum match *is_about;  /* by policy */
    uint32_t **told;             /* by policy and rule: how many findings */
    struct graph *graph;         /* made when a rule asks for it, */
    struct policy_places places; /* and so are these: none yet */
    const struct path_group *group;
    struct policy_words words; /* those of the Stack */
};

/* The clusters of a Stack, as far as they are known; a selector that no cluster matches today may
 * match one of the policy's tomorrow. */
static enum match match_clusters(const struct selector *wanted,
                                 const struct resolved_targets *chosen, struct arena *arena)
{
    const struct claim_place *targets = &chosen->claims.targets;

    if (wanted->all.count == 0)
        return MATCH_SURELY;
    for (uint32_t i = 0; i < chosen->clusters.count; i++)
        if (selector_matches(NULL, wanted, chosen->clusters.items[i].labels))
            return MATCH_SURELY;
    if (!targets->by_selector)
        return chosen->clusters.count && chosen->clusters.count == targets->ids.count
                   ? MATCH_NOT
                   : MATCH_PERHAPS;
    return chosen->clusters.count || !selector_intersects(arena, wanted, &targets->selector)
               ? MATCH_NOT
               : MATCH_PERHAPS;
}

/* But for clusters. */
static bool matches_object(const struct ready_policy *policy, unsigned kind,
                           const struct kube_meta *meta, struct str env)
{
    const struct policy_match *match = &policy->policy->spec.match;

    if (!(policy->policy->kinds >> kind & 1))
        return false;
    if (match->env.count && !policy_globs_match(&match->env, env))
        return false;
    if (match->namespaces.count && !policy_globs_match(&match->namespaces, meta->namespace_))
        return false;
    if (policy_globs_match(&match->exclude_namespaces, meta->namespace_))
        return false;
    return selector_matches(NULL, &policy->selector, meta->labels);
}

static const enum match *matches_of(const struct policy_set *set, const struct stack *stack,
                                    const struct resolved_targets *chosen, struct arena *arena)
{
    enum match *matches = arena_array(arena, enum match, set->policies.count);
    enum match *clusters = arena_array(arena, enum match, set->clusters_count);

    for (uint32_t i = 0; i < set->policies.count; i++) {
        const struct ready_policy *policy = &set->policies.items[i];
        enum match *there = &clusters[policy->clusters_number];

        matches[i] = MATCH_NOT;
        if (!matches_object(policy, POLICY_KIND_STACK, &stack->meta, stack->spec.env))
            continue;
        if (*there == MATCH_NOT_ASKED)
            *there = match_clusters(&policy->clusters, chosen, arena);
        matches[i] = *there;
    }
    return matches;
}

static struct str env_of(const struct workload_object *object)
{
    return kube_label(&object->meta, STR(WORKLOAD_ENV_LABEL));
}

static const enum match *matches_of_workload(const struct policy_set *set,
                                             const struct workload_object *object,
                                             struct arena *arena)
{
    enum match *matches = arena_array(arena, enum match, set->policies.count);
    unsigned kind = policy_kind_of_workload(object->kind);

    for (uint32_t i = 0; i < set->policies.count; i++)
        matches[i] = matches_object(&set->policies.items[i], kind, &object->meta, env_of(object))
                         ? MATCH_SURELY
                         : MATCH_NOT;
    return matches;
}

static const bool *which_match(const struct policy_set *set, const enum match *matches,
                               struct arena *arena)
{
    bool *matching = arena_array(arena, bool, set->policies.count);

    for (uint32_t i = 0; i < set->policies.count; i++)
        matching[i] = matches[i] != MATCH_NOT;
    return matching;
}

const bool *policy_set_matching(const struct policy_set *set, const struct stack *stack,
                                const struct resolved_targets *chosen, struct arena *arena)
{
    return which_match(set, matches_of(set, stack, chosen, arena), arena);
}

const bool *policy_set_matching_workload(const struct policy_set *set,
                                         const struct workload_object *object, struct arena *arena)
{
    return which_match(set, matches_of_workload(set, object, arena), arena);
}

/* --- findings --- */

static struct policy_words words_of(const struct validating *j, const struct check_ref *ref)
{
    const struct ready_policy *policy = &j->set->policies.items[ref->policy];
    struct policy_words words = j->words;

    words.of[POLICY_WORD_POLICY] = policy->name;
    words.of[POLICY_WORD_RULE] = ref->check->rule->name;
    return words;
}

static struct policy_words words_of_object(const struct kube_meta *meta, struct str env)
{
    struct policy_words words = { { STR("") } };

    words.of[POLICY_WORD_NAMESPACE] = meta->namespace_;
    words.of[POLICY_WORD_NAME] = meta->name;
    words.of[POLICY_WORD_ENV] = env;
    return words;
}

/* One more finding of a rule: which it is. */
static uint32_t count_told(struct validating *j, const struct check_ref *ref)
{
    uint32_t rules = j->set->policies.items[ref->policy].checks.count;

    if (!j->told[ref->policy])
        j->told[ref->policy] = arena_array(j->arena, uint32_t, rules);
    return ++j->told[ref->policy][ref->rule];
}

/* False once a rule has told enough; its last finding says so. */
static bool may_tell(struct validating *j, const struct check_ref *ref)
{
    const struct ready_policy *policy = &j->set->policies.items[ref->policy];
    uint32_t told = count_told(j, ref);

    if (told == FINDINGS_PER_RULE_MAX + 1)
        problems_add(j->problems, (struct problem){
                                      .rule = policy->rule_names.items[ref->rule],
                                      .field = STR("spec"),
                                      .message = cause_text(
                                          j->arena, CAUSE_TOO_MANY,
                                          str_fmt(j->arena,
                                                  "more than %d findings of this rule; the others "
                                                  "are not listed",
                                                  FINDINGS_PER_RULE_MAX)),
                                      .remedy = STR("fix those that are listed, then try again"),
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

static void tell(struct validating *j, const struct check_ref *ref,
                 const struct policy_words *words, const struct policy_fault *fault)
{
    const struct ready_policy *policy = &j->set->policies.items[ref->policy];
    const struct policy_rule *rule = ref->check->rule;
    struct str said =
        rule->message.len ? shown_words(j->arena, rule->message, *words) : fault->message;
    struct str detail =
        str_fmt(j->arena, "%.*s%s%.*s (StackPolicy %.*s%s)", STR_ARG(said),
                fault->where.len ? ": " : "", STR_ARG(fault->where), STR_ARG(policy->name),
                j->is_about[ref->policy] == MATCH_PERHAPS
                    ? ", which applies because not all clusters of this Stack are known"
                    : "");
    struct problem problem = {
        .rule = policy->rule_names.items[ref->rule],
        .field = words->of[POLICY_WORD_FIELD],
        .message = cause_text(j->arena, fault->cause, detail),
        .remedy = rule->remedy.len
                      ? shown_words(j->arena, rule->remedy, *words)
                      : str_fmt(j->arena, "`kubectl get stackpolicy %.*s -o yaml` shows the policy",
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
    return !rule->charts.count ||
           (chart && policy_globs_match(&rule->charts, chart_in_repo(chart)));
}

static void look(void *context, const struct policy_value *value, const struct path *at)
{
    struct validating *j = context;
    struct policy_subject subject = { .arena = j->arena, .value = value, .words = &j->words };

    for (uint32_t i = 0; i < j->group->checks.count; i++) {
        const struct check_ref *ref = &j->group->checks.items[i];
        struct policy_fault fault;

        if (j->is_about[ref->policy] == MATCH_NOT ||
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

static bool anyone_asks(const struct validating *j, const struct check_refs *checks)
{
    for (uint32_t i = 0; i < checks->count; i++)
        if (j->is_about[checks->items[i].policy] != MATCH_NOT)
            return true;
    return false;
}

/* --- rules about the Stack as a whole --- */

static const struct policy_places *places_of(struct validating *j)
{
    if (j->places.count == 0)
        j->places = policy_places_of(j->arena, j->stack, j->chosen);
    return &j->places;
}

static void tell_place(struct validating *j, struct enumeration *names,
                       const struct policy_place *place)
{
    uint32_t told = 0;

    while (told < place->clusters.count && names->count < names->most)
        enumeration_add(names, str_shown(j->arena, place->clusters.items[told++], 80));
    names->count += place->clusters.count - told;
}

static struct str skipped_where(struct validating *j, struct enumeration *names, const char *what)
{
    if (!names->count)
        return str_fmt(j->arena, "an override skips %s wherever this Stack goes", what);
    return str_fmt(j->arena, "an override skips %s on %.*s", what,
                   STR_ARG(enumeration_text(names)));
}

/* Charts that go by such a name. */
static struct u32_list charts_named(struct validating *j, struct str glob)
{
    const struct charts *charts = &j->stack->spec.charts;
    struct u32_list named = u32_list_new(j->arena, 4);

    for (uint32_t i = 0; i < charts->count; i++)
        if (policy_glob_matches(glob, chart_in_repo(&charts->items[i])))
            u32_list_push(&named, i);
    return named;
}

static struct u32_list not_skipped(struct validating *j, const struct u32_list *charts,
                                   const struct policy_place *place)
{
    struct u32_list deployed = u32_list_new(j->arena, charts->count);

    for (uint32_t i = 0; i < charts->count; i++)
        if (!place->skips[charts->items[i]])
            u32_list_push(&deployed, charts->items[i]);
    return deployed;
}

static void check_required_chart(struct validating *j, const struct check_ref *ref,
                                 const struct policy_rule *rule)
{
    const struct policy_places *places = places_of(j);
    struct u32_list named = charts_named(j, rule->required_chart);
    struct str shown = str_shown(j->arena, rule->required_chart, 80);
    struct enumeration without = enumeration_new(j->arena, GPU_NAMED_MAX);
    struct policy_words words = words_of(j, ref);
    struct policy_fault fault = { .cause = CAUSE_VALUE_REQUIRED, .sum = STR("none") };
    bool missing = false;

    for (uint32_t i = 0; i < places->count; i++) {
        if (not_skipped(j, &named, &places->items[i]).count)
            continue;
        missing = true;
        tell_place(j, &without, &places->items[i]);
    }
    if (!missing || !may_tell(j, ref))
        return;
    words.of[POLICY_WORD_FIELD] = named.count ? STR("spec.overrides") : STR("spec.charts");
    fault.message =
        str_fmt(j->arena, named.count ? "chart \"%.*s\" on every cluster" : "a chart \"%.*s\"",
                STR_ARG(shown));
    if (named.count)
        fault.where = skipped_where(j, &without, "it");
    tell(j, ref, &words, &fault);
}

static struct graph *graph_of(struct validating *j)
{
    if (!j->graph)
        j->graph = chart_graph_new(j->arena, &j->stack->spec.charts, NULL);
    return j->graph;
}

static const bool *find_waiters(struct validating *j, const struct u32_list *named)
{
    bool *waits = arena_array(j->arena, bool, j->stack->spec.charts.count);

    graph_mark_dependents(graph_of(j), j->arena, named, waits);
    return waits;
}

/* What became of one chart. */
struct waiting {
    bool asked; /* the rule is about it, and it is none that is to be waited for */
    bool lacks; /* it does not wait somewhere */
    struct enumeration where;
};

static struct waiting *who_must_wait(struct validating *j, const struct policy_rule *rule,
                                     const struct u32_list *named)
{
    const struct charts *charts = &j->stack->spec.charts;
    struct waiting *all = arena_array(j->arena, struct waiting, charts->count);

    for (uint32_t i = 0; i < charts->count; i++) {
        all[i].asked = is_about_chart(rule, &charts->items[i]);
        all[i].where = enumeration_new(j->arena, GPU_NAMED_MAX);
    }
    for (uint32_t i = 0; i < named->count; i++)
        all[named->items[i]].asked = false;
    return all;
}

/* `waits`: where nothing is skipped. */
static void look_at_place(struct validating *j, const struct u32_list *named, const bool *waits,
                          const struct policy_place *place, struct waiting *all)
{
    struct u32_list deployed = not_skipped(j, named, place);

    if (deployed.count < named->count)
        waits = find_waiters(j, &deployed);
    for (uint32_t i = 0; i < j->stack->spec.charts.count; i++) {
        if (!all[i].asked || waits[i] || place->skips[i])
            continue;
        all[i].lacks = true;
        tell_place(j, &all[i].where, place);
    }
}

static void tell_waiting(struct validating *j, const struct check_ref *ref, uint32_t number,
                         struct waiting *waiting, bool waits)
{
    const struct chart *chart = &j->stack->spec.charts.items[number];
    struct str wanted = str_shown(j->arena, ref->check->rule->required_dependency, 80);
    struct policy_words words = words_of(j, ref);
    struct policy_fault fault = { .cause = CAUSE_VALUE_REQUIRED };

    words.of[POLICY_WORD_FIELD] = str_fmt(j->arena, "spec.charts[%u].dependsOn", number);
    words.of[POLICY_WORD_CHART] = chart->name;
    fault.message = str_fmt(j->arena, "\"%.*s\" must depend on \"%.*s\"",
                            STR_ARG(str_shown(j->arena, chart->name, 80)), STR_ARG(wanted));
    if (waits)
        fault.where = skipped_where(j, &waiting->where, "that");
    tell(j, ref, &words, &fault);
}

static void check_required_dependency(struct validating *j, const struct check_ref *ref,
                                      const struct policy_rule *rule)
{
    const struct policy_places *places = places_of(j);
    struct u32_list named = charts_named(j, rule->required_dependency);
    const bool *waits = find_waiters(j, &named);
    struct waiting *all = who_must_wait(j, rule, &named);

    for (uint32_t i = 0; i < places->count; i++)
        look_at_place(j, &named, waits, &places->items[i], all);
    for (uint32_t i = 0; i < j->stack->spec.charts.count; i++)
        if (all[i].lacks && may_tell(j, ref))
            tell_waiting(j, ref, i, &all[i], waits[i]);
}

static void check_other(struct validating *j, const struct check_ref *ref)
{
    const struct policy_rule *rule = ref->check->rule;

    if (rule->required_chart.len)
        check_required_chart(j, ref, rule);
    else
        check_required_dependency(j, ref, rule);
}

static void check_fields(struct validating *j, const struct path_groups *groups)
{
    j->told = arena_array(j->arena, uint32_t *, j->set->policies.count);
    for (uint32_t i = 0; i < groups->count; i++) {
        j->group = &groups->items[i];
        if (anyone_asks(j, &j->group->checks))
            policy_path_walk(j->group->path, &j->object, j->arena, look, j);
    }
}

void policy_set_evaluate(const struct policy_set *set, const struct stack *stack,
                         const struct resolved_targets *chosen, struct problems *problems)
{
    struct arena *arena = problems->arena;
    struct validating j = { .set = set,
                            .object = policy_object_of(stack),
                            .stack = stack,
                            .chosen = chosen,
                            .arena = arena,
                            .problems = problems,
                            .words = words_of_object(&stack->meta, stack->spec.env) };

    j.is_about = matches_of(set, stack, chosen, arena);
    check_fields(&j, &set->groups[POLICY_KIND_STACK]);
    for (uint32_t i = 0; i < set->others.count; i++)
        if (j.is_about[set->others.items[i].policy] != MATCH_NOT)
            check_other(&j, &set->others.items[i]);
}

void policy_set_evaluate_workload(const struct policy_set *set,
                                  const struct workload_object *object, struct problems *problems)
{
    struct arena *arena = problems->arena;
    struct validating j = { .set = set,
                            .object = { &object->meta, object->spec.spec, NULL, object },
                            .arena = arena,
                            .problems = problems,
                            .is_about = matches_of_workload(set, object, arena),
                            .words = words_of_object(&object->meta, env_of(object)) };

    check_fields(&j, &set->groups[policy_kind_of_workload(object->kind)]);
}
