/* SPDX-License-Identifier: Apache-2.0 */
/* targets_index.c: a set of Stacks for each label key, and one for each cluster id.
 *
 * The answer of a selector changes only with a label that it names. A cluster that comes or goes
 * has all its labels change at once, and lacks all others: a selector that requires no label at
 * all (NotIn and DoesNotExist only) may match it without naming any label that it has.
 *
 * One key may be named by every Stack, so a set is a table and no list that is searched
 * (base/multimap.h). */
#include "controller/reconcilers/stack/targets_index.h"

#include "base/map.h"
#include "base/memory.h"

/* Among the label keys, none of which is empty. */
static const struct str no_label = STR_INIT("");

struct targets_index {
    struct dict *by_label; /* a key of a selector -> set of Stacks; no_label: see above */
    struct dict *by_id;    /* an entry of clusterIds -> set of Stacks */
};

struct targets_index *targets_index_create(void)
{
    struct targets_index *index = mem_new(struct targets_index);

    index->by_label = dict_create();
    index->by_id = dict_create();
    return index;
}

static void sets_free(struct dict *sets)
{
    struct str name;
    void *set;

    for (size_t cursor = 0; dict_next(sets, &cursor, &name, &set);)
        dict_free(set);
    dict_free(sets);
}

void targets_index_free(struct targets_index *index)
{
    if (!index)
        return;
    sets_free(index->by_label);
    sets_free(index->by_id);
    mem_free(index);
}

/* The values of a set mean nothing. */
static void set_put(struct dict *sets, struct str name, struct str key, bool there)
{
    struct dict *set = dict_get(sets, name);

    if (!set && there) {
        set = dict_create();
        dict_set(sets, name, set);
    }
    if (there)
        dict_set(set, key, set);
    else if (set)
        dict_remove(set, key);
    if (set && dict_count(set) == 0)
        dict_free(dict_remove(sets, name));
}

static void put_selector(struct targets_index *index, struct str key,
                         const struct selector *selector, bool there)
{
    bool requires_label = false;

    for (uint32_t i = 0; i < selector->all.count; i++) {
        const struct selector_requirement *requirement = &selector->all.items[i];

        set_put(index->by_label, requirement->key, key, there);
        if (requirement->op == SELECTOR_IN || requirement->op == SELECTOR_EXISTS)
            requires_label = true;
    }
    /* A selector without requirements picks no cluster. */
    if (selector->all.count && !requires_label)
        set_put(index->by_label, no_label, key, there);
}

static void put_targets(struct targets_index *index, struct str key, struct str targets, bool there)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct error ignored = { .code = ERROR_NONE };
    struct selector selector;
    struct json root;

    if (json_read(arena, targets, &json_limits_default, &root, &ignored) < 0)
        return;
    for (struct json_iter it = json_iter(json_get(root, STR("clusterIds"))); json_next(&it);)
        set_put(index->by_id, json_str(it.value), key, there);
    if (selector_read(arena, json_get(root, STR("selector")), &selector, &ignored) == 0)
        put_selector(index, key, &selector, there);
}

void targets_index_add(struct targets_index *index, struct str key, struct str targets)
{
    put_targets(index, key, targets, true);
}

void targets_index_remove(struct targets_index *index, struct str key, struct str targets)
{
    put_targets(index, key, targets, false);
}

static void find(const struct dict *sets, struct str name, struct map *found)
{
    const struct dict *set = dict_get(sets, name);
    struct str key;
    void *value;

    for (size_t cursor = 0; set && dict_next(set, &cursor, &key, &value);)
        map_put(found, key, NULL);
}

static bool has_label(const struct listed_cluster *cluster, const struct label *label)
{
    for (uint32_t i = 0; i < cluster->label_count; i++)
        if (str_eq(cluster->label_list[i].key, label->key))
            return str_eq(cluster->label_list[i].value, label->value);
    return false;
}

/* By each label of the cluster that `other` has not, or with another value. NULL: it has none. */
static void find_by_labels(const struct targets_index *index, const struct listed_cluster *cluster,
                           const struct listed_cluster *other, struct map *found)
{
    for (uint32_t i = 0; cluster && i < cluster->label_count; i++)
        if (!other || !has_label(other, &cluster->label_list[i]))
            find(index->by_label, cluster->label_list[i].key, found);
}

void targets_index_visit(const struct targets_index *index, const struct listed_cluster *before,
                         const struct listed_cluster *after,
                         void (*visit)(void *context, struct str key), void *context)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct map *found = map_new(arena, 16);
    /* No selector picks the internal one: for them it comes, or goes. */
    bool stays = before && after && before->internal == after->internal;

    find_by_labels(index, before, stays ? after : NULL, found);
    find_by_labels(index, after, stays ? before : NULL, found);
    if (!stays) {
        find(index->by_label, no_label, found);
        find(index->by_id, (after ? after : before)->id, found);
    }
    for (uint32_t i = 0; i < map_count(found); i++)
        visit(context, map_key(found, i));
}
