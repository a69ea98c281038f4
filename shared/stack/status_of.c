/* status_of.c: phase, conditions and counts from the values of a plan (design: the Stack's status).
 *
 * Conditions follow kstatus: Ready says whether all is as wanted, Reconciling that work goes on,
 * Stalled that it will not without somebody's help. Each has a reason and a message. What nothing
 * observes yet is Unknown, never True or False. */
#include "stack/plan.h"

#include "base/limits.h"

enum { MESSAGE_BYTES_MAX = 1024 };

struct view {
    struct arena *arena;
    const struct stack *stack;
    const struct plan *plan;
    int64_t now_ms;
    enum stack_phase phase;
    bool deleting;
    struct str doubt; /* of the receipt */
    bool terminal; /* something will not mend itself, */
    bool stuck;    /* or holds a deletion, and is not known to end */
    bool only_unknown; /* all that is not deployed is out of sight */
    struct str terminal_reason, terminal_message;
};

static enum stack_phase phase_of(const struct view *v, const struct stack_status *before)
{
    const struct plan *plan = v->plan;

    if (v->deleting)
        return PHASE_DELETING;
    if (!plan->accepted || (v->terminal && !plan->kept))
        return PHASE_FAILED;
    if (plan->kept)
        return before ? before->phase : PHASE_PENDING;
    if (plan->wanted && plan->deployed == plan->wanted && plan->unwanted == 0)
        return PHASE_DEPLOYED;
    return plan->started ? PHASE_DEPLOYING : PHASE_PENDING;
}

static void look_for_terminal(struct view *v)
{
    const struct plan *plan = v->plan;

    v->only_unknown = plan->releases.count > 0 && !plan->missing;
    if (plan->holds && plan->stalled) {
        v->terminal = !v->deleting;
        v->stuck = v->deleting;
        v->terminal_reason = plan->reason;
        v->terminal_message = plan->message;
    }
    for (uint32_t i = 0; i < plan->releases.count; i++) {
        const struct release_state *s = &plan->releases.items[i];

        if (s->state != DEPLOYMENT_UNKNOWN && s->state != DEPLOYMENT_DEPLOYED)
            v->only_unknown = false;
        bool stuck = v->deleting && str_eq(s->reason, REASON(OPERATION_STUCK));
        bool terminal = !v->deleting && s->state == DEPLOYMENT_FAILED && s->terminal;

        if (v->terminal || v->stuck || (!stuck && !terminal))
            continue;
        v->terminal = terminal;
        v->stuck = stuck;
        v->terminal_reason = s->reason;
        v->terminal_message = str_fmt(v->arena, "%.*s on %.*s: %.*s", STR_ARG(s->chart_name),
                                      STR_ARG(s->cluster_id), STR_ARG(s->message));
    }
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
        .observed_generation = v->stack->meta.generation,
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
                            : STR("everything is as wanted");
}

static void put_progress(const struct view *v, struct kube_conditions *to,
                         const struct kube_conditions *before)
{
    const struct plan *plan = v->plan;
    bool stalled = v->phase == PHASE_FAILED || v->stuck;
    bool settled = v->phase == PHASE_DEPLOYED;

    if (settled || stalled)
        put(v, to, before, "Reconciling", CONDITION_FALSE,
            settled ? REASON(SETTLED) : REASON(STALLED),
            settled ? settled_message(v) : plan->message);
    else
        put(v, to, before, "Reconciling", CONDITION_TRUE, plan->reason, plan->message);
    if (!plan->accepted && !v->deleting)
        put(v, to, before, "Stalled", CONDITION_TRUE, plan->reason, plan->message);
    else if ((v->terminal && !v->deleting) || v->stuck)
        put(v, to, before, "Stalled", CONDITION_TRUE, v->terminal_reason, v->terminal_message);
    else
        put(v, to, before, "Stalled", CONDITION_FALSE, REASON(NOT_STALLED),
            settled ? settled_message(v) : STR("nothing needs help to go on"));
}

static void put_all(const struct view *v, struct kube_conditions *to,
                    const struct kube_conditions *before)
{
    const struct stack_spec *spec = &v->stack->spec;

    if (v->plan->accepted && v->doubt.len)
        put(v, to, before, "Accepted", CONDITION_TRUE, REASON(NOT_ADMITTED), v->doubt);
    else if (v->plan->accepted)
        put(v, to, before, "Accepted", CONDITION_TRUE, REASON(VALID),
            STR("the Stack can be carried out"));
    else
        put(v, to, before, "Accepted", CONDITION_FALSE, v->plan->reason, v->plan->message);
    put_ready(v, to, before);
    put_progress(v, to, before);
    if (v->plan->drifted)
        put(v, to, before, "Drifted", CONDITION_TRUE, REASON(DRIFTED),
            str_fmt(v->arena, "%u %s changed by somebody else", v->plan->drifted,
                    v->plan->drifted == 1 ? "release was" : "releases were"));
    if (spec->security == TOGGLE_ENABLED)
        put(v, to, before, "SecurityScanned", CONDITION_UNKNOWN, REASON(NOT_OBSERVED),
            STR("nothing has observed security scans yet"));
    if (spec->observability == TOGGLE_ENABLED)
        put(v, to, before, "ObservabilityConfigured", CONDITION_UNKNOWN, REASON(NOT_OBSERVED),
            STR("nothing has observed monitoring yet"));
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
        .doubt = observed->admitted ? observed->admitted->doubt : STR(""),
    };

    /* Nothing could be looked at, and it is the same Stack: what was said stands, to the byte. */
    if (plan->kept && plan->accepted && !view.deleting && observed->before &&
        before->observed_generation == stack->meta.generation)
        return *before;
    look_for_terminal(&view);
    view.phase = phase_of(&view, observed->before);

    struct stack_status status = {
        .phase = view.phase,
        .message = str_shown(arena, plan->message, MESSAGE_BYTES_MAX),
        .observed_generation = plan->blind ? 0
                               : stack->meta.generation > before->observed_generation
                                   ? stack->meta.generation
                                   : before->observed_generation,
        .counted = !plan->kept || before->counted,
        .clusters = plan->targets.count,
        .charts = stack->spec.charts.count,
        .ready = plan->deployed,
        .releases = plan->wanted,
        .target_clusters = plan->targets,
        .held_clusters = plan->held,
        .deployments = plan->releases,
        .deployments_omitted = plan->kept ? before->deployments_omitted : 0,
        .conditions = kube_conditions_new(arena, 8),
        .last_applied_by = applied_by.len ? applied_by : before->last_applied_by,
    };

    if (plan->kept)
        memcpy(status.omitted, before->omitted, sizeof(status.omitted));
    put_all(&view, &status.conditions, &before->conditions);
    return status;
}
