/* SPDX-License-Identifier: Apache-2.0 */
/* monitors.c: from a settings document to what the list shows, and back. */
#include "lab/suse_observability/monitors.h"

#include "lab/rancher/inside.h"
#include "lab/rancher/jsonf.h"

#define NAME STR("herd-lab-monitors")
#define NAMESPACE STR("default")
#define FUNCTION "{{ get \"urn:stackpack:common:monitor-function:threshold\" }}"

static struct str key_of(struct arena *arena, struct str identifier)
{
    struct strbuf out = strbuf_new(arena, identifier.len);

    for (size_t i = 0; i < identifier.len; i++)
        strbuf_char(&out, identifier.at[i] == ':' ? '.' : identifier.at[i]);
    return strbuf_str(&out);
}

/* The ConfigMap's data; absent while nothing was imported. */
static struct json stored(struct simulation *simulation, struct arena *arena)
{
    struct error err = { 0 };
    struct str object;
    struct json json;

    if (world_get(simulation, arena, LOCAL_CLUSTER, &res_configmaps, NAMESPACE, NAME, &object,
                  &err) != 0 ||
        json_read(arena, object, &json_limits_default, &json, &err) != 0)
        return (struct json){ NULL, 0 };
    return json_get(json, STR("data"));
}

/* `patch`: of its data. */
static void change(struct simulation *simulation, struct arena *arena, struct str patch)
{
    struct error err = { 0 };
    struct str object;

    world_ensure(simulation, arena, LOCAL_CLUSTER, &res_configmaps, NAMESPACE,
                 jsonf(arena,
                       "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':%s,"
                       "'namespace':%s}}",
                       NAME, NAMESPACE),
                 &err);
    world_merge(simulation, arena, LOCAL_CLUSTER, &res_configmaps, NAMESPACE, NAME, STR(""),
                jsonf(arena, "{'data':{%r}}", patch), &object, &err);
}

/* --- the list --- */

static struct str shown(struct arena *arena, struct json monitor, int64_t id, bool fails)
{
    struct json arguments = json_get(monitor, STR("arguments"));
    struct json metric = json_get(arguments, STR("metric"));

    return jsonf(
        arena,
        "{'id':%d,'identifier':%s,'name':%s,'description':%s,'functionId':1,'arguments':["
        "{'_type':'ArgumentComparatorWithoutEqualityVal','id':1,'parameter':1,'value':%s},"
        "{'_type':'ArgumentDoubleVal','id':2,'parameter':2,'value':%r},"
        "{'_type':'ArgumentFailingHealthStateVal','id':3,'parameter':3,'value':%s},"
        "{'_type':'ArgumentPromQLMetricVal','id':4,'parameter':4,'value':{'_type':'PromQLMetric',"
        "'query':%s,'unit':%s,'aliasTemplate':%s}}],'remediationHint':%s,'intervalSeconds':%r,"
        "'tags':%r,'status':%s,'runtimeStatus':%s,'lastUpdateTimestamp':0}",
        id, json_str(json_get(monitor, STR("identifier"))),
        json_str(json_get(monitor, STR("name"))), json_str(json_get(monitor, STR("description"))),
        json_str(json_get(arguments, STR("comparator"))),
        json_raw(json_get(arguments, STR("threshold"))),
        json_str(json_get(arguments, STR("failureState"))),
        json_str(json_get(metric, STR("query"))), json_str(json_get(metric, STR("unit"))),
        json_str(json_get(metric, STR("aliasTemplate"))),
        json_str(json_get(monitor, STR("remediationHint"))),
        json_raw(json_get(monitor, STR("intervalSeconds"))),
        json_raw(json_get(monitor, STR("tags"))), json_str(json_get(monitor, STR("status"))),
        fails ? STR("ERROR") : STR("ENABLED"));
}

void lab_monitors_list(struct simulation *simulation, struct http_exchange *exchange)
{
    const struct fault_place anywhere = { .cluster = STR_INIT("") };
    struct arena *arena = http_view(exchange)->arena;
    struct strbuf out = strbuf_new(arena, 16 * 1024);
    struct fault_rule rule;
    bool fails = faults_strike(simulation, FAULT_SUSE_MONITOR_ERROR, &anywhere, &rule);

    for (struct json_iter it = json_iter(stored(simulation, arena)); json_next(&it);) {
        struct error ignored;
        struct json monitor;

        if (json_read(arena, json_str(it.value), &json_limits_default, &monitor, &ignored) == 0)
            jsonf_put(&out, "%r%r", out.len ? STR(",") : STR(" "),
                      shown(arena, monitor, (int64_t)out.len, fails));
    }
    reply_json(exchange, 200,
               jsonf(arena, "{'monitors':[%r]}", out.len ? strbuf_str(&out) : STR(" ")));
}

