/* gpu_demand.c: a walk through values that knows the replicas around it. */
#include "stack/gpu_demand.h"

#include "base/limits.h"
#include "base/map.h"
#include "stack/gpu.h"
#include "stack/release.h"
#include "text/quantity.h"
#include "text/value.h"

struct count {
    struct gpu_asks *asks;
    uint32_t chart;
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

static struct gpu_ask *ask_for(struct gpu_asks *asks, struct str resource, uint32_t chart)
{
    uint32_t place = 0;
    struct gpu_ask none = { .resource = resource, .chart = chart, .pod_chart = chart };

    while (place < asks->count && str_cmp(asks->items[place].resource, resource) < 0)
        place++;
    if (place == asks->count || !str_eq(asks->items[place].resource, resource)) {
        gpu_asks_push(asks, none);
        for (uint32_t i = asks->count - 1; i > place; i--)
            asks->items[i] = asks->items[i - 1];
        asks->items[place] = none;
    }
    return &asks->items[place];
}

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

static void add(struct count *c, struct str resource, struct json value, int64_t replicas)
{
    int64_t each = gpu_of_resource(resource) ? quantity_of(value) : 0;
    struct gpu_ask *ask;

    if (each == 0 || replicas == 0)
        return;
    ask = ask_for(c->asks, resource, c->chart);
    ask->total = sum(ask->total, times(each, replicas));
    if (each > ask->pod) {
        ask->pod = each;
        ask->pod_chart = c->chart;
    }
}

/* Requests count where limits are silent: the chart may set the limits itself. */
static void add_resources(struct count *c, struct json limits, struct json requests,
                          int64_t replicas)
{
    struct json_iter it = json_iter(limits);

    while (json_next(&it))
        add(c, it.key, it.value, replicas);
    it = json_iter(requests);
    while (json_next(&it)) {
        struct json limit = json_get(limits, it.key);

        if (json_is(limit, JSON_ABSENT) || json_is(limit, JSON_NULL))
            add(c, it.key, it.value, replicas);
    }
}

static int64_t replicas_of(struct json map, int64_t around)
{
    static const struct str names[] = { STR_INIT("replicas"), STR_INIT("replicaCount") };
    int64_t replicas;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (json_int64(json_get(map, names[i]), &replicas) && replicas >= 0)
            return replicas;
    return around;
}

static bool is_switched_off(struct json map)
{
    struct json enabled = json_get(map, STR("enabled"));

    return json_is(enabled, JSON_BOOL) && !json_bool(enabled);
}

static struct json map_at(struct json map, struct str name)
{
    struct json member = json_get(map, name);

    return json_is(member, JSON_OBJECT) ? member : (struct json){ NULL, 0 };
}

/* As deep as the reader lets JSON be (LIMIT_JSON_DEPTH). */
static void walk(struct count *c, struct json value, int64_t replicas)
{
    struct json_iter it = json_iter(value);

    if (json_is(value, JSON_OBJECT)) {
        if (is_switched_off(value))
            return;
        replicas = replicas_of(value, replicas);
        add_resources(c, map_at(value, STR("limits")), map_at(value, STR("requests")), replicas);
    }
    while (json_next(&it))
        walk(c, it.value, replicas);
}

/* --- charts --- */

static const struct chart_override *said_of(const struct stack *stack, uint32_t override,
                                            struct str chart)
{
    const struct chart_overrides *charts = &stack->spec.overrides.items[override].charts;

    for (uint32_t i = 0; i < charts->count; i++)
        if (str_eq(charts->items[i].name, chart))
            return &charts->items[i];
    return NULL;
}

/* Its inline values, and those that overrides lay over them; absent where it is skipped. */
static struct json values_of(struct arena *arena, const struct stack *stack, uint32_t chart,
                             const struct u32_list *overrides)
{
    const struct chart *c = &stack->spec.charts.items[chart];
    struct json_limits limits = json_limits_default;
    struct json values = c->values.inline_;
    struct json none = { NULL, 0 };
    struct value *merged = NULL;
    struct error err;

    for (uint32_t i = 0; i < overrides->count; i++) {
        const struct chart_override *said = said_of(stack, overrides->items[i], c->name);

        if (said && said->skip)
            return none;
        if (!said || !json_is(said->values, JSON_OBJECT))
            continue;
        if (!merged)
            merged = json_is(values, JSON_OBJECT) ? value_of(arena, values) : value_object(arena);
        merged = value_merge(arena, merged, value_of(arena, said->values));
    }
    limits.bytes_max = LIMIT_ANSWER_BODY;
    /* Made of what was read within the same bounds. */
    if (merged && json_read(arena, value_json(arena, merged), &limits, &values, &err) < 0)
        return none;
    return values;
}

struct gpu_asks gpu_demand(struct arena *arena, const struct stack *stack,
                           const struct u32_list *overrides)
{
    struct gpu_asks asks = gpu_asks_new(arena, 0);

    for (uint32_t i = 0; i < stack->spec.charts.count; i++) {
        struct count c = { .asks = &asks, .chart = i };

        walk(&c, values_of(arena, stack, i, overrides), 1);
    }
    return asks;
}

struct gpu_groups gpu_demand_on(struct arena *arena, const struct stack *stack,
                                const struct fact_clusters *clusters)
{
    struct override_matcher *matcher = override_matcher_new(arena, stack);
    struct map *numbers = map_new(arena, 4);
    struct gpu_groups groups = gpu_groups_new(arena, 4);

    for (uint32_t i = 0; i < clusters->count; i++) {
        const struct fact_cluster *cluster = &clusters->items[i];
        struct u32_list on = override_matcher_on(matcher, arena, cluster->id, cluster->labels);
        struct str key = str_make((const char *)on.items, on.count * sizeof(uint32_t));
        uintptr_t number = (uintptr_t)map_get(numbers, key);

        if (!number) {
            gpu_groups_push(&groups, (struct gpu_group){ gpu_demand(arena, stack, &on),
                                                         u32_list_new(arena, 0) });
            number = groups.count;
            map_put(numbers, key, (void *)number);
        }
        u32_list_push(&groups.items[number - 1].clusters, i);
    }
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
