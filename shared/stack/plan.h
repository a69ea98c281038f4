/* plan.h: what should be done next about a Stack, and in what state each of its releases is.
 *
 * Pure. At most one next action for each release; a reached state plans none. Deletion is the same
 * function: a plan made of removals in reverse order. */
#ifndef HERD_STACK_PLAN_H
#define HERD_STACK_PLAN_H

#include "stack/observed.h"

enum action_kind {
#define ACTION(kind, name, changes, sentence) ACTION_##kind,
#include "stack/actions.def"
#undef ACTION
    ACTION_KIND_COUNT
};

const char *action_name(enum action_kind kind);
/* Whether it changes something out there (and so must stand in the status before it is sent). */
bool action_changes(enum action_kind kind);

struct action {
    enum action_kind kind;
    uint32_t cluster; /* index in observed.clusters; UINT32_MAX for the Stack's own actions */
    struct str namespace_;   /* of the release */
    struct str release_name;
    struct str repo;         /* of ENSURE_REPO, RESOLVE_VERSION, UPGRADE: URL */
    struct str repo_name;    /* ClusterRepo */
    struct str chart_in_repo;
    struct str version;      /* exact for UPGRADE */
    struct str operation;    /* of READ_LOG, REMOVE_LOCK */
    const struct desired_release *desired; /* of UPGRADE */
    uint32_t revision;       /* of REMOVE_LOCK: the pending revision */
};
LIST_DEFINE(actions, struct action)

struct plan {
    struct actions actions;
    /* Look again then even if nothing happens (wall now + this); -1 = only when something does. */
    int64_t wake_after_ms;
    struct release_states releases; /* every release, also those that only await removal */
    struct str_list targets;        /* ids of the targeted clusters, sorted */
    bool holds;          /* nothing is done: paused, refused, waiting for Stacks, targets unknown */
    struct str reason;   /* of holding, else of the worst release */
    struct str message;  /* root cause, for people */
    bool torn_down;      /* deleting, and nothing is left */
};

struct plan stack_plan(struct arena *arena, const struct stack *stack,
                       const struct observed *observed);

/* Status from the same values, so that plan and status cannot disagree. */
struct stack_status stack_status_of(struct arena *arena, const struct stack *stack,
                                    const struct observed *observed, const struct plan *plan);

#endif
