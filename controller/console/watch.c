/* SPDX-License-Identifier: Apache-2.0 */
/* watch.c: /events and /watch.
 *
 * A watcher holds the change that it is sending, which it shares with all others, and where in the
 * history it is. One that takes nothing while the history passes it by is dropped. */
#include "controller/console/console_internal.h"

#include "base/linked.h"
#include "base/memory.h"
#include "controller/limits.h"
#include "controller/metrics.h"

#include <stdatomic.h>

struct watcher {
    struct console *console;
    struct watcher *next, *previous;
    const struct http_exchange *exchange;
    char *token, *namespace_, *name;
    struct console_filter filter; /* its texts are those above */
    atomic_uint_fast64_t after;   /* the last change that was looked at */
    struct change *change;        /* being sent; NULL: `arena` holds what is */
    struct arena *arena;          /* NULL: nothing is */
    struct str text;
    size_t sent;
    int64_t heartbeat_ms; /* monotonic: when the next is due */
    bool dropped;         /* under the console's lock, as the links */
};
LINKED_DEFINE(watcher, struct watcher)

/* --- /events --- */

/* The newest ones that the caller may see, oldest first, as far as the filter's limit goes. -1: it
 * could not be found out. */
static int pick(struct console *console, struct arena *arena, struct str token,
                const struct console_filter *filter, struct change **changes, uint32_t count,
                uint32_t *ret_first, struct error *err)
{
    uint32_t first = count;

    for (uint32_t i = count; i-- > 0 && count - first < filter->limit;) {
        int sees = console_filter_takes(filter, changes[i])
                       ? console_may_see(console, arena, token, "list", changes[i], err)
                       : 0;

        if (sees < 0)
            return -1;
        if (sees) {
            struct change *picked = changes[i];

            /* Those that are not shown go before. */
            changes[i] = changes[--first];
            changes[first] = picked;
        }
    }
    *ret_first = first;
    return 0;
}

static struct str render_events(struct console *console, struct arena *arena,
                                struct change *const *changes, uint32_t from, uint32_t to,
                                uint64_t newest)
{
    const struct history *history = mirror_history(console->mirror);
    struct strbuf body = strbuf_new(arena, 4096);
    struct json_writer w = json_writer(&body);

    json_open_object(&w);
    json_field_str(&w, "newest", history_id(history, arena, newest));
    json_put_key(&w, STR("events"));
    json_open_array(&w);
    for (uint32_t i = from; i < to; i++)
        change_write(history, arena, changes[i], &w);
    json_close_array(&w);
    json_close_object(&w);
    return strbuf_str(&body);
}

void console_handle_events(struct http_exchange *exchange, void *context)
{
    struct console *console = context;
    struct arena *arena = console_arena(exchange);
    struct console_filter filter;
    struct change **changes;
    uint32_t count = 0, first = 0;
    uint64_t newest;
    struct str token;
    struct error err;

    if (console_caller(console, exchange, &token) < 0)
        return;
    if (console_filter_read(arena, &console->kinds, http_view(exchange)->query,
                            LIMIT_CONSOLE_EVENTS, &filter, &err) < 0 ||
        console_may_begin(console, arena, token, "list", &filter, &err) < 0) {
        console_answer_error(exchange, &err);
        return;
    }
    changes = mirror_changes(console->mirror, arena, &count, &newest);
    if (pick(console, arena, token, &filter, changes, count, &first, &err) < 0)
        console_answer_error(exchange, &err);
    else
        console_answer_json(exchange, 200,
                            render_events(console, arena, changes, first, count, newest));
    for (uint32_t i = 0; i < count; i++)
        change_unref(changes[i]);
}

/* --- /watch --- */

static int64_t now_ms(void)
{
    return clock_monotonic_ms(system_clock());
}

static void forget_sent(struct watcher *watcher)
{
    change_unref(TAKE(watcher->change));
    arena_free(TAKE(watcher->arena));
    watcher->text = STR("");
    watcher->sent = 0;
}

/* Send what is made now, of no change. */
static void send_own(struct watcher *watcher,
                     void (*put)(const struct history *history, uint64_t id, struct strbuf *out))
{
    struct strbuf out;

    watcher->arena = arena_create(0);
    out = strbuf_new(watcher->arena, 256);
    put(mirror_history(watcher->console->mirror), atomic_load(&watcher->after), &out);
    watcher->text = strbuf_str(&out);
    watcher->heartbeat_ms = now_ms() + LIMIT_CONSOLE_HEARTBEAT;
}

/* 1: it is to be sent; 0: not; -1: the stream ends, because rights could not be checked. */
static int takes(struct watcher *watcher, const struct change *change)
{
    AUTO(arena_free) struct arena *arena = NULL;
    struct error err;

    if (!console_filter_takes(&watcher->filter, change))
        return 0;
    if (!watcher->token[0])
        return 1;
    arena = arena_create(0);
    return console_may_see(watcher->console, arena, str_of(watcher->token), "watch", change, &err);
}

static enum mirror_found find_next(struct watcher *watcher)
{
    int64_t wait_ms = watcher->heartbeat_ms - now_ms();
    uint64_t after = atomic_load(&watcher->after);
    enum mirror_found found;

