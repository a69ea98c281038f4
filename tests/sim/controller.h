/* SPDX-License-Identifier: Apache-2.0 */
/* controller.h: one controller of a simulated world: caches that lag, memory that dies with it, and
 * the loop gather -> plan -> write the status -> act. Two of them share the world; one leads. */
#ifndef HERD_TESTS_SIM_CONTROLLER_H
#define HERD_TESTS_SIM_CONTROLLER_H

#include "world.h"

enum { LOGS_MAX = 64, REJECTIONS_MAX = 32 };

struct sim_controller {
    int64_t dead_until_ms;
    bool dirty;
    int64_t wake_ms;
    /* Caches: each a copy of the world as it was. */
    struct sim_object object;
    int64_t object_due_ms;
    uint64_t written_version; /* of its own last write: nothing older is acted on */
    struct sim_cluster clusters[CLUSTERS_MAX];
    bool read[CLUSTERS_MAX];
    int64_t cluster_due_ms[CLUSTERS_MAX];
    /* Memory. */
    int64_t version_due_ms[CLUSTERS_MAX][CHARTS_MAX]; /* 0 = not asked for */
    struct {
        char name[24];
        enum action_kind kind;
        int64_t due_ms;
    } logs[LOGS_MAX];
    uint32_t log_count;
    struct {
        uint32_t cluster, chart;
        bool transient;
    } rejections[REJECTIONS_MAX];
    uint32_t rejection_count;
    int64_t busy_until_ms[CLUSTERS_MAX]; /* no request is sent there before */
    int64_t access_due_ms[CLUSTERS_MAX];   /* when it is answered whether the author may deploy; 0 */
    int64_t access_until_ms[CLUSTERS_MAX]; /* how long the last answer counts */
};

/* Begin with nothing but what is stored. */
void controller_start(struct sim_controller *c, struct world *w);
void controller_end(struct sim_controller *c);
void controller_see(struct sim_controller *c, struct world *w);
/* One look, if there is a reason for one. */
void controller_step(struct sim_controller *c, struct world *w);

#endif
