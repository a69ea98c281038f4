/* SPDX-License-Identifier: Apache-2.0 */
/* status.h: a Stack's status: read, written, compared. Computed by stack_status_of (plan.h). */
#ifndef HERD_STACK_STATUS_H
#define HERD_STACK_STATUS_H

#include "base/list.h"
#include "base/map.h"
#include "kube/condition.h"
#include "stack/model/stack.h"
#include "text/json_write.h"

enum stack_phase { PHASE_PENDING, PHASE_DEPLOYING, PHASE_DEPLOYED, PHASE_FAILED, PHASE_DELETING };
const char *stack_phase_name(enum stack_phase phase);
/* PENDING for any other word. */
enum stack_phase stack_phase_from(struct str name);

/* Where one release stands. Names are what deployments[].status says. */
enum deployment_state {
    DEPLOYMENT_UNKNOWN, /* its cluster was not read */
    DEPLOYMENT_PENDING, /* will start */
    DEPLOYMENT_WAITING, /* for something that is named in reason and message */
    DEPLOYMENT_DEPLOYING,
    DEPLOYMENT_DEPLOYED,
    DEPLOYMENT_NOT_READY, /* deployed, but a workload of it is not ready */
    DEPLOYMENT_FAILED,
    DEPLOYMENT_UNINSTALLING,
    DEPLOYMENT_REMOVED, /* never in a status: for the plan only */
};
const char *deployment_state_name(enum deployment_state state);
/* UNKNOWN for any other word. */
enum deployment_state deployment_state_from(struct str name);

/* Stands in the message of UNKNOWN between the trouble and what was known before. */
#define STATUS_LAST_KNOWN "; last known "

/* What security scans say of a release. Names are what deployments[].securityScan says. */
enum scan_verdict { SCAN_NONE, SCAN_PASSED, SCAN_FAILED, SCAN_SCANNING, SCAN_UNKNOWN };

/* How far the scans of a Stack are. Names are what security.scanStatus says. */
enum scan_progress {
    SCANS_NONE,
    SCANS_PENDING,
    SCANS_SCANNING,
    SCANS_COMPLETED,
    SCANS_FAILED,
    SCANS_UNKNOWN,
};

/* Counts are over all images of the Stack, each once; below 0 = not known. */
struct security_status {
    enum condition_status scanner_answers; /* on every target cluster that is read */
    enum scan_progress progress;
    int64_t vulnerabilities; /* critical, high and medium ones */
    int64_t critical;
    int64_t high;
    int64_t compliance_failures; /* -1 where nobody wants to know, too */
    int64_t scanned_images;
    int64_t total_images;
    int64_t last_scan_ms; /* wall, whole seconds: when the newest of them finished; 0 = none has */
};

/* One entry of deployments[]. What a restarted controller must know is here and nowhere else. */
struct release_state {
    struct str chart_name;
    struct str cluster_id;
    struct str namespace_;
    struct str release_name;
    enum deployment_state state;
    struct str reason; /* CamelCase */
    struct str message;
    struct str version;      /* wanted, exact once resolved */
    struct str digest;       /* of what was asked for last */
    uint32_t revision;       /* of the App when something was asked for last; 0 = there was none */
    int64_t last_updated_ms; /* wall, whole seconds: when state, reason or digest changed last */
    int64_t requested_ms;    /* wall: an action was about to be sent then and is not accounted for;
                              * 0 = none */
    struct str operation;    /* the last operation that was accounted for; a newer one is news */
    uint32_t attempts;       /* failures of this digest in a row */
    bool forgiven;           /* failures that count no more; it was not tried since */
    bool terminal;           /* it will not be tried again until the spec changes */
    enum deployment_state last_known; /* of UNKNOWN: before its cluster went out of sight */
    bool installed;   /* Helm deployed a revision of it once; of DEPLOYED it goes without saying */
    int64_t retry_ms; /* wall: when it is tried again; 0 = nothing is known of that */
    enum scan_verdict security_scan;
    struct str metrics;         /* Active, Inactive, Unknown; "" = nobody wants to know */
    struct str gpu_utilization; /* "75%"; "" = nothing reports it */
};
LIST_DEFINE(release_states, struct release_state)

/* What tells an entry from all others of a Stack; and entries by that, borrowed. */
struct str release_state_id(struct arena *arena, const struct release_state *release);
struct map *release_states_index(struct arena *arena, const struct release_states *releases);

/* Whether a later plan decides by the entry: it is always written, whatever else is left out. All
 * others are there for people, and a plan without them decides the same. */
bool release_is_remembered(const struct release_state *release);

