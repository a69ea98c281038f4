/* SPDX-License-Identifier: Apache-2.0 */
/* schema_shape.c: what an API server does to an object on its way in: defaults go in, what the
 * schema does not know goes out (k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting
 * and /pruning). */
#include "lab/apiserver/schema.h"

static bool is_void(const struct schema *s, const struct value *member)
{
    return s && value_kind(member) == JSON_NULL && !s->nullable;
}

/* A null where none may stand means "as if it were not there": schema/defaulting/prune.go. */
static void drop_nulls(struct arena *arena, const struct schema *s, struct value *value)
{
    struct str_list gone = str_list_new(arena, 0);

    for (struct value *member = value_first(value); member; member = value_next(member)) {
        const struct schema *of = schema_property(s, value_key(member));

        if (is_void(of ? of : s->additional, member))
            str_list_push(&gone, value_key(member));
    }
    for (uint32_t i = 0; i < gone.count; i++)
        value_remove(value, gone.items[i]);
}

void schema_default(struct arena *arena, const struct schema *s, struct value *value)
{
    if (!s)
        return;
    if (value_kind(value) == JSON_ARRAY && s->items) {
        for (struct value *item = value_first(value); item; item = value_next(item))
            schema_default(arena, s->items, item);
        return;
    }
    if (value_kind(value) != JSON_OBJECT)
        return;
    drop_nulls(arena, s, value);
    for (uint32_t i = 0; s->properties && i < map_count(s->properties); i++) {
        const struct schema *of = map_value(s->properties, i);
        struct str key = map_key(s->properties, i);

        if (of->default_ && !value_get(value, key))
            value_set(arena, value, str_dup(arena, key), value_clone(arena, of->default_));
    }
    for (struct value *member = value_first(value); member; member = value_next(member)) {
        const struct schema *of = schema_property(s, value_key(member));

        schema_default(arena, of ? of : s->additional, member);
    }
}

struct prune {
    struct arena *arena;
    struct str_list *unknown;
};

static void prune(struct prune *p, const struct schema *s, struct value *value,
                  const struct path *at, bool is_root);

static void prune_members(struct prune *p, const struct schema *s, struct value *value,
                          const struct path *at, bool has_meta)
{
    struct str_list gone = str_list_new(p->arena, 0);

    for (struct value *member = value_first(value); member; member = value_next(member)) {
        struct str key = value_key(member);
        const struct schema *of = schema_property(s, key);
        struct path here = path_field(at, key);

        if (!of)
            of = s->additional;
        if (of)
            prune(p, of, member, &here, false);
        else if (!s->preserve_unknown && !(has_meta && schema_is_common(key)))
            str_list_push(&gone, key);
    }
    for (uint32_t i = 0; i < gone.count; i++) {
        struct path here = path_field(at, gone.items[i]);

        str_list_push(p->unknown, path_render(&here, p->arena));
        value_remove(value, gone.items[i]);
    }
}

static void prune(struct prune *p, const struct schema *s, struct value *value,
                  const struct path *at, bool is_root)
{
    uint32_t index = 0;

    if (value_kind(value) == JSON_OBJECT) {
        /* No properties, no map: nothing is said about the members of an untyped value. */
        if (s->type == SCHEMA_ANY && !s->properties && !s->additional)
            return;
        prune_members(p, s, value, at, is_root || s->embedded);
    } else if (value_kind(value) == JSON_ARRAY && s->items) {
        for (struct value *item = value_first(value); item; item = value_next(item)) {
            struct path here = path_index(at, index++);

            prune(p, s->items, item, &here, false);
        }
    }
}

void schema_prune(struct arena *arena, const struct schema *s, struct value *value, bool is_root,
                  struct str_list *unknown)
{
    struct prune p = { arena, unknown };

    prune(&p, s, value, NULL, is_root);
}
