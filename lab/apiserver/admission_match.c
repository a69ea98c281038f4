/* SPDX-License-Identifier: Apache-2.0 */
/* admission_match.c: is a webhook to be asked about this request?
 * Source: k8s.io/apiserver/pkg/admission/plugin/webhook/predicates. */
#include "lab/apiserver/admission_cel.h"
#include "lab/apiserver/object.h"

static bool names(struct json list, struct str text)
{
    struct json_iter it = json_iter(list);

    while (json_next(&it))
        if (str_eq(json_str(it.value), text) || str_eq(json_str(it.value), STR("*")))
            return true;
    return false;
}

/* "stacks", "stacks/status", "stacks/_" with a star for either part. */
static bool names_resource(struct json list, struct str plural, struct str sub)
{
    struct json_iter it = json_iter(list);

    while (json_next(&it)) {
        struct str row = json_str(it.value);
        ptrdiff_t slash = str_find_char(row, '/', 0);
        struct str first = slash < 0 ? row : str_slice(row, 0, (size_t)slash);
        struct str second = slash < 0 ? STR("") : str_slice(row, (size_t)slash + 1, row.len);

        if ((str_eq(first, STR("*")) || str_eq(first, plural)) &&
            (str_eq(second, sub) || (slash >= 0 && str_eq(second, STR("*")))))
            return true;
    }
    return false;
}

/* With matchPolicy Equivalent a rule for another version of the same resource counts too. */
static bool names_version(const struct request *rq, struct json hook, struct json rule)
{
    struct json versions = json_get(rule, STR("apiVersions"));

    if (names(versions, rq->kind->version))
        return true;
    if (str_eq(json_str(json_get(hook, STR("matchPolicy"))), STR("Exact")))
        return false;
    for (uint32_t i = 0; i < catalog_count(rq->catalog); i++) {
        const struct kind *kind = catalog_at(rq->catalog, i);

        if (str_eq(kind->group, rq->kind->group) && str_eq(kind->plural, rq->kind->plural) &&
            names(versions, kind->version))
            return true;
    }
    return false;
}

static bool rule_matches(const struct admission_facts *facts, struct json hook, struct json rule)
{
    const struct request *rq = facts->rq;
    struct str scope = json_str(json_get(rule, STR("scope")));

    if (str_eq(scope, STR("Cluster")) && rq->kind->namespaced)
        return false;
    if (str_eq(scope, STR("Namespaced")) && !rq->kind->namespaced)
        return false;
    return names(json_get(rule, STR("operations")), str_of(facts->operation)) &&
           names(json_get(rule, STR("apiGroups")), rq->kind->group) &&
           names_version(rq, hook, rule) &&
           names_resource(json_get(rule, STR("resources")), rq->kind->plural, rq->sub_resource);
}

/* A rule of a policy may be for some names only. */
static bool names_object(const struct admission_facts *facts, struct json rule)
{
    struct json list = json_get(rule, STR("resourceNames"));
    struct json_iter it = json_iter(list);

    while (json_next(&it))
        if (str_eq(json_str(it.value), facts->rq->name))
            return true;
    return json_count(list) == 0;
}

/* `hook` says its matchPolicy, and has rules at `member`. */
static bool any_rule(const struct admission_facts *facts, struct json hook, const char *member)
{
    struct json_iter it = json_iter(json_get(hook, str_of(member)));

    while (json_next(&it))
        if (rule_matches(facts, hook, it.value) && names_object(facts, it.value))
            return true;
    return false;
}

static bool selects(struct arena *arena, struct json selector, const struct value *labels)
{
    struct selector s;
    struct json view = { 0 };
    struct error err;
    struct str text = labels ? value_json(arena, labels) : STR("{}");

    if (json_count(selector) == 0)
        return true;
    /* A selector that cannot be read was rejected when it was applied; ask rather than skip. */
    if (selector_read(arena, selector, &s, &err) != 0 ||
        json_read(arena, text, &json_limits_default, &view, &err) != 0)
        return true;
    return selector_matches(NULL, &s, view);
}

static bool namespace_selected(const struct admission_facts *facts, struct json selector)
{
    struct request *rq = facts->rq;
    const struct value *object = facts->object ? facts->object : facts->old;
    const struct kind *namespaces =
        catalog_find(rq->catalog, STR(""), STR("v1"), STR("namespaces"));
    struct request asked = *rq;
    struct value *namespace_;
    uint64_t version;

    if (json_count(selector) == 0)
        return true;
    if (rq->kind == namespaces)
        return selects(rq->arena, selector, meta_get(object, "labels"));
    if (!rq->kind->namespaced)
        return true;
    if (request_load(&asked, namespaces, STR(""), rq->namespace_, &namespace_, &version) != 0)
        return selects(rq->arena, selector, NULL);
    return selects(rq->arena, selector, meta_get(namespace_, "labels"));
}

static bool object_selected(const struct admission_facts *facts, struct json selector)
{
    struct arena *arena = facts->rq->arena;

    if (json_count(selector) == 0)
        return true;
    return (facts->object && selects(arena, selector, meta_get(facts->object, "labels"))) ||
           (facts->old && selects(arena, selector, meta_get(facts->old, "labels")));
}

static int conditions_hold(const struct admission_facts *facts, struct json hook, bool *ret_hold,
                           struct str *ret_why)
{
    struct json conditions = json_get(hook, STR("matchConditions"));
    struct cel_value values[ADMISSION_VALUES];
    struct cel_env env;

    *ret_hold = true;
    if (json_count(conditions) == 0)
        return 0;
    if (admission_values(facts, values) != 0) {
        *ret_hold = false;
        *ret_why = facts->rq->failure.message;
        return -1;
    }
    env = admission_env(facts->rq->arena, false, NULL);
    return admission_conditions(facts->rq->arena, &env, values, conditions, ret_hold, ret_why);
}

bool admission_constrained(const struct admission_facts *facts, struct json constraints)
{
    bool all = json_count(json_get(constraints, STR("resourceRules"))) == 0;

    return namespace_selected(facts, json_get(constraints, STR("namespaceSelector"))) &&
           object_selected(facts, json_get(constraints, STR("objectSelector"))) &&
           !any_rule(facts, constraints, "excludeResourceRules") &&
           (all || any_rule(facts, constraints, "resourceRules"));
}

int admission_matches(const struct admission_facts *facts, struct json hook, bool *ret_matches,
                      struct str *ret_why)
{
    *ret_matches = any_rule(facts, hook, "rules") &&
                   namespace_selected(facts, json_get(hook, STR("namespaceSelector"))) &&
                   object_selected(facts, json_get(hook, STR("objectSelector")));
    return *ret_matches ? conditions_hold(facts, hook, ret_matches, ret_why) : 0;
}
