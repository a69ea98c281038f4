/* SPDX-License-Identifier: Apache-2.0 */
/* field_walk.c: which fields an object has, and which differ from another. */
#include "lab/apiserver/field_set.h"

struct walk {
    struct arena *arena;
    bool custom;
    bool applied; /* all that is said, and a container only as an entry of a map or a list */
};

static struct value *walk_value(struct walk *w, const struct schema *s, const struct value *old,
                                const struct value *now, bool is_meta);

/* metadata that the server sets belongs to nobody. */
static bool is_owned(struct str key)
{
    static const char *const names[] = { "name",
                                         "namespace",
                                         "uid",
                                         "selfLink",
                                         "resourceVersion",
                                         "generation",
                                         "managedFields",
                                         "creationTimestamp",
                                         "deletionTimestamp",
                                         "deletionGracePeriodSeconds" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (str_eq(key, str_of(names[i])))
            return false;
    return true;
}

static void put_self(struct walk *w, struct value *node)
{
    if (value_count(node))
        value_set(w->arena, node, STR("."), value_object(w->arena));
}

static struct value *walk_object(struct walk *w, const struct schema *s, const struct value *old,
                                 const struct value *now, bool is_meta)
{
    struct value *set = value_object(w->arena);
    bool marks_itself = w->custom || (s && s->additional);

    for (struct value *m = value_first(now); m; m = value_next(m)) {
        struct str key = value_key(m);
        const struct schema *declared = schema_property(s, key);
        const struct schema *of = declared ? declared : s ? s->additional : NULL;
        struct value *node;

        if (is_meta && !is_owned(key))
            continue;
        node = walk_value(w, of, value_get(old, key), m, false);
        if (!node)
            continue;
        if (w->applied && !declared)
            put_self(w, node);
        value_set(w->arena, set, str_fmt(w->arena, "f:%.*s", STR_ARG(key)), node);
    }
    if (!w->applied && !old && !is_meta && marks_itself)
        put_self(w, set);
    return value_count(set) ? set : NULL;
}

/* A key that an element leaves out has its default; of the built-in types,
 * only protocol has one. */
static const struct value *key_of(struct arena *arena, const struct schema *list,
                                  const struct value *element, struct str key)
{
    const struct value *given = value_get(element, key);
    const struct schema *s = schema_property(list->items, key);

    if (given)
        return given;
    if (s && s->default_)
        return s->default_;
    return str_eq(key, STR("protocol")) ? value_str(arena, STR("TCP")) : NULL;
}

struct str fields_element(struct arena *arena, const struct schema *list,
                          const struct value *element)
{
    struct strbuf id = strbuf_new(arena, 32);
    struct value *keys;

    if (list->list == SCHEMA_LIST_SET) {
        strbuf_lit(&id, "v:");
        value_write(element, true, &id);
        return strbuf_str(&id);
    }
    keys = value_object(arena);
    for (uint32_t i = 0; i < list->list_keys.count; i++) {
        const struct value *key = key_of(arena, list, element, list->list_keys.items[i]);

        if (key)
            value_set(arena, keys, list->list_keys.items[i], value_clone(arena, key));
    }
    strbuf_lit(&id, "k:");
    value_write(keys, true, &id);
    return strbuf_str(&id);
}

static struct value *element_of(struct walk *w, const struct schema *s, const struct value *list,
                                struct str id)
{
    for (struct value *m = value_first(list); m; m = value_next(m))
        if (str_eq(fields_element(w->arena, s, m), id))
            return m;
    return NULL;
}

static struct value *walk_list(struct walk *w, const struct schema *s, const struct value *old,
                               const struct value *now)
{
    struct value *set = value_object(w->arena);

    for (struct value *m = value_first(now); m; m = value_next(m)) {
        struct str id = fields_element(w->arena, s, m);
        const struct value *before = w->applied ? NULL : element_of(w, s, old, id);
        struct value *node;

        if (before && value_equal(before, m))
            continue;
        node = s->list == SCHEMA_LIST_SET ? NULL : walk_value(w, s->items, before, m, false);
        if (!node)
            node = value_object(w->arena);
        if (!before)
            put_self(w, node);
        value_set(w->arena, set, id, node);
    }
    if (!old && !w->applied)
        put_self(w, set);
    return value_count(set) ? set : NULL;
}

/* NULL: nothing to tell. */
static struct value *walk_value(struct walk *w, const struct schema *s, const struct value *old,
                                const struct value *now, bool is_meta)
{
    if (!w->applied && old && value_equal(old, now))
        return NULL;
    if (value_kind(now) == JSON_OBJECT && value_count(now) && !(s && s->atomic_map))
        return walk_object(w, s, value_kind(old) == JSON_OBJECT ? old : NULL, now, is_meta);
    if (value_kind(now) == JSON_ARRAY && s && s->list != SCHEMA_LIST_ATOMIC && value_count(now))
        return walk_list(w, s, value_kind(old) == JSON_ARRAY ? old : NULL, now);
    return value_object(w->arena);
}

static struct value *walk_root(struct walk *w, const struct kind *kind, const struct value *old,
                               const struct value *object)
{
    struct value *set = value_object(w->arena);

    for (struct value *m = value_first(object); m; m = value_next(m)) {
        struct str key = value_key(m);
        struct value *node;

        if (str_eq(key, STR("apiVersion")) || str_eq(key, STR("kind")))
            continue;
        if (str_eq(key, STR("metadata")) && value_kind(m) != JSON_OBJECT)
            continue;
        node = walk_value(w, schema_property(kind->schema, key), value_get(old, key), m,
                          str_eq(key, STR("metadata")));
        if (node && (value_count(node) || !str_eq(key, STR("metadata"))))
            value_set(w->arena, set, str_fmt(w->arena, "f:%.*s", STR_ARG(key)), node);
    }
    return set;
}

struct value *fields_of(struct arena *arena, const struct kind *kind, const struct value *object)
{
    struct walk w = { arena, kind_has(kind, KIND_CUSTOM), true };

    return walk_root(&w, kind, NULL, object);
}

struct value *fields_changed(struct arena *arena, const struct kind *kind, const struct value *old,
                             const struct value *object)
{
    struct walk w = { arena, kind_has(kind, KIND_CUSTOM), false };

    return walk_root(&w, kind, old, object);
}
