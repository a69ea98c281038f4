/* SPDX-License-Identifier: Apache-2.0 */
/* shape.c: the same object in three dialects. */
#include "lab/rancher/shape.h"

#include "kube/meta.h"
#include "lab/rancher/jsonf.h"
#include "lab/rancher/release.h"
#include "text/json_write.h"

static struct json condition_of(struct json object, const char *type)
{
    struct json_iter it = json_iter(json_walk(object, "status", "conditions", NULL));

    while (json_next(&it))
        if (str_eq(json_str(json_get(it.value, STR("type"))), str_of(type)))
            return it.value;
    return (struct json){ NULL, 0 };
}

static bool says(struct json condition, const char *status)
{
    return str_eq(json_str(json_get(condition, STR("status"))), str_of(status));
}

static struct shape_state cluster_state(struct json object)
{
    struct json ready = condition_of(object, "Ready");

    if (!says(condition_of(object, "Provisioned"), "True"))
        return (struct shape_state){ STR("provisioning"), false, true,
                                     json_str(json_get(condition_of(object, "Provisioned"),
                                                       STR("message"))) };
    if (says(ready, "True"))
        return (struct shape_state){ STR("active"), false, false, STR("") };
    return (struct shape_state){ STR("unavailable"), false, true,
                                 json_str(json_get(ready, STR("message"))) };
}

static struct shape_state operation_state(struct json object)
{
    struct json moves = condition_of(object, "Reconciling");
    struct json stalled = condition_of(object, "Stalled");

    if (json_is(moves, JSON_ABSENT))
        return (struct shape_state){ STR("in-progress"), false, true, STR("") };
    if (says(stalled, "True"))
        return (struct shape_state){ STR("stalled"), true, false,
                                     json_str(json_get(stalled, STR("message"))) };
    if (says(moves, "True"))
        return (struct shape_state){ STR("reconciling"), false, true,
                                     json_str(json_get(moves, STR("message"))) };
    return (struct shape_state){ STR("active"), false, false, STR("") };
}

struct shape_state shape_state_of(struct json object)
{
    struct str kind = json_str(json_get(object, STR("kind")));

    if (str_eq(kind, STR("Cluster")))
        return cluster_state(object);
    if (str_eq(kind, STR("Operation")))
        return operation_state(object);
    if (str_eq(kind, STR("App"))) {
        struct json summary = json_walk(object, "status", "summary", NULL);
        struct str state = json_str(json_get(summary, STR("state")));

        return (struct shape_state){ state.len ? state : STR("active"),
                                     json_bool(json_get(summary, STR("error"))),
                                     json_bool(json_get(summary, STR("transitioning"))), STR("") };
    }
    if (str_eq(kind, STR("ClusterRepo"))) {
        struct json done = condition_of(object, "Downloaded");

        if (says(done, "False") || says(condition_of(object, "OCIDownloaded"), "False"))
            return (struct shape_state){ STR("downloaded"), true, false,
                                         json_str(json_get(done, STR("message"))) };
    }
    return (struct shape_state){ STR("active"), false, false, STR("") };
}

/* ---- steve ----------------------------------------------------------------------------------- */

static void put_link(struct json_writer *w, struct arena *arena, const char *name, struct str url,
                     const char *behind)
{
    json_put_key(w, str_of(name));
    json_put_str(w, str_fmt(arena, "%.*s%s", STR_ARG(url), behind));
}

static void put_links(struct json_writer *w, struct arena *arena, struct json object,
                      struct str type, struct str url)
{
    json_put_key(w, STR("links"));
    json_open_object(w);
    put_link(w, arena, "self", url, "");
    if (str_eq(type, STR("management.cattle.io.cluster"))) {
        put_link(w, arena, "remove", STR("blocked"), "");
        put_link(w, arena, "update", STR("blocked"), "");
    } else {
        put_link(w, arena, "remove", url, "");
        put_link(w, arena, "update", url, "");
    }
    if (str_eq(type, STR("catalog.cattle.io.clusterrepo"))) {
        put_link(w, arena, "chart", url, "?link=chart");
        put_link(w, arena, "icon", url, "?link=icon");
        put_link(w, arena, "index", url, "?link=index");
        put_link(w, arena, "info", url, "?link=info");
    }
    /* Hidden until there is a container to read from. */
    if (str_eq(type, STR("catalog.cattle.io.operation")) &&
        json_bool(json_walk(object, "status", "podCreated", NULL)))
        put_link(w, arena, "logs", url, "/logs");
    json_close_object(w);
}

