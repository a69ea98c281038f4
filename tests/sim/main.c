/* SPDX-License-Identifier: Apache-2.0 */
/* herd-sim: the whole loop in one thread under one seed: a Stack, its clusters, two controllers,
 * and everything that can go wrong between them.
 *
 *   herd-sim --seed=N [--seeds=COUNT] [--trace]
 *
 * A life: faults and a user that changes the spec; then quiet, and all must become as wanted and
 * stay so without a write; then the Stack is deleted, with faults again, and must be gone. The first
 * law that breaks ends the run with exit code 1 and the seed that shows it. */
#include "controller.h"

#include <stdio.h>
#include <stdlib.h>

enum { MINUTE_MS = 60000, STORM_MS = 8 * MINUTE_MS, CALM_MS = 60 * MINUTE_MS,
       QUIET_MS = 10 * MINUTE_MS, DELETE_STORM_MS = 3 * MINUTE_MS };

struct simulation {
    struct world world;
    struct sim_controller controllers[2];
    uint32_t leader;
};

static void step(struct simulation *s)
{
    struct world *w = &s->world;

    world_tick(w);
    controller_see(&s->controllers[0], w);
    controller_see(&s->controllers[1], w);
    if (world_fault(w, FAULT_leader_moves)) {
        s->leader = 1 - s->leader;
        world_trace(w, "controller %u leads", s->leader);
        s->controllers[s->leader].dirty = true;
        s->controllers[s->leader].rejection_count = 0;
    }
    controller_step(&s->controllers[s->leader], w);
}

static void broke(struct world *w, const char *law)
{
    if (!w->broken)
        w->broken = law;
}

static void run_for(struct simulation *s, int64_t ms)
{
    int64_t until = s->world.now_ms + ms;

    while (s->world.now_ms < until && !s->world.broken)
        step(s);
}

static bool is_reported(const struct world *w)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct json json;
    struct error err = { 0 };
    enum stack_phase want = world_has_foreign(w) ? PHASE_FAILED : PHASE_DEPLOYED;
    struct stack_status status;

    if (!w->object.status ||
        json_read(arena, str_of(w->object.status), &json_limits_default, &json, &err) < 0)
        return false;
    status = stack_status_read(arena, json);
    for (uint32_t i = 0; i < status.deployments.count; i++)
        if (status.deployments.items[i].state != DEPLOYMENT_DEPLOYED &&
            !str_eq(status.deployments.items[i].reason, STR("ReleaseConflict")))
            return false;
    return status.phase == want && status.observed_generation == w->object.generation;
}

static void settle(struct simulation *s)
{
    struct world *w = &s->world;
    int64_t until = w->now_ms + CALM_MS;

    w->faults_on = false;
    while (!w->broken && !(world_is_settled(w) && is_reported(w))) {
        if (w->now_ms >= until)
            broke(w, "when faults stop, all becomes as wanted");
        step(s);
    }
    /* What was seen last may still have to be written once. */
    run_for(s, MINUTE_MS);

    uint64_t writes = w->status_writes;
    uint64_t requests = w->requests;

    run_for(s, QUIET_MS);
    if (w->status_writes != writes || w->requests != requests)
        broke(w, "a reached state writes nothing");
}

static void tear_down(struct simulation *s)
{
    struct world *w = &s->world;
    int64_t until;

    w->faults_on = true;
    world_delete(w);
    run_for(s, DELETE_STORM_MS);
    w->faults_on = false;
    until = w->now_ms + CALM_MS;
    while (!w->broken && w->object.exists) {
        if (w->now_ms >= until)
            broke(w, "a deleted Stack goes");
        step(s);
    }
    run_for(s, MINUTE_MS);
}

/* 0, or 1 if a law broke. */
static int run(uint64_t seed, bool trace, uint64_t *fired)
{
    struct simulation *s = calloc(1, sizeof(*s));
    int result = 0;

    if (!s)
        return 1;
    world_begin(&s->world, seed, trace);
    for (int i = 0; i < 2; i++)
        controller_start(&s->controllers[i], &s->world);
    run_for(s, STORM_MS);
    settle(s);
    tear_down(s);
    if (s->world.broken) {
        printf("seed %llu: broken after %.2f s: %s: %s\n", (unsigned long long)seed,
               (double)(s->world.now_ms - WORLD_BEGAN_MS) / 1000, s->world.broken, s->world.where);
        result = 1;
    }
    for (int i = 0; i < FAULT_COUNT; i++)
        fired[i] += s->world.fired[i];
    controller_end(&s->controllers[0]);
    controller_end(&s->controllers[1]);
    world_end(&s->world);
    free(s);
    return result;
}

static int check_fired(const uint64_t *fired, uint64_t seeds)
{
    int result = 0;

    for (int i = 0; i < FAULT_COUNT && seeds >= 20; i++)
        if (fired[i] == 0) {
            printf("fault %s never happened in %llu seeds\n", fault_name((enum fault)i),
                   (unsigned long long)seeds);
            result = 1;
        }
    return result;
}

static bool number_of(const char *arg, const char *name, uint64_t *ret_number)
{
    size_t len = strlen(name);

    return strncmp(arg, name, len) == 0 && str_to_u64(str_of(arg + len), ret_number);
}

int main(int argc, char **argv)
{
    uint64_t seed = 1;
    uint64_t seeds = 1;
    bool trace = false;
    uint64_t fired[FAULT_COUNT] = { 0 };

    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--trace") == 0)
            trace = true;
        else if (!number_of(argv[i], "--seed=", &seed) && !number_of(argv[i], "--seeds=", &seeds)) {
            fprintf(stderr, "herd-sim: unknown argument '%s'; it takes --seed=N --seeds=COUNT "
                            "--trace\n", argv[i]);
            return 2;
        }
    for (uint64_t i = 0; i < seeds; i++)
        if (run(seed + i, trace, fired))
            return 1;
    if (check_fired(fired, seeds))
        return 1;
    printf("%llu seeds from %llu: every law holds\n", (unsigned long long)seeds,
           (unsigned long long)seed);
    return 0;
}
