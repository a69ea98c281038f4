/* SPDX-License-Identifier: Apache-2.0 */
/* policy.c: from policies and bindings to a rejection, or to warnings. */
#include "lab/apiserver/policy.h"

#include "lab/apiserver/object.h"
#include "lab/limits.h"

/* One binding of a policy, on one request. */
struct decision {
    const struct admission_facts *facts;
    struct str policy, binding;
    struct json spec, actions;
    bool ignores_failure;
    bool denied; /* the first rejection is told, and stands in the request's failure */
};

static struct json read(struct request *rq, struct str text)
{
    struct json json = { 0 };
    struct error err;

    if (json_read(rq->arena, text, &json_limits_default, &json, &err) != 0)
        return (struct json){ 0 };
    return json;
}

static int load(struct request *rq, const char *plural, struct store_page *ret_page)
{
    struct collection of = { rq->cluster, STR("admissionregistration.k8s.io"), str_of(plural),
                             STR("") };
    struct error err;

    if (store_list(rq->api->store, rq->arena, &of, NULL, 0, 0, ret_page, &err) != STORE_DONE)
        return request_store_failed(rq, &err);
    return 0;
}

static const struct reason {
    const char *reason;
    int code;
} reasons[] = {
    { "Invalid", 422 },
    { "Forbidden", 403 },
    { "RequestEntityTooLarge", 413 },
};

static void deny(struct decision *d, struct str reason, struct str why)
{
    struct request *rq = d->facts->rq;
    struct failure_subject subject = request_subject(rq);
    struct str bound =
        d->binding.len ? str_fmt(rq->arena, " with binding '%.*s'", STR_ARG(d->binding)) : STR("");
    struct str message =
        str_fmt(rq->arena, "ValidatingAdmissionPolicy '%.*s'%.*s denied request: %.*s",
                STR_ARG(d->policy), STR_ARG(bound), STR_ARG(why));

    if (d->denied)
        return;
    d->denied = true;
    fail_forbidden(&rq->failure, &subject, message);
    rq->failure.reason = reason;
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
        if (str_eq(reason, str_of(reasons[i].reason)))
            rq->failure.code = reasons[i].code;
    findings_push(&rq->failure.causes, (struct finding){ FINDING_INVALID, { "", 0 }, message });
}

/* A validation that does not hold: as the binding's actions say. */
static void act(struct decision *d, struct str reason, struct str message)
{
    struct json_iter it = json_iter(d->actions);
    struct request *rq = d->facts->rq;

    while (json_next(&it)) {
        if (str_eq(json_str(it.value), STR("Deny")))
            deny(d, reason, message);
        else if (str_eq(json_str(it.value), STR("Warn")))
            request_warn(rq, str_fmt(rq->arena,
                                     "Validation failed for ValidatingAdmissionPolicy '%.*s' with "
                                     "binding '%.*s': %.*s",
                                     STR_ARG(d->policy), STR_ARG(d->binding), STR_ARG(message)));
    }
}

/* An error of the policy's own: nobody is warned of it if it is to be ignored. */
static void fail_policy(struct decision *d, struct str why)
{
    if (!d->ignores_failure)
        act(d, STR("Invalid"), why);
}

/* A binding that cannot be put to work. */
static void misconfigured(struct decision *d, const char *what, struct str why)
{
    struct request *rq = d->facts->rq;

    if (!d->ignores_failure)
        deny(d, STR("Invalid"),
             str_fmt(rq->arena, "failed to configure %s: %.*s", what, STR_ARG(why)));
}

struct policy_env policy_env_of(struct arena *arena, struct json spec)
{
    struct json list = json_get(spec, STR("variables"));
    bool has_params = json_is(json_get(spec, STR("paramKind")), JSON_OBJECT);
    struct cel_type *type = cel_type_struct(arena, STR("kubernetes.variables"));
    struct policy_env p = {
        .env = admission_env(arena, has_params, json_count(list) ? type : NULL),
        .variables = policy_variables_new(arena, json_count(list)),
    };
    struct json_iter it = json_iter(list);

