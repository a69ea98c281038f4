/* SPDX-License-Identifier: Apache-2.0 */
/* plan_parts.h: what the parts of the plan share. Internal to plan*.c.
 *
 * A plan is made in four steps over slots, one for each release of the Stack on each cluster, both
 * those that are to be and those that only await removal:
 *   slots     the world sorted by release                                     plan_slots.c
 *   name      what is rolled out, by its content                             plan_change.c
 *   follow    what was asked for is accounted for: done, failed, lost, going   plan_follow.c,
 *             plan_running.c, plan_pods.c, plan_failure.c, plan_unseen.c
 *   guard     what must happen before anything is removed                       plan_removal.c
 *   rollout   which clusters may change now                   plan_rollout.c, plan_scans.c
 *   decide    the next step of each slot that nothing is under way for         plan_release.c,
 *                                                                              plan_teardown.c
 * and then summed up: what is left over (plan_repos.c), what is held where (plan_held.c), and in
 * words (plan_message.c). Before all
 * of them: what holds the whole Stack (plan_hold.c). */
#ifndef HERD_STACK_PLAN_PARTS_H
#define HERD_STACK_PLAN_PARTS_H

#include "base/map.h"
#include "stack/model/limits.h"
#include "stack/targets/graph.h"
#include "stack/plan/plan.h"
#include "stack/plan/scan_verdict.h"
#include "text/enumerate.h"

#define NONE UINT32_MAX

/* Marks that one plan asks for: they cost the status nothing, and the next plan asks for more. */
#define MARKS_MAX 64
/* Requests under way for one Stack at a time, beyond the bound for each cluster: each must stand in
 * the status, where an entry takes up to about 1 KiB of LIMIT_STATUS_BYTES. */
#define UNDER_WAY_MAX (LIMIT_STATUS_BYTES / 1024)
/* With those that failed, whose entries do without a message if need be. Nothing new begins beyond
 * that: what failed so often is no matter of one more try. */
#define REMEMBERED_MAX (LIMIT_STATUS_BYTES / 512)

/* Operations of one release that this Stack asked for: what others ask for is seen by the release
 * alone. Times of creation are whole seconds, so several may be the newest. */
struct newest_operations {
    int64_t created_ms;
    const struct observed_operation *operation;
    struct newest_operations *next; /* of the same second, by name */
};

struct slot {
    uint32_t cluster;                           /* index in observed.clusters */
    uint32_t chart;                             /* index in spec.charts; NONE = it is not wanted */
    const struct desired_release *desired;      /* NULL: not wanted, or its values are not known: */
    struct str values_reason, values_message;   /* why */
    const struct observed_release *app;         /* NULL: absent */
    const struct newest_operations *newest;     /* of ours for the release, or NULL */
    const struct observed_operation *operation; /* that of them to look at */
    const struct observed_operation *running;   /* ours, else somebody else's, or NULL */
    const struct release_state *before;
    struct release_state now;
    bool decided; /* `now` says it all */
    bool drifted;
    bool acted;         /* an action of this plan is about it */
    uint32_t root;      /* the slot whose trouble this one waits for; NONE */
    uint32_t successor; /* of one that is to go: the slot that takes its place; NONE */
    uint32_t replaces;  /* of a wanted one: the slot whose place it takes; NONE */
};
LIST_DEFINE(slots, struct slot)

/* Where a cluster stands in the rollout (plan_rollout.c). */
struct standing {
    uint32_t wave;
    bool counts;    /* something is wanted there */
    bool done;      /* as wanted, and nothing of that failed */
    bool not_ready; /* a workload there is not, of what is deployed */
    bool started;   /* it has begun with the change, so it needs no turn any more */
    bool begun;     /* the same, of a change whose content is not known at present */
    bool has_place; /* it takes one of maxConcurrentClusters */
    bool failed;
    bool lost; /* failed for good */
    bool unreachable;
};

/* What the clusters of one wave are to run (plan_change.c). */
struct wave_change {
    struct str name; /* 8 hex digits; while the content is not known, that of before */
    bool unknown;    /* some values are being read */
    bool same;       /* as in the status before */
    bool remembered; /* what the status says of clusters is about this change */
};

