/* SPDX-License-Identifier: Apache-2.0 */
/* plan_teardown.c: what goes, in reverse order.
 *
 * A release that is not wanted is uninstalled once nothing that stands on its cluster depends on it
 * any more. Who depends on whom is said by the spec for charts that it still has, and by the stamp
 * on the release for the others. A wanted release that is not yet what it shall be may still use
 * what its old revision depended on, so its stamp counts too. */
#include "stack/plan/plan_parts.h"

struct action *plan_uninstall(struct planner *p, struct slot *s, struct str reason,
                              struct str message)
{
    struct action *action = plan_act(p, s, ACTION_UNINSTALL);

    plan_intend(p, s);
    plan_set(s, DEPLOYMENT_UNINSTALLING, reason, message);
    return action;
}

void plan_mark_removed(struct planner *p, struct slot *s)
{
    /* Out of sight, what was never asked for is not there either. */
    bool gone = plan_cluster(p, s)->state != CLUSTER_READ
                    ? !s->now.digest.len && !s->now.requested_ms && !s->now.attempts
                    : !s->decided && !plan_owns(p, s);

    if (s->chart == NONE && gone)
        plan_set(s, DEPLOYMENT_REMOVED, REASON(REMOVED), STR(""));
}

const struct chart *plan_chart_named(const struct planner *p, struct str name)
{
    const uint32_t *index = map_get(p->chart_index, name);

    return index ? &p->stack->spec.charts.items[*index] : NULL;
}

static void hold_stamped(struct map *users, struct slot *user)
{
    struct str rest = user->app ? user->app->depends_on : STR("");
    struct str name;

    while (str_split(&rest, ',', &name))
        if (name.len)
            map_put(users, name, user);
}

static void hold_specified(struct map *users, struct slot *user, const struct chart *chart)
{
    for (uint32_t i = 0; i < chart->depends_on.count; i++)
        map_put(users, chart->depends_on.items[i], user);
}

/* By chart name: a release on the cluster that still needs it. */
static struct map *users_of(struct planner *p, const struct cluster_part *c)
{
    struct map *users = map_new(p->arena, c->slots.count);

    for (uint32_t i = 0; i < c->slots.count; i++) {
        struct slot *s = &p->slots.items[c->slots.items[i]];
        const struct chart *chart = plan_chart_named(p, s->now.chart_name);

        if (s->chart != NONE) {
            if (s->now.state != DEPLOYMENT_DEPLOYED)
                hold_stamped(users, s);
        } else if (s->now.state != DEPLOYMENT_REMOVED) {
            if (chart)
                hold_specified(users, s, chart);
            else
                hold_stamped(users, s);
        }
    }
    return users;
}

static void remove_one(struct planner *p, struct slot *s)
{
    struct cluster_part *c = &p->clusters[s->cluster];
    struct str reason, message;

    if (plan_is_held(p, s, &reason, &message))
        plan_set(s, DEPLOYMENT_PENDING, reason, message);
    else if (plan_waits_for_list(p, s))
        return;
    else if (!plan_has_room(p, s))
        plan_set(s, DEPLOYMENT_PENDING, REASON(WAITING_FOR_CAPACITY),
                 str_fmt(p->arena, "will be removed; %.*s", STR_ARG(plan_room_message(p, s))));
    else if (!plan_take_place(p, c, &message))
        plan_set(s, DEPLOYMENT_WAITING, REASON(WAITING_FOR_ROLLOUT),
                 str_fmt(p->arena, "will be removed; %.*s", STR_ARG(message)));
    else
        plan_uninstall(p, s, REASON(UNINSTALLING),
                       p->deleting ? STR("uninstalling: the Stack is being deleted")
                                   : STR("uninstalling: the Stack no longer wants it here"));
}

/* A release that is pending without an operation may be one whose operation is not visible. */
static bool may_be_moving(struct planner *p, struct slot *s)
{
    if ((s->app->phase != RELEASE_PENDING && s->app->phase != RELEASE_UNINSTALLING) ||
        p->observed->now_ms >= plan_pending_until(p, s))
        return false;
    plan_wake(p, plan_pending_until(p, s));
    plan_set(
        s, DEPLOYMENT_UNINSTALLING, REASON(RELEASE_PENDING),
        str_fmt(p->arena, "%.*s; it is removed after that", STR_ARG(plan_pending_message(p, s))));
    return true;
}

static bool wait_for_users(struct planner *p, struct slot *s, const struct map *users)
{
    const struct slot *user = map_get(users, s->now.chart_name);

    if (!user)
        return false;
    plan_set(s, DEPLOYMENT_WAITING, REASON(WAITING_FOR_DEPENDENTS),
             user->now.state == DEPLOYMENT_FAILED
                 ? str_fmt(p->arena, "will be removed after %.*s on %.*s: %.*s",
                           STR_ARG(user->now.chart_name), STR_ARG(user->now.cluster_id),
                           STR_ARG(user->now.message))
                 : str_fmt(p->arena, "will be removed after %.*s, which needs it",
                           STR_ARG(user->now.chart_name)));
    return true;
}

void plan_teardown(struct planner *p, struct cluster_part *c)
{
    struct map *users = users_of(p, c);
    struct slot *first = NULL;
    bool moves = false;

    for (uint32_t i = 0; i < c->slots.count; i++) {
        struct slot *s = &p->slots.items[c->slots.items[i]];

        if (s->chart != NONE) {
            moves = true; /* the cluster is not only being torn down */
            continue;
        }
        if (s->now.state == DEPLOYMENT_REMOVED)
            continue;
        if (s->decided || plan_keep_failure(p, s) || may_be_moving(p, s) || plan_keeps(p, s)) {
            moves = true;
            continue;
        }
        if (wait_for_users(p, s, users)) {
            first = first ? first : s;
            continue;
        }
        moves = true;
        remove_one(p, s);
    }
    /* Stamps of different ages can name each other in a circle: it is cut at its first. */
    if (first && !moves)
        remove_one(p, first);
}
