/* observed_builder.h: a Stack's world for tests, moved on by a few words at a time.
 *
 *     struct scene s = a_scene(arena, "db api<db", "");
 *     scene_play(&s, "cluster a; plan; app db@a deployed 1; plan");
 *     scene_actions(&s)   "upgrade api@a"
 *     scene_states(&s)    "api@a=Deploying/Installing db@a=Deployed/Deployed"
 *
 * Words, each ended by ';' (x is a chart, a a cluster):
 *     cluster a [gone [near b]|disconnected|unread|read|stale|untargeted]    first named: read, targeted, repo and versions there
 *     app x@a deployed|failed|pending|uninstalling|other REVISION [old|foreign|other|former]   as wanted, but
 *     gone x@a                                 no App any more
 *     op x@a NAME running|succeeded|failed [message]    `uninstall x@a NAME ...` the same for one
 *     stranger x@a NAME running|...            the same, asked for by nobody of this Stack
 *     log x@a NAME message                     its log was read; of a succeeded one: "", or why not
 *     pods x@a NAME message                    its pods were looked at
 *     repo a absent|unread|downloading|ready|failed;  version x@a unread|found|missing|failed
 *     values x REASON                          not ready; `values x ready [VERSION of a Secret]`
 *     stack NAME ready|waiting|missing [distant] [needs NAME];  clusters unknown|known;  room N;  problem
 *     refuse x@a again|terminal REASON         a request was refused on the spot
 *     change                                   the second spec counts, one generation later
 *     receipts ignore|warn|hold                the Stack has none; `shut a [REASON words]`: nothing begins there
 *     delete;  abandon a,b;  nofinalizer;  finalizer;  +30s
 *     plan                                     plan, write the status and read it back */
#ifndef HERD_TESTS_SUPPORT_OBSERVED_BUILDER_H
#define HERD_TESTS_SUPPORT_OBSERVED_BUILDER_H

#include "stack/plan.h"

struct scene {
    struct arena *arena;
    const char *charts, *members;           /* of the spec as it is */
    const char *next_charts, *next_members; /* of the spec after `change` */
    const struct stack *stack;
    struct observed observed;
    struct stack_status before;
    struct plan plan;
    struct stack_status status;
    struct str written;
    struct problems problems;
    int64_t generation;
    const char *abandon;
    bool deleting, no_finalizer;
    enum receipts_mode receipts;
    struct admitted admitted;
};

/* `charts`: "db api<db web<api,db"; `members`: further members of spec as JSON, or "". */
struct scene a_scene(struct arena *arena, const char *charts, const char *members);
void scene_play(struct scene *scene, const char *words);
void scene_plan(struct scene *scene);

struct str scene_actions(const struct scene *scene);
struct str scene_states(const struct scene *scene);
/* The entry of "x@a" in the status; the test fails if there is none. */
const struct release_state *scene_state(const struct scene *scene, const char *who);
/* "True/Reason" of a condition, "" if it is not there. */
struct str scene_condition(const struct scene *scene, const char *type);

/* Parts, for whoever makes worlds by other means. */
const struct stack *scene_stack(struct arena *arena, const char *charts, const char *members,
                                const char *meta_members);
struct observed_cluster *scene_cluster(struct scene *scene, struct str id);
/* What chart `x` is to be on cluster `id` by the Stack as it is. */
struct desired_release scene_desired(const struct scene *scene, struct str x, struct str id);

#endif
