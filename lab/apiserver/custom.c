/* SPDX-License-Identifier: Apache-2.0 */
/* custom.c: definitions as objects: checked when they are written, served once they are stored. */
#include "lab/apiserver/garbage_collector.h"
#include "lab/apiserver/namespace_controller.h"
#include "lab/apiserver/object.h"
#include "lab/apiserver/request.h"
#include "lab/apiserver/roles.h"

static void add_finalizer(struct arena *arena, struct value *object, struct str finalizer)
{
    struct value *list = meta_get(object, "finalizers");

    for (struct value *m = value_first(list); m; m = value_next(m))
        if (str_eq(value_text(m), finalizer))
            return;
    if (value_kind(list) != JSON_ARRAY) {
        list = value_array(arena);
        meta_set(arena, object, "finalizers", list);
    }
    value_append(list, value_str(arena, finalizer));
}

/* Group, kind's scope and plural decide where objects stand: they never change. */
static void check_kept(const struct value *old, const struct value *crd, struct findings *found)
{
    static const char *const members[] = { "group", "scope" };
    struct path spec = path_field(NULL, STR("spec"));

    for (size_t i = 0; i < 2; i++) {
        struct path at = path_field(&spec, str_of(members[i]));
        const struct value *was = value_walk(old, "spec", members[i], NULL);
        const struct value *is = value_walk(crd, "spec", members[i], NULL);

        if (!value_equal(was, is))
            finding_invalid(found, &at, is, STR("field is immutable"));
    }
}

int definition_admit(struct request *rq, struct value *crd, const struct value *old)
{
    struct findings found = findings_new(rq->arena, 4);
    struct failure_subject subject = request_subject(rq);
    struct definition *definition;
    struct str text;

    if (!meta_is_going(crd))
        add_finalizer(rq->arena, crd, STR(CUSTOM_RESOURCE_CLEANUP_FINALIZER));
    definition_establish(rq->arena, crd, request_time(rq));
    text = value_json(rq->arena, crd);
    definition = definition_compile(text, rq->api->builtin->meta, &found);
    definition_unref(definition);
    if (old)
        check_kept(old, crd, &found);
    return found.count ? fail_invalid(&rq->failure, &subject, &found) : 0;
}

/* The part of a definition that decides what is served: the same text is compiled once for all
 * clusters. */
static struct str essence(struct request *rq, struct json crd)
{
    return str_fmt(rq->arena, "{\"metadata\":{\"name\":\"%.*s\"},\"spec\":%.*s}",
                   STR_ARG(json_str(json_walk(crd, "metadata", "name", NULL))),
                   STR_ARG(json_raw(json_get(crd, STR("spec")))));
}

static void serve(struct request *rq, struct str object)
{
    struct findings found = findings_new(rq->arena, 0);
    struct definition *definition;
    struct json crd;
    struct error err;
    struct str text;

    if (json_read(rq->arena, object, &json_limits_default, &crd, &err) != 0)
        return;
    text = essence(rq, crd);
    definition = registry_shared(rq->api->registry, text);
    if (!definition) {
        definition = definition_compile(text, rq->api->builtin->meta, &found);
        registry_share(rq->api->registry, text, definition);
    }
    registry_put(rq->api->registry, rq->cluster, definition);
}

void after_write(struct request *rq, enum change_type type, struct str object)
{
    struct kube_resource resource = { rq->kind->group, rq->kind->version, rq->kind->plural,
                                      rq->kind->kind, rq->kind->namespaced };
    struct json json;
    struct error err;

    if (str_eq(rq->kind->plural, STR("customresourcedefinitions")) &&
        !kind_has(rq->kind, KIND_CUSTOM)) {
        if (type != CHANGE_DELETED)
            serve(rq, object);
        else if (json_read(rq->arena, object, &json_limits_default, &json, &err) == 0)
            registry_remove(rq->api->registry, rq->cluster,
                            json_str(json_walk(json, "spec", "group", NULL)),
                            json_str(json_walk(json, "spec", "names", "plural", NULL)));
    }
    roles_note(rq);
    if (type == CHANGE_MODIFIED)
        namespace_controller_check(rq->api->namespace_controller, rq->cluster, rq->kind, rq->name);
    if (garbage_collector_note(rq->api->garbage_collector, rq, type, object))
        namespace_controller_wake(rq->api->namespace_controller);
    if (rq->api->changed)
        rq->api->changed(rq->api->changed_context, rq->cluster, &resource, rq->namespace_,
                         rq->name);
}
