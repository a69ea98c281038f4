/* inventory_property_test.c: laws of inventories and of what fits them, on generated values.
 *
 * HERD_CASES sets how many cases each law gets (default 1,000); a failure names the seed of its
 * case. */
#include "support/rows.h"

#include "base/rng.h"
#include "stack/inventory.h"
#include "support/stack_builder.h"

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

static void sums_are_those_of_the_nodes(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < cases(); seed++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct rng rng = rng_from_seed(seed);
        struct heap heap = { .nodes = 0 };
        struct inventory inventory = any_inventory(arena, &rng, &heap);
        struct str row = str_fmt(arena, "seed %u", seed);

        rows_expect_int(row.at, inventory.nodes, heap.nodes);
        for (uint32_t k = 0; k < RESOURCES; k++) {
            const struct inventory_figures *figures = inventory_find(&inventory, str_of(resources[k]));
            struct inventory_figures want = { .allocatable = 0 };

            for (uint32_t i = 0; i < heap.nodes; i++) {
                want.allocatable += heap.count[i][k];
                want.schedulable += heap.ready[i] && heap.open[i] ? heap.count[i][k] : 0;
                want.largest_node = heap.count[i][k] > want.largest_node ? heap.count[i][k] : want.largest_node;
            }
            rows_expect(row.at, (figures != NULL) == (want.allocatable > 0), "only what is there is listed");
            if (!figures)
                continue;
            rows_expect_int(row.at, figures->allocatable, want.allocatable);
            rows_expect_int(row.at, figures->schedulable, want.schedulable);
            rows_expect_int(row.at, figures->largest_node, want.largest_node);
        }
    }
}

static void what_was_written_is_what_is_read_and_is_not_written_twice(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < cases(); seed++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct rng rng = rng_from_seed(seed);
        struct heap heap = { .nodes = 0 };
        struct inventory inventory = any_inventory(arena, &rng, &heap);
        struct json absent = { NULL, 0 };
        struct str row = str_fmt(arena, "seed %u", seed);
        struct str status = inventory_status(arena, &inventory, absent, 1000);
        struct json object = test_json(arena, str_fmt(arena, "{\"status\":%.*s}", STR_ARG(status)));
        struct inventory read = inventory_read(arena, object);

        rows_expect_str(row.at, inventory_status(arena, &read, absent, 1000), status);
        rows_expect_str(row.at, inventory_status(arena, &inventory, json_get(object, STR("status")), 5000), STR(""));
    }
}

/* --- fit --- */

static uint32_t denied_with(struct arena *arena, struct json stack, struct inventory inventory)
{
    struct facts facts = { .clusters_known = true, .inventories_kept = true, .clusters = fact_clusters_new(arena, 1) };
    struct rule_severities severities = rule_severities_default();

    fact_clusters_push(&facts.clusters, (struct fact_cluster){ .id = STR("c-1"), .ready = true, .inventory = &inventory });
    return stack_judge(arena, stack, (struct json){ NULL, 0 }, &facts, &severities).problems.denied;
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

static void more_gpus_never_refuse_more(void **state)
{
    uint32_t refused = 0;
    uint32_t accepted = 0;

    (void)state;
    for (uint32_t seed = 0; seed < cases(); seed++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct rng rng = rng_from_seed(seed);
        struct heap heap = { .nodes = 0 };
        struct inventory inventory = any_inventory(arena, &rng, &heap);
        struct inventory more = with_more(arena, &rng, &inventory);
        struct stack_builder b = a_stack(arena);
        struct json stack;
        uint32_t before, after;

        with_targets(&b, "{\"clusterIds\":[\"c-1\"]}");
        for (uint32_t i = 0, count = 1 + (uint32_t)rng_below(&rng, 3); i < count; i++)
            with_raw_chart(&b, str_z(arena, str_fmt(arena,
                "{\"name\":\"a%u\",\"repo\":\"https://x.io\",\"version\":\"1.0.0\","
                "\"values\":{\"inline\":{\"replicas\":%u,\"limits\":{\"%s\":%u}}}}",
                i, (uint32_t)rng_below(&rng, 4), resources[rng_below(&rng, RESOURCES)], 1 + (uint32_t)rng_below(&rng, 8))));
        stack = stack_json(&b);
        before = denied_with(arena, stack, inventory);
        after = denied_with(arena, stack, more);
        refused += before > 0;
        accepted += before == 0;
        rows_expect(str_fmt(arena, "seed %u", seed).at, after <= before, "more GPUs refuse no more");
    }
    rows_expect("both are met, else the law says nothing", refused > cases() / 20 && accepted > cases() / 20, "are met");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_the_nodes),
        cmocka_unit_test(what_was_written_is_what_is_read_and_is_not_written_twice),
        cmocka_unit_test(more_gpus_never_refuse_more),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
