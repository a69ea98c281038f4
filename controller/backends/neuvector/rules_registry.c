/* SPDX-License-Identifier: Apache-2.0 */
/* rules_registry.c: an entry for each Stack that wants rules or may have some. */
#include "controller/backends/neuvector/rules_registry.h"

#include "base/map.h"
#include "base/memory.h"

#include <stdlib.h>

struct entry {
    struct arena *arena;
    struct rules_wish wish;
    struct arena *troubled; /* of this: */
    struct rules_trouble trouble;
    bool leaves;             /* it is deleted, or its cluster is no target */
    bool had;                /* rules were wanted, by this process or by the spec as it is */
    bool clear[RULES_KINDS]; /* none is there, and none is wanted */
};

struct rules_registry {
    struct dict *entries; /* key of the Stack -> struct entry */
    /* The last list of each kind: whose marks it had. Only this process makes such rules, so a
     * Stack that comes later and has no mark there has none. NULL: there was no list yet. */
    struct arena *listed[RULES_KINDS];
    struct set marked[RULES_KINDS];
};

static void entry_free(struct entry *entry)
{
    if (!entry)
        return;
    arena_free(entry->arena);
    arena_free(entry->troubled);
    mem_free(entry);
}

struct rules_registry *rules_registry_create(void)
{
    struct rules_registry *registry = mem_new(struct rules_registry);

    registry->entries = dict_create();
    return registry;
}

void rules_registry_free(struct rules_registry *registry)
{
    struct str key;
    void *entry;

    if (!registry)
        return;
    for (size_t cursor = 0; dict_next(registry->entries, &cursor, &key, &entry);)
        entry_free(entry);
    dict_free(registry->entries);
    for (int i = 0; i < RULES_KINDS; i++)
        arena_free(registry->listed[i]);
    mem_free(registry);
}

void rules_registry_forget(struct rules_registry *registry, struct str key)
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

static struct str workloads_of(struct arena *arena, const struct observed_releases *releases,
                               struct str uid)
{
    struct strbuf out = strbuf_new(arena, 64);

    for (uint32_t i = 0; i < releases->count; i++)
        if (observed_release_is_of(&releases->items[i], uid))
            strbuf_fmt(&out, "%.*s", STR_ARG(releases->items[i].manifest_workloads));
    return strbuf_str(&out);
}

static struct str_list copy_list(struct arena *arena, const struct str_list *list)
{
    struct str_list copy = str_list_new(arena, list->count);

    for (uint32_t i = 0; i < list->count; i++)
        str_list_push(&copy, str_dup(arena, list->items[i]));
    return copy;
}

static bool asks_for_rules(const struct stack *stack)
{
    const struct security_profile *profile = &stack->spec.security_profile;

    return profile->admission == ADMISSION_MODE_MONITOR ||
           profile->admission == ADMISSION_MODE_PROTECT || profile->response.webhooks.count ||
           profile->response.quarantine == TOGGLE_ENABLED;
}

static struct rules_wish wish_of(struct arena *arena, const struct stack *stack,
                                 const struct observed_cluster *cluster)
{
    const struct security_profile *profile = &stack->spec.security_profile;
    struct rules_wish wish = {
        .uid = str_dup(arena, stack->meta.uid),
        .admission = ADMISSION_MODE_DISABLED,
        .namespaces = namespaces_of(arena, &cluster->releases, stack->meta.uid),
        .workloads = workloads_of(arena, &cluster->releases, stack->meta.uid),
        .webhooks = str_list_new(arena, 0),
        .groups = str_list_new(arena, 0),
        .critical = profile->thresholds.critical,
        .high = profile->thresholds.high,
    };

    if (stack->spec.security != TOGGLE_ENABLED || stack->meta.deletion_timestamp.len)
        return wish;
    wish.admission = profile->admission;
    wish.webhooks = copy_list(arena, &profile->response.webhooks);
    wish.quarantine = profile->response.quarantine == TOGGLE_ENABLED;
    return wish;
}

