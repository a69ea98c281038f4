/* SPDX-License-Identifier: Apache-2.0 */
/* reservations_test.c: what is reserved on a cluster is what Stacks ask for there now, whatever came and
 * went before; and exactly the clusters with another sum are told. */
#include "support/rows.h"

#include "base/rng.h"
#include "controller/reconcilers/cluster_inventory/reservations.h"
#include "stack/model/limits.h"

#include <string.h>

enum { STACKS = 4, CLUSTERS = 5, RESOURCES = 2, STEPS = 300 };
static const char *const stacks[STACKS] = { "a/one", "a/two", "b/one", "b-c/one" };
static const char *const clusters[CLUSTERS] = { "c-1", "c-10", "c-2", "c-m-a", "local.x" };
static const char *const resources[RESOURCES] = { "amd.com/gpu", "nvidia.com/mig-1g.5gb" };

struct world {
    int64_t asks[STACKS][CLUSTERS][RESOURCES];
    bool told[CLUSTERS];
    bool told_other;
};

static void on_told(void *context, struct str cluster)
{
    struct world *world = context;

    for (uint32_t c = 0; c < CLUSTERS; c++) {
        if (str_eq(cluster, str_of(clusters[c]))) {
            world->told[c] = true;
            return;
        }
    }
    world->told_other = true;
}

static struct fact_clusters all_clusters(struct arena *arena)
{
    struct fact_clusters all = fact_clusters_new(arena, CLUSTERS);

    for (uint32_t c = 0; c < CLUSTERS; c++)
        fact_clusters_push(&all, (struct fact_cluster){ .id = str_of(clusters[c]) });
    return all;
}

/* Up to two groups of clusters, each asked for the same; some are in none. */
static struct gpu_groups any_groups(struct arena *arena, struct rng *rng,
                                    int64_t asks[CLUSTERS][RESOURCES])
{
    struct gpu_groups groups = gpu_groups_new(arena, 2);

    memset(asks, 0, sizeof(int64_t[CLUSTERS][RESOURCES]));
    for (uint32_t g = 0; g < 2; g++) {
        struct gpu_group group = { .asks = gpu_asks_new(arena, RESOURCES), .clusters = u32_list_new(arena, CLUSTERS) };
        int64_t totals[RESOURCES] = { (int64_t)rng_below(rng, 3), (int64_t)rng_below(rng, 3) };

        for (uint32_t r = 0; r < RESOURCES; r++) {
            if (totals[r])
                gpu_asks_push(&group.asks, (struct gpu_ask){ .resource = str_of(resources[r]), .total = totals[r] });
        }
        for (uint32_t c = g; c < CLUSTERS; c += 2) {
            if (rng_below(rng, 3) == 0)
                continue;
            u32_list_push(&group.clusters, c);
            memcpy(asks[c], totals, sizeof(totals));
        }
        gpu_groups_push(&groups, group);
    }
    return groups;
}

static struct str written(struct arena *arena, const struct inventory *inventory)
{
    struct strbuf out = strbuf_new(arena, 256);

    for (uint32_t i = 0; i < inventory->reservations.count; i++) {
        const struct inventory_reservation *reservation = &inventory->reservations.items[i];

        strbuf_put(&out, reservation->stack);
        for (uint32_t k = 0; k < reservation->amounts.count; k++)
            strbuf_fmt(&out, " %.*s=%lld", STR_ARG(reservation->amounts.items[k].name),
                       (long long)reservation->amounts.items[k].count);
        strbuf_char(&out, ';');
    }
    return strbuf_str(&out);
}

static struct str wanted(struct arena *arena, const struct world *world, uint32_t c)
{
    static const uint32_t in_order[STACKS] = { 0, 1, 3, 2 }; /* '-' stands before '/' */
    struct strbuf out = strbuf_new(arena, 256);

    for (uint32_t i = 0; i < STACKS; i++) {
        const int64_t *asks = world->asks[in_order[i]][c];

        if (!asks[0] && !asks[1])
            continue;
        strbuf_put(&out, str_of(stacks[in_order[i]]));
        for (uint32_t r = 0; r < RESOURCES; r++) {
            if (asks[r])
                strbuf_fmt(&out, " %s=%lld", resources[r], (long long)asks[r]);
        }
        strbuf_char(&out, ';');
    }
    return strbuf_str(&out);
}

