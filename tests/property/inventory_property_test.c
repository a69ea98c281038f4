/* SPDX-License-Identifier: Apache-2.0 */
/* inventory_property_test.c: laws of inventories and of what fits them, on generated values.
 *
 * HERD_CASES sets how many cases each law gets (default 1,000); a failure names the seed of its
 * case. */
#include "support/rows.h"

#include "base/rng.h"
#include "stack/gpu/gpu_demand.h"
#include "stack/gpu/inventory.h"
#include "support/stack_builder.h"
#include "text/value.h"

#include <stdlib.h>

static const char *const resources[] = { "nvidia.com/gpu", "nvidia.com/mig-1g.5gb", "amd.com/gpu" };
enum { RESOURCES = 3, NODES_MAX = 6 };

static uint32_t cases(void)
{
    const char *text = getenv("HERD_CASES");

    return text ? (uint32_t)atoi(text) : 1000;
}

/* --- sums --- */

/* What nodes were made of, to be added up a second time. */
struct heap {
    int64_t count[NODES_MAX][RESOURCES];
    bool ready[NODES_MAX], open[NODES_MAX];
    uint32_t nodes;
};

static struct inventory any_inventory(struct arena *arena, struct rng *rng, struct heap *heap)
{
    struct inventory inventory = inventory_new(arena);

    inventory.known = true;
    inventory.reason = STR("NodesRead");
    heap->nodes = (uint32_t)rng_below(rng, NODES_MAX + 1);
    for (uint32_t i = 0; i < heap->nodes; i++) {
        struct strbuf node = strbuf_new(arena, 256);
        struct strbuf kept = strbuf_new(arena, 64);

        heap->ready[i] = rng_below(rng, 4) > 0;
        heap->open[i] = rng_below(rng, 4) > 0;
        strbuf_fmt(&node, "{\"spec\":{\"unschedulable\":%s},\"status\":{\"conditions\":"
                   "[{\"type\":\"Ready\",\"status\":\"%s\"}],\"allocatable\":{\"cpu\":\"8\"",
                   heap->open[i] ? "false" : "true", heap->ready[i] ? "True" : "Unknown");
        for (uint32_t k = 0; k < RESOURCES; k++) {
            heap->count[i][k] = rng_below(rng, 3) ? 0 : (int64_t)rng_below(rng, 9);
            strbuf_fmt(&node, ",\"%s\":\"%lld\"", resources[k], (long long)heap->count[i][k]);
        }
        strbuf_lit(&node, "}}}");
        inventory_keep_node(test_json(arena, strbuf_str(&node)), &kept);
        inventory_add_node(&inventory, strbuf_str(&kept));
    }
    return inventory;
}

/* One case of a law. */
struct sample {
    struct rng rng;
    struct heap heap;
    struct inventory inventory;
    const char *row;
};

static struct sample any_sample(struct arena *arena, uint32_t seed)
{
    struct sample sample = { .rng = rng_from_seed(seed), .row = str_fmt(arena, "seed %u", seed).at };

    sample.inventory = any_inventory(arena, &sample.rng, &sample.heap);
    return sample;
}

static void sums_are_those_of_the_nodes(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < cases(); seed++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        const struct sample one = any_sample(arena, seed);
        const struct heap *heap = &one.heap;

        rows_expect_int(one.row, one.inventory.nodes, heap->nodes);
        for (uint32_t k = 0; k < RESOURCES; k++) {
            const struct inventory_figures *figures = inventory_find(&one.inventory, str_of(resources[k]));
            struct inventory_figures want = { .allocatable = 0 };

            for (uint32_t i = 0; i < heap->nodes; i++) {
                want.allocatable += heap->count[i][k];
                want.schedulable += heap->ready[i] && heap->open[i] ? heap->count[i][k] : 0;
                want.largest_node = heap->count[i][k] > want.largest_node ? heap->count[i][k] : want.largest_node;
            }
            rows_expect(one.row, (figures != NULL) == (want.allocatable > 0), "only what is there is listed");
            if (!figures)
                continue;
            rows_expect_int(one.row, figures->allocatable, want.allocatable);
            rows_expect_int(one.row, figures->schedulable, want.schedulable);
            rows_expect_int(one.row, figures->largest_node, want.largest_node);
        }
    }
}

static void what_was_written_is_what_is_read_and_is_not_written_twice(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < cases(); seed++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        const struct sample one = any_sample(arena, seed);
        struct json absent = { NULL, 0 };
        struct str status = inventory_status(arena, &one.inventory, absent, 1000);
        struct json object = test_json(arena, str_fmt(arena, "{\"status\":%.*s}", STR_ARG(status)));
        struct inventory read = inventory_read(arena, object);

        rows_expect_str(one.row, inventory_status(arena, &read, absent, 1000), status);
        rows_expect_str(one.row, inventory_status(arena, &one.inventory, json_get(object, STR("status")), 5000), STR(""));
    }
}