    while (json_next(&it)) {
        struct policy_variable one = { .name = json_str(json_get(it.value, STR("name"))),
                                       .why = STR("") };

        one.program = admission_compile(
            arena, &p.env, json_str(json_get(it.value, STR("expression"))), 0, &one.why);
        cel_type_add_field(arena, type, one.name,
                           one.program ? cel_program_type(one.program) : &cel_type_dyn);
        policy_variables_push(&p.variables, one);
    }
    return p;
}

/* All variables in their order: an error is the value of what has one, and told where it is
 * read. */
static int fill_variables(struct arena *arena, const struct policy_env *p,
                          struct cel_value values[ADMISSION_VALUES], uint64_t *budget)
{
    struct cel_values names = cel_values_new(arena, p->variables.count);
    struct cel_values all = cel_values_new(arena, p->variables.count);

    for (uint32_t i = 0; i < p->variables.count; i++) {
        const struct policy_variable *variable = &p->variables.items[i];
        struct cel_value value;

        values[ADMISSION_VARIABLES] = cel_map_of(arena, names, all);
        if (!variable->program)
            value = cel_errorf(arena, "composited variable \"%.*s\" fails to compile: %.*s",
                               STR_ARG(variable->name), STR_ARG(variable->why));
        else if (admission_evaluate(arena, variable->program, values, budget, &value) != 0)
            return -1;
        else if (cel_is_error(&value))
            value = cel_errorf(arena, "composited variable \"%.*s\" fails to evaluate: %.*s",
                               STR_ARG(variable->name), STR_ARG(value.text));
        cel_values_push(&names, cel_string(variable->name));
        cel_values_push(&all, value);
    }
    values[ADMISSION_VARIABLES] = cel_map_of(arena, names, all);
    return 0;
}

/* The message's own expression, or the message, or the expression itself. */
static struct str message_of(struct arena *arena, const struct policy_env *p,
                             const struct cel_value *values, struct json validation,
                             uint64_t *budget)
{
    struct str expression = json_str(json_get(validation, STR("messageExpression")));
    struct str message = str_trim(json_str(json_get(validation, STR("message")))), why;
    struct cel_program *program =
        expression.len ? admission_compile(arena, &p->env, expression, 0, &why) : NULL;
    struct cel_value value;

    if (program && admission_evaluate(arena, program, values, budget, &value) == 0 &&
        value.kind == CEL_STRING) {
        struct str said = str_trim(value.text);

        if (said.len && said.len <= LIMIT_CEL_MESSAGE && str_find_char(said, '\n', 0) < 0)
            return said;
    }
    if (message.len)
        return message;
    return str_fmt(arena, "failed expression: %.*s",
                   STR_ARG(str_trim(json_str(json_get(validation, STR("expression"))))));
}

static void validate_all(struct decision *d, const struct policy_env *p,
                         const struct cel_value *values, uint64_t *budget)
{
    struct arena *arena = d->facts->rq->arena;
    struct json_iter it = json_iter(json_get(d->spec, STR("validations")));

    while (json_next(&it)) {
        struct str reason = json_str(json_get(it.value, STR("reason")));
        struct str expression = json_str(json_get(it.value, STR("expression")));
        struct cel_value value;

        if (admission_run(arena, &p->env, expression, 0, values, budget, &value) != 0) {
            fail_policy(d, STR(ADMISSION_BUDGET));
            return;
        }
        if (cel_is_error(&value))
            fail_policy(d, value.text);
        else if (value.kind != CEL_BOOL || !value.truth)
            act(d, reason.len ? reason : STR("Invalid"),
                message_of(arena, p, values, it.value, budget));
    }
}

