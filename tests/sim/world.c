/* world.c: the store, the clock, the user, and Rancher's side of each cluster. */
#include "world.h"

#include "invariants.h"
#include "support/observed_builder.h"

#include <stdio.h>
#include <stdlib.h>

static const struct {
    const char *name;
    uint32_t per_mille;
} faults[] = {
#define FAULT(name, per_mille, sentence) { #name, per_mille },
#include "faults.def"
#undef FAULT
};

const char *fault_name(enum fault fault)
{
    return faults[fault].name;
}

bool world_fault(struct world *w, enum fault fault)
{
    /* Drawn also while faults are off, so that turning them off moves nothing else. */
    bool hit = rng_below(&w->rng, 1000) < faults[fault].per_mille;

    if (!hit || !w->faults_on)
        return false;
    w->fired[fault]++;
    world_trace(w, "fault %s", faults[fault].name);
    return true;
}

void world_trace(struct world *w, const char *format, ...)
{
    va_list args;

    if (!w->trace)
        return;
    printf("%9.2f  ", (double)(w->now_ms - WORLD_BEGAN_MS) / 1000);
    va_start(args, format);
    (void)vprintf(format, args);
    va_end(args);
    putchar('\n');
}

uint32_t world_chart(struct str name)
{
    return (uint32_t)(name.at[1] - '0');
}

uint32_t world_cluster(struct str name)
{
    return (uint32_t)(name.at[1] - '0');
}

static void make_charts(struct world *w)
{
    size_t used = 0;

    w->chart_count = 1 + (uint32_t)rng_below(&w->rng, CHARTS_MAX);
    for (uint32_t i = 0; i < w->chart_count; i++) {
        bool first = true;

        used += (size_t)snprintf(w->charts + used, sizeof(w->charts) - used, "%sc%u", i ? " " : "",
                                 i);
        for (uint32_t need = 0; need < i; need++) {
            if (rng_below(&w->rng, 100) >= 45)
                continue;
            w->needs[i][need] = true;
            used += (size_t)snprintf(w->charts + used, sizeof(w->charts) - used, "%sc%u",
                                     first ? "<" : ",", need);
            first = false;
        }
    }
}

void world_begin(struct world *w, uint64_t seed, bool trace)
{
    memset(w, 0, sizeof(*w));
    w->seed = seed;
    w->rng = rng_from_seed(seed);
    w->now_ms = WORLD_BEGAN_MS;
    w->faults_on = true;
    w->trace = trace;
    make_charts(w);
    w->cluster_count = 1 + (uint32_t)rng_below(&w->rng, CLUSTERS_MAX);
    for (uint32_t k = 0; k < w->cluster_count; k++)
        w->clusters[k].connected = true;
    w->object = (struct sim_object){ .exists = true, .generation = 1, .resource_version = 1 };
    w->foreign_cluster = w->foreign_chart = UINT32_MAX;
    /* In some worlds a release of somebody else stands in the way of the last chart. */
    if (rng_below(&w->rng, 4) == 0) {
        w->foreign_cluster = (uint32_t)rng_below(&w->rng, w->cluster_count);
        w->foreign_chart = w->chart_count - 1;
        w->clusters[w->foreign_cluster].apps[w->foreign_chart] = (struct sim_app){
            .exists = true, .phase = RELEASE_DEPLOYED, .revision = 7, .foreign = true };
    }
    world_trace(w, "charts %s, %u clusters", w->charts, w->cluster_count);
}

void world_end(struct world *w)
{
    free(w->object.status);
    w->object.status = NULL;
}

const struct stack *world_stack(const struct world *w, struct arena *arena,
                                const struct sim_object *object)
{
    struct str members = str_fmt(
        arena, "\"overrides\":[{\"selector\":{\"matchLabels\":{\"all\":\"yes\"}},\"charts\":["
               "{\"name\":\"c0\",\"values\":{\"v\":%u}},{\"name\":\"c%u\",\"values\":{\"v\":%u}}]}]",
        object->variant, w->chart_count > 1 ? w->chart_count - 1 : 0, object->variant);
    struct str meta = str_fmt(arena, ",\"generation\":%lld%s%s", (long long)object->generation,
                              object->finalizer ? ",\"finalizers\":[\"" STACK_FINALIZER "\"]" : "",
                              object->deleting ? ",\"deletionTimestamp\":\"2024-01-01T00:00:00Z\""
                                               : "");

    return scene_stack(arena, w->charts, members.at, meta.at);
}

