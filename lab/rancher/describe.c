/* SPDX-License-Identifier: Apache-2.0 */
/* describe.c: one walk over the document; every wrong field is named by its path. */
#include "lab/rancher/describe.h"

#include "kube/names.h"
#include "text/json.h"
#include "text/quantity.h"
#include "text/yaml.h"

struct described_cluster described_cluster_default(struct str id)
{
    return (struct described_cluster){
        .id = id,
        .display_name = id,
        .labels = STR_INIT("{}"),
        .annotations = STR_INIT("{}"),
        .provider = STR_INIT("rke2"),
        .version = STR_INIT("v1.34.2+rke2r1"),
        .nodes = 1,
        .cpu = 16,
        .memory = STR_INIT("64Gi"),
        .gpus = 0,
        .gpu_resource = STR_INIT("nvidia.com/gpu"),
        .connected = true,
        .provisioned = true,
    };
}

enum kind { TEXT, FLAG, NUMBER, MAP };

struct field {
    struct str name;
    enum kind kind;
    void *at;
    int64_t max;
};

static int take_field(const struct path *at, const struct field *field, struct json value,
                      struct error *err)
{
    switch (field->kind) {
    case TEXT:
        if (!json_is(value, JSON_STRING) || !json_str(value).len)
            return error_at(err, ERROR_INVALID, at, "is not a text");
        *(struct str *)field->at = json_str(value);
        return 0;
    case FLAG:
        if (!json_is(value, JSON_BOOL))
            return error_at(err, ERROR_INVALID, at, "is not true or false");
        *(bool *)field->at = json_bool(value);
        return 0;
    case NUMBER: {
        int64_t number;

        if (!json_int64(value, &number) || number < 0 || number > field->max)
            return error_at(err, ERROR_INVALID, at, "is not a whole number from 0 to %lld",
                            (long long)field->max);
        *(int64_t *)field->at = number;
        return 0;
    }
    case MAP: {
        struct json_iter it = json_iter(value);

        if (!json_is(value, JSON_OBJECT))
            return error_at(err, ERROR_INVALID, at, "is not a map of texts");
        while (json_next(&it))
            if (!json_is(it.value, JSON_STRING))
                return error_at(err, ERROR_INVALID, at, "%.*s is not a text: put it in quotes",
                                STR_ARG(it.key));
        *(struct str *)field->at = json_raw(value);
        return 0;
    }
    }
    return 0;
}

static int read_cluster(const struct path *at, struct json json, struct described_cluster *cluster,
                        int64_t *ret_count, struct error *err)
{
    const struct field fields[] = {
        { STR("id"), TEXT, &cluster->id, 0 },
        { STR("displayName"), TEXT, &cluster->display_name, 0 },
        { STR("labels"), MAP, &cluster->labels, 0 },
        { STR("annotations"), MAP, &cluster->annotations, 0 },
        { STR("provider"), TEXT, &cluster->provider, 0 },
        { STR("version"), TEXT, &cluster->version, 0 },
        { STR("nodes"), NUMBER, &cluster->nodes, DESCRIBE_NODES_MAX },
        { STR("cpu"), NUMBER, &cluster->cpu, 4096 },
        { STR("memory"), TEXT, &cluster->memory, 0 },
        { STR("gpus"), NUMBER, &cluster->gpus, 1024 },
        { STR("gpuResource"), TEXT, &cluster->gpu_resource, 0 },
        { STR("connected"), FLAG, &cluster->connected, 0 },
        { STR("provisioned"), FLAG, &cluster->provisioned, 0 },
        { STR("monitoring"), FLAG, &cluster->monitoring, 0 },
        { STR("count"), NUMBER, ret_count, DESCRIBE_CLUSTERS_MAX },
    };
    struct json_iter it = json_iter(json);

    if (!json_is(json, JSON_OBJECT))
        return error_at(err, ERROR_INVALID, at, "is not a map with the fields of a cluster");
    while (json_next(&it)) {
        struct path field_at = path_field(at, it.key);
        bool known = false;

        for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]) && !known; i++) {
            if (!str_eq(fields[i].name, it.key))
                continue;
            known = true;
            if (take_field(&field_at, &fields[i], it.value, err) != 0)
                return -1;
        }
        if (!known)
            return error_at(err, ERROR_INVALID, &field_at, "is no field of a cluster");
    }
    return 0;
}

