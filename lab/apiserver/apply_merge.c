/* SPDX-License-Identifier: Apache-2.0 */
/* apply_merge.c: merging and pruning values along a schema. */
#include "lab/apiserver/apply_merge.h"

static const struct schema *member_schema(const struct schema *s, struct str key)
{
    const struct schema *of = schema_property(s, key);

    return of ? of : s ? s->additional : NULL;
}

static bool is_granular_map(const struct schema *s, const struct value *value)
{
    return value_kind(value) == JSON_OBJECT && !(s && s->atomic_map);
}

static bool is_granular_list(const struct schema *s, const struct value *value)
{
    return value_kind(value) == JSON_ARRAY && s && s->list != SCHEMA_LIST_ATOMIC;
}

/* A null says that the field is not there. */
static struct value *without_nulls(struct arena *arena, const struct value *value)
{
    struct value *copy;

    if (value_kind(value) != JSON_OBJECT)
        return value_clone(arena, value);
    copy = value_object(arena);
    for (struct value *m = value_first(value); m; m = value_next(m))
        if (value_kind(m) != JSON_NULL)
            value_set(arena, copy, value_key(m), without_nulls(arena, m));
    return copy;
}

static const struct value *named(struct arena *arena, const struct schema *list,
                                 const struct value *values, struct str id)
{
    for (struct value *m = value_first(values); m; m = value_next(m))
        if (str_eq(fields_element(arena, list, m), id))
            return m;
    return NULL;
}

static struct value *merged_element(struct arena *arena, const struct schema *s,
                                    const struct value *live, const struct value *config)
{
    const struct value *there =
        s->list == SCHEMA_LIST_MAP ? named(arena, s, live, fields_element(arena, s, config)) : NULL;

    return there ? apply_merge(arena, s->items, there, config) : without_nulls(arena, config);
}

/* The applier's order, and between its elements those of others, where they stood. */
static struct value *merge_lists(struct arena *arena, const struct schema *s,
                                 const struct value *live, const struct value *config)
{
    struct value *result = value_array(arena);
    const struct value *next = value_first(config);

    for (struct value *m = value_first(live); m; m = value_next(m)) {
        struct str id = fields_element(arena, s, m);

        if (!named(arena, s, config, id)) {
            value_append(result, value_clone(arena, m));
            continue;
        }
        if (named(arena, s, result, id))
            continue;
        for (bool done = false; next && !done; next = value_next(next)) {
            done = str_eq(fields_element(arena, s, next), id);
            value_append(result, merged_element(arena, s, live, next));
        }
    }
    for (; next; next = value_next(next))
        value_append(result, merged_element(arena, s, live, next));
    return result;
}

struct value *apply_merge(struct arena *arena, const struct schema *s, const struct value *live,
                          const struct value *config)
{
    struct value *result;

    if (is_granular_list(s, live) && is_granular_list(s, config))
        return merge_lists(arena, s, live, config);
    if (!is_granular_map(s, live) || !is_granular_map(s, config))
        return without_nulls(arena, config);
    result = value_clone(arena, live);
    for (struct value *m = value_first(config); m; m = value_next(m)) {
        const struct value *there = value_get(live, value_key(m));

        if (value_kind(m) == JSON_NULL)
            value_remove(result, value_key(m));
        else
            value_set(arena, result, value_key(m),
                      there ? apply_merge(arena, member_schema(s, value_key(m)), there, m)
                            : without_nulls(arena, m));
    }
    return result;
}

/* What becomes of one field that `last` names; NULL: it goes, with defaults and whatever else
 * nobody said in it. A container stays for those who own it or something in it. */
static struct value *pruned(struct arena *arena, const struct schema *s, const struct value *value,
                            const struct value *last, const struct value *owned)
{
    if (!owned)
        return NULL;
    if (!is_granular_map(s, value) && !is_granular_list(s, value))
        return value_clone(arena, value);
    return apply_prune(arena, s, value, last, owned);
}

static struct value *prune_list(struct arena *arena, const struct schema *s,
                                const struct value *value, const struct value *last,
                                const struct value *owned)
{
    struct value *result = value_array(arena);

    for (struct value *m = value_first(value); m; m = value_next(m)) {
        struct str id = fields_element(arena, s, m);
        const struct value *said = value_get(last, id);
        const struct value *kept = value_get(owned, id);
        struct value *rest = said ? pruned(arena, s->items, m, said, kept) : value_clone(arena, m);

        if (!rest)
            continue;
        /* An element is known by its keys as long as anything is left of it. */
        for (uint32_t i = 0; kept && s->list == SCHEMA_LIST_MAP && i < s->list_keys.count; i++) {
            struct str key = s->list_keys.items[i];

            if (value_get(m, key) && !value_get(rest, key))
                value_set(arena, rest, key, value_clone(arena, value_get(m, key)));
        }
        value_append(result, rest);
    }
    return result;
}

struct value *apply_prune(struct arena *arena, const struct schema *s, const struct value *value,
                          const struct value *last, const struct value *owned)
{
    struct value *result;

    if (is_granular_list(s, value))
        return prune_list(arena, s, value, last, owned);
    result = value_object(arena);
    for (struct value *m = value_first(value); m; m = value_next(m)) {
        struct str id = str_fmt(arena, "f:%.*s", STR_ARG(value_key(m)));
        const struct value *said = value_get(last, id);
        struct value *rest =
            said ? pruned(arena, member_schema(s, value_key(m)), m, said, value_get(owned, id))
                 : value_clone(arena, m);

        if (rest)
            value_set(arena, result, value_key(m), rest);
    }
    return result;
}
