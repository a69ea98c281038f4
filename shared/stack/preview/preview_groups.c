/* SPDX-License-Identifier: Apache-2.0 */
/* preview_groups.c: which clusters come, stay and go, and which of those that stay are alike. */
#include "stack/preview/preview_groups.h"

#include "base/map.h"
#include "stack/model/release.h"

#include <stdlib.h>

/* --- clusters --- */

/* The index of each + 1, by id. */
static struct map *index_of(const struct preview *p)
{
    struct map *index = map_new(p->arena, p->clusters.count);

    for (uint32_t i = 0; i < p->clusters.count; i++)
        map_put(index, p->clusters.items[i].cluster.id, (void *)(uintptr_t)(i + 1));
    return index;
}

static struct preview_cluster *find_cluster(const struct preview *p, const struct map *index,
                                            struct str id)
{
    uintptr_t number = (uintptr_t)map_get(index, id);

    return number ? &p->clusters.items[number - 1] : NULL;
}

/* Where the clusters are not known, those are meant that are named. */
static void add_chosen(struct preview *p)
{
    const struct claim_place *targets = &p->chosen->claims.targets;

    for (uint32_t i = 0; i < p->chosen->clusters.count; i++)
        preview_clusters_push(
            &p->clusters,
            (struct preview_cluster){ .cluster = p->chosen->clusters.items[i], .after = true });
    for (uint32_t i = 0; !p->facts->clusters_known && i < targets->ids.count; i++)
        preview_clusters_push(
            &p->clusters,
            (struct preview_cluster){ .cluster = { .id = targets->ids.items[i] }, .after = true });
}

/* Labels decide which override applies and which wave has it. */
static struct fact_cluster known_cluster(const struct map *facts, struct str id)
{
    const struct fact_cluster *known = map_get(facts, id);

    return known ? *known : (struct fact_cluster){ .id = id };
}

static struct map *index_of_facts(const struct preview *p)
{
    struct map *facts = map_new(p->arena, p->facts->clusters.count);

    for (uint32_t i = 0; p->facts->clusters_known && i < p->facts->clusters.count; i++)
        map_put(facts, p->facts->clusters.items[i].id, &p->facts->clusters.items[i]);
    return facts;
}

static void add_named(struct preview *p, const struct map *facts, struct map *index,
                      const struct str_list *ids, bool holds)
{
    for (uint32_t i = 0; i < ids->count; i++) {
        struct str id = ids->items[i];

        if (!map_get(index, id)) {
            preview_clusters_push(
                &p->clusters,
                (struct preview_cluster){ .cluster = known_cluster(facts, id), .after = p->blind });
            map_put(index, id, (void *)(uintptr_t)p->clusters.count);
        }

        struct preview_cluster *cluster = find_cluster(p, index, id);

        cluster->before = true;
        cluster->holds = cluster->holds || holds;
    }
}

/* Those of the status. Most Stacks that are created have none, and then no table is made of all
 * clusters that there are. */
static void add_stored(struct preview *p)
{
    const struct str_list *targets = &p->status.target_clusters;
    const struct str_list *held = &p->status.held_clusters;
    struct map *facts;
    struct map *index;

    if (targets->count + held->count == 0)
        return;
    facts = index_of_facts(p);
    index = index_of(p);
    add_named(p, facts, index, targets, false);
    add_named(p, facts, index, held, true);
}

static int by_id(const void *a, const void *b)
{
    return str_cmp(((const struct preview_cluster *)a)->cluster.id,
                   ((const struct preview_cluster *)b)->cluster.id);
}

void preview_find_clusters(struct preview *p)
{
    p->clusters = preview_clusters_new(p->arena, p->chosen->clusters.count);
    p->blind = !p->facts->clusters_known && p->chosen->claims.targets.by_selector;
    add_chosen(p);
    add_stored(p);
    if (p->clusters.count > 1)
        qsort(p->clusters.items, p->clusters.count, sizeof(struct preview_cluster), by_id);
}

