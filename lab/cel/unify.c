/* SPDX-License-Identifier: Apache-2.0 */
/* unify.c: one table of what is known of each parameter, and a trail to take attempts back. */
#include "lab/cel/unify.h"

enum { FIRST_FRESH = 3 };

struct cel_unify cel_unify_new(struct arena *arena)
{
    return (struct cel_unify){ .arena = arena, .count = FIRST_FRESH };
}

static void room_for(struct cel_unify *u, uint32_t param)
{
    uint32_t capacity = u->capacity ? u->capacity * 2 : 32;
    const struct cel_type **bound;

    if (param < u->capacity)
        return;
    while (capacity <= param)
        capacity *= 2;
    bound = arena_array(u->arena, const struct cel_type *, capacity);
    if (u->capacity)
        memcpy(bound, u->bound, sizeof(*bound) * u->capacity);
    u->bound = bound;
    u->capacity = capacity;
}

const struct cel_type *cel_unify_fresh(struct cel_unify *u)
{
    struct cel_type *type = arena_new(u->arena, struct cel_type);

    type->kind = CEL_PARAM;
    type->param = u->count++;
    room_for(u, type->param);
    return type;
}

static const struct cel_type *found(const struct cel_unify *u, const struct cel_type *type)
{
    return type->kind == CEL_PARAM && type->param < u->capacity ? u->bound[type->param] : NULL;
}

static void bind(struct cel_unify *u, const struct cel_type *param, const struct cel_type *to)
{
    if (u->trail_count == u->trail_capacity) {
        uint32_t capacity = u->trail_capacity ? u->trail_capacity * 2 : 32;
        void *trail = arena_alloc(u->arena, sizeof(*u->trail) * capacity);

        if (u->trail_count)
            memcpy(trail, u->trail, sizeof(*u->trail) * u->trail_count);
        u->trail = trail;
        u->trail_capacity = capacity;
    }
    room_for(u, param->param);
    u->trail[u->trail_count].param = param->param;
    u->trail[u->trail_count++].was = u->bound[param->param];
    u->bound[param->param] = to;
}

/* The type itself if neither part is another. */
static const struct cel_type *rebuilt(struct cel_unify *u, const struct cel_type *type,
                                      const struct cel_type *first, const struct cel_type *second)
{
    struct cel_type *made;

    if (first == type->of[0] && second == type->of[1])
        return type;
    made = arena_new(u->arena, struct cel_type);
    *made = *type;
    made->of[0] = first;
    made->of[1] = second;
    return made;
}

const struct cel_type *cel_unify_instance(struct cel_unify *u, const struct cel_type *type,
                                          const struct cel_type *a, const struct cel_type *b)
{
    if (!type || type->kind == CEL_PARAM)
        return !type ? NULL : type->param == 1 ? a : type->param == 2 ? b : type;
    return rebuilt(u, type, cel_unify_instance(u, type->of[0], a, b),
                   cel_unify_instance(u, type->of[1], a, b));
}

const struct cel_type *cel_substitute(struct cel_unify *u, const struct cel_type *type, bool final)
{
    const struct cel_type *known;

    if (!type)
        return NULL;
    known = found(u, type);
    if (known)
        return cel_substitute(u, known, final);
    if (type->kind == CEL_PARAM)
        return final ? &cel_type_dyn : type;
    return rebuilt(u, type, cel_substitute(u, type->of[0], final),
                   cel_substitute(u, type->of[1], final));
}

static bool wild(const struct cel_type *type)
{
    return type->kind == CEL_DYN || type->kind == CEL_ERROR;
}

static bool less_specific(const struct cel_type *a, const struct cel_type *b)
{
    if (a->kind == CEL_DYN || a->kind == CEL_PARAM)
        return true;
    if (b->kind == CEL_DYN || b->kind == CEL_PARAM || a->kind != b->kind)
        return false;
    if (a->kind == CEL_TYPE)
        return true;
    if (a->kind == CEL_STRUCT)
        return cel_type_same(a, b);
    for (int i = 0; i < 2; i++)
        if (a->of[i] && b->of[i] && !less_specific(a->of[i], b->of[i]))
            return false;
    return true;
}

const struct cel_type *cel_most_general(const struct cel_type *a, const struct cel_type *b)
{
    return less_specific(a, b) ? a : b;
}

/* A parameter must not be a part of what it stands for. */
static bool stands_apart(const struct cel_unify *u, const struct cel_type *param,
                         const struct cel_type *within)
{
    if (!within)
        return true;
    if (within->kind == CEL_PARAM) {
        const struct cel_type *known = found(u, within);

        return within->param != param->param && (!known || stands_apart(u, param, known));
    }
    return stands_apart(u, param, within->of[0]) && stands_apart(u, param, within->of[1]);
}

static bool assignable(struct cel_unify *u, const struct cel_type *from, const struct cel_type *to);

/* May the parameter stand for `type`? *ret_known: something was known of it already. */
static bool stands_for(struct cel_unify *u, const struct cel_type *type,
                       const struct cel_type *param, bool *ret_known)
{
    const struct cel_type *known = found(u, param);

    *ret_known = true;
    if (cel_type_same(type, param) || (known && cel_type_same(type, known)))
        return true;
    if (known) {
        const struct cel_type *general;

        if (!assignable(u, type, known))
            return false;
        general = cel_most_general(type, known);
        if (stands_apart(u, param, general))
            bind(u, param, general);
        return true;
    }
    *ret_known = false;
    if (!stands_apart(u, param, type))
        return false;
    bind(u, param, type);
    return true;
}

/* null may stand for what is an object in other languages. */
static bool takes_null(const struct cel_type *type)
{
    return type->kind == CEL_NULL || type->kind == CEL_STRUCT || type->kind == CEL_OPTIONAL ||
           type->kind == CEL_DURATION || type->kind == CEL_TIMESTAMP || type->kind == CEL_QUANTITY;
}

static bool assignable(struct cel_unify *u, const struct cel_type *from, const struct cel_type *to)
{
    bool known;

    if (to->kind == CEL_PARAM) {
        if (stands_for(u, from, to, &known))
            return true;
        if (known)
            return false;
    }
    if (from->kind == CEL_PARAM)
        return stands_for(u, to, from, &known);
    if (wild(from) || wild(to))
        return true;
    if (from->kind == CEL_NULL || to->kind == CEL_NULL)
        return takes_null(from->kind == CEL_NULL ? to : from);
    if (from->kind != to->kind)
        return false;
    if (from->kind == CEL_STRUCT)
        return cel_type_same(from, to);
    if (from->kind == CEL_TYPE)
        return true;
    for (int i = 0; i < 2; i++)
        if (from->of[i] && to->of[i] && !assignable(u, from->of[i], to->of[i]))
            return false;
    return true;
}

bool cel_all_assignable(struct cel_unify *u, const struct cel_type *const *from,
                        const struct cel_type *const *to, uint32_t count)
{
    uint32_t before = u->trail_count;

    for (uint32_t i = 0; i < count; i++) {
        if (assignable(u, from[i], to[i]))
            continue;
        while (u->trail_count > before) {
            u->trail_count--;
            u->bound[u->trail[u->trail_count].param] = u->trail[u->trail_count].was;
        }
        return false;
    }
    return true;
}

bool cel_assignable(struct cel_unify *u, const struct cel_type *from, const struct cel_type *to)
{
    return cel_all_assignable(u, &from, &to, 1);
}
