/* SPDX-License-Identifier: Apache-2.0 */
/* release_pods.c: owner references, and the statuses that kubelets write. */
#include "controller/backends/release_pods.h"

#include "controller/limits.h"
#include "kube/request.h"

struct str release_pods_path(struct arena *arena, struct str namespace_, struct str continue_)
{
    const struct kube_request list = {
        .verb = KUBE_LIST,
        .resource = KUBE_RESOURCE_INIT("", "v1", "pods", "Pod", true),
        .namespace_ = namespace_,
        .limit = LIMIT_PODS_LOOKED_AT,
        .continue_ = continue_,
    };

    return kube_request_path(arena, &list);
}

static struct json controller_of(struct json meta)
{
    struct json_iter it = json_iter(json_get(meta, STR("ownerReferences")));

    while (json_next(&it))
        if (json_bool(json_get(it.value, STR("controller"))))
            return it.value;
    return (struct json){ NULL, 0 };
}

/* "web-5d4f8" is a ReplicaSet of the Deployment "web". */
static struct str without_hash(struct str name)
{
    size_t end = name.len;

    while (end && name.at[end - 1] != '-')
        end--;
    return str_slice(name, 0, end ? end - 1 : 0);
}

struct str release_pod_workload(struct arena *arena, struct json pod)
{
    struct json meta = json_get(pod, STR("metadata"));
    struct json owner = controller_of(meta);
    struct str kind = json_str(json_get(owner, STR("kind")));
    struct str name = json_str(json_get(owner, STR("name")));

    if (str_eq(kind, STR("ReplicaSet"))) {
        kind = STR("Deployment");
        name = without_hash(name);
    }
    if (!kind.len || !name.len)
        return STR("");
    return str_fmt(arena, "%.*s/%.*s/%.*s", STR_ARG(kind),
                   STR_ARG(json_str(json_get(meta, STR("namespace")))), STR_ARG(name));
}

/* "containerd://4f1e..." */
static struct str id_of(struct json status)
{
    struct str id = json_str(json_get(status, STR("containerID")));
    ptrdiff_t scheme = str_find(id, STR("://"), 0);

    return scheme < 0 ? id : str_slice(id, (size_t)scheme + 3, id.len);
}

static bool runs(struct json status)
{
    struct json state = json_get(status, STR("state"));

    return json_is(json_get(state, STR("waiting")), JSON_ABSENT) &&
           json_is(json_get(state, STR("terminated")), JSON_ABSENT) && id_of(status).len;
}

static void read_pod(struct json pod, struct release_containers *to)
{
    static const char *const lists[] = { "initContainerStatuses", "containerStatuses",
                                         "ephemeralContainerStatuses" };
    struct str workload = release_pod_workload(to->arena, pod);

    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        struct json_iter it = json_iter(json_walk(pod, "status", lists[i], NULL));

        while (json_next(&it))
            if (runs(it.value))
                release_containers_push(
                    to, (struct release_container){
                            .workload = workload,
                            .id = id_of(it.value),
                            .image = json_str(json_get(it.value, STR("image"))),
                            .image_id = json_str(json_get(it.value, STR("imageID"))),
                        });
    }
}

void release_containers_read(struct json pods, struct release_containers *to)
{
    struct json_iter it = json_iter(json_get(pods, STR("items")));

    while (json_next(&it))
        if (!json_is(json_walk(it.value, "metadata", "deletionTimestamp", NULL), JSON_STRING))
            read_pod(it.value, to);
}

bool release_has_workload(struct str workloads, struct str workload)
{
    struct str one;

    while (workload.len && str_split(&workloads, ' ', &one))
        if (str_eq(one, workload))
            return true;
    return false;
}

void release_namespaces(struct str workloads, struct str_list *to)
{
    struct str one, part;

    while (str_split(&workloads, ' ', &one))
        if (str_split(&one, '/', &part) && str_split(&one, '/', &part) && part.len &&
            !str_list_has(to, part))
            str_list_push(to, part);
}
