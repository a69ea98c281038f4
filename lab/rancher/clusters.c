/* SPDX-License-Identifier: Apache-2.0 */
/* clusters.c: from a Cluster object to a cluster: its API, its nodes, its status, its state.
 *
 * The Cluster object is the source: adding one makes a cluster, deleting one takes it off the port,
 * annotations and faults connect and disconnect it. */
#include "lab/rancher/inside.h"

#include "base/memory.h"
#include "lab/rancher/jsonf.h"
#include "text/time.h"

#define SEED_RECORD "herd-lab-simulation"

struct str_list clusters_ids(struct simulation *simulation, struct arena *arena)
{
    struct str_list ids = str_list_new(arena, 16);
    size_t cursor = 0;
    struct str id;
    void *state;

    pthread_rwlock_rdlock(&simulation->clusters_lock);
    while (dict_next(simulation->clusters, &cursor, &id, &state))
        str_list_push(&ids, str_dup(arena, id));
    pthread_rwlock_unlock(&simulation->clusters_lock);
    return ids;
}

bool clusters_find(struct simulation *simulation, struct str id, struct cluster_state *ret_state)
{
    pthread_rwlock_rdlock(&simulation->clusters_lock);

    const struct cluster_state *state = dict_get(simulation->clusters, id);

    if (state)
        *ret_state = *state;
    pthread_rwlock_unlock(&simulation->clusters_lock);
    if (!state)
        return false;
    if (faults_stand(simulation, FAULT_DISCONNECTED, id))
        ret_state->connected = false;
    if (faults_stand(simulation, FAULT_NOT_PROVISIONED, id))
        ret_state->provisioned = false;
    return true;
}

static bool read_cluster(struct simulation *simulation, struct arena *arena, struct str id,
                         struct json *ret_cluster)
{
    struct error err = { 0 };
    struct str object = STR("");

    return world_get(simulation, arena, LOCAL_CLUSTER, &res_clusters, STR(""), id, &object, &err) ==
               0 &&
           json_read(arena, object, &json_limits_default, ret_cluster, &err) == 0;
}

void clusters_refresh(struct simulation *simulation, struct str id)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct json cluster;
    bool is_there = read_cluster(simulation, arena, id, &cluster);
    struct cluster_state *state = NULL;

    if (is_there) {
        struct described_cluster described = object_cluster_read(arena, cluster);

        state = mem_new(struct cluster_state);
        *state = (struct cluster_state){ described.connected || str_eq(id, LOCAL_CLUSTER),
                                         described.provisioned || str_eq(id, LOCAL_CLUSTER) };
    }
    pthread_rwlock_wrlock(&simulation->clusters_lock);
    mem_free(state ? dict_set(simulation->clusters, id, state)
                   : dict_remove(simulation->clusters, id));
    pthread_rwlock_unlock(&simulation->clusters_lock);
}

void clusters_look_again(struct simulation *simulation)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str_list ids = clusters_ids(simulation, arena);

    for (uint32_t i = 0; i < ids.count; i++)
        simulation_put(simulation,
                       &(struct agenda_entry){ AGENDA_CLUSTER, ids.items[i], STR(""), STR("") },
                       simulation_now(simulation));
}

/* ---- nodes ----------------------------------------------------------------------------------- */

struct objects {
    struct arena *arena;
    struct map *by_name;
    bool failed; /* they could not be listed */
};

static bool keep_object(void *context, struct str object)
{
    struct objects *objects = context;
    struct json *root = arena_new(objects->arena, struct json);
    struct error ignored;

    if (json_read(objects->arena, str_dup(objects->arena, object), &json_limits_default, root,
                  &ignored) == 0)
        map_put(objects->by_name, json_str(json_walk(*root, "metadata", "name", NULL)), root);
    return true;
}

static struct objects list_objects(struct simulation *simulation, struct arena *arena,
                                   struct str cluster, const struct kube_resource *resource,
                                   struct str namespace_)
{
    struct objects objects = { arena, map_new(arena, 8), false };
    struct error ignored = { 0 };

    objects.failed = world_list(simulation, arena, cluster, resource, namespace_, keep_object,
                                &objects, &ignored) != 0;
    return objects;
}

static int make_nodes(struct simulation *simulation, struct arena *arena,
                      const struct described_cluster *cluster, struct error *err)
{
    struct objects nodes = list_objects(simulation, arena, cluster->id, &res_nodes, STR(""));
    struct str now = time_rfc3339(arena, simulation_now(simulation));
    struct str stored;

    if (map_count(nodes.by_name)) /* made before; since then they are the people's */
        return 0;
    for (int64_t i = 0; i < cluster->nodes; i++)
        if (world_ensure(simulation, arena, cluster->id, &res_nodes, STR(""),
                         object_node(arena, cluster, i), err) != 0 ||
            world_merge(simulation, arena, cluster->id, &res_nodes, STR(""),
                        object_node_name(arena, cluster, i), STR("status"),
                        object_node_status(arena, cluster, i, now), &stored, err) != 0)
            return -1;
    return 0;
}

