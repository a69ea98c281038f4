/* SPDX-License-Identifier: Apache-2.0 */
/* plan_message.c: a plan in one sentence: the root cause, not the symptom. */
#include "stack/plan/plan_parts.h"

#include "text/enumerate.h"

enum { ROOM_NAMED_MAX = 4 };

/* Waiting for something else that is told by itself. */
static bool is_symptom(struct str reason)
{
    static const enum reason waits[] = {
        REASON_WAITING_FOR_DEPENDENCY, REASON_WAITING_FOR_DEPENDENTS, REASON_WAITING_FOR_CAPACITY,
        REASON_WAITING_FOR_WAVE,       REASON_WAITING_FOR_SUCCESSOR,  REASON_WAITING_FOR_ROLLOUT,
        REASON_ROLLOUT_STOPPED,        REASON_WAITING_FOR_SCANS,
    };

    for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
        if (str_eq(reason, reason_rows[waits[i]].name))
            return true;
    return false;
}

/* Of slots that are not well the one to name: what is wrong before what only waits for it. */
static uint32_t trouble_rank(const struct slot *s)
{
    const struct release_state *now = &s->now;

    if (now->state == DEPLOYMENT_FAILED && now->terminal)
        return 0;
    if (str_eq(now->reason, REASON(OPERATION_STUCK)) ||
        str_eq(now->reason, REASON(OPERATION_NOT_STARTED)))
        return 1 + deployment_state_rank(DEPLOYMENT_FAILED);
    if (is_symptom(now->reason))
        return 20;
    return 1 + deployment_state_rank(now->state);
}

static void count(const struct planner *p, struct plan *plan, const struct slot *s)
{
    if (s->chart == NONE)
        plan->unwanted++;
    else
        plan->wanted++;
    plan->deployed += s->chart != NONE && s->now.state == DEPLOYMENT_DEPLOYED;
    /* Until what takes its place runs, who goes counts for it. */
    plan->running += s->chart != NONE && s->now.state != DEPLOYMENT_NOT_READY &&
                     (plan_runs_on(p, s) || s->now.state == DEPLOYMENT_DEPLOYED ||
                      (s->replaces != NONE && plan_runs_on(p, &p->slots.items[s->replaces])));
    plan->drifted += s->drifted;
    plan->started =
        plan->started || plan_is_ours(p, s->app) || s->now.attempts ||
        (s->now.requested_ms && s->now.state != DEPLOYMENT_WAITING) ||
        (plan_cluster(p, s)->state != CLUSTER_READ && plan_held_before(p, s->now.cluster_id));
}

static struct str named(const struct planner *p, const struct slot *worst, uint32_t unwell,
                        bool waits)
{
    const struct release_state *now = &worst->now;
    struct strbuf text = strbuf_new(p->arena, 256);

    strbuf_fmt(&text, "%s%.*s on %.*s", waits ? "waiting for " : "", STR_ARG(now->chart_name),
               STR_ARG(now->cluster_id));
    /* Before the message, which may end with a command. */
    if (unwell > 1)
        strbuf_fmt(&text, " (and %u more)", unwell - 1);
    strbuf_lit(&text, ": ");
    strbuf_put(&text, now->message.len ? now->message : str_of(deployment_state_name(now->state)));
    return strbuf_str(&text);
}

static void say_deployed(const struct planner *p, struct plan *plan)
{
    bool one = plan->deployed == 1;

    plan->reason = REASON(DEPLOYMENT_SUCCEEDED);
    plan->message = str_fmt(p->arena, "%s%u %s deployed on %u %s", one ? "" : "all ",
                            plan->deployed, one ? "release is" : "releases are",
                            plan->targets.count, plan->targets.count == 1 ? "cluster" : "clusters");
    if (plan->drifted)
        plan->message = str_fmt(p->arena, "%.*s; %u of them changed by somebody else",
                                STR_ARG(plan->message), plan->drifted);
}

static bool is_missing(const struct planner *p, const struct observed_cluster *c)
{
    return c->state == CLUSTER_GONE && c->targeted && !p->deleting;
}

/* What is wanted on clusters that Rancher does not know is wanted still. */
static void count_missing(const struct planner *p, struct plan *plan)
{
    for (uint32_t i = 0; i < p->observed->clusters.count; i++)
        if (is_missing(p, &p->observed->clusters.items[i]))
            plan->missing += p->stack->spec.charts.count;
    plan->wanted += plan->missing;
}

