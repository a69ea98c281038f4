/* SPDX-License-Identifier: Apache-2.0 */
/* stack_property_test.c: laws of Stacks and of graphs, on generated ones.
 *
 * HERD_CASES sets how many cases each law gets (default 3,000). A failure prints the seed of its
 * case: HERD_SEED=N runs that case alone. */
#include "support/rows.h"

#include "base/rng.h"
#include "stack/model/default.h"
#include "stack/targets/graph.h"
#include "support/any_stack.h"
#include "support/stack_builder.h"
#include "text/patch.h"

#include <inttypes.h>
#include <stdlib.h>

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text ? strtoull(text, NULL, 10) : otherwise;
}

static void for_each_case(void (*law)(struct arena *arena, struct rng *rng, const char *seed))
{
    uint64_t only = number_from("HERD_SEED", 0);
    uint64_t cases = only ? 1 : number_from("HERD_CASES", 3000);

    for (uint64_t i = 1; i <= cases; i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        uint64_t seed = only ? only : i;
        struct rng rng = rng_from_seed(seed);

        law(arena, &rng, str_fmt(arena, "HERD_SEED=%" PRIu64, seed).at);
    }
}

/* --- laws of Stacks --- */

static struct str defaults_of(struct arena *arena, struct json object, const struct stack **ret_stack)
{
    struct problems problems = problems_new(arena);
    struct str patch;
    const struct stack *stack = stack_default(arena, stack_decode(arena, object, &problems), &patch);

    if (ret_stack)
        *ret_stack = stack;
    return patch;
}

/* The Stack as the patched document has it, read anew, is the Stack as it was defaulted: both
 * lead to the same findings, and neither needs another patch. */
static void patching_is_defaulting(struct arena *arena, struct rng *rng, const char *seed)
{
    struct str text = any_stack(arena, rng);
    const struct stack *once;
    struct str patch = defaults_of(arena, test_json(arena, text), &once);
    struct value *document;
    struct value *after;
    struct str second;
    struct error err = { 0 };

    stack_default(arena, once, &second);
    rows_expect_str(seed, second, STR(""));
    if (!patch.len)
        return;
    rows_expect_int(seed, value_read(arena, text, &json_limits_default, &document, &err), 0);
    if (patch_apply(arena, document, patch, &after, &err) != 0)
        fail_msg("%s: %s\n%.*s\n%.*s", seed, err.text, STR_ARG(text), STR_ARG(patch));

    struct json patched = test_json(arena, value_json(arena, after));
    const struct stack *again;

    rows_expect_str(seed, defaults_of(arena, patched, &again), STR(""));
    rows_expect_int(seed, again->spec.given == once->spec.given, 1);
    rows_expect_int(seed, again->spec.security, once->spec.security);
    rows_expect_int(seed, again->spec.retry.limit, once->spec.retry.limit);
    rows_expect_str(seed, again->spec.retry.backoff, once->spec.retry.backoff);
    rows_expect_int(seed, again->spec.charts.count, once->spec.charts.count);
    for (uint32_t i = 0; i < again->spec.charts.count; i++) {
        const struct chart *a = &again->spec.charts.items[i];
        const struct chart *b = &once->spec.charts.items[i];

        rows_expect_str(seed, a->namespace_, b->namespace_);
        rows_expect_str(seed, a->release_name, b->release_name);
        rows_expect_str(seed, a->timeout, b->timeout);
        rows_expect(seed, a->wait == b->wait && a->given == b->given, "equal charts");
    }

    struct verdict before = validate_json(arena, test_json(arena, text));
    struct verdict behind = validate_json(arena, patched);

    rows_expect_str(seed, findings_text(arena, &behind.problems),
                    findings_text(arena, &before.problems));
}

static void patching_is_defaulting_always(void **state)
{
    (void)state;
    for_each_case(patching_is_defaulting);
}

/* Nothing is rejected when nothing changes, and what a change breaks is rejected as if it were new. */
static void updates(struct arena *arena, struct rng *rng, const char *seed)
{
    struct facts facts = { 0 };
    struct rule_severities severities = rule_severities_default();
    struct json a = test_json(arena, any_stack(arena, rng));
    struct json b = test_json(arena, any_stack(arena, rng));
    struct verdict same = stack_admit(arena, a, a, &facts, &severities);
    struct verdict changed = stack_admit(arena, b, a, &facts, &severities);
    struct verdict fresh = validate_json(arena, b);

    rows_expect(seed, same.allowed, "an update that changes nothing passes");
    rows_expect(seed, !fresh.allowed || changed.allowed, "what may be created may be changed to");
    rows_expect_int(seed, changed.problems.list.count, fresh.problems.list.count);
    if (validate_json(arena, a).problems.list.count == 0)
        rows_expect_int(seed, changed.problems.denied, fresh.problems.denied);
}

