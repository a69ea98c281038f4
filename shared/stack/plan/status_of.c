/* SPDX-License-Identifier: Apache-2.0 */
/* status_of.c: phase, conditions and counts from the values of a plan (design: the Stack's status).
 *
 * Conditions follow kstatus: Ready says whether all is as wanted, Reconciling that work goes on,
 * Stalled that it will not without somebody's help. Each has a reason and a message. What nothing
 * observes yet is Unknown, never True or False. */
#include "stack/plan/plan.h"
#include "stack/plan/security.h"

#include "stack/model/limits.h"
#include "stack/plan/observability.h"

enum { MESSAGE_BYTES_MAX = 1024 };

struct view {
    struct arena *arena;
    const struct stack *stack;
    const struct plan *plan;
    int64_t generation; /* of the spec that the status is about */
    int64_t now_ms;
    enum stack_phase phase;
    bool deleting;
    bool failed;  /* something is broken, and nothing else is being done */
    bool stalled; /* something needs help to go on: */
    struct str stalled_reason, stalled_message;
    bool only_unknown; /* all that is not deployed is out of sight */
    struct observability_verdict observability;
};

static enum stack_phase phase_of(const struct view *v, const struct stack_status *before)
{
    const struct plan *plan = v->plan;

    if (v->deleting)
        return PHASE_DELETING;
    if (!plan->accepted || (v->failed && !plan->kept))
        return PHASE_FAILED;
    if (plan->kept)
        return before ? before->phase : PHASE_PENDING;
    if (plan->wanted && plan->deployed == plan->wanted && plan->unwanted == 0)
        return PHASE_DEPLOYED;
    return plan->started ? PHASE_DEPLOYING : PHASE_PENDING;
}

static bool is_one_of(struct str reason, const enum reason *reasons, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(reason, reason_rows[reasons[i]].name))
            return true;
    return false;
}

#define IS_ONE_OF(reason, reasons)                                                                 \
    is_one_of((reason), (reasons), sizeof(reasons) / sizeof(*(reasons)))

/* It fails again and again with what is wanted; also while it is tried once more. */
static bool is_failing(const struct release_state *s)
{
    return s->attempts >= LIMIT_ATTEMPTS_STALLED;
}

/* Nothing is done about it before somebody helps, or before something else is done. */
static bool is_blocked(const struct release_state *s)
{
    static const enum reason waits[] = {
        REASON_WAITING_FOR_DEPENDENCY, REASON_WAITING_FOR_DEPENDENTS,
        REASON_WAITING_FOR_SUCCESSOR,  REASON_WAITING_FOR_WAVE,
        REASON_WAITING_FOR_ROLLOUT,    REASON_ROLLOUT_STOPPED,
        REASON_WAITING_FOR_APPROVAL,   REASON_WAITING_FOR_CONFIRMATION,
        REASON_WAITING_FOR_SCANS,
    };

    return s->state == DEPLOYMENT_DEPLOYED || s->state == DEPLOYMENT_NOT_READY ||
           s->state == DEPLOYMENT_UNKNOWN || is_failing(s) || IS_ONE_OF(s->reason, waits);
}

static bool needs_help(const struct view *v, const struct release_state *s)
{
    static const enum reason waits[] = { REASON_ROLLOUT_STOPPED, REASON_WAITING_FOR_CONFIRMATION,
                                         REASON_STACK_NEEDED, REASON_ACCESS_DENIED };

    if (v->deleting && str_eq(s->reason, REASON(OPERATION_STUCK)))
        return true;
    return (s->state == DEPLOYMENT_FAILED && s->terminal && !v->deleting) || is_failing(s) ||
           IS_ONE_OF(s->reason, waits);
}

static void stall(struct view *v, struct str reason, struct str message)
{
    if (v->stalled)
        return;
    v->stalled = true;
    v->stalled_reason = reason;
    v->stalled_message = message;
}

