/* SPDX-License-Identifier: Apache-2.0 */
/* check.c: an order that depends on nothing but what is said. */
#include "stack/model/check.h"

#include "stack/model/limits.h"

#include <stdlib.h>

static const struct str names[CHECK_LEVELS] = {
    [CHECK_WARN] = STR_INIT("WARN"),
    [CHECK_ERROR] = STR_INIT("ERROR"),
    [CHECK_HIGH] = STR_INIT("HIGH"),
};

struct str check_level_name(enum check_level level)
{
    return names[level];
}

bool check_level_from(struct str name, enum check_level *ret_level)
{
    for (int i = 0; i < CHECK_LEVELS; i++)
        if (str_eq(names[i], name)) {
            *ret_level = (enum check_level)i;
            return true;
        }
    return false;
}

static int compare_levels(const struct check *a, const struct check *b)
{
    return a->level == b->level ? 0 : a->level > b->level ? -1 : 1;
}

static int compare_texts(const struct check *a, const struct check *b)
{
    int order = str_cmp(a->description, b->description);

    return order ? order : str_cmp(a->remediation, b->remediation);
}

int check_cmp(const struct check *a, const struct check *b)
{
    int order = compare_levels(a, b);

    if (!order)
        order = str_cmp(a->number, b->number);
    return order ? order : compare_texts(a, b);
}

static int worst_first(const void *a, const void *b)
{
    return check_cmp(a, b);
}

static int by_number(const void *a, const void *b)
{
    const struct check *x = a;
    const struct check *y = b;
    int order = str_cmp(x->number, y->number);

    return order ? order : check_cmp(x, y);
}

void check_list_unite(struct check_list *list)
{
    uint32_t kept = 0;

    if (!list->count)
        return;
    qsort(list->items, list->count, sizeof(list->items[0]), by_number);
    for (uint32_t i = 0; i < list->count; i++)
        if (!kept || !str_eq(list->items[kept - 1].number, list->items[i].number))
            list->items[kept++] = list->items[i];
    list->count = kept;
    qsort(list->items, list->count, sizeof(list->items[0]), worst_first);
}

void check_list_add(struct check_list *list, const struct check_list *more)
{
    for (uint32_t i = 0; i < more->count; i++)
        check_list_push(list, more->items[i]);
    if (list->count <= 2 * LIMIT_IMAGE_CHECKS)
        return;
    check_list_unite(list);
    if (list->count > LIMIT_IMAGE_CHECKS)
        list->count = LIMIT_IMAGE_CHECKS;
}

bool check_list_eq(const struct check_list *a, const struct check_list *b)
{
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (check_cmp(&a->items[i], &b->items[i]) != 0)
            return false;
    return true;
}

struct checks *checks_create(const struct check_list *list)
{
    struct arena *arena = arena_create(0);
    struct checks *snapshot = arena_new(arena, struct checks);

    snapshot->shared = (struct snapshot){ 1, arena };
    snapshot->list = check_list_new(arena, list->count);
    for (uint32_t i = 0; i < list->count; i++) {
        const struct check *one = &list->items[i];

        check_list_push(&snapshot->list,
                        (struct check){ .level = one->level,
                                        .number = str_dup(arena, one->number),
                                        .description = str_dup(arena, one->description),
                                        .remediation = str_dup(arena, one->remediation) });
    }
    return snapshot;
}

struct checks *checks_ref(struct checks *snapshot)
{
    snapshot_ref(&snapshot->shared);
    return snapshot;
}

void checks_unref(struct checks *snapshot)
{
    snapshot_unref(snapshot ? &snapshot->shared : NULL);
}

struct checks *checks_lend(struct arena *arena, struct checks *snapshot)
{
    snapshot_lend(arena, snapshot ? &snapshot->shared : NULL);
    return snapshot;
}
