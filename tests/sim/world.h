/* SPDX-License-Identifier: Apache-2.0 */
/* world.h: a simulated world under one seed: a Stack in a store, and clusters under Rancher, where
 * strangers change things by hand, too.
 *
 * Nothing here knows of plans. Rancher is the state machine of docs/protocols/rancher.md 11.2, small: a
 * request lands and makes an operation; that moves the release to pending and then to what its
 * outcome is; an uninstall takes the release away. What lands and what happens is checked by
 * invariants.h at once. */
#ifndef HERD_TESTS_SIM_WORLD_H
#define HERD_TESTS_SIM_WORLD_H

#include "base/rng.h"
#include "stack/plan/plan.h"

enum { CHARTS_MAX = 5, CLUSTERS_MAX = 3, OPERATIONS_MAX = 64, LANDINGS_MAX = 64 };
#define WORLD_BEGAN_MS 1700000000000LL
enum { TICK_MS = 250, SETTLE_MS = 30000, ROOM = 2, LATE_MS = 8000 };

enum fault {
#define FAULT(name, per_mille, sentence) FAULT_##name,
#include "faults.def"
#undef FAULT
    FAULT_COUNT
};

struct sim_app {
    bool exists;
    enum release_phase phase;
    uint32_t revision;
    char digest[80];
    uint32_t uid;        /* another one each time that it is installed */
    bool foreign;        /* no revision of it is ours */
    bool by_hand;        /* its newest one is a stranger's */
    char deployed[80];   /* digest of the last one of ours that was deployed */
    bool marked;         /* its App says whose it is, */
    char mark[80];       /* and what was deployed, */
    uint32_t marked_revision, corrections; /* as which revision, corrected how often, */
    int64_t marked_ms;   /* and when */
    int64_t touched_ms;  /* by a stranger; outlives the release */
    int64_t began_ms;    /* when its newest revision was begun */
    int64_t helm_ends_ms; /* when Helm that a stranger runs ends; 0 = none runs */
    bool helm_fails;
    /* The revision before, for when the newest one is taken away. */
    uint32_t old_revision;
    enum release_phase old_phase;
    char old_digest[80];
    bool old_foreign, old_by_hand;
};

enum sim_outcome {
    OUTCOME_SUCCEEDS,
    OUTCOME_FAILS,
    OUTCOME_FAILS_EARLY,
    OUTCOME_KILLED,
    OUTCOME_KILLED_EARLY,
};

struct sim_operation {
    bool exists;
    char name[24];
    uint32_t chart;
    bool uninstall;
    bool by_hand; /* a stranger asked for it */
    enum operation_state state;
    enum sim_outcome outcome;
    char digest[80];
    int64_t created_ms, begins_ms, ends_ms;
    bool begun, ended, locked_out;
};

struct sim_cluster {
    bool connected;
    int64_t back_ms; /* when it connects again */
    bool repo;
    int64_t repo_ready_ms;
    struct sim_app apps[CHARTS_MAX];
    struct sim_operation operations[OPERATIONS_MAX];
    uint64_t changes; /* counts up with each change: what a watch would tell */
};

/* The Stack as the API server has it. */
struct sim_object {
    bool exists, deleting, finalizer;
    int64_t generation;
    uint64_t resource_version;
    uint32_t variant; /* of the values */
    char *status;     /* owned; at first what the definition says */
};

/* A request on its way. */
struct sim_landing {
    bool pending;
    int64_t at_ms;
    enum action_kind kind;
    uint32_t cluster, chart;
    char digest[80];
    uint32_t revision, uid; /* of the release as it was seen */
    bool by_hand;
    uint32_t corrections;
};

struct world {
    uint64_t seed;
    struct rng rng;
    int64_t now_ms;
    bool faults_on, trace;
    uint64_t fired[FAULT_COUNT];
    char charts[128]; /* "c0 c1<c0 c2<c0,c1" */
    uint32_t chart_count, cluster_count;
    bool needs[CHARTS_MAX][CHARTS_MAX];
    struct sim_object object;
    struct sim_cluster clusters[CLUSTERS_MAX];
    struct sim_landing landings[LANDINGS_MAX];
    const char *drift; /* spec.drift */
    uint32_t installs; /* made so far */
    uint64_t operations_made, status_writes, requests;
    /* For the invariants. */
    int64_t failed_ms[CLUSTERS_MAX][CHARTS_MAX];
    char failed_digest[CLUSTERS_MAX][CHARTS_MAX][80];
    int64_t failed_generation[CLUSTERS_MAX][CHARTS_MAX];
    int64_t observed_generation;
    const char *broken; /* what does not hold; NULL = all holds */
    char where[256];
};

void world_begin(struct world *w, uint64_t seed, bool trace);
void world_end(struct world *w);
/* One tick: landings, operations, clusters that come and go, strangers, the user. */
void world_tick(struct world *w);
bool world_fault(struct world *w, enum fault fault);
const char *fault_name(enum fault fault);
__attribute__((format(printf, 2, 3))) void world_trace(struct world *w, const char *format, ...);
/* Send a request: it lands after `delay_ms`. */
void world_send(struct world *w, const struct sim_landing *landing, int64_t delay_ms);
/* Whether a request or an operation of a release is under way, or any. */
bool world_is_moving(const struct world *w);
uint32_t world_chart(struct str name);   /* "c3" -> 3 */
uint32_t world_cluster(struct str name); /* "k1" -> 1 */
/* The Stack of a variant, and the digest that a chart of it is to have. */
const struct stack *world_stack(const struct world *w, struct arena *arena,
                                const struct sim_object *object);
struct str world_digest(const struct world *w, struct arena *arena, uint32_t variant,
                        uint32_t chart);
void world_delete(struct world *w);
/* A write of the object by resourceVersion; false on a conflict. NULL leaves the status. */
bool world_write(struct world *w, uint64_t resource_version, const char *status, int finalizer);
bool world_is_settled(const struct world *w);
/* Whether a stranger's release stands where one of ours is wanted. */
bool world_has_foreign(const struct world *w);

/* cluster.c */
/* A request arrives at its cluster. */
void cluster_land(struct world *w, const struct sim_landing *landing);
/* What happens there by itself, in one tick. */
void cluster_move(struct world *w, uint32_t cluster);

#endif
