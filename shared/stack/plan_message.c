/* plan_message.c: a plan in one sentence: the root cause, not the symptom. */
#include "stack/plan_parts.h"

/* Of slots that are not well the one to name: what failed before what only waits for it. */
static uint32_t trouble_rank(const struct slot *s)
{
    if (s->now.state == DEPLOYMENT_FAILED && s->now.terminal)
        return 0;
    if (str_eq(s->now.reason, REASON(WAITING_FOR_DEPENDENCY)) ||
        str_eq(s->now.reason, REASON(WAITING_FOR_DEPENDENTS)))
        return 20;
    return 1 + deployment_state_rank(s->now.state);
}

static void count(const struct planner *p, struct plan *plan, const struct slot *s)
{
    if (s->chart == NONE)
        plan->unwanted++;
    else
        plan->wanted++;
    plan->deployed += s->chart != NONE && s->now.state == DEPLOYMENT_DEPLOYED;
    plan->drifted += s->drifted;
    plan->started = plan->started || s->now.digest.len || plan_is_ours(p, s->app) ||
                    (s->now.requested_ms && s->now.state != DEPLOYMENT_WAITING);
}

static struct str named(const struct planner *p, const struct slot *worst, uint32_t unwell,
                        bool waits)
{
    const struct release_state *now = &worst->now;
    struct strbuf text = strbuf_new(p->arena, 256);

    strbuf_fmt(&text, "%s%.*s on %.*s: ", waits ? "waiting for " : "", STR_ARG(now->chart_name),
               STR_ARG(now->cluster_id));
    strbuf_put(&text, now->message.len ? now->message : str_of(deployment_state_name(now->state)));
    if (unwell > 1)
        strbuf_fmt(&text, " (and %u more)", unwell - 1);
    return strbuf_str(&text);
}

static void say_deployed(const struct planner *p, struct plan *plan)
{
    plan->reason = REASON(DEPLOYMENT_SUCCEEDED);
    plan->message = str_fmt(p->arena, "all %u releases are deployed on %u %s", plan->deployed,
                            plan->targets.count, plan->targets.count == 1 ? "cluster" : "clusters");
    if (plan->drifted)
        plan->message = str_fmt(p->arena, "%.*s; %u of them changed by somebody else",
                                STR_ARG(plan->message), plan->drifted);
}

/* Clusters that the Stack names and that are not there: left out, but not in silence. */
static void say_gone(const struct planner *p, struct plan *plan)
{
    struct strbuf text = strbuf_new(p->arena, 64);
    uint32_t gone = 0;

    for (uint32_t i = 0; i < p->observed->clusters.count; i++) {
        const struct observed_cluster *c = &p->observed->clusters.items[i];

        if (c->state != CLUSTER_GONE || !c->targeted || p->deleting)
            continue;
        if (gone++ < 3)
            strbuf_fmt(&text, "%s%.*s", gone > 1 ? ", " : "", STR_ARG(c->id));
    }
    if (gone)
        plan->message = str_fmt(p->arena, "%.*s; left out, because Rancher has no such cluster: "
                                "%.*s%s", STR_ARG(plan->message), STR_ARG(strbuf_str(&text)),
                                gone > 3 ? ", ..." : "");
}

static void say_nothing_wanted(const struct planner *p, struct plan *plan)
{
    if (p->deleting) {
        plan->reason = REASON(DELETING);
        plan->message = STR("nothing of the Stack is left");
        return;
    }
    plan->reason = REASON(NO_CLUSTERS);
    plan->message = plan->targets.count
                        ? STR("overrides skip every chart on every target cluster")
                        : STR("no cluster matches spec.targets; it goes on when one does");
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
    if (worst) {
        bool waits = !(worst->now.state == DEPLOYMENT_FAILED && worst->now.terminal);

        plan->reason = worst->now.reason;
        plan->message = named(p, worst, unwell, waits);
    } else if (plan->wanted) {
        say_deployed(p, plan);
    } else {
        say_nothing_wanted(p, plan);
    }
    say_gone(p, plan);
}
