/* SPDX-License-Identifier: Apache-2.0 */
/* informer.c: the reflector's shell: requests out, objects into the cache, changes to the owner.
 *
 * A page is read whole but not kept: each item goes through `keep` and into the cache as it comes,
 * and what the cache has already in that version is only marked. When the list ends, what was not
 * marked is gone. Objects of a page are older than nothing that was seen before, since lists are
 * consistent reads, so they may replace what stands there at once.
 *
 * A watch that says nothing is either quiet or dead. A small request on the same client tells: an
 * answer, also a rejection, is a sign of life. A 5xx is none: it is what a proxy says whose way to
 * the server behind it is gone, and then the watch through it is dead too. */
#include "runtime/informer.h"

#include "base/limits.h"
#include "base/memory.h"
#include "base/pack.h"
#include "kube/apistatus.h"
#include "kube/limits.h"
#include "kube/meta.h"
#include "kube/reflector.h"
#include "kube/sanitize.h"
#include "kube/watch.h"
#include "runtime/informer_keep.h"
#include "runtime/limits.h"
#include "text/limits.h"

struct informer {
    struct informer_options options;
    char *strings; /* of the options */
    struct kube_cache *cache;
    struct reflector reflector;
    struct rng rng;
    struct loop_timer *wait;
    struct kube_return on_return;
    struct loop_timer *silence; /* until a probe is due */
    struct kube_call *call;     /* the list or the watch */
    struct kube_call *probe;
    uint32_t page_limit;
    int64_t watch_began_ms;
    int64_t heard_ms;   /* -1 = never */
    int64_t resumed_ms; /* 0 = its last list was without trouble since */
    bool synced;
    bool again;                /* another list follows the one under way */
    struct error *watch_error; /* why we end the watch ourselves; NULL */
    struct error *trouble;     /* NULL: there is none */
    bool trouble_of_watch;     /* a list that works does not end it */
};

static void feed(struct informer *informer, const struct reflector_input *input);

static int64_t now_ms(const struct informer *informer)
{
    return loop_now_ms(kube_client_loop(informer->options.client));
}

static void set_trouble(struct informer *informer, const struct error *error, bool of_watch)
{
    bool told = informer->trouble && informer->trouble->code == error->code &&
                strcmp(informer->trouble->text, error->text) == 0;

    error_keep(&informer->trouble, error);
    informer->trouble_of_watch = of_watch;
    if (!told && informer->options.on_trouble)
        informer->options.on_trouble(informer->options.context, error);
}

static void clear_trouble(struct informer *informer)
{
    if (!informer->trouble)
        return;
    error_keep(&informer->trouble, NULL);
    informer->trouble_of_watch = false;
    informer->resumed_ms = now_ms(informer);
    if (informer->options.on_trouble)
        informer->options.on_trouble(informer->options.context, NULL);
}

static void tell_change(struct informer *informer, struct kube_object *before,
                        struct kube_object *after)
{
    if (informer->options.on_change)
        informer->options.on_change(informer->options.context, before, after);
}

static void drop_object(struct informer *informer, struct str key)
{
    AUTO(kube_object_unref) struct kube_object *before = kube_cache_remove(informer->cache, key);

    if (before)
        tell_change(informer, before, NULL);
}

/* With apiVersion and kind, which the items of a list of a built-in kind lack (Kubernetes leaves
 * TypeMeta out there). Anything else is left as it is. */
static struct json whole_object(const struct informer *informer, struct arena *arena,
                                struct json item)
{
    const struct kube_resource *resource = &informer->options.resource;
    struct json_limits limits = json_limits_default;
    struct strbuf text = strbuf_new(arena, 0);
    struct json_writer w = json_writer(&text);
    struct error ignored;
    struct json whole;

