/* controller.h: one controller of a simulated world: caches that lag, memory that dies with it, and
 * the loop gather -> plan -> write the status -> act. Two of them share the world; one leads. */
#ifndef HERD_TESTS_SIM_CONTROLLER_H
#define HERD_TESTS_SIM_CONTROLLER_H

#include "world.h"

/* Bugs that are planted to see that they are caught (HERD_PLANT). */
enum plant {
    PLANT_NONE,
    PLANT_FORGET_INTENT,
    PLANT_IGNORE_DEPENDENCY,
    PLANT_RETRY_AT_ONCE,
    PLANT_ACT_FIRST,
    PLANT_TOUCH_FOREIGN,
    PLANT_DROP_FINALIZER,
    PLANT_IGNORE_ROOM,
    PLANT_NO_SETTLE,
    PLANT_ALWAYS_WRITE,
};
/* False if there is no plant of that name. */
bool plant_from(const char *name, enum plant *ret_plant);

enum { LOGS_MAX = 64, REFUSALS_MAX = 32 };

struct sim_controller {
    enum plant plant;
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
    } refusals[REFUSALS_MAX];
    uint32_t refusal_count;
};

/* Begin with nothing but what is stored. */
void controller_start(struct sim_controller *c, struct world *w);
void controller_end(struct sim_controller *c);
void controller_see(struct sim_controller *c, struct world *w);
/* One look, if there is a reason for one. */
void controller_step(struct sim_controller *c, struct world *w);

#endif