static void annotate(struct decision *d, const struct policy_env *p, const struct cel_value *values)
{
    struct arena *arena = d->facts->rq->arena;
    struct json_iter it = json_iter(json_get(d->spec, STR("auditAnnotations")));
    uint64_t budget = LIMIT_CEL_OBJECT_COST;

    while (json_next(&it)) {
        struct str expression = json_str(json_get(it.value, STR("valueExpression")));
        struct cel_value value;

        if (admission_run(arena, &p->env, expression, 0, values, &budget, &value) != 0)
            value = cel_error(STR(ADMISSION_BUDGET));
        if (cel_is_error(&value) && !d->ignores_failure)
            deny(d, STR("Invalid"), value.text);
    }
}

/* One binding with one of its parameters; `params` NULL: it has none. */
static int decide(struct decision *d, const struct value *params)
{
    struct request *rq = d->facts->rq;
    struct cel_value values[ADMISSION_VALUES];
    struct policy_env p = policy_env_of(rq->arena, d->spec);
    uint64_t budget = LIMIT_CEL_OBJECT_COST;
    struct str why;
    bool hold;

    if (admission_values(d->facts, values) != 0)
        return -1;
    values[ADMISSION_PARAMS] = cel_from_json(rq->arena, params, &cel_type_dyn);
    if (admission_conditions(rq->arena, &p.env, values, json_get(d->spec, STR("matchConditions")),
                             &hold, &why) != 0) {
        fail_policy(d, why);
        return 0;
    }
    if (json_count(json_get(d->spec, STR("matchConditions"))) && !hold)
        return 0;
    if (fill_variables(rq->arena, &p, values, &budget) != 0) {
        fail_policy(d, STR(ADMISSION_BUDGET));
        return 0;
    }
    validate_all(d, &p, values, &budget);
    annotate(d, &p, values);
    return 0;
}

static const struct kind *param_kind(const struct request *rq, struct json kind)
{
    struct str version = json_str(json_get(kind, STR("apiVersion"))), group = STR("");
    ptrdiff_t slash = str_find_char(version, '/', 0);

    if (slash >= 0) {
        group = str_slice(version, 0, (size_t)slash);
        version = str_slice(version, (size_t)slash + 1, version.len);
    }
    return catalog_find_kind(rq->catalog, group, version, json_str(json_get(kind, STR("kind"))));
}

/* Where a namespaced parameter is looked for; false: nowhere, *ret_why says so. */
static bool param_namespace(const struct request *rq, const struct kind *kind, struct json ref,
                            struct str *ret_namespace, struct str *ret_why)
{
    struct str given = json_str(json_get(ref, STR("namespace")));

    *ret_namespace = given.len ? given : rq->namespace_;
    if (!kind->namespaced) {
        *ret_namespace = STR("");
        *ret_why = STR("paramRef.namespace must not be provided for a cluster-scoped `paramKind`");
        return given.len == 0;
    }
    *ret_why = STR("cannot use namespaced paramRef in policy binding that matches cluster-scoped "
                   "resources");
    return ret_namespace->len > 0;
}

static bool selected(struct arena *arena, struct json selector, struct str object)
{
    struct selector s;
    struct json json;
    struct error err;

    if (json_read(arena, object, &json_limits_default, &json, &err) != 0)
        return false;
    return json_count(selector) == 0 ||
           (selector_read(arena, selector, &s, &err) == 0 &&
            selector_matches(NULL, &s, json_walk(json, "metadata", "labels", NULL)));
}

static int decide_with(struct decision *d, struct str object, uint32_t *count)
{
    struct request *rq = d->facts->rq;
    struct value *params;
    struct error err;

    if (value_read(rq->arena, object, &json_limits_default, &params, &err) != 0)
        return 0;
    ++*count;
    return decide(d, params);
}

/* All parameters that the reference means, each by itself. */
static int decide_each(struct decision *d, const struct kind *kind, struct str namespace_,
                       struct json ref, uint32_t *ret_count)
{
    struct request *rq = d->facts->rq;
    struct collection of = request_collection(rq, kind, namespace_);
    struct str name = json_str(json_get(ref, STR("name")));
    struct store_page page;
    struct error err;

