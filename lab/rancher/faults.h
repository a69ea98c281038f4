/* SPDX-License-Identifier: Apache-2.0 */
/* faults.h: what goes wrong, where and how often. Pure: rules are read from text, matched, counted.
 *
 * A rule is "fault=<row> cluster=<id|*> release=<name|*> chart=<name|*> repo=<name|*> times=<n>
 * probability=<0..1> ms=<n>"; only `fault` must be there. */
#ifndef HERD_LAB_RANCHER_FAULTS_H
#define HERD_LAB_RANCHER_FAULTS_H

#include "base/list.h"
#include "base/error.h"
#include "base/rng.h"

enum fault_id {
    FAULT_NONE,
#define FAULT(id, name, stage, runs, release, end, exit_code, text, help) FAULT_##id,
#include "lab/rancher/faults.def"
#undef FAULT
    FAULT_ID_COUNT
};

enum fault_stage {
    FAULT_ON_REQUEST,
    FAULT_ON_TUNNEL,
    FAULT_ON_REPO,
    FAULT_ON_POST,
    FAULT_ON_TASK,
    FAULT_ON_NEUVECTOR,
    FAULT_ON_SUSE_OBSERVABILITY,
};
/* Runs of Helm, as bits. */
enum fault_runs {
    FAULT_RUN_INSTALL = 1,       /* `helm install` */
    FAULT_RUN_FIRST_UPGRADE = 2, /* `helm upgrade --install` where no release is */
    FAULT_RUN_UPGRADE = 4,       /* the same where one is */
    FAULT_RUN_UNINSTALL = 8,
    FAULT_RENDERING = FAULT_RUN_INSTALL | FAULT_RUN_FIRST_UPGRADE | FAULT_RUN_UPGRADE,
    FAULT_CHANGING = FAULT_RUN_UPGRADE,
    FAULT_INSTALLING = FAULT_RUN_INSTALL,
    FAULT_REMOVING = FAULT_RUN_UNINSTALL,
    FAULT_ALL = FAULT_RENDERING | FAULT_REMOVING,
};
enum fault_release { FAULT_BEFORE, FAULT_AFTER, FAULT_STUCK_PENDING };
enum fault_end { FAULT_STALLED, FAULT_NEVER, FAULT_KILLED };

struct fault_row {
    struct str name;
    enum fault_stage stage;
    enum fault_runs runs;
    enum fault_release release;
    enum fault_end end;
    int exit_code;
    struct str text;
    const char *help;
};

/* FAULT_NONE's row has empty texts. */
const struct fault_row *fault_row(enum fault_id id);
enum fault_id fault_from(struct str name); /* FAULT_NONE if it is none */

struct fault_rule {
    enum fault_id id;
    struct str key;                           /* where it was written: the ConfigMap's key */
    struct str cluster, release, chart, repo; /* "" or "*" = any */
    int64_t left;                             /* times; -1 = without end */
    double probability;
    int64_t ms;
    int64_t hits;
};

LIST_DEFINE(fault_rules, struct fault_rule)

/* -1 with what is wrong: unknown fault (with the nearest), unknown word, not a number. */
int fault_rule_read(struct str key, struct str text, struct fault_rule *ret_rule,
                    struct error *err);

/* What is about to happen. */
struct fault_place {
    struct str cluster, release, chart, repo;
    enum fault_runs run; /* 0: it is no run of Helm */
};

/* The first rule of `id` that this meets, counted; NULL if none. */
struct fault_rule *fault_meet(struct fault_rules *rules, enum fault_id id,
                              const struct fault_place *place, struct rng *rng);
/* The first rule of any row of `stage`. */
struct fault_rule *fault_meet_stage(struct fault_rules *rules, enum fault_stage stage,
                                    const struct fault_place *place, struct rng *rng);
/* Whether a rule of `id` stands, without counting: for states such as a lost tunnel. */
bool fault_stands(const struct fault_rules *rules, enum fault_id id, struct str cluster);

/* Put names for the {words} of a row's text. `pairs` are word, value, word, value ... */
struct str fault_text(struct arena *arena, struct str text, const struct str *pairs,
                      uint32_t pair_count);

#endif
