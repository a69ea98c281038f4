/* SPDX-License-Identifier: Apache-2.0 */
/* kind.c: one reconcile: render -> children -> Events, if pods are missing -> status. */
#include "runtime/kind.h"

#include "base/memory.h"
#include "kube/meta.h"
#include "kube/pod_shortage.h"
#include "kube/status_patch.h"
#include "runtime/children.h"
#include "runtime/controller.h"
#include "runtime/expectations.h"
#include "runtime/informer.h"

struct kind_reconciler {
    struct kind_options options;
    struct informer *objects;
    struct children *children;
    struct expectations *written; /* of objects, by us: their status */
    struct pod_shortages *shortages;
    struct kube_controller *queue;
    struct reconcile *newest; /* under way */
};

struct reconcile {
    struct kind_reconciler *of;
    struct reconcile *older, *newer;
    struct arena *arena;
    struct str key;
    struct json object, measured, status; /* the status that is sent */
    struct kube_meta meta;
    int64_t now_ms; /* since 1970; one for all that is decided */
    struct children_count count;
    struct kube_conditions conditions; /* as they are stored, then as they should be */
    struct kube_call *call;            /* list of Events, or write of the status */
    enum reconcile_result result;
    int64_t again_ms; /* -1 = when something changes */
    bool gone;        /* there is no such object any more */
};

static struct kube_owner owner_of(const struct reconcile *reconcile)
{
    return (struct kube_owner){ reconcile->of->options.kind->resource, reconcile->meta.namespace_,
                                reconcile->meta.name, reconcile->meta.uid };
}

static int64_t now(const struct kind_reconciler *of)
{
    return loop_now_ms(of->options.loop);
}

static void unlink_reconcile(struct reconcile *reconcile)
{
    if (reconcile->newer)
        reconcile->newer->older = reconcile->older;
    else
        reconcile->of->newest = reconcile->older;
    if (reconcile->older)
        reconcile->older->newer = reconcile->newer;
}

/* What could not begin yet is no reconcile. */
static void tell_result(const struct reconcile *reconcile, enum reconcile_result result)
{
    const struct kind_options *options = &reconcile->of->options;

    if (options->listener && result != RECONCILE_LATER)
        options->listener->reconciled(options->context, options->kind,
                                      result == RECONCILE_RETRY ? STR("retry")
                                      : reconcile->gone         ? STR("gone")
                                                                : STR("done"));
}

static void end(struct reconcile *reconcile, enum reconcile_result result, int64_t after_ms)
{
    tell_result(reconcile, result);
    unlink_reconcile(reconcile);
    kube_controller_done(reconcile->of->queue, reconcile->key, result, after_ms);
    arena_free(reconcile->arena);
}

/* --- status --- */

static void tell_write(const struct reconcile *reconcile, struct str resource_version,
                       const struct error *error)
{
    const struct kind_options *options = &reconcile->of->options;
    const struct kind_write write = {
        .arena = reconcile->arena,
        .object = reconcile->object,
        .status = reconcile->status,
        .resource_version = resource_version,
        .error = error,
    };

    if (options->listener)
        options->listener->written(options->context, options->kind, &write);
}

/* "" = it does not say. */
static struct str version_in(struct arena *arena, const struct kube_answer *answer)
{
    struct error ignored;
    struct json object;

    if (answer->error.code != ERROR_NONE ||
        json_read(arena, str_dup(arena, answer->body), &json_limits_default, &object, &ignored) < 0)
        return STR("");
    return json_str(json_walk(object, "metadata", "resourceVersion", NULL));
}

static void on_written(void *context, const struct kube_answer *answer)
{
    struct reconcile *reconcile = context;
    struct kind_reconciler *of = reconcile->of;
    struct str version = version_in(reconcile->arena, answer);

    reconcile->call = NULL;
    tell_write(reconcile, version, &answer->error);
    if (answer->error.code == ERROR_NONE) {
        if (version.len)
            expectations_set(of->written, reconcile->key, version,
                             kube_cache_get(informer_cache(of->objects), reconcile->key), STR(""),
                             now(of));
        end(reconcile, reconcile->result, reconcile->again_ms);
        return;
    }
    log_warn(of->options.log, "status not written",
             LOG_STR("kind", of->options.kind->resource.kind), LOG_STR("object", reconcile->key),
             LOG_Z("error", answer->error.text));
    end(reconcile, RECONCILE_RETRY, answer->retry_after_ms);
}

/* The first child that lacks pods, of which only Events can tell why; NULL: none. */
static struct seen_child *that_lacks_pods(const struct seen_children *children)
{
    for (uint32_t i = 0; i < children->count; i++)
        if (children->items[i].health.lacks_pods)
            return &children->items[i];
    return NULL;
}