    *ret_count = 0;
    if (store_list(rq->api->store, rq->arena, &of, NULL, 0, 0, &page, &err) != STORE_DONE)
        return request_store_failed(rq, &err);
    for (uint32_t i = 0; i < page.rows.count; i++) {
        struct str object = page.rows.items[i].object;
        struct json json = read(rq, object);
        bool means = name.len ? str_eq(name, json_str(json_walk(json, "metadata", "name", NULL)))
                              : selected(rq->arena, json_get(ref, STR("selector")), object);

        if (means && decide_with(d, request_present(rq, kind, object), ret_count) != 0)
            return -1;
    }
    return 0;
}

static int with_params(struct decision *d, struct json binding)
{
    struct request *rq = d->facts->rq;
    struct json asked = json_get(d->spec, STR("paramKind"));
    struct json ref = json_get(binding, STR("paramRef"));
    const struct kind *kind = param_kind(rq, asked);
    struct str namespace_, why;
    uint32_t count;

    if (!json_is(asked, JSON_OBJECT) || !json_is(ref, JSON_OBJECT))
        return decide(d, NULL);
    if (!kind) {
        misconfigured(d, "policy",
                      str_fmt(rq->arena,
                              "failed to find resource referenced by paramKind: "
                              "'%.*s, Kind=%.*s'",
                              STR_ARG(json_str(json_get(asked, STR("apiVersion")))),
                              STR_ARG(json_str(json_get(asked, STR("kind"))))));
        return 0;
    }
    if (!param_namespace(rq, kind, ref, &namespace_, &why)) {
        misconfigured(d, "binding", why);
        return 0;
    }
    if (decide_each(d, kind, namespace_, ref, &count) != 0)
        return -1;
    if (count == 0 && str_eq(json_str(json_get(ref, STR("parameterNotFoundAction"))), STR("Deny")))
        misconfigured(d, "binding",
                      STR("no params found for policy binding with `Deny` "
                          "parameterNotFoundAction"));
    return 0;
}

static int ask_policy(const struct admission_facts *facts, struct json policy,
                      const struct store_page *bindings)
{
    struct request *rq = facts->rq;
    struct decision d = { .facts = facts,
                          .policy = json_str(json_walk(policy, "metadata", "name", NULL)),
                          .spec = json_get(policy, STR("spec")) };

    d.ignores_failure = str_eq(json_str(json_get(d.spec, STR("failurePolicy"))), STR("Ignore"));
    if (!admission_constrained(facts, json_get(d.spec, STR("matchConstraints"))))
        return 0;
    for (uint32_t i = 0; i < bindings->rows.count; i++) {
        struct json binding = read(rq, bindings->rows.items[i].object);
        struct json spec = json_get(binding, STR("spec"));
        struct json resources = json_get(spec, STR("matchResources"));

        if (!str_eq(json_str(json_get(spec, STR("policyName"))), d.policy) ||
            (json_is(resources, JSON_OBJECT) && !admission_constrained(facts, resources)))
            continue;
        d.binding = json_str(json_walk(binding, "metadata", "name", NULL));
        d.actions = json_get(spec, STR("validationActions"));
        if (with_params(&d, spec) != 0)
            return -1;
    }
    return d.denied ? -1 : 0;
}

int policies_validate(const struct admission_facts *facts)
{
    struct request *rq = facts->rq;
    struct store_page policies, bindings;

    if (load(rq, "validatingadmissionpolicies", &policies) != 0 ||
        load(rq, "validatingadmissionpolicybindings", &bindings) != 0)
        return -1;
    for (uint32_t i = 0; i < policies.rows.count; i++)
        if (ask_policy(facts, read(rq, policies.rows.items[i].object), &bindings) != 0)
            return -1;
    return 0;
}
