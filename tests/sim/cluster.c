/* SPDX-License-Identifier: Apache-2.0 */
/* cluster.c: Rancher's and Helm's side of each cluster: requests land and become operations, these
 * move releases, and strangers do as they like. */
#include "world.h"

#include "invariants.h"

#include <stdio.h>
#include <stdlib.h>

static void begin_operation(struct world *w, const struct sim_landing *l)
{
    struct sim_cluster *c = &w->clusters[l->cluster];
    struct sim_operation op = { .exists = true,
                                .chart = l->chart,
                                .uninstall = l->kind == ACTION_UNINSTALL,
                                .by_hand = l->by_hand,
                                .state = OPERATION_RUNNING,
                                .created_ms = w->now_ms };

    (void)snprintf(op.name, sizeof(op.name), "helm-op-%05llu",
                   (unsigned long long)w->operations_made++);
    (void)snprintf(op.digest, sizeof(op.digest), "%s", l->digest);
    op.begins_ms = w->now_ms + 1000 + (int64_t)rng_below(&w->rng, 4000);
    op.ends_ms = op.begins_ms + 1000 + (int64_t)rng_below(&w->rng, 20000);
    if (world_fault(w, FAULT_op_slow))
        op.ends_ms += 240000;
    if (world_fault(w, FAULT_op_fails))
        op.outcome = OUTCOME_FAILS;
    else if (world_fault(w, FAULT_op_fails_early))
        op.outcome = OUTCOME_FAILS_EARLY;
    else if (world_fault(w, FAULT_op_killed))
        op.outcome = OUTCOME_KILLED;
    else if (world_fault(w, FAULT_op_killed_early))
        op.outcome = OUTCOME_KILLED_EARLY;
    world_trace(w, "%s%s of c%u on k%u becomes %s", l->by_hand ? "a stranger's " : "",
                action_name(l->kind), l->chart, l->cluster, op.name);
    for (uint32_t i = 0; i < OPERATIONS_MAX; i++)
        if (!c->operations[i].exists) {
            c->operations[i] = op;
            return;
        }
    abort(); /* Rancher removes operations after an hour */
}

static void remove_lock(struct world *w, const struct sim_landing *l)
{
    struct sim_app *app = &w->clusters[l->cluster].apps[l->chart];

    /* By name of the Secret, so only if it still is that revision. */
    if (app->revision != l->revision || app->phase != RELEASE_PENDING)
        return;
    app->revision = app->old_revision;
    app->phase = app->old_phase;
    app->foreign = app->old_foreign;
    app->by_hand = app->old_by_hand;
    memcpy(app->digest, app->old_digest, sizeof(app->digest));
    world_trace(w, "c%u on k%u is back at revision %u", l->chart, l->cluster, app->revision);
}

static void mark(struct world *w, const struct sim_landing *l)
{
    struct sim_app *app = &w->clusters[l->cluster].apps[l->chart];

    if (!app->exists || app->uid != l->uid)
        return;
    app->marked = true;
    memcpy(app->mark, l->digest, sizeof(app->mark));
    app->marked_revision = l->revision;
    app->corrections = l->corrections;
    app->marked_ms = w->now_ms;
}

void cluster_land(struct world *w, const struct sim_landing *l)
{
    struct sim_cluster *c = &w->clusters[l->cluster];
    const struct sim_app *app = &c->apps[l->chart];
    bool removes = l->kind == ACTION_UNINSTALL || l->kind == ACTION_REMOVE_LOCK;

    /* What takes something away looks first. */
    if (removes && (!app->exists || app->uid != l->uid))
        return;
    check_landing(w, l);
    c->changes++;
    switch (l->kind) {
    case ACTION_ENSURE_REPO:
        if (!c->repo)
            c->repo_ready_ms = w->now_ms + (world_fault(w, FAULT_repo_slow) ? 60000 : 2000);
        c->repo = true;
        break;
    case ACTION_REMOVE_LOCK:
        remove_lock(w, l);
        break;
    case ACTION_MARK:
        mark(w, l);
        break;
    case ACTION_UNINSTALL:
    case ACTION_UPGRADE:
        begin_operation(w, l);
        break;
    case ACTION_ADD_FINALIZER:
    case ACTION_REMOVE_FINALIZER:
    case ACTION_RESOLVE_VERSION:
    case ACTION_READ_LOG:
    case ACTION_READ_PODS:
    case ACTION_READ_HEALTH:
    case ACTION_REFRESH_REPO:
    case ACTION_REMOVE_REPO:
    case ACTION_KIND_COUNT:
        abort();
    }
}

