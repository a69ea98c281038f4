/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_values.c: prune, sort, merge. */
#include "stack/gpu/gpu_values.h"

#include <stdlib.h>

#include "base/list.h"
#include "stack/gpu/gpu.h"

LIST_DEFINE(gpu_members, struct gpu_value)

static bool counts(struct str key)
{
    return str_eq(key, STR("enabled")) || str_eq(key, STR("replicas")) ||
           str_eq(key, STR("replicaCount")) || gpu_of_resource(key) != 0;
}

static int by_key(const void *a, const void *b)
{
    return str_cmp(((const struct gpu_value *)a)->key, ((const struct gpu_value *)b)->key);
}

/* As deep as the reader lets JSON be (LIMIT_JSON_DEPTH). */
static struct gpu_value take(struct arena *arena, struct str key, struct json json, bool whole)
{
    struct gpu_value value = { .key = key, .scalar = { NULL, 0 } };
    uint32_t room = json_count(json);
    struct gpu_members members = gpu_members_new(arena, room < 8 ? room : 0);
    struct json_iter it = json_iter(json);

    value.is_map = json_is(json, JSON_OBJECT);
    value.is_list = json_is(json, JSON_ARRAY);
    if (!value.is_map && !value.is_list) {
        value.scalar = json;
        return value;
    }
    while (json_next(&it)) {
        struct gpu_value member = take(arena, it.key, it.value, whole);

        if (whole || member.count || counts(it.key))
            gpu_members_push(&members, member);
    }
    if (value.is_map && members.count)
        qsort(members.items, members.count, sizeof(members.items[0]), by_key);
    value.members = members.items;
    value.count = members.count;
    return value;
}

struct gpu_value gpu_value_of(struct arena *arena, struct json values)
{
    return take(arena, STR(""), values, false);
}

struct gpu_value gpu_value_over(struct arena *arena, struct json values)
{
    return take(arena, STR(""), values, true);
}

struct gpu_value gpu_value_merge(struct arena *arena, const struct gpu_value *base,
                                 const struct gpu_value *over, uint64_t *steps)
{
    struct gpu_value merged = *over;
    struct gpu_members members;
    uint32_t b = 0, o = 0;

    if (!base->is_map || !over->is_map)
        return merged;
    *steps += base->count + over->count;
    members = gpu_members_new(arena, base->count + over->count);
    while (b < base->count || o < over->count) {
        int order = b == base->count   ? 1
                    : o == over->count ? -1
                                       : by_key(&base->members[b], &over->members[o]);

        if (order < 0)
            gpu_members_push(&members, base->members[b++]);
        else if (order > 0)
            gpu_members_push(&members, over->members[o++]);
        else
            gpu_members_push(
                &members, gpu_value_merge(arena, &base->members[b++], &over->members[o++], steps));
    }
    merged.members = members.items;
    merged.count = members.count;
    return merged;
}

const struct gpu_value *gpu_value_get(const struct gpu_value *map, struct str key)
{
    struct gpu_value wanted = { .key = key };

    if (!map->is_map || !map->count)
        return NULL;
    return bsearch(&wanted, map->members, map->count, sizeof(map->members[0]), by_key);
}