struct str world_digest(const struct world *w, struct arena *arena, uint32_t variant,
                        uint32_t chart)
{
    struct sim_object object = { .variant = variant, .generation = 1 };
    const struct stack *stack = world_stack(w, arena, &object);
    struct desired_release desired = { .digest = STR("") };
    struct json labels;
    struct error err = { 0 };

    (void)json_read(arena, STR("{\"all\":\"yes\"}"), &json_limits_default, &labels, &err);
    (void)release_desire(arena, stack, chart, STR("k0"), labels,
                         &(struct base_values){ .json = STR("{}") }, &desired, &err);
    return desired.digest;
}

bool world_write(struct world *w, uint64_t resource_version, const char *status, int finalizer)
{
    struct sim_object *o = &w->object;

    if (!o->exists || resource_version != o->resource_version)
        return false;
    o->resource_version++;
    if (status) {
        free(o->status);
        o->status = strdup(status);
        w->status_writes++;
    }
    if (finalizer >= 0) {
        check_finalizer(w, finalizer == 1);
        o->finalizer = finalizer == 1;
        if (!o->finalizer && o->deleting) {
            o->exists = false;
            world_trace(w, "the Stack is gone");
        }
    }
    return true;
}

void world_delete(struct world *w)
{
    w->object.deleting = true;
    w->object.generation++;
    w->object.resource_version++;
    if (!w->object.finalizer)
        w->object.exists = false;
    world_trace(w, "the user deletes the Stack");
}

void world_send(struct world *w, const struct sim_landing *landing, int64_t delay_ms)
{
    for (uint32_t i = 0; i < LANDINGS_MAX; i++)
        if (!w->landings[i].pending) {
            w->landings[i] = *landing;
            w->landings[i].pending = true;
            w->landings[i].at_ms = w->now_ms + delay_ms;
            return;
        }
    abort(); /* more requests on their way than all clusters have room for */
}

static void begin_operation(struct world *w, const struct sim_landing *l)
{
    struct sim_cluster *c = &w->clusters[l->cluster];
    struct sim_operation op = { .exists = true,
                                .chart = l->chart,
                                .uninstall = l->kind == ACTION_UNINSTALL,
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
    world_trace(w, "%s of c%u on k%u becomes %s", action_name(l->kind), l->chart, l->cluster,
                op.name);
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
    if (!app->exists || app->revision != l->revision || app->phase != RELEASE_PENDING)
        return;
    app->revision = app->old_revision;
    app->phase = app->old_phase;
    memcpy(app->digest, app->old_digest, sizeof(app->digest));
    world_trace(w, "c%u on k%u is back at revision %u", l->chart, l->cluster, app->revision);
}

static void land(struct world *w, const struct sim_landing *l)
{
    struct sim_cluster *c = &w->clusters[l->cluster];

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
    case ACTION_UNINSTALL:
        if (!c->apps[l->chart].exists)
            break; /* 404 on the spot */
        begin_operation(w, l);
        break;
    case ACTION_UPGRADE:
        begin_operation(w, l);
        break;
    case ACTION_ADD_FINALIZER:
    case ACTION_REMOVE_FINALIZER:
    case ACTION_RESOLVE_VERSION:
    case ACTION_READ_LOG:
    case ACTION_READ_PODS:
    case ACTION_KIND_COUNT:
        abort();
    }
}

