/* SPDX-License-Identifier: Apache-2.0 */
/* known_stacks_property_test.c: whatever came and went, who claims a release is found.
 *
 * HERD_CASES sets how many cases each law gets; a failure prints its HERD_SEED. */
#include "support/rows.h"

#include "base/map.h"
#include "base/rng.h"
#include "stack/targets/claims.h"
#include "support/stack_builder.h"
#include "webhook/known_stacks.h"

#include <inttypes.h>
#include <stdlib.h>

enum { NAMES = 12, RELEASES = 4, IDS = 4, STEPS = 60 };

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text ? strtoull(text, NULL, 10) : otherwise;
}

struct world {
    struct arena *arena;
    struct known_stacks_table *table;
    struct kube_object *now[NAMES];
};

static struct str targets_of(struct arena *arena, struct rng *rng)
{
    struct strbuf out = strbuf_new(arena, 64);

    switch (rng_below(rng, 8)) {
    case 0:
        return STR("{}");
    case 1:
    case 2:
        return STR("{\"selector\":{\"matchLabels\":{\"a\":\"b\"}}}");
    default:
        strbuf_fmt(&out, "{\"clusterIds\":[\"c-%u\"", (unsigned)rng_below(rng, IDS));
        if (rng_below(rng, 2))
            strbuf_fmt(&out, ",\"c-%u\"", (unsigned)rng_below(rng, IDS));
        strbuf_lit(&out, "]}");
        return strbuf_str(&out);
    }
}

static struct kube_object *an_object(struct world *world, struct rng *rng, uint64_t name)
{
    struct stack_builder b = a_stack(world->arena);
    struct strbuf kept = strbuf_new(world->arena, 64);

    with_targets(&b, targets_of(world->arena, rng).at);
    for (uint64_t i = 0, count = rng_below(rng, 3); i < count; i++)
        with_chart(&b, str_fmt(world->arena, "r%u", (unsigned)rng_below(rng, RELEASES)).at, "");
    known_stacks_keep(stack_json(&b), &kept);
    return kube_object_create(STR("default"), str_fmt(world->arena, "s%u", (unsigned)name),
                              STR("uid"), STR("1"), strbuf_str(&kept));
}

static void step(struct world *world, struct rng *rng)
{
    uint64_t name = rng_below(rng, NAMES);
    struct kube_object *before = world->now[name];

    world->now[name] = before && rng_below(rng, 3) == 0 ? NULL : an_object(world, rng, name);
    known_stacks_put(world->table, before, world->now[name]);
    kube_object_unref(before);
}

/* Behind the line of GPUs and dependsOn. */
static struct claims claims_now(const struct world *world, int name)
{
    struct str kept = kube_object_kept(world->now[name]);

    return claims_read(world->arena,
                       str_slice(kept, (size_t)str_find_char(kept, '\n', 0) + 1, kept.len));
}

static void ask(struct world *world, const char *seed, struct str release,
                const struct str_list *ids)
{
    struct fact_stacks facts = known_stacks_facts(world->table);
    struct fact_claimants found;
    struct map *names = map_new(world->arena, NAMES);

    rows_expect(seed, facts.claimants(facts.context, world->arena, release, ids, &found), "all");
    for (uint32_t i = 0; i < found.count; i++)
        map_put(names, found.items[i].name, &found.items[i]);
    for (int i = 0; i < NAMES; i++) {
        struct str name = str_fmt(world->arena, "s%d", i);
        bool wanted = false;

        if (world->now[i]) {
            struct claims claims = claims_now(world, i);

            wanted = claims.targets.by_selector;
            for (uint32_t k = 0; k < ids->count; k++)
                wanted = wanted || str_list_has(&claims.targets.ids, ids->items[k]);
            wanted = wanted && claims_find(&claims, release) >= 0;
        }
        /* So few hashes do not meet by chance. */
        rows_expect_int(seed, map_get(names, name) != NULL, wanted);
    }
}

static void all_claimants_are_found(uint64_t seed)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(known_stacks_unref) struct known_stacks_table *table = known_stacks_create();
    struct world world = { .arena = arena, .table = table };
    struct rng rng = rng_from_seed(seed);
    const char *sentence = str_fmt(arena, "HERD_SEED=%" PRIu64, seed).at;

    for (int i = 0; i < STEPS; i++) {
        struct str_list ids = str_list_new(arena, IDS);

        step(&world, &rng);
        for (unsigned k = 0; k < IDS; k++)
            if (rng_below(&rng, 2))
                str_list_push(&ids, str_fmt(arena, "c-%u", k));
        ask(&world, sentence,
            str_fmt(arena, "r%u/r%u", (unsigned)(i % RELEASES), (unsigned)(i % RELEASES)), &ids);
    }
    for (int i = 0; i < NAMES; i++)
        kube_object_unref(world.now[i]);
}

static void whatever_came_and_went(void **state)
{
    uint64_t only = number_from("HERD_SEED", 0);
    uint64_t cases = only ? 1 : number_from("HERD_CASES", 300);

    (void)state;
    for (uint64_t i = 1; i <= cases; i++)
        all_claimants_are_found(only ? only : i);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(whatever_came_and_went) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