    if (json_is(json_get(item, STR("kind")), JSON_STRING) || !json_is(item, JSON_OBJECT))
        return item;
    json_open_object(&w);
    json_field_str(&w, "apiVersion", kube_api_version(arena, resource));
    json_field_str(&w, "kind", resource->kind);
    for (struct json_iter it = json_iter(item); json_next(&it);) {
        json_put_key(&w, it.key);
        json_put_raw(&w, json_raw(it.value));
    }
    json_close_object(&w);
    limits.bytes_max = LIMIT_ANSWER_BODY;
    limits.nodes_max = 10 * LIMIT_JSON_NODES;
    limits.string_max = LIMIT_WATCH_LINE;
    return kube_json_read(arena, strbuf_str(&text), &limits, &whole, &ignored) < 0 ? item : whole;
}

/* An object as the server has it now. Another uid under the same name is another object. */
static void put_object(struct informer *informer, struct arena *arena, struct json json,
                       bool from_list)
{
    struct kube_meta meta;
    struct strbuf kept = strbuf_new(arena, 0);
    bool wanted;

    kube_meta_read(json, &meta);
    if (meta.name.len == 0)
        return;

    struct str key = kube_key(arena, meta.namespace_, meta.name);
    const struct kube_object *held = kube_cache_get(informer->cache, key);

    if (held && from_list && str_eq(kube_object_uid(held), meta.uid) &&
        str_eq(kube_object_resource_version(held), meta.resource_version)) {
        kube_cache_mark(informer->cache, key);
        return;
    }
    json = whole_object(informer, arena, json);
    wanted = informer->options.keep ? informer->options.keep(informer->options.context, json, &kept)
                                    : informer_keep_default(json, &kept);
    if (!wanted || (held && !str_eq(kube_object_uid(held), meta.uid)))
        drop_object(informer, key);
    if (!wanted)
        return;

    struct kube_object *after = kube_object_create(meta.namespace_, meta.name, meta.uid,
                                                   meta.resource_version, strbuf_str(&kept));

    if (informer->options.secret)
        kube_object_keep_secret(after);

    AUTO(kube_object_unref) struct kube_object *before = kube_cache_put(informer->cache, after);

    tell_change(informer, before, after);
}

static void drop_unlisted(struct informer *informer)
{
    struct kube_object *gone;

    for (size_t cursor = 0; (gone = kube_cache_remove_unmarked(informer->cache, &cursor));) {
        tell_change(informer, gone, NULL);
        kube_object_unref(gone);
    }
}

/* Whether the answer is a list at all: a login page or an empty body must not empty the cache. */
static int read_page(struct arena *arena, struct str body, struct json *ret_items,
                     struct reflector_input *ret_input, struct error *err)
{
    struct json_limits limits = json_limits_default;
    struct json root, meta, items;

    limits.bytes_max = LIMIT_ANSWER_BODY;
    limits.nodes_max = 10 * LIMIT_JSON_NODES;
    limits.string_max = LIMIT_WATCH_LINE; /* whatever a server stores may be one text */
    if (kube_json_read(arena, body, &limits, &root, err) < 0)
        return error_wrap(err, "list");
    meta = json_get(root, STR("metadata"));
    items = json_get(root, STR("items"));
    if (!str_ends(json_str(json_get(root, STR("kind"))), STR("List")) ||
        json_str(json_get(meta, STR("resourceVersion"))).len == 0 ||
        (!json_is(items, JSON_ARRAY) && !json_is(items, JSON_NULL)))
        return error_set(err, ERROR_INTERNAL,
                         "the answer is no Kubernetes list (kind ending in List, "
                         "metadata.resourceVersion, items): %.*s",
                         STR_ARG(str_shown(arena, body, 200)));
    *ret_items = items;
    ret_input->event = REFLECTOR_PAGE;
    ret_input->resource_version = json_str(json_get(meta, STR("resourceVersion")));
    ret_input->continue_ = json_str(json_get(meta, STR("continue")));
    return 0;
}

static void list_failed(struct informer *informer, const struct error *error,
                        int64_t retry_after_ms)
{
    struct reflector_input input = {
        .event = REFLECTOR_LIST_FAILED,
        .error = error->code,
        .retry_after_ms = retry_after_ms,
    };

    /* Fewer, larger objects: a page must fit an answer. */
    if (error->code == ERROR_TOO_LARGE && informer->page_limit > 1)
        informer->page_limit = informer->page_limit < 8 ? 1 : informer->page_limit / 8;
    if (error->code != ERROR_EXPIRED)
        set_trouble(informer, error, false);
    feed(informer, &input);
}

