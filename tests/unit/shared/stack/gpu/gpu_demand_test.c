/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_demand_test.c: what a Stack asks of one cluster. */
#include "support/rows.h"

#include "stack/model/default.h"
#include "stack/gpu/gpu_demand.h"
#include "stack/model/release.h"
#include "support/stack_builder.h"

#define CHART(name, inline) "{\"name\":\"" name "\",\"repo\":\"https://x.io\",\"version\":\"1.0.0\",\"values\":{\"inline\":" inline "}}"
#define GPU(count) "\"limits\":{\"nvidia.com/gpu\":" count "}"
#define OVERRIDE(charts) "\"overrides\":[{\"clusterIds\":[\"c-1\"],\"charts\":[" charts "]}]"

static const struct {
    const char *says, *charts, *spec;
    const char *asks; /* "resource total/pod ..." on the cluster c-1 */
} rows[] = {
    { "nothing", CHART("a", "{}"), NULL, "" },
    { "one pod", CHART("a", "{\"resources\":{" GPU("2") "}}"), NULL, "nvidia.com/gpu 2/2" },
    { "as a text", CHART("a", "{\"resources\":{" GPU("\"2\"") "}}"), NULL, "nvidia.com/gpu 2/2" },
    { "times replicas", CHART("a", "{\"replicas\":3,\"resources\":{" GPU("2") "}}"), NULL, "nvidia.com/gpu 6/2" },
    { "by their other name", CHART("a", "{\"replicaCount\":3,\"resources\":{" GPU("2") "}}"), NULL, "nvidia.com/gpu 6/2" },
    { "the nearest count, and not the product", CHART("a", "{\"replicaCount\":3,\"worker\":{\"replicas\":2,\"resources\":{" GPU("1") "}}}"), NULL, "nvidia.com/gpu 2/1" },
    { "each part by its own", CHART("a", "{\"replicaCount\":3,\"resources\":{" GPU("1") "},\"worker\":{\"replicas\":2,\"resources\":{" GPU("4") "}}}"), NULL, "nvidia.com/gpu 11/4" },
    { "no replicas, no GPUs", CHART("a", "{\"replicas\":0,\"resources\":{" GPU("1") "}}"), NULL, "" },
    { "replicas that are no number", CHART("a", "{\"replicas\":\"3\",\"resources\":{" GPU("1") "}}"), NULL, "nvidia.com/gpu 1/1" },
    { "what is switched off", CHART("a", "{\"worker\":{\"enabled\":false,\"resources\":{" GPU("1") "}},\"resources\":{" GPU("2") "}}"), NULL, "nvidia.com/gpu 2/2" },
    { "what is switched on", CHART("a", "{\"worker\":{\"enabled\":true,\"resources\":{" GPU("1") "}}}"), NULL, "nvidia.com/gpu 1/1" },
    { "limits, not requests on top", CHART("a", "{\"resources\":{\"requests\":{\"nvidia.com/gpu\":2}," GPU("2") "}}"), NULL, "nvidia.com/gpu 2/2" },
    { "requests where limits are silent", CHART("a", "{\"resources\":{\"requests\":{\"nvidia.com/gpu\":2},\"limits\":{\"cpu\":1}}}"), NULL, "nvidia.com/gpu 2/2" },
    { "null deletes", CHART("a", "{\"resources\":{" GPU("null") "}}"), NULL, "" },
    { "half a one is told elsewhere", CHART("a", "{\"resources\":{" GPU("0.5") "}}"), NULL, "" },
    { "containers of a list", CHART("a", "{\"replicas\":2,\"containers\":[{\"resources\":{" GPU("1") "}},{\"resources\":{" GPU("1") "}}]}"), NULL, "nvidia.com/gpu 4/1" },
    { "two charts, in the order of resources", CHART("a", "{\"resources\":{" GPU("1") "}}") "," CHART("b", "{\"x\":{\"limits\":{\"amd.com/gpu\":1,\"nvidia.com/mig-1g.5gb\":3}},\"y\":{" GPU("4") "}}"), NULL,
      "amd.com/gpu 1/1 nvidia.com/gpu 5/4 nvidia.com/mig-1g.5gb 3/3" },
    { "what Kubernetes would take for no resource", CHART("a", "{\"limits\":{\"nvidia.com/mig-\":1,\"nvidia.com/mig-a b\":1,\"nvidia.com/mig-a\\nc-2 nvidia.com/gpu\":9,\"gpu.intel.com/\":1}}"), NULL, "" },
    { "more than can be counted stays the most", CHART("a", "{\"replicas\":9000000000000000000,\"resources\":{" GPU("9000000") "}}"), NULL, "nvidia.com/gpu 9223372036854775807/9000000" },
    { "an override of replicas", CHART("a", "{\"replicas\":2,\"resources\":{" GPU("2") "}}"), OVERRIDE("{\"name\":\"a\",\"values\":{\"inline\":{\"replicas\":5}}}"), "nvidia.com/gpu 10/2" },
    { "an override that takes them away", CHART("a", "{\"resources\":{" GPU("2") "}}"), OVERRIDE("{\"name\":\"a\",\"values\":{\"inline\":{\"resources\":null}}}"), "" },
    { "an override that brings them", CHART("a", "{}"), OVERRIDE("{\"name\":\"a\",\"values\":{\"inline\":{\"resources\":{" GPU("1") "}}}}"), "nvidia.com/gpu 1/1" },
    { "a chart that is skipped", CHART("a", "{\"resources\":{" GPU("2") "}}") "," CHART("b", "{\"resources\":{" GPU("1") "}}"), OVERRIDE("{\"name\":\"a\",\"skip\":true}"), "nvidia.com/gpu 1/1" },
};