/* In the arena; borrowed from the reconcile, which goes on. */
static struct kind_observation observe(struct reconcile *reconcile)
{
    struct kind_reconciler *of = reconcile->of;
    const struct kube_owner owner = owner_of(reconcile);
    struct seen_children *seen = arena_new(reconcile->arena, struct seen_children);
    struct seen_child *lacking;

    *seen = children_seen(of->children, reconcile->arena, &owner);
    lacking = that_lacks_pods(seen);
    if (lacking)
        lacking->health.cause =
            str_dup(reconcile->arena, pod_shortages_cause(of->shortages, reconcile->key));
    return (struct kind_observation){
        .object = reconcile->object,
        .accepted = kube_condition_find(&reconcile->conditions, STR("Accepted")),
        .deleted = reconcile->meta.deletion_timestamp.len > 0,
        .applied = kube_condition_find(&reconcile->conditions, STR("Applied")),
        .children = seen,
        .measured = reconcile->measured,
        .now_ms = reconcile->now_ms,
    };
}

static struct str status_of(struct reconcile *reconcile)
{
    const struct kube_kind *kind = reconcile->of->options.kind;
    struct strbuf out = strbuf_new(reconcile->arena, 512);
    struct json_writer w = json_writer(&out);

    json_open_object(&w);
    json_field_int(&w, "observedGeneration", reconcile->meta.generation);
    json_put_key(&w, STR("children"));
    json_open_object(&w);
    json_field_int(&w, "desired", reconcile->count.desired);
    json_field_int(&w, "applied", reconcile->count.applied);
    json_close_object(&w);
    if (kind->summarize) {
        struct kind_observation seen = observe(reconcile);

        kind->summarize(kind, reconcile->arena, &seen, &w, &reconcile->conditions);
    }
    json_put_key(&w, STR("conditions"));
    kube_conditions_write(&reconcile->conditions, &w);
    json_close_object(&w);
    return strbuf_str(&out);
}

static void write_status(struct reconcile *reconcile)
{
    const struct kube_kind *kind = reconcile->of->options.kind;
    struct str status = status_of(reconcile);
    struct kube_request request;
    struct error ignored;

    /* Our own bytes: they read back. */
    if (json_read(reconcile->arena, status, &json_limits_default, &reconcile->status, &ignored) ==
            0 &&
        json_equal(reconcile->status, json_get(reconcile->object, STR("status")))) {
        end(reconcile, reconcile->result, reconcile->again_ms);
        return;
    }
    request = kube_status_replace(reconcile->arena, &kind->resource, reconcile->meta.namespace_,
                                  reconcile->meta.name, str_of(kind->field_manager), status);
    reconcile->call =
        kube_client_call(reconcile->of->options.client, &request, on_written, reconcile);
}

static void set_condition(struct reconcile *reconcile, struct kube_condition condition)
{
    kube_condition_set(&reconcile->conditions, condition, reconcile->now_ms);
}

/* --- why pods are missing --- */

static void on_events(void *context, const struct kube_answer *answer)
{
    struct reconcile *reconcile = context;
    struct kind_reconciler *of = reconcile->of;

    reconcile->call = NULL;
    if (answer->error.code == ERROR_NONE)
        pod_shortages_set(of->shortages, reconcile->key,
                          kube_shortage_cause(reconcile->arena, answer->body));
    else
        log_debug(of->options.log, "Events not listed",
                  LOG_STR("kind", of->options.kind->resource.kind),
                  LOG_STR("object", reconcile->key), LOG_Z("error", answer->error.text));
    write_status(reconcile);
}

/* Children are where their owner is. */
static void ask_why_pods_are_missing(struct reconcile *reconcile)
{
    struct kind_reconciler *of = reconcile->of;
    const struct seen_child *lacking = that_lacks_pods(observe(reconcile).children);
    struct kube_request request;

    if (!pod_shortages_step(of->shortages, reconcile->key, lacking != NULL, now(of),
                            &reconcile->again_ms)) {
        write_status(reconcile);
        return;
    }
    request = kube_shortage_request(reconcile->arena, lacking->resource, reconcile->meta.namespace_,
                                    lacking->name);
    reconcile->call = kube_client_call(of->options.client, &request, on_events, reconcile);
}

/* --- one object --- */

static void on_children(void *context, const struct child_results *results)
{
    struct reconcile *reconcile = context;

    reconcile->count = kube_children_count(results);
    reconcile->result = reconcile->count.failed ? RECONCILE_RETRY : RECONCILE_DONE;
    set_condition(reconcile,
                  kube_children_condition(reconcile->arena, results, reconcile->meta.generation));
    ask_why_pods_are_missing(reconcile);
}

