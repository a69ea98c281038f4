/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_demand.c: a walk through values that knows the replicas around it. */
#include "stack/gpu/gpu_demand.h"

#include <stdlib.h>

#include "base/map.h"
#include "stack/gpu/gpu.h"
#include "stack/gpu/gpu_values.h"
#include "stack/model/limits.h"
#include "stack/model/release.h"
#include "text/quantity.h"

/* What an override says of a chart. */
struct gpu_said {
    uint32_t override;
    bool skip;
    struct gpu_value values;
};
LIST_DEFINE(gpu_saids, struct gpu_said)

struct counted_chart {
    struct gpu_value values;
    struct gpu_saids said; /* in the order of overrides */
    struct gpu_asks plain; /* without any of them */
};

struct gpu_counter {
    struct arena *arena;
    const struct stack *stack;
    struct counted_chart *charts;
    uint64_t steps, steps_max;
};

/* What was added up so far. */
struct tally {
    struct gpu_asks asks;
    struct map *numbers; /* by resource: its place in asks, and one */
};

struct count {
    struct tally tally;
    uint32_t chart;
    uint64_t *steps;
};

static int64_t sum(int64_t a, int64_t b)
{
    int64_t total;

    return __builtin_add_overflow(a, b, &total) ? INT64_MAX : total;
}

static int64_t times(int64_t a, int64_t b)
{
    int64_t product;

    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

/* --- asks, found by resource --- */

static struct tally tally_new(struct arena *arena)
{
    return (struct tally){ gpu_asks_new(arena, 0), map_new(arena, 4) };
}

static struct gpu_ask *ask_for(struct tally *t, struct str resource, uint32_t chart)
{
    uintptr_t number = (uintptr_t)map_get(t->numbers, resource);

    if (number)
        return &t->asks.items[number - 1];
    gpu_asks_push(&t->asks,
                  (struct gpu_ask){ .resource = resource, .chart = chart, .pod_chart = chart });
    map_put(t->numbers, resource, (void *)(uintptr_t)t->asks.count);
    return &t->asks.items[t->asks.count - 1];
}

static int by_resource(const void *a, const void *b)
{
    return str_cmp(((const struct gpu_ask *)a)->resource, ((const struct gpu_ask *)b)->resource);
}

static struct gpu_asks sorted(struct tally *t)
{
    if (t->asks.count)
        qsort(t->asks.items, t->asks.count, sizeof(t->asks.items[0]), by_resource);
    return t->asks;
}

static void tally_add(struct tally *t, const struct gpu_ask *more)
{
    struct gpu_ask *ask = ask_for(t, more->resource, more->chart);

    ask->total = sum(ask->total, more->total);
    if (more->pod > ask->pod) {
        ask->pod = more->pod;
        ask->pod_chart = more->pod_chart;
    }
}

/* --- values --- */

/* 0 for what is no positive whole number, which gpu.quantity tells. */
static int64_t quantity_of(struct json value)
{
    struct str text = json_is(value, JSON_NUMBER) ? json_raw(value) : json_str(value);
    struct quantity quantity;
    struct error err;

    if (quantity_parse(text, &quantity, &err) < 0 || !quantity_is_whole(quantity) ||
        quantity.milli <= 0)
        return 0;
    return quantity.milli / 1000;
}

static void add(struct count *c, const struct gpu_value *resource, int64_t replicas)
{
    int64_t each = gpu_of_resource(resource->key) ? quantity_of(resource->scalar) : 0;

    if (each == 0 || replicas == 0)
        return;
    tally_add(&c->tally, &(struct gpu_ask){ .resource = resource->key,
                                            .total = times(each, replicas),
                                            .pod = each,
                                            .chart = c->chart,
                                            .pod_chart = c->chart });
}

static bool is_silent(const struct gpu_value *limit)
{
    return !limit || (!limit->is_map && !limit->is_list &&
                      (json_is(limit->scalar, JSON_ABSENT) || json_is(limit->scalar, JSON_NULL)));
}

/* Requests count where limits are silent: the chart may set the limits itself. */
static void add_resources(struct count *c, const struct gpu_value *map, int64_t replicas)
{
    static const struct gpu_value none;
    const struct gpu_value *limits = gpu_value_get(map, STR("limits"));
    const struct gpu_value *requests = gpu_value_get(map, STR("requests"));

    if (!limits || !limits->is_map)
        limits = &none;
    for (uint32_t i = 0; i < limits->count; i++)
        add(c, &limits->members[i], replicas);
    for (uint32_t i = 0; requests && requests->is_map && i < requests->count; i++)
        if (is_silent(gpu_value_get(limits, requests->members[i].key)))
            add(c, &requests->members[i], replicas);
}

static int64_t replicas_of(const struct gpu_value *map, int64_t around)
{
    static const struct str names[] = { STR_INIT("replicas"), STR_INIT("replicaCount") };
    int64_t replicas;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct gpu_value *value = gpu_value_get(map, names[i]);

        if (value && json_int64(value->scalar, &replicas) && replicas >= 0)
            return replicas;
    }
    return around;
}

