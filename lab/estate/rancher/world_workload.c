/* world_workload.c: the objects that a release makes in its cluster, and whether they fit there. */
#include "lab/estate/rancher/inside.h"
#include "lab/estate/rancher/workload.h"

#include "lab/estate/jsonf.h"
#include "text/time.h"

int world_make_namespace(struct estate *estate, struct arena *arena, struct str cluster,
                         struct str name, struct error *err)
{
    struct str stored;
    struct error ignored = { 0 };

    if (world_get(estate, arena, cluster, &res_namespaces, STR(""), name, &stored, &ignored) ==
        0)
        return 0;
    return world_ensure(estate, arena, cluster, &res_namespaces, STR(""),
                        jsonf(arena,
                              "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':%s}}",
                              name),
                        err);
}

/* What the task's chart makes; false if it makes nothing that runs. */
static bool workload_of_task(struct arena *arena, const struct task *task,
                             struct workload *ret_workload)
{
    struct error ignored;
    struct json values = { 0 };

    for (uint32_t i = 0; i < catalogue_chart_count(); i++) {
        const struct catalogue_chart *chart = catalogue_chart_at(i);

        if (!str_eq(chart->name, task->chart) || !str_eq(chart->version, task->version))
            continue;
        if (task->values.len &&
            json_read(arena, task->values, &json_limits_default, &values, &ignored) != 0)
            return false;
        *ret_workload = workload_of(chart, values);
        ret_workload->release = task->release;
        ret_workload->namespace_ = task->namespace_;
        return ret_workload->image.len > 0;
    }
    return false;
}

/* ---- room ------------------------------------------------------------------------------------ */

struct room {
    struct arena *arena;
    int64_t gpus;
    struct str_list nodes;
    struct str own_namespace, own_name; /* of the Deployment that does not count */
};

static bool add_node(void *context, struct str object)
{
    struct room *room = context;
    struct error ignored;
    struct json node;

    if (json_read(room->arena, object, &json_limits_default, &node, &ignored) == 0) {
        room->gpus += workload_gpus_of_node(node);
        str_list_push(&room->nodes,
                      str_dup(room->arena, json_str(json_walk(node, "metadata", "name", NULL))));
    }
    return true;
}

static bool take_deployment(void *context, struct str object)
{
    struct room *room = context;
    struct error ignored;
    struct json root;
    uint64_t gpus;

    if (json_read(room->arena, object, &json_limits_default, &root, &ignored) != 0)
        return true;

    struct json meta = json_get(root, STR("metadata"));
    int64_t ready = 0;

    /* Who waits for room himself holds none. */
    if (!json_int64(json_walk(root, "status", "readyReplicas", NULL), &ready) || ready == 0)
        return true;
    if ((!str_eq(json_str(json_get(meta, STR("name"))), room->own_name) ||
         !str_eq(json_str(json_get(meta, STR("namespace"))), room->own_namespace)) &&
        str_to_u64(json_str(json_walk(meta, "annotations", WORKLOAD_GPU_ANNOTATION, NULL)), &gpus))
        room->gpus -= (int64_t)gpus;
    return true;
}

static struct room room_of(struct estate *estate, struct arena *arena, const struct task *task)
{
    struct room room = { .arena = arena,
                         .nodes = str_list_new(arena, 4),
                         .own_namespace = task->namespace_,
                         .own_name = task->release };
    struct error err = { 0 };

    api_list(estate->api, arena, task->cluster, &res_nodes, STR(""), add_node, &room, &err);
    return room;
}

bool world_fits(struct estate *estate, struct arena *arena, const struct task *task)
{
    struct workload workload;
    struct error err = { 0 };

    if (!workload_of_task(arena, task, &workload) || !workload.gpus || !workload.replicas)
        return true;

    struct room room = room_of(estate, arena, task);

    if (!task->instant)
        api_list(estate->api, arena, task->cluster, &res_deployments, STR(""), take_deployment,
                 &room, &err);
    return workload.gpus * workload.replicas <= room.gpus;
}