/* While what failed is tried once more, it is why it failed that needs help. */
static struct str help_reason(const struct release_state *s)
{
    if (!is_failing(s) || s->state == DEPLOYMENT_FAILED || s->state == DEPLOYMENT_WAITING)
        return s->reason;
    if (s->state == DEPLOYMENT_UNINSTALLING)
        return REASON(UNINSTALL_FAILED);
    return s->installed ? REASON(UPGRADE_FAILED) : REASON(INSTALL_FAILED);
}

/* Which release, and what is the matter with it; of what waits because the rollout stopped, that
 * of what failed. */
static struct str help_message(const struct view *v, const struct release_state *s)
{
    const struct release_states *all = &v->plan->releases;
    struct str what = s->message;
    bool stopped = str_eq(s->reason, REASON(ROLLOUT_STOPPED));

    for (uint32_t i = 0; stopped && i < all->count; i++)
        if (all->items[i].attempts && all->items[i].state == DEPLOYMENT_FAILED) {
            s = &all->items[i];
            what = str_fmt(v->arena, "%.*s; %.*s", STR_ARG(str_shown(v->arena, s->message, 512)),
                           STR_ARG(what));
            break;
        }
    return str_fmt(v->arena, "%.*s on %.*s: %.*s", STR_ARG(s->chart_name), STR_ARG(s->cluster_id),
                   STR_ARG(what));
}

/* The cause before what only waits for it. */
static void look_for_help(struct view *v)
{
    const struct release_states *all = &v->plan->releases;

    for (int waiting = 0; waiting < 2; waiting++)
        for (uint32_t i = 0; i < all->count && !v->stalled; i++) {
            const struct release_state *s = &all->items[i];

            if (needs_help(v, s) && (s->state == DEPLOYMENT_WAITING) == waiting)
                stall(v, help_reason(s), help_message(v, s));
        }
}

static void look_for_failures(struct view *v)
{
    const struct plan *plan = v->plan;
    bool blocked = true;
    bool failing = false;

    v->only_unknown = plan->releases.count > 0 && !plan->missing;
    if (plan->holds && plan->stalled) {
        stall(v, plan->reason, plan->message);
        v->failed = true;
    }
    if (plan->missing_long)
        stall(v, plan->reason, plan->message);
    for (uint32_t i = 0; i < plan->releases.count; i++) {
        const struct release_state *s = &plan->releases.items[i];

        if (s->state != DEPLOYMENT_UNKNOWN && s->state != DEPLOYMENT_DEPLOYED)
            v->only_unknown = false;
        blocked = blocked && is_blocked(s);
        failing = failing || is_failing(s);
        v->failed = v->failed || (s->state == DEPLOYMENT_FAILED && s->terminal);
    }
    v->failed = v->failed || (failing && blocked);
    look_for_help(v);
    if (plan->help_reason.len)
        stall(v, plan->help_reason, plan->help_message);
}

/* Put a condition; its time of transition is that of the status before, if it said the same. */
static void put(const struct view *v, struct kube_conditions *conditions,
                const struct kube_conditions *before, const char *type,
                enum condition_status status, struct str reason, struct str message)
{
    const struct kube_condition *held = kube_condition_find(before, str_of(type));
    struct kube_condition condition = {
        .type = str_of(type),
        .reason = reason,
        .message = str_shown(v->arena, message, MESSAGE_BYTES_MAX),
        .status = status,
        .observed_generation = v->generation,
        .last_transition_ms = v->now_ms / 1000 * 1000,
    };

    if (held && held->status == status)
        condition.last_transition_ms = held->last_transition_ms;
    kube_conditions_push(conditions, condition);
}

