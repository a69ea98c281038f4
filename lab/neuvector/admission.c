/* SPDX-License-Identifier: Apache-2.0 */
/* admission.c: docs/protocols/neuvector.md, section 9.2. Nothing is admitted or rejected by these
 * rules. */
#include "lab/neuvector/admission.h"

#include "lab/neuvector/rule_store.h"
#include "lab/rancher/jsonf.h"

static const struct nv_rule_store rules = { STR_INIT("neuvector-admission"), 1000 };

static void tell_state(struct nv *nv)
{
    bool enabled =
        str_eq(json_str(json_get(nv_stored_rules(nv, &rules), STR("enabled"))), STR("true"));

    nv_reply_query(nv, jsonf(nv->arena,
                             "{'state':{'enable':%b,'mode':'monitor','default_action':'allow',"
                             "'failure_policy':'ignore','cfg_type':'user_created'},'k8s_env':true}",
                             enabled));
}

/* What a change needs: a rule that is there, and no custom resource's. */
static bool may_change(struct nv *nv, int64_t id)
{
    if (id >= NV_CUSTOM_RESOURCES)
        nv_reply_error(nv, 400, 4, "Operation not allowed");
    else if (!nv_rule_exists(nv, &rules, id))
        nv_reply_error(nv, 404, 7, "Object not found");
    else
        return true;
    return false;
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
    if (!json_is(json_get(config, STR("criteria")), JSON_ARRAY) ||
        (creates && nv_rule_exists(nv, &rules, id))) {
        nv_reply_error(nv, 400, 6, "Request in wrong format");
        return;
    }
    if (!creates && !may_change(nv, id))
        return;
    if (creates)
        id = nv_next_rule_id(nv, &rules);
    rule = rule_of(nv, config, id);
    nv_store_rule(nv, &rules, id, rule);
    if (creates)
        nv_reply_query(nv, jsonf(nv->arena, "{'rule':%r}", rule));
    else
        nv_reply_empty(nv);
}

static void delete_rule(struct nv *nv, struct str key)
{
    int64_t id = 0;

    if (!nv_is_rule_id(key, &id)) {
        nv_reply_error(nv, 400, 6, "Request in wrong format");
        return;
    }
    if (!may_change(nv, id))
        return;
    nv_store_rule(nv, &rules, id, STR(""));
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
        nv_list_rules(nv, &rules);
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
