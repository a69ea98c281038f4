/* SPDX-License-Identifier: Apache-2.0 */
/* world_workload.c: the objects that a release makes in its cluster, and whether they fit there. */
#include "lab/rancher/inside.h"
#include "lab/rancher/workload.h"

#include "lab/rancher/jsonf.h"
#include "text/time.h"

int world_make_namespace(struct simulation *simulation, struct arena *arena, struct str cluster,
                         struct str name, struct error *err)
{
    struct str stored;
    struct error ignored = { 0 };

    if (world_get(simulation, arena, cluster, &res_namespaces, STR(""), name, &stored, &ignored) ==
        0)
        return 0;
    return world_ensure(
        simulation, arena, cluster, &res_namespaces, STR(""),
        jsonf(arena, "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':%s}}", name), err);
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

struct capacity {
    struct arena *arena;
    int64_t gpus;
    struct str_list nodes;
    struct str own_namespace, own_name; /* of the Deployment that does not count */
};

static bool add_node(void *context, struct str object)
{
    struct capacity *room = context;
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
    struct capacity *room = context;
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

static struct capacity room_of(struct simulation *simulation, struct arena *arena,
                               const struct task *task)
{
    struct capacity room = { .arena = arena,
                             .nodes = str_list_new(arena, 4),
                             .own_namespace = task->namespace_,
                             .own_name = task->release };
    struct error err = { 0 };

    api_list(simulation->api, arena, task->cluster, &res_nodes, STR(""), add_node, &room, &err);
    return room;
}

bool world_fits(struct simulation *simulation, struct arena *arena, const struct task *task)
{
    struct workload workload;
    struct error err = { 0 };

    if (!workload_of_task(arena, task, &workload) || !workload.gpus || !workload.replicas)
        return true;

    struct capacity room = room_of(simulation, arena, task);

    if (!task->instant)
        api_list(simulation->api, arena, task->cluster, &res_deployments, STR(""), take_deployment,
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
static void remove_pods(struct simulation *simulation, struct arena *arena, const struct task *task,
                        const struct str_list *keep)
{
    struct pods pods = { arena, task->release, str_list_new(arena, 4) };
    struct error err = { 0 };

    api_list(simulation->api, arena, task->cluster, &res_pods, task->namespace_, add_pod, &pods,
             &err);
    for (uint32_t i = 0; i < pods.names.count; i++)
        if (!str_list_has(keep, pods.names.items[i]))
            api_delete_object(simulation->api, arena, task->cluster, &res_pods, task->namespace_,
                              pods.names.items[i], &err);
}

static struct str uid_of(struct arena *arena, struct str object)
{
    struct error ignored;
    struct json root = { NULL, 0 };

    return json_read(arena, object, &json_limits_default, &root, &ignored) == 0
               ? json_str(json_walk(root, "metadata", "uid", NULL))
               : STR("");
}

/* The uid of the ReplicaSet that the Deployment has for this version. */
static struct str write_replica_set(struct simulation *simulation, struct arena *arena,
                                    const struct task *task, const struct workload *workload)
{
    struct str name = workload_replica_set_name(arena, workload);
    struct str deployment = STR("");
    struct str stored = STR("");
    struct error err = { 0 };

    if (api_get(simulation->api, arena, task->cluster, &res_replicasets, task->namespace_, name,
                &stored, &err) == 0)
        return uid_of(arena, stored);
    api_get(simulation->api, arena, task->cluster, &res_deployments, task->namespace_,
            task->release, &deployment, &err);
    api_create_object(simulation->api, arena, task->cluster, &res_replicasets, task->namespace_,
                      workload_replica_set(arena, workload, uid_of(arena, deployment)), &stored,
                      &err);
    return uid_of(arena, stored);
}

static void write_pods(struct simulation *simulation, struct arena *arena, const struct task *task,
                       const struct workload *workload, bool ready)
{
    struct capacity room = room_of(simulation, arena, task);
    struct str_list names = str_list_new(arena, 4);
    struct str now = time_rfc3339(arena, simulation_now(simulation));
    bool scheduled = ready || workload->gpus == 0 || world_fits(simulation, arena, task);
    struct str replica_set = write_replica_set(simulation, arena, task, workload);
    struct error err = { 0 };
    struct str stored;

    for (int64_t i = 0; i < workload->replicas && i < WORKLOAD_PODS_MAX; i++) {
        struct str node = room.nodes.count && scheduled
                              ? room.nodes.items[(uint32_t)i % room.nodes.count]
                              : STR("");
        struct str name = workload_pod_name(arena, workload, i);

        str_list_push(&names, name);
        world_ensure(simulation, arena, task->cluster, &res_pods, task->namespace_,
                     workload_pod(arena, workload, i, node, replica_set), &err);
        api_merge_object(
            simulation->api, arena, task->cluster, &res_pods, task->namespace_, name, STR("status"),
            workload_pod_status(arena, workload, i, scheduled, ready, now), &stored, &err);
    }
    remove_pods(simulation, arena, task, &names);
}

static int64_t generation_of(struct arena *arena, struct str object)
{
    struct error ignored;
    struct json root;
    int64_t generation = 0;

    if (json_read(arena, object, &json_limits_default, &root, &ignored) == 0)
        json_int64(json_walk(root, "metadata", "generation", NULL), &generation);
    return generation;
}

void world_workload(struct simulation *simulation, struct arena *arena, const struct task *task,
                    bool ready)
{
    struct workload workload;
    struct error err = { 0 };
    struct str stored = STR("");

    /* An instant lab is for counting releases: it has no time for pods. */
    if (task->instant || !workload_of_task(arena, task, &workload))
        return;

    struct str deployment = workload_deployment(arena, &workload);

    if (api_create_object(simulation->api, arena, task->cluster, &res_deployments, task->namespace_,
                          deployment, &stored, &err) != 0 &&
        (err.code != ERROR_ALREADY_EXISTS ||
         api_merge_object(simulation->api, arena, task->cluster, &res_deployments, task->namespace_,
                          task->release, STR(""), deployment, &stored, &err) != 0))
        log_warn(simulation->log, "workload not written", LOG_STR("cluster", task->cluster),
                 LOG_STR("release", task->release), LOG_Z("error", err.text));
    api_merge_object(simulation->api, arena, task->cluster, &res_deployments, task->namespace_,
                     task->release, STR("status"),
                     workload_status(arena, &workload, generation_of(arena, stored), ready,
                                     time_rfc3339(arena, simulation_now(simulation))),
                     &stored, &err);
    write_pods(simulation, arena, task, &workload, ready);
}

void world_remove_workload(struct simulation *simulation, struct arena *arena,
                           const struct task *task)
{
    struct str_list none = str_list_new(arena, 0);
    struct error err = { 0 };

    if (task->instant)
        return;
    api_delete_object(simulation->api, arena, task->cluster, &res_deployments, task->namespace_,
                      task->release, &err);
    remove_pods(simulation, arena, task, &none);
}
