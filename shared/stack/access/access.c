/* SPDX-License-Identifier: Apache-2.0 */
/* access.c: which questions there are, and what the answers mean. The rounds about clusters are
 * those of access_rounds.h; there are at most two about values: all ConfigMaps and Secrets, if
 * there are many; each. */
#include "stack/access/access.h"

#include "base/set.h"
#include "kube/names.h"
#include "stack/access/access_rounds.h"
#include "stack/model/limits.h"
#include "stack/targets/resolved_targets.h"
#include "stack/model/finding.h"
#include "stack/rules/finding_severities.h"
#include "stack/model/template.h"
#include "text/enumerate.h"

/* From so many names on, the right on every ConfigMap, or every Secret, is asked for first. */
enum { MANY_REFERENCES = 5 };

/* How many clusters a sentence names. */
enum { NAMED_MAX = 3 };

LIST_DEFINE(paths, struct path)

struct asking {
    struct arena *arena;
    const struct facts *facts;
    const struct access_user *user;
    const struct stack *stack;
    const struct resolved_targets *chosen;
    struct access_rounds rounds;
    struct paths at;       /* where the spec names rounds.targets.items[i] */
    struct str namespace_; /* of the Stack */
    uint32_t asked;        /* questions so far */
    struct str why;        /* the first reason for not knowing */
};

/* --- where the Stack goes --- */

static void add_target(struct asking *a, struct set seen, struct str cluster, const struct path *at)
{
    if (!set_add(seen, cluster))
        return;
    access_rounds_add(&a->rounds, cluster);
    paths_push(&a->at, *at);
}

/* Invalid ids are reported elsewhere. */
static void add_named(struct asking *a, struct set seen, const struct path *ids)
{
    const struct str_list *list = &a->stack->spec.targets.cluster_ids;

    for (uint32_t i = 0; i < list->count; i++) {
        struct path at = path_index(ids, i);

        if (list->items[i].len && !kube_not_dns1123_subdomain(list->items[i]))
            add_target(a, seen, list->items[i], &at);
    }
}

static void add_selected(struct asking *a, struct set seen, const struct path *at)
{
    const struct resolved_targets *chosen = a->chosen;

    if (label_selector_is_empty(&a->stack->spec.targets.selector))
        return;
    if (!a->facts->clusters_known) {
        add_target(a, seen, STR(""), at);
        return;
    }
    for (uint32_t i = 0; chosen->claims.targets.by_selector && i < chosen->clusters.count; i++)
        add_target(a, seen, chosen->clusters.items[i].id, at);
}

/* --- asking --- */

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

static void run_rounds(struct asking *a)
{
    struct access_questions questions;
    struct access_found *found = NULL;

    while (access_rounds_step(&a->rounds, found, &questions)) {
        const enum access_answer *answers = ask(a, &questions);

        found = arena_array(a->arena, struct access_found, questions.count);
        for (uint32_t i = 0; i < questions.count; i++)
            found[i] = (struct access_found){ .answer = answers[i] };
    }
}

/* --- what it comes to --- */

static void reject(struct asking *a, const struct access_target *target, const struct path *at,
                   struct findings *findings)
{
    struct enumeration namespaces = enumeration_new(a->arena, NAMED_MAX);
    struct strbuf where = strbuf_new(a->arena, 64);

    if (target->cluster.len)
        strbuf_fmt(&where, "cluster %.*s", STR_ARG(finding_shown(findings, target->cluster)));
    else
        strbuf_lit(&where, "every cluster, and which ones there are is not known now");
    for (uint32_t i = 0; i < target->denied.count; i++)
        enumeration_add(&namespaces, finding_shown(findings, target->denied.items[i]));
    if (target->denied.count)
        strbuf_fmt(&where, ", namespace %.*s", STR_ARG(enumeration_text(&namespaces)));
    finding_add(findings, RULE_WHO_ACCESS, CAUSE_FORBIDDEN, at, STR(""),
                "'%.*s' may not deploy to %.*s", STR_ARG(finding_shown(findings, a->user->name)),
                STR_ARG(strbuf_str(&where)));
}

/* One finding for all of them: they have one cause. */
static void tell_unknown(struct asking *a, struct findings *findings)
{
    const struct access_targets *targets = &a->rounds.targets;
    struct path spec = path_field(NULL, STR("spec"));
    struct path at = path_field(&spec, STR("targets"));
    struct enumeration names = enumeration_new(a->arena, NAMED_MAX);

    for (uint32_t i = 0; i < targets->count; i++) {
        const struct access_target *target = &targets->items[i];

        if (target->found.answer == ACCESS_UNKNOWN)
            enumeration_add(&names, target->cluster.len ? finding_shown(findings, target->cluster)
                                                        : STR("every cluster"));
    }
    if (names.count)
        finding_add(findings, RULE_WHO_ACCESS_UNKNOWN, CAUSE_FORBIDDEN, &at, STR(""),
                    "whether '%.*s' may deploy to %.*s is not known: %.*s",
                    STR_ARG(finding_shown(findings, a->user->name)),
                    STR_ARG(enumeration_text(&names)), STR_ARG(str_shown(a->arena, a->why, 300)));
}

