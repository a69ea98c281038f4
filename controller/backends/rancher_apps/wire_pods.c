/* SPDX-License-Identifier: Apache-2.0 */
/* wire_pods.c: what pods say about why they are not ready (core/v1 PodStatus).
 *
 * The kubelet tells of containers in containerStatuses[].state.waiting, the scheduler of pods that
 * fit nowhere in the condition PodScheduled. Pods of one cause are told once, with their number. */
#include "controller/backends/rancher_apps/wire.h"

enum { CAUSE_BYTES_MAX = 300, CAUSES_MAX = 3 };

struct cause {
    struct str pod; /* the first */
    struct str text;
    uint32_t count;
};

struct causes {
    struct arena *arena;
    struct cause items[CAUSES_MAX];
    uint32_t count;
    uint32_t more; /* pods of other causes */
};

static void add(struct causes *causes, struct str pod, struct str text)
{
    for (uint32_t i = 0; i < causes->count; i++)
        if (str_eq(causes->items[i].text, text)) {
            causes->items[i].count++;
            return;
        }
    if (causes->count == CAUSES_MAX)
        causes->more++;
    else
        causes->items[causes->count++] = (struct cause){ pod, text, 1 };
}

/* Reasons with which a container begins: they pass. */
static bool passes(struct str reason)
{
    return !reason.len || str_eq(reason, STR("ContainerCreating")) ||
           str_eq(reason, STR("PodInitializing"));
}

/* "ImagePullBackOff: Back-off pulling image "x"". */
static struct str of_container(struct arena *arena, struct json status)
{
    struct json waiting = json_walk(status, "state", "waiting", NULL);
    struct json ended = json_walk(status, "state", "terminated", NULL);
    struct str reason = json_str(json_get(waiting, STR("reason")));
    struct str message = json_str(json_get(waiting, STR("message")));
    int64_t code = 0;

    if (json_int64(json_get(ended, STR("exitCode")), &code) && code) {
        reason = json_str(json_get(ended, STR("reason")));
        return str_fmt(arena, "%.*s: exit code %lld", STR_ARG(reason.len ? reason : STR("Error")),
                       (long long)code);
    }
    if (passes(reason))
        return STR("");
    return message.len ? str_fmt(arena, "%.*s: %.*s", STR_ARG(reason), STR_ARG(message)) : reason;
}

static struct str of_containers(struct arena *arena, struct json status)
{
    static const char *const lists[] = { "initContainerStatuses", "containerStatuses" };

    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        struct json_iter it = json_iter(json_get(status, str_of(lists[i])));

        while (json_next(&it)) {
            struct str text = of_container(arena, it.value);

            if (text.len)
                return text;
        }
    }
    return STR("");
}

/* Its first sentence; what follows is about preemption. */
static struct str of_scheduler(struct json status)
{
    struct json_iter it = json_iter(json_get(status, STR("conditions")));

    while (json_next(&it)) {
        struct str message = json_str(json_get(it.value, STR("message")));
        ptrdiff_t end = str_find(message, STR(". "), 0);

        if (!str_eq(json_str(json_get(it.value, STR("type"))), STR("PodScheduled")) ||
            !str_eq(json_str(json_get(it.value, STR("status"))), STR("False")))
            continue;
        if (end < 0 && str_ends(message, STR(".")))
            end = (ptrdiff_t)message.len - 1;
        return end < 0 ? message : str_slice(message, 0, (size_t)end);
    }
    return STR("");
}

static bool is_of(struct json pod, struct str release)
{
    struct json meta = json_get(pod, STR("metadata"));
    struct json instance = json_walk(meta, "labels", "app.kubernetes.io/instance", NULL);
    struct str name = json_str(json_get(meta, STR("name")));

    if (json_is(instance, JSON_STRING))
        return str_eq(json_str(instance), release);
    return str_starts(name, release) && name.len > release.len && name.at[release.len] == '-';
}

static void validate(struct causes *causes, struct json pod)
{
    struct json status = json_get(pod, STR("status"));
    struct str name = json_str(json_walk(pod, "metadata", "name", NULL));
    struct str text = of_containers(causes->arena, status);

    if (!text.len)
        text = of_scheduler(status);
    if (text.len && !str_eq(json_str(json_get(status, STR("phase"))), STR("Succeeded")))
        add(causes, name, str_shown(causes->arena, text, CAUSE_BYTES_MAX));
}

struct str wire_pods_cause(struct arena *arena, struct json pods, struct str release)
{
    struct json_iter it = json_iter(json_get(pods, STR("items")));
    struct strbuf out = strbuf_new(arena, 256);
    struct causes causes = { .arena = arena };

    while (json_next(&it))
        if (is_of(it.value, release))
            validate(&causes, it.value);
    for (uint32_t i = 0; i < causes.count; i++) {
        const struct cause *cause = &causes.items[i];

        strbuf_put(&out, i ? STR("; ") : STR(""));
        if (cause->count > 1)
            strbuf_fmt(&out, "%u pods such as ", cause->count);
        else
            strbuf_lit(&out, "pod ");
        strbuf_fmt(&out, "%.*s: %.*s", STR_ARG(str_shown(arena, cause->pod, 253)),
                   STR_ARG(cause->text));
    }
    if (causes.more)
        strbuf_fmt(&out, "; and %u more", causes.more);
    return strbuf_str(&out);
}
