/* plan.c: the plan as a whole: finalizer, holds, and the steps of plan_parts.h in turn. */
#include "stack/plan_parts.h"

#include "base/limits.h"
#include <stdlib.h>

static const struct {
    const char *name;
    bool changes;
} kinds[] = {
#define ACTION(kind, name, changes, sentence) { name, changes },
#include "stack/actions.def"
#undef ACTION
};

const char *action_name(enum action_kind kind)
{
    return kinds[kind].name;
}

bool action_changes(enum action_kind kind)
{
    return kinds[kind].changes;
}

static void act_on_stack(struct plan *plan, enum action_kind kind)
{
    actions_push(&plan->actions, (struct action){ .kind = kind, .cluster = UINT32_MAX });
}

/* What the status said, said again: for when nothing may be concluded. */
static void keep(struct plan *plan, const struct observed *observed)
{
    const struct stack_status *before = observed->before;

    plan->kept = true;
    plan->holds = true;
    if (!before)
        return;
    plan->targets = before->target_clusters;
    plan->held = before->held_clusters;
    plan->releases = before->deployments;
    plan->wanted = before->releases;
    plan->deployed = before->ready;
    plan->started = before->phase != PHASE_PENDING;
}

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static struct str_list targets_of(struct arena *arena, const struct observed *observed)
{
    struct str_list targets = str_list_new(arena, observed->clusters.count);

    for (uint32_t i = 0; i < observed->clusters.count; i++)
        if (observed->clusters.items[i].targeted)
            str_list_push(&targets, observed->clusters.items[i].id);
    if (targets.count > 1)
        qsort(targets.items, targets.count, sizeof(struct str), by_text);
    return targets;
}

/* The first finding that denies, for people. */
static struct str denial(struct arena *arena, const struct problems *problems)
{
    for (uint32_t i = 0; i < problems->list.count; i++) {
        const struct problem *at = &problems->list.items[i];

        if (at->severity == SEVERITY_DENY)
            return str_fmt(arena, "%.*s: %.*s%s%.*s%s", STR_ARG(at->field), STR_ARG(at->message),
                           at->way_out.len ? "; " : "", STR_ARG(at->way_out),
                           problems->denied > 1 ? " (and more)" : "");
    }
    return STR("the stored Stack is not valid");
}

static int make_graph(struct planner *p)
{
    const struct charts *charts = &p->stack->spec.charts;
    struct graph *graph = graph_new(p->arena, charts->count);

    for (uint32_t i = 0; i < charts->count; i++)
        graph_add(graph, charts->items[i].name, charts->items[i].depends_on);
    (void)graph_link(graph);
    p->graph = graph;
    return graph_order(graph, p->arena, &p->order);
}

/* last_updated moves only when there is news, so that equal worlds give equal bytes. */
static void date(const struct planner *p, struct slot *s)
{
    const struct release_state *b = s->before;

    s->now.last_updated_ms = p->observed->now_ms / 1000 * 1000;
    if (b && b->state == s->now.state && str_eq(b->reason, s->now.reason) &&
        str_eq(b->digest, s->now.digest) && b->attempts == s->now.attempts)
        s->now.last_updated_ms = b->last_updated_ms;
}

/* What was deployed as it was asked for is known through everything that others do, until something
 * is asked for again: only so drift is told from what never was as wanted. */
static void remember(const struct planner *p, struct slot *s)
{
    struct release_state *now = &s->now;
    bool ours = plan_cluster(p, s)->state == CLUSTER_READ && plan_is_ours(p, s->app);

    /* Also of one that failed: should somebody upgrade it next, it was ours. */
    if (ours && !now->requested_ms)
        now->revision = s->app->revision;
    if (plan_cluster(p, s)->state == CLUSTER_READ && s->app &&
        s->app->phase == RELEASE_DEPLOYED && (ours || plan_was_ours(s)))
        now->installed = true;
    if (now->state != DEPLOYMENT_UNKNOWN && now->state != DEPLOYMENT_DEPLOYED &&
        now->state != DEPLOYMENT_FAILED && !now->requested_ms && s->before &&
        plan_last_known(s->before) == DEPLOYMENT_DEPLOYED)
        now->last_known = DEPLOYMENT_DEPLOYED;
}

