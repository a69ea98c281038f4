/* SPDX-License-Identifier: Apache-2.0 */
/* reservations.c: for each Stack a text with a line for each cluster: "id resource=count ...". */
#include "controller/reconcilers/cluster_inventory/reservations.h"

#include "base/map.h"
#include "base/memory.h"
#include "base/multimap.h"
#include "stack/model/limits.h"

#include <stdlib.h>

struct reserved {
    size_t len;
    char lines[];
};

struct reservations {
    struct dict *of_stack;       /* -> struct reserved */
    struct multimap *on_cluster; /* -> Stacks */
};

struct reservations *reservations_create(void)
{
    struct reservations *reservations = mem_new(struct reservations);

    reservations->of_stack = dict_create();
    reservations->on_cluster = multimap_create();
    return reservations;
}

void reservations_free(struct reservations *reservations)
{
    struct str stack;
    void *reserved;

    if (!reservations)
        return;
    for (size_t cursor = 0; dict_next(reservations->of_stack, &cursor, &stack, &reserved);)
        mem_free(reserved);
    dict_free(reservations->of_stack);
    multimap_free(reservations->on_cluster);
    mem_free(reservations);
}

static struct str lines_of(const struct reserved *reserved)
{
    return reserved ? str_make(reserved->lines, reserved->len) : STR("");
}

/* The next cluster of such a text, and what stands behind its id. */
static bool next_line(struct str *rest, struct str *ret_cluster, struct str *ret_amounts)
{
    struct str line;

    if (!str_split(rest, '\n', &line) || line.len == 0)
        return false;
    (void)str_split(&line, ' ', ret_cluster);
    *ret_amounts = line;
    return true;
}

static struct str lines_write(struct arena *arena, const struct gpu_groups *groups,
                              const struct fact_clusters *clusters)
{
    struct strbuf out = strbuf_new(arena, 256);

    for (uint32_t i = 0; i < groups->count; i++) {
        const struct gpu_group *group = &groups->items[i];
        struct strbuf amounts = strbuf_new(arena, 64);

        for (uint32_t k = 0; k < group->asks.count && k < LIMIT_INVENTORY_RESOURCES; k++)
            strbuf_fmt(&amounts, " %.*s=%lld", STR_ARG(group->asks.items[k].resource),
                       (long long)group->asks.items[k].total);
        for (uint32_t k = 0; group->asks.count && k < group->clusters.count; k++) {
            strbuf_put(&out, clusters->items[group->clusters.items[k]].id);
            strbuf_put(&out, strbuf_str(&amounts));
            strbuf_char(&out, '\n');
        }
    }
    return strbuf_str(&out);
}

struct amounts {
    struct str before, after;
};

/* Both texts by cluster. */
static struct map *compare(struct arena *arena, struct str before, struct str after)
{
    struct map *clusters = map_new(arena, 16);
    struct str cluster;
    struct str amounts;

    while (next_line(&before, &cluster, &amounts)) {
        struct amounts *entry = arena_new(arena, struct amounts);

        *entry = (struct amounts){ amounts, STR("") };
        map_put(clusters, cluster, entry);
    }
    while (next_line(&after, &cluster, &amounts)) {
        struct amounts *entry = map_get(clusters, cluster);

        if (!entry) {
            entry = arena_new(arena, struct amounts);
            entry->before = STR("");
            map_put(clusters, cluster, entry);
        }
        entry->after = amounts;
    }
    return clusters;
}

static void replace(struct reservations *reservations, struct arena *arena, struct str stack,
                    struct str lines, bool stays, void (*told)(void *context, struct str cluster),
                    void *context)
{
    struct reserved *old = dict_get(reservations->of_stack, stack);
    struct map *clusters = compare(arena, str_dup(arena, lines_of(old)), lines);
    struct reserved *new = stays ? mem_alloc(sizeof(*new) + lines.len) : NULL;

    if (new) {
        new->len = lines.len;
        memcpy(new->lines, lines.at, lines.len);
        (void)dict_set(reservations->of_stack, stack, new);
    } else {
        (void)dict_remove(reservations->of_stack, stack);
    }
    mem_free(old);
    for (uint32_t i = 0; i < map_count(clusters); i++) {
        const struct amounts *amounts = map_value(clusters, i);

        if (amounts->after.len)
            (void)multimap_add(reservations->on_cluster, map_key(clusters, i), stack);
        else
            multimap_remove(reservations->on_cluster, map_key(clusters, i), stack);
        if (!str_eq(amounts->before, amounts->after))
            told(context, map_key(clusters, i));
    }
}

void reservations_put(struct reservations *reservations, struct str stack,
                      const struct gpu_groups *groups, const struct fact_clusters *clusters,
                      void (*told)(void *context, struct str cluster), void *context)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);

    replace(reservations, arena, stack, lines_write(arena, groups, clusters), true, told, context);
}

void reservations_forget(struct reservations *reservations, struct str stack,
                         void (*told)(void *context, struct str cluster), void *context)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);

    if (dict_get(reservations->of_stack, stack))
        replace(reservations, arena, stack, STR(""), false, told, context);
}

void reservations_each(const struct reservations *reservations,
                       void (*told)(void *context, struct str stack), void *context)
{
    struct str stack;
    void *reserved;

    for (size_t cursor = 0; dict_next(reservations->of_stack, &cursor, &stack, &reserved);)
        told(context, stack);
}

/* --- one cluster --- */

static int compare_keys(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static struct named_counts read_amounts(struct arena *arena, struct str text)
{
    struct named_counts amounts = named_counts_new(arena, 2);
    struct str one;

    while (text.len && str_split(&text, ' ', &one)) {
        struct named_count amount = { .count = 0 };
        uint64_t count = 0;

        (void)str_split(&one, '=', &amount.name);
        (void)str_to_u64(one, &count);
        amount.count = (int64_t)count;
        amount.name = str_dup(arena, amount.name);
        named_counts_push(&amounts, amount);
    }
    return amounts;
}

static void add_of(const struct reservations *reservations, struct arena *arena, struct str cluster,
                   struct str stack, struct inventory *inventory)
{
    struct str lines = lines_of(dict_get(reservations->of_stack, stack));
    struct inventory_reservation reservation = { .stack = stack };
    struct str id;
    struct str amounts;

    while (next_line(&lines, &id, &amounts)) {
        if (!str_eq(id, cluster))
            continue;
        reservation.amounts = read_amounts(arena, amounts);
        inventory_add_reservation(inventory, &reservation);
        return;
    }
}

void reservations_add_to(const struct reservations *reservations, struct arena *arena,
                         struct str cluster, struct inventory *inventory)
{
    struct str_list stacks = str_list_new(arena, 0);
    struct str stack;

    for (uint32_t i = 0; multimap_at(reservations->on_cluster, cluster, i, &stack); i++)
        str_list_push(&stacks, str_dup(arena, stack));
    if (stacks.count)
        qsort(stacks.items, stacks.count, sizeof(struct str), compare_keys);
    for (uint32_t i = 0; i < stacks.count; i++)
        add_of(reservations, arena, cluster, stacks.items[i], inventory);
}
