/* SPDX-License-Identifier: Apache-2.0 */
/* wishes.c: one after the other. */
#include "controller/backends/observability/wishes.h"

#include "controller/limits.h"

void wishes_free(struct dict *wishes)
{
    struct str key;
    void *wish;

    for (size_t cursor = 0; dict_next(wishes, &cursor, &key, &wish);)
        wish_free(wish);
    dict_free(wishes);
}

bool wishes_any(const struct dict *wishes, bool (*is_true)(const struct wish *wish))
{
    struct str key;
    void *wish;

    for (size_t cursor = 0; dict_next(wishes, &cursor, &key, &wish);)
        if (is_true(wish))
            return true;
    return false;
}

int64_t wishes_interval_ms(const struct dict *wishes)
{
    int64_t least_ms = LIMIT_METRICS_INTERVAL_MAX;
    struct str key;
    void *wish;

    for (size_t cursor = 0; dict_next(wishes, &cursor, &key, &wish);)
        if (wish_interval_ms(wish) < least_ms)
            least_ms = wish_interval_ms(wish);
    return least_ms;
}

struct str_list wishes_namespaces(const struct dict *wishes, struct arena *arena)
{
    struct str_list namespaces = str_list_new(arena, 8);
    struct str key;
    void *wish;

    for (size_t cursor = 0; dict_next(wishes, &cursor, &key, &wish);)
        wish_add_namespaces(wish, &namespaces);
    return namespaces;
}

void wishes_add_upkeep(const struct dict *wishes, const struct wire_prometheus *prometheus,
                       struct upkeep *upkeep)
{
    struct str key;
    void *wish;

    for (size_t cursor = 0; dict_next(wishes, &cursor, &key, &wish);)
        wish_add_upkeep(wish, key, prometheus, upkeep);
}

void wishes_note_begin(const struct dict *wishes)
{
    struct str key;
    void *wish;

    for (size_t cursor = 0; dict_next(wishes, &cursor, &key, &wish);)
        wish_note_begin(wish);
}

void wishes_note_end(const struct dict *wishes, void (*let_go)(void *context, struct str stack),
                     void *context)
{
    struct str key;
    void *wish;

    for (size_t cursor = 0; dict_next(wishes, &cursor, &key, &wish);) {
        bool held = wish_holds(wish);

        wish_note_end(wish);
        if (held && !wish_holds(wish))
            let_go(context, key);
    }
}

void wishes_drop_removed(struct dict *wishes, const struct known *known,
                         void (*let_go)(void *context, struct str stack), void *context)
{
    struct str key;
    void *wish;

    for (size_t cursor = 0; dict_next(wishes, &cursor, &key, &wish);)
        if (wish_is_over(wish) && !known_refuses(known, wish, key)) {
            let_go(context, key);
            dict_remove(wishes, key);
            wish_free(wish);
        }
}
