/* SPDX-License-Identifier: Apache-2.0 */
/* response.c: docs/protocols/neuvector.md, section 9.3: what is checked of a rule, and in which
 * words it is refused. Nothing happens by these rules. */
#include "lab/neuvector/response.h"

#include "lab/neuvector/rule_store.h"
#include "lab/rancher/jsonf.h"

#define RULE "v1/response/rule"

/* Of the factory's rules, which are disabled, the last one is 7. */
static const struct nv_rule_store rules = { STR_INIT("neuvector-response"), 8 };

static struct str text(struct json object, const char *key)
{
    return json_str(json_get(object, str_of(key)));
}

static bool is_one_of(struct str word, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(word, str_of(words[i])))
            return true;
    return false;
}

/* --- what NeuVector checks; "" = nothing is wrong --- */

static struct str wrong_condition(struct nv *nv, struct str event, struct json condition)
{
    static const char *const counted[] = { "cve-critical", "cve-high-only", "cve-high",
                                           "cve-medium" };
    struct str type = text(condition, "type");
    struct str value = text(condition, "value");
    bool counts = is_one_of(type, counted, sizeof(counted) / sizeof(counted[0]));
    uint64_t number;

    if (!str_eq(type, STR("level")) && !str_eq(type, STR("name")) &&
        !(counts && str_eq(event, STR("cve-report"))))
        return str_fmt(nv->arena, "Unsupported condition type for event %.*s", STR_ARG(event));
    if (counts && (!str_to_u64(value, &number) || !number))
        return str_fmt(nv->arena, "Invalid %.*s value:n %.*s", STR_ARG(type), STR_ARG(value));
    return STR("");
}

static struct str wrong_conditions(struct nv *nv, struct json rule)
{
    struct json_iter it = json_iter(json_get(rule, STR("conditions")));
    struct str wrong = STR("No criteria");

    while (json_next(&it)) {
        wrong = wrong_condition(nv, text(rule, "event"), it.value);
        if (wrong.len)
            return wrong;
    }
    return wrong;
}

static struct str wrong_actions(struct nv *nv, struct json rule)
{
    static const char *const actions[] = { "quarantine", "suppress-log", "webhook" };
    struct json_iter it = json_iter(json_get(rule, STR("actions")));

    if (!json_count(json_get(rule, STR("actions"))))
        return STR("No action specified in the response rule");
    while (json_next(&it))
        if (!is_one_of(json_str(it.value), actions, sizeof(actions) / sizeof(actions[0])))
            return str_fmt(nv->arena, "Action %.*s is not supported", STR_ARG(json_str(it.value)));
    return STR("");
}

static bool is_defined(struct nv *nv, struct str webhook)
{
    struct str rest = text(nv_stored_rules(nv, &rules), "webhooks");
    struct str one;

    while (str_split(&rest, ',', &one))
        if (str_eq(one, webhook))
            return true;
    return false;
}

static struct str wrong_webhooks(struct nv *nv, struct json rule)
{
    struct json_iter it = json_iter(json_get(rule, STR("webhooks")));

    while (json_next(&it))
        if (!is_defined(nv, json_str(it.value)))
            return str_fmt(nv->arena, "Webhook %.*s is not defined", STR_ARG(json_str(it.value)));
    return STR("");
}

static struct str wrong(struct nv *nv, struct json rule)
{
    static const char *const events[] = { "security-event",    "event",
                                          "cve-report",        "compliance",
                                          "admission-control", "serverless" };
    struct str event = text(rule, "event");
    struct str group = text(rule, "group");
    struct str words = wrong_conditions(nv, rule);

    if (!is_one_of(event, events, sizeof(events) / sizeof(events[0])))
        return STR("Unsupported event for response rule");
    if (!words.len)
        words = wrong_actions(nv, rule);
    if (!words.len)
        words = wrong_webhooks(nv, rule);
    if (!words.len && group.len && !nv_has_group(nv, group))
        words = str_fmt(nv->arena, "Group %.*s is not found", STR_ARG(group));
    return words;
}

/* --- changes --- */

/* What the request does not say of a rule is as it was. */
static struct str member(struct json now, struct json before, const char *key, struct str none)
{
    struct json value = json_get(now, str_of(key));

