/* plan_held.c: on which clusters something of the Stack is, or may be.
 *
 * The status has room for so many releases; what it has no room for is forgotten, and a cluster
 * that is no target any more would be, too. So ids of clusters are remembered apart from releases:
 * from when something is asked for there until it is known that nothing is left. Only what was
 * looked at is let go of: a cluster that cannot be read keeps its place. */
#include "stack/plan_parts.h"

#include <stdlib.h>

static int compare_ids(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static bool has_id(const struct str_list *sorted, struct str id)
{
    return sorted->count && bsearch(&id, sorted->items, sorted->count, sizeof(id), compare_ids);
}

bool plan_held_before(const struct planner *p, struct str cluster_id)
{
    const struct stack_status *before = p->observed->before;

    return before && has_id(&before->held_clusters, cluster_id);
}

bool plan_is_asked(const struct release_state *release)
{
    return release->digest.len || release->requested_ms;
}

static bool slot_holds(const struct planner *p, const struct slot *s)
{
    if (s->now.state == DEPLOYMENT_REMOVED)
        return false;
    return plan_is_asked(&s->now) || plan_is_ours(p, s->app) || s->running;
}

static bool cluster_holds(const struct planner *p, const struct cluster_part *c)
{
    if (c->left_out)
        return false;
    if (c->observed->state != CLUSTER_READ && plan_held_before(p, c->observed->id))
        return true;
    for (uint32_t i = 0; i < c->slots.count; i++)
        if (slot_holds(p, &p->slots.items[c->slots.items[i]]))
            return true;
    return false;
}

/* Those that nobody looked at now. */
static void keep_unobserved(struct planner *p, struct str_list *held)
{
    const struct stack_status *before = p->observed->before;
    struct map *observed = map_new(p->arena, p->observed->clusters.count);

    if (!before || !before->held_clusters.count)
        return;
    for (uint32_t i = 0; i < p->observed->clusters.count; i++)
        map_put(observed, p->observed->clusters.items[i].id, p);
    for (uint32_t i = 0; i < before->held_clusters.count; i++) {
        struct str id = before->held_clusters.items[i];

        if (!map_get(observed, id) && !plan_is_abandoned(p, id))
            str_list_push(held, id);
    }
}

struct str_list plan_gone(struct planner *p)
{
    struct str_list gone = str_list_new(p->arena, 0);

    for (uint32_t i = 0; i < p->observed->clusters.count; i++) {
        const struct observed_cluster *c = &p->observed->clusters.items[i];

        if (c->state == CLUSTER_GONE && plan_held_before(p, c->id))
            str_list_push(&gone, c->id);
    }
    if (gone.count > 1)
        qsort(gone.items, gone.count, sizeof(struct str), compare_ids);
    return gone;
}

struct str_list plan_held(struct planner *p)
{
    struct str_list held = str_list_new(p->arena, p->observed->clusters.count);

    for (uint32_t i = 0; i < p->observed->clusters.count; i++)
        if (cluster_holds(p, &p->clusters[i]))
            str_list_push(&held, p->observed->clusters.items[i].id);
    keep_unobserved(p, &held);
    if (held.count > 1)
        qsort(held.items, held.count, sizeof(struct str), compare_ids);
    return held;
}
