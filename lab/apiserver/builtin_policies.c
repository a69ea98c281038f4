/* SPDX-License-Identifier: Apache-2.0 */
/* builtin_policies.c: expressions are compiled with the variables before them, as they will be. */
#include "lab/apiserver/builtin_policies.h"

#include "lab/apiserver/builtin_webhooks.h"
#include "lab/apiserver/policy.h"

#define STRING_OR_NULL (1u << CEL_STRING | 1u << CEL_NULL)

/* A policy whose expressions are being checked. */
struct checked {
    struct policy_env is;
    struct str policy;
};

static bool is(const struct kind *kind, const char *plural)
{
    return !kind_has(kind, KIND_CUSTOM) && str_eq(kind->plural, str_of(plural)) &&
           str_eq(kind->group, STR("admissionregistration.k8s.io"));
}

static void required(struct findings *found, const struct path *up, const char *member,
                     const char *detail)
{
    struct path at = path_field(up, str_of(member));

    finding_required(found, &at, str_of(detail));
}

/* Of `words`, separated by ' '. */
static void check_word(const struct value *object, const struct path *up, const char *member,
                       const char *words, struct findings *found)
{
    struct path at = path_field(up, str_of(member));

    webhook_validate_word(value_get(object, str_of(member)), &at, words, found);
}

static bool has_newline(struct str text)
{
    return str_find_char(text, '\n', 0) >= 0 || str_find_char(text, '\r', 0) >= 0;
}

static void check_rules(const struct value *constraints, const struct path *up, const char *member,
                        struct findings *found)
{
    struct path list = path_field(up, str_of(member));
    const struct value *m = value_first(value_get(constraints, str_of(member)));

    for (uint32_t i = 0; m; m = value_next(m), i++) {
        struct path at = path_index(&list, i);

        webhook_validate_rule(m, &at, found);
    }
}

static void check_constraints(const struct value *constraints, const struct path *at,
                              struct findings *found)
{
    check_word(constraints, at, "matchPolicy", "Equivalent Exact", found);
    check_rules(constraints, at, "resourceRules", found);
    check_rules(constraints, at, "excludeResourceRules", found);
}

static void check_param_kind(const struct value *kind, const struct path *at,
                             struct findings *found)
{
    if (!kind)
        return;
    if (value_text(value_get(kind, STR("apiVersion"))).len == 0)
        required(found, at, "apiVersion", "");
    if (value_text(value_get(kind, STR("kind"))).len == 0)
        required(found, at, "kind", "");
}

/* An expression that must give one of `kinds`; what is shown is the expression as it stands. */
static void check_expression(struct arena *arena, const struct checked *p,
                             const struct value *object, const char *member, unsigned kinds,
                             const struct path *up, struct findings *found)
{
    struct path at = path_field(up, str_of(member));
    const struct value *text = value_get(object, str_of(member));
    struct str why;

    if (!admission_compile(arena, &p->is.env, value_text(text), kinds, &why))
        finding_invalid(found, &at, text, why);
}

static void check_variables(struct arena *arena, const struct checked *p, const struct value *list,
                            const struct path *up, struct findings *found)
{
    struct path all = path_field(up, STR("variables"));
    uint32_t i = 0;

    for (const struct value *m = value_first(list); m; m = value_next(m), i++) {
        const struct policy_variable *variable = &p->is.variables.items[i];
        struct path at = path_index(&all, i), name = path_field(&at, STR("name"));
        struct path expression = path_field(&at, STR("expression"));
        struct str escaped;

        if (str_trim(variable->name).len == 0)
            finding_required(found, &name, STR("name is not specified"));
        else if (!cel_escape(arena, variable->name, &escaped) || !str_eq(escaped, variable->name))
            finding_invalid(found, &name, value_get(m, STR("name")),
                            STR("must be a valid CEL identifier"));
        if (str_trim(value_text(value_get(m, STR("expression")))).len == 0)
            finding_required(found, &expression, STR("expression is not specified"));
        else if (!variable->program)
            finding_invalid(found, &expression, value_get(m, STR("expression")), variable->why);
    }
}

static void check_message(const struct value *validation, const struct path *up,
                          struct findings *found)
{
    struct path at = path_field(up, STR("message"));
    const struct value *message = value_get(validation, STR("message"));
    struct str trimmed = str_trim(value_text(message));

    if (value_text(message).len && trimmed.len == 0)
        finding_invalid(found, &at, message, STR("must be non-empty if specified"));
    else if (has_newline(trimmed))
        finding_invalid(found, &at, message, STR("must not contain line breaks"));
}

static void check_validation(struct arena *arena, const struct checked *p, const struct value *m,
                             const struct path *at, struct findings *found)
{
    struct path said = path_field(at, STR("messageExpression"));
    const struct value *message = value_get(m, STR("messageExpression"));

    if (str_trim(value_text(value_get(m, STR("expression")))).len == 0)
        required(found, at, "expression", "expression is not specified");
    else
        check_expression(arena, p, m, "expression", ADMISSION_BOOL, at, found);
    if (value_text(message).len && str_trim(value_text(message)).len == 0)
        finding_invalid(found, &said, message, STR("must be non-empty if specified"));
    else if (value_text(message).len)
        check_expression(arena, p, m, "messageExpression", 1u << CEL_STRING, at, found);
    check_message(m, at, found);
    check_word(m, at, "reason", "Forbidden Invalid RequestEntityTooLarge", found);
}

