/* SPDX-License-Identifier: Apache-2.0 */
/* known_stacks_test.c: what is kept of Stacks, found again, held, and bounded. */
#include "support/rows.h"

#include "stack/model/limits.h"
#include "stack/targets/claims.h"
#include "support/stack_builder.h"
#include "webhook/claim_index.h"
#include "webhook/known_stacks.h"

#include <stdlib.h>

static struct kube_object *stored(struct arena *arena, const char *name, const char *targets,
                                  const char *chart)
{
    struct stack_builder b = a_stack(arena);
    struct strbuf kept = strbuf_new(arena, 64);

    with_targets(&b, targets);
    with_chart(&b, chart, "");
    known_stacks_keep(stack_json(&b), &kept);
    return kube_object_create(STR("default"), str_of(name), STR("u"), STR("1"), strbuf_str(&kept));
}

/* "a b", in order of name. */
static struct str found(struct arena *arena, struct known_stacks_table *table, const char *release,
                        const char *id)
{
    struct fact_stacks facts = known_stacks_facts(table);
    struct str_list ids = str_list_new(arena, 1);
    struct fact_claimants claimants;
    struct strbuf out = strbuf_new(arena, 16);

    if (id)
        str_list_push(&ids, str_of(id));
    facts.claimants(facts.context, arena, str_of(release), &ids, &claimants);
    for (uint32_t i = 0; i < claimants.count; i++)
        strbuf_fmt(&out, "%s%.*s", i ? " " : "", STR_ARG(claimants.items[i].name));
    return strbuf_str(&out);
}

#define SELECTOR "{\"selector\":{\"matchLabels\":{\"a\":\"b\"}}}"
#define ONE "{\"clusterIds\":[\"c-1\"]}"

static void stacks_are_found_by_what_they_claim(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(known_stacks_unref) struct known_stacks_table *table = known_stacks_create();
    AUTO(kube_object_unref) struct kube_object *one = stored(arena, "one", ONE, "db");
    AUTO(kube_object_unref) struct kube_object *any = stored(arena, "any", SELECTOR, "web");
    AUTO(kube_object_unref) struct kube_object *moved = stored(arena, "one", ONE, "web");

    (void)state;
    known_stacks_put(table, NULL, one);
    known_stacks_put(table, NULL, any);
    rows_expect_str("by its id", found(arena, table, "db/db", "c-1"), STR("one"));
    rows_expect_str("not by another", found(arena, table, "db/db", "c-2"), STR(""));
    rows_expect_str("not by another release", found(arena, table, "db/x", "c-1"), STR(""));
    rows_expect_str("a selector by any id", found(arena, table, "web/web", "c-9"), STR("any"));
    rows_expect_str("and by none", found(arena, table, "web/web", NULL), STR("any"));

    /* What is held stays as it was although it is replaced and goes. */
    struct fact_stacks facts = known_stacks_facts(table);
    struct str_list ids = str_list_new(arena, 1);
    struct fact_claimants held;

    str_list_push(&ids, STR("c-1"));
    facts.claimants(facts.context, arena, STR("db/db"), &ids, &held);
    known_stacks_put(table, one, moved);
    rows_expect_str("changed", found(arena, table, "db/db", "c-1"), STR(""));
    rows_expect_str("to another", found(arena, table, "web/web", "c-1"), STR("any one"));
    known_stacks_put(table, moved, NULL);
    rows_expect_str("gone", found(arena, table, "web/web", "c-1"), STR("any"));

    struct claims claims = claims_read(arena, held.items[0].packed);

    rows_expect_int("held", claims_find(&claims, STR("db/db")), 0);
}

/* "!" if there is none; else the GPUs that it brings and what it waits for. */
static struct str known_of(struct arena *arena, struct known_stacks_table *table, const char *name)
{
    struct fact_stacks facts = known_stacks_facts(table);
    struct fact_stack stack;
    struct strbuf out = strbuf_new(arena, 16);

    if (!facts.get(facts.context, arena, STR("default"), str_of(name), &stack) || !stack.known)
        return STR("!");
    strbuf_fmt(&out, "%u", stack.provides);
    for (uint32_t i = 0; i < stack.depends_on.count; i++)
        strbuf_fmt(&out, " %.*s", STR_ARG(stack.depends_on.items[i]));
    return strbuf_str(&out);
}

#define SKIPS(ids) "\"overrides\":[{\"clusterIds\":[" ids "],\"charts\":[{\"name\":\"gpu-operator\",\"skip\":true}]}]"

