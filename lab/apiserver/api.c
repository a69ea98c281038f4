/* SPDX-License-Identifier: Apache-2.0 */
/* api.c: the API as an object, and its verbs for the lab's own parts. */
#include "lab/apiserver/api.h"

#include "base/memory.h"
#include "lab/apiserver/garbage_collector.h"
#include "lab/apiserver/namespace_controller.h"
#include "lab/apiserver/object.h"
#include "lab/apiserver/roles.h"
#include "lab/apiserver/webhook_caller.h"
#include "text/patch.h"
#include "text/yaml.h"

static const struct kube_resource namespaces =
    KUBE_RESOURCE_INIT("", "v1", "namespaces", "Namespace", false);
static const struct kube_resource definitions = KUBE_RESOURCE_INIT(
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", false);

static const struct watch_cache_options watch_cache_options = {
    .changes_max = 10000,
    .bytes_max = 64 * 1024 * 1024,
    .age_max_ms = 600000,
};

int request_begin(struct api *api, struct arena *arena, struct str cluster,
                  const struct kube_resource *resource, struct request *ret_request,
                  struct error *err)
{
    static const struct api_caller lab = { .user = STR_INIT("system:lab") };
    struct catalog *catalog = request_catalog(api, arena, cluster);
    const struct kind *kind =
        catalog ? catalog_find(catalog, resource->group, resource->version, resource->plural)
                : NULL;

    if (!kind)
        return error_set(err, ERROR_NOT_FOUND, "cluster \"%.*s\" serves no %.*s.%.*s %.*s",
                         STR_ARG(cluster), STR_ARG(resource->plural), STR_ARG(resource->group),
                         STR_ARG(resource->version));
    *ret_request = (struct request){ .api = api,
                                     .arena = arena,
                                     .catalog = catalog,
                                     .cluster = cluster,
                                     .caller = &lab,
                                     .kind = kind,
                                     .namespace_ = STR(""),
                                     .name = STR(""),
                                     .sub_resource = STR(""),
                                     .internal = true,
                                     .field_manager = STR("herd-lab"),
                                     .content_type = STR(""),
                                     .body = STR(""),
                                     .now_ms = clock_wall_ms(api->clock),
                                     .warnings = str_list_new(arena, 0),
                                     .failure = failure_new(arena) };
    return 0;
}

/* Turn a verb's result into that of the function which began the request. */
static int end(struct request *rq, int result, struct error *err)
{
    if (result != 0)
        failure_to_error(&rq->failure, err);
    return result;
}

static int load_definitions(struct api *api, struct str cluster, struct error *err)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct collection of = { cluster, definitions.group, definitions.plural, STR("") };
    struct store_page page;
    struct request rq;

    if (store_list(api->store, arena, &of, NULL, 0, 0, &page, err) != STORE_DONE ||
        request_begin(api, arena, cluster, &definitions, &rq, err) != 0)
        return -1;
    for (uint32_t i = 0; i < page.rows.count; i++)
        after_write(&rq, CHANGE_ADDED, page.rows.items[i].object);
    return 0;
}

static int load(struct api *api, struct error *err)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str_list clusters;

    if (store_clusters(api->store, arena, &clusters, err) != 0)
        return -1;
    for (uint32_t i = 0; i < clusters.count; i++) {
        registry_add_cluster(api->registry, clusters.items[i]);
        if (load_definitions(api, clusters.items[i], err) != 0 ||
            roles_bootstrap(api, clusters.items[i], err) != 0)
            return -1;
    }
    return 0;
}

struct api *api_create(const struct api_options *options, struct error *err)
{
    AUTO(api_free) struct api *api = mem_new(struct api);
    struct store_options store = { options->data_folder, options->clock, watch_cache_options };

    pthread_mutex_init(&api->lock, NULL);
    pthread_mutex_init(&api->aggregation, NULL);
    api->clock = options->clock;
    api->log = options->log;
    api->arena = arena_create(0);
    api->builtin = builtin_new(api->arena);
    api->services = dict_create();
    api->registry = registry_create(api->builtin);
    api->roles = roles_create();
    api->token_key = str_dup(api->arena, options->token_key);
    api->admin_token = str_dup(api->arena, options->admin_token);
    api->store = store_create(&store, err);
    if (!api->store)
        return NULL;
    /* The same seed must not give the same uids again after a restart: versions only grow. */
    api->rng = rng_from_seed(options->seed ^ watch_cache_version(store_watch_cache(api->store)) *
                                                 0x9e3779b97f4a7c15ULL);
    api->caller = webhook_caller_create();
    if (load(api, err) != 0)
        return NULL;
    api->garbage_collector = garbage_collector_create(api);
    api->namespace_controller = namespace_controller_create(api);
    return TAKE(api);
}

