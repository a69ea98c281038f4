/* SPDX-License-Identifier: Apache-2.0 */
/* fleet.h: a Stack on a few clusters with Helm on them, for property tests: its spec is edited, what
 * plans ask for is applied late, in vain or never, clusters go out of sight, people run Helm by
 * hand. The truth of a cluster is kept here; a plan sees it while the cluster is connected.
 *
 *     fleet_make(&f, arena, seed);
 *     f.storms = true;  fleet_edit(&f, EDIT_RENAME);  fleet_change(&f, true);
 *     fleet_move(&f);  fleet_plan(&f);  look at f.scene.plan;  fleet_send(&f);  and so on */
#ifndef HERD_TESTS_SUPPORT_FLEET_H
#define HERD_TESTS_SUPPORT_FLEET_H

#include "base/rng.h"
#include "support/observed_builder.h"

enum { FLEET_CLUSTERS = 6, FLEET_CHARTS = 6, FLEET_WAVES = 2, FLEET_NONE = 99 };
/* spec.rollout.removalDelay of every fleet; maxRemovals is the default, half of the releases. */
enum { FLEET_REMOVAL_DELAY_MS = 60000 };

enum fleet_edit {
    EDIT_VERSION, /* a new version of a chart: a good one, */
    EDIT_BAD,     /* one that always fails, */
    EDIT_FLAKY,   /* or fails at first */
    EDIT_VALUES,  /* of an override */
    EDIT_SKIP,    /* by an override, by ids or labels; or no more */
    EDIT_RENAME,
    EDIT_MOVE,
    EDIT_REPLACE,
    EDIT_REMOVE,
    EDIT_ADD,
    EDIT_LABELS,  /* a cluster joins or leaves the targets by its labels: no change of the spec */
    EDIT_TARGETS, /* the same by the spec */
    EDIT_WAVES,
    EDIT_BOUNDS,  /* maxConcurrentClusters, maxFailures, maxUnavailable */
    EDIT_PAUSED,
    EDIT_ON_FAILURE,
    EDIT_COUNT
};
const char *fleet_edit_name(enum fleet_edit edit);

struct fleet_chart {
    bool there;
    uint32_t replaced, renamed, moved; /* how often */
    uint32_t version;
    const char *quality; /* "", "-bad" or "-flaky", behind the version */
    uint32_t need;       /* a chart before it; FLEET_NONE */
};

struct fleet_spec {
    struct fleet_chart charts[FLEET_CHARTS];
    uint32_t waves, concurrent, pause_ms, unavailable;
    int64_t failures_max;
    bool manual[FLEET_WAVES];
    uint32_t wave_of[FLEET_CLUSTERS];
    uint32_t values;       /* of chart 0 on the first three clusters */
    uint32_t skip_chart;   /* FLEET_NONE */
    bool skip_by_labels;
    bool skip_on[FLEET_CLUSTERS];
    bool paused, stops, corrects;
};

/* What chart `i` of the spec is on a cluster. */
struct fleet_wanted {
    bool wanted;
    struct str digest;
};

/* Why nothing may be installed or upgraded on a cluster. */
enum fleet_block { BLOCK_NONE, BLOCK_DENIED, BLOCK_ACCESS_EXPIRED, BLOCK_OTHER_STACK };

struct fleet_cluster {
    bool connected, targeted;
    enum fleet_block block;
    bool robbed; /* somebody took a release away */
    bool local;
    struct observed_releases releases;
    struct observed_operations operations;
    struct fleet_wanted wanted[FLEET_CHARTS];
};

/* A Helm operation on its way. */
struct fleet_work {
    uint32_t cluster;
    bool uninstall;
    enum { WORK_SENT, WORK_RUNS, WORK_ENDED_WELL } stage;
    int64_t sent_ms;
    struct observed_release makes;
    struct str operation;
};
LIST_DEFINE(fleet_works, struct fleet_work)

struct fleet {
    struct rng rng;
    struct scene scene;
    struct fleet_spec spec;
    struct fleet_cluster clusters[FLEET_CLUSTERS];
    uint32_t seen[FLEET_CLUSTERS]; /* index in observed.clusters -> cluster */
    struct fleet_works works;
    bool storms; /* operations fail, requests are lost, clusters go out of sight */
    /* What else happens in storms, by draws of its own: access is lost or not known for a moment,
     * another Stack that this one depends on is changed, workloads fail. */
    struct rng more;
    bool blocks, sickens;
    bool flaked[FLEET_CLUSTERS]; /* failed once already */
    uint32_t operations, apps;
};

void fleet_make(struct fleet *f, struct arena *arena, uint64_t seed);
bool fleet_chance(struct fleet *f, uint32_t per_cent);
/* Another spec or other labels; these count from fleet_change on, which says whether some of it is of
 * the spec. Whether it did anything. */
bool fleet_edit(struct fleet *f, enum fleet_edit edit);
void fleet_change(struct fleet *f, bool of_spec);
/* Some seconds pass. */
void fleet_move(struct fleet *f);
void fleet_plan(struct fleet *f);
void fleet_send(struct fleet *f);
/* An annotation of the Stack. */
void fleet_annotate(struct fleet *f, const char *name, struct str value);

/* Releases of the Stack that are there. */
struct observed_release *fleet_app(const struct fleet *f, uint32_t k, struct str namespace_,
                                   struct str name);
struct str fleet_release_name(const struct fleet *f, uint32_t chart);
struct str fleet_namespace(const struct fleet *f, uint32_t chart);
struct str fleet_chart_name(const struct fleet *f, uint32_t chart);
bool fleet_owns(const struct observed_release *app);
/* Whether chart `i` stands on the cluster as it is wanted. */
bool fleet_is_deployed(const struct fleet *f, uint32_t k, uint32_t chart);
/* Whether a release of the Stack is wanted where it is. */
bool fleet_is_wanted(const struct fleet *f, uint32_t k, const struct observed_release *app);
/* All that is wanted is deployed, all else of the Stack is gone. */
bool fleet_is_done(const struct fleet *f, uint32_t k);

#endif