struct cluster_part {
    const struct observed_cluster *observed;
    bool left_out; /* gone or abandoned: nothing is wanted or awaited there */
    struct u32_list slots;
    uint32_t *slot_of_chart; /* NONE where an override skips it; NULL if nothing is wanted */
    uint32_t busy;           /* operations running, and requests that may become one */
    struct map *repos;       /* url -> struct observed_repo */
    struct map *versions;    /* repo, chart, version -> struct observed_version */
    struct map *asked_repos; /* url -> itself: repos asked for in this plan */
    bool removes_repos;      /* ClusterRepos that Herd made there are still to go */
    struct standing standing;
    struct str gate_reason; /* why its turn has not come; "" = it has */
    struct str gate_message;
    struct str access_reason; /* why nothing may be installed or upgraded here; "" = it may */
    struct str access_message;
    bool unasked;             /* it matters now whether something may be */
    bool unlisted;            /* something is to change, and its operations are not listed */
    struct str needed_reason; /* of a deletion: who needs what is here; "" = nobody */
    struct str needed_message;
    int64_t delayed_until; /* what it has because of its labels is not removed before; 0 */
};

/* How far the rollout has come, while clusters are decided one after the other. */
struct rollout_progress {
    uint32_t closed_from;       /* the first wave that may not begin yet; NONE */
    struct str reason, message; /* why not */
    struct str trouble;         /* what of that does not end by itself; "" = nothing */
    struct str help;            /* the reason, if no release of the Stack has it */
    int64_t wake_ms;            /* wall: when a pause ends; 0 = none */
    bool goes_on_without;       /* no more are unreachable than spec.rollout.maxUnavailable */
    int64_t places, failed;     /* clusters that have a place; that count as failed */
    int64_t waiting_since_ms;   /* as in the status */
    struct enumeration names;   /* of those that have a place */
    struct str full;            /* why a cluster gets no place; "" = not said yet */
    struct str unavailable;     /* which of them cannot be reached; "" = none */
};

struct planner {
    struct arena *arena;
    const struct stack *stack;
    const struct observed *observed;
    const struct graph *graph;
    struct u32_list order;            /* charts, needs first */
    struct map *chart_index;          /* name -> uint32_t, index in spec.charts */
    uint32_t targets;                 /* how many clusters are targeted */
    struct str change;                /* what is rolled out everywhere, as 8 hex digits */
    struct wave_change *wave_changes; /* of each wave, and last of the clusters of none */
    struct str ref;                   /* namespace/name, as stamped */
    bool deleting;
    bool retargeted;        /* spec.targets is another one than that of the status */
    bool fresh;             /* charts or retry of the spec are: old failures are forgiven */
    bool resumed;           /* as if they were, because of STACK_RESUME */
    bool retried;           /* what failed is tried again now, because of STACK_RETRY */
    struct str hold_reason; /* nothing may be asked for, but all is looked at; "" = no */
    struct str hold_message;
    bool stalled; /* the hold does not end by itself */
    struct slots slots;
    struct cluster_part *clusters;
    struct actions actions;
    struct wave_states waves;
    struct removal_state removal;
    struct str unconfirmed;     /* why what has no successor is not removed; "" = it is */
    struct str rollout_trouble; /* why clusters that are well wait for help; "" = they do not */
    struct str help_reason;     /* as in the plan */
    struct str help_message;
    struct rollout_progress progress;
    int64_t wake_at;     /* wall; INT64_MAX = never */
    uint32_t under_way;  /* requests */
    uint32_t remembered; /* releases that the status must remember */
    uint32_t marks;      /* asked for by this plan */
};

/* plan_slots.c */
void plan_slots(struct planner *p);
bool plan_is_abandoned(const struct planner *p, struct str cluster_id);
/* Whether something of ours may be on a cluster that cannot be looked at. */
bool plan_may_hold(const struct planner *p, const struct cluster_part *c);
/* Whether the operation was accounted for: its outcome is no news. */
bool plan_is_accounted(const struct slot *s, const struct observed_operation *operation);
/* From now on all of the newest ones are. */
void plan_account(struct planner *p, struct slot *s);

