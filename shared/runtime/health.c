/* SPDX-License-Identifier: Apache-2.0 */
/* health.c: probes. One lock over a few bytes for each check; rendered when somebody asks.
 * The pages read as those of k8s.io/apiserver/pkg/server/healthz. */
#include "runtime/health.h"

#include "base/memory.h"
#include "io/http_server.h"
#include "io/loop.h"
#include "io/process.h"

#include <pthread.h>

enum { REASON_BYTES = 512, NEVER_BEAT = -1 };

struct check {
    const char *name;
    char reason[REASON_BYTES]; /* "" = fine */
    char note[REASON_BYTES];   /* while it is fine; "" = nothing to say */
};

struct health {
    pthread_mutex_t lock;
    struct check *checks;
    uint32_t check_count;
    bool shutting_down;
    int64_t beat_until_ms; /* NEVER_BEAT: nobody promised to */
    struct metrics *metrics;
    struct http_server *server;
};

static const char plain_text[] = "text/plain; charset=utf-8";

static void answer_any(struct http_exchange *exchange, void *context)
{
    if (!health_handle(context, exchange))
        http_answer(exchange, 404, plain_text,
                    STR("not found: try /healthz, /readyz, /livez or /metrics\n"));
}

static const struct http_route routes[] = { { "", "/*", 0, answer_any, "health" } };

static void copy_words(char to[REASON_BYTES], struct str words)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str shown = str_shown(arena, words, REASON_BYTES - 8);
    size_t len = shown.len < REASON_BYTES ? shown.len : REASON_BYTES - 1;

    memcpy(to, shown.at, len);
    to[len] = '\0';
}

struct health *health_create(const char *address, uint16_t port, const char *const *check_names,
                             uint32_t check_count, struct metrics *metrics, struct error *err)
{
    AUTO(health_free) struct health *health = mem_new(struct health);

    pthread_mutex_init(&health->lock, NULL);
    health->beat_until_ms = NEVER_BEAT;
    health->metrics = metrics;
    health->check_count = check_count;
    health->checks = mem_alloc(sizeof(*health->checks) * (check_count ? check_count : 1));
    for (uint32_t i = 0; i < check_count; i++) {
        health->checks[i].name = check_names[i];
        copy_words(health->checks[i].reason, STR("starting"));
    }

    struct http_server_options options = {
        .address = address,
        .port = port,
        .routes = routes,
        .route_count = sizeof(routes) / sizeof(routes[0]),
        .context = health,
        .event_threads = 1,
    };

    health->server = http_server_create(&options, err);
    if (!health->server)
        return NULL;
    return TAKE(health);
}

void health_free(struct health *health)
{
    if (!health)
        return;
    http_server_free(health->server);
    pthread_mutex_destroy(&health->lock);
    mem_free(health->checks);
    mem_free(health);
}

uint16_t health_port(const struct health *health)
{
    return http_server_port(health->server);
}

void health_set(struct health *health, uint32_t check, struct str reason)
{
    if (check >= health->check_count)
        return;
    pthread_mutex_lock(&health->lock);
    copy_words(health->checks[check].reason, reason);
    pthread_mutex_unlock(&health->lock);
}

void health_note(struct health *health, uint32_t check, struct str note)
{
    if (check >= health->check_count)
        return;
    pthread_mutex_lock(&health->lock);
    copy_words(health->checks[check].note, note);
    pthread_mutex_unlock(&health->lock);
}

void health_beat(struct health *health, int64_t now_ms, int64_t within_ms)
{
    pthread_mutex_lock(&health->lock);
    health->beat_until_ms = now_ms + within_ms;
    pthread_mutex_unlock(&health->lock);
}

void health_shutting_down(struct health *health)
{
    pthread_mutex_lock(&health->lock);
    health->shutting_down = true;
    pthread_mutex_unlock(&health->lock);
}