static void step(struct reservations *reservations, struct world *world, struct rng *rng)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct fact_clusters all = all_clusters(arena);
    uint32_t s = (uint32_t)rng_below(rng, STACKS);
    int64_t before[CLUSTERS][RESOURCES];

    memcpy(before, world->asks[s], sizeof(before));
    memset(world->told, 0, sizeof(world->told));
    if (rng_below(rng, 4) == 0) {
        memset(world->asks[s], 0, sizeof(world->asks[s]));
        reservations_forget(reservations, str_of(stacks[s]), on_told, world);
    } else {
        struct gpu_groups groups = any_groups(arena, rng, world->asks[s]);

        reservations_put(reservations, str_of(stacks[s]), &groups, &all, on_told, world);
    }
    for (uint32_t c = 0; c < CLUSTERS; c++) {
        struct inventory inventory = inventory_new(arena);
        bool differs = memcmp(before[c], world->asks[s][c], sizeof(before[c])) != 0;

        reservations_add_to(reservations, arena, str_of(clusters[c]), &inventory);
        rows_expect_str(clusters[c], written(arena, &inventory), wanted(arena, world, c));
        rows_expect_int(clusters[c], world->told[c], differs);
    }
    rows_expect("no other cluster", !world->told_other, "is told");
}

static void reservations_are_what_is_asked_for_now(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < 20; seed++) {
        AUTO(reservations_free) struct reservations *reservations = reservations_create();
        struct world world = { .told_other = false };
        struct rng rng = rng_from_seed(seed);

        for (uint32_t i = 0; i < STEPS; i++)
            step(reservations, &world, &rng);
    }
}

static void count_stack(void *context, struct str stack)
{
    (void)stack;
    (*(uint32_t *)context)++;
}

static void a_stack_that_asks_for_nothing_today_is_remembered(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(reservations_free) struct reservations *reservations = reservations_create();
    struct gpu_groups none = gpu_groups_new(arena, 0);
    struct fact_clusters all = all_clusters(arena);
    struct world world = { .told_other = false };
    uint32_t count = 0;

    reservations_put(reservations, STR("a/one"), &none, &all, on_told, &world);
    reservations_each(reservations, count_stack, &count);
    rows_expect_int("put", count, 1);
    reservations_forget(reservations, STR("a/one"), on_told, &world);
    count = 0;
    reservations_each(reservations, count_stack, &count);
    rows_expect_int("forgotten", count, 0);
    (void)state;
}

/* It is kept for each cluster, and authors name resources. */
static void a_stack_s_resources_are_bounded(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(reservations_free) struct reservations *reservations = reservations_create();
    struct fact_clusters all = all_clusters(arena);
    struct inventory inventory = inventory_new(arena);
    struct gpu_group group = { .asks = gpu_asks_new(arena, 0), .clusters = u32_list_new(arena, 1) };
    struct gpu_groups groups = gpu_groups_new(arena, 1);
    struct world world = { .told_other = false };

    (void)state;
    for (int i = 0; i < 1000; i++)
        gpu_asks_push(&group.asks, (struct gpu_ask){ .resource = str_fmt(arena, "nvidia.com/mig-%03d", i), .total = 1 });
    u32_list_push(&group.clusters, 0);
    gpu_groups_push(&groups, group);
    reservations_put(reservations, str_of(stacks[0]), &groups, &all, on_told, &world);
    reservations_add_to(reservations, arena, str_of(clusters[0]), &inventory);
    rows_expect_int("of all that it asks for", inventory.reservations.items[0].amounts.count, LIMIT_INVENTORY_RESOURCES);
    rows_expect_str("the first", inventory.reservations.items[0].amounts.items[0].name, STR("nvidia.com/mig-000"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reservations_are_what_is_asked_for_now),
        cmocka_unit_test(a_stack_that_asks_for_nothing_today_is_remembered),
        cmocka_unit_test(a_stack_s_resources_are_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
