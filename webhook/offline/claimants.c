/* SPDX-License-Identifier: Apache-2.0 */
/* claimants.c: chains by release: one for those that choose clusters by a selector, and one for
 * each cluster that others name. */
#include "webhook/offline/claimants.h"

#include "base/map.h"
#include "stack/model/limits.h"

struct link {
    const struct fact_claimant *claimant;
    const struct link *next;
};

struct claimants {
    struct arena *arena;
    struct map *chains; /* key_of -> the newest link */
};

struct claimants *claimants_new(struct arena *arena)
{
    struct claimants *claimants = arena_new(arena, struct claimants);

    *claimants = (struct claimants){ arena, map_new(arena, 64) };
    return claimants;
}

/* No cluster's id is empty: "" stands for a selector. */
static struct str key_of(struct arena *arena, struct str release, struct str cluster_id)
{
    return str_fmt(arena, "%.*s %.*s", STR_ARG(release), STR_ARG(cluster_id));
}

static void file_under(struct claimants *claimants, struct str release, struct str cluster_id,
                       const struct fact_claimant *claimant)
{
    struct str key = key_of(claimants->arena, release, cluster_id);
    struct link *link = arena_new(claimants->arena, struct link);

    *link = (struct link){ claimant, map_get(claimants->chains, key) };
    map_put(claimants->chains, key, link);
}

static const struct fact_claimant *claimant_of(struct arena *arena, const struct stack *stack,
                                               const struct claims *claims)
{
    struct fact_claimant *claimant = arena_new(arena, struct fact_claimant);
    struct strbuf packed = strbuf_new(arena, 64);

    claims_pack(claims, &packed);
    *claimant = (struct fact_claimant){ str_dup(arena, stack->meta.namespace_),
                                        str_dup(arena, stack->meta.name), strbuf_str(&packed) };
    return claimant;
}

void claimants_add(struct claimants *claimants, const struct stack *stack,
                   const struct claims *claims)
{
    const struct fact_claimant *claimant = claimant_of(claimants->arena, stack, claims);

    for (uint32_t i = 0; i < claims->releases.count; i++) {
        struct str release = claims->releases.items[i];

        if (claims->targets.by_selector)
            file_under(claimants, release, STR(""), claimant);
        for (uint32_t k = 0; k < claims->targets.ids.count; k++)
            file_under(claimants, release, claims->targets.ids.items[k], claimant);
    }
}

/* False once there is no more room. */
static bool collect(const struct claimants *claimants, struct str key, struct fact_claimants *found)
{
    for (const struct link *link = map_get(claimants->chains, key); link; link = link->next) {
        if (found->count >= LIMIT_CLAIMANTS)
            return false;
        fact_claimants_push(found, *link->claimant);
    }
    return true;
}

bool claimants_find(const struct claimants *claimants, struct arena *arena, struct str release,
                    const struct str_list *cluster_ids, struct fact_claimants *ret_claimants)
{
    bool all;

    *ret_claimants = fact_claimants_new(arena, 0);
    all = collect(claimants, key_of(arena, release, STR("")), ret_claimants);
    for (uint32_t i = 0; all && i < cluster_ids->count; i++)
        all = collect(claimants, key_of(arena, release, cluster_ids->items[i]), ret_claimants);
    return all;
}
