/* SPDX-License-Identifier: Apache-2.0 */
/* rule_store.c: an entry of the ConfigMap is a rule as the list shows it. */
#include "lab/neuvector/rule_store.h"

#include "lab/rancher/jsonf.h"

struct json nv_stored_rules(struct nv *nv, const struct nv_rule_store *store)
{
    struct error ignored = { 0 };
    struct json root = { NULL, 0 };
    struct str stored = STR("");

    if (world_get(nv->simulation, nv->arena, nv->cluster, &res_configmaps, nv->namespace_,
                  store->name, &stored, &ignored) == 0)
        json_read(nv->arena, stored, &json_limits_default, &root, &ignored);
    return json_get(root, STR("data"));
}

static struct str key_of(struct nv *nv, int64_t id)
{
    return str_fmt(nv->arena, "%lld", (long long)id);
}

void nv_store_rule(struct nv *nv, const struct nv_rule_store *store, int64_t id, struct str json)
{
    struct error err = { 0 };
    struct str stored;
    struct str key = key_of(nv, id);

    world_ensure(nv->simulation, nv->arena, nv->cluster, &res_configmaps, nv->namespace_,
                 jsonf(nv->arena, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':%s}}",
                       store->name),
                 &err);
    world_merge(nv->simulation, nv->arena, nv->cluster, &res_configmaps, nv->namespace_,
                store->name, STR(""),
                json.len ? jsonf(nv->arena, "{'data':{%s:%s}}", key, json)
                         : jsonf(nv->arena, "{'data':{%s:%r}}", key, STR("null")),
                &stored, &err);
}

bool nv_is_rule_id(struct str key, int64_t *ret_id)
{
    uint64_t id = 0;

    if (!str_to_u64(key, &id))
        return false;
    *ret_id = (int64_t)id;
    return true;
}

struct json nv_find_rule(struct nv *nv, const struct nv_rule_store *store, int64_t id)
{
    struct json stored = json_get(nv_stored_rules(nv, store), key_of(nv, id));
    struct json rule = { NULL, 0 };
    struct error ignored = { 0 };

    if (json_is(stored, JSON_STRING))
        json_read(nv->arena, json_str(stored), &json_limits_default, &rule, &ignored);
    return rule;
}

bool nv_rule_exists(struct nv *nv, const struct nv_rule_store *store, int64_t id)
{
    return json_is(json_get(nv_stored_rules(nv, store), key_of(nv, id)), JSON_STRING);
}

int64_t nv_next_rule_id(struct nv *nv, const struct nv_rule_store *store)
{
    struct json_iter it = json_iter(nv_stored_rules(nv, store));
    int64_t next = store->first_id, id;

    while (json_next(&it))
        if (nv_is_rule_id(it.key, &id) && id >= next && id < NV_CUSTOM_RESOURCES)
            next = id + 1;
    return next;
}

void nv_list_rules(struct nv *nv, const struct nv_rule_store *store)
{
    struct json_iter it = json_iter(nv_stored_rules(nv, store));
    struct strbuf out = strbuf_new(nv->arena, 1024);
    int64_t id;

    while (json_next(&it))
        if (nv_is_rule_id(it.key, &id))
            strbuf_fmt(&out, "%s%.*s", out.len ? "," : "", STR_ARG(json_str(it.value)));
    nv_reply_query(nv, jsonf(nv->arena, "{'rules':[%r]}", out.len ? strbuf_str(&out) : STR(" ")));
}
