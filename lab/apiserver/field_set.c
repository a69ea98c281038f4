/* SPDX-License-Identifier: Apache-2.0 */
/* field_set.c: the algebra of sets of fields. */
#include "lab/apiserver/field_set.h"

#include "text/json_write.h"

#define SELF STR(".")

bool fields_has_self(const struct value *node)
{
    return node && (value_count(node) == 0 || value_get(node, SELF));
}

/* A node from what is below it and whether it is a member itself; NULL if nothing is left of it. */
static struct value *node_of(struct arena *arena, struct value *below, bool self)
{
    if (value_count(below) == 0)
        return self ? below : NULL;
    if (self)
        value_set(arena, below, SELF, value_object(arena));
    return below;
}

/* What two nodes, one of which may be NULL, come to. */
static struct value *combine(struct arena *arena, const struct value *a, const struct value *b,
                             bool (*keeps)(bool in_a, bool in_b))
{
    struct value *below = value_object(arena);

    for (struct value *m = value_first(a); m; m = value_next(m)) {
        struct value *of;

        if (str_eq(value_key(m), SELF))
            continue;
        of = combine(arena, m, value_get(b, value_key(m)), keeps);
        if (of)
            value_set(arena, below, value_key(m), of);
    }
    for (struct value *m = value_first(b); m; m = value_next(m)) {
        struct value *of;

        if (str_eq(value_key(m), SELF) || value_get(a, value_key(m)))
            continue;
        of = combine(arena, NULL, m, keeps);
        if (of)
            value_set(arena, below, value_key(m), of);
    }
    return node_of(arena, below, keeps(fields_has_self(a), fields_has_self(b)));
}

static bool in_either(bool in_a, bool in_b)
{
    return in_a || in_b;
}

static bool in_both(bool in_a, bool in_b)
{
    return in_a && in_b;
}

static bool in_first_only(bool in_a, bool in_b)
{
    return in_a && !in_b;
}

/* The whole object is a member of no set. */
static struct value *whole(struct arena *arena, const struct value *a, const struct value *b,
                           bool (*keeps)(bool in_a, bool in_b))
{
    struct value *set = combine(arena, a, b, keeps);

    if (!set)
        return value_object(arena);
    value_remove(set, SELF);
    return set;
}

struct value *fields_union(struct arena *arena, const struct value *a, const struct value *b)
{
    return whole(arena, a, b, in_either);
}

struct value *fields_minus(struct arena *arena, const struct value *a, const struct value *b)
{
    return whole(arena, a, b, in_first_only);
}

struct value *fields_common(struct arena *arena, const struct value *a, const struct value *b)
{
    return whole(arena, a, b, in_both);
}

struct str fields_key_shown(struct arena *arena, struct str key)
{
    struct strbuf path = strbuf_new(arena, key.len + 8);
    struct str text = str_slice(key, 2, key.len);
    struct value *keys;
    struct error err;
    bool first = true;

    if (str_starts(key, STR("v:"))) {
        strbuf_fmt(&path, "[=%.*s]", STR_ARG(text));
    } else if (str_starts(key, STR("k:")) &&
               value_read(arena, text, &json_limits_default, &keys, &err) == 0) {
        strbuf_char(&path, '[');
        for (struct value *m = value_first(keys); m; m = value_next(m)) {
            strbuf_fmt(&path, "%s%.*s=", first ? "" : ",", STR_ARG(value_key(m)));
            value_write(m, true, &path);
            first = false;
        }
        strbuf_char(&path, ']');
    } else {
        strbuf_fmt(&path, ".%.*s", STR_ARG(text));
    }
    return strbuf_str(&path);
}

static void add_paths(struct arena *arena, const struct value *node, struct str at,
                      struct str_list *paths)
{
    if (at.len && fields_has_self(node))
        str_list_push(paths, at);
    for (struct value *m = value_first(node); m; m = value_next(m)) {
        struct strbuf path = strbuf_new(arena, at.len + 32);

        if (str_eq(value_key(m), SELF))
            continue;
        strbuf_put(&path, at);
        strbuf_put(&path, fields_key_shown(arena, value_key(m)));
        add_paths(arena, m, strbuf_str(&path), paths);
    }
}

struct str_list fields_paths(struct arena *arena, const struct value *set)
{
    struct str_list paths = str_list_new(arena, 4);

    add_paths(arena, set, STR(""), &paths);
    return paths;
}