static void what_a_stack_brings_and_waits_for_is_known(void **state)
{
    static const struct {
        const char *says, *targets, *charts[3], *spec, *want;
    } rows[] = {
        { "nothing of either", ONE, { "db" }, NULL, "0" },
        { "the GPUs of one vendor", ONE, { "db", "gpu-operator" }, NULL, "1" },
        { "of two, and names", SELECTOR, { "gpu-operator", "amd-gpu" }, "\"dependsOn\":[{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"C,\"}]", "3 a b" },
        { "none that it skips everywhere", ONE, { "gpu-operator" }, SKIPS("\"c-1\""), "0" },
        { "one that it skips elsewhere", ONE, { "gpu-operator" }, SKIPS("\"c-2\""), "1" },
        { "one that a selector may choose", SELECTOR, { "gpu-operator" }, SKIPS("\"c-1\""), "1" },
        { "none where the same selector skips it", SELECTOR, { "gpu-operator" },
          "\"overrides\":[{\"selector\":{\"matchLabels\":{\"a\":\"b\"}},\"charts\":[{\"name\":\"gpu-operator\",\"skip\":true}]}]", "0" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        AUTO(known_stacks_unref) struct known_stacks_table *table = known_stacks_create();
        struct stack_builder b = a_stack(arena);
        struct strbuf kept = strbuf_new(arena, 64);

        with_targets(&b, rows[i].targets);
        for (size_t k = 0; k < 3 && rows[i].charts[k]; k++)
            with_chart(&b, rows[i].charts[k], "");
        if (rows[i].spec)
            with_spec(&b, rows[i].spec);
        known_stacks_keep(stack_json(&b), &kept);

        AUTO(kube_object_unref) struct kube_object *one =
            kube_object_create(STR("default"), STR("s"), STR("u"), STR("1"), strbuf_str(&kept));

        known_stacks_put(table, NULL, one);
        rows_expect_str(rows[i].says, known_of(arena, table, "s"), str_of(rows[i].want));
        rows_expect_str("no other", known_of(arena, table, "t"), STR("!"));
    }
}

static void no_more_than_the_bound_are_given(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(known_stacks_unref) struct known_stacks_table *table = known_stacks_create();
    struct fact_stacks facts = known_stacks_facts(table);
    struct fact_claimants claimants;
    struct str_list none = str_list_new(arena, 0);

    (void)state;
    for (int i = 0; i <= LIMIT_CLAIMANTS; i++) {
        AUTO(kube_object_unref) struct kube_object *one =
            stored(arena, str_fmt(arena, "s%d", i).at, SELECTOR, "db");

        rows_expect("all of them",
                    facts.claimants(facts.context, arena, STR("db/db"), &none, &claimants) &&
                        claimants.count == (uint32_t)i,
                    "up to the bound");
        known_stacks_put(table, NULL, one);
        if (i % 64 == 0)
            arena_reset(arena), none = str_list_new(arena, 0);
    }
    rows_expect("one more", !facts.claimants(facts.context, arena, STR("db/db"), &none, &claimants),
                "it says so");
    rows_expect_int("as many as may be", claimants.count, LIMIT_CLAIMANTS);
}

struct asking {
    struct arena *arena;
    struct known_stacks_table *table;
};

static void ask(void *context)
{
    struct asking *asking = context;

    found(asking->arena, asking->table, "db/db", "c-1");
}

/* A reference that is lost would be a leak that LeakSanitizer tells. */
static void asking_can_be_abandoned_anywhere(void **state)
{
    AUTO(arena_free) struct arena *building = arena_create(0);
    AUTO(known_stacks_unref) struct known_stacks_table *table = known_stacks_create();
    size_t nth = 1;

    (void)state;
    for (int i = 0; i < 3; i++) {
        AUTO(kube_object_unref) struct kube_object *one =
            stored(building, str_fmt(building, "s%d", i).at, ONE, "db");

        known_stacks_put(table, NULL, one);
    }
    for (bool done = false; !done; nth++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct asking asking = { arena, table };

        arena_fail_at(arena, nth);
        done = arena_run(arena, ask, &asking) == 0;
        assert_true(nth < 30);
    }
    rows_expect("it was abandoned on the way", nth > 6, "points");
}

/* The numbers that the index gives out come back: a table that churns for months stays as it is. */
static void churn_takes_no_more_room(void **state)
{
    AUTO(claim_index_free) struct claim_index *index = claim_index_create();
    char objects[100];
    size_t before = 0;

    (void)state;
    for (int round = 0; round < 100; round++) {
        for (uint32_t i = 0; i < 100; i++)
            claim_index_add(index, i * 7 % 13, (struct kube_object *)&objects[i]);
        if (round == 0)
            before = claim_index_bytes(index);
        for (uint32_t i = 0; i < 100; i++)
            claim_index_remove(index, i * 7 % 13, (struct kube_object *)&objects[i]);
    }
    rows_expect_int("bytes", (int64_t)claim_index_bytes(index), (int64_t)before);
    for (uint32_t i = 0; i < 13; i++)
        rows_expect_int("nothing is left", claim_index_collect(index, i, NULL, 0, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stacks_are_found_by_what_they_claim),
        cmocka_unit_test(what_a_stack_brings_and_waits_for_is_known),
        cmocka_unit_test(no_more_than_the_bound_are_given),
        cmocka_unit_test(asking_can_be_abandoned_anywhere),
        cmocka_unit_test(churn_takes_no_more_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