static void decide(struct planner *p)
{
    for (uint32_t i = 0; i < p->slots.count; i++)
        plan_follow(p, &p->slots.items[i]);
    for (uint32_t i = 0; i < p->slots.count; i++)
        plan_mark_removed(p, &p->slots.items[i]);
    plan_rollout(p);
    /* The wanted ones of a cluster stand in the order of the graph. */
    for (uint32_t i = 0; i < p->slots.count; i++)
        if (p->slots.items[i].chart != NONE)
            plan_release(p, &p->slots.items[i]);
    for (uint32_t i = 0; i < p->observed->clusters.count; i++)
        if (p->clusters[i].observed->state == CLUSTER_READ)
            plan_teardown(p, &p->clusters[i]);
    plan_rollout_mark(p);
    for (uint32_t i = 0; i < p->slots.count; i++) {
        remember(p, &p->slots.items[i]);
        date(p, &p->slots.items[i]);
    }
}

/* A cluster that is to be cleared, may hold something of ours and cannot be looked at. */
static bool wait_for_cluster(struct planner *p, struct plan *plan)
{
    for (uint32_t i = 0; i < p->observed->clusters.count; i++) {
        const struct cluster_part *c = &p->clusters[i];
        const struct observed_cluster *o = c->observed;

        if (c->left_out || o->state == CLUSTER_READ || (o->targeted && !p->deleting) ||
            !plan_may_hold(p, c))
            continue;
        plan->reason = plan_unseen_reason(o);
        if (o->state == CLUSTER_UNREAD) {
            plan->message = str_fmt(
                p->arena,
                "waiting to read cluster %.*s%s%.*s; if it stays so, let go of it with the "
                "annotation " STACK_ABANDON_CLUSTERS ": \"%.*s\"",
                STR_ARG(o->id), o->message.len ? ": " : "", STR_ARG(o->message), STR_ARG(o->id));
        } else {
            plan->message = str_fmt(
                p->arena,
                "cluster %.*s cannot be reached, so its releases cannot be removed%s%.*s; connect "
                "it, or let go of it with the annotation " STACK_ABANDON_CLUSTERS ": \"%.*s\"",
                STR_ARG(o->id), o->message.len ? ": " : "", STR_ARG(o->message), STR_ARG(o->id));
        }
        return true;
    }
    return false;
}

static struct release_states states_of(const struct planner *p)
{
    struct release_states states = release_states_new(p->arena, p->slots.count);

    for (uint32_t i = 0; i < p->slots.count; i++)
        if (p->slots.items[i].now.state != DEPLOYMENT_REMOVED)
            release_states_push(&states, p->slots.items[i].now);
    return states;
}

/* What is known to hold releases that the status had no room for is not silently awaited. */
static void count_unseen(struct planner *p, struct plan *plan)
{
    uint32_t unseen = 0;

    for (uint32_t i = 0; i < p->observed->clusters.count; i++) {
        const struct cluster_part *c = &p->clusters[i];

        unseen += !c->left_out && !c->observed->targeted && c->slots.count == 0 &&
                  c->observed->state != CLUSTER_READ && plan_held_before(p, c->observed->id);
    }
    if (unseen && !plan->unwanted && plan->deployed == plan->wanted)
        (void)wait_for_cluster(p, plan);
    plan->unwanted += unseen;
}

