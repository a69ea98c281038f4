/* SPDX-License-Identifier: Apache-2.0 */
/* admission.c: docs/protocols/neuvector.md, section 9.2. Nothing is admitted or rejected by these
 * rules. */
#include "lab/neuvector/admission.h"

#include "lab/rancher/jsonf.h"

#define STORE "neuvector-admission"

/* Local rules begin there; from CUSTOM_RESOURCES on they are those of custom resources. */
enum { FIRST_ID = 1000, CUSTOM_RESOURCES = 110000 };

static struct json stored_rules(struct nv *nv)
{
    struct error ignored = { 0 };
    struct json root = { NULL, 0 };
    struct str stored = STR("");

    if (world_get(nv->simulation, nv->arena, nv->cluster, &res_configmaps, nv->namespace_,
                  STR(STORE), &stored, &ignored) == 0)
        json_read(nv->arena, stored, &json_limits_default, &root, &ignored);
    return json_get(root, STR("data"));
}

/* `json` "" removes the rule. */
static void store(struct nv *nv, int64_t id, struct str json)
{
    struct error err = { 0 };
    struct str stored;
    struct str key = str_fmt(nv->arena, "%lld", (long long)id);

    world_ensure(
        nv->simulation, nv->arena, nv->cluster, &res_configmaps, nv->namespace_,
        STR("{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"" STORE "\"}}"),
        &err);
    world_merge(nv->simulation, nv->arena, nv->cluster, &res_configmaps, nv->namespace_, STR(STORE),
                STR(""),
                json.len ? jsonf(nv->arena, "{'data':{%s:%s}}", key, json)
                         : jsonf(nv->arena, "{'data':{%s:%r}}", key, STR("null")),
                &stored, &err);
}

static bool is_id(struct str key, int64_t *ret_id)
{
    uint64_t id = 0;

    if (!str_to_u64(key, &id))
        return false;
    *ret_id = (int64_t)id;
    return true;
}

static void list(struct nv *nv)
{
    struct json_iter it = json_iter(stored_rules(nv));
    struct strbuf out = strbuf_new(nv->arena, 1024);
    int64_t id;

    while (json_next(&it))
        if (is_id(it.key, &id))
            strbuf_fmt(&out, "%s%.*s", out.len ? "," : "", STR_ARG(json_str(it.value)));
    nv_reply_query(nv, jsonf(nv->arena, "{'rules':[%r]}", out.len ? strbuf_str(&out) : STR(" ")));
}

static void tell_state(struct nv *nv)
{
    bool enabled = str_eq(json_str(json_get(stored_rules(nv), STR("enabled"))), STR("true"));

    nv_reply_query(nv, jsonf(nv->arena,
                             "{'state':{'enable':%b,'mode':'monitor','default_action':'allow',"
                             "'failure_policy':'ignore','cfg_type':'user_created'},'k8s_env':true}",
                             enabled));
}

static bool exists(struct nv *nv, int64_t id)
{
    return json_is(json_get(stored_rules(nv), str_fmt(nv->arena, "%lld", (long long)id)),
                   JSON_STRING);
}

/* What a change needs: a rule that is there, and no custom resource's. */
static bool may_change(struct nv *nv, int64_t id)
{
    if (id >= CUSTOM_RESOURCES)
        nv_reply_error(nv, 400, 4, "Operation not allowed");
    else if (!exists(nv, id))
        nv_reply_error(nv, 404, 7, "Object not found");
    else
        return true;
    return false;
}

static int64_t next_id(struct nv *nv)
{
    struct json_iter it = json_iter(stored_rules(nv));
    int64_t next = FIRST_ID, id;

    while (json_next(&it))
        if (is_id(it.key, &id) && id >= next && id < CUSTOM_RESOURCES)
            next = id + 1;
    return next;
}

/* As NeuVector stores it: with the id, and with what it adds by itself. */
static struct str rule_of(struct nv *nv, struct json config, int64_t id)
{
    return jsonf(
        nv->arena,
        "{'id':%d,'category':%s,'comment':%s,'criteria':%r,'disable':%b,'critical':false,"
        "'cfg_type':%s,'rule_type':%s,'rule_mode':%s,'containers':%r}",
        id, json_str(json_get(config, STR("category"))), json_str(json_get(config, STR("comment"))),
        json_raw(json_get(config, STR("criteria"))), json_bool(json_get(config, STR("disable"))),
        json_str(json_get(config, STR("cfg_type"))), json_str(json_get(config, STR("rule_type"))),
        json_str(json_get(config, STR("rule_mode"))),
        json_raw(json_get(config, STR("containers"))));
}

static void put(struct nv *nv, bool creates)
{
    struct error ignored = { 0 };
    struct json config = { NULL, 0 };
    int64_t id = 0;
    struct str rule;

    json_read(nv->arena, http_view(nv->exchange)->body, &json_limits_default, &config, &ignored);
    config = json_get(config, STR("config"));
    json_int64(json_get(config, STR("id")), &id);
    if (!json_is(json_get(config, STR("criteria")), JSON_ARRAY) || (creates && exists(nv, id))) {
        nv_reply_error(nv, 400, 6, "Request in wrong format");
        return;
    }
    if (!creates && !may_change(nv, id))
        return;
    if (creates)
        id = next_id(nv);
    rule = rule_of(nv, config, id);
    store(nv, id, rule);
    if (creates)
        nv_reply_query(nv, jsonf(nv->arena, "{'rule':%r}", rule));
    else
        nv_reply_empty(nv);
}

static void delete_rule(struct nv *nv, struct str key)
{
    int64_t id = 0;

    if (!is_id(key, &id)) {
        nv_reply_error(nv, 400, 6, "Request in wrong format");
        return;
    }
    if (!may_change(nv, id))
        return;
    store(nv, id, STR(""));
    nv_reply_empty(nv);
}

bool nv_handle_admission(struct nv *nv)
{
    const struct str rule = STR("v1/admission/rule/");

    if (!str_starts(nv->path, STR("v1/admission/")))
        return false;
    if (nv_is(nv, "GET", "v1/admission/state"))
        tell_state(nv);
    else if (nv_is(nv, "GET", "v1/admission/rules"))
        list(nv);
    else if (!nv_may_write(nv))
        return true;
    else if (nv_is(nv, "POST", "v1/admission/rule") || nv_is(nv, "PATCH", "v1/admission/rule"))
        put(nv, nv_is(nv, "POST", "v1/admission/rule"));
    else if (str_eq(http_view(nv->exchange)->method, STR("DELETE")) && str_starts(nv->path, rule))
        delete_rule(nv, str_slice(nv->path, rule.len, nv->path.len));
    else
        nv_reply_error(nv, 404, 1, "URL not found");
    return true;
}
