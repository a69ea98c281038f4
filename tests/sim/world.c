/* SPDX-License-Identifier: Apache-2.0 */
/* world.c: the store, the clock and the user. */
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

static const char *const drifts[] = { "Detect", "Correct", "Ignore" };

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
    w->object = (struct sim_object){ .exists = true, .generation = 1, .resource_version = 1,
                                     .status = strdup("{\"observedGeneration\":-1}") };
    w->drift = drifts[rng_below(&w->rng, sizeof(drifts) / sizeof(drifts[0]))];
    /* In some worlds a release of somebody else stands in the way of the last chart. */
    if (rng_below(&w->rng, 4) == 0)
        w->clusters[rng_below(&w->rng, w->cluster_count)].apps[w->chart_count - 1] =
            (struct sim_app){ .exists = true, .phase = RELEASE_DEPLOYED, .revision = 7,
                              .uid = ++w->installs, .foreign = true, .by_hand = true };
    world_trace(w, "charts %s, %u clusters, drift %s", w->charts, w->cluster_count, w->drift);
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
        arena, "\"drift\":\"%s\",\"overrides\":[{\"selector\":{\"matchLabels\":{\"all\":\"yes\"}},\"charts\":["
               "{\"name\":\"c0\",\"values\":{\"inline\":{\"v\":%u}}},"
               "{\"name\":\"c%u\",\"values\":{\"inline\":{\"v\":%u}}}]}]",
        w->drift, object->variant, w->chart_count > 1 ? w->chart_count - 1 : 0, object->variant);
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
    struct observed_references references = scene_references(arena, stack, "{}");
    struct template_facts facts = { .id = STR("k0"), .name = STR("k0") };
    struct wanted_release wanted;
    struct error err;

    (void)json_read(arena, STR("{\"all\":\"yes\"}"), &json_limits_default, &facts.labels, &err);
    wanted = scene_wanted(arena, stack, &references, chart, &facts);
    return wanted.desired ? wanted.desired->digest : STR("");
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

void world_tick(struct world *w)
{
    w->now_ms += TICK_MS;
    for (uint32_t i = 0; i < LANDINGS_MAX; i++)
        if (w->landings[i].pending && w->now_ms >= w->landings[i].at_ms) {
            struct sim_landing landing = w->landings[i];

            w->landings[i].pending = false;
            cluster_land(w, &landing);
        }
    for (uint32_t k = 0; k < w->cluster_count; k++)
        cluster_move(w, k);
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
        for (uint32_t i = 0; i < w->chart_count; i++)
            if (w->clusters[k].apps[i].helm_ends_ms)
                return true;
    for (uint32_t k = 0; k < w->cluster_count; k++)
        for (uint32_t i = 0; i < OPERATIONS_MAX; i++)
            if (w->clusters[k].operations[i].exists &&
                w->clusters[k].operations[i].state == OPERATION_RUNNING)
                return true;
    return false;
}

/* What a stranger made of a release that was as wanted stays, where drift is not corrected. */
static bool is_as_wanted(const struct world *w, const struct sim_app *app, struct str digest)
{
    bool drifted = app->by_hand && strcmp(w->drift, "Correct") != 0 &&
                   str_eq(str_of(app->deployed), digest);

    if (!app->exists)
        return false;
    return drifted ? app->phase == RELEASE_DEPLOYED || app->phase == RELEASE_PENDING ||
                         app->phase == RELEASE_FAILED
                   : app->phase == RELEASE_DEPLOYED && str_eq(str_of(app->digest), digest);
}

bool world_has_foreign(const struct world *w)
{
    for (uint32_t k = 0; k < w->cluster_count; k++)
        for (uint32_t i = 0; i < w->chart_count; i++)
            if (w->clusters[k].apps[i].foreign)
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

            if (!app->foreign && !is_as_wanted(w, app, digest))
                return false;
        }
    }
    return true;
}
