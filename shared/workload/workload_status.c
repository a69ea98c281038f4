/* SPDX-License-Identifier: Apache-2.0 */
/* workload_status.c: the first of these that holds is the phase: deleted, not valid, not made,
 * failed, complete, ready, under way. */
#include "workload/workload_status.h"

enum { CAUSE_BYTES_MAX = 512 };

static int64_t number(struct json object, const char *key)
{
    int64_t value = 0;

    json_int64(json_get(object, str_of(key)), &value);
    return value;
}

static bool is_false(const struct kube_condition *condition)
{
    return condition && condition->status == CONDITION_FALSE;
}

static bool controls_pods(const struct seen_child *child)
{
    return child->resource == &workload_child_resources[WORKLOAD_DEPLOYMENTS] ||
           child->resource == &workload_child_resources[WORKLOAD_STATEFUL_SETS] ||
           child->resource == &workload_child_resources[WORKLOAD_JOBS];
}

/* What controls the pods, if it is there: not the Job of another image. While the spec is not
 * valid, what was made of the last valid one, whatever that was. */
static const struct seen_child *find(struct arena *arena, const struct kind_observation *seen,
                                     const struct workload *workload)
{
    struct str name = workload_controller_name(arena, workload);

    for (uint32_t i = 0; i < seen->children->count; i++)
        if (seen->children->items[i].resource == &workload_child_resources[workload->controller] &&
            str_eq(seen->children->items[i].name, name))
            return &seen->children->items[i];
    for (uint32_t i = 0; is_false(seen->accepted) && i < seen->children->count; i++)
        if (controls_pods(&seen->children->items[i]))
            return &seen->children->items[i];
    return NULL;
}

/* What a child says of why something does not come up; what makes pods before the pods. */
static struct str cause_of(struct arena *arena, const struct kind_observation *seen)
{
    for (uint32_t i = 0; i < seen->children->count; i++) {
        const struct seen_child *child = &seen->children->items[i];

        if (child->health.cause.len)
            return str_fmt(arena, "%.*s %.*s: %.*s", STR_ARG(child->resource->kind),
                           STR_ARG(child->name),
                           STR_ARG(str_shown(arena, child->health.cause, CAUSE_BYTES_MAX)));
    }
    return STR("");
}

static bool has_been_ready(enum workload_phase was)
{
    return was == WORKLOAD_RUNNING || was == WORKLOAD_UPDATING;
}

static struct workload_status status(enum workload_phase phase, struct str reason,
                                     struct str message)
{
    return (struct workload_status){ .phase = phase, .reason = reason, .message = message };
}

static bool is_job(const struct seen_child *pods)
{
    return pods->resource == &workload_child_resources[WORKLOAD_JOBS];
}

/* Set once, when it is complete (batch/v1 JobStatus). */
static bool is_complete(const struct seen_child *pods)
{
    return is_job(pods) &&
           json_is(json_get(pods->health.status, STR("completionTime")), JSON_STRING);
}

/* Pods of a Job that are ready, or were and have succeeded. */
static int64_t arrived(const struct seen_child *pods)
{
    return number(pods->health.status, "ready") + number(pods->health.status, "succeeded");
}

/* A Job counts as current from its start (kstatus), whether or not its pods are made and run. */
static bool waits_for_pods(const struct seen_child *pods, const struct workload *workload)
{
    return is_job(pods) && !is_complete(pods) && arrived(pods) < workload->replicas;
}

/* Why a StatefulSet or a Job cannot make a pod, as for a quota, is told in Events only; none is
 * known yet (kube/pod_shortage.h). */
static struct str where_to_look(struct arena *arena, const struct seen_child *pods)
{
    return str_fmt(arena, "; if that lasts, `kubectl describe %s %.*s` shows why",
                   is_job(pods) ? "job" : "statefulset", STR_ARG(pods->name));
}

/* What is known of why not all pods are ready. */
static struct str not_ready(struct arena *arena, const struct seen_child *pods,
                            const struct workload *workload)
{
    int64_t made = number(pods->health.status, "replicas");
    struct str text = pods->health.message;
    bool lacks_some = pods->resource == &workload_child_resources[WORKLOAD_STATEFUL_SETS] &&
                      made < pods->health.replicas;

    if (waits_for_pods(pods, workload) && !text.len) {
        text = str_fmt(arena, "%lld of %lld pods are ready or have succeeded",
                       (long long)arrived(pods), (long long)workload->replicas);
        lacks_some = true;
    }
    if (!lacks_some)
        return text;
    return str_fmt(arena, "%.*s%.*s", STR_ARG(text), STR_ARG(where_to_look(arena, pods)));
}