static void demand(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct stack_builder b = a_stack(arena);
        struct problems problems = problems_new(arena);
        struct strbuf got = strbuf_new(arena, 64);

        with_raw_chart(&b, rows[i].charts);
        if (rows[i].spec)
            with_spec(&b, rows[i].spec);

        const struct stack *stack = stack_default(arena, stack_decode(arena, stack_json(&b), &problems), NULL);
        struct u32_list on = override_matcher_on(override_matcher_new(arena, stack), arena, STR("c-1"),
                                                 (struct json){ NULL, 0 });
        struct gpu_asks asks = gpu_demand(gpu_counter_new(arena, stack, UINT64_MAX), &on);

        for (uint32_t k = 0; k < asks.count; k++)
            strbuf_fmt(&got, "%s%.*s %lld/%lld", k ? " " : "", STR_ARG(asks.items[k].resource),
                       (long long)asks.items[k].total, (long long)asks.items[k].pod);
        rows_expect_str(rows[i].says, strbuf_str(&got), str_of(rows[i].asks));
    }
}

static void totals_are_of_gpus_only(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct gpu_asks asks = gpu_asks_new(arena, 0);

    (void)state;
    gpu_asks_push(&asks, (struct gpu_ask){ .resource = STR("gpu.intel.com/i915"), .total = 2 });
    gpu_asks_push(&asks, (struct gpu_ask){ .resource = STR("gpu.intel.com/millicores"), .total = 1000 });
    gpu_asks_push(&asks, (struct gpu_ask){ .resource = STR("nvidia.com/mig-1g.5gb"), .total = 3 });
    rows_expect_int("GPUs and parts of them", gpu_asks_total(&asks), 5);
}

/* Each of many clusters by overrides of its own, and many values to lay over one another: more work than one Stack is
 * worth, and more memory than there is. */
static void what_differs_in_too_much_is_counted_as_it_stands(void **state)
{
    enum { CLUSTERS = 300, OVERRIDES = 20, VALUES = 2000 };
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(arena_free) struct arena *used = arena_create(0);
    struct fact_clusters clusters = fact_clusters_new(arena, CLUSTERS);
    struct stack_builder b = a_stack(arena);
    struct problems problems = problems_new(arena);
    struct strbuf values = strbuf_new(arena, 1024);
    struct strbuf spec = strbuf_new(arena, 1024);

    (void)state;
    for (int i = 0; i < CLUSTERS; i++)
        fact_clusters_push(&clusters, (struct fact_cluster){ .id = str_fmt(arena, "c-%d", i) });
    for (int i = 0; i < VALUES; i++)
        strbuf_fmt(&values, ",\"v%d\":{\"replicas\":1}", i);
    for (int i = 0; i < OVERRIDES; i++) {
        strbuf_fmt(&spec, "%s{\"clusterIds\":[\"none\"", i ? "," : "\"overrides\":[");
        for (int k = 0; k < CLUSTERS; k++)
            if (k >> i % 8 & 1)
                strbuf_fmt(&spec, ",\"c-%d\"", k);
        strbuf_fmt(&spec, "],\"charts\":[{\"name\":\"a\",\"values\":{\"inline\":{\"v%d\":{\"replicas\":2},\"replicas\":5}}}]}", i);
    }
    strbuf_lit(&spec, "]");
    with_raw_chart(&b, str_fmt(arena, CHART("a", "{\"replicas\":3," GPU("2") "%.*s}"), STR_ARG(strbuf_str(&values))).at);
    with_spec(&b, str_z(arena, strbuf_str(&spec)));

    const struct stack *stack = stack_default(arena, stack_decode(arena, stack_json(&b), &problems), NULL);
    struct gpu_groups groups = gpu_demand_bounded(used, stack, &clusters);

    rows_expect_int("one group", groups.count, 1);
    rows_expect_int("of all clusters", groups.items[0].clusters.count, CLUSTERS);
    rows_expect_int("without overrides", groups.items[0].asks.items[0].total, 6);
    rows_expect("in little memory", arena_used(used) < 16 << 20, "16 MiB");
    clusters.count = 1;
    groups = gpu_demand_bounded(used, stack, &clusters);
    rows_expect_int("what can be counted is", groups.items[0].asks.items[0].total, 6);
    clusters.count = 2;
    groups = gpu_demand_bounded(used, stack, &clusters);
    rows_expect_int("with overrides", groups.items[1].asks.items[0].total, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(demand),
        cmocka_unit_test(totals_are_of_gpus_only),
        cmocka_unit_test(what_differs_in_too_much_is_counted_as_it_stands),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
