/* SPDX-License-Identifier: Apache-2.0 */
/* watch.c: a collection as a stream of changes.
 *
 * States: INITIAL (what there is now, as ADDED, page by page of one version), LIVE (changes from
 * the watch cache), ENDED. Without a resourceVersion a watch begins at INITIAL, with one at LIVE.
 * An object that comes to match the selectors is ADDED, one that ceases to is DELETED. Every 60 s,
 * and at the end, a BOOKMARK says how far the watch has come, for clients that asked for it. */
#include "lab/apiserver/http.h"

#include "lab/apiserver/object.h"

enum {
    WAIT_MS = 1000, /* the peer's absence is noticed between two waits */
    BOOKMARK_MS = 60000,
    TIMEOUT_S = 1800,
    PAGE = 200,
    BATCH = 64,
};

enum watch_state { WATCH_INITIAL, WATCH_LIVE, WATCH_LAST_WORDS, WATCH_ENDED };

struct watch {
    struct request rq; /* its arena is `scratch` */
    struct arena *scratch;
    struct strbuf out; /* in `scratch` */
    size_t sent;
    enum watch_state state;
    enum output output;
    enum table_object include;
    struct selection selection;
    struct collection of;
    uint64_t version;
    struct store_row after;
    struct arena *after_arena;
    bool bookmarks, tells_initial_end, had_columns;
    int64_t end_ms, bookmark_ms;
};

static void put_event(struct watch *w, const char *type, struct str object)
{
    struct json_writer out = json_writer(&w->out);
    struct json view;
    struct error err;

    object = request_present(&w->rq, w->rq.kind, object);
    strbuf_fmt(&w->out, "{\"type\":\"%s\",\"object\":", type);
    if (w->output == OUTPUT_OBJECT ||
        json_read(w->scratch, object, &json_limits_default, &view, &err) != 0) {
        strbuf_put(&w->out, object);
    } else if (w->output == OUTPUT_METADATA) {
        partial_metadata(view, &out);
    } else {
        struct str version = json_str(json_walk(view, "metadata", "resourceVersion", NULL));

        table_begin(w->rq.kind,
                    str_fmt(w->scratch, "{\"resourceVersion\":\"%.*s\"}", STR_ARG(version)),
                    !w->had_columns, &out);
        table_row(w->rq.kind, object, view, w->include, w->rq.now_ms, w->scratch, &out);
        table_end(&out);
        w->had_columns = true;
    }
    strbuf_lit(&w->out, "}\n");
}

static void put_bookmark(struct watch *w, bool initial_end)
{
    struct str object =
        str_fmt(w->scratch,
                "{\"kind\":\"%.*s\",\"apiVersion\":\"%.*s\",\"metadata\":{\"resourceVersion\":"
                "\"%llu\",\"creationTimestamp\":null%s}}",
                STR_ARG(w->rq.kind->kind), STR_ARG(kind_api_version(w->scratch, w->rq.kind)),
                (unsigned long long)w->version,
                initial_end ? ",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}" : "");

    if (w->output == OUTPUT_TABLE) {
        struct json_writer out = json_writer(&w->out);

        strbuf_lit(&w->out, "{\"type\":\"BOOKMARK\",\"object\":");
        table_begin(
            w->rq.kind,
            str_fmt(w->scratch, "{\"resourceVersion\":\"%llu\"}", (unsigned long long)w->version),
            false, &out);
        table_end(&out);
        strbuf_lit(&w->out, "}\n");
    } else if (w->output == OUTPUT_METADATA) {
        put_event(w, "BOOKMARK", object);
    } else {
        strbuf_fmt(&w->out, "{\"type\":\"BOOKMARK\",\"object\":%.*s}\n", STR_ARG(object));
    }
    w->bookmark_ms = clock_monotonic_ms(w->rq.api->clock) + BOOKMARK_MS;
}

static void put_expired(struct watch *w)
{
    struct failure f = failure_new(w->scratch);

    fail_expired(
        &f,
        str_fmt(
            w->scratch, "too old resource version: %llu (%llu)", (unsigned long long)w->version,
            (unsigned long long)watch_cache_compacted(store_watch_cache(w->rq.api->store)) + 1));
    strbuf_fmt(&w->out, "{\"type\":\"ERROR\",\"object\":%.*s}\n", STR_ARG(failure_status(&f)));
    w->state = WATCH_ENDED;
}

static void put_change(struct watch *w, const struct change *change)
{
    bool is =
        change->type != CHANGE_DELETED && selection_holds(&w->rq, &w->selection, change->object);
    bool was = change->previous.len && selection_holds(&w->rq, &w->selection, change->previous);

    if (is)
        put_event(w, was ? "MODIFIED" : "ADDED", change->object);
    else if (was)
        /* The last state that matched, as of the version at which it ceased to. */
        put_event(w, "DELETED", object_with_version(w->scratch, change->previous, change->version));
}

static void put_initial_page(struct watch *w)
{
    struct store_page page;
    struct error err;
    enum store_answer answer =
        store_list(w->rq.api->store, w->scratch, &w->of, &w->after, PAGE, w->version, &page, &err);

    if (answer != STORE_DONE) {
        put_expired(w);
        return;
    }
    w->version = page.version;
    for (uint32_t i = 0; i < page.rows.count; i++)
        if (selection_holds(&w->rq, &w->selection, page.rows.items[i].object))
            put_event(w, "ADDED", page.rows.items[i].object);
    if (page.more) {
        const struct store_row *last = &page.rows.items[page.rows.count - 1];

        arena_reset(w->after_arena);
        w->after = (struct store_row){ str_dup(w->after_arena, last->namespace_),
                                       str_dup(w->after_arena, last->name),
                                       { "", 0 },
                                       0 };
        return;
    }
    w->state = WATCH_LIVE;
    if (w->tells_initial_end)
        put_bookmark(w, true);
}