static struct workload_status phase_of(struct arena *arena, const struct kind_observation *seen,
                                       const struct workload *workload,
                                       const struct seen_child *pods, enum workload_phase was)
{
    struct str cause = cause_of(arena, seen);

    if (seen->deleted)
        return status(WORKLOAD_TERMINATING, STR("Terminating"), STR("it is being deleted"));
    if (is_false(seen->accepted))
        return status(pods ? was : WORKLOAD_FAILED, seen->accepted->reason,
                      seen->accepted->message);
    if (is_false(seen->applied))
        return status(pods ? WORKLOAD_UPDATING : WORKLOAD_FAILED, seen->applied->reason,
                      seen->applied->message);
    if (!pods)
        return status(WORKLOAD_PENDING, STR("Pending"), STR("its objects are being made"));
    if (pods->health.state == OBJECT_FAILED)
        return status(WORKLOAD_FAILED, STR("PodsFailed"), cause.len ? cause : pods->health.message);
    if (pods->health.state == OBJECT_CURRENT && !waits_for_pods(pods, workload))
        return status(WORKLOAD_RUNNING, STR("ReconciliationSucceeded"), STR(""));
    return status(has_been_ready(was) ? WORKLOAD_UPDATING : WORKLOAD_CREATING, STR("PodsNotReady"),
                  cause.len ? cause : not_ready(arena, pods, workload));
}

static struct workload_status status_of(struct arena *arena, const struct kind_observation *seen,
                                        const struct workload *workload, enum workload_phase was)
{
    const struct seen_child *pods = find(arena, seen, workload);
    struct workload_status result = phase_of(arena, seen, workload, pods, was);

    if (pods) {
        result.replicas = number(pods->health.status, is_job(pods) ? "active" : "replicas");
        result.ready = number(pods->health.status, is_job(pods) ? "ready" : "readyReplicas");
    }
    if (pods && result.phase == WORKLOAD_RUNNING && is_complete(pods))
        result.phase = WORKLOAD_SUCCEEDED;
    return result;
}

static void set_conditions(const struct workload_status *status, int64_t generation, int64_t now_ms,
                           struct kube_conditions *conditions)
{
    /* What runs may be as it was, and the spec not valid any more. */
    bool ready = (status->phase == WORKLOAD_RUNNING || status->phase == WORKLOAD_SUCCEEDED) &&
                 !status->message.len;
    bool moves = status->phase == WORKLOAD_PENDING || status->phase == WORKLOAD_CREATING ||
                 status->phase == WORKLOAD_UPDATING;

    kube_condition_set(conditions,
                       (struct kube_condition){ .type = STR("Ready"),
                                                .status = ready ? CONDITION_TRUE : CONDITION_FALSE,
                                                .reason = status->reason,
                                                .message = status->message,
                                                .observed_generation = generation },
                       now_ms);
    kube_condition_set(conditions,
                       (struct kube_condition){ .type = STR("Progressing"),
                                                .status = moves ? CONDITION_TRUE : CONDITION_FALSE,
                                                .reason = moves ? status->reason : STR("Complete"),
                                                .message = moves ? status->message : STR(""),
                                                .observed_generation = generation },
                       now_ms);
}

/* Several phases may have one word: whether it has been ready is what counts. */
static enum workload_phase phase_from(const struct workload_phases *phases, struct str word)
{
    static const enum workload_phase asked[] = { WORKLOAD_RUNNING, WORKLOAD_UPDATING,
                                                 WORKLOAD_SUCCEEDED };

    for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++)
        if (str_eq(phases->words[asked[i]], word))
            return asked[i];
    return WORKLOAD_PENDING;
}

struct workload_status workload_summarize(struct arena *arena, const struct kind_observation *seen,
                                          const struct workload *workload,
                                          const struct workload_phases *phases,
                                          struct json_writer *w, struct kube_conditions *conditions)
{
    enum workload_phase was =
        phase_from(phases, json_str(json_walk(seen->object, "status", "phase", NULL)));
    struct workload_status status = status_of(arena, seen, workload, was);
    int64_t generation = 0;

    json_int64(json_walk(seen->object, "metadata", "generation", NULL), &generation);
    json_field_str(w, "phase", phases->words[status.phase]);
    json_field_int(w, "replicas", status.replicas);
    json_field_int(w, "readyReplicas", status.ready);
    json_field_str(w, "selector", workload_selector(arena, workload));
    set_conditions(&status, generation, seen->now_ms, conditions);
    return status;
}
