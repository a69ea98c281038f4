/* SPDX-License-Identifier: Apache-2.0 */
/* access_rounds.h: on which clusters may a user deploy, and which questions does it take to know?
 *
 * They are asked in rounds, each of which depends on the answers to the one before:
 *
 *   all          the right on every cluster, where many are concerned: a yes is enough
 *   clusters     the right on each cluster
 *   namespaces   on clusters that were denied, the right on each namespace that a chart goes to
 *
 * A step takes the answers to one round and returns the questions of the next. The webhook puts
 * them to the API server and waits, the controller looks them up in its cache and has them asked in
 * the background. Pure; everything is in the arena. */
#ifndef HERD_STACK_ACCESS_ROUNDS_H
#define HERD_STACK_ACCESS_ROUNDS_H

#include "base/list.h"
#include "stack/model/facts.h"
#include "stack/model/stack.h"

struct access_found {
    enum access_answer answer;
    bool awaited;       /* UNKNOWN, but soon known: until then nothing else has to be asked */
    struct str trouble; /* why it is UNKNOWN, if somebody tried to find out */
    int64_t until_ms;   /* by the clock of whoever answers: how long it counts; -1 = not at all */
};

struct access_target {
    struct str cluster;        /* "" = any that there may be */
    struct access_found found; /* YES where all namespaces are allowed, too */
    struct str_list denied;    /* namespaces, where the cluster as a whole is denied, too */
};
LIST_DEFINE(access_targets, struct access_target)

enum access_round {
    ACCESS_ROUND_NONE,
    ACCESS_ROUND_ALL,
    ACCESS_ROUND_CLUSTERS,
    ACCESS_ROUND_NAMESPACES,
    ACCESS_ROUND_DONE,
};

struct access_rounds {
    struct arena *arena;
    enum access_round round; /* whose questions were returned last */
    bool all_first;          /* the right on all is asked for, however few clusters there are */
    struct str_list namespaces;
    struct access_targets targets;
};

/* For the charts of the Stack, which is borrowed; without a target yet. */
struct access_rounds access_rounds_new(struct arena *arena, const struct stack *stack);
void access_rounds_add(struct access_rounds *rounds, struct str cluster);

/* What to ask next: true, and the questions. False: everything that can be known now is in
 * `targets`. `found`: the answers to the questions of the step before, in their order; NULL at
 * first. */
bool access_rounds_step(struct access_rounds *rounds, const struct access_found *found,
                        struct access_questions *ret_questions);

#endif
