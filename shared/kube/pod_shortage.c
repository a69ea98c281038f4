/* SPDX-License-Identifier: Apache-2.0 */
/* pod_shortage.c: see pod_shortage.h. */
#include "kube/pod_shortage.h"

#include "base/map.h"
#include "base/memory.h"
#include "kube/limits.h"

enum { CAUSE_BYTES_MAX = 512, SECONDS_LEN = sizeof("2026-01-01T00:00:00") - 1 };

/* --- who lacks pods --- */

static int64_t number(struct json object, const char *key, int64_t otherwise)
{
    int64_t value = otherwise;

    json_int64(json_get(object, str_of(key)), &value);
    return value;
}

/* Its controller has seen the spec, and made what it could. */
static bool stateful_set_lacks(struct json object)
{
    struct json status = json_get(object, STR("status"));
    int64_t generation = number(json_get(object, STR("metadata")), "generation", 0);

    return number(status, "observedGeneration", -1) >= generation &&
           number(status, "replicas", 0) < number(json_get(object, STR("spec")), "replicas", 1);
}

static bool job_lacks(struct json object)
{
    struct json spec = json_get(object, STR("spec")), status = json_get(object, STR("status"));
    int64_t wanted = number(spec, "parallelism", 1);
    int64_t left = number(spec, "completions", wanted) - number(status, "succeeded", 0);

    return json_str(json_get(status, STR("startTime"))).len &&
           number(status, "active", 0) < (left < wanted ? left : wanted);
}

static const struct maker {
    const char *group, *kind;
    bool (*lacks)(struct json object);
} makers[] = {
    { "apps", "StatefulSet", stateful_set_lacks },
    { "batch", "Job", job_lacks },
};

static const struct maker *maker_find(struct str group, struct str kind)
{
    for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++)
        if (str_eq(group, str_of(makers[i].group)) && str_eq(kind, str_of(makers[i].kind)))
            return &makers[i];
    return NULL;
}

bool kube_tells_in_events(const struct kube_resource *resource)
{
    return maker_find(resource->group, resource->kind) != NULL;
}

bool kube_lacks_pods(struct json object)
{
    struct str version = json_str(json_get(object, STR("apiVersion"))), group;
    const struct maker *maker;

    str_split(&version, '/', &group);
    maker = maker_find(group, json_str(json_get(object, STR("kind"))));
    return maker && maker->lacks(object);
}

/* --- what Events say --- */

struct kube_request kube_shortage_request(struct arena *arena, const struct kube_resource *resource,
                                          struct str namespace_, struct str name)
{
    return (struct kube_request){
        .verb = KUBE_LIST,
        .resource = KUBE_RESOURCE_INIT("", "v1", "events", "Event", true),
        .namespace_ = namespace_,
        .field_selector = str_fmt(arena, "involvedObject.kind=%.*s,involvedObject.name=%.*s",
                                  STR_ARG(resource->kind), STR_ARG(name)),
        .limit = LIMIT_SHORTAGE_EVENTS,
    };
}

/* When it happened last, to the second, as text that sorts. */
static struct str time_of(struct json event)
{
    struct str last = json_str(json_get(event, STR("lastTimestamp")));

    if (!last.len)
        last = json_str(json_walk(event, "series", "lastObservedTime", NULL));
    if (!last.len)
        last = json_str(json_get(event, STR("eventTime")));
    return str_slice(last, 0, SECONDS_LEN);
}

/* client-go's, where several Events became one. */
static struct str message_of(struct json event)
{
    const struct str combined = STR("(combined from similar events): ");
    struct str message = json_str(json_get(event, STR("message")));

    return str_starts(message, combined) ? str_slice(message, combined.len, message.len) : message;
}

struct str kube_shortage_cause(struct arena *arena, struct str body)
{
    struct str failed = STR(""), made = STR(""), cause = STR("");
    struct error ignored;
    struct json list;
    struct json_iter it;

    if (json_read(arena, str_dup(arena, body), &json_limits_default, &list, &ignored) < 0)
        return STR("");
    it = json_iter(json_get(list, STR("items")));
    while (json_next(&it)) {
        struct str reason = json_str(json_get(it.value, STR("reason")));
        struct str time = time_of(it.value);

        if (str_eq(reason, STR("SuccessfulCreate")) && str_cmp(time, made) > 0)
            made = time;
        if (str_eq(reason, STR("FailedCreate")) && str_cmp(time, failed) >= 0) {
            failed = time;
            cause = message_of(it.value);
        }
    }
    /* In one second some are made, and then one fails. */
    return str_cmp(failed, made) < 0 ? STR("") : str_shown(arena, cause, CAUSE_BYTES_MAX);
}

/* --- who is looked at when --- */

struct shortage {
    bool lacks;     /* pods, when its owner was looked at last */
    int64_t due_ms; /* not before */
    char *cause;    /* NULL: not known */
};

struct pod_shortages {
    struct dict *of_owner;
};

static void shortage_free(struct shortage *shortage)
{
    if (shortage)
        mem_free(shortage->cause);
    mem_free(shortage);
}

struct pod_shortages *pod_shortages_create(void)
{
    struct pod_shortages *shortages = mem_new(struct pod_shortages);

    shortages->of_owner = dict_create();
    return shortages;
}

void pod_shortages_free(struct pod_shortages *shortages)
{
    struct str key;
    void *shortage;

    if (!shortages)
        return;
    for (size_t cursor = 0; dict_next(shortages->of_owner, &cursor, &key, &shortage);)
        shortage_free(shortage);
    dict_free(shortages->of_owner);
    mem_free(shortages);
}

void pod_shortages_forget(struct pod_shortages *shortages, struct str owner)
{
    shortage_free(dict_remove(shortages->of_owner, owner));
}

bool pod_shortages_step(struct pod_shortages *shortages, struct str owner, bool lacks,
                        int64_t now_ms, int64_t *ret_again_ms)
{
    struct shortage *shortage = dict_get(shortages->of_owner, owner);
    bool due;

    if (!shortage) {
        shortage = mem_new(struct shortage);
        shortage->due_ms = now_ms;
        dict_set(shortages->of_owner, owner, shortage);
    } else if (lacks && !shortage->lacks && shortage->due_ms < now_ms + LIMIT_SHORTAGE_GRACE) {
        shortage->due_ms = now_ms + LIMIT_SHORTAGE_GRACE;
    }
    shortage->lacks = lacks;
    *ret_again_ms = -1;
    if (!lacks) {
        pod_shortages_set(shortages, owner, STR(""));
        return false;
    }
    due = now_ms >= shortage->due_ms;
    if (due)
        shortage->due_ms = now_ms + LIMIT_SHORTAGE_PAUSE;
    *ret_again_ms = shortage->due_ms - now_ms;
    return due;
}

void pod_shortages_set(struct pod_shortages *shortages, struct str owner, struct str cause)
{
    struct shortage *shortage = dict_get(shortages->of_owner, owner);

    if (!shortage)
        return;
    mem_free(shortage->cause);
    shortage->cause = cause.len ? mem_copy(cause.at, cause.len) : NULL;
}

struct str pod_shortages_cause(const struct pod_shortages *shortages, struct str owner)
{
    const struct shortage *shortage = dict_get(shortages->of_owner, owner);

    return shortage && shortage->cause ? str_of(shortage->cause) : STR("");
}
