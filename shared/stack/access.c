/* access.c: which questions there are, and what the answers mean. At most three rounds: all
 * clusters at once, if there are many; each cluster; the namespaces of those that were refused. */
#include "stack/access.h"

#include "base/limits.h"
#include "base/map.h"
#include "base/plant.h"
#include "kube/names.h"
#include "stack/chosen.h"
#include "stack/finding.h"
#include "stack/settle.h"

/* From so many clusters on, the right on all of them is asked for first. */
enum { MANY_CLUSTERS = 5 };

/* How many clusters a sentence names. */
enum { NAMED_MAX = 3 };

struct target {
    struct str cluster; /* "" = any that there may be */
    struct path at;
    enum access_answer answer;
    struct str_list refused; /* namespaces, once the cluster was refused */
};
LIST_DEFINE(targets, struct target)

struct asking {
    struct arena *arena;
    const struct facts *facts;
    const struct access_user *user;
    const struct stack *stack;
    const struct chosen *chosen;
    struct targets targets;
    struct str_list namespaces;
    uint32_t asked; /* questions so far */
    struct str why; /* the first reason for not knowing */
};

/* --- where the Stack goes --- */

static void add_target(struct asking *a, struct map *seen, struct str cluster,
                       const struct path *at)
{
    if (map_put(seen, cluster, a))
        targets_push(&a->targets, (struct target){ .cluster = cluster, .at = *at });
}

/* Ids that are none are told elsewhere. */
static void add_named(struct asking *a, struct map *seen, const struct path *ids)
{
    const struct str_list *list = &a->stack->spec.targets.cluster_ids;

    for (uint32_t i = 0; i < list->count; i++) {
        struct path at = path_index(ids, i);

        if (list->items[i].len && !kube_not_dns1123_subdomain(list->items[i]))
            add_target(a, seen, list->items[i], &at);
    }
}

static void add_selected(struct asking *a, struct map *seen, const struct path *at)
{
    const struct chosen *chosen = a->chosen;

    if (label_selector_is_empty(&a->stack->spec.targets.selector))
        return;
    if (!a->facts->clusters_known) {
        add_target(a, seen, STR(""), at);
        return;
    }
    for (uint32_t i = 0; chosen->claims.targets.by_selector && i < chosen->clusters.count; i++)
        add_target(a, seen, chosen->clusters.items[i].id, at);
}

static void find_namespaces(struct asking *a)
{
    const struct charts *charts = &a->stack->spec.charts;
    struct map *seen = map_new(a->arena, charts->count);

    a->namespaces = str_list_new(a->arena, 4);
    for (uint32_t i = 0; i < charts->count; i++)
        if (charts->items[i].namespace_.len && map_put(seen, charts->items[i].namespace_, a))
            str_list_push(&a->namespaces, charts->items[i].namespace_);
}

/* --- the rounds --- */

/* Answers in the arena; more than may be asked for one Stack are not known. */
static enum access_answer *ask(struct asking *a, const struct access_questions *questions)
{
    enum access_answer *answers = arena_array(a->arena, enum access_answer, questions->count + 1);
    struct str why = STR("");

    for (uint32_t i = 0; i < questions->count; i++)
        answers[i] = ACCESS_UNKNOWN;
    a->asked += questions->count;
    if (a->asked > LIMIT_ACCESS_QUESTIONS)
        why = str_fmt(a->arena, "more than %d questions would have to be asked for this Stack",
                      LIMIT_ACCESS_QUESTIONS);
    else
        a->facts->access.ask(a->facts->access.context, a->arena, a->user, questions, answers, &why);
    if (!a->why.len)
        a->why = why;
    return answers;
}

static bool may_everywhere(struct asking *a)
{
    struct access_questions all = access_questions_new(a->arena, 1);

    if (a->targets.count < MANY_CLUSTERS)
        return false;
    access_questions_push(&all, (struct access_question){ STR(""), STR("") });
    return ask(a, &all)[0] == ACCESS_YES;
}

static void ask_clusters(struct asking *a)
{
    struct access_questions questions = access_questions_new(a->arena, a->targets.count);

    for (uint32_t i = 0; i < a->targets.count; i++)
        access_questions_push(&questions,
                              (struct access_question){ a->targets.items[i].cluster, STR("") });

    const enum access_answer *answers = ask(a, &questions);

    for (uint32_t i = 0; i < a->targets.count; i++)
        a->targets.items[i].answer = answers[i];
}

static bool is_for_namespaces(const struct target *target)
{
    return target->answer == ACCESS_NO && target->cluster.len;
}

/* A cluster is refused if one of the namespaces is, unknown if one is not known, else allowed. */
static void ask_namespaces(struct asking *a)
{
    struct access_questions questions = access_questions_new(a->arena, 0);
    const enum access_answer *answers;

    for (uint32_t i = 0; i < a->targets.count; i++) {
        const struct target *target = &a->targets.items[i];

        for (uint32_t k = 0; is_for_namespaces(target) && k < a->namespaces.count; k++)
            access_questions_push(&questions, (struct access_question){ target->cluster,
                                                                        a->namespaces.items[k] });
    }
    if (!questions.count)
        return;
    answers = ask(a, &questions);
    for (uint32_t i = 0; i < a->targets.count; i++) {
        struct target *target = &a->targets.items[i];
        bool unknown = false;

        if (!is_for_namespaces(target))
            continue;
        target->refused = str_list_new(a->arena, 0);
        for (uint32_t k = 0; k < a->namespaces.count; k++, answers++) {
            if (*answers == ACCESS_NO)
                str_list_push(&target->refused, a->namespaces.items[k]);
            unknown = unknown || *answers == ACCESS_UNKNOWN;
        }
        target->answer = target->refused.count ? ACCESS_NO : unknown ? ACCESS_UNKNOWN : ACCESS_YES;
    }
}

