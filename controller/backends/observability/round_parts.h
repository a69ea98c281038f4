/* SPDX-License-Identifier: Apache-2.0 */
/* round_parts.h: a round, and the questions of which it consists. Internal to round*.c. */
#ifndef HERD_CONTROLLER_BACKENDS_OBSERVABILITY_ROUND_PARTS_H
#define HERD_CONTROLLER_BACKENDS_OBSERVABILITY_ROUND_PARTS_H

#include "controller/backends/observability/round.h"

struct round {
    struct rounds *rounds;
    struct round *next, *previous;
    struct round_options options;
    bool abandoned;
    const struct question *at;
    struct arena *arena; /* of what is asked and answered */
    struct str_list namespaces;
    struct sample_index samples;
    bool has_samples;
    struct monitors *monitors;           /* NULL: not looked for */
    bool monitors_listed[MONITOR_KINDS]; /* else nothing is decided of them */
    struct traces *traces;               /* NULL: not looked for */
    struct upkeep upkeep;
    struct upkeep_changes changes;
    uint32_t changed; /* of them, so many were sent and answered */
    struct known *known;
};

enum question_kind {
    QUESTION_BACKEND, /* what there is; 404: the cluster does not know the kind */
    QUESTION_SERVICE, /* Prometheus answers, else the cluster's API */
    QUESTION_OBJECTS, /* of Herd's own */
    QUESTION_MONITORS,
    QUESTION_WATCH,  /* whether they are still there; unanswered, they are */
    QUESTION_TRACES, /* and what takes them */
    QUESTION_JAEGER,
    QUESTION_PODS, /* and Services, until nothing is left to read */
};

struct question {
    bool (*is_due)(const struct round *round);
    struct str (*path)(struct round *round);
    int (*read)(struct round *round, int status, struct str body, struct error *err);
    enum question_kind kind;
    void (*skip)(struct round *round); /* of one that is asked for as long as it is due */
};

/* In this order. */
extern const struct question round_questions[];
extern const struct question *const round_questions_end;
/* Whether it is known what Stacks want of the Prometheus that there is. */
bool round_keeps_up(const struct round *round);
/* Whether all monitors were listed. */
bool round_has_monitors(const struct round *round);

#endif
