/* SPDX-License-Identifier: Apache-2.0 */
/* spans.c: an operation lasts from requestedAt until the status does not wait for it any more, the
 * start of workloads from then until their release's reason is another, a rollout from
 * rollout.startedAt until its phase is an end. */
#include "controller/reconcilers/stack/spans.h"

#include "base/map.h"
#include "base/set.h"
#include "stack/model/reasons.h"

struct view {
    struct arena *arena;
    const struct stack *stack;
    const struct stack_status *before, *after;
    const struct plan *plan;
    int64_t now_ms;
    struct trace_context parent; /* who changed the spec */
    struct str rollout_id;
    struct otlp_spans spans;
};

/* A span without what it is about: `name` tells it from all others of the Stack. */
static struct otlp_span span_of(const struct view *v, struct str name, int64_t start_ms)
{
    struct str whole = str_fmt(v->arena, "%.*s\n%.*s\n%.*s", STR_ARG(v->parent.trace_id),
                               STR_ARG(v->stack->meta.uid), STR_ARG(name));

    return (struct otlp_span){
        .context = { v->parent.trace_id, span_id_from(v->arena, whole), v->parent.sampled },
        .kind = OTLP_INTERNAL,
        .start_us = (start_ms ? start_ms : v->now_ms) * 1000,
        .end_us = v->now_ms * 1000,
        .attributes = { OTLP_STR("k8s.namespace.name", v->stack->meta.namespace_),
                        OTLP_STR("herd.stack", v->stack->meta.name),
                        OTLP_INT("herd.generation", v->stack->meta.generation) },
        .attribute_count = 3,
    };
}

static void add_attribute(struct otlp_span *span, struct otlp_attribute attribute)
{
    span->attributes[span->attribute_count++] = attribute;
}

/* --- what is done with releases --- */

/* NULL: what was requested is no operation on the release, such as a ClusterRepo. */
static const char *operation_name(const struct release_state *release)
{
    enum deployment_state state =
        release->state == DEPLOYMENT_UNKNOWN ? release->last_known : release->state;

    if (str_eq(release->reason, REASON(REMOVING_LOCK)) ||
        str_eq(release->reason, REASON(FREEING_RELEASE)))
        return "unlock";
    if (state == DEPLOYMENT_UNINSTALLING)
        return "uninstall";
    if (state == DEPLOYMENT_DEPLOYING)
        return release->installed && release->revision ? "upgrade" : "install";
    return NULL;
}

struct work {
    const char *name; /* NULL: none is under way */
    int64_t since_ms;
};

/* An operation of Helm's; behind it, the start of what it installed. */
static struct work work_of(const struct release_state *release)
{
    const char *operation = operation_name(release);

    if (release->requested_ms)
        return (struct work){ operation, operation ? release->requested_ms : 0 };
    if (str_eq(release->reason, REASON(WORKLOADS_STARTING)))
        return (struct work){ "workloads", release->last_updated_ms };
    return (struct work){ NULL, 0 };
}

/* One that is not listed any more is gone, unless its cluster was left with it. */
static bool is_over(const struct release_state *was, const struct release_state *is,
                    struct set left_behind)
{
    struct work work = work_of(was);

    if (!work.name)
        return false;
    if (is)
        return work_of(is).since_ms != work.since_ms;
    return was->state == DEPLOYMENT_UNINSTALLING && !set_has(left_behind, was->cluster_id);
}

static bool has_failed(const struct release_state *was, const struct release_state *is)
{
    return is && (is->state == DEPLOYMENT_FAILED || is->attempts > was->attempts ||
                  is->state == DEPLOYMENT_NOT_READY);
}

static void add_work(struct view *v, const struct release_state *was,
                     const struct release_state *is)
{
    struct work work = work_of(was);
    struct str name = str_fmt(v->arena, "%s\n%.*s\n%lld", work.name,
                              STR_ARG(release_state_id(v->arena, was)), (long long)work.since_ms);
    struct otlp_span span = span_of(v, name, work.since_ms);

    span.parent_id = v->rollout_id;
    span.name = work.name;
    span.failed = has_failed(was, is);
    span.message = span.failed ? is->message : STR("");
    add_attribute(&span, OTLP_STR("herd.cluster", was->cluster_id));
    add_attribute(&span, OTLP_STR("herd.chart", was->chart_name));
    add_attribute(&span, OTLP_STR("herd.version", was->version));
    add_attribute(&span,
                  OTLP_STR("herd.release", kube_key(v->arena, was->namespace_, was->release_name)));
    add_attribute(&span,
                  OTLP_STR("herd.status",
                           str_of(deployment_state_name(is ? is->state : DEPLOYMENT_REMOVED))));
    add_attribute(&span, OTLP_STR("herd.reason", is ? is->reason : STR("")));
    otlp_spans_push(&v->spans, span);
}

static void add_works(struct view *v)
{
    const struct release_states *all = &v->before->deployments;
    struct map *now = release_states_index(v->arena, &v->after->deployments);
    struct set left_behind = set_of(v->arena, &v->plan->gone);

    set_add_all(left_behind, &v->plan->abandoned);
    for (uint32_t i = 0; i < all->count; i++) {
        const struct release_state *was = &all->items[i];
        const struct release_state *is = map_get(now, release_state_id(v->arena, was));

        if (is_over(was, is, left_behind))
            add_work(v, was, is);
    }
}

/* --- the rollout --- */

static bool rollout_is_over(const struct view *v)
{
    bool ends = v->after->phase == PHASE_DEPLOYED || v->after->phase == PHASE_FAILED;

    if (v->plan->torn_down)
        return true;
    return ends && (v->before->started_ms ||
                    v->before->observed_generation != v->after->observed_generation);
}

static void add_rollout(struct view *v, struct otlp_span span)
{
    span.name = v->plan->torn_down ? "teardown" : "rollout";
    span.parent_id = v->parent.span_id;
    span.failed = !v->plan->torn_down && v->after->phase == PHASE_FAILED;
    span.message = v->after->message;
    add_attribute(&span, OTLP_STR("herd.phase", str_of(stack_phase_name(v->after->phase))));
    add_attribute(&span, OTLP_INT("herd.clusters", v->after->clusters));
    add_attribute(&span, OTLP_INT("herd.releases", v->after->releases));
    otlp_spans_push(&v->spans, span);
}

struct otlp_spans stack_spans(struct arena *arena, const struct stack *stack,
                              const struct stack_status *before, const struct stack_status *after,
                              const struct plan *plan, int64_t now_ms)
{
    struct view v = { .arena = arena,
                      .stack = stack,
                      .before = before,
                      .after = after,
                      .plan = plan,
                      .now_ms = now_ms,
                      .spans = otlp_spans_new(arena, 0) };
    struct otlp_span rollout;

    if (!stack_trace(&stack->meta, &v.parent) || !v.parent.sampled)
        return v.spans;
    rollout =
        span_of(&v, str_fmt(arena, "rollout\n%lld", (long long)stack->meta.generation),
                before->observed_generation == stack->meta.generation ? before->started_ms : 0);
    v.rollout_id = rollout.context.span_id;
    add_works(&v);
    if (rollout_is_over(&v))
        add_rollout(&v, rollout);
    return v.spans;
}