    if (wait_ms > LIMIT_CONSOLE_LOOK)
        wait_ms = LIMIT_CONSOLE_LOOK;
    found = mirror_next(watcher->console->mirror, &after, wait_ms, &watcher->change);
    atomic_store(&watcher->after, after);
    return found;
}

/* What to send next; nothing, if there is nothing for a while. False: the end. */
static bool refill(struct watcher *watcher)
{
    forget_sent(watcher);
    switch (find_next(watcher)) {
    case MIRROR_CHANGE: {
        int taken = takes(watcher, watcher->change);

        if (taken > 0)
            watcher->text = watcher->change->frame;
        return taken >= 0;
    }
    case MIRROR_MISSED:
        send_own(watcher, history_put_reset);
        return true;
    case MIRROR_NOTHING:
        if (now_ms() >= watcher->heartbeat_ms)
            send_own(watcher, history_put_heartbeat);
        return true;
    case MIRROR_ENDED:
        return false;
    }
    return false;
}

static ptrdiff_t watch_next(void *context, char *into, size_t room)
{
    struct watcher *watcher = context;
    size_t bytes;

    if (watcher->sent == watcher->text.len && !refill(watcher))
        return -1;
    bytes = watcher->text.len - watcher->sent < room ? watcher->text.len - watcher->sent : room;
    if (bytes)
        memcpy(into, watcher->text.at + watcher->sent, bytes);
    watcher->sent += bytes;
    return (ptrdiff_t)bytes;
}

/* Under the lock. */
static void tell_count(const struct console *console)
{
    metrics_set(console->metrics, CONTROLLER_CONSOLE_WATCHERS, NULL, console->watcher_count);
}

static void watch_end(void *context)
{
    struct watcher *watcher = context;
    struct console *console = watcher->console;

    pthread_mutex_lock(&console->lock);
    watcher_unlink(&console->watchers, watcher);
    console->watcher_count--;
    tell_count(console);
    pthread_mutex_unlock(&console->lock);
    forget_sent(watcher);
    mem_free_secret(watcher->token, strlen(watcher->token));
    mem_free(watcher->namespace_);
    mem_free(watcher->name);
    mem_free(watcher);
}

static struct watcher *watcher_create(struct console *console, const struct http_exchange *exchange,
                                      struct str token, const struct console_filter *filter)
{
    struct watcher *watcher = mem_new(struct watcher);

    watcher->console = console;
    watcher->exchange = exchange;
    watcher->token = mem_copy(token.at, token.len);
    watcher->namespace_ = mem_copy(filter->namespace_.at, filter->namespace_.len);
    watcher->name = mem_copy(filter->name.at, filter->name.len);
    watcher->filter = *filter;
    watcher->filter.namespace_ = str_of(watcher->namespace_);
    watcher->filter.name = str_of(watcher->name);
    return watcher;
}

/* What comes first says where the client is, also if nothing changes before it is cut off. */
static void begin_watch(struct watcher *watcher, struct str last_event_id)
{
    uint64_t after;
    bool resumed = mirror_resume(watcher->console->mirror, last_event_id, &after);

    atomic_init(&watcher->after, after);
    send_own(watcher, resumed ? history_put_heartbeat : history_put_reset);
}

static void register_watcher(struct console *console, struct watcher *watcher)
{
    pthread_mutex_lock(&console->lock);
    watcher_link(&console->watchers, watcher);
    console->watcher_count++;
    tell_count(console);
    pthread_mutex_unlock(&console->lock);
}

/* Those that come at the same time may be a few more; connections are bounded anyway. */
static int check_room(struct console *console, struct error *err)
{
    uint32_t count;

    pthread_mutex_lock(&console->lock);
    count = console->watcher_count;
    pthread_mutex_unlock(&console->lock);
    if (count < LIMIT_CONSOLE_WATCHERS)
        return 0;
    return error_set(err, ERROR_TOO_MANY,
                     "%u clients watch already; try again later, or at another replica", count);
}

void console_handle_watch(struct http_exchange *exchange, void *context)
{
    struct console *console = context;
    struct arena *arena = console_arena(exchange);
    struct console_filter filter;
    struct watcher *watcher;
    struct str token;
    struct error err;

    if (console_caller(console, exchange, &token) < 0)
        return;
    if (console_filter_read(arena, &console->kinds, http_view(exchange)->query, 0, &filter, &err) <
            0 ||
        console_may_begin(console, arena, token, "watch", &filter, &err) < 0 ||
        check_room(console, &err) < 0) {
        console_answer_error(exchange, &err);
        return;
    }
    console_put_headers(exchange);
    watcher = watcher_create(console, exchange, token, &filter);
    begin_watch(watcher, http_header(exchange, "Last-Event-ID"));
    register_watcher(console, watcher);
    http_answer_stream(exchange, "text/event-stream", watch_next, watch_end, watcher);
}

/* `end` of a stream takes the same lock, so who is on the list still has a connection. */
void console_drop_slow(struct console *console)
{
    pthread_mutex_lock(&console->lock);
    for (struct watcher *watcher = console->watchers; watcher; watcher = watcher->next)
        if (!watcher->dropped && mirror_has_lost(console->mirror, atomic_load(&watcher->after))) {
            watcher->dropped = true;
            http_abandon(watcher->exchange);
            metrics_add(console->metrics, CONTROLLER_CONSOLE_DROPPED, NULL, 1);
        }
    pthread_mutex_unlock(&console->lock);
}