/* Whether a Stack that is being deleted is to stay for now. */
static bool holds_something(struct planner *p, struct plan *plan)
{
    if (wait_for_cluster(p, plan) || plan->unwanted)
        return true;
    if (!plan->held.count)
        return false;
    plan->reason = REASON(CLUSTER_UNREAD);
    plan->message = str_fmt(p->arena, "waiting to look at cluster %.*s",
                            STR_ARG(plan->held.items[0]));
    return true;
}

/* A hold is the cause only of what it stops: what failed, is out of sight or lacks values would not
 * go on without it either, and is told first. Circles end only by somebody's help, so they are. */
static void tell_hold(struct planner *p, struct plan *plan)
{
    uint32_t unwell = 0;
    uint32_t held = 0;
    uint32_t running = 0;

    for (uint32_t i = 0; i < p->slots.count; i++) {
        const struct slot *s = &p->slots.items[i];

        if (s->now.state == DEPLOYMENT_DEPLOYED || s->now.state == DEPLOYMENT_REMOVED)
            continue;
        unwell++;
        held += str_eq(s->now.reason, p->hold_reason);
        running += s->chart != NONE && str_eq(s->now.reason, p->hold_reason) &&
                   plan_runs_on(p, s);
    }
    plan->holds = true;
    plan->stalled = p->stalled;
    if (p->deleting || p->stalled || !unwell || str_eq(plan->reason, p->hold_reason)) {
        plan->reason = p->hold_reason;
        plan->message = running ? str_fmt(p->arena, "%.*s; %u %s running as deployed before",
                                          STR_ARG(p->hold_message), running,
                                          running == 1 ? "release keeps" : "releases keep")
                                : p->hold_message;
    } else if (held) {
        plan->message = str_fmt(p->arena, "%.*s; and %.*s", STR_ARG(plan->message),
                                STR_ARG(p->hold_message));
    }
}

static void finish(struct planner *p, struct plan *plan)
{
    decide(p);
    plan->releases = states_of(p);
    plan->held = plan_held(p);
    plan->gone = plan_gone(p);
    plan->actions = p->actions;
    plan_sum_up(p, plan);
    if (!p->deleting)
        count_unseen(p, plan);
    if (p->wake_at != INT64_MAX)
        plan->wake_after_ms =
            p->wake_at > p->observed->now_ms ? p->wake_at - p->observed->now_ms : 1;
    if (p->deleting && !holds_something(p, plan)) {
        plan->torn_down = true;
        act_on_stack(plan, ACTION_REMOVE_FINALIZER);
    } else if (p->hold_reason.len && (plan->deployed + plan->missing < plan->wanted ||
                                      plan->unwanted || p->deleting || p->stack->spec.paused)) {
        tell_hold(p, plan);
    }
}

static struct planner planner_of(struct arena *arena, const struct stack *stack,
                                 const struct observed *observed)
{
    struct planner p = {
        .arena = arena,
        .stack = stack,
        .observed = observed,
        .ref = str_fmt(arena, "%.*s/%.*s", STR_ARG(stack->meta.namespace_),
                       STR_ARG(stack->meta.name)),
        .deleting = stack->meta.deletion_timestamp.len > 0,
        .fresh = observed->before &&
                 (observed->before->observed_generation != stack->meta.generation ||
                  stack_was_held(observed->before)),
        .slots = slots_new(arena, 16),
        .actions = actions_new(arena, 4),
        .wake_at = INT64_MAX,
    };

    plan_find_hold(&p);
    return p;
}

/* Deletion needs neither a valid spec nor its finalizer's presence to be re-made. */
static bool plan_end(const struct stack *stack, struct plan *plan)
{
    if (!kube_has_finalizer(&stack->meta, STR(STACK_FINALIZER))) {
        plan->torn_down = true;
        plan->reason = REASON(DELETING);
        plan->message = STR("nothing of the Stack is left");
        return true;
    }
    if (stack->spec.deletion_policy == DELETION_ORPHAN) {
        plan->torn_down = true;
        plan->reason = REASON(ORPHANED);
        plan->message = STR("deletionPolicy is Orphan: the releases stay");
        act_on_stack(plan, ACTION_REMOVE_FINALIZER);
        return true;
    }
    return false;
}

