/* SPDX-License-Identifier: Apache-2.0 */
/* upkeep.c: a list as it is against a list as it should be. */
#include "controller/backends/observability/upkeep.h"

#include "base/limits.h"
#include "text/json_write.h"
#include "text/limits.h"

const struct kube_resource upkeep_rules_resource =
    KUBE_RESOURCE_INIT("monitoring.coreos.com", "v1", "prometheusrules", "PrometheusRule", true);
const struct kube_resource upkeep_monitors_resources[MONITOR_KINDS] = {
    [MONITOR_SERVICE] = KUBE_RESOURCE_INIT("monitoring.coreos.com", "v1", "servicemonitors",
                                           "ServiceMonitor", true),
    [MONITOR_POD] =
        KUBE_RESOURCE_INIT("monitoring.coreos.com", "v1", "podmonitors", "PodMonitor", true),
};
const struct kube_resource upkeep_dashboards_resource =
    KUBE_RESOURCE_INIT("", "v1", "configmaps", "ConfigMap", true);
const struct kube_resource upkeep_instrumentations_resource =
    KUBE_RESOURCE_INIT("opentelemetry.io", "v1alpha1", "instrumentations", "Instrumentation", true);

struct upkeep upkeep_new(struct arena *arena)
{
    return (struct upkeep){
        .releases = upkeep_releases_new(arena, 8),
        .rules = upkeep_objects_new(arena, 8),
        .monitors = { upkeep_objects_new(arena, 4), upkeep_objects_new(arena, 4) },
        .undecided = set_new(arena, 4),
        .dashboards = upkeep_objects_new(arena, 4),
        .traces = upkeep_traces_new(arena, 8),
        .instrumentations = upkeep_objects_new(arena, 4),
        .stacks = set_new(arena, 8),
        .dropped = str_list_new(arena, 4),
        .kept = str_list_new(arena, 4),
    };
}

static struct str list_path(struct arena *arena, const struct kube_resource *resource,
                            struct str namespace_)
{
    const struct kube_request list = { .verb = KUBE_LIST,
                                       .resource = *resource,
                                       .namespace_ = namespace_,
                                       .label_selector = STR(MONITORING_SELECTOR) };

    return kube_request_path(arena, &list);
}

struct str upkeep_rules_path(struct arena *arena)
{
    return list_path(arena, &upkeep_rules_resource, STR(""));
}

struct str upkeep_dashboards_path(struct arena *arena, struct str namespace_)
{
    return list_path(arena, &upkeep_dashboards_resource, namespace_);
}

struct str upkeep_instrumentations_path(struct arena *arena)
{
    return list_path(arena, &upkeep_instrumentations_resource, STR(""));
}

int upkeep_read_json(struct arena *arena, struct str body, struct json *ret_root, struct error *err)
{
    struct json_limits limits = json_limits_default;

    limits.bytes_max = LIMIT_ANSWER_BODY;
    limits.nodes_max = 10 * LIMIT_JSON_NODES;
    return json_read(arena, body, &limits, ret_root, err);
}

/* Neither takes over what is somebody else's: a create is refused where the name is taken. The
 * patch is no apply, since fields of the create would stay in it after Herd drops them. */
static void set_right(struct upkeep_changes *changes, const struct kube_resource *resource,
                      const struct upkeep_object *object, bool exists)
{
    const struct kube_request request = { .verb = exists ? KUBE_PATCH : KUBE_CREATE,
                                          .resource = *resource,
                                          .namespace_ = object->namespace_,
                                          .name = object->name,
                                          .patch_type = KUBE_PATCH_MERGE,
                                          .field_manager = STR("herd-controller"),
                                          .body = object->body };

    upkeep_changes_push(changes, (struct upkeep_change){ request, object->stack });
}

static struct str stack_of(struct json stored)
{
    return json_str(json_walk(stored, "metadata", "annotations", MONITORING_STACK, NULL));
}

/* Only the object that was listed, as it was then. */
static void remove_stored(struct upkeep_changes *changes, const struct kube_resource *resource,
                          struct json stored)
{
    struct json meta = json_get(stored, STR("metadata"));
    const struct kube_request request = { .verb = KUBE_DELETE,
                                          .resource = *resource,
                                          .namespace_ = json_str(json_get(meta, STR("namespace"))),
                                          .name = json_str(json_get(meta, STR("name"))),
                                          .body = kube_delete_body(
                                              changes->arena, json_str(json_get(meta, STR("uid"))),
                                              json_str(json_get(meta, STR("resourceVersion")))) };

    upkeep_changes_push(changes, (struct upkeep_change){ request, stack_of(stored) });
}

bool upkeep_is_herds(struct json stored)
{
    static const struct str label = STR_INIT("app.kubernetes.io/managed-by");

    return str_eq(json_str(json_get(json_walk(stored, "metadata", "labels", NULL), label)),
                  STR("Herd"));
}

struct str upkeep_release_of(struct arena *arena, struct str namespace_, struct str name)
{
    static const struct str prefix = STR_INIT(MONITORING_RULE_PREFIX);

    return kube_key(arena, namespace_,
                    str_starts(name, prefix) ? str_slice(name, prefix.len, name.len) : name);
}

struct comparison {
    struct arena *arena;
    const struct kube_resource *resource;
    const struct upkeep_objects *wanted;
    bool mixed; /* not all that is listed is Herd's */
    bool (*goes)(const struct upkeep *upkeep, struct json stored); /* of what is not wanted */
};

