/* SPDX-License-Identifier: Apache-2.0 */
/* targets_index_test.c: which Stacks are looked at when a cluster changes, and that none is missed. */
#include "support/rows.h"

#include "base/rng.h"
#include "controller/reconcilers/stack/kept_stack.h"
#include "controller/reconcilers/stack/targets_index.h"

#define EXPRESSION(key, operator, values)                                                          \
    "{\"selector\":{\"matchExpressions\":[{\"key\":\"" key "\",\"operator\":\"" operator "\"" values     \
    "}]}}"
#define VALUES(value) ",\"values\":[\"" value "\"]"

/* By name; the index has them all. */
static const struct {
    const char *key, *targets;
} stacks[] = {
    { "labels", "{\"selector\":{\"matchLabels\":{\"env\":\"prod\"}}}" },
    { "in", EXPRESSION("tier", "In", VALUES("gold")) },
    { "exists", EXPRESSION("gpu", "Exists", "") },
    { "not-in", EXPRESSION("region", "NotIn", VALUES("eu")) },
    { "not-exists", EXPRESSION("edge", "DoesNotExist", "") },
    { "both", "{\"selector\":{\"matchLabels\":{\"env\":\"prod\"},\"matchExpressions\":[{\"key\":"
              "\"edge\",\"operator\":\"DoesNotExist\"}]}}" },
    { "id", "{\"clusterIds\":[\"c-1\"]}" },
    { "id-or-label", "{\"clusterIds\":[\"c-2\"],\"selector\":{\"matchLabels\":{\"tier\":\"gold\"}}}" },
    { "empty", "{\"selector\":{}}" },
    { "none", "{}" },
    { "invalid", EXPRESSION("env", "Like", VALUES("prod")) },
    { "no-json", "{\"selector\"" },
};
enum { STACKS = sizeof(stacks) / sizeof(stacks[0]) };

/* "env=prod gpu=": a cluster with these labels. NULL: none. "*": it is internal. */
static struct listed_cluster *cluster_of(struct arena *arena, const char *id, const char *text)
{
    struct listed_cluster *cluster = arena_new(arena, struct listed_cluster);
    struct label *labels = arena_array(arena, struct label, 8);
    struct str rest = str_of(text ? text : "");
    struct str one;

    *cluster = (struct listed_cluster){ .id = str_of(id), .label_list = labels };
    while (rest.len && str_split(&rest, ' ', &one)) {
        ptrdiff_t equals = str_find_char(one, '=', 0);

        if (equals < 0)
            cluster->internal = true;
        else
            labels[cluster->label_count++] = (struct label){
                str_slice(one, 0, (size_t)equals), str_slice(one, (size_t)equals + 1, one.len)
            };
    }
    return text ? cluster : NULL;
}

struct visited {
    struct strbuf text;
    uint32_t times[STACKS];
};

static void visit(void *context, struct str key)
{
    struct visited *visited = context;

    for (uint32_t i = 0; i < STACKS; i++)
        visited->times[i] += str_eq(key, str_of(stacks[i].key));
}

/* The names of those that were visited, in the order of the table. */
static struct str visited_by(struct arena *arena, const struct targets_index *index,
                             const struct listed_cluster *before, const struct listed_cluster *after)
{
    struct visited visited = { .text = strbuf_new(arena, 64) };

    targets_index_visit(index, before, after, visit, &visited);
    for (uint32_t i = 0; i < STACKS; i++)
        for (uint32_t k = 0; k < visited.times[i]; k++)
            strbuf_fmt(&visited.text, "%s%s", visited.text.len ? " " : "", stacks[i].key);
    return strbuf_str(&visited.text);
}

static struct targets_index *index_of_all(void)
{
    struct targets_index *index = targets_index_create();

    for (uint32_t i = 0; i < STACKS; i++)
        targets_index_add(index, str_of(stacks[i].key), str_of(stacks[i].targets));
    return index;
}

static void only_stacks_that_name_what_changed_are_looked_at(void **state)
{
    static const struct {
        const char *name, *before, *after, *want;
    } rows[] = {
        { "nothing changed", "env=prod tier=gold", "env=prod tier=gold", "" },
        { "a label that nobody names", "env=prod", "env=prod note=x", "" },
        { "a value that matchLabels names", "env=dev tier=gold", "env=prod tier=gold", "labels both" },
        { "a value beside the one that is named", "env=dev", "env=test", "labels both" },
        { "a label of In is added", "env=prod", "env=prod tier=gold", "in id-or-label" },
        { "a label of In is removed", "env=prod tier=gold", "env=prod", "in id-or-label" },
        { "a label of Exists is added", "", "gpu=", "exists" },
        { "a label of Exists is removed", "gpu=true", "", "exists" },
        { "a label of NotIn is added", "env=prod", "env=prod region=eu", "not-in" },
        { "a label of NotIn has another value", "region=eu", "region=us", "not-in" },
        { "a label of DoesNotExist is added", "", "edge=", "not-exists both" },
        { "a label of DoesNotExist is removed", "edge=1", "", "not-exists both" },
        { "two at once, each Stack once", "env=prod", "env=dev edge=1", "labels not-exists both" },
        { "labels in another order", "env=prod tier=gold", "tier=gold env=prod", "" },
        { "a cluster comes without labels", NULL, "", "not-in not-exists id" },
        { "it comes with one", NULL, "gpu=true", "exists not-in not-exists id" },
        { "it comes with what one excludes", NULL, "edge=1", "not-in not-exists both id" },
        { "it goes", "env=prod note=x", NULL, "labels not-in not-exists both id" },
        { "it is found to be the internal one", "gpu=true", "gpu=true *",
          "exists not-in not-exists id" },
        { "it is not the internal one any more", "gpu=true *", "tier=gold",
          "in exists not-in not-exists id id-or-label" },
    };
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(targets_index_free) struct targets_index *index = index_of_all();

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        rows_expect_str(rows[i].name,
                        visited_by(arena, index, cluster_of(arena, "c-1", rows[i].before),
                                   cluster_of(arena, "c-1", rows[i].after)),
                        str_of(rows[i].want));
}