static bool is_switched_off(const struct gpu_value *map)
{
    const struct gpu_value *enabled = gpu_value_get(map, STR("enabled"));

    return enabled && json_is(enabled->scalar, JSON_BOOL) && !json_bool(enabled->scalar);
}

static void walk(struct count *c, const struct gpu_value *value, int64_t replicas)
{
    *c->steps += 1;
    if (value->is_map) {
        if (is_switched_off(value))
            return;
        replicas = replicas_of(value, replicas);
        add_resources(c, value, replicas);
    }
    for (uint32_t i = 0; i < value->count; i++)
        walk(c, &value->members[i], replicas);
}

/* --- charts --- */

static struct gpu_asks asks_of(struct gpu_counter *g, uint32_t chart,
                               const struct gpu_value *values)
{
    struct count c = { .tally = tally_new(g->arena), .chart = chart, .steps = &g->steps };

    walk(&c, values, 1);
    return c.tally.asks;
}

static void hear_overrides(struct gpu_counter *g)
{
    const struct stack *stack = g->stack;
    struct map *charts = map_new(g->arena, stack->spec.charts.count);

    for (uint32_t i = 0; i < stack->spec.charts.count; i++)
        map_put(charts, stack->spec.charts.items[i].name, &g->charts[i]);
    for (uint32_t i = 0; i < stack->spec.overrides.count; i++) {
        const struct chart_overrides *said = &stack->spec.overrides.items[i].charts;

        for (uint32_t k = 0; k < said->count; k++) {
            struct counted_chart *chart = map_get(charts, said->items[k].name);

            if (chart)
                gpu_saids_push(
                    &chart->said,
                    (struct gpu_said){ i, said->items[k].skip,
                                       gpu_value_over(g->arena, said->items[k].values.inline_) });
        }
    }
}

struct gpu_counter *gpu_counter_new(struct arena *arena, const struct stack *stack,
                                    uint64_t steps_max)
{
    struct gpu_counter *g = arena_new(arena, struct gpu_counter);

    *g = (struct gpu_counter){ .arena = arena, .stack = stack, .steps_max = steps_max };
    g->charts = arena_array(arena, struct counted_chart, stack->spec.charts.count);
    for (uint32_t i = 0; i < stack->spec.charts.count; i++) {
        struct counted_chart *chart = &g->charts[i];

        chart->values = gpu_value_of(arena, stack->spec.charts.items[i].values.inline_);
        chart->said = gpu_saids_new(arena, 0);
        chart->plain = asks_of(g, i, &chart->values);
    }
    hear_overrides(g);
    g->steps = 0;
    return g;
}

bool gpu_counter_gave_up(const struct gpu_counter *counter)
{
    return counter->steps > counter->steps_max;
}

/* One need for each vendor. `first`: where those of the chart begin. */
static void add_need(struct gpu_needs *needs, uint32_t first, const struct gpu_ask *ask)
{
    uint32_t vendor = gpu_of_resource(ask->resource);

    for (uint32_t i = first; i < needs->count; i++) {
        struct str *resource = &needs->items[i].resource;

        if (gpu_of_resource(*resource) != vendor)
            continue;
        if (str_cmp(ask->resource, *resource) < 0)
            *resource = ask->resource;
        return;
    }
    gpu_needs_push(needs, (struct gpu_need){ ask->chart, ask->resource });
}

/* Where it is skipped it asks for nothing. `applies`: by override. */
static void add_chart(struct gpu_counter *g, uint32_t chart, const bool *applies,
                      struct tally *tally, struct gpu_needs *needs)
{
    uint32_t first = needs->count;
    const struct counted_chart *c = &g->charts[chart];
    struct gpu_value values = c->values;
    bool changed = false;

    for (uint32_t i = 0; i < c->said.count && !gpu_counter_gave_up(g); i++) {
        const struct gpu_said *said = &c->said.items[i];

        g->steps++;
        if (!applies[said->override])
            continue;
        if (said->skip)
            return;
        if (said->values.is_map) {
            values = values.is_map ? gpu_value_merge(g->arena, &values, &said->values, &g->steps)
                                   : said->values;
            changed = true;
        }
    }

    struct gpu_asks asks = changed ? asks_of(g, chart, &values) : c->plain;

    g->steps += asks.count;
    for (uint32_t i = 0; i < asks.count; i++) {
        tally_add(tally, &asks.items[i]);
        add_need(needs, first, &asks.items[i]);
    }
}

static struct gpu_asks demand(struct gpu_counter *counter, const struct u32_list *overrides,
                              struct gpu_needs *needs)
{
    struct tally tally = tally_new(counter->arena);
    uint32_t charts = counter->stack->spec.charts.count;
    bool *applies = arena_array(counter->arena, bool, counter->stack->spec.overrides.count);

    for (uint32_t i = 0; i < overrides->count; i++)
        applies[overrides->items[i]] = true;
    counter->steps += charts;
    for (uint32_t i = 0; i < charts && !gpu_counter_gave_up(counter); i++)
        add_chart(counter, i, applies, &tally, needs);
    return sorted(&tally);
}