void api_free(struct api *api)
{
    if (!api)
        return;
    namespace_controller_free(api->namespace_controller);
    garbage_collector_free(api->garbage_collector);
    webhook_caller_free(api->caller);
    registry_free(api->registry);
    roles_free(api->roles);
    store_free(api->store);
    dict_free(api->services);
    arena_free(api->arena);
    pthread_mutex_destroy(&api->aggregation);
    pthread_mutex_destroy(&api->lock);
    mem_free(api);
}

void api_close_watches(struct api *api)
{
    watch_cache_close(store_watch_cache(api->store));
}

void api_set_service(struct api *api, struct str namespace_, struct str name, struct str address)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str key = str_fmt(arena, "%.*s/%.*s", STR_ARG(namespace_), STR_ARG(name));

    pthread_mutex_lock(&api->lock);
    dict_set(api->services, key, (void *)(uintptr_t)str_z(api->arena, address));
    pthread_mutex_unlock(&api->lock);
}

void api_on_change(struct api *api,
                   void (*changed)(void *context, struct str cluster,
                                   const struct kube_resource *resource, struct str namespace_,
                                   struct str name),
                   void *context)
{
    api->changed_context = context;
    api->changed = changed;
}

void api_on_check(struct api *api,
                  void (*check)(void *context, struct str cluster,
                                const struct kube_resource *resource, const struct value *object,
                                struct findings *found),
                  void *context)
{
    api->check_context = context;
    api->check = check;
}

static int make_namespace(struct api *api, struct str cluster, const char *name, struct error *err)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str object, made;
    struct error failed;

    object = str_fmt(arena,
                     "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":"
                     "\"%s\"}}",
                     name);
    if (api_create_object(api, arena, cluster, &namespaces, STR(""), object, &made, &failed) == 0 ||
        failed.code == ERROR_ALREADY_EXISTS)
        return 0;
    *err = failed;
    return -1;
}

int api_add_cluster(struct api *api, struct str cluster, struct error *err)
{
    static const char *const names[] = { "default", "kube-system", "kube-public",
                                         "kube-node-lease" };

    if (cluster.len == 0 || cluster.len > 253)
        return error_set(err, ERROR_INVALID, "a cluster's name has 1 to 253 characters");
    if (!registry_add_cluster(api->registry, cluster))
        return 0;
    if (store_add_cluster(api->store, cluster, err) != 0)
        return -1;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (make_namespace(api, cluster, names[i], err) != 0)
            return -1;
    return roles_bootstrap(api, cluster, err);
}

static int replace_spec(struct request *rq, void *context, const struct value *now,
                        struct value **ret_object)
{
    *ret_object = value_clone(rq->arena, now);
    value_set(rq->arena, *ret_object, STR("spec"),
              value_clone(rq->arena, value_get(context, STR("spec"))));
    return 0;
}

int api_add_definition(struct api *api, struct str cluster, struct str definition,
                       struct error *err)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct edit edit = { replace_spec, NULL };
    struct yaml_documents documents;
    struct value *crd;
    struct request rq;
    struct str made;
    int result;

    if (yaml_read(arena, definition, &documents, err) != 0)
        return error_wrap(err, "CustomResourceDefinition");
    if (documents.count != 1)
        return error_set(err, ERROR_INVALID, "one CustomResourceDefinition is expected, not %u",
                         documents.count);
    if (value_read(arena, documents.items[0].json, &json_limits_default, &crd, err) != 0 ||
        request_begin(api, arena, cluster, &definitions, &rq, err) != 0)
        return -1;
    result = do_create(&rq, value_clone(arena, crd), &made);
    if (result != 0 && str_eq(rq.failure.reason, STR("AlreadyExists"))) {
        rq.failure = failure_new(arena);
        rq.name = value_text(value_walk(crd, "metadata", "name", NULL));
        edit.context = crd;
        result = do_update(&rq, &edit, &made);
    }
    return end(&rq, result, err);
}