static void a_stack_is_found_by_the_targets_that_it_has(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(targets_index_free) struct targets_index *index = targets_index_create();
    struct str env = str_of(stacks[0].targets);
    struct str not_in = str_of(stacks[3].targets);
    struct str id = str_of(stacks[6].targets);
    const struct listed_cluster *none = cluster_of(arena, "c-1", "");
    const struct listed_cluster *prod = cluster_of(arena, "c-1", "env=prod");
    const struct listed_cluster *eu = cluster_of(arena, "c-1", "region=eu");

    (void)state;
    targets_index_add(index, STR("labels"), env);
    targets_index_add(index, STR("in"), env);
    rows_expect_str("two name the key", visited_by(arena, index, none, prod), STR("labels in"));
    targets_index_remove(index, STR("labels"), env);
    targets_index_add(index, STR("labels"), not_in);
    rows_expect_str("an edited one does not name it now", visited_by(arena, index, none, prod), STR("in"));
    rows_expect_str("but another", visited_by(arena, index, none, eu), STR("labels"));
    rows_expect_str("and matches without it", visited_by(arena, index, NULL, none), STR("labels"));
    targets_index_remove(index, STR("labels"), not_in);
    targets_index_add(index, STR("labels"), id);
    rows_expect_str("it names no label now", visited_by(arena, index, none, eu), STR(""));
    rows_expect_str("but the cluster", visited_by(arena, index, NULL, eu), STR("labels"));
    rows_expect_str("and no other one", visited_by(arena, index, NULL, cluster_of(arena, "c-2", "")), STR(""));
    targets_index_remove(index, STR("labels"), id);
    targets_index_remove(index, STR("in"), env);
    rows_expect_str("nothing is left of those that are deleted",
                    visited_by(arena, index, prod, NULL), STR(""));
    targets_index_remove(index, STR("in"), env);
}

static const char *some_cluster(struct arena *arena, struct rng *rng)
{
    static const char *const labels[] = {
        "env=prod", "env=dev", "tier=gold", "gpu=true", "region=eu", "region=us", "edge=1", "*",
    };
    struct strbuf text = strbuf_new(arena, 64);
    struct str seen = STR("");

    if (rng_below(rng, 6) == 0)
        return NULL;
    for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
        struct str key = str_slice(str_of(labels[i]), 0, 3);

        if (rng_below(rng, 3) || str_eq(key, seen))
            continue;
        strbuf_fmt(&text, "%s%s", text.len ? " " : "", labels[i]);
        seen = key;
    }
    return str_dup(arena, strbuf_str(&text)).at;
}

static bool picked(struct arena *arena, const char *targets, const struct listed_cluster *cluster)
{
    return cluster && kept_targets_pick(arena, str_of(targets), cluster->id, cluster->internal,
                                        cluster->label_list, cluster->label_count);
}

static void no_stack_is_missed(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(targets_index_free) struct targets_index *index = index_of_all();
    struct rng rng = rng_from_seed(7);

    (void)state;
    for (uint32_t round = 0; round < 3000; round++) {
        const char *id = rng_below(&rng, 2) ? "c-1" : "c-2";
        const char *texts[] = { some_cluster(arena, &rng), some_cluster(arena, &rng) };
        const struct listed_cluster *before = cluster_of(arena, id, texts[0]);
        const struct listed_cluster *after = cluster_of(arena, id, texts[1]);
        struct visited visited = { 0 };

        if (before || after)
            targets_index_visit(index, before, after, visit, &visited);
        for (uint32_t i = 0; i < STACKS; i++)
            if (visited.times[i] > 1 ||
                (!visited.times[i] && picked(arena, stacks[i].targets, before) !=
                                          picked(arena, stacks[i].targets, after)))
                fail_msg("%s was visited %u times when %s went from '%s' to '%s'", stacks[i].key,
                         visited.times[i], id, texts[0] ? texts[0] : "nothing",
                         texts[1] ? texts[1] : "nothing");
        arena_reset(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_stacks_that_name_what_changed_are_looked_at),
        cmocka_unit_test(a_stack_is_found_by_the_targets_that_it_has),
        cmocka_unit_test(no_stack_is_missed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
