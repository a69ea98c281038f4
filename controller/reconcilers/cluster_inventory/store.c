/* SPDX-License-Identifier: Apache-2.0 */
/* store.c: one write of a cluster after the other, and what the watch says of them. */
#include "controller/reconcilers/cluster_inventory/store.h"

#include "base/memory.h"
#include "controller/metrics.h"
#include "kube/status_patch.h"
#include "runtime/expectations.h"
#include "runtime/informer.h"
#include "stack/gpu/inventory.h"
#include "stack/model/stack.h"
#include "text/json_write.h"

#define FIELD_MANAGER STR("herd-inventory")

/* A write under way. */
struct write {
    struct inventory_store *store;
    struct write *older, *newer;
    struct kube_call *call;
    char *status; /* to be applied once the object is there; NULL: not to be */
    size_t status_len;
    size_t id_len;
    char id[];
};

struct inventory_store {
    struct inventory_store_options options;
    struct informer *stored;
    struct expectations *written; /* as inventory_keep keeps them */
    struct write *writes;         /* newest first */
};

/* --- what was written --- */

static const struct kube_object *stored_object(const struct inventory_store *store, struct str id)
{
    return kube_cache_get(informer_cache(store->stored), id);
}

static void remember_written(struct inventory_store *store, struct str id, struct str answer)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf kept = strbuf_new(arena, 1024);
    struct error ignored;
    struct json object;

    if (json_read(arena, answer, &json_limits_default, &object, &ignored) < 0)
        return;
    inventory_keep(object, &kept);
    expectations_set(store->written, id,
                     json_str(json_walk(object, "metadata", "resourceVersion", NULL)),
                     stored_object(store, id), strbuf_str(&kept), loop_now_ms(store->options.loop));
}

struct json inventory_store_status(const struct inventory_store *store, struct arena *arena,
                                   struct str id)
{
    const struct kube_object *stored = stored_object(store, id);
    struct str kept = expectations_kept(store->written, id, loop_now_ms(store->options.loop));
    struct json object = { NULL, 0 };
    struct error ignored;

    if (!kept.len)
        kept = stored ? kube_object_kept(stored) : STR("{}");
    (void)json_read(arena, str_dup(arena, kept), &json_limits_default, &object, &ignored);
    return json_get(object, STR("status"));
}

/* --- writes --- */

static struct str id_of(const struct write *write)
{
    return str_make(write->id, write->id_len);
}

static struct write *write_new(struct inventory_store *store, struct str id, struct str status)
{
    struct write *write = mem_alloc(sizeof(*write) + id.len);

    *write = (struct write){ .store = store, .older = store->writes, .id_len = id.len };
    memcpy(write->id, id.at, id.len);
    if (status.len) {
        write->status = mem_copy(status.at, status.len);
        write->status_len = status.len;
    }
    if (store->writes)
        store->writes->newer = write;
    store->writes = write;
    return write;
}

static void write_free(struct write *write)
{
    if (write->newer)
        write->newer->older = write->older;
    else
        write->store->writes = write->older;
    if (write->older)
        write->older->newer = write->newer;
    mem_free(write->status);
    mem_free(write);
}

static void end_write(struct write *write, const struct kube_answer *answer)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct inventory_store *store = write->store;
    struct str id = str_dup(arena, id_of(write));
    bool well = answer->error.code == ERROR_NONE;

    metrics_add(store->options.metrics, CONTROLLER_INVENTORY_WRITES,
                (struct str[]){ well ? STR("written") : STR("failed") }, 1);
    if (!well)
        log_warn(store->options.log, "inventory not written; Herd retries", LOG_STR("cluster", id),
                 LOG_Z("error", answer->error.text));
    write_free(write);
    store->options.done(store->options.context, id, well ? RECONCILE_DONE : RECONCILE_RETRY,
                        answer->retry_after_ms);
}

static void on_replaced(void *context, const struct kube_answer *answer)
{
    struct write *write = context;

    if (answer->error.code == ERROR_NONE)
        remember_written(write->store, id_of(write), answer->body);
    end_write(write, answer);
}

static void put_head(struct json_writer *w, struct str id)
{
    json_field_str(w, "apiVersion", STR(STACK_GROUP "/" STACK_VERSION));
    json_field_str(w, "kind", inventory_resource.kind);
    json_put_key(w, STR("metadata"));
    json_open_object(w);
    json_field_str(w, "name", id);
    json_close_object(w);
}