/* The first finding that is denied; NULL: it can be rendered. */
static const struct problem *first_denied(const struct problems *problems)
{
    for (uint32_t i = 0; i < problems->list.count; i++)
        if (problems->list.items[i].severity == SEVERITY_DENY)
            return &problems->list.items[i];
    return NULL;
}

/* What the stored status says: nothing is applied this time. */
static void keep_count(struct reconcile *reconcile)
{
    struct json before = json_walk(reconcile->object, "status", "children", NULL);
    int64_t desired = 0, applied = 0;

    json_int64(json_get(before, STR("desired")), &desired);
    json_int64(json_get(before, STR("applied")), &applied);
    reconcile->count =
        (struct children_count){ .desired = (uint32_t)desired, .applied = (uint32_t)applied };
}

static void reject(struct reconcile *reconcile, const struct problem *problem)
{
    struct str message = str_fmt(reconcile->arena, "%.*s: %.*s%s%.*s", STR_ARG(problem->field),
                                 STR_ARG(problem->message), problem->remedy.len ? "; " : "",
                                 STR_ARG(problem->remedy));

    keep_count(reconcile);
    set_condition(reconcile,
                  (struct kube_condition){ .type = STR("Accepted"),
                                           .status = CONDITION_FALSE,
                                           .reason = kube_child_reason_name(CHILD_REASON_REJECTED),
                                           .message = message,
                                           .observed_generation = reconcile->meta.generation });
    write_status(reconcile);
}

static void render(struct reconcile *reconcile)
{
    const struct kube_kind *kind = reconcile->of->options.kind;
    const struct kube_owner owner = owner_of(reconcile);
    struct kube_children desired = kube_children_new(reconcile->arena, 8);
    struct problems problems = problems_new(reconcile->arena);
    struct kind_observation seen = observe(reconcile);
    const struct problem *denied;

    kind->render(kind, reconcile->arena, &seen, &desired, &problems);
    problems_sort(&problems);
    denied = first_denied(&problems);
    if (denied) {
        reject(reconcile, denied);
        return;
    }
    set_condition(reconcile,
                  (struct kube_condition){ .type = STR("Accepted"),
                                           .status = CONDITION_TRUE,
                                           .reason = kube_child_reason_name(CHILD_REASON_ACCEPTED),
                                           .observed_generation = reconcile->meta.generation });
    children_apply(reconcile->of->children, &owner, &desired, on_children, reconcile);
}

static struct reconcile *reconcile_new(struct kind_reconciler *of, struct str key)
{
    struct arena *arena = arena_create(0);
    struct reconcile *reconcile = arena_new(arena, struct reconcile);

    *reconcile = (struct reconcile){
        .of = of,
        .older = of->newest,
        .arena = arena,
        .key = str_dup(arena, key),
        .now_ms = kube_client_wall_ms(of->options.client),
        .again_ms = -1,
    };
    if (of->newest)
        of->newest->newer = reconcile;
    of->newest = reconcile;
    return reconcile;
}

static void begin(void *context, struct str key)
{
    struct kind_reconciler *of = context;
    struct reconcile *reconcile = reconcile_new(of, key);
    const struct kube_object *object = kube_cache_get(informer_cache(of->objects), key);
    int64_t put_off_ms = expectations_put_off(of->written, key, now(of));
    struct error ignored;

    reconcile->gone = !object;
    if (!object) {
        expectations_forget(of->written, key);
        pod_shortages_forget(of->shortages, key);
    }
    if (!object || put_off_ms > 0 || !of->children || !children_synced(of->children)) {
        end(reconcile, object ? RECONCILE_LATER : RECONCILE_DONE, put_off_ms > 0 ? put_off_ms : -1);
        return;
    }
    /* The cache's own bytes: they read back. */
    if (json_read(reconcile->arena, str_dup(reconcile->arena, kube_object_kept(object)),
                  &json_limits_default, &reconcile->object, &ignored) < 0) {
        end(reconcile, RECONCILE_DONE, -1);
        return;
    }
    kube_meta_read(reconcile->object, &reconcile->meta);
    if (of->options.measured)
        reconcile->measured = of->options.measured(of->options.context, reconcile->arena, key);
    reconcile->conditions = kube_conditions_read(
        reconcile->arena, json_walk(reconcile->object, "status", "conditions", NULL));
    if (!reconcile->meta.deletion_timestamp.len) {
        render(reconcile);
    } else if (of->options.kind->summarize) {
        keep_count(reconcile);
        write_status(reconcile);
    } else {
        end(reconcile, RECONCILE_DONE, -1);
    }
}

/* --- who wakes whom --- */

