/* SPDX-License-Identifier: Apache-2.0 */
/* builtin_data.c: rows for what a Secret's type and an Event need, functions for the rest. */
#include "lab/apiserver/builtin_data.h"

#include "text/base64.h"

/* ConfigMap and Secret: keys, and what immutable means. */
static bool is_data_key(struct str key)
{
    if (key.len == 0 || key.len > 253 || str_eq(key, STR(".")) || str_eq(key, STR("..")))
        return false;
    for (size_t i = 0; i < key.len; i++) {
        char c = key.at[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              strchr("-_.", c)))
            return false;
    }
    return true;
}

static void check_keys(const struct value *object, struct str member, struct findings *found,
                       size_t *bytes)
{
    struct path at = path_field(NULL, member);

    for (struct value *m = value_first(value_get(object, member)); m; m = value_next(m)) {
        struct path here = path_key(&at, value_key(m));

        *bytes += value_key(m).len + value_text(m).len;
        if (!is_data_key(value_key(m)))
            finding_invalid(found, &here, value_str(found->arena, value_key(m)),
                            STR("a valid config key must consist of alphanumeric characters, '-', "
                                "'_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', "
                                "regex used for validation is '[-._a-zA-Z0-9]+')"));
    }
}

static void check_data(const struct value *old, const struct value *object, struct findings *found)
{
    static const char *const members[] = { "data", "binaryData" };
    size_t bytes = 0;

    for (size_t i = 0; i < 2; i++) {
        struct str member = str_of(members[i]);
        struct path at = path_field(NULL, member);

        check_keys(object, member, found, &bytes);
        if (value_is_true(value_get(old, STR("immutable"))) &&
            !value_equal(value_get(old, member), value_get(object, member)))
            finding_forbidden(found, &at, STR("field is immutable when `immutable` is set"));
    }
    if (value_is_true(value_get(old, STR("immutable"))) &&
        !value_is_true(value_get(object, STR("immutable")))) {
        struct path at = path_field(NULL, STR("immutable"));

        finding_forbidden(found, &at, STR("field is immutable when `immutable` is set"));
    }
    if (bytes > 1024 * 1024) {
        struct path at = path_field(NULL, STR("data"));

        finding_too_long(found, bytes ? &at : NULL, 1024 * 1024);
    }
}

/* Why bytes are no object in JSON; "" if they are. */
static struct str json_fault(struct arena *arena, struct str encoded)
{
    struct str text;
    struct json json;
    struct error err;

    if (base64_decode(arena, encoded, &text, &err) != 0 ||
        json_read(arena, text, &json_limits_default, &json, &err) != 0)
        return str_dup(arena, str_of(err.text));
    if (json_is(json, JSON_OBJECT))
        return STR("");
    return str_fmt(arena, "json: cannot unmarshal %s into Go value of type map[string]interface {}",
                   json_kind_name(json_kind(json)));
}

static const struct secret_type {
    const char *type;
    const char *keys[2];
    enum { NEEDS_ALL, NEEDS_ANY, NEEDS_TEXT, NEEDS_JSON } needs;
} secret_types[] = {
    { "kubernetes.io/dockercfg", { ".dockercfg" }, NEEDS_JSON },
    { "kubernetes.io/dockerconfigjson", { ".dockerconfigjson" }, NEEDS_JSON },
    { "kubernetes.io/basic-auth", { "username", "password" }, NEEDS_ANY },
    { "kubernetes.io/ssh-auth", { "ssh-privatekey" }, NEEDS_TEXT },
    { "kubernetes.io/tls", { "tls.crt", "tls.key" }, NEEDS_ALL },
};

static void check_key(struct arena *arena, const struct secret_type *type, const char *key,
                      const struct value *data, struct findings *found)
{
    const struct value *value = value_get(data, str_of(key));
    struct path at = path_field(NULL, STR("data"));
    struct path here = path_key(&at, str_of(key));
    struct str fault = STR("");

    if (value && type->needs == NEEDS_JSON)
        fault = json_fault(arena, value_text(value));
    if (!value || (type->needs == NEEDS_TEXT && value_text(value).len == 0))
        finding_required(found, &here, STR(""));
    else if (fault.len)
        finding_invalid(found, &here, value_str(arena, STR("<secret contents redacted>")), fault);
}

static bool has_any(const struct secret_type *type, const struct value *data)
{
    for (size_t i = 0; i < 2; i++)
        if (type->keys[i] && value_get(data, str_of(type->keys[i])))
            return true;
    return false;
}

static void check_type(struct arena *arena, const struct value *object, struct findings *found)
{
    struct str name = value_text(value_get(object, STR("type")));
    const struct value *data = value_get(object, STR("data"));

    for (size_t i = 0; i < sizeof(secret_types) / sizeof(secret_types[0]); i++) {
        const struct secret_type *type = &secret_types[i];

        if (!str_eq(name, str_of(type->type)) || (type->needs == NEEDS_ANY && has_any(type, data)))
            continue;
        for (size_t k = 0; k < 2 && type->keys[k]; k++)
            check_key(arena, type, type->keys[k], data, found);
    }
}

#define ACCOUNT_NAME "kubernetes.io/service-account.name"