/* One line of the page; gives whether the check is fine. */
static bool put_check(struct strbuf *page, const char *name, const char *reason, const char *note)
{
    if (reason[0] == '\0')
        strbuf_fmt(page, "[+]%s ok%s%s\n", name, note[0] ? "; note: " : "", note);
    else
        strbuf_fmt(page, "[-]%s failed: %s\n", name, reason);
    return reason[0] == '\0';
}

/* What the lock guards, as it was at one moment. */
struct health_view {
    const struct check *checks;
    uint32_t check_count;
    bool shutting_down, late;
};

static struct health_view take_view(struct health *health, struct arena *arena)
{
    struct check *checks = arena_array(arena, struct check, health->check_count);
    struct health_view view = { checks, health->check_count, false, false };
    int64_t now_ms = clock_monotonic_ms(system_clock());

    pthread_mutex_lock(&health->lock);
    memcpy(checks, health->checks, sizeof(*checks) * health->check_count);
    view.shutting_down = health->shutting_down;
    view.late = health->beat_until_ms != NEVER_BEAT && now_ms > health->beat_until_ms;
    pthread_mutex_unlock(&health->lock);
    return view;
}

static bool put_alive(const struct health_view *view, struct strbuf *page)
{
    bool fine = put_check(page, "ping", "", "");

    return put_check(page, "loop", view->late ? "the event loop did not turn in time" : "", "") &&
           fine;
}

static bool put_ready(const struct health_view *view, struct strbuf *page)
{
    bool fine = put_alive(view, page);

    for (uint32_t i = 0; i < view->check_count; i++)
        fine =
            put_check(page, view->checks[i].name, view->checks[i].reason, view->checks[i].note) &&
            fine;
    return put_check(page, "shutdown", view->shutting_down ? "shutting down" : "", "") && fine;
}

static void answer_probe(struct health *health, struct http_exchange *exchange, const char *name,
                         bool (*put)(const struct health_view *view, struct strbuf *page))
{
    struct arena *arena = http_view(exchange)->arena;
    struct health_view view = take_view(health, arena);
    struct strbuf page = strbuf_new(arena, 512);
    bool fine = put(&view, &page);
    struct str ignored;

    strbuf_fmt(&page, "%s check %s\n", name, fine ? "passed" : "failed");
    http_answer_header(exchange, "Cache-Control", STR("no-cache, private"));
    http_answer_header(exchange, "X-Content-Type-Options", STR("nosniff"));
    if (fine && !http_query(exchange, STR("verbose"), &ignored))
        http_answer(exchange, 200, plain_text, STR("ok"));
    else
        http_answer(exchange, fine ? 200 : 500, plain_text, strbuf_str(&page));
}

static void answer_metrics(struct health *health, struct http_exchange *exchange)
{
    struct strbuf page = strbuf_new(http_view(exchange)->arena, 8192);

    metrics_render(health->metrics, &page);
    process_render(&page);
    http_answer(exchange, 200, METRIC_CONTENT_TYPE, strbuf_str(&page));
}

bool health_handle(struct health *health, struct http_exchange *exchange)
{
    const struct http_exchange_view *view = http_view(exchange);
    bool is_health = str_eq(view->path, STR("/healthz")) || str_eq(view->path, STR("/livez"));
    bool is_ready = str_eq(view->path, STR("/readyz"));
    bool is_metrics = health->metrics && str_eq(view->path, STR("/metrics"));

    if (!is_health && !is_ready && !is_metrics)
        return false;
    if (!str_eq(view->method, STR("GET")) && !str_eq(view->method, STR("HEAD"))) {
        http_answer_header(exchange, "Allow", STR("GET, HEAD"));
        http_answer(exchange, 405, plain_text, STR("only GET and HEAD are answered here\n"));
    } else if (is_metrics) {
        answer_metrics(health, exchange);
    } else if (is_ready) {
        answer_probe(health, exchange, "readyz", put_ready);
    } else {
        answer_probe(health, exchange, str_eq(view->path, STR("/livez")) ? "livez" : "healthz",
                     put_alive);
    }
    return true;
}
