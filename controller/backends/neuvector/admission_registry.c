/* SPDX-License-Identifier: Apache-2.0 */
/* admission_registry.c: an entry for each Stack that wants rules or may have some. */
#include "controller/backends/neuvector/admission_registry.h"

#include "base/map.h"
#include "base/memory.h"

#include <stdlib.h>

struct entry {
    struct arena *arena;
    struct admission_wish wish;
    bool leaves; /* it is deleted, or its cluster is no target */
    bool had;    /* rules were wanted, by this process or by the spec as it is */
    bool clear;  /* none is there */
};

struct admission_registry {
    struct dict *entries; /* key of the Stack -> struct entry */
};

static void entry_free(struct entry *entry)
{
    if (!entry)
        return;
    arena_free(entry->arena);
    mem_free(entry);
}

struct admission_registry *admission_registry_create(void)
{
    struct admission_registry *registry = mem_new(struct admission_registry);

    registry->entries = dict_create();
    return registry;
}

void admission_registry_free(struct admission_registry *registry)
{
    struct str key;
    void *entry;

    if (!registry)
        return;
    for (size_t cursor = 0; dict_next(registry->entries, &cursor, &key, &entry);)
        entry_free(entry);
    dict_free(registry->entries);
    mem_free(registry);
}

void admission_registry_forget(struct admission_registry *registry, struct str key)
{
    entry_free(dict_remove(registry->entries, key));
}

/* --- what a Stack wants --- */

static int compare_names(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* Of the Stack's releases there, "a,b". */
static struct str namespaces_of(struct arena *arena, const struct observed_releases *releases,
                                struct str uid)
{
    struct str_list names = str_list_new(arena, 4);
    struct strbuf out = strbuf_new(arena, 64);

    for (uint32_t i = 0; i < releases->count; i++)
        if (observed_release_is_of(&releases->items[i], uid) &&
            !str_list_has(&names, releases->items[i].namespace_))
            str_list_push(&names, releases->items[i].namespace_);
    if (names.count)
        qsort(names.items, names.count, sizeof(names.items[0]), compare_names);
    for (uint32_t i = 0; i < names.count; i++)
        strbuf_fmt(&out, "%s%.*s", i ? "," : "", STR_ARG(names.items[i]));
    return strbuf_str(&out);
}

static bool asks_for_rules(const struct stack *stack)
{
    enum admission_mode mode = stack->spec.security_profile.admission;

    return mode == ADMISSION_MODE_MONITOR || mode == ADMISSION_MODE_PROTECT;
}

static struct admission_wish wish_of(struct arena *arena, const struct stack *stack,
                                     const struct observed_cluster *cluster)
{
    const struct security_profile *profile = &stack->spec.security_profile;
    bool on = stack->spec.security == TOGGLE_ENABLED && !stack->meta.deletion_timestamp.len;

    return (struct admission_wish){
        .uid = str_dup(arena, stack->meta.uid),
        .mode = on ? profile->admission : ADMISSION_MODE_DISABLED,
        .namespaces = namespaces_of(arena, &cluster->releases, stack->meta.uid),
        .critical = profile->thresholds.critical,
        .high = profile->thresholds.high,
    };
}

static bool is_same(const struct admission_wish *a, const struct admission_wish *b)
{
    if (!admission_wants_rules(a) && !admission_wants_rules(b))
        return str_eq(a->uid, b->uid);
    return str_eq(a->uid, b->uid) && a->mode == b->mode && str_eq(a->namespaces, b->namespaces) &&
           a->critical == b->critical && a->high == b->high;
}

bool admission_registry_renew(struct admission_registry *registry, struct str key,
                              const struct stack *stack, const struct observed_cluster *cluster)
{
    struct entry *entry = dict_get(registry->entries, key);
    bool is_new = !entry;
    struct arena *arena;
    struct admission_wish wish;
    bool changed;

    if (is_new && stack->spec.security != TOGGLE_ENABLED && !asks_for_rules(stack))
        return false;
    if (is_new) {
        entry = mem_new(struct entry);
        dict_set(registry->entries, key, entry);
    }
    arena = arena_create(0);
    wish = wish_of(arena, stack, cluster);
    changed = is_new || !is_same(&entry->wish, &wish);
    arena_free(entry->arena);
    entry->arena = arena;
    entry->wish = wish;
    entry->leaves = stack->meta.deletion_timestamp.len || !cluster->targeted;
    entry->had = entry->had || asks_for_rules(stack);
    entry->clear = entry->clear && !admission_wants_rules(&wish);
    return changed;
}

/* --- what is there --- */

struct admission_wishes admission_registry_wishes(const struct admission_registry *registry,
                                                  struct arena *arena)
{
    struct admission_wishes wishes = admission_wishes_new(arena, 4);
    struct str key;
    void *value;

    for (size_t cursor = 0; dict_next(registry->entries, &cursor, &key, &value);) {
        const struct entry *entry = value;
        struct admission_wish wish = entry->wish;

        if (entry->clear)
            continue;
        wish.uid = str_dup(arena, wish.uid);
        wish.namespaces = str_dup(arena, wish.namespaces);
        admission_wishes_push(&wishes, wish);
    }
    return wishes;
}

void admission_registry_settle(struct admission_registry *registry,
                               const struct admission_wishes *wishes, struct set marked,
                               void (*cleared)(void *context, struct str key), void *context)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct set compared = set_new(arena, wishes->count);
    struct str key;
    void *value;

    for (uint32_t i = 0; i < wishes->count; i++)
        set_add(compared, wishes->items[i].uid);
    for (size_t cursor = 0; dict_next(registry->entries, &cursor, &key, &value);) {
        struct entry *entry = value;

        if (entry->clear || admission_wants_rules(&entry->wish) ||
            !set_has(compared, entry->wish.uid) || set_has(marked, entry->wish.uid))
            continue;
        entry->clear = true;
        cleared(context, key);
    }
}

bool admission_registry_wants(const struct admission_registry *registry, struct str key)
{
    const struct entry *entry = dict_get(registry->entries, key);

    return entry && admission_wants_rules(&entry->wish);
}

static bool leaves(const struct entry *entry)
{
    return entry->leaves && entry->had && !entry->clear && !admission_wants_rules(&entry->wish);
}

bool admission_registry_leaves(const struct admission_registry *registry, struct str key)
{
    const struct entry *entry = dict_get(registry->entries, key);

    return entry && leaves(entry);
}

void admission_registry_each_leaving(const struct admission_registry *registry,
                                     void (*each)(void *context, struct str key), void *context)
{
    struct str key;
    void *entry;

    for (size_t cursor = 0; dict_next(registry->entries, &cursor, &key, &entry);)
        if (leaves(entry))
            each(context, key);
}
