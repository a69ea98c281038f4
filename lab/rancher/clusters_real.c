/* SPDX-License-Identifier: Apache-2.0 */
/* clusters_real.c: what Rancher's agent does in a cluster that is real: its definitions, its
 * namespace, its repository; and what Rancher learns of the cluster from its nodes. */
#include "lab/rancher/inside.h"

#include "lab/downstream/remote.h"
#include "text/quantity.h"
#include "text/yaml.h"

static const struct kube_resource res_definitions = KUBE_RESOURCE_INIT(
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", false);

static bool is_established(struct json definition)
{
    struct json_iter it = json_iter(json_walk(definition, "status", "conditions", NULL));

    while (json_next(&it))
        if (str_eq(json_str(json_get(it.value, STR("type"))), STR("Established")))
            return str_eq(json_str(json_get(it.value, STR("status"))), STR("True"));
    return false;
}

static int define(struct simulation *simulation, struct arena *arena, struct str cluster,
                  const char *yaml, struct error *err)
{
    struct yaml_documents documents;
    struct str stored = STR("");
    struct json definition;

    if (yaml_read(arena, str_of(yaml), &documents, err) != 0 ||
        json_read(arena, documents.items[0].json, &json_limits_default, &definition, err) != 0)
        return -1;

    struct str name = json_str(json_walk(definition, "metadata", "name", NULL));

    if (world_ensure(simulation, arena, cluster, &res_definitions, STR(""), documents.items[0].json,
                     err) != 0 ||
        world_get(simulation, arena, cluster, &res_definitions, STR(""), name, &stored, err) != 0 ||
        json_read(arena, stored, &json_limits_default, &definition, err) != 0)
        return -1;
    return is_established(definition)
               ? 0
               : error_set(err, ERROR_UNAVAILABLE, "%.*s is not served yet", STR_ARG(name));
}

int clusters_real_prepare(struct simulation *simulation, struct arena *arena, struct str cluster,
                          struct error *err)
{
    for (const char *const *text = definitions_everywhere; *text; text++)
        if (define(simulation, arena, cluster, *text, err) != 0)
            return -1;
    if (world_make_namespace(simulation, arena, cluster, SYSTEM_NAMESPACE, err) != 0 ||
        world_ensure(
            simulation, arena, cluster, &res_repos, STR(""),
            object_git_repo(arena, STR("rancher-charts"), STR("https://git.rancher.io/charts")),
            err) != 0)
        return -1;
    remote_follow(downstream_of(simulation->downstream, cluster));
    world_scan(simulation, arena, cluster);
    return 0;
}

/* ---- what its nodes say ---------------------------------------------------------------------- */

struct sum {
    struct arena *arena;
    int64_t nodes, cpu, memory;
};

static int64_t whole(struct json amounts, const char *name)
{
    struct quantity quantity;
    struct error ignored;

    if (quantity_parse(json_str(json_get(amounts, str_of(name))), &quantity, &ignored) != 0)
        return 0;
    return quantity.milli / 1000;
}

static bool add_node(void *context, struct str object)
{
    struct sum *sum = context;
    struct error ignored;
    struct json node;

    if (json_read(sum->arena, object, &json_limits_default, &node, &ignored) != 0)
        return true;

    struct json amounts = json_walk(node, "status", "allocatable", NULL);

    sum->nodes++;
    sum->cpu += whole(amounts, "cpu");
    sum->memory += whole(amounts, "memory");
    return true;
}

/* A description is of nodes that are all alike: the average stands for each. */
int clusters_real_describe(struct simulation *simulation, struct arena *arena,
                           struct described_cluster *described, struct error *err)
{
    struct sum sum = { .arena = arena };
    struct str version =
        remote_version(downstream_of(simulation->downstream, described->id), arena);

    if (world_list(simulation, arena, described->id, &res_nodes, STR(""), add_node, &sum, err) != 0)
        return -1;
    described->nodes = sum.nodes;
    described->cpu = sum.nodes ? sum.cpu / sum.nodes : 0;
    described->memory = str_fmt(
        arena, "%lldMi", sum.nodes ? (long long)(sum.memory / sum.nodes / (1024 * 1024)) : 0LL);
    if (version.len)
        described->version = version;
    return 0;
}
