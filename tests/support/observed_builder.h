/* SPDX-License-Identifier: Apache-2.0 */
/* observed_builder.h: a Stack's world for tests, moved on by a few words at a time.
 *
 *     struct scene s = a_scene(arena, "db api<db", "");
 *     scene_play(&s, "cluster a; plan; app db@a deployed 1; plan");
 *     scene_actions(&s)   "upgrade api@a"
 *     scene_states(&s)    "api@a=Deploying/Installing db@a=Deployed/Deployed"
 *
 * Words, each ended by ';' (x is a chart, a a cluster):
 *     cluster a [gone [near b]|disconnected|not_synced|read|stale|untargeted|resumed]    first named: read, targeted, repo
 *         and versions there; resumed: its watch is, now
 *     app x@a deployed|failed|pending|uninstalling|other REVISION [old|foreign|other|former|...]   as wanted, but
 *         old: another digest; foreign: no stamp; other, former: another Stack's, that of a namesake;
 *         rolledback: the stamp of revision 1; unmarked; taken: marked by another Stack; follows y;
 *         unready message, broken message: a workload of it is not ready, or will not be by itself
 *     gone x@a                                 no App any more
 *     unlisted a     its operations are not listed
 *     scan x@a unasked|early|queued|passed|critical    of its one image; early: read before it was deployed
 *     scanner a REASON|-            why that of cluster a cannot tell
 *     op x@a NAME running|succeeded|failed [message]    `uninstall x@a NAME ...` the same for one
 *     stranger x@a NAME running|...            the same, asked for by nobody of this Stack
 *     log x@a NAME message                     its log was read; of a succeeded one: "", or why not
 *     pods x@a NAME message                    its pods were looked at
 *     repo a absent|not_synced|downloading|ready|failed|unusable
 *     version x@a not_synced|found|missing|failed|stale|refreshing;  leftover a [NAME]    a ClusterRepo that nothing uses
 *     values x REASON|not_synced                   not ready; `values x ready [VERSION of a Secret]`
 *     stack NAME ready|waiting|missing|goes [distant] [needs NAME] [on a,b] [pending a] [held a];
 *     dependent NAME ...                       the same of one that depends on this Stack;  clusters unknown|known;  room N;  problem
 *     reject x@a again|terminal|transient REASON    a request was rejected on the spot
 *     backoff a [REASON];  rancher [REASON]    why nothing is asked for there, or anywhere, now
 *     change                                   the second spec counts, one generation later
 *     author [NAME]                            who is recorded; `shut a [REASON words]`: nothing begins there
 *     annotate NAME VALUE (herd.suse.com/NAME; - for none);  confirm  the removal in the status;  approve WAVE
 *     local a                                  it is the cluster that runs Rancher
 *     delete;  abandon a,b;  nofinalizer;  finalizer;  +30s
 *     plan                                     plan, write the status and read it back */
#ifndef HERD_TESTS_SUPPORT_OBSERVED_BUILDER_H
#define HERD_TESTS_SUPPORT_OBSERVED_BUILDER_H

#include "stack/plan/plan.h"

enum { SCENE_ANNOTATIONS = 4 };
struct scene_annotation {
    struct str name; /* behind herd.suse.com/ */
    struct str value;
};

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
    struct scene_annotation annotations[SCENE_ANNOTATIONS];
    uint32_t shown_max; /* one more than how many entries the status shows; 0 = all */
    bool deleting, no_finalizer;
    struct str author; /* as it is recorded; "" = nobody */
};

/* `charts`: "db api<db web<api,db", or NULL if they are among `members`; these are further members
 * of spec as JSON, or "". */
struct scene a_scene(struct arena *arena, const char *charts, const char *members);
void scene_play(struct scene *scene, const char *words);
void scene_plan(struct scene *scene);

struct str scene_actions(const struct scene *scene);
struct str scene_states(const struct scene *scene);
/* The entry of "x@a" in the status; the test fails if there is none. */
const struct release_state *scene_state(const struct scene *scene, const char *who);
/* What the clusters of a wave are to run by the status; without waves, all of them. */
struct str scene_change_of(const struct stack_status *status, struct str wave);
/* "True/Reason" of a condition, "" if it is not there. */
struct str scene_condition(const struct scene *scene, const char *type);

/* Parts, for whoever makes worlds by other means. */
const struct stack *scene_stack(struct arena *arena, const char *charts, const char *members,
                                const char *meta_members);
struct observed_cluster *scene_cluster(struct scene *scene, struct str id);
/* The references of scene_stack's charts: each reads a ConfigMap of its name, which holds `text`, and
 * a Secret of its name, which does not exist. */
struct observed_references scene_references(struct arena *arena, const struct stack *stack,
                                            const char *text);
/* What was read of a ConfigMap or Secret of the Stack, to be changed. */
struct observed_reference *scene_reference(struct scene *scene, bool secret, struct str name);
/* What a chart is to be on one cluster; `references` as in releases_new. */
struct wanted_release scene_wanted(struct arena *arena, const struct stack *stack,
                                   const struct observed_references *references, uint32_t chart,
                                   const struct template_facts *cluster);
/* What chart `x` is to be on cluster `id` by the Stack as it is. */
struct desired_release scene_desired(const struct scene *scene, struct str x, struct str id);

#endif