/* Clusters that the Stack names and that are not there, and the remedy. */
static void say_missing(const struct planner *p, struct plan *plan, bool well)
{
    struct enumeration names = enumeration_new(p->arena, 3);

    for (uint32_t i = 0; i < p->observed->clusters.count; i++) {
        const struct observed_cluster *c = &p->observed->clusters.items[i];

        if (is_missing(p, c))
            enumeration_add(&names, c->nearest.len ? str_fmt(p->arena, "%.*s (did you mean %.*s?)",
                                                             STR_ARG(c->id), STR_ARG(c->nearest))
                                                   : c->id);
    }
    if (!names.count)
        return;

    struct str told = str_fmt(p->arena,
                              "spec.targets.clusterIds: Rancher has no cluster %.*s; "
                              "fix the id, take it out, or add that cluster to Rancher",
                              STR_ARG(enumeration_text(&names)));

    if (well)
        plan->reason = REASON(CLUSTER_NOT_FOUND);
    plan->message =
        well ? told : str_fmt(p->arena, "%.*s; and %.*s", STR_ARG(plan->message), STR_ARG(told));
}

static void put_operation(struct strbuf *text, const struct observed_operation *op, bool first)
{
    strbuf_fmt(text, "%s%.*s/%.*s", first ? "" : ", ", STR_ARG(op->namespace_),
               STR_ARG(op->release_name));
    if (op->name.len)
        strbuf_fmt(text, " (operation %.*s%s%.*s)", STR_ARG(op->name), op->message.len ? ": " : "",
                   STR_ARG(op->message));
}

static bool is_before(const struct observed_operation *a, const struct observed_operation *b)
{
    int order = str_cmp(a->namespace_, b->namespace_);

    if (order == 0)
        order = str_cmp(a->release_name, b->release_name);
    return (order ? order : str_cmp(a->name, b->name)) < 0;
}

/* The running operation that comes next after `last` by release, or NULL. */
static const struct observed_operation *next_running(const struct observed_operations *all,
                                                     const struct observed_operation *last)
{
    const struct observed_operation *next = NULL;

    for (uint32_t i = 0; i < all->count; i++) {
        const struct observed_operation *op = &all->items[i];

        if (op->state == OPERATION_RUNNING && (!last || is_before(last, op)) &&
            (!next || is_before(op, next)))
            next = op;
    }
    return next;
}

struct str plan_room_message(const struct planner *p, const struct slot *s)
{
    const struct observed_cluster *c = plan_cluster(p, s);
    struct strbuf text = strbuf_new(p->arena, 256);
    const struct observed_operation *op = NULL;
    uint32_t named = 0;

    if (p->clusters[s->cluster].busy < p->observed->cluster_operations_max)
        return STR("waiting for other operations of the Stack to end: its status can record only "
                   "so many at a time");
    strbuf_fmt(&text, "waiting for capacity on %.*s, where %u %s at a time", STR_ARG(c->id),
               p->observed->cluster_operations_max,
               p->observed->cluster_operations_max == 1 ? "operation runs" : "operations run");
    while (named < ROOM_NAMED_MAX && (op = next_running(&c->operations, op)) != NULL) {
        strbuf_put(&text, named ? STR("") : STR(": "));
        put_operation(&text, op, named++ == 0);
    }
    return strbuf_str(&text);
}

static void say_nothing_wanted(const struct planner *p, struct plan *plan)
{
    if (p->deleting) {
        plan->reason = REASON(DELETING);
        plan->message = STR("no release of the Stack is left");
        return;
    }
    plan->reason = REASON(NO_CLUSTERS);
    plan->message = plan->targets.count
                        ? STR("overrides skip every chart on every target cluster")
                        : STR("no cluster matches spec.targets; the Stack waits until one does");
}

/* The root cause is told of one release; why other clusters wait for that, and how they go on, is
 * told of the rollout. */
static void say_rollout_trouble(const struct planner *p, struct plan *plan)
{
    if (p->rollout_trouble.len && str_find(plan->message, p->rollout_trouble, 0) < 0)
        plan->message =
            str_fmt(p->arena, "%.*s; %.*s", STR_ARG(plan->message), STR_ARG(p->rollout_trouble));
}

void plan_sum_up(const struct planner *p, struct plan *plan)
{
    const struct slot *worst = NULL;
    uint32_t unwell = 0;

    for (uint32_t i = 0; i < p->slots.count; i++) {
        const struct slot *s = &p->slots.items[i];

        if (s->now.state == DEPLOYMENT_REMOVED)
            continue;
        count(p, plan, s);
        if (s->now.state == DEPLOYMENT_DEPLOYED)
            continue;
        unwell++;
        if (!worst || trouble_rank(s) < trouble_rank(worst))
            worst = s;
    }
    count_missing(p, plan);
    if (worst) {
        bool waits = !(worst->now.state == DEPLOYMENT_FAILED && worst->now.terminal);

        plan->reason = worst->now.reason;
        plan->message = named(p, worst, unwell, waits);
    } else if (plan->wanted) {
        say_deployed(p, plan);
    } else {
        say_nothing_wanted(p, plan);
    }
    say_missing(p, plan, !worst);
    say_rollout_trouble(p, plan);
}