/* plan_follow.c */
/* What stands in the status as asked for and not accounted for. */
enum asked { ASKED_NOTHING, ASKED_UPGRADE, ASKED_UNINSTALL, ASKED_LOCK, ASKED_REPO };
void plan_follow(struct planner *p, struct slot *s);

/* plan_failure.c */
/* When a failed release is tried again. */
int64_t plan_retry_at(const struct planner *p, const struct slot *s);
/* Whether the failures that were counted are the last. */
bool plan_is_final(const struct planner *p, const struct slot *s);
/* Another thing is wanted than what failed, or charts or retry were edited: it begins anew. */
bool plan_is_forgiven(const struct planner *p, const struct slot *s);
/* The failures that were counted count no more, and are not found again in what is there. */
void plan_forgive(struct slot *s);
/* What was tried: "install", "upgrade" or "uninstall". */
struct str plan_attempted(const struct slot *s);
/* Helm's words without what every message begins with. */
struct str plan_words_of_helm(struct str detail);
/* A failed attempt: `what` failed, `detail` in Helm's words. */
void plan_fail(struct planner *p, struct slot *s, struct str what, struct str detail);
/* A failure's message, with the remedy: if there are no more tries, or of a removal. */
struct str plan_failure_message(struct planner *p, const struct slot *s, struct str message);
/* By the first word of a failure's message. */
struct str plan_reason_of_failure(struct str text);

/* plan_unseen.c */
/* Of a cluster that is not READ: say so, with what was known. */
void plan_follow_unseen(struct planner *p, struct slot *s);
/* A cluster came back: what stood in the status before it went is what counts again. */
void plan_see_again(struct planner *p, struct slot *s);

/* plan_pods.c */
/* Ask why pods keep helm waiting: once while an operation runs for long, once after it failed so.
 * True: it is being asked. */
bool plan_asks_pods(struct planner *p, struct slot *s, const struct observed_operation *op);
/* Why the workloads of a release are not ready: theirs, and what its pods say, which is asked for.
 */
struct str plan_unready_message(struct planner *p, struct slot *s);
/* Helm's words behind what the pods say: the cause before the symptom. */
struct str plan_root_cause(struct planner *p, const struct observed_operation *op,
                           struct str words);

/* plan_running.c */
/* Tell how the operation of the release goes. */
void plan_follow_running(struct planner *p, struct slot *s, enum asked asked);
/* "abandon the cluster with ...", for a release that goes; "" where that is no remedy. */
struct str plan_way_to_let_go(struct planner *p, const struct slot *s);
/* The state of a release while something is under way for it. */
enum deployment_state plan_going_state(enum asked asked, const struct slot *s);

/* plan_removal.c */
/* Who follows whom, and why what goes must stay for now; after plan_mark_removed. */
void plan_guard(struct planner *p);
/* Whether a release that is to go stays for now; says why. */
bool plan_keeps(struct planner *p, struct slot *s);
/* Account for the clusters that the Stack leaves and holds no more; after all was decided. */
void plan_account_removal(struct planner *p);
/* Whether the cluster is no target and has something of the Stack, or may have. */
bool plan_is_left(const struct planner *p, const struct cluster_part *c);

/* plan_change.c */
/* Short hashes of parts of the spec, as in struct stack_status. */
struct str plan_targets_hash(struct arena *arena, const struct stack *stack);
struct str plan_charts_hash(struct arena *arena, const struct stack *stack);
/* Name what each wave is to run; after plan_slots. */
void plan_name_changes(struct planner *p);
/* The name of a wave; that of the clusters of none is "*". */
struct str plan_wave_name(const struct planner *p, uint32_t wave);
/* What the status says of it, or NULL. */
const struct wave_state *plan_wave_before(const struct planner *p, uint32_t wave);

/* plan_rollout.c */
bool plan_is_retry(const struct slot *s);
/* Where each cluster stands, and which waves may begin; after plan_guard. */
void plan_rollout(struct planner *p);
/* Decide each cluster with `decide`, in the order in which they get places. */
void plan_rollout_each(struct planner *p, void (*decide)(struct planner *, struct cluster_part *));
/* Whether the cluster has a place, or there is one for it; else why not. */
bool plan_has_place(struct planner *p, const struct cluster_part *c, struct str *ret_message);
/* An action is requested there: it takes its place. False, with the message, if there is none. */
bool plan_take_place(struct planner *p, struct cluster_part *c, struct str *ret_message);