/* --- what it comes to --- */

static void refuse(struct asking *a, const struct target *target, struct findings *findings)
{
    struct strbuf where = strbuf_new(a->arena, 64);

    if (target->cluster.len)
        strbuf_fmt(&where, "cluster %.*s", STR_ARG(finding_shown(findings, target->cluster)));
    else
        strbuf_lit(&where, "every cluster, and which ones there are is not known now");
    for (uint32_t i = 0; i < target->refused.count && i < NAMED_MAX; i++)
        strbuf_fmt(&where, "%s%.*s", i ? ", " : ", namespace ",
                   STR_ARG(finding_shown(findings, target->refused.items[i])));
    if (target->refused.count > NAMED_MAX)
        strbuf_fmt(&where, " and %u more", target->refused.count - NAMED_MAX);
    finding_add(findings, RULE_WHO_ACCESS, CAUSE_FORBIDDEN, &target->at, STR(""),
                "'%.*s' may not deploy to %.*s", STR_ARG(finding_shown(findings, a->user->name)),
                STR_ARG(strbuf_str(&where)));
}

/* One finding for all of them: they have one cause. */
static void tell_unknown(struct asking *a, struct findings *findings)
{
    struct path spec = path_field(NULL, STR("spec"));
    struct path at = path_field(&spec, STR("targets"));
    struct strbuf names = strbuf_new(a->arena, 64);
    uint32_t count = 0;

    for (uint32_t i = 0; i < a->targets.count; i++) {
        const struct target *target = &a->targets.items[i];

        if (target->answer != ACCESS_UNKNOWN || count++ >= NAMED_MAX)
            continue;
        strbuf_fmt(&names, "%s%.*s", names.len ? ", " : "",
                   STR_ARG(target->cluster.len ? finding_shown(findings, target->cluster)
                                               : STR("every cluster")));
    }
    if (count > NAMED_MAX)
        strbuf_fmt(&names, " and %u more", count - NAMED_MAX);
    if (count)
        finding_add(findings, RULE_WHO_ACCESS_UNKNOWN, CAUSE_FORBIDDEN, &at, STR(""),
                    "whether '%.*s' may deploy to %.*s is not known: %.*s",
                    STR_ARG(finding_shown(findings, a->user->name)), STR_ARG(strbuf_str(&names)),
                    STR_ARG(str_shown(a->arena, a->why, 300)));
}

static void find(struct arena *arena, const struct facts *facts, const struct access_user *user,
                 const struct verdict *verdict, struct problems *problems)
{
    const struct stack *stack = verdict->stack;
    struct asking a = { .arena = arena, .facts = facts, .user = user, .stack = stack,
                        .chosen = verdict->chosen, .targets = targets_new(arena, 4),
                        .why = STR("") };
    struct findings findings = findings_new(problems);
    struct map *seen = map_new(arena, stack->spec.targets.cluster_ids.count);
    struct path spec = path_field(NULL, STR("spec"));
    struct path targets = path_field(&spec, STR("targets"));
    struct path ids = path_field(&targets, STR("clusterIds"));
    struct path selector = path_field(&targets, STR("selector"));

    add_named(&a, seen, &ids);
    add_selected(&a, seen, &selector);
    find_namespaces(&a);
    if (!a.targets.count || may_everywhere(&a))
        return;
    ask_clusters(&a);
    ask_namespaces(&a);
    for (uint32_t i = 0; i < a.targets.count; i++)
        if (a.targets.items[i].answer == ACCESS_NO)
            refuse(&a, &a.targets.items[i], &findings);
    tell_unknown(&a, &findings);
}

static struct str first_denied(struct arena *arena, const struct problems *problems)
{
    for (uint32_t i = 0; i < problems->list.count; i++)
        if (problems->list.items[i].severity == SEVERITY_DENY)
            return str_fmt(arena, "%.*s: %.*s", STR_ARG(problems->list.items[i].field),
                           STR_ARG(problems->list.items[i].message));
    return STR("");
}

void access_judge(struct arena *arena, const struct facts *facts, const struct access_user *user,
                  const struct rule_severities *severities, struct record *record,
                  struct verdict *verdict)
{
    struct problems found = problems_new(arena);

    if (!facts->access.ask || !record_needs_user(record) || PLANTED(ANYBODY_DEPLOYS) ||
        (severities->of[RULE_WHO_ACCESS] == SEVERITY_OFF &&
         severities->of[RULE_WHO_ACCESS_UNKNOWN] == SEVERITY_OFF))
        return;
    find(arena, facts, user, verdict, &found);
    if (record->fresh) {
        verdict_add(arena, &found, severities, verdict);
        return;
    }
    findings_weigh(&found, severities);
    if (!record->in_the_way.len)
        record->in_the_way = first_denied(arena, &found);
}