static void put_live(struct watch *w)
{
    struct change *changes[BATCH];
    uint32_t count;
    int64_t now = clock_monotonic_ms(w->rq.api->clock);
    int64_t left = w->end_ms - now;
    enum watch_cache_answer answer;

    if (left <= 0) {
        w->state = WATCH_LAST_WORDS;
        return;
    }
    answer = watch_cache_after(store_watch_cache(w->rq.api->store), &w->of, &w->version,
                               left < WAIT_MS ? left : WAIT_MS, changes, BATCH, &count);
    if (answer == WATCH_CACHE_COMPACTED) {
        put_expired(w);
    } else if (answer == WATCH_CACHE_CLOSED) {
        w->state = WATCH_ENDED;
    } else {
        for (uint32_t i = 0; i < count; i++) {
            put_change(w, changes[i]);
            change_unref(changes[i]);
        }
        if (w->bookmarks && clock_monotonic_ms(w->rq.api->clock) >= w->bookmark_ms)
            put_bookmark(w, false);
    }
}

static void refill(struct watch *w)
{
    arena_reset(w->scratch);
    w->out = strbuf_new(w->scratch, 4096);
    w->rq.warnings = str_list_new(w->scratch, 0);
    w->rq.now_ms = clock_wall_ms(w->rq.api->clock);
    w->sent = 0;
    switch (w->state) {
    case WATCH_INITIAL:
        put_initial_page(w);
        return;
    case WATCH_LIVE:
        put_live(w);
        return;
    case WATCH_LAST_WORDS:
        if (w->bookmarks)
            put_bookmark(w, false);
        w->state = WATCH_ENDED;
        return;
    case WATCH_ENDED:
        return;
    }
}

static ptrdiff_t watch_next(void *context, char *into, size_t room)
{
    struct watch *w = context;

    if (w->sent == w->out.len) {
        if (w->state == WATCH_ENDED)
            return -1;
        refill(w);
    }

    size_t bytes = w->out.len - w->sent < room ? w->out.len - w->sent : room;

    if (bytes)
        memcpy(into, w->out.at + w->sent, bytes);
    w->sent += bytes;
    return (ptrdiff_t)bytes;
}

static void watch_end(void *context)
{
    struct watch *w = context;

    arena_free(w->after_arena);
    arena_free(w->scratch);
}

static int read_begin(struct http_request_of_api *h, struct watch *w)
{
    struct request *rq = h->rq;
    struct str version = query_of(h, "resourceVersion");
    uint64_t newest = watch_cache_version(store_watch_cache(rq->api->store));
    bool initial = query_true(h, "sendInitialEvents");

    bool none = query_of(h, "sendInitialEvents").len && !initial;

    if (list_options_check(h, true) != 0)
        return -1;
    if (version.len && !str_to_u64(version, &w->version))
        return fail(&rq->failure, 500, "", "%.*s",
                    STR_ARG(list_version_invalid(rq->arena, version)));
    if (w->version > newest) {
        fail(&rq->failure, 504, "Timeout", "Too large resource version: %llu, current: %llu",
             (unsigned long long)w->version, (unsigned long long)newest);
        rq->failure.retry_after_s = 1;
        return -1;
    }
    /* Without initial events and without a version, a watch begins with what comes next. */
    if (none && w->version == 0)
        w->version = newest;
    w->state = w->version && !initial ? WATCH_LIVE : WATCH_INITIAL;
    if (w->state == WATCH_INITIAL)
        w->version = 0;
    w->tells_initial_end = initial && w->bookmarks;
    return 0;
}

void handle_watch(struct http_request_of_api *h)
{
    struct request *rq = h->rq;
    struct watch *w = arena_new(rq->arena, struct watch);
    struct str timeout = query_of(h, "timeoutSeconds");
    uint64_t timeout_s = TIMEOUT_S;
    int64_t now = clock_monotonic_ms(rq->api->clock);

    w->bookmarks = query_true(h, "allowWatchBookmarks");
    if (read_begin(h, w) != 0 ||
        selection_read(rq, query_of(h, "labelSelector"),
                       rq->name.len ? str_fmt(rq->arena, "metadata.name=%.*s", STR_ARG(rq->name))
                                    : query_of(h, "fieldSelector"),
                       &w->selection) != 0) {
        answer_failure(h);
        return;
    }
    if (timeout.len && str_to_u64(timeout, &timeout_s) && timeout_s > 86400)
        timeout_s = 86400;
    w->rq = *rq;
    w->rq.cluster = str_dup(rq->arena, rq->cluster);
    w->output = h->output;
    w->include = h->include;
    w->of = request_collection(&w->rq, w->rq.kind, str_dup(rq->arena, rq->namespace_));
    w->end_ms = now + (int64_t)timeout_s * 1000;
    w->bookmark_ms = now + BOOKMARK_MS;
    http_put_warnings(h);
    /* What watch_end frees comes last: from here on nothing is allocated in the request's arena,
     * which holds the catalog, and so the kind, as long as the stream lasts. */
    w->scratch = w->rq.arena = arena_create(0);
    w->after_arena = arena_create(0);
    w->out = strbuf_new(w->scratch, 0);
    http_answer_stream(h->exchange, "application/json", watch_next, watch_end, w);
}
