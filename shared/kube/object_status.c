/* SPDX-License-Identifier: Apache-2.0 */
/* object_status.c: tables of what is compared, kind by kind. */
#include "kube/object_status.h"

#include "kube/condition.h"

enum { NO_DEADLINE = INT32_MAX };

struct evaluation {
    struct arena *arena;
    struct json object, spec, status;
    struct kube_conditions conditions;
};

const char *object_state_name(enum object_state state)
{
    static const char *const names[] = { "Current", "InProgress", "Failed", "Terminating" };

    return names[state];
}

static struct object_status current(void)
{
    return (struct object_status){ OBJECT_CURRENT, STR("") };
}

static struct object_status in_progress(struct str message)
{
    return (struct object_status){ OBJECT_IN_PROGRESS, message };
}

static struct object_status failed(struct str message)
{
    return (struct object_status){ OBJECT_FAILED, message };
}

static int64_t number(struct json object, const char *key, int64_t otherwise)
{
    int64_t value = otherwise;

    json_int64(json_get(object, str_of(key)), &value);
    return value;
}

static const struct kube_condition *condition(const struct evaluation *e, const char *type)
{
    return kube_condition_find(&e->conditions, str_of(type));
}

static bool is_true(const struct kube_condition *condition)
{
    return condition && condition->status == CONDITION_TRUE;
}

static struct str said(const struct kube_condition *condition)
{
    return condition->message.len ? condition->message : condition->reason;
}

/* --- how many there are of how many --- */

/* In the order in which they are looked at; the first that does not hold is the message. */
struct count_rule {
    const char *wanted; /* member of spec, or of status */
    bool wanted_in_status;
    const char *counted; /* member of status */
    bool at_most;        /* there may be fewer, and not more */
    const char *are;     /* what those that are counted are */
};

static const struct count_rule deployment_rules[] = {
    { "replicas", false, "replicas", false, "created" },
    { "replicas", false, "updatedReplicas", false, "updated" },
    { "replicas", false, "replicas", true, "" },
    { "updatedReplicas", true, "availableReplicas", false, "available" },
    { "replicas", false, "readyReplicas", false, "ready" },
};

static const struct count_rule stateful_set_rules[] = {
    { "replicas", false, "replicas", false, "created" },
    { "replicas", false, "readyReplicas", false, "ready" },
    { "replicas", false, "replicas", true, "" },
};

static const struct count_rule daemon_set_rules[] = {
    { "desiredNumberScheduled", true, "currentNumberScheduled", false, "created" },
    { "desiredNumberScheduled", true, "updatedNumberScheduled", false, "updated" },
    { "desiredNumberScheduled", true, "numberAvailable", false, "available" },
    { "desiredNumberScheduled", true, "numberReady", false, "ready" },
};

static struct str few(const struct evaluation *e, int64_t count, int64_t wanted, const char *are)
{
    return str_fmt(e->arena, "%lld of %lld replica%s %s %s", (long long)count, (long long)wanted,
                   wanted == 1 ? "" : "s", wanted == 1 ? "is" : "are", are);
}

static struct object_status count(const struct evaluation *e, const struct count_rule *rules,
                                  size_t rule_count)
{
    for (size_t i = 0; i < rule_count; i++) {
        const struct count_rule *rule = &rules[i];
        int64_t wanted = rule->wanted_in_status ? number(e->status, rule->wanted, 0)
                                                : number(e->spec, rule->wanted, 1);
        int64_t counted = number(e->status, rule->counted, 0);

        if (rule->at_most && counted > wanted)
            return in_progress(str_fmt(e->arena, "%lld surplus replicas are terminating",
                                       (long long)(counted - wanted)));
        if (!rule->at_most && counted < wanted)
            return in_progress(few(e, counted, wanted, rule->are));
    }
    return current();
}

#define COUNT(e, rules) count((e), (rules), sizeof(rules) / sizeof((rules)[0]))

/* --- kinds --- */

static struct object_status deployment(const struct evaluation *e)
{
    const struct kube_condition *progressing = condition(e, "Progressing");
    /* Without a deadline the condition is not kept up to date. */
    bool rolled_out =
        number(e->spec, "progressDeadlineSeconds", NO_DEADLINE) == NO_DEADLINE ||
        (is_true(progressing) && str_eq(progressing->reason, STR("NewReplicaSetAvailable")));
    struct object_status counted = COUNT(e, deployment_rules);

    if (progressing && str_eq(progressing->reason, STR("ProgressDeadlineExceeded"))) {
        if (counted.state == OBJECT_CURRENT)
            return failed(said(progressing));
        return failed(
            str_fmt(e->arena, "%.*s: the progress deadline is exceeded", STR_ARG(counted.message)));
    }
    if (counted.state != OBJECT_CURRENT)
        return counted;
    if (!rolled_out)
        return in_progress(STR("its new ReplicaSet is not available"));
    if (!is_true(condition(e, "Available")))
        return in_progress(STR("it is not available"));
    return current();
}