static void put_actions(struct json_writer *w, struct arena *arena, struct str type, struct str url)
{
    json_put_key(w, STR("actions"));
    json_open_object(w);
    if (str_eq(type, STR("catalog.cattle.io.clusterrepo"))) {
        put_link(w, arena, "install", url, "?action=install");
        put_link(w, arena, "upgrade", url, "?action=upgrade");
    } else if (str_eq(type, STR("catalog.cattle.io.app"))) {
        put_link(w, arena, "uninstall", url, "?action=uninstall");
    }
    json_close_object(w);
}

static void put_metadata(struct json_writer *w, struct arena *arena, struct json object)
{
    struct json_iter it = json_iter(json_get(object, STR("metadata")));
    struct shape_state state = shape_state_of(object);

    json_put_key(w, STR("metadata"));
    json_open_object(w);
    while (json_next(&it)) {
        json_put_key(w, it.key);
        json_put_raw(w, json_raw(it.value));
    }
    json_put_key(w, STR("state"));
    json_put_raw(w, jsonf(arena, "{'error':%b,'message':%s,'name':%s,'transitioning':%b}",
                          state.error, state.message, state.name, state.transitioning));
    json_close_object(w);
}

/* A release's data is left out, or, where it was asked for, decoded. */
static void put_secret_data(struct json_writer *w, struct arena *arena, struct json data,
                            bool helm_data)
{
    struct json_iter it = json_iter(data);

    json_put_key(w, STR("data"));
    json_open_object(w);
    while (json_next(&it)) {
        struct error ignored = { 0 };
        struct str release = STR("");

        if (!str_eq(it.key, STR("release"))) {
            json_put_key(w, it.key);
            json_put_raw(w, json_raw(it.value));
        } else if (helm_data &&
                   release_data_read(arena, json_str(it.value), &release, &ignored) == 0) {
            json_put_key(w, it.key);
            json_put_raw(w, release);
        }
    }
    json_close_object(w);
}

static void put_rest(struct json_writer *w, struct arena *arena, struct json object, bool helm_data)
{
    struct json_iter it = json_iter(object);
    bool secret = str_eq(json_str(json_get(object, STR("kind"))), STR("Secret"));
    bool release =
        secret && str_eq(json_str(json_get(object, STR("type"))), STR("helm.sh/release.v1"));

    while (json_next(&it)) {
        if (str_eq(it.key, STR("metadata")))
            continue;
        if (release && str_eq(it.key, STR("data"))) {
            put_secret_data(w, arena, it.value, helm_data);
            continue;
        }
        /* `type`, `id`, `links` and `actions` are steve's own words. */
        if (str_eq(it.key, STR("type")) || str_eq(it.key, STR("id")))
            json_put_key(w, str_fmt(arena, "_%.*s", STR_ARG(it.key)));
        else
            json_put_key(w, it.key);
        json_put_raw(w, json_raw(it.value));
    }
}

struct str shape_steve(struct arena *arena, struct json object, const struct shape_steve *how)
{
    struct kube_meta meta;
    struct strbuf out = strbuf_new(arena, json_raw(object).len + 1024);
    struct json_writer w = json_writer(&out);

    kube_meta_read(object, &meta);

    struct str id = meta.namespace_.len
                        ? str_fmt(arena, "%.*s/%.*s", STR_ARG(meta.namespace_), STR_ARG(meta.name))
                        : meta.name;
    /* Collections are plural: "catalog.cattle.io.apps" holds "catalog.cattle.io.app". */
    struct str url =
        str_fmt(arena, "%.*s/%.*ss/%.*s", STR_ARG(how->base), STR_ARG(how->type), STR_ARG(id));

