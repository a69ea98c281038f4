/* SPDX-License-Identifier: Apache-2.0 */
/* plan_work_test.c: the work of a plan grows in step with the releases that it is about, also where
 * each has a former one that is to go. Counted in blocks of code that run and in bytes, as in
 * tests/unit/webhook/work_test.c. */
#include "support/rows.h"

#include "support/observed_builder.h"

#include <inttypes.h>

void __sanitizer_cov_trace_pc(void);

static uint64_t steps;

void __sanitizer_cov_trace_pc(void)
{
    steps++;
}

struct work {
    uint64_t steps, bytes;
    uint32_t releases;
};

/* A chain of charts; a new name for each of their releases if `renamed`. */
static const struct stack *stack_of(struct arena *arena, uint32_t charts, bool renamed)
{
    struct strbuf members = strbuf_new(arena, 65536);

    strbuf_lit(&members, "\"rollout\":{\"maxConcurrentClusters\":7,\"maxFailures\":3,\"waves\":[{\"name\":"
                         "\"first\",\"selector\":{\"matchLabels\":{\"first\":\"yes\"}}}]},\"charts\":[");
    for (uint32_t i = 0; i < charts; i++) {
        strbuf_fmt(&members, "%s{\"name\":\"c%u\",\"repo\":\"https://charts.example.com\",\"version\":"
                   "\"1.2.3\",\"namespace\":\"n\",\"releaseName\":\"c%u%s\",\"dependsOn\":[",
                   i ? "," : "", i, i, renamed ? "-new" : "");
        if (i)
            strbuf_fmt(&members, "\"c%u\"", i - 1);
        strbuf_lit(&members, "]}");
    }
    strbuf_lit(&members, "]");
    return scene_stack(arena, NULL, str_z(arena, strbuf_str(&members)),
                       renamed ? ",\"generation\":2,\"finalizers\":[\"" STACK_FINALIZER "\"]"
                               : ",\"generation\":1,\"finalizers\":[\"" STACK_FINALIZER "\"]");
}

/* All is deployed as the Stack was. */
static void put_cluster(struct arena *arena, struct observed *observed, const struct stack *stack,
                        uint32_t k, const struct desired_release *const *desired)
{
    uint32_t charts = stack->spec.charts.count;
    struct observed_cluster c = {
        .id = str_fmt(arena, "k%05u", k),
        .targeted = true,
        .state = CLUSTER_READ,
        .releases = observed_releases_new(arena, charts),
        .operations = observed_operations_new(arena, 0),
        .repos = observed_repos_new(arena, 1),
        .versions = observed_versions_new(arena, charts),
    };

    observed_repos_push(&c.repos, (struct observed_repo){
        .url = STR("https://charts.example.com"), .name = STR("herd-repo"), .state = REPO_READY });
    for (uint32_t i = 0; i < charts; i++) {
        const struct chart *chart = &stack->spec.charts.items[i];

        observed_releases_push(&c.releases, (struct observed_release){
            .namespace_ = chart->namespace_, .name = chart->release_name, .uid = STR("app"),
            .phase = RELEASE_DEPLOYED, .revision = 1, .chart_version = STR("1.2.3"),
            .stack = STR("team/shop"), .stack_uid = STR("uid-1"), .stamped_revision = 1,
            .digest = desired[i]->digest, .chart_name = chart->name,
            .depends_on = desired[i]->depends_on, .marked_uid = STR("uid-1"),
            .marked_digest = desired[i]->digest });
        observed_versions_push(&c.versions, (struct observed_version){
            .repo = STR("https://charts.example.com"), .chart = chart->name,
            .version = STR("1.2.3"), .state = VERSION_FOUND, .resolved = STR("1.2.3") });
    }
    observed_clusters_push(&observed->clusters, c);
}

static struct observed observed_of(struct arena *arena, const struct stack *stack, uint32_t clusters)
{
    uint32_t charts = stack->spec.charts.count;
    const struct desired_release **desired = arena_array(arena, const struct desired_release *,
                                                         charts);
    const struct template_facts facts = { .id = STR("k"), .name = STR("k") };
    struct observed observed = { .now_ms = 1700000000000LL, .clusters_known = true,
                                 .clusters = observed_clusters_new(arena, clusters),
                                 .references = observed_references_new(arena, 0),
                                 .stacks = observed_stacks_new(arena, 0), .settle_ms = 30000,
                                 .cluster_operations_max = 3 };

    for (uint32_t i = 0; i < charts; i++)
        desired[i] = scene_wanted(arena, stack, &observed.references, i, &facts).desired;
    for (uint32_t k = 0; k < clusters; k++)
        put_cluster(arena, &observed, stack, k, desired);
    return observed;
}

static struct stack_status plan_once(struct arena *arena, const struct stack *stack,
                                     struct observed *observed, struct plan *ret_plan)
{
    struct error err = { 0 };
    struct json json = { NULL, 0 };
    struct stack_status status;

    *ret_plan = stack_plan(arena, stack, observed);
    status = stack_status_of(arena, stack, observed, ret_plan);
    if (json_read(arena, stack_status_write(arena, &status), &json_limits_default, &json, &err) < 0)
        fail_msg("%s", err.text);
    return stack_status_read(arena, json);
}

static struct work work_of(uint32_t charts, uint32_t clusters)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(arena_free) struct arena *used = arena_create(0);
    const struct stack *before = stack_of(arena, charts, false);
    const struct stack *after = stack_of(arena, charts, true);
    struct observed observed = observed_of(arena, before, clusters);
    struct stack_status status;
    struct plan plan;

    status = plan_once(arena, before, &observed, &plan);
    rows_expect_int("it is settled", plan.deployed, charts * clusters);
    observed.before = &status;
    observed.now_ms += 60000;
    steps = 0;
    (void)plan_once(used, after, &observed, &plan);
    rows_expect_int("each release has a former one", plan.unwanted, charts * clusters);
    return (struct work){ steps, arena_used(used), plan.releases.count };
}

/* As in tests/unit/webhook/work_test.c. */
enum { TIMES = 10, GROWTH_MAX = 12 };

static void ten_times_as_much_costs_about_ten_times_the_work(void **state)
{
    static const struct {
        uint32_t charts, clusters;
    } sizes[] = { { 30, 20 }, { 300, 20 }, { 300, 200 } };
    struct work few = { 0 };

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct work many = work_of(sizes[i].charts, sizes[i].clusters);

        print_message("%u charts on %u clusters, renamed: %u releases, %" PRIu64 " steps, %" PRIu64
                      " bytes\n", sizes[i].charts, sizes[i].clusters, many.releases, many.steps,
                      many.bytes);
        rows_expect("the work is counted", many.steps > 1000, "steps");
        if (i) {
            rows_expect("steps", many.steps <= few.steps * GROWTH_MAX, "they grow in step");
            rows_expect("bytes", many.bytes <= few.bytes * GROWTH_MAX, "they grow in step");
        }
        few = many;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_times_as_much_costs_about_ten_times_the_work),
    };

    return cmocka_run_group_tests_name("unit/shared/stack/plan/plan_work", tests, NULL, NULL);
}