static void put_ready(const struct view *v, struct kube_conditions *to,
                      const struct kube_conditions *before)
{
    const struct plan *plan = v->plan;
    const struct kube_condition *held = kube_condition_find(before, STR("Ready"));

    if (v->phase == PHASE_DEPLOYED && !plan->kept)
        put(v, to, before, "Ready", CONDITION_TRUE, REASON(DEPLOYMENT_SUCCEEDED), plan->message);
    else if (plan->kept && plan->accepted && held && !v->deleting)
        put(v, to, before, "Ready", held->status, held->reason, held->message);
    else if (plan->kept && plan->accepted)
        put(v, to, before, "Ready", CONDITION_UNKNOWN, plan->reason, plan->message);
    else
        put(v, to, before, "Ready",
            v->only_unknown && plan->accepted && !v->deleting ? CONDITION_UNKNOWN : CONDITION_FALSE,
            plan->reason, plan->message);
}

/* Of a Stack with which nothing is left to do. */
static struct str settled_message(const struct view *v)
{
    return v->plan->drifted ? STR("everything is deployed; what somebody else changed since "
                                  "is only reported, see the condition Drifted")
                            : STR("every release is in the desired state");
}

static void put_progress(const struct view *v, struct kube_conditions *to,
                         const struct kube_conditions *before)
{
    const struct plan *plan = v->plan;
    bool settled = v->phase == PHASE_DEPLOYED;
    bool ended = v->phase == PHASE_FAILED || (v->deleting && v->stalled);

    if (settled || ended)
        put(v, to, before, "Reconciling", CONDITION_FALSE,
            settled ? REASON(SETTLED) : REASON(STALLED),
            settled ? settled_message(v) : plan->message);
    else
        put(v, to, before, "Reconciling", CONDITION_TRUE, plan->reason, plan->message);
    if (!plan->accepted && !v->deleting)
        put(v, to, before, "Stalled", CONDITION_TRUE, plan->reason, plan->message);
    else if (v->stalled && !settled)
        put(v, to, before, "Stalled", CONDITION_TRUE, v->stalled_reason, v->stalled_message);
    else
        put(v, to, before, "Stalled", CONDITION_FALSE, REASON(NOT_STALLED),
            settled ? settled_message(v) : STR("nothing waits for manual action"));
}

static void put_all(const struct view *v, struct kube_conditions *to,
                    const struct kube_conditions *before)
{
    const struct stack_spec *spec = &v->stack->spec;

    if (v->plan->accepted)
        put(v, to, before, "Accepted", CONDITION_TRUE, REASON(VALID),
            STR("the Stack can be applied"));
    else
        put(v, to, before, "Accepted", CONDITION_FALSE, v->plan->reason, v->plan->message);
    put_ready(v, to, before);
    put_progress(v, to, before);
    if (v->plan->drifted)
        put(v, to, before, "Drifted", CONDITION_TRUE, REASON(DRIFTED),
            str_fmt(v->arena, "%u %s changed by somebody else", v->plan->drifted,
                    v->plan->drifted == 1 ? "release was" : "releases were"));
    if (spec->observability == TOGGLE_ENABLED)
        put(v, to, before, "ObservabilityConfigured", v->observability.status,
            v->observability.reason, v->observability.message);
}

/* Its part of the status, and its condition. */
static void put_security(const struct view *v, const struct observed *observed,
                         struct stack_status *status, const struct kube_conditions *before)
{
    struct security security;

    if (v->stack->spec.security != TOGGLE_ENABLED) {
        for (uint32_t i = 0; i < status->deployments.count; i++)
            status->deployments.items[i].security_scan = SCAN_NONE;
        return;
    }
    security = security_of(v->arena, v->stack, observed, &status->deployments);
    status->security = security.status;
    put(v, &status->conditions, before, "SecurityScanned", security.holds, security.reason,
        security.message);
}

/* A spec that nothing was compared with has not been observed: what is said is of the one before.
 * A greater one was forged, or is of a Stack that was restored from a backup. */
static int64_t generation_seen(const struct view *v, const struct stack_status *before)
{
    bool earlier =
        before->observed_generation > 0 && before->observed_generation < v->stack->meta.generation;

    return v->plan->kept && v->plan->accepted && !v->deleting && earlier
               ? before->observed_generation
               : v->stack->meta.generation;
}

