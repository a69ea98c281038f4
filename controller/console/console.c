/* SPDX-License-Identifier: Apache-2.0 */
/* console.c: the console's life, its pages, and what every handler begins and ends with. */
#include "controller/console/console_internal.h"

#include "base/memory.h"
#include "controller/console/describe.h"
#include "controller/console/identity.h"
#include "controller/limits.h"
#include "controller/metrics.h"
#include "io/tls.h"
#include "kube/apistatus.h"

#include <stdio.h>

enum { DRAIN_MS = 500 };

static const char json_type[] = "application/json";

/* --- answers --- */

struct arena *console_arena(struct http_exchange *exchange)
{
    return arena_beside(http_view(exchange)->arena);
}

/* Nobody keeps what one caller may see, and no browser takes it for a page or a part of one. */
void console_put_headers(struct http_exchange *exchange)
{
    http_answer_header(exchange, "Cache-Control", STR("no-store"));
    http_answer_header(exchange, "X-Content-Type-Options", STR("nosniff"));
    http_answer_header(exchange, "Cross-Origin-Resource-Policy", STR("same-origin"));
    http_answer_header(exchange, "Content-Security-Policy",
                       STR("default-src 'none'; frame-ancestors 'none'"));
}

void console_answer_json(struct http_exchange *exchange, int status, struct str body)
{
    console_put_headers(exchange);
    http_answer(exchange, status, json_type, body);
}

/* The reasons of metav1.Status, which knows none for connections. */
static struct str reason_of(const struct error *error)
{
    int code = error_http_status(error->code);

    return code == 503   ? STR("ServiceUnavailable")
           : code == 504 ? STR("Timeout")
                         : str_of(error_reason(error->code));
}

void console_answer_error(struct http_exchange *exchange, const struct error *error)
{
    struct arena *arena = console_arena(exchange);
    struct strbuf body = strbuf_new(arena, 1024);
    int code = error_http_status(error->code);
    const struct kube_status status = {
        .reason = reason_of(error),
        .message = str_dup(arena, str_of(error->text)),
        .code = code,
        .retry_after_s = code == 503 || code == 429 ? 1 : 0,
    };

    kube_status_write(&status, &body);
    if (code == 401)
        http_answer_header(exchange, "WWW-Authenticate", STR("Bearer"));
    if (status.retry_after_s)
        http_answer_header(exchange, "Retry-After", STR("1"));
    console_answer_json(exchange, code, strbuf_str(&body));
}

void console_answer_method(struct http_exchange *exchange, const char *allow)
{
    struct error err;

    error_set(&err, ERROR_NOT_ALLOWED, "the method is not allowed here; this path takes %s", allow);
    http_answer_header(exchange, "Allow", str_of(allow));
    console_answer_error(exchange, &err);
}

/* --- who calls, and what they may --- */

int console_caller(const struct console *console, struct http_exchange *exchange,
                   struct str *ret_token)
{
    struct error err;
    const struct identity_facts facts = {
        .peer = http_view(exchange)->peer,
        .authorization = http_header(exchange, "Authorization"),
        .host = http_header(exchange, "Host"),
        .origin = http_header(exchange, "Origin"),
        .sec_fetch_site = http_header(exchange, "Sec-Fetch-Site"),
        .forwarded = http_header(exchange, "Forwarded"),
        .x_forwarded_for = http_header(exchange, "X-Forwarded-For"),
        .impersonate_user = http_header(exchange, "Impersonate-User"),
    };

    if (console_identify(&facts, console->serves_anonymous, ret_token, &err) == 0)
        return 0;
    console_answer_error(exchange, &err);
    return -1;
}

int console_may_see(struct console *console, struct arena *arena, struct str token,
                    const char *verb, const struct change *change, struct error *err)
{
    struct access_question question = { .verb = verb, .resource = change->resource };

    if (console_access_check(console->access, arena, token, &question, err) == 0)
        return 1;
    if (err->code != ERROR_FORBIDDEN)
        return -1;
    if (!change->namespace_.len)
        return 0;
    question.namespace_ = change->namespace_;
    if (console_access_check(console->access, arena, token, &question, err) == 0)
        return 1;
    return err->code == ERROR_FORBIDDEN ? 0 : -1;
}

