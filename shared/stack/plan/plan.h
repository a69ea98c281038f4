/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h: what should be done next about a Stack, and in what state each of its releases is.
 *
 * Pure. At most one next action for each release; a reached state plans none. Deletion is the same
 * function: a plan made of removals in reverse order.
 *
 * How to use it: write the status first, by the resourceVersion that the plan was made from; only
 * when that is known to have succeeded execute the actions that change something (each stands in
 * the status as requested_ms). Without an answer to the write, plan anew. Plan and status borrow
 * strings from the Stack, from what was observed and from the status before. Whoever plans sees its
 * own last write first. */
#ifndef HERD_STACK_PLAN_H
#define HERD_STACK_PLAN_H

#include "stack/model/observed.h"
#include "stack/model/reasons.h"

enum action_kind {
#define ACTION(kind, name, changes, sentence) ACTION_##kind,
#include "stack/plan/actions.def"
#undef ACTION
    ACTION_KIND_COUNT
};

const char *action_name(enum action_kind kind);
/* Whether it changes something out there (and so must stand in the status before it is sent). */
bool action_changes(enum action_kind kind);

struct action {
    enum action_kind kind;
    uint32_t cluster;      /* index in observed.clusters; UINT32_MAX for the Stack's own actions */
    struct str chart_name; /* charts[].name, as in release_state */
    struct str namespace_; /* of the release */
    struct str release_name;
    struct str repo;      /* of ENSURE_REPO, RESOLVE_VERSION, UPGRADE: URL */
    struct str repo_name; /* ClusterRepo */
    struct str chart_in_repo;
    struct str version;                    /* exact for UPGRADE */
    struct str operation;                  /* of READ_LOG, READ_PODS, REMOVE_LOCK; of READ_HEALTH:
                                            * observed_health.message */
    bool failed;                           /* of READ_PODS: that operation */
    const struct desired_release *desired; /* of UPGRADE */
    struct str replaces;   /* of UPGRADE, MARK: namespace/name of whom it follows, or "" */
    uint32_t chart;        /* of MARK: index in spec.charts; UINT32_MAX = it is not wanted */
    struct str digest;     /* of MARK: what is deployed */
    uint32_t corrections;  /* of MARK */
    struct str downloaded; /* of REFRESH_REPO: when the index was downloaded last */
    struct str repo_uid;   /* of REMOVE_REPO: of the ClusterRepo as it was seen, */
    struct str repo_resource_version; /* and the version that it had */
    struct str app_uid;               /* of the release as it was seen, */
    uint32_t revision;                /* and its revision; of REMOVE_LOCK the pending one */
    bool stuck;                       /* of UNINSTALL: only if that revision is still on its way */
};
LIST_DEFINE(actions, struct action)

struct plan {
    struct actions actions;
    /* Look again then even if nothing happens (wall now + this); -1 = only when something does. */
    int64_t wake_after_ms;
    struct release_states releases; /* every release, also those that only await removal */
    struct str_list targets;        /* ids of the targeted clusters, sorted */
    struct str_list held;           /* ids of those where something is, or may be, sorted */
    /* As in struct stack_status. */
    struct str_list pending_clusters, started_clusters, failed_clusters, lost_clusters;
    struct str change, targets_hash, charts_hash;
    int64_t waiting_since_ms;
    struct wave_states waves;
    struct removal_state removal;
    struct str handled_resume, handled_retry;
    struct str_list unasked;   /* ids of those where the right to deploy is to be asked for */
    struct str_list unlisted;  /* ids of those where something is to change, and what that needs is
                                * not listed */
    struct str_list gone;      /* ids of those that were held and are no more, sorted */
    struct str_list abandoned; /* ids of those that were held and are left as told, sorted */
    bool holds;         /* nothing is done: paused, rejected, waiting for Stacks, targets unknown */
    struct str reason;  /* of holding, else of the worst release */
    struct str message; /* root cause, for people */
    bool accepted;      /* the stored Stack is one that can be applied */
    bool kept;          /* nothing could be looked at: `releases` is what the status said before */
    bool blind;         /* and no status said anything: its writer puts the finalizer on after it,
                         * so it was lost, and what was done under it is not known */
    bool stalled;       /* it holds, and will not go on without somebody's help */
    int64_t reason_since_ms; /* wall: since when `reason` is what it is */
    bool missing_long;       /* values have been missing for LIMIT_MISSING_TIME */
    struct str help_reason; /* why the rollout needs somebody; "" = a release says it, or nothing */
    struct str help_message;
    uint32_t wanted;   /* releases that are to be, */
    uint32_t missing;  /* of them those on clusters that Rancher does not know */
    uint32_t deployed; /* and those of them that are */
    uint32_t running;  /* of the wanted ones: some revision of ours runs */
    uint32_t unwanted; /* releases that are to go */
    uint32_t drifted;  /* deployed, but changed by somebody else */
    bool started;      /* something was asked for, or is there */
    bool torn_down;    /* deleting, and nothing is left */
};

struct plan stack_plan(struct arena *arena, const struct stack *stack,
                       const struct observed *observed);

/* Status from the same values, so that plan and status cannot disagree. */
struct stack_status stack_status_of(struct arena *arena, const struct stack *stack,
                                    const struct observed *observed, const struct plan *plan);

/* Whether a status has to be written at once: an action must stand in it before it is sent, or for
 * people it is another one than what is stored. Else the write can wait, and the actions go on. */
bool stack_status_is_news(const struct stack_status *stored, const struct stack_status *status,
                          const struct actions *actions);

/* Note that a request of a plan was rejected on the spot, and so certainly had no effect: the entry
 * of that cluster and chart becomes FAILED, with one attempt more and nothing under way. Whether
 * that was the last attempt is validated by the next plan, as for a failure of Helm. The caller
 * does this to what it hands to the next plan as `before`; strings are borrowed. An entry that is
 * not there is left so. */
void stack_status_note_failure(struct arena *arena, struct stack_status *status,
                               struct str cluster_id, struct str chart_name, bool terminal,
                               struct str reason, struct str message, int64_t now_ms);
/* The same of a request that Rancher did not take at present: nothing was tried, so nothing counts.
 * The entry becomes PENDING with nothing under way. */
void stack_status_note_transient(struct arena *arena, struct stack_status *status,
                                 struct str cluster_id, struct str chart_name, struct str reason,
                                 struct str message, int64_t now_ms);

#endif
