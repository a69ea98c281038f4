/* SPDX-License-Identifier: Apache-2.0 */
/* roles_admit.c: the check against escalation. Who writes a role must have its rights already, or
 * the verb "escalate" on it; who writes a binding must have the rights of its role, or the verb
 * "bind" on that. Source: k8s.io/kubernetes/pkg/registry/rbac (policybased storage,
 * escalation_check.go). */
#include "lab/apiserver/object.h"
#include "lab/apiserver/roles.h"

static bool may(struct request *rq, const char *verb, const char *resource, struct str name,
                struct str namespace_)
{
    struct access access = {
        .verb = str_of(verb),
        .group = rq->kind->group,
        .version = rq->kind->version,
        .resource = str_of(resource),
        .name = name,
        .namespace_ = namespace_,
    };
    struct str why;

    return roles_allow(rq, rq->caller, &access, &why);
}

static void put_groups(struct strbuf *out, const struct str_list *groups)
{
    for (uint32_t i = 0; i < groups->count; i++) {
        if (i)
            strbuf_char(out, ' ');
        finding_quote(out, groups->items[i]);
    }
}

static int reject(struct request *rq, const struct str_list *missing)
{
    struct failure_subject subject = request_subject(rq);
    struct strbuf text = strbuf_new(rq->arena, 512);

    strbuf_lit(&text, "user ");
    finding_quote(&text, rq->caller->user);
    strbuf_lit(&text, " (groups=[");
    put_groups(&text, &rq->caller->groups);
    strbuf_lit(&text, "]) is attempting to grant RBAC permissions not currently held:");
    for (uint32_t i = 0; i < missing->count; i++) {
        strbuf_char(&text, '\n');
        strbuf_put(&text, missing->items[i]);
    }
    return fail_forbidden(&rq->failure, &subject, strbuf_str(&text));
}

static struct rbac_rules rules_in(struct request *rq, struct str text)
{
    struct json rules = { 0 };
    struct error err;

    if (json_read(rq->arena, text, &json_limits_default, &rules, &err) != 0)
        return rbac_rules_new(rq->arena, 0);
    return rbac_rules_read(rq->arena, rules);
}

/* What of these rights the caller does not have. */
static int missing_of(struct request *rq, const struct rbac_rules *wanted,
                      struct str_list *ret_missing)
{
    const struct rbac_policy *policy = roles_policy(rq);
    const struct rbac_user user = { rq->caller->user, rq->caller->groups };
    struct rbac_rules held;

    if (!policy)
        return -1;
    held = rbac_rules_of(policy, rq->arena, &user, rq->namespace_);
    *ret_missing = rbac_missing(rq->arena, &held, wanted);
    return 0;
}

static int admit_role(struct request *rq, const struct value *old, const struct value *object)
{
    const struct value *rules = value_get(object, STR("rules"));
    struct failure_subject subject = request_subject(rq);
    struct rbac_rules wanted;
    struct str_list missing;

    if (old && value_equal(value_get(old, STR("rules")), rules) &&
        value_equal(value_get(old, STR("aggregationRule")),
                    value_get(object, STR("aggregationRule"))))
        return 0;
    if (may(rq, "escalate", str_z(rq->arena, rq->kind->plural), rq->name, rq->namespace_))
        return 0;
    wanted = rules_in(rq, rules ? value_json(rq->arena, rules) : STR("[]"));
    if (missing_of(rq, &wanted, &missing) != 0)
        return -1;
    if (missing.count)
        return reject(rq, &missing);
    if (value_kind(value_get(object, STR("aggregationRule"))) != JSON_OBJECT)
        return 0;
    wanted = rules_in(rq, STR("[{\"verbs\":[\"*\"],\"apiGroups\":[\"*\"],\"resources\":[\"*\"]},"
                              "{\"verbs\":[\"*\"],\"nonResourceURLs\":[\"*\"]}]"));
    if (missing_of(rq, &wanted, &missing) != 0)
        return -1;
    if (missing.count == 0)
        return 0;
    return fail_forbidden(&rq->failure, &subject,
                          STR("must have cluster-admin privileges to use the aggregationRule"));
}

static int admit_binding(struct request *rq, const struct value *old, const struct value *object)
{
    const struct value *role = value_get(object, STR("roleRef"));
    struct str name = value_text(value_get(role, STR("name")));
    bool whole = str_eq(value_text(value_get(role, STR("kind"))), STR("ClusterRole"));
    struct failure_subject subject = request_subject(rq);
    const struct rbac_policy *policy;
    struct rbac_rules wanted;
    struct str_list missing;

    if (old && value_equal(value_get(old, STR("roleRef")), role) &&
        value_equal(value_get(old, STR("subjects")), value_get(object, STR("subjects"))))
        return 0;
    if (may(rq, "bind", whole ? "clusterroles" : "roles", name, rq->namespace_))
        return 0;
    policy = roles_policy(rq);
    if (!policy)
        return -1;
    if (!rbac_role(policy, whole ? STR("") : rq->namespace_, name, &wanted)) {
        subject.name = name;
        return fail_not_found(&rq->failure, &subject);
    }
    if (missing_of(rq, &wanted, &missing) != 0)
        return -1;
    return missing.count ? reject(rq, &missing) : 0;
}

int roles_admit(struct request *rq, const struct value *old, const struct value *object)
{
    struct str plural = rq->kind->plural;

    if (rq->internal || kind_has(rq->kind, KIND_CUSTOM) ||
        !str_eq(rq->kind->group, STR("rbac.authorization.k8s.io")) ||
        str_list_has(&rq->caller->groups, STR("system:masters")))
        return 0;
    if (str_eq(plural, STR("roles")) || str_eq(plural, STR("clusterroles")))
        return admit_role(rq, old, object);
    return admit_binding(rq, old, object);
}