/* --- fit --- */

static uint32_t denied_with(struct arena *arena, struct json stack, struct inventory inventory)
{
    struct facts facts = { .clusters_known = true, .inventories_kept = true, .clusters = fact_clusters_new(arena, 1) };
    struct rule_severities severities = rule_severities_default();

    fact_clusters_push(&facts.clusters, (struct fact_cluster){ .id = STR("c-1"), .ready = true, .inventory = &inventory });
    return stack_admit(arena, stack, (struct json){ NULL, 0 }, &facts, &severities).problems.denied;
}

/* Some more of what there is already; of a vendor that is not there at all nothing is asked. */
static struct inventory with_more(struct arena *arena, struct rng *rng, const struct inventory *inventory)
{
    struct inventory more = *inventory;

    more.figures = inventory_figures_list_new(arena, 0);
    for (uint32_t i = 0; i < inventory->figures.count; i++) {
        struct inventory_figures figures = inventory->figures.items[i];

        figures.allocatable += (int64_t)rng_below(rng, 4);
        figures.schedulable += (int64_t)rng_below(rng, 4);
        figures.largest_node += (int64_t)rng_below(rng, 4);
        inventory_figures_list_push(&more.figures, figures);
    }
    return more;
}

static void more_gpus_never_reject_more(void **state)
{
    uint32_t rejected = 0;
    uint32_t accepted = 0;

    (void)state;
    for (uint32_t seed = 0; seed < cases(); seed++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct sample one = any_sample(arena, seed);
        struct inventory more = with_more(arena, &one.rng, &one.inventory);
        struct stack_builder b = a_stack(arena);
        struct json stack;
        uint32_t before, after;

        with_targets(&b, "{\"clusterIds\":[\"c-1\"]}");
        for (uint32_t i = 0, count = 1 + (uint32_t)rng_below(&one.rng, 3); i < count; i++)
            with_raw_chart(&b, str_z(arena, str_fmt(arena,
                "{\"name\":\"a%u\",\"repo\":\"https://x.io\",\"version\":\"1.0.0\","
                "\"values\":{\"inline\":{\"replicas\":%u,\"limits\":{\"%s\":%u}}}}",
                i, (uint32_t)rng_below(&one.rng, 4), resources[rng_below(&one.rng, RESOURCES)], 1 + (uint32_t)rng_below(&one.rng, 8))));
        stack = stack_json(&b);
        before = denied_with(arena, stack, one.inventory);
        after = denied_with(arena, stack, more);
        rejected += before > 0;
        accepted += before == 0;
        rows_expect(one.row, after <= before, "more GPUs reject no more");
    }
    rows_expect("both are met, else the law says nothing", rejected > cases() / 20 && accepted > cases() / 20, "are met");
}

/* --- what is asked of a cluster --- */

static const char *const keys[] = { "a", "b", "limits", "requests", "replicas", "replicaCount", "enabled" };
enum { KEYS = 7, CHARTS = 3, OVERRIDES = 4 };

static void put_scalar(struct rng *rng, struct strbuf *out)
{
    static const char *const scalars[] = { "null", "true", "false", "\"x\"", "\"2\"", "0", "1", "3", "0.5", "-1" };

    strbuf_fmt(out, "%s", scalars[rng_below(rng, sizeof(scalars) / sizeof(scalars[0]))]);
}

static void put_value(struct rng *rng, struct strbuf *out, uint32_t depth);

static void put_map(struct rng *rng, struct strbuf *out, uint32_t depth)
{
    const char *comma = "";

    strbuf_lit(out, "{");
    for (uint32_t i = 0; i < KEYS + RESOURCES; i++) {
        if (rng_below(rng, 3))
            continue;
        strbuf_fmt(out, "%s\"%s\":", comma, i < KEYS ? keys[i] : resources[i - KEYS]);
        put_value(rng, out, depth + 1);
        comma = ",";
    }
    strbuf_lit(out, "}");
}

static void put_value(struct rng *rng, struct strbuf *out, uint32_t depth)
{
    uint64_t what = depth > 4 ? 0 : rng_below(rng, 5);

    if (what < 2) {
        put_scalar(rng, out);
    } else if (what == 2) {
        strbuf_lit(out, "[");
        put_value(rng, out, depth + 1);
        strbuf_lit(out, ",");
        put_value(rng, out, depth + 1);
        strbuf_lit(out, "]");
    } else {
        put_map(rng, out, depth);
    }
}