static void on_list(void *context, const struct kube_answer *answer)
{
    struct informer *informer = context;
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(arena_free) struct arena *item_arena = arena_create(0);
    struct reflector_input input = { .retry_after_ms = -1 };
    struct error err = answer->error;
    struct json items;

    informer->call = NULL;
    if (informer->options.secret) {
        arena_keep_secret(arena);
        arena_keep_secret(item_arena);
    }
    if (err.code == ERROR_NONE)
        (void)read_page(arena, answer->body, &items, &input, &err);
    if (err.code != ERROR_NONE) {
        list_failed(informer, &err, answer->retry_after_ms);
        return;
    }
    informer->heard_ms = now_ms(informer);
    for (struct json_iter it = json_iter(items); json_next(&it);) {
        put_object(informer, item_arena, it.value, true);
        arena_reset(item_arena);
    }
    feed(informer, &input);
}

static void end_watch(struct informer *informer, enum reflector_event event,
                      const struct error *error, int64_t retry_after_ms)
{
    struct reflector_input input = {
        .event = event,
        .error = error->code,
        .retry_after_ms = retry_after_ms,
        .lasted_ms = now_ms(informer) - informer->watch_began_ms,
    };

    kube_call_cancel(TAKE(informer->call));
    kube_call_cancel(TAKE(informer->probe));
    loop_timer_clear(informer->silence);
    /* Watches end and versions grow old in the normal course of things. */
    if (event == REFLECTOR_WATCH_FAILED && error->code != ERROR_EXPIRED &&
        error->code != ERROR_LOST)
        set_trouble(informer, error, true);
    feed(informer, &input);
}

static void on_watch_done(void *context, const struct kube_answer *answer)
{
    struct informer *informer = context;
    struct error error = answer->error;

    informer->call = NULL;
    if (informer->watch_error)
        error = *informer->watch_error;
    end_watch(informer, error.code == ERROR_NONE ? REFLECTOR_WATCH_ENDED : REFLECTOR_WATCH_FAILED,
              &error, answer->retry_after_ms);
}

static void take_event(struct informer *informer, struct arena *arena,
                       const struct watch_event *event)
{
    struct kube_meta meta;
    struct reflector_input input = {
        .event = REFLECTOR_CHANGE,
        .resource_version = event->resource_version,
        .retry_after_ms = -1,
    };

    switch (event->type) {
    case WATCH_ADDED:
    case WATCH_MODIFIED:
        put_object(informer, arena, event->object, false);
        break;
    case WATCH_DELETED:
        kube_meta_read(event->object, &meta);
        drop_object(informer, kube_key(arena, meta.namespace_, meta.name));
        break;
    case WATCH_BOOKMARK:
    case WATCH_ERROR:
        break;
    }
    feed(informer, &input);
}

/* The server took the watch, and may say nothing for a minute. */
static void on_begun(void *context)
{
    struct informer *informer = context;

    informer->heard_ms = now_ms(informer);
    clear_trouble(informer);
}

static bool on_line(void *context, struct str line)
{
    struct informer *informer = context;
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct watch_event event;
    struct error err;

    loop_timer_set(informer->silence, informer->options.probe_after_ms);
    kube_call_cancel(TAKE(informer->probe));
    clear_trouble(informer);
    if (informer->options.secret)
        arena_keep_secret(arena);
    if (watch_read(arena, line, &event, &err) < 0) {
        error_keep(&informer->watch_error, &err);
        return false;
    }
    if (event.type == WATCH_ERROR) {
        kube_error_from_answer(event.code, json_raw(event.object), &err);
        error_keep(&informer->watch_error, &err);
        return false;
    }
    informer->heard_ms = now_ms(informer);
    take_event(informer, arena, &event);
    return true;
}

