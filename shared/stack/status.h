/* status.h: a Stack's status: read, written, compared. Computed by stack_status_of (plan.h). */
#ifndef HERD_STACK_STATUS_H
#define HERD_STACK_STATUS_H

#include "base/list.h"
#include "kube/condition.h"
#include "stack/stack.h"
#include "text/json_write.h"

enum stack_phase { PHASE_PENDING, PHASE_DEPLOYING, PHASE_DEPLOYED, PHASE_FAILED, PHASE_DELETING };
const char *stack_phase_name(enum stack_phase phase);
/* PENDING for any other word. */
enum stack_phase stack_phase_from(struct str name);

/* Where one release stands. Names are what deployments[].status says. */
enum deployment_state {
    DEPLOYMENT_UNKNOWN,      /* its cluster was not read */
    DEPLOYMENT_PENDING,      /* will start */
    DEPLOYMENT_WAITING,      /* for something that is named in reason and message */
    DEPLOYMENT_DEPLOYING,
    DEPLOYMENT_DEPLOYED,
    DEPLOYMENT_FAILED,
    DEPLOYMENT_UNINSTALLING,
    DEPLOYMENT_REMOVED,      /* never in a status: for the plan only */
};
const char *deployment_state_name(enum deployment_state state);
/* UNKNOWN for any other word. */
enum deployment_state deployment_state_from(struct str name);

/* One entry of deployments[]. What a restarted controller must know is here and nowhere else. */
struct release_state {
    struct str chart_name;
    struct str cluster_id;
    struct str namespace_;
    struct str release_name;
    enum deployment_state state;
    struct str reason;    /* CamelCase */
    struct str message;
    struct str version;   /* wanted, exact once resolved */
    struct str digest;    /* of what was asked for last */
    uint32_t revision;    /* of the App when something was asked for last; 0 = there was none */
    int64_t last_updated_ms; /* wall, whole seconds: when state, reason or digest changed last */
    int64_t requested_ms; /* wall: an action was about to be sent then and is not accounted for;
                           * 0 = none */
    struct str operation; /* the last operation that was accounted for; a newer one is news */
    uint32_t attempts;    /* failures of this digest in a row */
    bool terminal;        /* it will not be tried again until the spec changes */
    /* Of UNKNOWN: before its cluster went out of sight. Of others DEPLOYED, or UNKNOWN for nothing:
     * `digest` was deployed as `revision`, and nothing was asked for since. */
    enum deployment_state last_known;
    bool installed; /* Helm deployed a revision of it once; of DEPLOYED it goes without saying */
    struct str rollout; /* not deployed yet: what was wanted on its cluster when that was started;
                         * "" = the rollout has not let it start */
};
LIST_DEFINE(release_states, struct release_state)

struct stack_status {
    enum stack_phase phase;
    struct str message;
    int64_t observed_generation;
    bool counted; /* the targets were known once; else what counts them is left out, not zero */
    uint32_t clusters;
    uint32_t charts;
    uint32_t ready;          /* releases Deployed */
    uint32_t releases;       /* releases wanted */
    struct str_list target_clusters;
    /* Where something of the Stack is, or may be: sorted, each id once. Kept for all clusters, also
     * for those whose deployments the budget leaves out. */
    struct str_list held_clusters;
    struct release_states deployments; /* all of them; writing applies the budget */
    uint32_t deployments_omitted;      /* as read, */
    uint32_t omitted[DEPLOYMENT_REMOVED]; /* and their states, by the summary */
    struct kube_conditions conditions;
    struct str last_applied_by;
};

/* Before the worse: FAILED, UNKNOWN, UNINSTALLING, WAITING, DEPLOYING, PENDING, DEPLOYED. */
uint32_t deployment_state_rank(enum deployment_state state);

/* How many releases are in which state, listed or not. */
void stack_status_summary(const struct stack_status *status, uint32_t counts[DEPLOYMENT_REMOVED]);

/* Of a stored Stack; absent members read as zero. */
struct stack_status stack_status_read(struct arena *arena, struct json status);
/* The whole `status` object within LIMIT_STATUS_BYTES, deployments worst first. What has a request
 * under way or failures to count is left out last: a restarted controller must know it.
 * Deterministic. */
struct str stack_status_write(struct arena *arena, const struct stack_status *status);

#endif