/* Rancher's nodesyncer: management Nodes are copies of the cluster's own. */
static int copy_nodes(struct simulation *simulation, struct arena *arena, struct str cluster,
                      struct error *err)
{
    struct objects nodes = list_objects(simulation, arena, cluster, &res_nodes, STR(""));
    struct objects machines =
        list_objects(simulation, arena, LOCAL_CLUSTER, &res_machines, cluster);
    struct map *wanted = map_new(arena, 8);
    struct str stored;

    if (nodes.failed)
        return error_set(err, ERROR_UNAVAILABLE, "its nodes cannot be listed");

    for (uint32_t i = 0; i < map_count(nodes.by_name); i++) {
        struct json node = *(struct json *)map_value(nodes.by_name, i);
        struct str machine = object_machine(arena, cluster, node);
        struct json root;

        if (json_read(arena, machine, &json_limits_default, &root, err) != 0)
            return -1;

        struct str name = json_str(json_walk(root, "metadata", "name", NULL));
        const struct json *there = map_get(machines.by_name, name);

        map_put(wanted, name, &wanted);
        if (there && json_equal(json_walk(*there, "status", "internalNodeStatus", NULL),
                                json_get(node, STR("status"))))
            continue;
        if ((!there && world_ensure(simulation, arena, LOCAL_CLUSTER, &res_machines, cluster,
                                    machine, err) != 0) ||
            world_merge(simulation, arena, LOCAL_CLUSTER, &res_machines, cluster, name,
                        STR("status"), object_machine_status(arena, node), &stored, err) != 0)
            return -1;
    }
    for (uint32_t i = 0; i < map_count(machines.by_name); i++)
        if (!map_get(wanted, map_key(machines.by_name, i)))
            world_delete(simulation, arena, LOCAL_CLUSTER, &res_machines, cluster,
                         map_key(machines.by_name, i), err);
    return 0;
}

/* ---- one cluster ----------------------------------------------------------------------------- */

/* Its last step but one: whoever has that namespace has the rest. */
static bool has_api(struct simulation *simulation, struct arena *arena, struct str id)
{
    struct error ignored = { 0 };
    struct str stored;

    return world_get(simulation, arena, id, &res_namespaces, STR(""), SYSTEM_NAMESPACE, &stored,
                     &ignored) == 0;
}

static int make_api(struct simulation *simulation, struct arena *arena, struct str id,
                    struct error *err)
{
    if (api_add_cluster(simulation->api, id, err) != 0)
        return -1;
    for (const char *const *text = definitions_everywhere; *text; text++)
        if (api_add_definition(simulation->api, id, str_of(*text), err) != 0)
            return -1;
    if (world_make_namespace(simulation, arena, id, SYSTEM_NAMESPACE, err) != 0)
        return -1;
    return world_ensure(
        simulation, arena, id, &res_repos, STR(""),
        object_git_repo(arena, STR("rancher-charts"), STR("https://git.rancher.io/charts")), err);
}

static bool patch_changes(struct arena *arena, struct json before, struct str patch)
{
    struct error ignored;
    struct json root;

    if (json_read(arena, patch, &json_limits_default, &root, &ignored) != 0)
        return true;

    struct json_iter it = json_iter(json_get(root, STR("status")));

    while (json_next(&it))
        if (!json_equal(json_get(json_get(before, STR("status")), it.key), it.value))
            return true;
    return false;
}

static int write_status(struct simulation *simulation, struct arena *arena, struct json cluster,
                        const struct described_cluster *described, struct error *err)
{
    struct cluster_state state = { false, false };
    struct str stored;

    clusters_find(simulation, described->id, &state);

    struct cluster_health health = { state.connected, state.provisioned,
                                     time_rfc3339(arena, simulation_now(simulation)) };
    struct str patch = object_cluster_status(arena, described, &health, cluster);

    if (!patch_changes(arena, cluster, patch))
        return 0;
    return world_merge(simulation, arena, LOCAL_CLUSTER, &res_clusters, STR(""), described->id,
                       STR("status"), patch, &stored, err);
}

static int reconcile(struct simulation *simulation, struct arena *arena, struct str id, bool starts,
                     struct error *err)
{
    struct json cluster;

    if (!read_cluster(simulation, arena, id, &cluster))
        return 0; /* deleted: the port does not know it any more */

