/* SPDX-License-Identifier: Apache-2.0 */
/* namespace_controller.c: a list of places to check, gone through when it grows and twice a second
 * while some are unfinished. Each check starts from what is stored, so a repeated check does no
 * harm. */
#include "lab/apiserver/namespace_controller.h"

#include "base/memory.h"
#include "lab/apiserver/garbage_collector.h"
#include "lab/apiserver/object.h"
#include "text/time.h"

#include <time.h>

enum {
    PAUSE_MS = 500,
    TRIM_MS = 30000,
    EVENTS_MS = 300000,
    EVENT_AGE_MS = 3600000, /* kube-apiserver's --event-ttl */
};

static const struct kube_resource namespaces =
    KUBE_RESOURCE_INIT("", "v1", "namespaces", "Namespace", false);
static const struct kube_resource definitions = KUBE_RESOURCE_INIT(
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", false);
static const struct kube_resource events = KUBE_RESOURCE_INIT("", "v1", "events", "Event", true);

struct place {
    struct place *next;
    const struct kube_resource *resource;
    char *cluster, *name;
};

struct namespace_controller {
    struct api *api;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t woken;
    struct place *places;
    bool news, ending;
    int64_t trim_ms, events_ms;
};

static void add_place(struct namespace_controller *j, const struct kube_resource *resource,
                      struct str cluster, struct str name)
{
    struct place *place = mem_new(struct place);

    *place = (struct place){ j->places, resource, mem_copy(cluster.at, cluster.len),
                             mem_copy(name.at, name.len) };
    j->places = place;
}

static void free_place(struct place *place)
{
    mem_free(place->cluster);
    mem_free(place->name);
    mem_free(place);
}

void namespace_controller_check(struct namespace_controller *j, struct str cluster,
                                const struct kind *kind, struct str name)
{
    const struct kube_resource *resource = NULL;

    if (!j || kind_has(kind, KIND_CUSTOM))
        return;
    if (str_eq(kind->plural, namespaces.plural))
        resource = &namespaces;
    else if (str_eq(kind->plural, definitions.plural))
        resource = &definitions;
    if (!resource)
        return;
    pthread_mutex_lock(&j->lock);
    add_place(j, resource, cluster, name);
    j->news = true;
    pthread_cond_signal(&j->woken);
    pthread_mutex_unlock(&j->lock);
}

void namespace_controller_wake(struct namespace_controller *j)
{
    if (!j)
        return;
    pthread_mutex_lock(&j->lock);
    j->news = true;
    pthread_cond_signal(&j->woken);
    pthread_mutex_unlock(&j->lock);
}

/* Delete every object of a kind; how many were there. */
static uint32_t delete_all(struct request *rq, const struct kind *kind, struct str namespace_)
{
    struct collection of = request_collection(rq, kind, namespace_);
    struct delete_options options = { .uid = STR("") };
    struct store_page page;
    struct error err;

    if (store_list(rq->api->store, rq->arena, &of, NULL, 0, 0, &page, &err) != STORE_DONE)
        return 1;
    for (uint32_t i = 0; i < page.rows.count; i++) {
        struct request one = *rq;
        struct str object;
        bool gone;

        one.kind = kind;
        one.verb = VERB_DELETE;
        one.namespace_ = page.rows.items[i].namespace_;
        one.name = page.rows.items[i].name;
        do_delete(&one, &options, &object, &gone);
    }
    return page.rows.count;
}

static int drop_finalizer(struct request *rq, void *context, const struct value *now,
                          struct value **ret_object)
{
    bool of_spec = rq->kind->namespaced == false && str_eq(rq->kind->plural, namespaces.plural);
    struct str *finalizer = context;
    struct value *list;

    *ret_object = value_clone(rq->arena, now);
    list = of_spec ? value_walk(*ret_object, "spec", "finalizers", NULL)
                   : meta_get(*ret_object, "finalizers");
    for (uint32_t i = 0; i < value_count(list); i++)
        if (str_eq(value_text(value_at(list, i)), *finalizer)) {
            value_remove_at(list, i);
            break;
        }
    return 0;
}

static void finish(struct request *rq, struct str finalizer)
{
    struct edit edit = { drop_finalizer, &finalizer };
    struct str object;

    rq->verb = VERB_UPDATE;
    do_update(rq, &edit, &object);
}

/* True once nothing is left to do. */
static bool clear_namespace(struct request *rq)
{
    uint32_t left = 0;

    for (uint32_t i = 0; i < catalog_count(rq->catalog); i++) {
        const struct kind *kind = catalog_at(rq->catalog, i);

        if (kind->namespaced && !kind_has(kind, KIND_QUESTION))
            left += delete_all(rq, kind, rq->name);
    }
    /* What was deleted may wait for finalizers: look again before the namespace goes. */
    if (left)
        return false;
    finish(rq, STR("kubernetes"));
    return true;
}

static bool clear_definition(struct request *rq, const struct value *crd)
{
    const struct kind *kind =
        catalog_find(rq->catalog, value_text(value_walk(crd, "spec", "group", NULL)), STR(""),
                     value_text(value_walk(crd, "spec", "names", "plural", NULL)));

    if (kind && delete_all(rq, kind, STR("")))
        return false;
    finish(rq, STR(CUSTOM_RESOURCE_CLEANUP_FINALIZER));
    return true;
}

static bool tend(struct namespace_controller *j, const struct place *place)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct request rq;
    struct error err;
    struct value *object;
    uint64_t version;
    bool done = true;

    if (request_begin(j->api, arena, str_of(place->cluster), place->resource, &rq, &err) != 0)
        return true;
    rq.name = str_of(place->name);
    if (request_load(&rq, rq.kind, STR(""), rq.name, &object, &version) == 0 &&
        meta_is_going(object))
        done =
            place->resource == &namespaces ? clear_namespace(&rq) : clear_definition(&rq, object);
    return done;
}

