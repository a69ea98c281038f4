/* SPDX-License-Identifier: Apache-2.0 */
/* roles_aggregate.c: a ClusterRole with an aggregationRule has the rules of all that its selectors
 * select, by name, each rule once. What it says itself is replaced. Source:
 * k8s.io/kubernetes/pkg/controller/clusterroleaggregation. */
#include "lab/apiserver/object.h"
#include "lab/apiserver/roles.h"

#include "base/map.h"

/* A role may aggregate one that is aggregated. Circles have come to rest long before. */
enum { PASSES_MAX = 16 };

static const struct kube_resource clusterroles =
    KUBE_RESOURCE_INIT("rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", false);

static bool selects(struct arena *arena, struct json role, struct json other)
{
    struct json labels = json_walk(other, "metadata", "labels", NULL);
    struct json_iter it =
        json_iter(json_walk(role, "aggregationRule", "clusterRoleSelectors", NULL));
    struct selector selector;
    struct error err;

    while (json_next(&it))
        if (selector_read(arena, it.value, &selector, &err) == 0 &&
            selector_matches(NULL, &selector, labels))
            return true;
    return false;
}

static void add_rules(struct arena *arena, struct json other, struct map *seen, struct value *rules)
{
    struct json_iter it = json_iter(json_get(other, STR("rules")));

    while (json_next(&it)) {
        struct value *rule = value_of(arena, it.value);
        struct strbuf text = strbuf_new(arena, 128);

        value_write(rule, true, &text);
        if (map_put(seen, str_dup(arena, strbuf_str(&text)), rule))
            value_append(rules, rule);
    }
}

static struct value *union_of(struct arena *arena, struct json role, const struct json *all,
                              uint32_t count)
{
    struct str name = json_str(json_walk(role, "metadata", "name", NULL));
    struct value *rules = value_array(arena);
    struct map *seen = map_new(arena, 64);

    for (uint32_t i = 0; i < count; i++)
        if (!str_eq(json_str(json_walk(all[i], "metadata", "name", NULL)), name) &&
            selects(arena, role, all[i]))
            add_rules(arena, all[i], seen, rules);
    return value_count(rules) ? rules : value_null(arena);
}

static int put_rules(struct request *rq, void *context, const struct value *now,
                     struct value **ret_object)
{
    *ret_object = value_clone(rq->arena, now);
    value_set(rq->arena, *ret_object, STR("rules"), value_clone(rq->arena, context));
    return 0;
}

/* True if it was changed. */
static bool bring_up(struct api *api, struct arena *arena, struct str cluster, struct json role,
                     struct value *rules)
{
    const struct value *now = value_of(arena, json_get(role, STR("rules")));
    struct edit edit = { put_rules, rules };
    struct request rq;
    struct error err;
    struct str object;

    if (value_equal(now, rules) || (value_count(now) == 0 && value_count(rules) == 0) ||
        request_begin(api, arena, cluster, &clusterroles, &rq, &err) != 0)
        return false;
    rq.verb = VERB_UPDATE;
    rq.name = json_str(json_walk(role, "metadata", "name", NULL));
    rq.field_manager = STR("clusterrole-aggregation-controller");
    rq.aggregates = true;
    if (do_update(&rq, &edit, &object) == 0)
        return true;
    /* Gone meanwhile: whoever removed it aggregates next. */
    if (rq.failure.code != 404)
        log_warn(api->log, "aggregated role not brought up to date", LOG_STR("role", rq.name),
                 LOG_STR("error", rq.failure.message));
    return false;
}

static bool pass(struct api *api, struct str cluster)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct collection of = { cluster, clusterroles.group, clusterroles.plural, STR("") };
    struct store_page page;
    struct error err;
    struct json *all;
    bool changed = false;

    if (store_list(api->store, arena, &of, NULL, 0, 0, &page, &err) != STORE_DONE) {
        log_error(api->log, "store failed", LOG_Z("error", err.text));
        return false;
    }
    all = arena_array(arena, struct json, page.rows.count + 1);
    for (uint32_t i = 0; i < page.rows.count; i++)
        if (json_read(arena, page.rows.items[i].object, &json_limits_default, &all[i], &err) != 0)
            return false;
    for (uint32_t i = 0; i < page.rows.count; i++)
        if (json_is(json_get(all[i], STR("aggregationRule")), JSON_OBJECT))
            changed |= bring_up(api, arena, cluster, all[i],
                                union_of(arena, all[i], all, page.rows.count));
    return changed;
}

/* One at a time: each begins with a list that has its own cause in it, so the last one has seen
 * everything. */
void roles_aggregate(struct api *api, struct str cluster)
{
    pthread_mutex_lock(&api->aggregation);
    for (int i = 0; i < PASSES_MAX && pass(api, cluster); i++)
        continue;
    pthread_mutex_unlock(&api->aggregation);
}
