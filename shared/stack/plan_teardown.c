/* plan_teardown.c: what goes, in reverse order.
 *
 * A release that is not wanted is uninstalled once nothing that stands on its cluster depends on it
 * any more. Who depends on whom is said by the spec for charts that it still has, and by the stamp
 * on the release for the others. A wanted release that is not yet what it shall be may still use
 * what its old revision depended on, so its stamp counts too. */
#include "stack/plan_parts.h"

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
    bool unseen = plan_cluster(p, s)->state != CLUSTER_READ;
    bool gone = unseen ? !s->now.digest.len && !s->now.requested_ms
                       : !s->decided && !plan_is_ours(p, s->app) && !plan_was_ours(s);

    if (s->chart == NONE && gone && (unseen || s->app || !plan_is_behind(p, s)))
        plan_set(s, DEPLOYMENT_REMOVED, REASON(REMOVED), STR(""));
}

const struct chart *plan_chart_named(const struct planner *p, struct str name)
{
    const struct charts *charts = &p->stack->spec.charts;

    for (uint32_t i = 0; i < charts->count; i++)
        if (str_eq(charts->items[i].name, name))
            return &charts->items[i];
    return NULL;
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
    struct map *specified = map_new(p->arena, p->stack->spec.charts.count);

    for (uint32_t i = 0; i < p->stack->spec.charts.count; i++)
        map_put(specified, p->stack->spec.charts.items[i].name, &p->stack->spec.charts.items[i]);
    for (uint32_t i = 0; i < c->slots.count; i++) {
        struct slot *s = &p->slots.items[c->slots.items[i]];
        const struct chart *chart = map_get(specified, s->now.chart_name);

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
    if (p->hold_reason.len)
        plan_set(s, DEPLOYMENT_PENDING, p->hold_reason, p->hold_message);
    else if (!plan_has_room(p, s))
        plan_set(s, DEPLOYMENT_PENDING, REASON(WAITING_FOR_ROOM),
                 str_fmt(p->arena, "will be removed; %.*s", STR_ARG(plan_room_message(p, s))));
    else
        plan_uninstall(p, s, REASON(UNINSTALLING),
                       p->deleting ? STR("uninstalling: the Stack is being deleted")
                                   : STR("uninstalling: it is not wanted here any more"));
}

/* A release that is pending without an operation may be one whose operation is not visible yet. */
static bool may_be_moving(struct planner *p, struct slot *s)
{
    bool known = s->before && str_eq(s->before->reason, REASON(RELEASE_PENDING));
    int64_t since = known ? s->before->last_updated_ms + 1000 : p->observed->now_ms;

    if (s->app->phase != RELEASE_PENDING && s->app->phase != RELEASE_UNINSTALLING)
        return false;
    if (p->observed->now_ms >= since + p->observed->settle_ms)
        return false;
    plan_wake(p, since + p->observed->settle_ms);
    plan_set(s, DEPLOYMENT_UNINSTALLING, REASON(RELEASE_PENDING),
             STR("the release is changing and no operation of it is to be seen; then it goes"));
    return true;
}

static bool wait_for_users(struct planner *p, struct slot *s, const struct map *users)
{
    const struct slot *user = map_get(users, s->now.chart_name);
    const struct chart *again = p->deleting ? NULL : plan_chart_named(p, s->now.chart_name);

    /* The former release of a chart that comes back under another name goes before it comes. */
    if (!user || (again && user->chart != NONE))
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
        const struct slot *user;

        if (s->chart != NONE) {
            moves = true; /* the cluster is not only being torn down */
            continue;
        }
        if (s->now.state == DEPLOYMENT_REMOVED)
            continue;
        if (s->decided || plan_keep_failure(p, s) || may_be_moving(p, s)) {
            moves = true;
            continue;
        }
        user = map_get(users, s->now.chart_name);
        if (user && wait_for_users(p, s, users)) {
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