static bool wants_some(const struct rules_wish *wish)
{
    return rules_are_wanted(RULES_ADMISSION, wish) || rules_are_wanted(RULES_RESPONSE, wish);
}

static bool is_same_list(const struct str_list *a, const struct str_list *b)
{
    for (uint32_t i = 0; a->count == b->count && i < a->count; i++)
        if (!str_eq(a->items[i], b->items[i]))
            return false;
    return a->count == b->count;
}

static bool is_same(const struct rules_wish *a, const struct rules_wish *b)
{
    if (!wants_some(a) && !wants_some(b))
        return str_eq(a->uid, b->uid);
    return str_eq(a->uid, b->uid) && a->admission == b->admission &&
           str_eq(a->namespaces, b->namespaces) && a->critical == b->critical &&
           a->high == b->high && is_same_list(&a->webhooks, &b->webhooks) &&
           a->quarantine == b->quarantine && str_eq(a->workloads, b->workloads);
}

static bool is_clear(const struct entry *entry)
{
    for (int i = 0; i < RULES_KINDS; i++)
        if (!entry->clear[i])
            return false;
    return true;
}

static bool is_unmarked(const struct rules_registry *registry, int kind, struct str uid)
{
    return registry->listed[kind] && !set_has(registry->marked[kind], uid);
}

bool rules_registry_renew(struct rules_registry *registry, struct str key,
                          const struct stack *stack, const struct observed_cluster *cluster)
{
    struct entry *entry = dict_get(registry->entries, key);
    bool is_new = !entry;
    struct arena *arena;
    struct rules_wish wish;
    bool changed;

    if (is_new && stack->spec.security != TOGGLE_ENABLED && !asks_for_rules(stack))
        return false;
    if (is_new) {
        entry = mem_new(struct entry);
        entry->trouble = (struct rules_trouble){ STR(""), STR("") };
        dict_set(registry->entries, key, entry);
    }
    arena = arena_create(0);
    wish = wish_of(arena, stack, cluster);
    changed = !is_new && !is_same(&entry->wish, &wish);
    arena_free(entry->arena);
    entry->arena = arena;
    entry->wish = wish;
    entry->leaves = stack->meta.deletion_timestamp.len || !cluster->targeted;
    entry->had = entry->had || asks_for_rules(stack);
    for (int i = 0; i < RULES_KINDS; i++)
        entry->clear[i] = (is_new ? is_unmarked(registry, i, wish.uid) : entry->clear[i]) &&
                          !rules_are_wanted((enum rules_kind)i, &wish);
    return changed || (is_new && !is_clear(entry));
}

/* --- what is there --- */

struct rules_wishes rules_registry_wishes(const struct rules_registry *registry,
                                          struct arena *arena)
{
    struct rules_wishes wishes = rules_wishes_new(arena, 4);
    struct str key;
    void *value;

    for (size_t cursor = 0; dict_next(registry->entries, &cursor, &key, &value);) {
        const struct entry *entry = value;
        struct rules_wish wish = entry->wish;

        if (is_clear(entry))
            continue;
        for (int i = 0; i < RULES_KINDS; i++)
            wish.due[i] = !entry->clear[i];
        wish.uid = str_dup(arena, wish.uid);
        wish.namespaces = str_dup(arena, wish.namespaces);
        wish.workloads = str_dup(arena, wish.workloads);
        wish.webhooks = copy_list(arena, &wish.webhooks);
        rules_wishes_push(&wishes, wish);
    }
    return wishes;
}

static void remember_marks(struct rules_registry *registry, int kind, struct set marked)
{
    struct arena *arena = arena_create(0);
    struct set copy = set_new(arena, map_count(marked.strings));

    for (uint32_t i = 0; i < map_count(marked.strings); i++)
        set_add(copy, str_dup(arena, map_key(marked.strings, i)));
    arena_free(registry->listed[kind]);
    registry->listed[kind] = arena;
    registry->marked[kind] = copy;
}

