/* SPDX-License-Identifier: Apache-2.0 */
/* management_cluster.c: Connected decides whether a cluster is called, Ready whether it is used.
 * Source: rancher/rancher v2.14 pkg/apis/management.cattle.io/v3. */
#include "controller/clusters/management_cluster.h"

#include "kube/condition.h"
#include "text/json_write.h"

enum {
    SHOWN_BYTES_MAX = 400, /* of somebody else's words in a status */
    SIZE_BYTES_MAX = 256,
};

const struct kube_resource management_cluster_resource =
    KUBE_RESOURCE_INIT("management.cattle.io", "v3", "clusters", "Cluster", false);

static bool condition_is(const struct kube_condition *condition, enum condition_status status)
{
    return condition && condition->status == status;
}

static struct str condition_text(struct arena *arena, const struct kube_condition *condition)
{
    struct str message = condition ? str_trim(condition->message) : STR("");

    if (message.len == 0 && condition)
        message = condition->reason;
    return str_shown(arena, message, SHOWN_BYTES_MAX);
}

/* What counters Rancher writes on its own; GPUs are not among them (docs/protocols/rancher.md). */
static struct str size_of(struct arena *arena, struct json object)
{
    struct json count = json_walk(object, "status", "nodeCount", NULL);
    struct json capacity = json_walk(object, "status", "capacity", NULL);

    return str_fmt(arena, "%.*s %.*s", STR_ARG(str_slice(json_raw(count), 0, SIZE_BYTES_MAX)),
                   STR_ARG(str_slice(json_raw(capacity), 0, SIZE_BYTES_MAX)));
}

static struct management_cluster read_object(struct arena *arena, struct json object)
{
    struct kube_conditions conditions =
        kube_conditions_read(arena, json_walk(object, "status", "conditions", NULL));
    const struct kube_condition *ready = kube_condition_find(&conditions, STR("Ready"));
    const struct kube_condition *connected = kube_condition_find(&conditions, STR("Connected"));
    struct management_cluster read = {
        .display_name = json_str(json_walk(object, "spec", "displayName", NULL)),
        .labels = json_walk(object, "metadata", "labels", NULL),
        .size = size_of(arena, object),
        .internal = json_bool(json_walk(object, "spec", "internal", NULL)),
        .disconnected = condition_is(connected, CONDITION_FALSE),
        .message = STR(""),
    };

    read.usable = condition_is(ready, CONDITION_TRUE) && !read.disconnected;
    if (!read.usable) {
        bool tells = !read.disconnected || condition_is(ready, CONDITION_FALSE);

        read.message = condition_text(arena, tells ? ready : connected);
        if (read.message.len == 0)
            read.message =
                read.disconnected ? STR("its agent is not connected") : STR("it is not Ready");
    }
    return read;
}

bool management_cluster_keep(void *context, struct json object, struct strbuf *kept)
{
    struct management_cluster read = read_object(kept->arena, object);
    struct json_writer w = json_writer(kept);

    (void)context;
    json_open_object(&w);
    json_field_str(&w, "name", read.display_name);
    json_field_str(&w, "size", read.size);
    json_field_bool(&w, "internal", read.internal);
    json_field_bool(&w, "disconnected", read.disconnected);
    json_field_bool(&w, "usable", read.usable);
    json_field_str(&w, "message", read.message);
    json_put_key(&w, STR("labels"));
    json_put_raw(&w, json_is(read.labels, JSON_OBJECT) ? json_raw(read.labels) : STR("{}"));
    json_close_object(&w);
    return true;
}

void management_cluster_kept(struct arena *arena, struct str kept,
                             struct management_cluster *ret_cluster)
{
    struct error ignored = { .code = ERROR_NONE };
    struct json root = { NULL, 0 };

    /* Our own writing: it can only fail if nothing was kept, and then all members are absent. */
    json_read(arena, kept, &json_limits_default, &root, &ignored);
    *ret_cluster = (struct management_cluster){
        .display_name = json_str(json_get(root, STR("name"))),
        .labels = json_get(root, STR("labels")),
        .size = json_str(json_get(root, STR("size"))),
        .internal = json_bool(json_get(root, STR("internal"))),
        .disconnected = json_bool(json_get(root, STR("disconnected"))),
        .usable = json_bool(json_get(root, STR("usable"))),
        .message = json_str(json_get(root, STR("message"))),
    };
}