static void on_probe(void *context, const struct kube_answer *answer)
{
    struct informer *informer = context;
    struct error error;

    informer->probe = NULL;
    if (answer->status != 0 && answer->status < 500) {
        if (answer->error.code == ERROR_NONE)
            informer->heard_ms = now_ms(informer);
        loop_timer_set(informer->silence, informer->options.probe_after_ms);
        clear_trouble(informer);
        return;
    }
    error_set(&error, answer->status ? answer->error.code : ERROR_CONNECT,
              "the watch was silent and a probe was %s: %s",
              answer->status ? "rejected" : "not answered", answer->error.text);
    end_watch(informer, REFLECTOR_WATCH_FAILED, &error, answer->retry_after_ms);
}

static void on_silence(void *context)
{
    struct informer *informer = context;
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str path = str_fmt(arena, "%.*s/version", STR_ARG(informer->options.prefix));

    informer->probe = kube_client_raw(informer->options.client, "GET", path, NULL, STR(""),
                                      informer->options.probe_answer_ms, on_probe, informer);
}

static struct kube_request request_of(const struct informer *informer, enum kube_verb verb)
{
    return (struct kube_request){
        .verb = verb,
        .prefix = informer->options.prefix,
        .resource = informer->options.resource,
        .namespace_ = informer->options.namespace_,
        .label_selector = informer->options.label_selector,
        .field_selector = informer->options.field_selector,
        .metadata_only = informer->options.metadata_only,
    };
}

static void do_list(struct informer *informer)
{
    struct kube_request request = request_of(informer, KUBE_LIST);

    request.limit = informer->page_limit;
    request.continue_ =
        informer->reflector.continue_ ? str_of(informer->reflector.continue_) : STR("");
    informer->call = kube_client_call(informer->options.client, &request, on_list, informer);
}

/* A watch that follows upon one that was silent is probed the sooner, so that what stands is heard
 * of often enough; but not at once: it may be about to be rejected. */
static int64_t first_silence(const struct informer *informer)
{
    int64_t after_ms = informer->options.probe_after_ms;
    int64_t left_ms = informer->heard_ms + after_ms - now_ms(informer);

    return informer->heard_ms < 0 || left_ms > after_ms ? after_ms
           : left_ms > after_ms / 6                     ? left_ms
                                                        : after_ms / 6;
}

static void do_watch(struct informer *informer, int64_t watch_ms)
{
    struct kube_request request = request_of(informer, KUBE_WATCH);

    request.resource_version = str_of(informer->reflector.resource_version);
    request.bookmarks = true;
    request.timeout_s = watch_ms / 1000;
    error_keep(&informer->watch_error, NULL);
    informer->watch_began_ms = now_ms(informer);
    loop_timer_set(informer->silence, first_silence(informer));
    informer->call =
        kube_client_watch(informer->options.client, &request, on_line, on_watch_done, informer);
    kube_call_on_begin(informer->call, on_begun);
}

static void feed(struct informer *informer, const struct reflector_input *input)
{
    struct reflector_output out = reflector_step(&informer->reflector, input, &informer->rng);

    if (out.list_begins) {
        kube_cache_begin_round(informer->cache);
        informer->again = false;
    }
    if (out.list_ends) {
        drop_unlisted(informer);
        if (!informer->trouble_of_watch) {
            clear_trouble(informer);
            informer->resumed_ms = 0;
        }
    }
    switch (out.effect) {
    case REFLECTOR_DO_NOTHING:
        break;
    case REFLECTOR_DO_LIST:
        do_list(informer);
        break;
    case REFLECTOR_DO_WATCH:
        do_watch(informer, out.watch_ms);
        break;
    case REFLECTOR_DO_WAIT:
        loop_timer_set(informer->wait, out.list_ends && informer->again ? 0 : out.wait_ms);
        break;
    }
    if (out.list_ends && !informer->synced) {
        informer->synced = true;
        if (informer->options.on_synced)
            informer->options.on_synced(informer->options.context);
    }
}

static void on_wait_over(void *context)
{
    struct informer *informer = context;

    feed(informer, &(struct reflector_input){ .event = REFLECTOR_TIMER, .retry_after_ms = -1 });
}

