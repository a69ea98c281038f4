/* SPDX-License-Identifier: Apache-2.0 */
/* step.h: the life of one Helm operation, as a step function. Pure.
 *
 *     accepted -> waiting -> running -> release pending -> deployed | failed -> ended -> forgotten
 *
 * What an operation will do is fixed when it is accepted (struct task: never changed, stored before
 * the 201). Where it stands is read from what it left in the cluster (struct task_view: the
 * Operation, the helm pod, the release's revisions). So a kill at any moment loses nothing and
 * repeats nothing: the next step sees the same world. */
#ifndef HERD_LAB_RANCHER_STEP_H
#define HERD_LAB_RANCHER_STEP_H

#include "lab/rancher/faults.h"
#include "lab/rancher/release.h"

enum task_action { TASK_INSTALL, TASK_UPGRADE, TASK_UNINSTALL };

/* All times are wall ms. In an instant lab they are all the moment of the POST. */
struct task_times {
    int64_t accepted_ms;
    int64_t waiting_ms; /* the pod is there, its image is being pulled */
    int64_t running_ms; /* the helm container runs */
    int64_t work_ms;    /* Helm stores its first revision */
    int64_t ready_ms;   /* the workloads are ready */
    int64_t timeout_ms; /* absolute: Helm gives up */
    int64_t end_lag_ms; /* from the end of the release to the end of the Operation */
    int64_t expire_ms;  /* the impersonation role goes, and all of the operation with it */
};

/* How long the parts take in life, before scaling. */
struct task_pace {
    double scale;
    int64_t install_ms; /* of the chart */
    int64_t timeout_ms; /* of the request; 0 = Helm's own 5 min */
    uint64_t chance;    /* any number: spreads the times a little */
};

struct task_times task_times_of(int64_t now_ms, const struct task_pace *pace);

struct task {
    struct str cluster;
    struct str namespace_;
    struct str operation; /* its name */
    enum task_action action;
    struct str release;
    struct str repo;
    struct str chart;
    struct str version; /* as found in the index */
    struct str values;  /* JSON object */
    struct str annotations;
    struct str description;
    bool wait;
    bool reset_values;
    bool keep_history;
    bool take_ownership;
    int64_t history_max;
    int64_t at_revision; /* of an uninstall: the newest revision when it was accepted; 0 = none */
    enum fault_id fault;
    struct str tarball; /* of a real chart: in the operation's Secret, not in the record */
    bool instant;       /* no pod was made */
    struct str command; /* JSON array, as the Operation shows it */
    struct task_times times;
};

struct str task_action_name(enum task_action action);
/* The record, with or without values (which may be large). */
struct str task_encode(struct arena *arena, const struct task *task, bool with_values);
int task_decode(struct arena *arena, struct str text, struct task *ret_task, struct error *err);

enum task_stage { STAGE_ABSENT, STAGE_NEW, STAGE_WAITING, STAGE_RUNNING, STAGE_ENDED };

struct task_view {
    enum task_stage stage; /* of the Operation */
    bool pod_there;
    int64_t newest; /* revision; 0 = there is none */
    enum release_status newest_status;
    bool any_deployed;
    int64_t ours; /* the revision that this operation made; 0 = none yet */
    enum release_status ours_status;
    bool fits; /* the cluster has room for what the chart asks for */
};

enum task_effect {
    EFFECT_NONE, /* look again at next_ms */
    EFFECT_OPERATION_WAITING,
    EFFECT_OPERATION_RUNNING,
    EFFECT_OPERATION_DONE,
    EFFECT_OPERATION_FAILED, /* for `failure` */
    EFFECT_OPERATION_KILLED,
    EFFECT_RELEASE_PENDING,  /* make `revision` */
    EFFECT_RELEASE_DEPLOYED, /* make `revision`, or bring it there */
    EFFECT_RELEASE_FAILED,
    EFFECT_RELEASE_UNINSTALLING,
    EFFECT_RELEASE_REMOVED,
    EFFECT_RELEASE_UNINSTALLED,
    EFFECT_FORGET, /* Operation, pod and record go */
};

struct task_step {
    enum task_effect effect;
    int64_t revision;
    enum fault_id failure;
    int64_t next_ms;
};

struct task_step task_step(const struct task *task, const struct task_view *view, int64_t now_ms);

/* Helm's beginning of an error: "UPGRADE FAILED: ", "INSTALLATION FAILED: " or "". */
struct str task_error_verb(const struct task *task, bool first_install);

#endif
