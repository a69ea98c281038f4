/* SPDX-License-Identifier: Apache-2.0 */
/* request.c: what all verbs share. */
#include "lab/apiserver/request.h"

#include "lab/apiserver/object.h"
#include "text/time.h"

struct failure_subject request_subject(const struct request *rq)
{
    return (struct failure_subject){ rq->kind->group, rq->kind->plural, rq->kind->kind, rq->name };
}

struct collection request_collection(const struct request *rq, const struct kind *kind,
                                     struct str namespace_)
{
    return (struct collection){ rq->cluster, kind->group, kind->plural, namespace_ };
}

struct store_key request_key(const struct request *rq, const struct kind *kind,
                             struct str namespace_, struct str name)
{
    return (struct store_key){ rq->cluster, kind->group, kind->plural,
                               kind->namespaced ? namespace_ : STR(""), name };
}

void request_warn(struct request *rq, struct str text)
{
    if (!str_list_has(&rq->warnings, text))
        str_list_push(&rq->warnings, text);
}

static void release_catalog(void *held)
{
    struct catalog **catalog = held;

    catalog_unref(*catalog);
}

struct catalog *request_catalog(struct api *api, struct arena *arena, struct str cluster)
{
    struct catalog **catalog = arena_new(arena, struct catalog *);

    arena_defer(arena, release_catalog, catalog);
    *catalog = registry_catalog(api->registry, cluster);
    return *catalog;
}

struct rng request_rng(struct request *rq)
{
    uint64_t seed;

    pthread_mutex_lock(&rq->api->lock);
    seed = rng_next(&rq->api->rng);
    pthread_mutex_unlock(&rq->api->lock);
    return rng_from_seed(seed);
}

struct str request_time(struct request *rq)
{
    return time_rfc3339(rq->arena, rq->now_ms);
}

int request_store_failed(struct request *rq, const struct error *err)
{
    log_error(rq->api->log, "store failed", LOG_Z("error", err->text));
    return fail_internal(&rq->failure, str_dup(rq->arena, str_of(err->text)));
}

int request_load(struct request *rq, const struct kind *kind, struct str namespace_,
                 struct str name, struct value **ret_object, uint64_t *ret_version)
{
    struct store_key key = request_key(rq, kind, namespace_, name);
    struct failure_subject subject = { kind->group, kind->plural, kind->kind, name };
    struct store_row row;
    struct error err;
    enum store_answer answer = store_get(rq->api->store, rq->arena, &key, &row, &err);

    if (answer == STORE_MISSING)
        return fail_not_found(&rq->failure, &subject);
    if (answer != STORE_DONE)
        return request_store_failed(rq, &err);
    if (value_read(rq->arena, request_present(rq, kind, row.object), &json_limits_default,
                   ret_object, &err) != 0)
        return fail_internal(&rq->failure, str_dup(rq->arena, str_of(err.text)));
    *ret_version = row.version;
    return 0;
}

/* Versions of a kind differ in nothing but their name here (conversion strategy None). The stored
 * object begins with its apiVersion, see object_split. */
struct str request_present(struct request *rq, const struct kind *kind, struct str stored)
{
    struct str prefix;

    if (str_eq(kind->version, kind->storage_version))
        return stored;
    prefix = str_fmt(rq->arena, "{\"apiVersion\":\"%.*s\"",
                     STR_ARG(kind_storage_api_version(rq->arena, kind)));
    if (!str_starts(stored, prefix))
        return stored;
    return str_fmt(rq->arena, "{\"apiVersion\":\"%.*s\"%.*s",
                   STR_ARG(kind_api_version(rq->arena, kind)),
                   STR_ARG(str_slice(stored, prefix.len, stored.len)));
}

int do_get(struct request *rq, struct str *ret_object)
{
    struct store_key key = request_key(rq, rq->kind, rq->namespace_, rq->name);
    struct failure_subject subject = request_subject(rq);
    struct store_row row;
    struct error err;
    enum store_answer answer = store_get(rq->api->store, rq->arena, &key, &row, &err);

    if (answer == STORE_MISSING)
        return fail_not_found(&rq->failure, &subject);
    if (answer != STORE_DONE)
        return request_store_failed(rq, &err);
    *ret_object = request_present(rq, rq->kind, row.object);
    return 0;
}