static const struct stack *any_stack(struct arena *arena, struct rng *rng)
{
    struct stack_builder b = a_stack(arena);
    struct strbuf overrides = strbuf_new(arena, 1024);
    struct problems problems = problems_new(arena);

    for (uint32_t i = 0; i < CHARTS; i++) {
        struct strbuf chart = strbuf_new(arena, 1024);

        strbuf_fmt(&chart, "{\"name\":\"c%u\",\"repo\":\"https://x.io\",\"version\":\"1.0.0\",\"values\":{\"inline\":", i);
        put_map(rng, &chart, 0);
        strbuf_lit(&chart, "}}");
        with_raw_chart(&b, str_z(arena, strbuf_str(&chart)));
    }
    strbuf_lit(&overrides, "\"overrides\":[");
    for (uint32_t i = 0; i < OVERRIDES; i++) {
        strbuf_fmt(&overrides, "%s{\"clusterIds\":[\"c-1\"],\"charts\":[{\"name\":\"c%u\",\"skip\":%s,\"values\":{\"inline\":",
                   i ? "," : "", (uint32_t)rng_below(rng, CHARTS), rng_below(rng, 9) ? "false" : "true");
        put_map(rng, &overrides, 0);
        strbuf_lit(&overrides, "}}]}");
    }
    strbuf_lit(&overrides, "]");
    with_spec(&b, str_z(arena, strbuf_str(&overrides)));
    return stack_decode(arena, stack_json(&b), &problems);
}

/* Once more, in the plainest way: of one resource, in values that were merged as Helm would. */
static int64_t asked_in(const struct value *value, const char *resource, int64_t replicas)
{
    struct value *enabled = value_get(value, STR("enabled"));
    struct value *limit = value_walk(value, "limits", resource, NULL);
    struct value *request = value_walk(value, "requests", resource, NULL);
    int64_t number, sum = 0;

    if (value_kind(enabled) == JSON_BOOL && !value_is_true(enabled))
        return 0;
    if (value_int64(value_get(value, STR("replicaCount")), &number) && number >= 0)
        replicas = number;
    if (value_int64(value_get(value, STR("replicas")), &number) && number >= 0)
        replicas = number;
    if (value_kind(limit) == JSON_ABSENT || value_kind(limit) == JSON_NULL)
        limit = request;
    if (value_int64(limit, &number) && number > 0)
        sum += number * replicas;
    else if (str_eq(value_text(limit), STR("2")))
        sum += 2 * replicas;
    for (struct value *member = value_first(value); member; member = value_next(member))
        sum += asked_in(member, resource, replicas);
    return sum;
}

static int64_t asked(struct arena *arena, const struct stack *stack, const struct u32_list *on, const char *resource)
{
    int64_t sum = 0;

    for (uint32_t i = 0; i < CHARTS; i++) {
        struct value *values = value_of(arena, stack->spec.charts.items[i].values.inline_);

        for (uint32_t k = 0; k < on->count; k++) {
            const struct chart_override *said = &stack->spec.overrides.items[on->items[k]].charts.items[0];

            if (!str_eq(said->name, stack->spec.charts.items[i].name))
                continue;
            values = said->skip ? NULL : value_merge(arena, values, value_of(arena, said->values.inline_));
            if (said->skip)
                break;
        }
        sum += asked_in(values, resource, 1);
    }
    return sum;
}

static void what_is_asked_is_what_merged_values_ask(void **state)
{
    uint32_t some = 0;

    (void)state;
    for (uint32_t seed = 0; seed < cases(); seed++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct rng rng = rng_from_seed(seed);
        const struct stack *stack = any_stack(arena, &rng);
        struct gpu_counter *counter = gpu_counter_new(arena, stack, UINT64_MAX);
        const char *row = str_fmt(arena, "seed %u", seed).at;

        for (uint32_t set = 0; set < 1U << OVERRIDES; set++) {
            struct u32_list on = u32_list_new(arena, OVERRIDES);
            struct gpu_asks asks;
            uint32_t found = 0;

            for (uint32_t i = 0; i < OVERRIDES; i++)
                if (set >> i & 1)
                    u32_list_push(&on, i);
            asks = gpu_demand(counter, &on);
            for (uint32_t k = 0; k < RESOURCES; k++) {
                int64_t want = asked(arena, stack, &on, resources[k]);

                for (uint32_t i = 0; i < asks.count; i++)
                    if (str_eq(asks.items[i].resource, str_of(resources[k]))) {
                        rows_expect_int(row, asks.items[i].total, want);
                        want = 0;
                        found++;
                    }
                rows_expect_int(row, want, 0);
            }
            rows_expect_int(row, asks.count, found);
            some += found > 0;
        }
    }
    rows_expect("some ask, else the law says nothing", some > cases(), "they do");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_the_nodes),
        cmocka_unit_test(what_was_written_is_what_is_read_and_is_not_written_twice),
        cmocka_unit_test(more_gpus_never_reject_more),
        cmocka_unit_test(what_is_asked_is_what_merged_values_ask),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
