/* SPDX-License-Identifier: Apache-2.0 */
/* workload_status.h: how a workload fares, summed up from its children. Pure. */
#ifndef HERD_WORKLOAD_STATUS_H
#define HERD_WORKLOAD_STATUS_H

#include "workload/workload.h"

enum workload_phase {
    WORKLOAD_PENDING,     /* nothing was made of it yet */
    WORKLOAD_CREATING,    /* its pods were never all ready */
    WORKLOAD_RUNNING,     /* all are ready, as wanted */
    WORKLOAD_UPDATING,    /* they were, and something changes */
    WORKLOAD_SUCCEEDED,   /* a Job that is complete */
    WORKLOAD_FAILED,      /* nothing changes any more, and it is not as wanted */
    WORKLOAD_TERMINATING, /* it is being deleted */
    WORKLOAD_PHASES
};

struct workload_status {
    enum workload_phase phase;
    int64_t replicas, ready; /* pods there are, and how many of them are ready */
    struct str reason;       /* of the condition Ready */
    struct str message;      /* why it is in that phase; "" = all is well */
};

/* What a kind calls the phases: a word for each enum workload_phase. */
struct workload_phases {
    struct str words[WORKLOAD_PHASES];
};
/* phase, replicas, readyReplicas and selector (of the pods) as members of the object open in `w`,
 * and the conditions Ready and Progressing. */
struct workload_status workload_summarize(struct arena *arena, const struct kind_observation *seen,
                                          const struct workload *workload,
                                          const struct workload_phases *phases,
                                          struct json_writer *w,
                                          struct kube_conditions *conditions);

#endif