static void updates_always(void **state)
{
    (void)state;
    for_each_case(updates);
}

/* What is accepted can be applied: it has an order, targets, and whole charts. */
static uint32_t accepted;

static void accepted_is_sound(struct arena *arena, struct rng *rng, const char *seed)
{
    struct verdict verdict = validate_json(arena, test_json(arena, any_stack(arena, rng)));
    const struct stack_spec *spec = &verdict.stack->spec;

    rows_expect(seed, verdict.allowed == (verdict.message.len == 0), "a rejection has a message");
    if (!verdict.allowed)
        return;
    accepted++;

    struct graph *graph = graph_new(arena, spec->charts.count);
    struct u32_list order;

    for (uint32_t i = 0; i < spec->charts.count; i++) {
        const struct chart *chart = &spec->charts.items[i];

        graph_add(graph, chart->name, chart->depends_on);
        rows_expect(seed, chart->namespace_.len && chart->release_name.len && chart->repo.len &&
                              chart->version.len && chart_timeout_ms(chart) > 0, "a whole chart");
    }
    graph_link(graph);
    rows_expect_int(seed, graph_order(graph, arena, &order), 0);
    rows_expect(seed, spec->targets.cluster_ids.count || !label_selector_is_empty(&spec->targets.selector),
                "it has targets");
}

static void accepted_is_sound_always(void **state)
{
    (void)state;
    accepted = 0;
    for_each_case(accepted_is_sound);
    if (!getenv("HERD_SEED"))
        rows_expect("some are accepted, else the law says nothing", accepted * 150 > number_from("HERD_CASES", 3000),
                    "more than one in 150");
}

/* --- laws of graphs --- */

static struct graph *any_graph(struct arena *arena, struct rng *rng, uint32_t *ret_count)
{
    uint32_t count = (uint32_t)rng_below(rng, 12);
    uint64_t edges = rng_below(rng, 4);
    struct graph *graph = graph_new(arena, count);

    for (uint32_t i = 0; i < count; i++) {
        struct str_list needs = str_list_new(arena, 4);

        for (uint64_t k = rng_below(rng, edges + 1); k; k--)
            str_list_push(&needs, str_fmt(arena, "n%" PRIu64, rng_below(rng, count)));
        graph_add(graph, str_fmt(arena, "n%u", i), needs);
    }
    graph_link(graph);
    *ret_count = count;
    return graph;
}

struct reach {
    uint32_t node;
};

static bool is_node(void *context, uint32_t other)
{
    return ((struct reach *)context)->node == other;
}

static bool is_cut(const struct graph_cycles *cycles, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < cycles->count; i++) {
        const struct graph_cycle *cycle = &cycles->items[i];

        if (cycle->nodes.items[cycle->cut] == from &&
            cycle->nodes.items[(cycle->cut + 1) % cycle->nodes.count] == to)
            return true;
    }
    return false;
}

/* The graph as it is once every proposal was followed. */
static bool has_order_when_cut(struct arena *arena, const struct graph *graph, uint32_t count,
                               const struct graph_cycles *cycles)
{
    struct graph *fixed = graph_new(arena, count);
    struct u32_list order;

    for (uint32_t i = 0; i < count; i++) {
        const struct u32_list *needs = graph_needs(graph, i);
        struct str_list kept = str_list_new(arena, needs->count);

        for (uint32_t k = 0; k < needs->count; k++)
            if (!is_cut(cycles, i, needs->items[k]))
                str_list_push(&kept, str_fmt(arena, "n%u", needs->items[k]));
        graph_add(fixed, str_fmt(arena, "n%u", i), kept);
    }
    graph_link(fixed);
    return graph_order(fixed, arena, &order) == 0;
}

