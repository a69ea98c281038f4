/* SPDX-License-Identifier: Apache-2.0 */
/* access_rounds.c: each round either answers for a target or leaves it to the next. */
#include "stack/access/access_rounds.h"

#include "base/set.h"

/* From so many clusters on, the right on all of them is asked for first. */
enum { MANY_CLUSTERS = 5 };

struct access_rounds access_rounds_new(struct arena *arena, const struct stack *stack)
{
    const struct charts *charts = &stack->spec.charts;
    struct access_rounds rounds = { .arena = arena,
                                    .namespaces = str_list_new(arena, charts->count),
                                    .targets = access_targets_new(arena, 4) };
    struct set seen = set_new(arena, charts->count);

    for (uint32_t i = 0; i < charts->count; i++)
        if (charts->items[i].namespace_.len && set_add(seen, charts->items[i].namespace_))
            str_list_push(&rounds.namespaces, charts->items[i].namespace_);
    return rounds;
}

void access_rounds_add(struct access_rounds *rounds, struct str cluster)
{
    access_targets_push(&rounds->targets, (struct access_target){ .cluster = cluster });
}

/* --- questions --- */

static bool is_for_namespaces(const struct access_target *target)
{
    return target->found.answer == ACCESS_NO && target->cluster.len;
}

static void ask_about_namespaces(const struct access_rounds *rounds,
                                 const struct access_target *target,
                                 struct access_questions *questions)
{
    for (uint32_t i = 0; is_for_namespaces(target) && i < rounds->namespaces.count; i++)
        access_questions_push(
            questions, (struct access_question){ .cluster = target->cluster,
                                                 .namespace_ = rounds->namespaces.items[i] });
}

static struct access_questions questions_of(const struct access_rounds *rounds)
{
    const struct access_targets *targets = &rounds->targets;
    struct access_questions questions = access_questions_new(rounds->arena, targets->count);

    if (rounds->round == ACCESS_ROUND_ALL && targets->count &&
        (rounds->all_first || targets->count >= MANY_CLUSTERS))
        access_questions_push(&questions, (struct access_question){ .verb = ACCESS_DEPLOY });
    for (uint32_t i = 0; i < targets->count; i++)
        if (rounds->round == ACCESS_ROUND_CLUSTERS)
            access_questions_push(&questions,
                                  (struct access_question){ .cluster = targets->items[i].cluster });
        else if (rounds->round == ACCESS_ROUND_NAMESPACES)
            ask_about_namespaces(rounds, &targets->items[i], &questions);
    return questions;
}

/* --- answers --- */

/* The same for each target, if it settles the matter for now. */
static void take_all(struct access_rounds *rounds, const struct access_found *all)
{
    if (all->answer != ACCESS_YES && !all->awaited)
        return;
    for (uint32_t i = 0; i < rounds->targets.count; i++)
        rounds->targets.items[i].found = *all;
    rounds->round = ACCESS_ROUND_DONE;
}

/* One namespace that is denied is enough; else one that is not known leaves the cluster unknown. */
static void take_namespaces(struct arena *arena, struct access_target *target,
                            const struct str_list *namespaces, const struct access_found *found)
{
    struct access_found sum = { .answer = ACCESS_YES, .until_ms = target->found.until_ms };
    bool unknown = false;

    target->denied = str_list_new(arena, 0);
    for (uint32_t i = 0; i < namespaces->count; i++) {
        if (found[i].answer == ACCESS_NO)
            str_list_push(&target->denied, namespaces->items[i]);
        if (found[i].answer == ACCESS_UNKNOWN)
            sum.trouble = found[i].trouble;
        unknown = unknown || found[i].answer == ACCESS_UNKNOWN;
        sum.until_ms = found[i].until_ms < sum.until_ms ? found[i].until_ms : sum.until_ms;
    }
    if (unknown)
        sum.until_ms = -1;
    sum.answer = target->denied.count ? ACCESS_NO : unknown ? ACCESS_UNKNOWN : ACCESS_YES;
    target->found = sum;
}

static void take(struct access_rounds *rounds, const struct access_found *found)
{
    struct access_targets *targets = &rounds->targets;

    if (rounds->round == ACCESS_ROUND_ALL)
        take_all(rounds, found);
    else
        for (uint32_t i = 0; i < targets->count; i++)
            if (rounds->round == ACCESS_ROUND_CLUSTERS) {
                targets->items[i].found = found[i];
            } else if (is_for_namespaces(&targets->items[i])) {
                take_namespaces(rounds->arena, &targets->items[i], &rounds->namespaces, found);
                found += rounds->namespaces.count;
            }
}

bool access_rounds_step(struct access_rounds *rounds, const struct access_found *found,
                        struct access_questions *ret_questions)
{
    if (found)
        take(rounds, found);
    while (rounds->round < ACCESS_ROUND_DONE) {
        rounds->round++;
        *ret_questions = questions_of(rounds);
        if (ret_questions->count)
            return true;
    }
    return false;
}