/* ---- objects --------------------------------------------------------------------------------- */

struct pods {
    struct arena *arena;
    struct str release;
    struct str_list names;
};

static bool add_pod(void *context, struct str object)
{
    struct pods *pods = context;
    struct error ignored;
    struct json root;

    if (json_read(pods->arena, object, &json_limits_default, &root, &ignored) == 0 &&
        str_eq(json_str(json_walk(root, "metadata", "labels", "app.kubernetes.io/instance", NULL)),
               pods->release))
        str_list_push(&pods->names,
                      str_dup(pods->arena, json_str(json_walk(root, "metadata", "name", NULL))));
    return true;
}

/* Pods of the release that `keep` does not name. */
static void remove_pods(struct estate *estate, struct arena *arena, const struct task *task,
                        const struct str_list *keep)
{
    struct pods pods = { arena, task->release, str_list_new(arena, 4) };
    struct error err = { 0 };

    api_list(estate->api, arena, task->cluster, &res_pods, task->namespace_, add_pod, &pods, &err);
    for (uint32_t i = 0; i < pods.names.count; i++)
        if (!str_list_has(keep, pods.names.items[i]))
            api_delete_object(estate->api, arena, task->cluster, &res_pods, task->namespace_,
                              pods.names.items[i], &err);
}

static void write_pods(struct estate *estate, struct arena *arena, const struct task *task,
                       const struct workload *workload, bool ready)
{
    struct room room = room_of(estate, arena, task);
    struct str_list names = str_list_new(arena, 4);
    struct str now = time_rfc3339(arena, estate_now(estate));
    bool scheduled = ready || workload->gpus == 0 || world_fits(estate, arena, task);
    struct error err = { 0 };
    struct str stored;

    for (int64_t i = 0; i < workload->replicas && i < WORKLOAD_PODS_MAX; i++) {
        struct str node = room.nodes.count && scheduled
                              ? room.nodes.items[(uint32_t)i % room.nodes.count]
                              : STR("");
        struct str name = workload_pod_name(arena, workload, i);

        str_list_push(&names, name);
        world_ensure(estate, arena, task->cluster, &res_pods, task->namespace_,
                     workload_pod(arena, workload, i, node), &err);
        api_merge_object(estate->api, arena, task->cluster, &res_pods, task->namespace_, name,
                         STR("status"),
                         workload_pod_status(arena, workload, scheduled, ready, now), &stored,
                         &err);
    }
    remove_pods(estate, arena, task, &names);
}

void world_workload(struct estate *estate, struct arena *arena, const struct task *task,
                    bool ready)
{
    struct workload workload;
    struct error err = { 0 };
    struct str stored;

    /* An instant lab is for counting releases: it has no time for pods. */
    if (task->instant || !workload_of_task(arena, task, &workload))
        return;

    struct str deployment = workload_deployment(arena, &workload);

    if (api_create_object(estate->api, arena, task->cluster, &res_deployments, task->namespace_,
                          deployment, &stored, &err) != 0 &&
        (err.code != ERROR_ALREADY_EXISTS ||
         api_merge_object(estate->api, arena, task->cluster, &res_deployments, task->namespace_,
                          task->release, STR(""), deployment, &stored, &err) != 0))
        log_warn(estate->log, "workload not written", LOG_STR("cluster", task->cluster),
                 LOG_STR("release", task->release), LOG_Z("error", err.text));
    api_merge_object(estate->api, arena, task->cluster, &res_deployments, task->namespace_,
                     task->release, STR("status"),
                     workload_status(arena, &workload, ready,
                                     time_rfc3339(arena, estate_now(estate))),
                     &stored, &err);
    write_pods(estate, arena, task, &workload, ready);
}

void world_remove_workload(struct estate *estate, struct arena *arena, const struct task *task)
{
    struct str_list none = str_list_new(arena, 0);
    struct error err = { 0 };

    if (task->instant)
        return;
    api_delete_object(estate->api, arena, task->cluster, &res_deployments, task->namespace_,
                      task->release, &err);
    remove_pods(estate, arena, task, &none);
}
