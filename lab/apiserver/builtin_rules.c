/* builtin_rules.c: what the registries of the built-in kinds do beyond their types: the defaults
 * that others rely on, and the checks whose refusals people meet. */
#include "lab/apiserver/admission_cel.h"
#include "lab/apiserver/builtin_data.h"
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
    struct value *status = value_object_at(arena, object, STR("status"));
    struct value *labels;

    if (value_count(value_get(spec, STR("finalizers"))) == 0 && !meta_is_going(object)) {
        struct value *finalizers = value_array(arena);

        value_append(finalizers, value_str(arena, STR("kubernetes")));
        value_set(arena, spec, STR("finalizers"), finalizers);
    }
    set_default(arena, status, "phase", value_str(arena, STR("Active")));
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
    set_default(arena, object, "type", value_str(arena, STR("Opaque")));
}

static void default_webhooks(struct arena *arena, const struct kind *kind, struct value *object)
{
    struct value *hook = value_first(value_get(object, STR("webhooks")));

    for (; hook; hook = value_next(hook)) {
        struct value *rule = value_first(value_get(hook, STR("rules")));
        struct value *service = value_walk(hook, "clientConfig", "service", NULL);

        set_default(arena, hook, "failurePolicy", value_str(arena, STR("Fail")));
        set_default(arena, hook, "matchPolicy", value_str(arena, STR("Equivalent")));
        set_default(arena, hook, "namespaceSelector", value_object(arena));
        set_default(arena, hook, "objectSelector", value_object(arena));
        set_default(arena, hook, "timeoutSeconds", value_int(arena, 10));
        if (is(kind, "mutatingwebhookconfigurations"))
            set_default(arena, hook, "reinvocationPolicy", value_str(arena, STR("Never")));
        for (; rule; rule = value_next(rule))
            set_default(arena, rule, "scope", value_str(arena, STR("*")));
        set_default(arena, service, "port", value_int(arena, 443));
    }
}

static void default_deployment(struct arena *arena, struct value *object)
{
    struct value *spec = value_get(object, STR("spec"));

    set_default(arena, spec, "replicas", value_int(arena, 1));
    set_default(arena, spec, "revisionHistoryLimit", value_int(arena, 10));
    set_default(arena, spec, "progressDeadlineSeconds", value_int(arena, 600));
}

static void default_service(struct arena *arena, struct value *object)
{
    struct value *spec = value_get(object, STR("spec"));
    struct value *port = value_first(value_get(spec, STR("ports")));

    set_default(arena, spec, "type", value_str(arena, STR("ClusterIP")));
    set_default(arena, spec, "sessionAffinity", value_str(arena, STR("None")));
    for (; port; port = value_next(port)) {
        set_default(arena, port, "protocol", value_str(arena, STR("TCP")));
        if (value_get(port, STR("port")))
            set_default(arena, port, "targetPort",
                        value_clone(arena, value_get(port, STR("port"))));
    }
}

static void default_pod(struct arena *arena, struct value *object)
{
    struct value *spec = value_get(object, STR("spec"));

    set_default(arena, spec, "restartPolicy", value_str(arena, STR("Always")));
    set_default(arena, spec, "serviceAccountName", value_str(arena, STR("default")));
    if (!value_get(object, STR("status")))
        set_default(arena, value_object_at(arena, object, STR("status")), "phase",
                    value_str(arena, STR("Pending")));
}

void builtin_default(struct arena *arena, const struct kind *kind, struct value *object)
{
    if (is(kind, "namespaces"))
        default_namespace(arena, object);
    else if (is(kind, "secrets"))
        default_secret(arena, object);
    else if (is(kind, "mutatingwebhookconfigurations") ||
             is(kind, "validatingwebhookconfigurations"))
        default_webhooks(arena, kind, object);
    else if (is(kind, "deployments"))
        default_deployment(arena, object);
    else if (is(kind, "services"))
        default_service(arena, object);
    else if (is(kind, "pods"))
        default_pod(arena, object);
    else
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
    roles_validate(arena, kind, old, object, found);
}
