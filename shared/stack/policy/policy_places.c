/* SPDX-License-Identifier: Apache-2.0 */
/* policy_places.c: clusters, told apart by the overrides that skip something there. */
#include "stack/policy/policy_places.h"

#include "base/map.h"
#include "stack/model/limits.h"

struct placing {
    struct arena *arena;
    const struct claims *claims;
    uint32_t charts;
    struct map *numbers; /* by the skips that apply -> the number of the place, and one */
    struct policy_places places;
};

static struct policy_place *add_place(struct placing *p)
{
    policy_places_push(&p->places, (struct policy_place){ arena_array(p->arena, bool, p->charts),
                                                          str_list_new(p->arena, 0) });
    return &p->places.items[p->places.count - 1];
}

/* `applies`: by entry of claims.skips. */
static struct policy_place *place_of(struct placing *p, const bool *applies)
{
    uint32_t skips = p->claims->skips.count;
    struct str key = str_make((const char *)applies, skips * sizeof(*applies));
    uintptr_t number = (uintptr_t)map_get(p->numbers, key);

    if (number)
        return &p->places.items[number - 1];
    if (p->places.count < LIMIT_POLICY_PLACES)
        add_place(p);
    map_put(p->numbers, str_dup(p->arena, key), (void *)(uintptr_t)p->places.count);

    struct policy_place *place = &p->places.items[p->places.count - 1];

    for (uint32_t i = 0; i < skips; i++) {
        const struct u32_list *skipped = &p->claims->skips.items[i].releases;

        for (uint32_t k = 0; applies[i] && k < skipped->count; k++)
            place->skips[skipped->items[k]] = true;
    }
    return place;
}

/* `cluster` NULL: only its id is known. */
static void add_cluster(struct placing *p, bool *applies, struct str id,
                        const struct fact_cluster *cluster)
{
    for (uint32_t i = 0; i < p->claims->skips.count; i++)
        applies[i] = claims_skip_on(p->arena, p->claims, i, id, cluster);
    str_list_push(&place_of(p, applies)->clusters, id);
}

static void add_clusters(struct placing *p, const struct resolved_targets *chosen)
{
    const struct str_list *ids = &chosen->claims.targets.ids;
    bool *applies = arena_array(p->arena, bool, chosen->claims.skips.count);

    for (uint32_t i = 0; i < chosen->clusters.count; i++)
        add_cluster(p, applies, chosen->clusters.items[i].id, &chosen->clusters.items[i]);
    for (uint32_t i = 0; i < ids->count; i++)
        if (!resolved_targets_have(chosen, ids->items[i]))
            add_cluster(p, applies, ids->items[i], NULL);
}

struct policy_places policy_places_of(struct arena *arena, const struct stack *stack,
                                      const struct resolved_targets *chosen)
{
    const struct claims *claims = &chosen->claims;
    struct placing p = { .arena = arena,
                         .claims = claims,
                         .charts = stack->spec.charts.count,
                         .numbers = map_new(arena, 4),
                         .places = policy_places_new(arena, 1) };

    if (claims->skips.count)
        add_clusters(&p, chosen);
    if (p.places.count)
        return p.places;

    struct policy_place *anywhere = add_place(&p);

    for (uint32_t i = 0; claims->skips.count && i < p.charts; i++)
        anywhere->skips[i] = !claims_anywhere(arena, claims, i);
    return p.places;
}