int console_may_begin(struct console *console, struct arena *arena, struct str token,
                      const char *verb, const struct console_filter *filter, struct error *err)
{
    for (uint32_t i = 0; i < console->kinds.count; i++) {
        const struct console_kind *kind = &console->kinds.items[i];
        const struct access_question question = {
            .verb = verb,
            .resource = &kind->resource,
            .namespace_ = kind->resource.namespaced ? filter->namespace_ : STR(""),
        };

        if (filter->kind && filter->kind != kind)
            continue;
        if (console_access_check(console->access, arena, token, &question, err) == 0)
            return 0;
        if (err->code != ERROR_FORBIDDEN)
            return -1;
    }
    /* All that was asked for is forbidden; or there may be namespaces where it is not. */
    return filter->namespace_.len || (filter->kind && !filter->kind->resource.namespaced) ? -1 : 0;
}

/* --- pages --- */

static void handle_index(struct http_exchange *exchange, void *context)
{
    const struct console *console = context;

    console_answer_json(exchange, 200, console->index);
}

static void handle_definitions(struct http_exchange *exchange, void *context)
{
    const struct console *console = context;

    console_answer_json(exchange, 200, console->definitions);
}

static void handle_openapi(struct http_exchange *exchange, void *context)
{
    const struct console *console = context;

    console_answer_json(exchange, 200, console->openapi);
}

static void handle_health(struct http_exchange *exchange, void *context)
{
    const struct console *console = context;

    health_handle(console->health, exchange);
}

void console_handle_object(struct http_exchange *exchange, void *context)
{
    struct console *console = context;
    const struct http_exchange_view *view = http_view(exchange);
    struct console_target target;
    struct error err;
    struct str token;

    if (console_caller(console, exchange, &token) < 0)
        return;
    if (console_target_read(&console->kinds, view->path, &target, &err) < 0)
        console_answer_error(exchange, &err);
    else if (str_eq(view->method, STR("GET")) || str_eq(view->method, STR("HEAD")))
        console_read(console, exchange, token, &target);
    else
        console_write(console, exchange, token, &target);
}

static void handle_other(struct http_exchange *exchange, void *context)
{
    struct error err;

    (void)context;
    for (uint32_t i = 0; i < console_route_count; i++)
        if (str_eq(http_view(exchange)->path, str_of(console_routes[i].path))) {
            console_answer_method(exchange, "GET");
            return;
        }
    error_set(&err, ERROR_NOT_FOUND, "nothing is served at this path; GET / lists the endpoints");
    console_answer_error(exchange, &err);
}

static const struct http_route routes[] = {
#define ROUTE(method, path, body_max, handler, label, summary)                                     \
    { method, path, body_max, handler, label },
#include "controller/console/routes.def"
#undef ROUTE
    { "", "/apis/*", LIMIT_CONSOLE_BODY, console_handle_object, "apis" },
    { "", "/*", LIMIT_CONSOLE_BODY, handle_other, "other" },
};

/* --- life --- */

static void on_end(void *context, const struct http_exchange_view *view, int status,
                   int64_t duration_us)
{
    const struct console *console = context;
    char code[16];

    (void)duration_us;
    snprintf(code, sizeof(code), "%d", status);
    metrics_add(console->metrics, CONTROLLER_CONSOLE_REQUESTS,
                (struct str[]){ str_of(view->route ? view->route->label : "other"), str_of(code) },
                1);
}

static int listen_on(struct console *console, const struct console_settings *settings,
                     struct error *err)
{
    const struct http_server_options server = {
        .address = settings->host,
        .port = settings->port,
        .tls = console->tls,
        .routes = routes,
        .route_count = sizeof(routes) / sizeof(routes[0]),
        .context = console,
        .connections_max = LIMIT_CONSOLE_CONNECTIONS,
        .connections_per_address_max = LIMIT_CONSOLE_CONNECTIONS,
        .handshakes_per_address_max = LIMIT_CONSOLE_CONNECTIONS,
        .request_ms = LIMIT_CONSOLE_REQUEST_TIME,
        .on_end = on_end,
    };