static bool rule_goes(const struct upkeep *upkeep, struct json stored)
{
    struct str stack = stack_of(stored);

    return stack.len && set_has(upkeep->stacks, stack);
}

static bool monitor_goes(const struct upkeep *upkeep, struct json stored)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct json meta = json_get(stored, STR("metadata"));

    return rule_goes(upkeep, stored) &&
           !set_has(upkeep->undecided,
                    upkeep_release_of(arena, json_str(json_get(meta, STR("namespace"))),
                                      json_str(json_get(meta, STR("name")))));
}

static bool dashboard_goes(const struct upkeep *upkeep, struct json stored)
{
    struct str name = json_str(json_walk(stored, "metadata", "name", NULL));

    return str_list_has(&upkeep->dropped, name) && !str_list_has(&upkeep->kept, name);
}

static bool is_as_wanted(struct arena *arena, struct json stored,
                         const struct upkeep_object *wanted)
{
    struct json json;
    struct error ignored;

    return json_read(arena, wanted->body, &json_limits_default, &json, &ignored) == 0 &&
           monitoring_is_as_wanted(stored, json);
}

/* A wanted object, and what the list has in its place. */
struct place {
    const struct upkeep_object *wanted;
    enum { PLACE_EMPTY, PLACE_WRONG, PLACE_RIGHT } has;
};

static struct map *places_of(const struct comparison *c)
{
    struct map *places = map_new(c->arena, c->wanted->count);

    for (uint32_t i = 0; i < c->wanted->count; i++) {
        struct place *place = arena_new(c->arena, struct place);

        *place = (struct place){ &c->wanted->items[i], PLACE_EMPTY };
        map_put(places, kube_key(c->arena, place->wanted->namespace_, place->wanted->name), place);
    }
    return places;
}

static void look_at(const struct comparison *c, const struct upkeep *upkeep, struct map *places,
                    struct json stored, struct upkeep_changes *changes)
{
    struct json meta = json_get(stored, STR("metadata"));
    struct str key = kube_key(c->arena, json_str(json_get(meta, STR("namespace"))),
                              json_str(json_get(meta, STR("name"))));
    struct place *place = map_get(places, key);

    if (place)
        place->has = is_as_wanted(c->arena, stored, place->wanted) ? PLACE_RIGHT : PLACE_WRONG;
    else if (c->goes(upkeep, stored))
        remove_stored(changes, c->resource, stored);
}

static int compare(const struct comparison *c, const struct upkeep *upkeep, struct str body,
                   struct upkeep_changes *changes, struct str_list *in_place, struct error *err)
{
    struct map *places = places_of(c);
    struct json root;

    if (upkeep_read_json(c->arena, body, &root, err) < 0)
        return error_wrap(err, "its list of %.*s", STR_ARG(c->resource->plural));
    for (struct json_iter it = json_iter(json_get(root, STR("items"))); json_next(&it);)
        if (!c->mixed || upkeep_is_herds(it.value))
            look_at(c, upkeep, places, it.value, changes);
    for (uint32_t i = 0; i < map_count(places); i++) {
        const struct place *place = map_value(places, i);

        if (place->has != PLACE_RIGHT)
            set_right(changes, c->resource, place->wanted, place->has == PLACE_WRONG);
        else if (in_place)
            str_list_push(in_place, place->wanted->name);
    }
    return 0;
}

int upkeep_rules(struct arena *arena, const struct upkeep *upkeep, struct str body,
                 struct upkeep_changes *changes, struct error *err)
{
    const struct comparison c = { arena, &upkeep_rules_resource, &upkeep->rules, false, rule_goes };

    return compare(&c, upkeep, body, changes, NULL, err);
}

int upkeep_monitors(struct arena *arena, const struct upkeep *upkeep, enum monitor_kind kind,
                    struct str body, struct upkeep_changes *changes, struct error *err)
{
    const struct comparison c = { arena, &upkeep_monitors_resources[kind], &upkeep->monitors[kind],
                                  true, monitor_goes };

    return compare(&c, upkeep, body, changes, NULL, err);
}

int upkeep_dashboards(struct arena *arena, const struct upkeep *upkeep, struct str body,
                      struct upkeep_changes *changes, struct str_list *in_place, struct error *err)
{
    const struct comparison c = { arena, &upkeep_dashboards_resource, &upkeep->dashboards, false,
                                  dashboard_goes };

    return compare(&c, upkeep, body, changes, in_place, err);
}

int upkeep_instrumentations(struct arena *arena, const struct upkeep *upkeep, struct str body,
                            struct upkeep_changes *changes, struct error *err)
{
    const struct comparison c = { arena, &upkeep_instrumentations_resource,
                                  &upkeep->instrumentations, false, rule_goes };

    return compare(&c, upkeep, body, changes, NULL, err);
}

int upkeep_names(struct arena *arena, struct str body, struct str_list *ret_names,
                 struct error *err)
{
    struct json root;

    if (upkeep_read_json(arena, body, &root, err) < 0)
        return -1;
    for (struct json_iter it = json_iter(json_get(root, STR("items"))); json_next(&it);)
        str_list_push(ret_names, json_str(json_walk(it.value, "metadata", "name", NULL)));
    return 0;
}