static void begin(struct sim_app *app, struct sim_operation *op)
{
    op->begun = true;
    if (app->exists && app->phase == RELEASE_PENDING && !op->uninstall) {
        op->locked_out = true; /* "another operation is in progress" */
        return;
    }
    if (op->outcome == OUTCOME_FAILS_EARLY)
        return;
    if (op->uninstall) {
        app->phase = RELEASE_UNINSTALLING;
        return;
    }
    app->old_revision = app->exists ? app->revision : 0;
    app->old_phase = app->phase;
    memcpy(app->old_digest, app->digest, sizeof(app->digest));
    app->revision = app->exists ? app->revision + 1 : 1;
    app->exists = true;
    app->phase = RELEASE_PENDING;
    memcpy(app->digest, op->digest, sizeof(app->digest));
}

static void end(struct world *w, uint32_t cluster, struct sim_app *app, struct sim_operation *op)
{
    bool fails = op->locked_out || op->outcome == OUTCOME_FAILS ||
                 op->outcome == OUTCOME_FAILS_EARLY;

    op->ended = true;
    op->state = fails ? OPERATION_FAILED : OPERATION_SUCCEEDED;
    world_trace(w, "%s of c%u on k%u ends: %s", op->name, op->chart, cluster,
                fails ? "failed" : op->outcome == OUTCOME_KILLED ? "killed" : "succeeded");
    if (fails && !op->uninstall) {
        w->failed_ms[cluster][op->chart] = w->now_ms;
        w->failed_generation[cluster][op->chart] = w->object.generation;
        memcpy(w->failed_digest[cluster][op->chart], op->digest, sizeof(op->digest));
    }
    if (op->locked_out || op->outcome == OUTCOME_FAILS_EARLY || op->outcome == OUTCOME_KILLED)
        return;
    if (op->uninstall && fails)
        app->phase = RELEASE_FAILED;
    else if (op->uninstall)
        memset(app, 0, sizeof(*app));
    else
        app->phase = fails ? RELEASE_FAILED : RELEASE_DEPLOYED;
}

static void move_operations(struct world *w, uint32_t cluster)
{
    struct sim_cluster *c = &w->clusters[cluster];

    for (uint32_t i = 0; i < OPERATIONS_MAX; i++) {
        struct sim_operation *op = &c->operations[i];

        if (!op->exists)
            continue;
        if (!op->begun && w->now_ms >= op->begins_ms) {
            begin(&c->apps[op->chart], op);
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

static void move_cluster(struct world *w, uint32_t cluster)
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
    move_operations(w, cluster);
}

void world_tick(struct world *w)
{
    w->now_ms += TICK_MS;
    for (uint32_t i = 0; i < LANDINGS_MAX; i++)
        if (w->landings[i].pending && w->now_ms >= w->landings[i].at_ms) {
            struct sim_landing landing = w->landings[i];

            w->landings[i].pending = false;
            land(w, &landing);
        }
    for (uint32_t k = 0; k < w->cluster_count; k++)
        move_cluster(w, k);
    if (w->object.exists && !w->object.deleting && world_fault(w, FAULT_spec_changes)) {
        w->object.variant++;
        w->object.generation++;
        w->object.resource_version++;
    }
}

bool world_is_moving(const struct world *w)
{
    for (uint32_t i = 0; i < LANDINGS_MAX; i++)
        if (w->landings[i].pending)
            return true;
    for (uint32_t k = 0; k < w->cluster_count; k++)
        for (uint32_t i = 0; i < OPERATIONS_MAX; i++)
            if (w->clusters[k].operations[i].exists &&
                w->clusters[k].operations[i].state == OPERATION_RUNNING)
                return true;
    return false;
}

/* Whether each cluster has what the Stack says, somebody else's release apart. */
bool world_is_settled(const struct world *w)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);

    if (world_is_moving(w))
        return false;
    for (uint32_t k = 0; k < w->cluster_count; k++)
        if (!w->clusters[k].connected)
            return false;
    for (uint32_t i = 0; i < w->chart_count; i++) {
        struct str digest = world_digest(w, arena, w->object.variant, i);

        for (uint32_t k = 0; k < w->cluster_count; k++) {
            const struct sim_app *app = &w->clusters[k].apps[i];

            if (app->foreign)
                continue;
            if (!app->exists || app->phase != RELEASE_DEPLOYED ||
                !str_eq(str_of(app->digest), digest))
                return false;
        }
    }
    return true;
}
