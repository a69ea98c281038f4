/* SPDX-License-Identifier: Apache-2.0 */
/* plan_held.c: on which clusters something of the Stack is, or may be.
 *
 * The status has room for so many releases; what it has no room for is forgotten, and a cluster
 * that is no target any more would be, too. So ids of clusters are remembered apart from releases:
 * from when something is asked for there until it is known that nothing is left. Only what was
 * looked at is let go of: a cluster that cannot be read keeps its place. */
#include "stack/plan/plan_parts.h"

#include "base/set.h"

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

static bool slot_holds(const struct planner *p, const struct slot *s)
{
    if (s->now.state == DEPLOYMENT_REMOVED)
        return false;
    return s->now.requested_ms || s->now.attempts || plan_owns(p, s) || s->running;
}

bool plan_cluster_holds(const struct planner *p, const struct cluster_part *c)
{
    if (c->left_out)
        return false;
    if (c->removes_repos || c->observed->left_reason.len)
        return true;
    if (c->observed->state != CLUSTER_READ && plan_held_before(p, c->observed->id))
        return true;
    for (uint32_t i = 0; i < c->slots.count; i++)
        if (slot_holds(p, &p->slots.items[c->slots.items[i]]))
            return true;
    return false;
}

static void sort_ids(struct str_list *ids)
{
    if (ids->count > 1)
        qsort(ids->items, ids->count, sizeof(struct str), compare_ids);
}

/* Those held before that nobody looked at now, if they are abandoned or not. */
static void add_unobserved(struct planner *p, bool abandoned, struct str_list *ids)
{
    const struct stack_status *before = p->observed->before;
    struct set observed = set_new(p->arena, p->observed->clusters.count);

    if (!before || !before->held_clusters.count)
        return;
    for (uint32_t i = 0; i < p->observed->clusters.count; i++)
        set_add(observed, p->observed->clusters.items[i].id);
    for (uint32_t i = 0; i < before->held_clusters.count; i++) {
        struct str id = before->held_clusters.items[i];

        if (!set_has(observed, id) && plan_is_abandoned(p, id) == abandoned)
            str_list_push(ids, id);
    }
}

/* Those held before that are left out now because they are gone, or because they are abandoned. */
static struct str_list left_out(struct planner *p, bool gone)
{
    struct str_list ids = str_list_new(p->arena, 0);

    for (uint32_t i = 0; i < p->observed->clusters.count; i++) {
        const struct observed_cluster *c = &p->observed->clusters.items[i];

        if (p->clusters[i].left_out && (c->state == CLUSTER_GONE) == gone &&
            plan_held_before(p, c->id))
            str_list_push(&ids, c->id);
    }
    return ids;
}

struct str_list plan_gone(struct planner *p)
{
    struct str_list gone = left_out(p, true);

    sort_ids(&gone);
    return gone;
}

struct str_list plan_abandoned(struct planner *p)
{
    struct str_list abandoned = left_out(p, false);

    add_unobserved(p, true, &abandoned);
    sort_ids(&abandoned);
    return abandoned;
}

struct str_list plan_held(struct planner *p)
{
    struct str_list held = str_list_new(p->arena, p->observed->clusters.count);

    for (uint32_t i = 0; i < p->observed->clusters.count; i++)
        if (plan_cluster_holds(p, &p->clusters[i]))
            str_list_push(&held, p->observed->clusters.items[i].id);
    add_unobserved(p, false, &held);
    sort_ids(&held);
    return held;
}