/* plan_scans.c */
/* What the scans of the wave say that later waves wait for; RANK_NONE: they wait for nothing. */
struct release_verdict plan_wave_scans(struct planner *p, uint32_t wave);
/* Whether scans that are missing for this reason stay so until somebody does something. */
bool plan_scans_need_help(struct str reason);

/* plan_release.c, plan_teardown.c */
/* Something is to be done there, and what is under way there is not known yet. */
bool plan_waits_for_list(struct planner *p, struct slot *s);
void plan_release(struct planner *p, struct slot *s);
/* A release of somebody else stands where ours should. */
bool plan_is_in_the_way(const struct planner *p, const struct slot *s);
/* It is to become ours all the same. */
bool plan_may_adopt(const struct planner *p, const struct slot *s);
/* Ask for the mark of a release that is ours, if it lacks that or what it says is old; last. */
void plan_mark_owned(struct planner *p, struct slot *s);
/* Deployed as asked for, and then changed by somebody else. */
bool plan_is_drifted(const struct planner *p, const struct slot *s);
/* Whether the release counts as deployed only once its workloads are ready. */
bool plan_awaits_workloads(const struct planner *p, const struct slot *s);
/* Its newest revision is deployed and is what is wanted. */
bool plan_is_as_wanted(const struct planner *p, const struct slot *s);
/* It stands as it is wanted, and what waits for it may begin. */
bool plan_is_deployed(struct planner *p, const struct slot *s);
/* It stands as it is wanted, and is broken for good: by its workloads, or another version came. */
bool plan_is_broken(const struct planner *p, const struct slot *s);
/* Say why the release may not change now: access, its cluster's turn, places. */
bool plan_wait_for_turn(struct planner *p, struct slot *s);
/* Until when a release that is pending or uninstalling, without a visible operation, is left to
 * whoever may be changing it. Helm that somebody runs elsewhere has no Operation, and as long as
 * the longest one may last. */
int64_t plan_pending_until(const struct planner *p, const struct slot *s);
struct str plan_pending_message(const struct planner *p, const struct slot *s);
/* Of one that is deployed: by its mark it was a moment ago, and not all workloads are ready.
 * They may show a little later than their release. */
bool plan_is_starting(struct planner *p, const struct slot *s);
/* A workload of what is deployed was deleted, and an upgrade to the same is to bring it back. */
bool plan_needs_repair(const struct planner *p, const struct slot *s);
/* Whether a failure that was counted still stands. */
bool plan_keep_failure(struct planner *p, struct slot *s);
/* A release of another Stack stands where ours should: say so. */
bool plan_is_of_another_stack(const struct planner *p, const struct slot *s);
void plan_report_conflict(struct planner *p, struct slot *s);
/* A wanted release cannot change now: say why, and which revision runs on. */
void plan_hold_back(struct planner *p, struct slot *s, enum deployment_state state,
                    struct str reason, struct str message);
/* Whether a revision of before serves on meanwhile. */
bool plan_runs_on(const struct planner *p, const struct slot *s);
/* The chart of the spec with that name, or NULL. */
const struct chart *plan_chart_named(const struct planner *p, struct str name);
/* Mark what is gone already; before anything is decided. */
void plan_mark_removed(struct planner *p, struct slot *s);
/* What goes next on one cluster; after its wanted releases were decided. */
void plan_teardown(struct planner *p, struct cluster_part *c);
/* Uninstall the slot's release, for removal or to free a first install that was left pending. */
struct action *plan_uninstall(struct planner *p, struct slot *s, struct str reason,
                              struct str message);

/* plan_held.c */
/* Ids of the clusters where something of the Stack is or may be; after all was decided. */
struct str_list plan_held(struct planner *p);
/* Ids of those that are skipped because they are gone, with what was there. */
struct str_list plan_gone(struct planner *p);
/* Ids of those that the annotation STACK_ABANDON_CLUSTERS made the Stack leave in this plan. */
struct str_list plan_abandoned(struct planner *p);
bool plan_held_before(const struct planner *p, struct str cluster_id);