static int check_cluster(const struct path *at, const struct described_cluster *cluster,
                         struct error *err)
{
    const char *wrong = kube_not_dns1123_label(cluster->id);
    struct path id_at = path_field(at, STR("id"));
    struct path memory_at = path_field(at, STR("memory"));
    struct quantity memory;
    struct error why = { 0 };

    if (wrong)
        return error_at(err, ERROR_INVALID, &id_at, "%s", wrong);
    if (quantity_parse(cluster->memory, &memory, &why) != 0)
        return error_at(err, ERROR_INVALID, &memory_at, "%s", why.text);
    return 0;
}

/* One entry makes one cluster, or `count` numbered ones. */
static int add_clusters(struct arena *arena, const struct path *at, struct json json,
                        struct described_clusters *list, struct error *err)
{
    struct described_cluster cluster = described_cluster_default(STR(""));
    int64_t count = -1;

    cluster.display_name = STR("");
    if (read_cluster(at, json, &cluster, &count, err) != 0 || check_cluster(at, &cluster, err) != 0)
        return -1;
    if (!cluster.display_name.len)
        cluster.display_name = cluster.id;
    if (count < 0) {
        described_clusters_push(list, cluster);
        return 0;
    }

    struct described_cluster numbered = cluster;

    for (int64_t i = 1; i <= count; i++) {
        numbered.id = str_fmt(arena, "%.*s-%04lld", STR_ARG(cluster.id), (long long)i);
        numbered.display_name =
            str_fmt(arena, "%.*s-%04lld", STR_ARG(cluster.display_name), (long long)i);
        described_clusters_push(list, numbered);
    }
    return 0;
}

static void add_local(struct described_clusters *list)
{
    struct described_cluster local = described_cluster_default(STR("local"));

    for (uint32_t i = 0; i < list->count; i++)
        if (str_eq(list->items[i].id, local.id))
            return;
    local.provider = STR("k3s");
    local.version = STR("v1.34.2+k3s1");
    described_clusters_push(list, local);
}

int describe_read(struct arena *arena, struct str yaml, struct description *ret_description,
                  struct error *err)
{
    struct description description = { described_clusters_new(arena, 16), str_list_new(arena, 4) };
    struct yaml_documents documents;
    struct json root;

    if (yaml_read(arena, yaml, &documents, err) != 0)
        return -1;
    if (documents.count != 1)
        return error_set(err, ERROR_INVALID, "an simulation is one YAML document, not %u",
                         documents.count);
    if (json_read(arena, documents.items[0].json, &json_limits_default, &root, err) != 0)
        return -1;

    struct json_iter top = json_iter(root);

    if (!json_is(root, JSON_OBJECT))
        return error_set(err, ERROR_INVALID, "an simulation is a map with clusters: and faults:");
    while (json_next(&top)) {
        struct path list_at = path_field(NULL, top.key);
        struct json_iter it = json_iter(top.value);
        bool clusters = str_eq(top.key, STR("clusters"));

        if (!clusters && !str_eq(top.key, STR("faults")))
            return error_at(err, ERROR_INVALID, &list_at, "is neither clusters nor faults");
        if (!json_is(top.value, JSON_ARRAY))
            return error_at(err, ERROR_INVALID, &list_at, "is not a list");
        while (json_next(&it)) {
            struct path at = path_index(&list_at, it.position);

            if (clusters && add_clusters(arena, &at, it.value, &description.clusters, err) != 0)
                return -1;
            if (!clusters)
                str_list_push(&description.faults, json_str(it.value));
        }
    }
    if (description.clusters.count > DESCRIBE_CLUSTERS_MAX)
        return error_set(err, ERROR_INVALID, "an simulation has at most %d clusters",
                         DESCRIBE_CLUSTERS_MAX);
    add_local(&description.clusters);
    *ret_description = description;
    return 0;
}