static bool has_status(const struct stack_status *before)
{
    return before && before->observed_generation != 0;
}

/* Whether the status says that something was asked for somewhere. Without a status nobody knows. */
static bool asked_before(const struct stack_status *before)
{
    return !has_status(before) || before->held_clusters.count > 0;
}

/* Nothing is concluded without the list of clusters, but a deletion that needs none goes on. */
static bool wait_for_list(const struct planner *p, struct plan *plan)
{
    if (p->observed->clusters_known)
        return false;
    if (p->deleting && (plan_is_abandoned(p, STR("*")) || !asked_before(p->observed->before)))
        return false;
    keep(plan, p->observed);
    plan->blind = !has_status(p->observed->before);
    plan->reason = REASON(TARGETS_UNKNOWN);
    plan->message = p->deleting
                        ? STR("waiting for the list of clusters from Rancher, without which no "
                              "release can be removed; to let go of all of them, annotate the "
                              "Stack with " STACK_ABANDON_CLUSTERS ": \"*\"")
                        : STR("waiting for the list of clusters from Rancher");
    return true;
}

struct plan stack_plan(struct arena *arena, const struct stack *stack,
                       const struct observed *observed)
{
    struct planner p = planner_of(arena, stack, observed);
    struct plan plan = {
        .actions = actions_new(arena, 1),
        .wake_after_ms = -1,
        .releases = release_states_new(arena, 0),
        .targets = targets_of(arena, observed),
        .accepted = !observed->problems || observed->problems->denied == 0,
    };

    if (p.deleting && plan_end(stack, &plan))
        return plan;
    if (!p.deleting && observed->admitted && observed->admitted->held) {
        keep(&plan, observed);
        plan.accepted = false;
        plan.reason = REASON(NOT_ADMITTED);
        plan.message = observed->admitted->doubt;
        return plan;
    }
    if (!p.deleting && !kube_has_finalizer(&stack->meta, STR(STACK_FINALIZER))) {
        keep(&plan, observed);
        plan.reason = REASON(STARTING);
        plan.message = STR("the teardown finalizer is put on the Stack before anything is done");
        act_on_stack(&plan, ACTION_ADD_FINALIZER);
        return plan;
    }

    bool ordered = make_graph(&p) == 0;

    if (!p.deleting && (!plan.accepted || !ordered)) {
        keep(&plan, observed);
        plan.accepted = false;
        plan.reason = REASON(INVALID);
        plan.message = observed->problems && observed->problems->denied
                           ? denial(arena, observed->problems)
                           : STR("spec.charts: the charts depend on each other in a circle");
        return plan;
    }
    if (wait_for_list(&p, &plan))
        return plan;
    plan_slots(&p);
    finish(&p, &plan);
    return plan;
}

void stack_status_note_failure(struct arena *arena, struct stack_status *status,
                               struct str cluster_id, struct str chart_name, bool terminal,
                               struct str reason, struct str message, int64_t now_ms)
{
    struct release_states *all = &status->deployments;
    struct release_state *found = NULL;

    for (uint32_t i = 0; i < all->count; i++) {
        struct release_state *at = &all->items[i];

        /* A chart has two entries while its former release goes: only one has a request. */
        if (str_eq(at->cluster_id, cluster_id) && str_eq(at->chart_name, chart_name) &&
            (!found || (at->requested_ms && !found->requested_ms)))
            found = at;
    }
    if (!found)
        return;
    found->state = DEPLOYMENT_FAILED;
    found->reason = reason;
    found->message = str_shown(arena, message, 512);
    found->terminal = terminal;
    found->requested_ms = 0;
    found->attempts++;
    found->last_updated_ms = now_ms / 1000 * 1000;
}