    if (json_is(value, JSON_ABSENT))
        value = json_get(before, str_of(key));
    return json_is(value, JSON_ABSENT) ? none : json_raw(value);
}

static struct str merged(struct nv *nv, struct json now, struct json before, int64_t id)
{
    return jsonf(
        nv->arena,
        "{'id':%d,'event':%r,'comment':%r,'group':%r,'conditions':%r,'actions':%r,"
        "'webhooks':%r,'disable':%r,'cfg_type':%r}",
        id, member(now, before, "event", STR("\"\"")), member(now, before, "comment", STR("\"\"")),
        member(now, before, "group", STR("\"\"")), member(now, before, "conditions", STR("[]")),
        member(now, before, "actions", STR("[]")), member(now, before, "webhooks", STR("[]")),
        member(now, before, "disable", STR("false")),
        member(now, before, "cfg_type", STR("\"user_created\"")));
}

static void put(struct nv *nv, struct json now, struct json before, int64_t id)
{
    struct str rule = merged(nv, now, before, id);
    struct error ignored = { 0 };
    struct json read = { NULL, 0 };
    struct str words;

    json_read(nv->arena, rule, &json_limits_default, &read, &ignored);
    words = wrong(nv, read);
    if (words.len) {
        nv_reply_message(nv, 400, 6, "Request in wrong format", words);
        return;
    }
    nv_store_rule(nv, &rules, id, rule);
    nv_reply_empty(nv);
}

static struct json body(struct nv *nv, const char *member_)
{
    struct error ignored = { 0 };
    struct json root = { NULL, 0 };

    json_read(nv->arena, http_view(nv->exchange)->body, &json_limits_default, &root, &ignored);
    return json_get(root, str_of(member_));
}

static void insert(struct nv *nv)
{
    struct json_iter it = json_iter(json_get(body(nv, "insert"), STR("rules")));

    /* Herd inserts one at a time. */
    if (json_next(&it))
        put(nv, it.value, (struct json){ NULL, 0 }, nv_next_rule_id(nv, &rules));
    else
        nv_reply_error(nv, 400, 6, "Request in wrong format");
}

static void change(struct nv *nv, int64_t id, struct json before)
{
    struct json config = body(nv, "config");
    int64_t named = 0;

    if (json_int64(json_get(config, STR("id")), &named) && named == id)
        put(nv, config, before, id);
    else
        nv_reply_message(nv, 400, 6, "Request in wrong format",
                         STR("Rule ID mismatch in the request"));
}

static void delete_rule(struct nv *nv, int64_t id, struct json before)
{
    if (str_eq(text(before, "cfg_type"), STR("ground"))) {
        nv_reply_message(nv, 400, 6, "Request in wrong format",
                         STR("Rule created by CRD cannot be deleted"));
        return;
    }
    nv_store_rule(nv, &rules, id, STR(""));
    nv_reply_empty(nv);
}

static void handle_one(struct nv *nv, struct str key)
{
    struct str method = http_view(nv->exchange)->method;
    struct json before = { NULL, 0 };
    int64_t id = 0;

    if (nv_is_rule_id(key, &id))
        before = nv_find_rule(nv, &rules, id);
    if (!json_is(before, JSON_OBJECT))
        nv_reply_error(nv, 404, 7, "Object not found");
    else if (str_eq(method, STR("PATCH")))
        change(nv, id, before);
    else if (str_eq(method, STR("DELETE")))
        delete_rule(nv, id, before);
    else
        nv_reply_error(nv, 405, 2, "Method not allowed");
}

bool nv_handle_response(struct nv *nv)
{
    const struct str one = STR(RULE "/");

    if (!str_starts(nv->path, STR(RULE)))
        return false;
    if (nv_is(nv, "GET", RULE))
        nv_list_rules(nv, &rules);
    else if (!nv_may_write(nv))
        return true;
    else if (nv_is(nv, "PATCH", RULE))
        insert(nv);
    else if (str_starts(nv->path, one))
        handle_one(nv, str_slice(nv->path, one.len, nv->path.len));
    else
        nv_reply_error(nv, 404, 1, "URL not found");
    return true;
}