/* Whether something of the Stack is, or may be, on the cluster. */
bool plan_cluster_holds(const struct planner *p, const struct cluster_part *c);

/* plan_repos.c */
/* Delete the ClusterRepos that nothing uses any more; after all releases were decided. */
void plan_repos(struct planner *p);
/* Whether some are still there, and which. */
bool plan_awaits_repos(const struct planner *p, struct str *ret_message);

/* plan_hold.c */
/* Why nothing may be asked for although everything can be looked at. */
void plan_find_hold(struct planner *p);
/* Where the Stacks that this one depends on, or that depend on it, say what may be done. */
void plan_heed_stacks(struct planner *p);
/* Whether nothing may be asked for about the release now, and why: the Stack is held, or Rancher
 * takes no requests for the cluster. */
bool plan_is_held(const struct planner *p, const struct slot *s, struct str *ret_reason,
                  struct str *ret_message);

/* plan_message.c */
void plan_sum_up(const struct planner *p, struct plan *plan);
/* What a slot waits for that has no room: the operations that take it, by name. */
struct str plan_room_message(const struct planner *p, const struct slot *s);

/* Small things, plan_slots.c. */
static inline const struct observed_cluster *plan_cluster(const struct planner *p,
                                                          const struct slot *s)
{
    return &p->observed->clusters.items[s->cluster];
}

/* Whose a release is stands on the cluster alone: nothing that the status says makes it ours. */
static inline bool plan_is_ours(const struct planner *p, const struct observed_release *app)
{
    return app && observed_release_is_of(app, p->stack->meta.uid);
}

static inline bool plan_owns(const struct planner *p, const struct slot *s)
{
    return plan_is_ours(p, s->app);
}

/* Whether we made the newest revision; one that was rolled back to has the stamp of another. */
static inline bool plan_made(const struct planner *p, const struct observed_release *app)
{
    return app->stack_uid.len && str_eq(app->stack_uid, p->stack->meta.uid) &&
           app->stamped_revision == app->revision;
}

static inline bool plan_has_stamp(const struct observed_release *app)
{
    return app->stack.len || app->stack_uid.len;
}

static inline bool plan_is_own(const struct planner *p, const struct observed_operation *operation)
{
    return operation->stack_uid.len && str_eq(operation->stack_uid, p->stack->meta.uid);
}

static inline uint32_t plan_revision(const struct slot *s)
{
    return s->app ? s->app->revision : 0;
}

/* Why nothing is known of, or done on, a cluster that is not READ. */
static inline struct str plan_unseen_reason(const struct observed_cluster *c)
{
    return c->state == CLUSTER_NOT_SYNCED ? REASON(CLUSTER_NOT_SYNCED)
           : c->state == CLUSTER_STALE    ? REASON(CLUSTER_STALE)
                                          : REASON(CLUSTER_UNREACHABLE);
}

void plan_wake(struct planner *p, int64_t at_ms);

/* When what was asked for, or ended, at `since_ms` would show in the slot's cluster: its watch may
 * have been interrupted since. What does not show by then did not happen. */
static inline int64_t plan_shows_by(const struct planner *p, const struct slot *s, int64_t since_ms)
{
    int64_t resumed_ms = plan_cluster(p, s)->resumed_ms;

    return (since_ms > resumed_ms ? since_ms : resumed_ms) + p->observed->settle_ms;
}
void plan_set(struct slot *s, enum deployment_state state, struct str reason, struct str message);
/* What the state of the status says, seen through UNKNOWN. */
enum deployment_state plan_last_known(const struct release_state *before);
/* Whether one more request may be sent for this cluster now. */
bool plan_has_room(const struct planner *p, const struct slot *s);
/* An action about a release, with its cluster and names filled in. */
struct action *plan_act(struct planner *p, struct slot *s, enum action_kind kind);
/* Mark that a changing action is about to be sent. */
void plan_intend(struct planner *p, struct slot *s);

#endif