/* A wave of the rollout; last, with the name "*", the targets that no wave has. */
struct wave_state {
    struct str name;
    struct str change; /* what its clusters are to run, as 8 hex digits; approvals name it */
    uint32_t clusters;
    uint32_t deployed;    /* of them all is as wanted, */
    uint32_t failed;      /* something failed with what is wanted now, */
    uint32_t unreachable; /* nothing can be done */
    int64_t completed_ms; /* wall: since when later waves need not wait for it; 0 = they do */
};
LIST_DEFINE(wave_states, struct wave_state)

/* Clusters that left the targets for a reason outside the spec: what they have is not removed
 * before that time. */
struct removal_delay {
    int64_t until_ms; /* wall */
    struct str_list clusters;
};
LIST_DEFINE(removal_delays, struct removal_delay)

/* What is to be removed and has no successor on its cluster. */
struct removal_state {
    uint32_t releases;
    uint32_t of;           /* that many releases the Stack has */
    int64_t first_seen_ms; /* wall; 0 = nothing is to be removed */
    uint64_t accounted;    /* sum over what has gone since then, see plan_removal.c */
    struct str token;      /* what confirms it; "" = it needs no confirmation */
    struct removal_delays delays;
};

/* What monitors the Stack. What nothing reported is UNKNOWN, -1 or "". */
struct observability_state {
    enum condition_status suse_enabled;
    enum condition_status metrics_collected;
    int64_t dashboards;
    int64_t alerts;
    struct str backend;
    enum condition_status traces_collected;
};

/* Its members in JSON: status_fields.def. */
struct stack_status {
    enum stack_phase phase;
    struct str message;
    int64_t observed_generation; /* 0: none yet */
    bool counted; /* the targets were known once; else what counts them is left out, not zero */
    uint32_t clusters;
    uint32_t charts;
    uint32_t ready;    /* releases Deployed */
    uint32_t releases; /* releases wanted */
    struct str_list target_clusters;
    /* Where something of the Stack is, or may be: sorted, each id once. Kept for all clusters, also
     * for those whose deployments the budget leaves out. */
    struct str_list held_clusters;
    /* Of the targets, in order: those where not all is as wanted; that the rollout let begin and
     * that are not done, with those that the Stack leaves; that count as failed; and those where
     * something failed for good. */
    struct str_list pending_clusters;
    struct str_list started_clusters;
    struct str_list failed_clusters;
    struct str_list lost_clusters;
    struct str change; /* what is being rolled out, as 8 hex digits */
    /* Hashes of those parts of the spec that the status is about; "" = not known. */
    /* Wall: since when some cluster keeps a place by waiting only; 0 = none does. */
    int64_t waiting_since_ms;
    struct str targets_hash;  /* spec.targets: clusters that leave by another one were meant to */
    struct str charts_hash;   /* what failures belong to: charts, overrides, retry, onFailure */
    int64_t started_ms;       /* wall: since when; 0 = it is done, or not traced */
    struct wave_states waves; /* empty if the rollout has none */
    struct removal_state removal;
    int64_t reason_since_ms;   /* wall: since when the reason of Ready is what it is */
    struct str handled_resume; /* values of these annotations that were handled last */
    struct str handled_retry;
    struct release_states deployments;    /* all of them; writing applies the budget */
    uint32_t deployments_omitted;         /* as read, */
    uint32_t omitted[DEPLOYMENT_REMOVED]; /* and their states, by the summary */
    struct observability_state observability;
    struct kube_conditions conditions;
    struct str last_applied_by;
    struct security_status security;
};

/* Before the worse: FAILED, NOT_READY, UNKNOWN, UNINSTALLING, WAITING, DEPLOYING, PENDING,
 * DEPLOYED. */
uint32_t deployment_state_rank(enum deployment_state state);

/* How many releases are in which state, listed or not. */
void stack_status_summary(const struct stack_status *status, uint32_t counts[DEPLOYMENT_REMOVED]);

/* What a Stack's definition gives to a status that nobody has written: so tools that wait for a
 * Stack to be ready (kstatus: observedGeneration is metadata.generation) wait for the
 * controller. */
#define STACK_STATUS_DEFAULT "{observedGeneration: -1}"

extern const struct field_table fields_of_stack_status;

/* Of a stored Stack; absent members read as zero, and so does the default of observedGeneration. */
struct stack_status stack_status_read(struct arena *arena, struct json status);
/* No controller has written it, or none that saw the Stack: it says nothing. */
static inline bool stack_status_is_blank(const struct stack_status *status)
{
    return status->observed_generation == 0;
}
/* The whole `status` object within LIMIT_STATUS_BYTES, deployments worst first; those that are
 * remembered are all there, without their messages if there is no room for these. Deterministic. */
struct str stack_status_write(struct arena *arena, const struct stack_status *status);
/* The same with at most so many of the entries that are not remembered. */
struct str stack_status_write_within(struct arena *arena, const struct stack_status *status,
                                     uint32_t shown_max);

#endif
