/* SPDX-License-Identifier: Apache-2.0 */
/* claims.c: what is claimed, and whether two claims can meet. */
#include "stack/targets/claims.h"

#include "base/map.h"
#include "stack/model/fields.h"

#include <stdlib.h>

/* --- of a Stack --- */

static int compare_ids(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* In order, and each once. */
static void sort_once(struct str_list *ids)
{
    uint32_t kept = 0;

    if (ids->count)
        qsort(ids->items, ids->count, sizeof(struct str), compare_ids);
    for (uint32_t i = 0; i < ids->count; i++)
        if (!kept || !str_eq(ids->items[kept - 1], ids->items[i]))
            ids->items[kept++] = ids->items[i];
    ids->count = kept;
}

static struct claim_place place_of(struct arena *arena, const struct label_selector *selector,
                                   const struct str_list *ids)
{
    struct claim_place place = {
        .by_selector = !label_selector_is_empty(selector),
        .selector = label_selector_compile(arena, selector),
        .ids = str_list_new(arena, ids->count),
    };

    place.everywhere = !place.by_selector && ids->count == 0;
    for (uint32_t i = 0; i < ids->count; i++)
        str_list_push(&place.ids, ids->items[i]);
    sort_once(&place.ids);
    return place;
}

/* Exactly one of ids and selector, and whole: else validation rejects the Stack. */
static bool says_where(const struct stack_spec *spec)
{
    const struct stack_targets *targets = &spec->targets;
    bool selector = STACK_GIVEN(targets, ROW_stack_targets_selector);
    bool ids = STACK_GIVEN(targets, ROW_stack_targets_cluster_ids);

    if ((spec->given | targets->given | targets->selector.given) & FIELD_BROKEN || selector == ids)
        return false;
    return ids ? targets->cluster_ids.count > 0 : !label_selector_is_empty(&targets->selector);
}

static int compare_numbers(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

    return (left > right) - (left < right);
}

static struct u32_list skipped_by(struct arena *arena, const struct stack_override *override,
                                  const struct map *charts)
{
    struct u32_list skipped = u32_list_new(arena, 0);

    for (uint32_t i = 0; i < override->charts.count; i++) {
        const struct chart_override *said = &override->charts.items[i];
        uintptr_t chart = (uintptr_t)map_get(charts, said->name);

        if (said->skip && chart)
            u32_list_push(&skipped, (uint32_t)(chart - 1));
    }
    if (skipped.count)
        qsort(skipped.items, skipped.count, sizeof(uint32_t), compare_numbers);
    return skipped;
}

static void add_skips(struct claims *claims, struct arena *arena, const struct stack_spec *spec)
{
    struct map *charts = map_new(arena, spec->overrides.count ? spec->charts.count : 0);

    for (uint32_t i = 0; spec->overrides.count && i < spec->charts.count; i++)
        map_put(charts, spec->charts.items[i].name, (void *)(uintptr_t)(i + 1));
    for (uint32_t i = 0; i < spec->overrides.count; i++) {
        const struct stack_override *override = &spec->overrides.items[i];
        struct u32_list skipped = skipped_by(arena, override, charts);

        if (skipped.count)
            claim_skips_push(
                &claims->skips,
                (struct claim_skip){ place_of(arena, &override->selector, &override->cluster_ids),
                                     skipped });
    }
}

struct claims claims_of(struct arena *arena, const struct stack *stack)
{
    const struct stack_spec *spec = &stack->spec;
    struct claims claims = {
        .deleting = stack->meta.deletion_timestamp.len > 0,
        .releases = str_list_new(arena, spec->charts.count),
        .skips = claim_skips_new(arena, 0),
    };

    if (!says_where(spec))
        return claims;
    claims.targets = place_of(arena, &spec->targets.selector, &spec->targets.cluster_ids);
    for (uint32_t i = 0; i < spec->charts.count; i++) {
        const struct chart *chart = &spec->charts.items[i];
        struct strbuf release =
            strbuf_new(arena, chart->namespace_.len + chart->release_name.len + 2);

        strbuf_put(&release, chart->namespace_);
        strbuf_char(&release, '/');
        strbuf_put(&release, chart->release_name);
        str_list_push(&claims.releases, strbuf_str(&release));
    }
    add_skips(&claims, arena, spec);
    return claims;
}

int64_t claims_find(const struct claims *claims, struct str release)
{
    for (uint32_t i = 0; i < claims->releases.count; i++)
        if (str_eq(claims->releases.items[i], release))
            return i;
    return -1;
}

/* --- whether two meet --- */

static bool place_names(const struct claim_place *place, struct str id)
{
    const struct str_list *ids = &place->ids;

    return place->everywhere ||
           (ids->count && bsearch(&id, ids->items, ids->count, sizeof(id), compare_ids));
}

/* `cluster` NULL: its labels are not known. */
static bool place_has(struct arena *arena, const struct claim_place *place, struct str id,
                      const struct fact_cluster *cluster)
{
    return place_names(place, id) || (cluster && place->by_selector &&
                                      selector_matches(arena, &place->selector, cluster->labels));
}

static bool skips(const struct claim_skip *skip, uint32_t release)
{
    const struct u32_list *list = &skip->releases;

    return list->count &&
           bsearch(&release, list->items, list->count, sizeof(release), compare_numbers);
}

bool claims_skip_on(struct arena *arena, const struct claims *claims, uint32_t skip, struct str id,
                    const struct fact_cluster *cluster)
{
    return place_has(arena, &claims->skips.items[skip].where, id, cluster);
}

static bool is_skipped(struct arena *arena, const struct claims *claims, uint32_t release,
                       struct str id, const struct fact_cluster *cluster)
{
    if (arena)
        arena_work(arena, claims->skips.count);
    for (uint32_t i = 0; i < claims->skips.count; i++)
        if (skips(&claims->skips.items[i], release) &&
            claims_skip_on(arena, claims, i, id, cluster))
            return true;
    return false;
}

bool claims_choose(struct arena *arena, const struct claims *claims,
                   const struct fact_cluster *cluster)
{
    return !(cluster->internal && claims->targets.by_selector) &&
           place_has(arena, &claims->targets, cluster->id, cluster);
}

bool claims_on(struct arena *arena, const struct claims *claims, uint32_t release,
               const struct fact_cluster *cluster)
{
    return claims_choose(arena, claims, cluster) &&
           !is_skipped(arena, claims, release, cluster->id, cluster);
}

bool claims_by_id(struct arena *arena, const struct claims *claims, uint32_t release,
                  struct str cluster_id)
{
    return place_has(arena, &claims->targets, cluster_id, NULL) &&
           !is_skipped(arena, claims, release, cluster_id, NULL);
}

/* A cluster that both choose and neither skips satisfies the requirements of both, and of each
 * skipping selector breaks at least one. Broken, a requirement is again one, so for each of them
 * one is broken in turn until all requirements together can be satisfied. */
struct meeting {
    struct arena *arena;
    struct selector wanted;
    const struct selector **skipping;
    uint32_t skip_count;
    uint32_t tries_left; /* then they are taken to meet: who looks further is only warned */
};

enum { MEETING_TRIES = 256 };

static enum selector_operator broken(enum selector_operator op)
{
    switch (op) {
    case SELECTOR_IN:
        return SELECTOR_NOT_IN;
    case SELECTOR_NOT_IN:
        return SELECTOR_IN;
    case SELECTOR_EXISTS:
        return SELECTOR_DOES_NOT_EXIST;
    case SELECTOR_DOES_NOT_EXIST:
        return SELECTOR_EXISTS;
    }
    return op;
}

/* What is wanted so far can be satisfied; is it still so where the other selectors do not match? */
static bool can_be(struct meeting *meeting, uint32_t skip)
{
    struct selector *wanted = &meeting->wanted;

    if (meeting->tries_left == 0 || skip == meeting->skip_count)
        return true;
    meeting->tries_left--;

    const struct selector *skipping = meeting->skipping[skip];
    uint32_t before = wanted->all.count;

    for (uint32_t i = 0; i < skipping->all.count; i++) {
        const struct selector_requirement *one = &skipping->all.items[i];

        selector_add(wanted, one->key, broken(one->op), one->values);
        if (selector_allows_key(meeting->arena, wanted, one->key) && can_be(meeting, skip + 1))
            return true;
        wanted->all.count = before;
    }
    return false;
}

/* Ids leave other clusters alone, so they take no part. False: skipped everywhere. */
static bool add_side(struct meeting *meeting, const struct claims *claims, uint32_t release)
{
    const struct selector *selector = &claims->targets.selector;

    for (uint32_t i = 0; i < selector->all.count; i++)
        selector_requirements_push(&meeting->wanted.all, selector->all.items[i]);
    for (uint32_t i = 0; i < claims->skips.count; i++) {
        const struct claim_skip *skip = &claims->skips.items[i];

        if (!skips(skip, release))
            continue;
        if (skip->where.everywhere)
            return false;
        if (skip->where.by_selector)
            meeting->skipping[meeting->skip_count++] = &skip->where.selector;
    }
    return true;
}

bool claims_can_meet(struct arena *arena, const struct claims *a, uint32_t release_of_a,
                     const struct claims *b, uint32_t release_of_b)
{
    struct meeting meeting = {
        .arena = arena,
        .wanted = selector_new(arena),
        .skipping = arena_array(arena, const struct selector *, a->skips.count + b->skips.count),
        .tries_left = MEETING_TRIES,
    };

    return a->targets.by_selector && b->targets.by_selector &&
           add_side(&meeting, a, release_of_a) && add_side(&meeting, b, release_of_b) &&
           selector_intersects(arena, &meeting.wanted, &meeting.wanted) && can_be(&meeting, 0);
}

bool claims_anywhere(struct arena *arena, const struct claims *claims, uint32_t release)
{
    for (uint32_t i = 0; i < claims->targets.ids.count; i++)
        if (claims_by_id(arena, claims, release, claims->targets.ids.items[i]))
            return true;
    return claims_can_meet(arena, claims, release, claims, release);
}