static void send(struct write *write, const struct kube_request *request, kube_done *then)
{
    write->call = kube_client_call(write->store->options.api, request, then, write);
}

static void replace_status(struct write *write)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct kube_request request =
        kube_status_replace(arena, &inventory_resource, STR(""), id_of(write), FIELD_MANAGER,
                            str_make(write->status, write->status_len));

    send(write, &request, on_replaced);
}

static void on_created(void *context, const struct kube_answer *answer)
{
    struct write *write = context;

    if (answer->error.code == ERROR_NONE || answer->error.code == ERROR_ALREADY_EXISTS)
        replace_status(write);
    else
        end_write(write, answer);
}

static void create_object(struct write *write)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf body = strbuf_new(arena, 256);
    struct json_writer w = json_writer(&body);

    json_open_object(&w);
    put_head(&w, id_of(write));
    json_close_object(&w);
    send(write,
         &(struct kube_request){ .verb = KUBE_CREATE,
                                 .resource = inventory_resource,
                                 .field_manager = FIELD_MANAGER,
                                 .body = strbuf_str(&body) },
         on_created);
}

static void on_deleted(void *context, const struct kube_answer *answer)
{
    struct write *write = context;
    struct kube_answer told = *answer;

    if (answer->error.code == ERROR_NOT_FOUND)
        told.error.code = ERROR_NONE; /* somebody else did */
    expectations_forget(write->store->written, id_of(write));
    end_write(write, &told);
}

void inventory_store_write(struct inventory_store *store, struct str id, struct str status)
{
    struct write *write = write_new(store, id, status);

    if (stored_object(store, id))
        replace_status(write);
    else
        create_object(write);
}

void inventory_store_remove(struct inventory_store *store, struct str id)
{
    send(write_new(store, id, STR("")),
         &(struct kube_request){ .verb = KUBE_DELETE, .resource = inventory_resource, .name = id },
         on_deleted);
}

/* --- what there is --- */

static bool keep_stored(void *context, struct json object, struct strbuf *kept)
{
    (void)context;
    inventory_keep(object, kept);
    return true;
}

static void on_stored(void *context, struct kube_object *before, struct kube_object *after)
{
    struct inventory_store *store = context;
    struct str id = kube_object_key(after ? after : before);
    struct str version = after ? kube_object_resource_version(after) : STR("");

    if (expectations_observe(store->written, id, version) == OBSERVED_OLDER)
        return;
    if (!before || !after || !str_eq(kube_object_kept(before), kube_object_kept(after)))
        store->options.changed(store->options.context, id);
}

static void on_trouble(void *context, const struct error *error)
{
    struct inventory_store *store = context;

    if (error)
        log_warn(store->options.log,
                 "inventories cannot be followed, and none is written until they can",
                 LOG_Z("error", error->text));
    else
        log_info(store->options.log, "inventories can be followed again", LOG_INT("synced", 1));
}

static void on_synced(void *context)
{
    const struct inventory_store *store = context;

    store->options.synced(store->options.context);
}

bool inventory_store_synced(const struct inventory_store *store)
{
    return informer_synced(store->stored);
}

bool inventory_store_has(const struct inventory_store *store, struct str id)
{
    return stored_object(store, id) != NULL;
}

bool inventory_store_next(const struct inventory_store *store, size_t *cursor, struct str *ret_id)
{
    struct kube_object *object;

    if (!kube_cache_next(informer_cache(store->stored), cursor, &object))
        return false;
    *ret_id = kube_object_key(object);
    return true;
}

/* --- the object --- */

struct inventory_store *inventory_store_create(const struct inventory_store_options *options)
{
    struct inventory_store *store = mem_new(struct inventory_store);

    store->options = *options;
    store->written = expectations_create();
    store->stored = informer_create(&(struct informer_options){
        .client = options->api,
        .resource = inventory_resource,
        .seed = options->seed,
        .keep = keep_stored,
        .on_change = on_stored,
        .on_synced = on_synced,
        .on_trouble = on_trouble,
        .context = store,
    });
    return store;
}

void inventory_store_free(struct inventory_store *store)
{
    if (!store)
        return;
    while (store->writes) {
        kube_call_cancel(store->writes->call);
        write_free(store->writes);
    }
    expectations_free(store->written);
    informer_free(store->stored);
    mem_free(store);
}