void informer_retry(struct informer *informer)
{
    if (!informer)
        return;
    if (loop_timer_is_set(informer->wait))
        loop_timer_set(informer->wait, 0);
    else
        informer->again = true;
}

void informer_set_interval(struct informer *informer, int64_t interval_ms)
{
    const struct error none = { .code = ERROR_NONE };

    if (informer->options.interval_ms == interval_ms)
        return;
    informer->options.interval_ms = informer->reflector.interval_ms = interval_ms;
    informer->trouble_of_watch = informer->trouble_of_watch && !interval_ms;
    if (informer->reflector.state == REFLECTOR_WATCHING)
        end_watch(informer, REFLECTOR_WATCH_ENDED, &none, -1);
    else if (!informer->trouble && loop_timer_is_set(informer->wait))
        informer_retry(informer);
}

/* It waits the longer the longer the server was away; all that wait for it do not come at once. */
static void server_is_back(void *context)
{
    struct informer *informer = context;

    if (loop_timer_is_set(informer->wait) && informer->trouble &&
        informer->trouble->code == ERROR_CONNECT)
        loop_timer_set(informer->wait,
                       (int64_t)rng_below(&informer->rng, LIMIT_SERVER_RETURN_SPREAD));
}

static void copy_options(struct informer *informer, const struct informer_options *from)
{
    struct informer_options *to = &informer->options;
    struct str *const texts[] = {
        &to->prefix,         &to->namespace_,       &to->label_selector,  &to->field_selector,
        &to->resource.group, &to->resource.version, &to->resource.plural, &to->resource.kind,
    };
    size_t bytes = 0;
    char *at;

    *to = *from;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        bytes += texts[i]->len;
    informer->strings = at = mem_alloc(bytes);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        *texts[i] = pack_str(&at, *texts[i]);
    if (to->probe_after_ms == 0)
        to->probe_after_ms = LIMIT_WATCH_PROBE_AFTER;
    if (to->probe_answer_ms == 0)
        to->probe_answer_ms = LIMIT_WATCH_PROBE_ANSWER;
}

struct informer *informer_create(const struct informer_options *options)
{
    struct informer *informer = mem_new(struct informer);
    struct loop *loop = kube_client_loop(options->client);

    copy_options(informer, options);
    informer->heard_ms = -1;
    informer->page_limit = options->page_limit ? options->page_limit : LIMIT_LIST_PAGE;
    informer->cache = kube_cache_create();
    informer->reflector = reflector_new();
    informer->reflector.interval_ms = options->interval_ms;
    informer->rng = rng_from_seed(options->seed);
    informer->wait = loop_timer_create(loop, on_wait_over, informer);
    informer->silence = loop_timer_create(loop, on_silence, informer);
    informer->on_return = (struct kube_return){ .told = server_is_back, .context = informer };
    kube_client_await_return(options->client, &informer->on_return);
    feed(informer, &(struct reflector_input){ .event = REFLECTOR_START, .retry_after_ms = -1 });
    return informer;
}

void informer_free(struct informer *informer)
{
    if (!informer)
        return;
    kube_client_drop_return(informer->options.client, &informer->on_return);
    kube_call_cancel(informer->call);
    kube_call_cancel(informer->probe);
    loop_timer_free(informer->wait);
    loop_timer_free(informer->silence);
    kube_cache_free(informer->cache);
    mem_free(informer->watch_error);
    mem_free(informer->trouble);
    reflector_free(&informer->reflector);
    mem_free(informer->strings);
    mem_free(informer);
}

const struct kube_cache *informer_cache(const struct informer *informer)
{
    return informer->cache;
}

bool informer_synced(const struct informer *informer)
{
    return informer->synced;
}

const struct error *informer_trouble(const struct informer *informer)
{
    static const struct error none = { .code = ERROR_NONE };

    return informer->trouble ? informer->trouble : &none;
}

int64_t informer_heard_ms(const struct informer *informer)
{
    return informer->heard_ms;
}

int64_t informer_resumed_ms(const struct informer *informer)
{
    return informer->trouble ? now_ms(informer) : informer->resumed_ms;
}