    struct described_cluster described = object_cluster_read(arena, cluster);

    if (downstream_of(simulation->downstream, id)) {
        if (clusters_real_describe(simulation, arena, &described, err) != 0)
            return -1;
    } else if (((starts || !has_api(simulation, arena, id)) &&
                (make_api(simulation, arena, id, err) != 0 ||
                 (described.monitoring && monitoring_make(simulation, arena, id, err) != 0))) ||
               make_nodes(simulation, arena, &described, err) != 0) {
        return -1;
    }
    if (world_make_namespace(simulation, arena, LOCAL_CLUSTER, id, err) != 0 ||
        copy_nodes(simulation, arena, id, err) != 0)
        return -1;
    return write_status(simulation, arena, cluster, &described, err);
}

void clusters_reconcile(struct simulation *simulation, struct arena *arena, struct str id)
{
    struct error err = { 0 };

    if (reconcile(simulation, arena, id, false, &err) != 0)
        log_warn(simulation->log, "cluster not brought up to date", LOG_STR("cluster", id),
                 LOG_Z("error", err.text));
}

/* ---- the first start ------------------------------------------------------------------------- */

/* Which clusters of the description were made before: those that are gone since stay gone. */
static struct str seeded_before(struct simulation *simulation, struct arena *arena)
{
    struct error err = { 0 };
    struct str object = STR("");
    struct json root;

    if (world_get(simulation, arena, LOCAL_CLUSTER, &res_configmaps, SYSTEM_NAMESPACE,
                  STR(SEED_RECORD), &object, &err) != 0 ||
        json_read(arena, object, &json_limits_default, &root, &err) != 0)
        return STR("");
    return json_str(json_walk(root, "data", "clusters", NULL));
}

static bool has_word(struct str words, struct str word)
{
    struct str part;

    while (str_split(&words, ' ', &part))
        if (str_eq(part, word))
            return true;
    return false;
}

static int record_seeds(struct simulation *simulation, struct arena *arena, struct str words,
                        struct error *err)
{
    struct str record = jsonf(arena,
                              "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':%s,"
                              "'namespace':'cattle-system'},'data':{'clusters':%s}}",
                              STR(SEED_RECORD), words);
    struct str stored;

    if (world_ensure(simulation, arena, LOCAL_CLUSTER, &res_configmaps, SYSTEM_NAMESPACE, record,
                     err) != 0)
        return -1;
    return world_merge(simulation, arena, LOCAL_CLUSTER, &res_configmaps, SYSTEM_NAMESPACE,
                       STR(SEED_RECORD), STR(""), record, &stored, err);
}

static int make_clusters(struct simulation *simulation, struct arena *arena,
                         const struct description *description, struct error *err)
{
    struct str before = seeded_before(simulation, arena);
    struct strbuf words = strbuf_new(arena, 256);
    bool any = false;

    strbuf_put(&words, before);
    for (uint32_t i = 0; i < description->clusters.count; i++) {
        const struct described_cluster *cluster = &description->clusters.items[i];

        if (has_word(before, cluster->id))
            continue;
        if (world_ensure(simulation, arena, LOCAL_CLUSTER, &res_clusters, STR(""),
                         object_cluster(arena, cluster), err) != 0)
            return error_wrap(err, "cluster %.*s", STR_ARG(cluster->id));
        strbuf_char(&words, ' ');
        strbuf_put(&words, cluster->id);
        any = true;
    }
    return any ? record_seeds(simulation, arena, str_trim(strbuf_str(&words)), err) : 0;
}

int clusters_seed(struct simulation *simulation, const struct description *description,
                  struct error *err)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);

    if (make_api(simulation, arena, LOCAL_CLUSTER, err) != 0)
        return -1;
    for (const char *const *text = definitions_local; *text; text++)
        if (api_add_definition(simulation->api, LOCAL_CLUSTER, str_of(*text), err) != 0)
            return -1;
    if (make_clusters(simulation, arena, description, err) != 0)
        return -1;

    struct objects all = list_objects(simulation, arena, LOCAL_CLUSTER, &res_clusters, STR(""));

    for (uint32_t i = 0; i < map_count(all.by_name); i++) {
        AUTO(arena_free) struct arena *scratch = arena_create(0);
        struct str id = map_key(all.by_name, i);

        clusters_refresh(simulation, id);
        if (downstream_of(simulation->downstream, id))
            continue; /* by its own thread, when it answers */
        if (reconcile(simulation, scratch, id, true, err) != 0)
            return error_wrap(err, "cluster %.*s", STR_ARG(id));
        world_scan(simulation, scratch, id);
    }
    return 0;
}