/* For the span of the rollout: from when its generation was first seen until all is deployed, or
 * has failed. */
static int64_t rollout_started(const struct view *v, const struct stack_status *before)
{
    struct trace_context ignored;

    if (v->phase == PHASE_DEPLOYED || v->phase == PHASE_FAILED ||
        !stack_trace(&v->stack->meta, &ignored))
        return 0;
    return before->observed_generation == v->generation ? before->started_ms : v->now_ms;
}

struct stack_status stack_status_of(struct arena *arena, const struct stack *stack,
                                    const struct observed *observed, const struct plan *plan)
{
    static const struct stack_status none;
    const struct stack_status *before = observed->before ? observed->before : &none;
    struct str applied_by = kube_annotation(&stack->meta, STR(STACK_LAST_APPLIED_BY));
    struct view view = {
        .arena = arena,
        .stack = stack,
        .plan = plan,
        .now_ms = observed->now_ms,
        .deleting = stack->meta.deletion_timestamp.len > 0,
    };

    /* Nothing could be looked at, and it is the same Stack: what was said stands, to the byte. */
    if (plan->kept && plan->accepted && !view.deleting && observed->before &&
        before->observed_generation == stack->meta.generation)
        return *before;
    view.generation = generation_seen(&view, before);
    look_for_failures(&view);
    view.phase = phase_of(&view, observed->before);

    struct stack_status status = {
        .phase = view.phase,
        .message = str_shown(arena, plan->message, MESSAGE_BYTES_MAX),
        .observed_generation = plan->blind ? 0 : view.generation,
        .counted = !plan->kept || before->counted,
        .clusters = plan->targets.count,
        .charts = stack->spec.charts.count,
        .ready = plan->running,
        .releases = plan->wanted,
        .target_clusters = plan->targets,
        .held_clusters = plan->held,
        .pending_clusters = plan->pending_clusters,
        .started_clusters = plan->started_clusters,
        .failed_clusters = plan->failed_clusters,
        .lost_clusters = plan->lost_clusters,
        .change = plan->change,
        .waiting_since_ms = plan->waiting_since_ms,
        .targets_hash = plan->targets_hash,
        .charts_hash = plan->charts_hash,
        .started_ms = rollout_started(&view, before),
        .waves = plan->waves,
        .removal = plan->removal,
        .reason_since_ms = plan->reason_since_ms,
        .handled_resume = plan->handled_resume,
        .handled_retry = plan->handled_retry,
        .deployments = plan->releases,
        .deployments_omitted = plan->kept ? before->deployments_omitted : 0,
        .conditions = kube_conditions_new(arena, 8),
        .last_applied_by = applied_by.len ? applied_by : before->last_applied_by,
    };

    if (plan->kept)
        memcpy(status.omitted, before->omitted, sizeof(status.omitted));
    view.observability = observability_of(arena, stack, observed, &status);
    put_all(&view, &status.conditions, &before->conditions);
    put_security(&view, observed, &status, &before->conditions);
    return status;
}

static bool is_same_condition(const struct kube_condition *a, const struct kube_condition *b)
{
    return a && b && a->status == b->status && str_eq(a->reason, b->reason);
}

/* So does a mark without a digest: it takes a release over, and must be found again to be removed
 * when its cluster is no target any more. */
static bool stands_first(const struct action *action)
{
    return action_changes(action->kind) || (action->kind == ACTION_MARK && !action->digest.len);
}

bool stack_status_is_news(const struct stack_status *stored, const struct stack_status *status,
                          const struct actions *actions)
{
    for (uint32_t i = 0; i < actions->count; i++)
        if (stands_first(&actions->items[i]))
            return true;
    return stored->phase != status->phase ||
           !is_same_condition(kube_condition_find(&stored->conditions, STR("Ready")),
                              kube_condition_find(&status->conditions, STR("Ready")));
}