/* --- what is there --- */

/* It was asked for, so it is there or may be. */
static bool is_there(const struct release_state *entry)
{
    return entry->digest.len || entry->requested_ms || entry->installed;
}

/* --- groups of clusters --- */

static void put_key(struct strbuf *key, const struct u32_list *numbers)
{
    for (uint32_t i = 0; i < numbers->count; i++)
        strbuf_fmt(key, "%u,", numbers->items[i]);
    strbuf_char(key, ';');
}

/* What is told of an entry, so that clusters with equal ones are alike. */
static void put_entries(struct strbuf *key, const struct preview *p, const struct u32_list *entries)
{
    for (uint32_t i = 0; i < entries->count; i++) {
        const struct release_state *entry = &p->status.deployments.items[entries->items[i]];

        strbuf_fmt(key, "%.*s/%.*s %.*s %d %.*s,", STR_ARG(entry->namespace_),
                   STR_ARG(entry->release_name), STR_ARG(entry->version), entry->state,
                   STR_ARG(entry->chart_name));
    }
}

struct u32_list *preview_sort_entries(const struct preview *p)
{
    struct u32_list *sorted = arena_array(p->arena, struct u32_list, p->clusters.count);
    struct map *index = index_of(p);

    for (uint32_t i = 0; i < p->clusters.count; i++)
        sorted[i] = u32_list_new(p->arena, 0);
    for (uint32_t i = 0; i < p->status.deployments.count; i++) {
        const struct release_state *entry = &p->status.deployments.items[i];
        uintptr_t number = (uintptr_t)map_get(index, entry->cluster_id);

        if (number && is_there(entry))
            u32_list_push(&sorted[number - 1], i);
    }
    return sorted;
}

static struct group group_of(const struct preview *p, uint32_t cluster,
                             const struct u32_list *entries, const struct override_matcher *before,
                             const struct override_matcher *after)
{
    const struct preview_cluster *c = &p->clusters.items[cluster];
    struct group group = {
        .before = u32_list_new(p->arena, 0),
        .after = override_matcher_on(after, p->arena, c->cluster.id, c->cluster.labels),
        .clusters = u32_list_new(p->arena, 1),
        .entries = *entries,
        .unlisted = c->holds && p->status.deployments_omitted,
    };

    if (before)
        group.before = override_matcher_on(before, p->arena, c->cluster.id, c->cluster.labels);
    return group;
}

struct groups preview_group_clusters(struct preview *p, const struct u32_list *entries)
{
    struct override_matcher *after = override_matcher_new(p->arena, p->stack);
    struct override_matcher *before = p->old ? override_matcher_new(p->arena, p->old) : NULL;
    struct map *numbers = map_new(p->arena, 4);
    struct groups all = groups_new(p->arena, 4);

    for (uint32_t i = 0; i < p->clusters.count; i++) {
        const struct preview_cluster *c = &p->clusters.items[i];
        struct strbuf key = strbuf_new(p->arena, 8);

        if (!c->after || (!p->untouched && !c->before))
            continue;

        struct group group = group_of(p, i, &entries[i], before, after);

        put_key(&key, &group.before);
        put_key(&key, &group.after);
        put_entries(&key, p, &group.entries);
        if (group.unlisted)
            strbuf_lit(&key, "...");

        uintptr_t number = (uintptr_t)map_get(numbers, strbuf_str(&key));

        if (!number) {
            groups_push(&all, group);
            number = all.count;
            map_put(numbers, strbuf_str(&key), (void *)number);
        }
        u32_list_push(&all.items[number - 1].clusters, i);
    }
    /* Charts are told although nobody knows where. */
    if (p->blind && p->untouched && !all.count)
        groups_push(&all, (struct group){ .clusters = u32_list_new(p->arena, 0) });
    return all;
}