static void tend_all(struct namespace_controller *j)
{
    struct place *places;

    pthread_mutex_lock(&j->lock);
    places = TAKE(j->places);
    j->news = false;
    pthread_mutex_unlock(&j->lock);
    while (places) {
        struct place *place = places;

        places = place->next;
        if (tend(j, place)) {
            free_place(place);
            continue;
        }
        pthread_mutex_lock(&j->lock);
        place->next = j->places;
        j->places = place;
        pthread_mutex_unlock(&j->lock);
    }
}

static void forget_events(struct request *rq)
{
    struct collection of = request_collection(rq, rq->kind, STR(""));
    struct delete_options options = { .uid = STR("") };
    struct store_page page;
    struct error err;

    if (store_list(rq->api->store, rq->arena, &of, NULL, 0, 0, &page, &err) != STORE_DONE)
        return;
    for (uint32_t i = 0; i < page.rows.count; i++) {
        struct request one = *rq;
        struct json json;
        struct str last, object;
        int64_t at;
        bool gone;

        if (json_read(rq->arena, page.rows.items[i].object, &json_limits_default, &json, &err))
            continue;
        last = json_str(json_get(json, STR("lastTimestamp")));
        if (last.len == 0)
            last = json_str(json_walk(json, "metadata", "creationTimestamp", NULL));
        if (time_parse_rfc3339(last, &at, &err) != 0 || at > rq->now_ms - EVENT_AGE_MS)
            continue;
        one.namespace_ = page.rows.items[i].namespace_;
        one.name = page.rows.items[i].name;
        one.verb = VERB_DELETE;
        do_delete(&one, &options, &object, &gone);
    }
}

/* Each cluster's terminating namespaces and definitions, or its old Events. */
static void each_cluster(struct namespace_controller *j, bool old_events)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str_list clusters;
    struct error err;

    if (store_clusters(j->api->store, arena, &clusters, &err) != 0)
        return;
    for (uint32_t i = 0; i < clusters.count; i++) {
        const struct kube_resource *const kinds[] = { &namespaces, &definitions };
        struct request rq;

        if (old_events) {
            if (request_begin(j->api, arena, clusters.items[i], &events, &rq, &err) == 0)
                forget_events(&rq);
            continue;
        }
        for (int k = 0; k < 2; k++) {
            struct collection of = { clusters.items[i], kinds[k]->group, kinds[k]->plural,
                                     STR("") };
            struct store_page page;

            if (store_list(j->api->store, arena, &of, NULL, 0, 0, &page, &err) != STORE_DONE)
                continue;
            for (uint32_t r = 0; r < page.rows.count; r++)
                if (str_find(page.rows.items[r].object, STR("\"deletionTimestamp\""), 0) >= 0)
                    add_place(j, kinds[k], clusters.items[i], page.rows.items[r].name);
        }
    }
}

static void wait_for_work(struct namespace_controller *j)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (long)PAUSE_MS * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&j->lock);
    if (!j->news && !j->ending)
        pthread_cond_timedwait(&j->woken, &j->lock, &until);
    pthread_mutex_unlock(&j->lock);
}

static bool is_ending(struct namespace_controller *j)
{
    pthread_mutex_lock(&j->lock);
    bool ending = j->ending;
    pthread_mutex_unlock(&j->lock);
    return ending;
}

static void *run(void *context)
{
    struct namespace_controller *j = context;

    each_cluster(j, false);
    while (!is_ending(j)) {
        int64_t now = clock_monotonic_ms(j->api->clock);

        tend_all(j);
        garbage_collector_run(j->api->garbage_collector);
        if (now >= j->trim_ms) {
            store_trim(j->api->store);
            j->trim_ms = now + TRIM_MS;
        }
        if (now >= j->events_ms) {
            each_cluster(j, true);
            j->events_ms = now + EVENTS_MS;
        }
        wait_for_work(j);
    }
    return NULL;
}

struct namespace_controller *namespace_controller_create(struct api *api)
{
    struct namespace_controller *j = mem_new(struct namespace_controller);

    j->api = api;
    pthread_mutex_init(&j->lock, NULL);
    pthread_cond_init(&j->woken, NULL);
    pthread_create(&j->thread, NULL, run, j);
    return j;
}

void namespace_controller_free(struct namespace_controller *j)
{
    if (!j)
        return;
    pthread_mutex_lock(&j->lock);
    j->ending = true;
    pthread_cond_signal(&j->woken);
    pthread_mutex_unlock(&j->lock);
    pthread_join(j->thread, NULL);
    while (j->places) {
        struct place *place = j->places;

        j->places = place->next;
        free_place(place);
    }
    pthread_cond_destroy(&j->woken);
    pthread_mutex_destroy(&j->lock);
    mem_free(j);
}