int api_get(struct api *api, struct arena *arena, struct str cluster,
            const struct kube_resource *resource, struct str namespace_, struct str name,
            struct str *ret_object, struct error *err)
{
    struct request rq;

    if (request_begin(api, arena, cluster, resource, &rq, err) != 0)
        return -1;
    rq.namespace_ = namespace_;
    rq.name = name;
    return end(&rq, do_get(&rq, ret_object), err);
}

int api_create_object(struct api *api, struct arena *arena, struct str cluster,
                      const struct kube_resource *resource, struct str namespace_,
                      struct str object, struct str *ret_object, struct error *err)
{
    struct request rq;
    struct value *value;

    if (value_read(arena, object, &json_limits_default, &value, err) != 0 ||
        request_begin(api, arena, cluster, resource, &rq, err) != 0)
        return -1;
    rq.verb = VERB_CREATE;
    rq.namespace_ = namespace_;
    return end(&rq, do_create(&rq, value, ret_object), err);
}

static int put_whole(struct request *rq, void *context, const struct value *now,
                     struct value **ret_object)
{
    (void)now;
    *ret_object = value_clone(rq->arena, context);
    return 0;
}

static int put_merged(struct request *rq, void *context, const struct value *now,
                      struct value **ret_object)
{
    *ret_object = patch_merge(rq->arena, now, context);
    return 0;
}

static int write_object(struct api *api, struct arena *arena, struct str cluster,
                        const struct kube_resource *resource, struct str namespace_,
                        struct str name, struct str sub_resource, struct str body, bool merges,
                        struct str *ret_object, struct error *err)
{
    struct edit edit = { merges ? put_merged : put_whole, NULL };
    struct request rq;
    struct value *value;

    if (value_read(arena, body, &json_limits_default, &value, err) != 0 ||
        request_begin(api, arena, cluster, resource, &rq, err) != 0)
        return -1;
    rq.verb = merges ? VERB_PATCH : VERB_UPDATE;
    rq.namespace_ = namespace_;
    rq.name = name;
    rq.sub_resource = sub_resource;
    edit.context = value;
    return end(&rq, do_update(&rq, &edit, ret_object), err);
}

int api_update_object(struct api *api, struct arena *arena, struct str cluster,
                      const struct kube_resource *resource, struct str namespace_, struct str name,
                      struct str sub_resource, struct str object, struct str *ret_object,
                      struct error *err)
{
    return write_object(api, arena, cluster, resource, namespace_, name, sub_resource, object,
                        false, ret_object, err);
}

int api_merge_object(struct api *api, struct arena *arena, struct str cluster,
                     const struct kube_resource *resource, struct str namespace_, struct str name,
                     struct str sub_resource, struct str patch, struct str *ret_object,
                     struct error *err)
{
    return write_object(api, arena, cluster, resource, namespace_, name, sub_resource, patch, true,
                        ret_object, err);
}

int api_delete_object(struct api *api, struct arena *arena, struct str cluster,
                      const struct kube_resource *resource, struct str namespace_, struct str name,
                      struct error *err)
{
    struct delete_options options = { .uid = STR("") };
    struct request rq;
    struct str object;
    bool gone;

    if (request_begin(api, arena, cluster, resource, &rq, err) != 0)
        return -1;
    rq.verb = VERB_DELETE;
    rq.namespace_ = namespace_;
    rq.name = name;
    return end(&rq, do_delete(&rq, &options, &object, &gone), err);
}

int api_list(struct api *api, struct arena *arena, struct str cluster,
             const struct kube_resource *resource, struct str namespace_,
             bool (*each)(void *context, struct str object), void *context, struct error *err)
{
    struct collection of = { cluster, resource->group, resource->plural, namespace_ };
    struct store_page page;
    struct request rq;

    if (request_begin(api, arena, cluster, resource, &rq, err) != 0)
        return -1;
    if (store_list(api->store, arena, &of, NULL, 0, 0, &page, err) != STORE_DONE)
        return -1;
    for (uint32_t i = 0; i < page.rows.count; i++)
        if (!each(context, request_present(&rq, rq.kind, page.rows.items[i].object)))
            break;
    return 0;
}