static void order_and_cycles(struct arena *arena, struct rng *rng, const char *seed)
{
    uint32_t count;
    struct graph *graph = any_graph(arena, rng, &count);
    struct u32_list order = { 0 };
    uint32_t *place = arena_array(arena, uint32_t, count);
    int failed = graph_order(graph, arena, &order);
    bool more = true;
    struct graph_cycles cycles = graph_cycles_of(graph, arena, &more);

    rows_expect(seed, (failed != 0) == (cycles.count != 0), "a cycle is found iff there is no order");
    for (uint32_t i = 0; i < order.count; i++)
        place[order.items[i]] = i + 1;
    for (uint32_t i = 0; failed == 0 && i < count; i++) {
        rows_expect(seed, place[i] != 0, "every node is placed");
        for (uint32_t k = 0; k < graph_needs(graph, i)->count; k++)
            rows_expect(seed, place[graph_needs(graph, i)->items[k]] < place[i], "edges are kept");
    }

    /* Nodes that reach themselves are those on cycles: each strongly connected component of them is found. */
    bool *covered = arena_array(arena, bool, count);

    for (uint32_t c = 0; c < cycles.count; c++) {
        const struct u32_list *nodes = &cycles.items[c].nodes;

        for (uint32_t i = 0; i < nodes->count; i++) {
            struct u32_list needs = *graph_needs(graph, nodes->items[i]);
            bool has = false;

            for (uint32_t k = 0; k < needs.count; k++)
                has = has || needs.items[k] == nodes->items[(i + 1) % nodes->count];
            rows_expect(seed, has, "each node of a cycle depends on the next");
            rows_expect(seed, nodes->items[0] <= nodes->items[i], "it begins at its least");
        }
        for (uint32_t i = 0; i < count; i++) {
            struct reach to_start = { nodes->items[0] };
            struct reach to_node = { i };
            bool same = i == nodes->items[0] ||
                        (graph_reaches(graph, arena, i, is_node, &to_start) &&
                         graph_reaches(graph, arena, nodes->items[0], is_node, &to_node));

            covered[i] = covered[i] || same;
        }
        rows_expect(seed, cycles.items[c].cut < nodes->count, "the cut is one of its edges");
    }
    rows_expect(seed, more || has_order_when_cut(arena, graph, count, &cycles),
                "all proposals together leave no cycle");
    for (uint32_t i = 0; i < count; i++) {
        struct reach self = { i };

        rows_expect(seed, graph_reaches(graph, arena, i, is_node, &self) == covered[i],
                    "every node on a cycle belongs to one that is told");
    }
}

static void order_and_cycles_always(void **state)
{
    (void)state;
    for_each_case(order_and_cycles);
}

/* Memory counts the steps: each of them keeps something, and none is kept twice. */
static size_t bytes_for(uint32_t nodes, uint32_t width, bool closed)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str_list names = str_list_new(arena, nodes);
    struct graph *graph = graph_new(arena, nodes);
    struct u32_list order;
    bool more;

    for (uint32_t i = 0; i < nodes; i++)
        str_list_push(&names, str_fmt(arena, "n%u", i));
    for (uint32_t i = 0; i < nodes; i++) {
        struct str_list needs = str_list_new(arena, width);

        for (uint32_t k = 1; k <= width && k <= i; k++)
            str_list_push(&needs, names.items[i - k]);
        if (closed && i == 0)
            str_list_push(&needs, names.items[nodes - 1]);
        graph_add(graph, names.items[i], needs);
    }
    rows_expect_int("entries that make no edge", graph_link(graph).count, 0);
    rows_expect_int("an order", graph_order(graph, arena, &order), closed ? -1 : 0);
    rows_expect_int("a cycle", graph_cycles_of(graph, arena, &more).count, closed);
    return arena_used(arena);
}

static void graphs_cost_what_they_are(void **state)
{
    (void)state;
    rows_expect("a chain of 100,000", bytes_for(100000, 1, false) < 11 * bytes_for(10000, 1, false), "linear");
    rows_expect("a ring of 100,000", bytes_for(100000, 1, true) < 11 * bytes_for(10000, 1, true), "linear");
    rows_expect("dense", bytes_for(2000, 200, false) < 5 * bytes_for(500, 200, false), "linear in edges");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patching_is_defaulting_always),
        cmocka_unit_test(updates_always),
        cmocka_unit_test(accepted_is_sound_always),
        cmocka_unit_test(order_and_cycles_always),
        cmocka_unit_test(graphs_cost_what_they_are),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