/* A new revision, on its way. */
static void revise(struct world *w, struct sim_app *app, bool by_hand, const char *digest)
{
    bool first = !app->exists;

    app->old_revision = first ? 0 : app->revision;
    app->old_phase = app->phase;
    app->old_foreign = app->foreign;
    app->old_by_hand = app->by_hand;
    memcpy(app->old_digest, app->digest, sizeof(app->digest));
    app->uid = first ? ++w->installs : app->uid;
    app->revision = first ? 1 : app->revision + 1;
    app->exists = true;
    app->phase = RELEASE_PENDING;
    app->began_ms = w->now_ms;
    app->foreign = by_hand && (first || app->foreign);
    app->by_hand = by_hand;
    (void)snprintf(app->digest, sizeof(app->digest), "%s", digest);
    if (by_hand)
        app->touched_ms = w->now_ms;
}

static void remove_app(struct sim_app *app)
{
    *app = (struct sim_app){ .touched_ms = app->touched_ms };
}

static void begin(struct world *w, struct sim_app *app, struct sim_operation *op)
{
    op->begun = true;
    if (!op->uninstall && (app->phase == RELEASE_PENDING || app->phase == RELEASE_UNINSTALLING)) {
        op->locked_out = true; /* "another operation is in progress" */
        return;
    }
    /* A stranger upgrades without --install, and what is marked. */
    if ((!app->exists && op->uninstall) || (op->by_hand && !app->marked))
        op->outcome = OUTCOME_FAILS_EARLY;
    if (op->outcome == OUTCOME_FAILS_EARLY || op->outcome == OUTCOME_KILLED_EARLY)
        return;
    if (op->uninstall)
        app->phase = RELEASE_UNINSTALLING;
    else
        revise(w, app, op->by_hand, op->digest);
}

/* Strangers. They upgrade what is marked, or what an operation has just made: of a release that they
 * change in the moment between its deployment and its mark, on a cluster that goes away just then,
 * only the status says that it was ours, which is no proof. */

static void upgrade_by_hand(struct world *w, uint32_t cluster, uint32_t chart, bool at_once)
{
    struct sim_app *app = &w->clusters[cluster].apps[chart];

    bool made_anew = app->revision == 1 && app->touched_ms &&
                     w->now_ms < app->touched_ms + 60000;

    if (!app->exists || app->foreign || app->phase != RELEASE_DEPLOYED || made_anew ||
        !(app->marked || at_once))
        return;
    if (!at_once && rng_below(&w->rng, 2) == 0) {
        begin_operation(w, &(struct sim_landing){ .kind = ACTION_UPGRADE, .cluster = cluster,
                                                  .chart = chart, .by_hand = true });
        return;
    }
    revise(w, app, true, "");
    app->phase = RELEASE_DEPLOYED;
    world_trace(w, "a stranger makes revision %u of c%u on k%u", app->revision, chart, cluster);
}

/* Helm on somebody's own machine: the release is pending meanwhile, and nobody sees an Operation. */
static void run_helm_by_hand(struct world *w, uint32_t cluster, uint32_t chart)
{
    struct sim_app *app = &w->clusters[cluster].apps[chart];

    if (!app->exists || app->foreign || app->phase != RELEASE_DEPLOYED || !app->marked)
        return;
    revise(w, app, true, "");
    app->helm_ends_ms = w->now_ms + 60000 + (int64_t)rng_below(&w->rng, 20 * 60000);
    app->helm_fails = rng_below(&w->rng, 2) == 0;
    world_trace(w, "a stranger's Helm makes revision %u of c%u on k%u", app->revision, chart, cluster);
}

static void end_helm(struct world *w, uint32_t cluster, uint32_t chart)
{
    struct sim_app *app = &w->clusters[cluster].apps[chart];

    if (!app->helm_ends_ms || w->now_ms < app->helm_ends_ms)
        return;
    app->helm_ends_ms = 0;
    app->phase = app->helm_fails ? RELEASE_FAILED : RELEASE_DEPLOYED;
    app->touched_ms = w->now_ms;
    w->clusters[cluster].changes++;
    world_trace(w, "a stranger's Helm ends with c%u on k%u", chart, cluster);
}

static void delete_by_hand(struct world *w, uint32_t cluster, uint32_t chart)
{
    struct sim_app *app = &w->clusters[cluster].apps[chart];

    if (!app->exists || app->phase == RELEASE_PENDING || app->phase == RELEASE_UNINSTALLING)
        return;
    remove_app(app);
    app->touched_ms = w->now_ms;
    world_trace(w, "a stranger uninstalls c%u on k%u", chart, cluster);
}

