/* SPDX-License-Identifier: Apache-2.0 */
/* plan.c: the plan as a whole: finalizer, holds, and the steps of plan_parts.h in turn. */
#include "stack/access/author.h"
#include "stack/plan/plan_parts.h"

#include "base/set.h"
#include "stack/model/limits.h"
#include "stack/targets/chart_graph.h"
#include "text/digest.h"

#include <stdlib.h>

static const struct {
    const char *name;
    bool changes;
} kinds[] = {
#define ACTION(kind, name, changes, sentence) { name, changes },
#include "stack/plan/actions.def"
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
    plan->pending_clusters = before->pending_clusters;
    plan->started_clusters = before->started_clusters;
    plan->failed_clusters = before->failed_clusters;
    plan->lost_clusters = before->lost_clusters;
    plan->change = before->change;
    plan->waiting_since_ms = before->waiting_since_ms;
    plan->targets_hash = before->targets_hash;
    plan->charts_hash = before->charts_hash;
    plan->waves = before->waves;
    plan->removal = before->removal;
    plan->handled_resume = before->handled_resume;
    plan->handled_retry = before->handled_retry;
    plan->reason_since_ms = before->reason_since_ms;
    plan->releases = before->deployments;
    plan->wanted = before->releases;
    plan->deployed = before->ready;
    plan->running = before->ready;
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
                           at->remedy.len ? "; " : "", STR_ARG(at->remedy),
                           problems->denied > 1 ? " (and more)" : "");
    }
    return STR("the stored Stack is not valid");
}