/* True: it is another one. */
static bool put_trouble(struct entry *entry, const struct rules_trouble *trouble)
{
    struct str reason = trouble ? trouble->reason : STR("");
    struct str message = trouble ? trouble->message : STR("");

    if (str_eq(entry->trouble.reason, reason) && str_eq(entry->trouble.message, message))
        return false;
    arena_free(entry->troubled);
    entry->troubled = arena_create(0);
    entry->trouble.reason = str_dup(entry->troubled, reason);
    entry->trouble.message = str_dup(entry->troubled, message);
    return true;
}

/* True: nothing of the Stack is left, since now. */
static bool settle_entry(struct entry *entry, const struct rules_wish *compared,
                         const struct rules_result *result)
{
    bool was_clear = is_clear(entry);

    for (int i = 0; i < RULES_KINDS; i++)
        if (compared->due[i] && result->compared[i] &&
            !rules_are_wanted((enum rules_kind)i, &entry->wish) &&
            !set_has(result->marked[i], entry->wish.uid))
            entry->clear[i] = true;
    return !was_clear && is_clear(entry);
}

/* What was compared of an entry; NULL: nothing. */
static const struct rules_wish *find_wish(const struct rules_wishes *wishes, struct str uid)
{
    for (uint32_t i = 0; i < wishes->count; i++)
        if (str_eq(wishes->items[i].uid, uid))
            return &wishes->items[i];
    return NULL;
}

static void settle(struct rules_registry *registry, const struct rules_wishes *wishes,
                   const struct rules_result *result, void (*news)(void *context, struct str key),
                   void *context)
{
    struct str key;
    void *value;

    for (size_t cursor = 0; dict_next(registry->entries, &cursor, &key, &value);) {
        struct entry *entry = value;
        const struct rules_wish *compared = find_wish(wishes, entry->wish.uid);
        bool troubled, cleared;

        if (!compared)
            continue;
        troubled = put_trouble(entry, map_get(result->own_troubles, entry->wish.uid));
        cleared = settle_entry(entry, compared, result);
        if (troubled || cleared)
            news(context, key);
    }
}

void rules_registry_settle(struct rules_registry *registry, const struct rules_wishes *wishes,
                           const struct rules_result *result,
                           void (*news)(void *context, struct str key), void *context)
{
    for (int i = 0; i < RULES_KINDS; i++)
        if (result->compared[i])
            remember_marks(registry, i, result->marked[i]);
    settle(registry, wishes, result, news, context);
}

void rules_registry_settle_without(struct rules_registry *registry,
                                   const struct rules_wishes *wishes,
                                   void (*news)(void *context, struct str key), void *context)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct rules_result none = { .own_troubles = map_new(arena, 0) };

    for (int i = 0; i < RULES_KINDS; i++) {
        none.compared[i] = true;
        none.marked[i] = set_new(arena, 0);
    }
    settle(registry, wishes, &none, news, context);
}

/* --- what is known of a Stack --- */

bool rules_registry_wants(const struct rules_registry *registry, struct str key,
                          enum rules_kind kind)
{
    const struct entry *entry = dict_get(registry->entries, key);

    return entry && rules_are_wanted(kind, &entry->wish);
}

struct rules_trouble rules_registry_trouble(const struct rules_registry *registry, struct str key)
{
    const struct entry *entry = dict_get(registry->entries, key);

    return entry ? entry->trouble : (struct rules_trouble){ STR(""), STR("") };
}

static bool leaves(const struct entry *entry)
{
    return entry->leaves && entry->had && !is_clear(entry) && !wants_some(&entry->wish);
}

bool rules_registry_leaves(const struct rules_registry *registry, struct str key)
{
    const struct entry *entry = dict_get(registry->entries, key);

    return entry && leaves(entry);
}

void rules_registry_each_leaving(const struct rules_registry *registry,
                                 void (*each)(void *context, struct str key), void *context)
{
    struct str key;
    void *entry;

    for (size_t cursor = 0; dict_next(registry->entries, &cursor, &key, &entry);)
        if (leaves(entry))
            each(context, key);
}
