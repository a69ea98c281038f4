/* SPDX-License-Identifier: Apache-2.0 */
/* pod.c: what a pod says about why it is not ready (core/v1 PodStatus).
 *
 * The kubelet tells of containers in containerStatuses[].state.waiting, the scheduler of pods that
 * fit nowhere in the condition PodScheduled. */
#include "kube/pod.h"

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

struct str pod_cause(struct arena *arena, struct json pod)
{
    struct json status = json_get(pod, STR("status"));
    struct str text = of_containers(arena, status);

    if (!text.len)
        text = of_scheduler(status);
    return str_eq(json_str(json_get(status, STR("phase"))), STR("Succeeded")) ? STR("") : text;
}