static void find_denied_clusters(struct asking *a, struct findings *findings)
{
    const struct access_targets *targets = &a->rounds.targets;

    run_rounds(a);
    for (uint32_t i = 0; i < targets->count; i++)
        if (targets->items[i].found.answer == ACCESS_NO)
            reject(a, &targets->items[i], &a->at.items[i], findings);
    tell_unknown(a, findings);
}

/* --- values --- */

/* One that is another object for each cluster is asked about for each. */
static void push_reference(struct asking *a, const struct access_references *all, uint32_t at,
                           struct access_questions *questions, struct u32_list *references)
{
    bool each = template_is_one(all->items[at].name);

    for (uint32_t i = 0; i < (each ? a->rounds.targets.count : 1); i++) {
        struct str cluster = each ? a->rounds.targets.items[i].cluster : STR("");

        access_questions_push(
            questions, access_question_about(a->arena, a->namespace_, &all->items[at], cluster));
        u32_list_push(references, at);
    }
}

/* Whether all ConfigMaps, or all Secrets, may be read. */
static bool may_get_all(struct asking *a, enum access_verb verb)
{
    struct access_questions all = access_questions_new(a->arena, 1);

    access_questions_push(&all,
                          (struct access_question){ .namespace_ = a->namespace_, .verb = verb });
    return ask(a, &all)[0] == ACCESS_YES;
}

static void tell_references(struct asking *a, const struct access_references *all,
                            const struct access_questions *questions,
                            const struct u32_list *references, struct findings *findings)
{
    const enum access_answer *answers = ask(a, questions);

    for (uint32_t i = 0; i < questions->count; i++) {
        const struct access_reference *reference = &all->items[references->items[i]];
        struct str name = questions->items[i].name;
        struct str user = finding_shown(findings, a->user->name);
        struct str object =
            str_fmt(a->arena, "%s %.*s", reference->secret ? "Secret" : "ConfigMap",
                    STR_ARG(finding_shown(findings, name.len ? name : reference->name)));

        if (answers[i] == ACCESS_NO)
            finding_add(findings, RULE_WHO_REFERENCES, CAUSE_FORBIDDEN, &reference->at, STR(""),
                        "'%.*s' may not get %.*s", STR_ARG(user), STR_ARG(object));
        else if (answers[i] == ACCESS_UNKNOWN)
            finding_add(findings, RULE_WHO_ACCESS_UNKNOWN, CAUSE_FORBIDDEN, &reference->at, STR(""),
                        "whether '%.*s' may get %.*s is not known: %.*s", STR_ARG(user),
                        STR_ARG(object), STR_ARG(str_shown(a->arena, a->why, 300)));
    }
}

static void find_denied_references(struct asking *a, const struct path *spec,
                                   struct findings *findings)
{
    struct access_references all = access_references_of(a->arena, a->stack, spec);
    struct access_questions questions = access_questions_new(a->arena, all.count);
    struct u32_list references = u32_list_new(a->arena, all.count);

    for (enum access_verb verb = ACCESS_GET_CONFIG_MAP; verb <= ACCESS_GET_SECRET; verb++) {
        struct access_questions some = access_questions_new(a->arena, 4);
        struct u32_list of = u32_list_new(a->arena, 4);

        for (uint32_t i = 0; i < all.count; i++)
            if (all.items[i].secret == (verb == ACCESS_GET_SECRET))
                push_reference(a, &all, i, &some, &of);
        if (some.count >= MANY_REFERENCES && may_get_all(a, verb))
            continue;
        for (uint32_t i = 0; i < some.count; i++) {
            access_questions_push(&questions, some.items[i]);
            u32_list_push(&references, of.items[i]);
        }
    }
    if (questions.count)
        tell_references(a, &all, &questions, &references, findings);
}

static void find(struct arena *arena, const struct facts *facts, const struct access_user *user,
                 struct str namespace_, const struct verdict *verdict, struct problems *problems)
{
    const struct stack *stack = verdict->stack;
    struct asking a = { .arena = arena,
                        .facts = facts,
                        .user = user,
                        .stack = stack,
                        .chosen = verdict->chosen,
                        .rounds = access_rounds_new(arena, stack),
                        .at = paths_new(arena, 4),
                        .namespace_ = namespace_,
                        .why = STR("") };
    struct findings findings = findings_new(problems);
    struct set seen = set_new(arena, stack->spec.targets.cluster_ids.count);
    struct path spec = path_field(NULL, STR("spec"));
    struct path targets = path_field(&spec, STR("targets"));
    struct path ids = path_field(&targets, STR("clusterIds"));
    struct path selector = path_field(&targets, STR("selector"));

    add_named(&a, seen, &ids);
    add_selected(&a, seen, &selector);
    find_denied_clusters(&a, &findings);
    find_denied_references(&a, &spec, &findings);
}

void access_validate(struct arena *arena, const struct facts *facts, const struct access_user *user,
                     struct str namespace_, const struct rule_severities *severities,
                     struct verdict *verdict)
{
    struct problems found = problems_new(arena);

    if (!facts->access.ask || (severities->of[RULE_WHO_ACCESS] == SEVERITY_OFF &&
                               severities->of[RULE_WHO_REFERENCES] == SEVERITY_OFF &&
                               severities->of[RULE_WHO_ACCESS_UNKNOWN] == SEVERITY_OFF))
        return;
    find(arena, facts, user, namespace_, verdict, &found);
    verdict_add(arena, &found, severities, verdict);
}