    console->server = http_server_create(&server, err);
    return console->server ? 0 : error_wrap(err, "--console-listen");
}

static int open_tls(struct console *console, const struct console_settings *settings,
                    struct error *err)
{
    if (!settings->certificate_file[0])
        return 0;
    console->tls = tls_source_create(settings->certificate_file, settings->key_file, NULL, err);
    return console->tls ? 0 : error_wrap(err, "--console-tls-cert-file");
}

static void render_pages(struct console *console)
{
    struct strbuf index = strbuf_new(console->arena, 4096);
    struct strbuf definitions = strbuf_new(console->arena, 64 * 1024);
    struct strbuf openapi = strbuf_new(console->arena, 128 * 1024);

    describe_index(&console->kinds, &index);
    describe_definitions(console->arena, &console->kinds, &definitions);
    describe_openapi(console->arena, &console->kinds, &openapi);
    console->index = strbuf_str(&index);
    console->definitions = strbuf_str(&definitions);
    console->openapi = strbuf_str(&openapi);
}

struct console *console_create(const struct console_options *options, struct error *err)
{
    AUTO(console_free) struct console *console = mem_new(struct console);
    const struct console_settings *settings = options->settings;
    char epoch[17];

    pthread_mutex_init(&console->lock, NULL);
    console->kinds = *options->kinds;
    console->health = options->health;
    console->metrics = options->metrics;
    console->log = options->log;
    console->serves_anonymous = settings->serves_anonymous;
    console->arena = arena_create(0);
    console->namespace_ = str_dup(console->arena, options->namespace_);
    render_pages(console);
    console->requests = caller_requests_create(
        &(struct caller_options){ .loop = kube_client_loop(options->client),
                                  .api = options->api,
                                  .serves_anonymous = settings->serves_anonymous,
                                  .on_request = options->on_request,
                                  .on_request_context = options->on_request_context },
        err);
    if (!console->requests || open_tls(console, settings, err) < 0)
        return NULL;
    console->access = console_access_create(console->requests);
    snprintf(epoch, sizeof(epoch), "%016llx", (unsigned long long)options->seed);
    console->mirror = mirror_create(&(struct mirror_options){ .client = options->client,
                                                              .kinds = &console->kinds,
                                                              .namespace_ = options->namespace_,
                                                              .epoch = str_of(epoch),
                                                              .log = options->log,
                                                              .seed = options->seed });
    return listen_on(console, settings, err) < 0 ? NULL : TAKE(console);
}

uint16_t console_port(const struct console *console)
{
    return http_server_port(console->server);
}

void console_stop(struct console *console)
{
    http_server_lame_duck(console->server);
    mirror_end(console->mirror);
}

uint32_t console_busy(const struct console *console)
{
    return caller_requests_count(console->requests);
}

static void look_for_certificate(struct console *console)
{
    struct error err;
    int found = console->tls ? tls_source_refresh(console->tls, &err) : 0;

    if (found > 0)
        log_info(console->log, "certificate of the console taken");
    else if (found < 0 && !console->certificate_rejected)
        log_warn(console->log,
                 "new certificate of the console rejected; the last good one stays in use",
                 LOG_Z("error", err.text));
    console->certificate_rejected = found < 0;
}

void console_tick(struct console *console)
{
    console_drop_slow(console);
    look_for_certificate(console);
}

void console_free(struct console *console)
{
    if (!console)
        return;
    if (console->mirror)
        mirror_end(console->mirror);
    if (console->requests)
        caller_requests_end(console->requests);
    if (console->server)
        http_server_drain(console->server, DRAIN_MS);
    http_server_free(console->server);
    mirror_free(console->mirror);
    console_access_free(console->access);
    caller_requests_free(console->requests);
    tls_source_free(console->tls);
    pthread_mutex_destroy(&console->lock);
    arena_free(console->arena);
    mem_free(console);
}