static void check_annotation(struct arena *arena, const struct checked *p, const struct value *m,
                             const struct path *at, struct findings *found)
{
    struct path key = path_field(at, STR("key"));

    meta_validate_key(str_fmt(arena, "%.*s/%.*s", STR_ARG(p->policy),
                              STR_ARG(value_text(value_get(m, STR("key"))))),
                      &key, found);
    if (str_trim(value_text(value_get(m, STR("valueExpression")))).len == 0)
        required(found, at, "valueExpression", "valueExpression is not specified");
    else
        check_expression(arena, p, m, "valueExpression", STRING_OR_NULL, at, found);
}

static void check_lists(struct arena *arena, const struct checked *p, const struct value *spec,
                        const struct path *at, struct findings *found)
{
    static const struct {
        const char *member;
        void (*check)(struct arena *arena, const struct checked *p, const struct value *m,
                      const struct path *at, struct findings *found);
    } lists[] = { { "validations", check_validation }, { "auditAnnotations", check_annotation } };

    for (size_t i = 0; i < 2; i++) {
        struct path list = path_field(at, str_of(lists[i].member));
        const struct value *m = value_first(value_get(spec, str_of(lists[i].member)));

        if (value_count(value_get(spec, STR("validations"))) == 0 &&
            value_count(value_get(spec, STR("auditAnnotations"))) == 0)
            finding_required(found, &list,
                             STR("validations or auditAnnotations must contain at least one item"));
        for (uint32_t k = 0; m; m = value_next(m), k++) {
            struct path one = path_index(&list, k);

            lists[i].check(arena, p, m, &one, found);
        }
    }
}

static void check_policy(struct arena *arena, struct str name, const struct value *spec,
                         struct findings *found)
{
    struct path at = path_field(NULL, STR("spec"));
    struct path param = path_field(&at, STR("paramKind"));
    struct path constraints = path_field(&at, STR("matchConstraints"));
    struct path conditions = path_field(&at, STR("matchConditions"));
    struct checked p = { .policy = name };
    struct cel_env env;
    struct json json;
    struct error err;

    if (json_read(arena, value_json(arena, spec), &json_limits_default, &json, &err) != 0)
        return;
    p.is = policy_env_of(arena, json);
    env = admission_env(arena, value_get(spec, STR("paramKind")) != NULL, NULL);
    check_word(spec, &at, "failurePolicy", "Fail Ignore", found);
    check_param_kind(value_get(spec, STR("paramKind")), &param, found);
    if (!value_get(spec, STR("matchConstraints"))) {
        finding_required(found, &constraints, STR(""));
    } else {
        check_constraints(value_get(spec, STR("matchConstraints")), &constraints, found);
        if (value_count(value_walk(spec, "matchConstraints", "resourceRules", NULL)) == 0)
            required(found, &constraints, "resourceRules", "");
    }
    admission_check_conditions(&env, value_get(spec, STR("matchConditions")), &conditions, found);
    check_variables(arena, &p, value_get(spec, STR("variables")), &at, found);
    check_lists(arena, &p, spec, &at, found);
}

static void check_param_ref(const struct value *ref, const struct path *at, struct findings *found)
{
    struct path name = path_field(at, STR("name")), selector = path_field(at, STR("selector"));
    bool named = value_text(value_get(ref, STR("name"))).len > 0;
    bool selects = value_get(ref, STR("selector")) != NULL;

    if (!ref)
        return;
    if (named && selects) {
        finding_forbidden(found, &name, STR("name and selector are mutually exclusive"));
        finding_forbidden(found, &selector, STR("name and selector are mutually exclusive"));
    }
    if (!named && !selects)
        finding_required(found, at, STR("one of name or selector must be specified"));
    if (value_text(value_get(ref, STR("parameterNotFoundAction"))).len == 0)
        required(found, at, "parameterNotFoundAction", "");
    else
        check_word(ref, at, "parameterNotFoundAction", "Deny Allow", found);
}

static void check_actions(const struct value *actions, const struct path *at,
                          struct findings *found)
{
    struct map *seen = map_new(found->arena, 4);
    uint32_t i = 0;

    for (const struct value *m = value_first(actions); m; m = value_next(m), i++) {
        struct path here = path_index(at, i);

        webhook_validate_word(m, &here, "Audit Deny Warn", found);
        if (!map_put(seen, value_text(m), seen))
            finding_duplicate(found, &here, m);
    }
    if (map_get(seen, STR("Deny")) && map_get(seen, STR("Warn")))
        finding_invalid(found, at, actions,
                        STR("must not contain both Deny and Warn (repeating the same validation "
                            "failure information in the API response and headers serves no "
                            "purpose)"));
    if (i == 0)
        finding_required(found, at, STR("at least one validation action is required"));
}

static void check_binding(const struct value *spec, struct findings *found)
{
    struct path at = path_field(NULL, STR("spec"));
    struct path ref = path_field(&at, STR("paramRef"));
    struct path resources = path_field(&at, STR("matchResources"));
    struct path actions = path_field(&at, STR("validationActions"));
    struct path name = path_field(&at, STR("policyName"));
    const struct value *policy = value_get(spec, STR("policyName"));

    if (value_text(policy).len == 0)
        finding_required(found, &name, STR(""));
    else
        meta_validate_name(policy, &name, found);
    check_param_ref(value_get(spec, STR("paramRef")), &ref, found);
    if (value_get(spec, STR("matchResources")))
        check_constraints(value_get(spec, STR("matchResources")), &resources, found);
    check_actions(value_get(spec, STR("validationActions")), &actions, found);
}

void policy_validate(struct arena *arena, const struct kind *kind, const struct value *object,
                     struct findings *found)
{
    const struct value *spec = value_get(object, STR("spec"));

    if (is(kind, "validatingadmissionpolicies"))
        check_policy(arena, meta_text(object, "name"), spec ? spec : value_object(arena), found);
    else if (is(kind, "validatingadmissionpolicybindings"))
        check_binding(spec, found);
}
