/* SPDX-License-Identifier: Apache-2.0 */
/* builtin_rules.c: what the registries of the built-in kinds do beyond their types and
 * defaults.def: what is made of other members, and the checks whose rejections people meet. */
#include "lab/apiserver/admission_cel.h"
#include "lab/apiserver/builtin_data.h"
#include "lab/apiserver/builtin_defaults.h"
#include "lab/apiserver/builtin_policies.h"
#include "lab/apiserver/builtin_roles.h"
#include "lab/apiserver/builtin_webhooks.h"
#include "lab/apiserver/service.h"

#include "text/base64.h"

static bool is(const struct kind *kind, const char *plural)
{
    return !kind_has(kind, KIND_CUSTOM) && str_eq(kind->plural, str_of(plural));
}

static void set_default(struct arena *arena, struct value *object, const char *key,
                        struct value *value)
{
    if (object && !value_get(object, str_of(key)))
        value_set(arena, object, str_of(key), value);
}

static void default_namespace(struct arena *arena, struct value *object)
{
    struct value *spec = value_object_at(arena, object, STR("spec"));
    struct value *labels;

    if (value_count(value_get(spec, STR("finalizers"))) == 0 && !meta_is_going(object)) {
        struct value *finalizers = value_array(arena);

        value_append(finalizers, value_str(arena, STR("kubernetes")));
        value_set(arena, spec, STR("finalizers"), finalizers);
    }
    if (meta_text(object, "name").len == 0)
        return;
    labels = value_object_at(arena, value_object_at(arena, object, STR("metadata")), STR("labels"));
    if (labels)
        value_set(arena, labels, STR("kubernetes.io/metadata.name"),
                  value_str(arena, meta_text(object, "name")));
}

/* stringData goes into data, and is not kept. */
static void default_secret(struct arena *arena, struct value *object)
{
    struct value *texts = value_get(object, STR("stringData"));

    if (texts && value_kind(texts) == JSON_OBJECT) {
        struct value *data = value_object_at(arena, object, STR("data"));

        for (struct value *m = value_first(texts); data && m; m = value_next(m))
            value_set(arena, data, value_key(m),
                      value_str(arena, base64_encode(arena, value_text(m))));
    }
    value_remove(object, STR("stringData"));
}

static void default_service(struct arena *arena, struct value *object)
{
    struct value *port = value_first(value_walk(object, "spec", "ports", NULL));

    for (; port; port = value_next(port))
        if (value_get(port, STR("port")))
            set_default(arena, port, "targetPort",
                        value_clone(arena, value_get(port, STR("port"))));
}

/* Both directions only where something is said of the second. */
static void default_network_policy(struct arena *arena, struct value *object)
{
    struct value *spec = value_get(object, STR("spec")), *types = value_array(arena);

    value_append(types, value_str(arena, STR("Ingress")));
    if (value_count(value_get(spec, STR("egress"))))
        value_append(types, value_str(arena, STR("Egress")));
    set_default(arena, spec, "policyTypes", types);
}

void builtin_default(struct arena *arena, const struct kind *kind, struct value *object)
{
    if (is(kind, "namespaces"))
        default_namespace(arena, object);
    else if (is(kind, "secrets"))
        default_secret(arena, object);
    else if (is(kind, "services"))
        default_service(arena, object);
    else if (is(kind, "networkpolicies"))
        default_network_policy(arena, object);
    defaults_fill(arena, kind, object);
    roles_default(arena, kind, object);
}

static void check_webhooks(struct arena *arena, const struct value *object, struct findings *found)
{
    struct path list = path_field(NULL, STR("webhooks"));
    struct value *hook = value_first(value_get(object, STR("webhooks")));
    struct cel_env env = admission_env(arena, false, NULL);
    struct map *names = map_new(arena, 8);

    for (uint32_t index = 0; hook; hook = value_next(hook), index++) {
        struct path at = path_index(&list, index);
        struct path name = path_field(&at, STR("name"));
        struct path conditions = path_field(&at, STR("matchConditions"));

        webhook_validate(hook, &at, found);
        if (map_get(names, value_text(value_get(hook, STR("name")))))
            finding_duplicate(found, &name, value_get(hook, STR("name")));
        map_put(names, value_text(value_get(hook, STR("name"))), hook);
        admission_check_conditions(&env, value_get(hook, STR("matchConditions")), &conditions,
                                   found);
    }
}

void builtin_validate(struct arena *arena, const struct kind *kind, const struct value *old,
                      const struct value *object, struct findings *found)
{
    if (is(kind, "mutatingwebhookconfigurations") || is(kind, "validatingwebhookconfigurations"))
        check_webhooks(arena, object, found);
    if (is(kind, "services"))
        service_validate(arena, old, object, found);
    data_validate(arena, kind, old, object, found);
    policy_validate(arena, kind, object, found);
    roles_validate(arena, kind, old, object, found);
}