static void check_account(const struct value *object, struct findings *found)
{
    struct path meta = path_field(NULL, STR("metadata"));
    struct path annotations = path_field(&meta, STR("annotations"));
    struct path at = path_key(&annotations, STR(ACCOUNT_NAME));

    if (str_eq(value_text(value_get(object, STR("type"))),
               STR("kubernetes.io/service-account-token")) &&
        value_text(value_get(meta_get(object, "annotations"), STR(ACCOUNT_NAME))).len == 0)
        finding_required(found, &at, STR(""));
}

static void check_secret(struct arena *arena, const struct value *old, const struct value *object,
                         struct findings *found)
{
    struct path type = path_field(NULL, STR("type"));

    check_type(arena, object, found);
    check_account(object, found);
    if (old && !value_equal(value_get(old, STR("type")), value_get(object, STR("type"))))
        finding_invalid(found, &type, value_get(object, STR("type")), STR("field is immutable"));
}

static void check_least(const struct value *spec, const struct path *at, const char *field,
                        int64_t least, const char *why, struct findings *found)
{
    struct path here = path_field(at, str_of(field));
    const struct value *value = value_get(spec, str_of(field));
    int64_t number;

    if (value_int64(value, &number) && number < least)
        finding_invalid(found, &here, value, str_of(why));
}

static void check_lease(const struct value *object, struct findings *found)
{
    const struct value *spec = value_get(object, STR("spec"));
    struct path at = path_field(NULL, STR("spec"));

    check_least(spec, &at, "leaseDurationSeconds", 1, "must be greater than 0", found);
    check_least(spec, &at, "leaseTransitions", 0, "must be greater than or equal to 0", found);
}

/* What an Event with an eventTime says of itself; one without is of the older kind. */
static const struct event_text {
    const char *field;
    bool required, qualified;
    size_t bytes_max;
} event_texts[] = {
    { "reportingComponent", true, true, SIZE_MAX },
    { "reportingInstance", true, false, 128 },
    { "action", true, false, 128 },
    { "reason", true, false, 128 },
    { "message", false, false, 1024 },
};

static void check_event_text(struct arena *arena, const struct event_text *row,
                             const struct value *object, struct findings *found)
{
    struct path at = path_field(NULL, str_of(row->field));
    struct str text = value_text(value_get(object, str_of(row->field)));

    if (row->required && text.len == 0)
        finding_required(found, &at, STR(""));
    if (row->qualified)
        meta_validate_key(text, &at, found);
    if (text.len > row->bytes_max)
        finding_invalid(found, &at, value_str(arena, STR("")),
                        str_fmt(arena, "can have at most %zu characters", row->bytes_max));
}

static void check_event(struct arena *arena, const struct value *object, struct findings *found)
{
    struct path involved = path_field(NULL, STR("involvedObject"));
    struct path at = path_field(&involved, STR("namespace"));
    struct str about = value_text(value_walk(object, "involvedObject", "namespace", NULL));
    struct str namespace_ = meta_text(object, "namespace");
    bool is_new = value_text(value_get(object, STR("eventTime"))).len > 0;
    /* What is of the whole cluster is told of in a namespace that is always there. */
    bool agrees = about.len ? is_new || str_eq(about, namespace_)
                            : str_eq(namespace_, STR("default")) ||
                                  (is_new && str_eq(namespace_, STR("kube-system")));

    if (!agrees)
        finding_invalid(found, &at, value_str(arena, about), STR("does not match event.namespace"));
    for (size_t i = 0; is_new && i < sizeof(event_texts) / sizeof(event_texts[0]); i++)
        check_event_text(arena, &event_texts[i], object, found);
}

/* What its pods and volumes are found by (k8s.io/kubernetes pkg/apis/apps/validation,
 * ValidateStatefulSetUpdate). */
static void check_stateful_set(const struct value *old, const struct value *object,
                               struct findings *found)
{
    static const char *const kept[] = { "volumeClaimTemplates", "serviceName", "selector",
                                        "podManagementPolicy" };
    struct path spec = path_field(NULL, STR("spec"));
    bool equal = true;

    for (size_t i = 0; old && i < sizeof(kept) / sizeof(kept[0]); i++)
        equal = equal && value_equal(value_walk(old, "spec", kept[i], NULL),
                                     value_walk(object, "spec", kept[i], NULL));
    if (!equal)
        finding_forbidden(
            found, &spec,
            STR("updates to statefulset spec for fields other than 'replicas', 'ordinals', "
                "'template', 'updateStrategy', 'revisionHistoryLimit', "
                "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"));
}

void data_validate(struct arena *arena, const struct kind *kind, const struct value *old,
                   const struct value *object, struct findings *found)
{
    bool is_secret = str_eq(kind->plural, STR("secrets"));

    if (kind_has(kind, KIND_CUSTOM))
        return;
    if (is_secret || str_eq(kind->plural, STR("configmaps")))
        check_data(old, object, found);
    if (is_secret)
        check_secret(arena, old, object, found);
    if (str_eq(kind->plural, STR("leases")))
        check_lease(object, found);
    if (str_eq(kind->plural, STR("events")))
        check_event(arena, object, found);
    if (str_eq(kind->plural, STR("statefulsets")))
        check_stateful_set(old, object, found);
}