/* --- imports --- */

/* The one function that there is, by its name in quotes. */
static struct str evaluated(struct arena *arena, struct str text)
{
    static const struct str function = STR_INIT(FUNCTION);
    struct strbuf out = strbuf_new(arena, text.len);
    size_t at = 0;

    for (ptrdiff_t next; (next = str_find(text, function, at)) >= 0;) {
        strbuf_put(&out, str_slice(text, at, (size_t)next));
        strbuf_lit(&out, "\"threshold\"");
        at = (size_t)next + function.len;
    }
    strbuf_put(&out, str_slice(text, at, text.len));
    return strbuf_str(&out);
}

static bool is_one_of(struct json value, const char *words)
{
    struct str left = str_of(words);
    struct str word;

    while (left.len && str_split(&left, ' ', &word))
        if (str_eq(json_str(value), word))
            return true;
    return false;
}

static bool is_monitor(struct json node)
{
    struct json arguments = json_get(node, STR("arguments"));

    return is_one_of(json_get(node, STR("_type")), "Monitor") &&
           is_one_of(json_get(node, STR("function")), "threshold") &&
           is_one_of(json_get(node, STR("status")), "ENABLED DISABLED") &&
           str_starts(json_str(json_get(node, STR("identifier"))), STR("urn:")) &&
           json_str(json_get(node, STR("name"))).len &&
           json_is(json_get(node, STR("intervalSeconds")), JSON_NUMBER) &&
           is_one_of(json_get(arguments, STR("comparator")), "GT GTE LT LTE") &&
           is_one_of(json_get(arguments, STR("failureState")), "DEVIATING CRITICAL") &&
           json_is(json_get(arguments, STR("threshold")), JSON_NUMBER) &&
           json_str(json_walk(arguments, "metric", "query", NULL)).len &&
           json_str(json_walk(arguments, "metric", "unit", NULL)).len;
}

static void reject(struct http_exchange *exchange, struct str message)
{
    reply_json(exchange, 400,
               jsonf(http_view(exchange)->arena,
                     "{'_type':'ErrorsResponse','trackingKey':'lab','errors':[{'_type':"
                     "'InternalError','message':%s}]}",
                     message));
}

void lab_monitors_import(struct simulation *simulation, struct http_exchange *exchange)
{
    struct arena *arena = http_view(exchange)->arena;
    struct strbuf patch = strbuf_new(arena, 4096);
    struct error err = { 0 };
    struct json root;

    if (json_read(arena, evaluated(arena, http_view(exchange)->body), &json_limits_default, &root,
                  &err) != 0) {
        reject(exchange, str_of(err.text));
        return;
    }
    for (struct json_iter it = json_iter(json_get(root, STR("nodes"))); json_next(&it);) {
        if (!is_monitor(it.value)) {
            reject(exchange, STR("a node is no monitor as the lab understands it"));
            return;
        }
        jsonf_put(&patch, "%r%s:%s", patch.len ? STR(",") : STR(" "),
                  key_of(arena, json_str(json_get(it.value, STR("identifier")))),
                  json_raw(it.value));
    }
    change(simulation, arena, patch.len ? strbuf_str(&patch) : STR(" "));
    reply_json(exchange, 200, json_raw(json_get(root, STR("nodes"))));
}

void lab_monitors_delete(struct simulation *simulation, struct http_exchange *exchange,
                         struct str identifier)
{
    struct arena *arena = http_view(exchange)->arena;
    struct str key = key_of(arena, identifier);

    if (!json_str(json_get(stored(simulation, arena), key)).len) {
        reply_json(exchange, 404,
                   jsonf(arena,
                         "{'_type':'MonitorNotFoundError','monitorId':%s,'monitorIdType':'urn'}",
                         identifier));
        return;
    }
    change(simulation, arena, jsonf(arena, "%s:null", key));
    http_answer(exchange, 204, NULL, STR(""));
}