static struct object_status stateful_set(const struct evaluation *e)
{
    struct json strategy = json_get(e->spec, STR("updateStrategy"));
    int64_t partition = number(json_get(strategy, STR("rollingUpdate")), "partition", -1);
    int64_t updated = number(e->status, "updatedReplicas", 0);
    int64_t replicas = number(e->spec, "replicas", 1);
    struct object_status counted;

    /* Its pods are updated by whoever deletes them. */
    if (str_eq(json_str(json_get(strategy, STR("type"))), STR("OnDelete")))
        return current();
    counted = COUNT(e, stateful_set_rules);
    if (counted.state != OBJECT_CURRENT)
        return counted;
    if (partition != -1)
        return updated < replicas - partition
                   ? in_progress(few(e, updated, replicas - partition, "updated"))
                   : current();
    if (number(e->status, "currentReplicas", 0) < replicas ||
        !str_eq(json_str(json_get(e->status, STR("currentRevision"))),
                json_str(json_get(e->status, STR("updateRevision")))))
        return in_progress(few(e, updated, replicas, "updated"));
    return current();
}

static struct object_status daemon_set(const struct evaluation *e)
{
    if (number(e->status, "observedGeneration", -1) < 0 ||
        number(e->status, "desiredNumberScheduled", -1) < 0)
        return in_progress(STR("its controller has not seen it"));
    return COUNT(e, daemon_set_rules);
}

static struct object_status job(const struct evaluation *e)
{
    const struct kube_condition *ended = condition(e, "Failed");

    if (is_true(condition(e, "Complete")))
        return current();
    if (is_true(ended))
        return failed(said(ended));
    if (!json_str(json_get(e->status, STR("startTime"))).len)
        return in_progress(STR("it has not started"));
    return current();
}

static struct object_status claim(const struct evaluation *e)
{
    struct str phase = json_str(json_get(e->status, STR("phase")));

    if (str_eq(phase, STR("Bound")))
        return current();
    return in_progress(str_fmt(e->arena, "it is not bound: phase %.*s",
                               STR_ARG(phase.len ? phase : STR("unknown"))));
}

static struct object_status service(const struct evaluation *e)
{
    if (str_eq(json_str(json_get(e->spec, STR("type"))), STR("LoadBalancer")) &&
        !json_str(json_get(e->spec, STR("clusterIP"))).len)
        return in_progress(STR("it has no cluster IP"));
    return current();
}

static struct object_status always_current(const struct evaluation *e)
{
    (void)e;
    return current();
}

static struct object_status by_ready(const struct evaluation *e)
{
    const struct kube_condition *ready = condition(e, "Ready");

    return ready && !is_true(ready) ? in_progress(said(ready)) : current();
}

static const struct kind_rule {
    const char *group, *kind;
    struct object_status (*status_of)(const struct evaluation *e);
} kind_rules[] = {
    { "apps", "Deployment", deployment },   { "apps", "StatefulSet", stateful_set },
    { "apps", "DaemonSet", daemon_set },    { "batch", "Job", job },
    { "", "PersistentVolumeClaim", claim }, { "", "Service", service },
    { "", "ConfigMap", always_current },    { "", "Secret", always_current },
};

static struct object_status of_kind(const struct evaluation *e)
{
    struct str api_version = json_str(json_get(e->object, STR("apiVersion")));
    struct str kind = json_str(json_get(e->object, STR("kind")));
    struct str group = STR("");

    if (str_find(api_version, STR("/"), 0) >= 0)
        str_split(&api_version, '/', &group);
    for (size_t i = 0; i < sizeof(kind_rules) / sizeof(kind_rules[0]); i++)
        if (str_eq(kind, str_of(kind_rules[i].kind)) && str_eq(group, str_of(kind_rules[i].group)))
            return kind_rules[i].status_of(e);
    return by_ready(e);
}

struct object_status object_status_of(struct arena *arena, struct json object)
{
    struct json metadata = json_get(object, STR("metadata"));
    struct evaluation e = {
        arena, object, json_get(object, STR("spec")), json_get(object, STR("status")),
        kube_conditions_read(arena, json_walk(object, "status", "conditions", NULL))
    };
    int64_t generation = 0;
    int64_t observed = 0;

    if (json_str(json_get(metadata, STR("deletionTimestamp"))).len)
        return (struct object_status){ OBJECT_TERMINATING, STR("it is being deleted") };
    if (json_int64(json_get(metadata, STR("generation")), &generation) &&
        json_int64(json_get(e.status, STR("observedGeneration")), &observed) &&
        generation != observed)
        return in_progress(
            str_fmt(arena, "generation %lld is not observed yet", (long long)generation));
    for (uint32_t i = 0; i < e.conditions.count; i++) {
        const struct kube_condition *one = &e.conditions.items[i];

        if (is_true(one) && str_eq(one->type, STR("Reconciling")))
            return in_progress(said(one));
        if (is_true(one) && str_eq(one->type, STR("Stalled")))
            return failed(said(one));
    }
    return of_kind(&e);
}