struct gpu_asks gpu_demand(struct gpu_counter *counter, const struct u32_list *overrides)
{
    struct gpu_needs needs = gpu_needs_new(counter->arena, 0);

    return demand(counter, overrides, &needs);
}

static bool is_skipped(const struct counted_chart *chart, const struct u32_list *overrides)
{
    uint32_t k = 0;

    /* Both are in order. */
    for (uint32_t i = 0; i < chart->said.count; i++) {
        while (k < overrides->count && overrides->items[k] < chart->said.items[i].override)
            k++;
        if (chart->said.items[i].skip && k < overrides->count &&
            overrides->items[k] == chart->said.items[i].override)
            return true;
    }
    return false;
}

static uint32_t provided(struct gpu_counter *counter, const struct u32_list *overrides)
{
    const struct charts *charts = &counter->stack->spec.charts;
    uint32_t vendors = 0;

    for (uint32_t i = 0; i < charts->count; i++) {
        uint32_t brings = gpu_of_chart(&charts->items[i]) & ~vendors;

        counter->steps += brings ? 1 + counter->charts[i].said.count : 0;
        if (brings && !is_skipped(&counter->charts[i], overrides))
            vendors |= brings;
    }
    return vendors;
}

/* Which of a Stack's charts overrides skip everywhere. */
struct providing {
    struct arena *scratch;
    const struct charts *charts;
    const struct claims *claims;
    uint32_t vendors;
};

static void find_provided(void *context)
{
    struct providing *p = context;

    for (uint32_t i = 0; i < p->charts->count && i < p->claims->releases.count; i++) {
        uint32_t brings = gpu_of_chart(&p->charts->items[i]) & ~p->vendors;

        if (brings && claims_anywhere(p->scratch, p->claims, i))
            p->vendors |= brings;
    }
}

uint32_t gpu_provided_by(struct arena *arena, const struct stack *stack,
                         const struct claims *claims)
{
    const struct charts *charts = &stack->spec.charts;
    struct providing p = { arena_beside(arena), charts, claims, 0 };

    if (arena_run_within(p.scratch, LIMIT_OVERLAP_WORK, find_provided, &p))
        return p.vendors;
    for (uint32_t i = 0; i < charts->count; i++)
        p.vendors |= gpu_of_chart(&charts->items[i]);
    return p.vendors;
}

static struct gpu_group group_of(struct gpu_counter *counter, const struct u32_list *overrides)
{
    struct gpu_group group = { .needs = gpu_needs_new(counter->arena, 0),
                               .clusters = u32_list_new(counter->arena, 0) };

    group.asks = demand(counter, overrides, &group.needs);
    group.provides = provided(counter, overrides);
    return group;
}

struct gpu_groups gpu_demand_on(struct gpu_counter *counter, const struct fact_clusters *clusters)
{
    struct arena *arena = counter->arena;
    struct override_matcher *matcher = override_matcher_new(arena, counter->stack);
    struct map *numbers = map_new(arena, 4);
    struct gpu_groups groups = gpu_groups_new(arena, 4);

    for (uint32_t i = 0; i < clusters->count; i++) {
        const struct fact_cluster *cluster = &clusters->items[i];
        struct u32_list on = override_matcher_on(matcher, arena, cluster->id, cluster->labels);
        struct str key = str_make((const char *)on.items, on.count * sizeof(uint32_t));
        uintptr_t number = (uintptr_t)map_get(numbers, key);

        if (!number) {
            gpu_groups_push(&groups, group_of(counter, &on));
            number = groups.count;
            map_put(numbers, key, (void *)number);
        }
        u32_list_push(&groups.items[number - 1].clusters, i);
    }
    return groups;
}

static struct gpu_group without_overrides(struct gpu_counter *counter,
                                          const struct fact_clusters *clusters)
{
    static const struct u32_list none;
    struct gpu_group group;

    counter->steps_max = UINT64_MAX; /* it is linear in the document */
    group = group_of(counter, &none);
    for (uint32_t i = 0; i < clusters->count; i++)
        u32_list_push(&group.clusters, i);
    return group;
}

struct gpu_groups gpu_demand_bounded(struct arena *arena, const struct stack *stack,
                                     const struct fact_clusters *clusters)
{
    struct gpu_counter *counter = gpu_counter_new(arena, stack, LIMIT_GPU_STEPS);
    struct gpu_groups groups = gpu_demand_on(counter, clusters);

    if (!gpu_counter_gave_up(counter))
        return groups;
    groups = gpu_groups_new(arena, 1);
    gpu_groups_push(&groups, without_overrides(counter, clusters));
    return groups;
}

int64_t gpu_asks_total(const struct gpu_asks *asks)
{
    int64_t total = 0;

    for (uint32_t i = 0; i < asks->count; i++)
        if (gpu_is_counted(asks->items[i].resource))
            total = sum(total, asks->items[i].total);
    return total;
}
