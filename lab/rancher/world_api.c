/* SPDX-License-Identifier: Apache-2.0 */
/* world_api.c: objects of a cluster, wherever it is: in the lab's own store, or behind a real API
 * server. All that the simulation knows of a cluster goes through here. */
#include "lab/rancher/inside.h"

#include "kube/request.h"
#include "lab/downstream/remote.h"

enum { PAGE = 500 };

static struct remote *remote_of(const struct simulation *simulation, struct str cluster)
{
    return downstream_of(simulation->downstream, cluster);
}

static struct kube_request request_for(enum kube_verb verb, const struct kube_resource *resource,
                                       struct str namespace_, struct str name)
{
    return (struct kube_request){
        .verb = verb,
        .resource = *resource,
        .namespace_ = resource->namespaced ? namespace_ : STR(""),
        .name = name,
    };
}

int world_get(struct simulation *simulation, struct arena *arena, struct str cluster,
              const struct kube_resource *resource, struct str namespace_, struct str name,
              struct str *ret_object, struct error *err)
{
    struct remote *remote = remote_of(simulation, cluster);
    struct kube_request request = request_for(KUBE_GET, resource, namespace_, name);

    if (!remote)
        return api_get(simulation->api, arena, cluster, resource, namespace_, name, ret_object,
                       err);
    return remote_call(remote, arena, &request, ret_object, err);
}

int world_create(struct simulation *simulation, struct arena *arena, struct str cluster,
                 const struct kube_resource *resource, struct str namespace_, struct str object,
                 struct str *ret_object, struct error *err)
{
    struct remote *remote = remote_of(simulation, cluster);
    struct kube_request request = request_for(KUBE_CREATE, resource, namespace_, STR(""));

    if (!remote)
        return api_create_object(simulation->api, arena, cluster, resource, namespace_, object,
                                 ret_object, err);
    request.body = object;
    return remote_call(remote, arena, &request, ret_object, err);
}

int world_update(struct simulation *simulation, struct arena *arena, struct str cluster,
                 const struct kube_resource *resource, struct str namespace_, struct str name,
                 struct str object, struct str *ret_object, struct error *err)
{
    struct remote *remote = remote_of(simulation, cluster);
    struct kube_request request = request_for(KUBE_UPDATE, resource, namespace_, name);

    if (!remote)
        return api_update_object(simulation->api, arena, cluster, resource, namespace_, name,
                                 STR(""), object, ret_object, err);
    request.body = object;
    return remote_call(remote, arena, &request, ret_object, err);
}

int world_merge(struct simulation *simulation, struct arena *arena, struct str cluster,
                const struct kube_resource *resource, struct str namespace_, struct str name,
                struct str sub_resource, struct str patch, struct str *ret_object,
                struct error *err)
{
    struct remote *remote = remote_of(simulation, cluster);
    struct kube_request request = request_for(KUBE_PATCH, resource, namespace_, name);

    if (!remote)
        return api_merge_object(simulation->api, arena, cluster, resource, namespace_, name,
                                sub_resource, patch, ret_object, err);
    request.sub_resource = sub_resource;
    request.patch_type = KUBE_PATCH_MERGE;
    request.body = patch;
    return remote_call(remote, arena, &request, ret_object, err);
}

int world_delete(struct simulation *simulation, struct arena *arena, struct str cluster,
                 const struct kube_resource *resource, struct str namespace_, struct str name,
                 struct error *err)
{
    struct remote *remote = remote_of(simulation, cluster);
    struct kube_request request = request_for(KUBE_DELETE, resource, namespace_, name);
    struct str answer;

    if (!remote)
        return api_delete_object(simulation->api, arena, cluster, resource, namespace_, name, err);
    request.propagation_policy = STR("Background");
    return remote_call(remote, arena, &request, &answer, err);
}

int world_list(struct simulation *simulation, struct arena *arena, struct str cluster,
               const struct kube_resource *resource, struct str namespace_,
               bool (*each)(void *context, struct str object), void *context, struct error *err)
{
    struct remote *remote = remote_of(simulation, cluster);
    struct kube_request request = request_for(KUBE_LIST, resource, namespace_, STR(""));

    if (!remote)
        return api_list(simulation->api, arena, cluster, resource, namespace_, each, context, err);
    request.limit = PAGE;
    for (;;) {
        struct str body = STR("");
        struct json list;

        if (remote_call(remote, arena, &request, &body, err) != 0 ||
            json_read(arena, body, &json_limits_default, &list, err) != 0)
            return -1;

        struct json_iter it = json_iter(json_get(list, STR("items")));

        while (json_next(&it))
            if (!each(context, json_raw(it.value)))
                return 0;
        request.continue_ = json_str(json_walk(list, "metadata", "continue", NULL));
        if (!request.continue_.len)
            return 0;
    }
}