/* In the place of the last chart, which nothing waits for. */
static void install_by_hand(struct world *w, uint32_t cluster)
{
    uint32_t chart = w->chart_count - 1;
    struct sim_app *app = &w->clusters[cluster].apps[chart];

    if (app->exists)
        return;
    revise(w, app, true, "");
    app->phase = RELEASE_DEPLOYED;
    world_trace(w, "a stranger installs c%u on k%u", chart, cluster);
}

static void end(struct world *w, uint32_t cluster, struct sim_app *app, struct sim_operation *op)
{
    bool fails = op->locked_out || op->outcome == OUTCOME_FAILS ||
                 op->outcome == OUTCOME_FAILS_EARLY;

    op->ended = true;
    op->state = fails ? OPERATION_FAILED : OPERATION_SUCCEEDED;
    world_trace(w, "%s of c%u on k%u ends: %s", op->name, op->chart, cluster,
                fails ? "failed" : op->outcome == OUTCOME_SUCCEEDS ? "succeeded" : "killed");
    if (fails && !op->uninstall && !op->by_hand) {
        w->failed_ms[cluster][op->chart] = w->now_ms;
        w->failed_generation[cluster][op->chart] = w->object.generation;
        memcpy(w->failed_digest[cluster][op->chart], op->digest, sizeof(op->digest));
    }
    if (op->locked_out || (op->outcome != OUTCOME_SUCCEEDS && op->outcome != OUTCOME_FAILS))
        return;
    if (op->uninstall && !fails)
        remove_app(app);
    else
        app->phase = fails ? RELEASE_FAILED : RELEASE_DEPLOYED;
    if (!op->uninstall && !op->by_hand && !fails)
        memcpy(app->deployed, op->digest, sizeof(op->digest));
    if (!op->uninstall && !op->by_hand && !fails && world_fault(w, FAULT_hand_overtakes))
        upgrade_by_hand(w, cluster, op->chart, true);
}

static void meddle(struct world *w, uint32_t cluster)
{
    uint32_t chart = (uint32_t)rng_below(&w->rng, w->chart_count);
    struct sim_cluster *c = &w->clusters[cluster];

    bool upgrades = world_fault(w, FAULT_hand_upgrades);
    bool runs_helm = world_fault(w, FAULT_hand_runs_helm);
    bool deletes = world_fault(w, FAULT_hand_deletes);
    bool installs = world_fault(w, FAULT_hand_installs);

    if (upgrades)
        upgrade_by_hand(w, cluster, chart, false);
    if (runs_helm)
        run_helm_by_hand(w, cluster, chart);
    if (deletes)
        delete_by_hand(w, cluster, chart);
    if (installs)
        install_by_hand(w, cluster);
    c->changes += upgrades || runs_helm || deletes || installs;
}

static void move_operations(struct world *w, uint32_t cluster)
{
    struct sim_cluster *c = &w->clusters[cluster];

    for (uint32_t i = 0; i < OPERATIONS_MAX; i++) {
        struct sim_operation *op = &c->operations[i];

        if (!op->exists)
            continue;
        if (!op->begun && w->now_ms >= op->begins_ms) {
            begin(w, &c->apps[op->chart], op);
            c->changes++;
        }
        if (op->begun && !op->ended && w->now_ms >= op->ends_ms) {
            end(w, cluster, &c->apps[op->chart], op);
            c->changes++;
        }
        if (op->ended && w->now_ms >= op->created_ms + 3600000) {
            op->exists = false;
            c->changes++;
        }
    }
}

void cluster_move(struct world *w, uint32_t cluster)
{
    struct sim_cluster *c = &w->clusters[cluster];

    if (c->connected && world_fault(w, FAULT_cluster_away)) {
        c->connected = false;
        c->back_ms = w->now_ms + 5000 + (int64_t)rng_below(&w->rng, 60000);
        c->changes++;
    }
    if (!c->connected && w->now_ms >= c->back_ms) {
        c->connected = true;
        c->changes++;
        world_trace(w, "k%u is back", cluster);
    }
    if (c->repo && w->now_ms >= c->repo_ready_ms && w->now_ms < c->repo_ready_ms + TICK_MS)
        c->changes++;
    meddle(w, cluster);
    for (uint32_t i = 0; i < w->chart_count; i++)
        end_helm(w, cluster, i);
    move_operations(w, cluster);
}