    json_open_object(&w);
    json_field_str(&w, "id", id);
    json_field_str(&w, "type", how->type);
    put_links(&w, arena, object, how->type, url);
    put_actions(&w, arena, how->type, url);
    put_metadata(&w, arena, object);
    put_rest(&w, arena, object, how->helm_data);
    json_close_object(&w);
    return strbuf_str(&out);
}

/* ---- norman ---------------------------------------------------------------------------------- */

static void put_members(struct json_writer *w, struct json object, const char *without)
{
    struct json_iter it = json_iter(object);

    while (json_next(&it)) {
        if (str_eq(it.key, str_of(without)))
            continue;
        json_put_key(w, it.key);
        json_put_raw(w, json_raw(it.value));
    }
}

static void put_object(struct json_writer *w, const char *key, struct json value)
{
    json_put_key(w, str_of(key));
    json_put_raw(w, json_is(value, JSON_OBJECT) ? json_raw(value) : STR("{}"));
}

static void put_norman_head(struct json_writer *w, struct arena *arena, struct json object,
                            struct str type, struct str id, struct str base)
{
    struct kube_meta meta;
    struct shape_state state = shape_state_of(object);

    kube_meta_read(object, &meta);
    json_field_str(w, "id", id);
    json_field_str(w, "type", type);
    json_field_str(w, "baseType", type);
    json_field_str(w, "uuid", meta.uid);
    json_field_str(w, "created", meta.creation_timestamp);
    put_object(w, "labels", meta.labels);
    put_object(w, "annotations", meta.annotations);
    json_field_str(w, "state", state.name);
    json_field_str(w, "transitioning",
                   state.transitioning ? STR("yes")
                   : state.error       ? STR("error")
                                       : STR("no"));
    json_field_str(w, "transitioningMessage", state.message);
    json_put_key(w, STR("links"));
    json_put_raw(
        w, jsonf(arena, "{'self':%s}",
                 str_fmt(arena, "%.*s/%.*ss/%.*s", STR_ARG(base), STR_ARG(type), STR_ARG(id))));
    json_put_key(w, STR("actions"));
    json_put_raw(w, STR("{}"));
}

struct str shape_norman_cluster(struct arena *arena, struct json cluster, struct str base)
{
    struct strbuf out = strbuf_new(arena, json_raw(cluster).len + 512);
    struct json_writer w = json_writer(&out);
    struct json spec = json_get(cluster, STR("spec"));

    json_open_object(&w);
    put_norman_head(&w, arena, cluster, STR("cluster"),
                    json_str(json_walk(cluster, "metadata", "name", NULL)), base);
    json_field_str(&w, "name", json_str(json_get(spec, STR("displayName"))));
    put_members(&w, spec, "displayName");
    put_members(&w, json_get(cluster, STR("status")), "");
    json_close_object(&w);
    return strbuf_str(&out);
}

struct str shape_norman_node(struct arena *arena, struct json node, struct str base)
{
    struct strbuf out = strbuf_new(arena, json_raw(node).len + 512);
    struct json_writer w = json_writer(&out);
    struct json meta = json_get(node, STR("metadata"));
    struct json status = json_get(node, STR("status"));
    struct json inner = json_get(status, STR("internalNodeStatus"));
    struct str cluster = json_str(json_get(meta, STR("namespace")));

    json_open_object(&w);
    put_norman_head(&w, arena, node, STR("node"),
                    str_fmt(arena, "%.*s:%.*s", STR_ARG(cluster),
                            STR_ARG(json_str(json_get(meta, STR("name"))))),
                    base);
    json_field_str(&w, "clusterId", cluster);
    json_field_str(&w, "nodeName", json_str(json_get(status, STR("nodeName"))));
    put_object(&w, "capacity", json_get(inner, STR("capacity")));
    put_object(&w, "allocatable", json_get(inner, STR("allocatable")));
    put_object(&w, "requested", json_get(status, STR("requested")));
    json_close_object(&w);
    return strbuf_str(&out);
}