static void on_object(void *context, struct kube_object *before, struct kube_object *after)
{
    struct kind_reconciler *of = context;
    struct str key = kube_object_key(after ? after : before);
    struct str version = after ? kube_object_resource_version(after) : STR("");

    if (of->options.listener)
        of->options.listener->changed(of->options.context, of->options.kind, before, after);
    if (expectations_observe(of->written, key, version) == OBSERVED_NEWS)
        kube_controller_add(of->queue, key);
}

static void on_child(void *context, struct str owner)
{
    struct kind_reconciler *of = context;

    if (kube_cache_get(informer_cache(of->objects), owner))
        kube_controller_add(of->queue, owner);
}

static void wake_all(void *context)
{
    struct kind_reconciler *of = context;
    struct kube_object *object;

    for (size_t cursor = 0; kube_cache_next(informer_cache(of->objects), &cursor, &object);)
        kube_controller_add(of->queue, kube_object_key(object));
}

static bool is_absent(const struct kind_reconciler *of)
{
    enum error_code code = informer_trouble(of->objects)->code;

    return code == ERROR_NOT_FOUND || (code == ERROR_FORBIDDEN && of->options.optional);
}

static void on_trouble(void *context, const struct error *error)
{
    const struct kind_reconciler *of = context;
    struct str kind = of->options.kind->resource.kind;

    if (error && is_absent(of))
        log_debug(of->options.log, "objects are not installed", LOG_STR("kind", kind));
    else if (error)
        log_warn(of->options.log, "objects cannot be followed", LOG_STR("kind", kind),
                 LOG_Z("error", error->text));
    else
        log_info(of->options.log, "objects can be followed again", LOG_STR("kind", kind));
}

/* Where a kind is not installed nothing is made of it, and nobody has to pay for that. */
static void follow_children(void *context)
{
    struct kind_reconciler *of = context;
    const struct kind_options *options = &of->options;
    const struct kube_kind *kind = options->kind;

    of->children = children_create(&(struct children_options){
        .client = options->client,
        .owner = kind->resource,
        .resources = kind->children,
        .resource_count = kind->child_count,
        .watched_count = kind->watched_count,
        .namespace_ = options->namespace_,
        .label = str_of(kind->label),
        .field_manager = str_of(kind->field_manager),
        .force = kind->force,
        .seed = options->seed + 2,
        .changed = on_child,
        .synced = wake_all,
        .context = of,
    });
}

/* --- the object --- */

void *kind_reconciler_create(const struct kind_options *options)
{
    struct kind_reconciler *of = mem_new(struct kind_reconciler);
    const struct kube_kind *kind = options->kind;

    of->options = *options;
    of->written = expectations_create();
    of->shortages = pod_shortages_create();
    of->queue = kube_controller_create(&(struct kube_controller_options){
        .loop = options->loop,
        .workers = options->workers,
        .seed = options->seed,
        .reconcile = begin,
        .context = of,
    });
    of->objects = informer_create(&(struct informer_options){
        .client = options->client,
        .resource = kind->resource,
        .namespace_ = options->namespace_,
        .seed = options->seed + 1,
        .on_change = on_object,
        .on_synced = follow_children,
        .on_trouble = on_trouble,
        .context = of,
    });
    return of;
}

void kind_reconciler_free(void *reconciler)
{
    struct kind_reconciler *of = reconciler;

    if (!of)
        return;
    children_free(of->children);
    while (of->newest) {
        struct reconcile *newest = of->newest;

        if (newest->call)
            kube_call_cancel(newest->call);
        unlink_reconcile(newest);
        arena_free(newest->arena);
    }
    informer_free(of->objects);
    kube_controller_free(of->queue);
    expectations_free(of->written);
    pod_shortages_free(of->shortages);
    mem_free(of);
}

void kind_reconciler_pause(void *reconciler, bool paused)
{
    kube_controller_pause(((struct kind_reconciler *)reconciler)->queue, paused);
}

void kind_reconciler_wake(void *reconciler)
{
    if (((struct kind_reconciler *)reconciler)->options.measured)
        wake_all(reconciler);
}

uint32_t kind_reconciler_busy(const void *reconciler)
{
    return kube_controller_busy(((const struct kind_reconciler *)reconciler)->queue);
}

struct str kind_reconciler_trouble(const void *reconciler)
{
    const struct kind_reconciler *of = reconciler;
    const struct error *trouble = informer_trouble(of->objects);

    if (is_absent(of))
        return STR("");
    if (trouble->code != ERROR_NONE)
        return str_of(trouble->text);
    return of->children ? children_trouble(of->children) : STR("its objects are being listed");
}

struct str kind_reconciler_note(const void *reconciler)
{
    const struct kind_reconciler *of = reconciler;

    if (!is_absent(of))
        return STR("");
    return of->options.optional
               ? STR("its CustomResourceDefinition is not installed, or it may not be read")
               : STR("its CustomResourceDefinition is not installed");
}