static int make_graph(struct planner *p)
{
    p->graph = chart_graph_new(p->arena, &p->stack->spec.charts, NULL);
    return graph_order(p->graph, p->arena, &p->order);
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

/* In words only: what Helm did once is an upgrade the next time. */
static void remember(const struct planner *p, struct slot *s)
{
    bool seen = plan_cluster(p, s)->state == CLUSTER_READ;

    if (seen && !s->now.requested_ms)
        s->now.revision = plan_owns(p, s) ? s->app->revision : 0;
    if (plan_owns(p, s) && s->app->phase == RELEASE_DEPLOYED)
        s->now.installed = true;
    s->now.forgiven = s->now.forgiven && s->now.state != DEPLOYMENT_DEPLOYED;
    /* Rancher removes operations after an hour: that changes nothing that is settled. */
    if (!release_is_remembered(&s->now))
        s->now.operation = STR("");
}

/* Clusters where nothing may be installed or upgraded. They take nobody's place, but later waves
 * wait for them as for any that is not deployed. */
static void check_access(struct planner *p)
{
    for (uint32_t i = 0; i < p->observed->clusters.count; i++) {
        const struct observed_cluster *cluster = &p->observed->clusters.items[i];

        p->clusters[i].access_reason = cluster->access_reason;
        p->clusters[i].access_message = cluster->access_message;
    }
}

static void decide_cluster(struct planner *p, struct cluster_part *c)
{
    /* The wanted ones stand in the order of the graph. */
    for (uint32_t i = 0; i < c->slots.count; i++)
        if (p->slots.items[c->slots.items[i]].chart != NONE)
            plan_release(p, &p->slots.items[c->slots.items[i]]);
    if (c->observed->state == CLUSTER_READ)
        plan_teardown(p, c);
}

static void decide(struct planner *p)
{
    for (uint32_t i = 0; i < p->slots.count; i++)
        plan_follow(p, &p->slots.items[i]);
    for (uint32_t i = 0; i < p->slots.count; i++)
        plan_mark_removed(p, &p->slots.items[i]);
    plan_guard(p);
    check_access(p);
    plan_heed_stacks(p);
    plan_rollout(p);
    plan_rollout_each(p, decide_cluster);
    for (uint32_t i = 0; i < p->slots.count; i++) {
        plan_mark_owned(p, &p->slots.items[i]);
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
        if (o->state == CLUSTER_NOT_SYNCED) {
            plan->message = str_fmt(p->arena,
                                    "waiting to read cluster %.*s%s%.*s; if this persists, abandon "
                                    "it with the annotation " STACK_ABANDON_CLUSTERS ": \"%.*s\"",
                                    STR_ARG(o->id), o->message.len ? ": " : "", STR_ARG(o->message),
                                    STR_ARG(o->id));
        } else {
            plan->message = str_fmt(
                p->arena,
                "cluster %.*s cannot be reached, so its releases cannot be removed%s%.*s; connect "
                "it, or abandon it with the annotation " STACK_ABANDON_CLUSTERS ": \"%.*s\"",
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

/* Nobody else knows whose they are. */
static bool awaits_observers(const struct planner *p, struct plan *plan)
{
    for (uint32_t i = 0; i < p->observed->clusters.count; i++) {
        const struct cluster_part *c = &p->clusters[i];

        if (c->left_out || !c->observed->left_reason.len)
            continue;
        plan->reason = c->observed->left_reason;
        plan->message = c->observed->left_message;
        return true;
    }
    return false;
}

/* Whether a Stack that is being deleted is to stay for now. */
static bool holds_something(struct planner *p, struct plan *plan)
{
    if (wait_for_cluster(p, plan) || plan->unwanted)
        return true;
    if (plan_awaits_repos(p, &plan->message)) {
        plan->reason = REASON(REMOVING_REPO);
        return true;
    }
    if (awaits_observers(p, plan))
        return true;
    if (!plan->held.count)
        return false;
    plan->reason = REASON(CLUSTER_NOT_SYNCED);
    plan->message = str_fmt(p->arena, "waiting to read cluster %.*s", STR_ARG(plan->held.items[0]));
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
        running += s->chart != NONE && str_eq(s->now.reason, p->hold_reason) && plan_runs_on(p, s);
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
        plan->message =
            str_fmt(p->arena, "%.*s; and %.*s", STR_ARG(plan->message), STR_ARG(p->hold_message));
    }
}

static void list_if(bool listed, struct str_list *list, const struct cluster_part *c)
{
    if (listed)
        str_list_push(list, c->observed->id);
}

static void tell_clusters(struct planner *p, struct plan *plan)
{
    const struct stack_status *before = p->observed->before;
    struct set targets = set_of(p->arena, before ? &before->target_clusters : NULL);
    struct set pending = set_of(p->arena, before ? &before->pending_clusters : NULL);

    plan->pending_clusters = str_list_new(p->arena, 0);
    plan->started_clusters = str_list_new(p->arena, 0);
    plan->failed_clusters = str_list_new(p->arena, 0);
    plan->lost_clusters = str_list_new(p->arena, 0);
    plan->unasked = str_list_new(p->arena, 0);
    plan->unlisted = str_list_new(p->arena, 0);
    for (uint32_t i = 0; i < p->observed->clusters.count; i++)
        list_if(p->clusters[i].unlisted, &plan->unlisted, &p->clusters[i]);
    for (uint32_t i = 0; i < p->observed->clusters.count && !p->deleting; i++) {
        const struct cluster_part *c = &p->clusters[i];
        struct str id = c->observed->id;
        /* Of a cluster that is only not read yet what was known stands. */
        bool known = c->observed->state == CLUSTER_NOT_SYNCED && set_has(targets, id);

        list_if(c->standing.started, &plan->started_clusters, c);
        if (!c->observed->targeted)
            continue;
        list_if(known ? set_has(pending, id) : !c->standing.done, &plan->pending_clusters, c);
        list_if(c->standing.failed, &plan->failed_clusters, c);
        list_if(c->standing.lost, &plan->lost_clusters, c);
        list_if(c->unasked, &plan->unasked, c);
    }
    plan->waves = p->waves;
    plan->removal = p->removal;
}

/* What is missing is waited for, because it may be applied a moment later; for so long. */
static void heed_missing(struct planner *p, struct plan *plan)
{
    static const enum reason missing[] = { REASON_CONFIG_MAP_NOT_FOUND, REASON_SECRET_NOT_FOUND,
                                           REASON_VALUES_UNREADABLE, REASON_VALUES_INVALID,
                                           REASON_VALUES_TOO_LARGE };
    const struct stack_status *before = p->observed->before;
    const struct kube_condition *ready =
        before ? kube_condition_find(&before->conditions, STR("Ready")) : NULL;
    bool same = ready && before->reason_since_ms && str_eq(ready->reason, plan->reason);
    int64_t until;

    plan->reason_since_ms = same ? before->reason_since_ms : p->observed->now_ms / 1000 * 1000;
    until = plan->reason_since_ms + LIMIT_MISSING_TIME;
    for (size_t i = 0; i < sizeof(missing) / sizeof(missing[0]); i++) {
        if (!str_eq(plan->reason, reason_rows[missing[i]].name))
            continue;
        if (p->observed->now_ms < until)
            plan_wake(p, until);
        else
            plan->missing_long = true;
    }
}

static void finish(struct planner *p, struct plan *plan)
{
    decide(p);
    plan_repos(p);
    plan->releases = states_of(p);
    plan->held = plan_held(p);
    plan_account_removal(p);
    plan->gone = plan_gone(p);
    plan->abandoned = plan_abandoned(p);
    plan->actions = p->actions;
    plan->change = p->change;
    plan->waiting_since_ms = p->progress.waiting_since_ms;
    plan->targets_hash = plan_targets_hash(p->arena, p->stack);
    plan->charts_hash = plan_charts_hash(p->arena, p->stack);
    tell_clusters(p, plan);
    plan_sum_up(p, plan);
    if (!p->deleting)
        count_unseen(p, plan);
    if (p->deleting && !holds_something(p, plan)) {
        plan->torn_down = true;
        act_on_stack(plan, ACTION_REMOVE_FINALIZER);
    } else if (p->hold_reason.len && (plan->deployed + plan->missing < plan->wanted ||
                                      plan->unwanted || p->deleting || p->stack->spec.paused)) {
        tell_hold(p, plan);
    }
    heed_missing(p, plan);
    plan->help_reason = p->help_reason;
    plan->help_message = p->help_message;
    if (p->wake_at != INT64_MAX)
        plan->wake_after_ms =
            p->wake_at > p->observed->now_ms ? p->wake_at - p->observed->now_ms : 1;
}

/* An annotation's value as the status remembers it: as it is, or, if it is long, as a hash. */
static struct str short_value(struct arena *arena, const struct stack *stack, const char *name)
{
    enum { SHORT_BYTES_MAX = 64 };
    struct str value = kube_annotation(&stack->meta, str_of(name));

    return value.len <= SHORT_BYTES_MAX ? value : digest_sha256_hex(arena, value);
}

/* Whether the annotation asks for something that was not done yet. */
static bool is_asked_anew(struct str value, const struct stack_status *before, bool resume)
{
    return value.len && before &&
           !str_eq(value, resume ? before->handled_resume : before->handled_retry);
}

static struct map *index_charts(struct arena *arena, const struct charts *charts)
{
    struct map *index = map_new(arena, charts->count);
    uint32_t *places = arena_array(arena, uint32_t, charts->count);

    for (uint32_t i = 0; i < charts->count; i++) {
        places[i] = i;
        if (!map_get(index, charts->items[i].name))
            map_put(index, charts->items[i].name, &places[i]);
    }
    return index;
}

/* What the status does not say is not known to have changed. */
static bool is_another(struct str before, struct str now)
{
    return before.len && !str_eq(before, now);
}

static struct planner planner_of(struct arena *arena, const struct stack *stack,
                                 const struct observed *observed)
{
    struct planner p = {
        .arena = arena,
        .stack = stack,
        .observed = observed,
        .ref =
            str_fmt(arena, "%.*s/%.*s", STR_ARG(stack->meta.namespace_), STR_ARG(stack->meta.name)),
        .deleting = stack->meta.deletion_timestamp.len > 0,
        .retargeted = is_another(observed->before ? observed->before->targets_hash : STR(""),
                                 plan_targets_hash(arena, stack)),
        .fresh = is_another(observed->before ? observed->before->charts_hash : STR(""),
                            plan_charts_hash(arena, stack)),
        .resumed = is_asked_anew(short_value(arena, stack, STACK_RESUME), observed->before, true),
        .retried = is_asked_anew(short_value(arena, stack, STACK_RETRY), observed->before, false),
        .chart_index = index_charts(arena, &stack->spec.charts),
        .waves = wave_states_new(arena, 0),
        .slots = slots_new(arena, observed->clusters.count * stack->spec.charts.count),
        .actions = actions_new(arena, 4),
        .wake_at = INT64_MAX,
    };

    for (uint32_t i = 0; i < observed->clusters.count; i++)
        p.targets += observed->clusters.items[i].targeted;
    plan_find_hold(&p);
    return p;
}

/* Deletion needs neither a valid spec nor its finalizer's presence to be re-made. */
static bool plan_end(const struct stack *stack, struct plan *plan)
{
    if (!kube_has_finalizer(&stack->meta, STR(STACK_FINALIZER))) {
        plan->torn_down = true;
        plan->reason = REASON(DELETING);
        plan->message = STR("no release of the Stack is left");
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
    return before && !stack_status_is_blank(before);
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
                              "release can be removed; to abandon all clusters, annotate the "
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
        .handled_resume = short_value(arena, stack, STACK_RESUME),
        .handled_retry = short_value(arena, stack, STACK_RETRY),
    };

    if (p.deleting && plan_end(stack, &plan))
        return plan;
    if (author_is_missing(&stack->meta)) {
        keep(&plan, observed);
        plan.accepted = false;
        plan.reason = REASON(NOT_ADMITTED);
        plan.message = STR("no author is recorded, so the Stack was stored without Herd's webhook; "
                           "nothing is started until somebody who may deploy there changes its "
                           "spec (docs/access.md)");
        return plan;
    }
    if (!p.deleting && !kube_has_finalizer(&stack->meta, STR(STACK_FINALIZER))) {
        keep(&plan, observed);
        plan.reason = REASON(STARTING);
        plan.message = STR("adding the teardown finalizer before anything else is done");
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
                           : STR("spec.charts: Invalid value: dependency cycle");
        return plan;
    }
    if (wait_for_list(&p, &plan))
        return plan;
    plan_slots(&p);
    plan_name_changes(&p);
    finish(&p, &plan);
    return plan;
}

/* The entry of a rejected request, with nothing under way any more; NULL if there is none. */
static struct release_state *note_rejected(struct arena *arena, struct stack_status *status,
                                           struct str cluster_id, struct str chart_name,
                                           struct str message, int64_t now_ms)
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
        return NULL;
    found->message = str_shown(arena, message, 512);
    found->requested_ms = 0;
    found->last_updated_ms = now_ms / 1000 * 1000;
    return found;
}

void stack_status_note_failure(struct arena *arena, struct stack_status *status,
                               struct str cluster_id, struct str chart_name, bool terminal,
                               struct str reason, struct str message, int64_t now_ms)
{
    struct release_state *rejected =
        note_rejected(arena, status, cluster_id, chart_name, message, now_ms);

    if (!rejected)
        return;
    rejected->state = DEPLOYMENT_FAILED;
    rejected->reason = reason;
    rejected->terminal = terminal;
    rejected->attempts++;
}

void stack_status_note_transient(struct arena *arena, struct stack_status *status,
                                 struct str cluster_id, struct str chart_name, struct str reason,
                                 struct str message, int64_t now_ms)
{
    struct release_state *rejected =
        note_rejected(arena, status, cluster_id, chart_name, message, now_ms);

    if (!rejected)
        return;
    rejected->state = DEPLOYMENT_PENDING;
    rejected->reason = reason;
}
