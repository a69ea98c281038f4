/* SPDX-License-Identifier: Apache-2.0 */
/* server.c: who asks (authentication), and to whom the question goes. What callers may do is
 * decided behind api_handle and api_allows; the Rancher port knows its own tokens. */
#include "lab/server.h"

#include "base/memory.h"
#include "base/metric.h"
#include "io/process.h"

#include <stdatomic.h>

enum {
    BODY_MAX = 3 * 1024 * 1024, /* kube-apiserver's limit of a request */
};

/* Handlers hold locks and heap memory, which an abandoned arena would strand: the budget is a
 * number that only a runaway reaches. */
#define ARENA_BUDGET ((size_t)8 * 1024 * 1024 * 1024)

enum lab_metric {
#define METRIC(id, kind, name, a, b, c, buckets, help) LAB_##id,
#include "lab/metrics.def"
#undef METRIC
    LAB_METRIC_COUNT
};

static const double request_buckets[] = { 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2,
                                          0.5,   1,     2,     5,    10,   60,   0 };

static const struct metric_row metric_rows[LAB_METRIC_COUNT] = {
#define METRIC(id, kind, name, a, b, c, buckets, help)                                             \
    [LAB_##id] = { METRIC_##kind, name, { a, b, c }, buckets, help },
#include "lab/metrics.def"
#undef METRIC
};

struct server {
    struct api *api;
    struct simulation *simulation;
    struct log *log;
    atomic_bool ready;
    struct metrics *metrics;
    struct http_server *kubernetes, *rancher;
};

static void answer_status(struct http_exchange *exchange, int code, const char *reason,
                          const char *message)
{
    struct arena *arena = http_view(exchange)->arena;

    http_answer(exchange, code, "application/json",
                str_fmt(arena,
                        "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":"
                        "\"Failure\",\"message\":\"%s\",\"reason\":\"%s\",\"code\":%d}",
                        message, reason, code));
}

static void add_groups(struct api_caller *caller, struct str groups)
{
    struct str group;

    while (groups.len && str_split(&groups, '\n', &group))
        if (group.len)
            str_list_push(&caller->groups, group);
}

/* By bearer token, else by client certificate, else nobody known. A wrong token is rejected,
 * certificate or not. */
static bool authenticate(const struct server *server, const struct http_exchange *exchange,
                         struct api_caller *ret_caller)
{
    const struct http_exchange_view *view = http_view(exchange);
    struct str header = http_header(exchange, "Authorization");
    struct str scheme = STR("Bearer ");
    struct api_caller caller = { .groups = str_list_new(view->arena, 4) };
    struct error err;

    if (header.len)
        return str_starts(header, scheme) &&
               api_authenticate(server->api, view->arena, STR("local"),
                                str_trim(str_slice(header, scheme.len, header.len)), ret_caller,
                                &err) == 0;
    if (view->client_name.len) {
        caller.user = view->client_name;
        add_groups(&caller, view->client_groups);
        str_list_push(&caller.groups, STR("system:authenticated"));
    } else {
        caller.user = STR("system:anonymous");
        str_list_push(&caller.groups, STR("system:unauthenticated"));
    }
    *ret_caller = caller;
    return true;
}

static void on_kubernetes(struct http_exchange *exchange, void *context)
{
    struct server *server = context;
    struct api_caller caller;

    if (!authenticate(server, exchange, &caller))
        answer_status(exchange, 401, "Unauthorized", "Unauthorized");
    else
        api_handle(server->api, exchange, STR("local"), http_view(exchange)->path, &caller);
}

static void on_health(struct http_exchange *exchange, void *context)
{
    struct server *server = context;
    bool asks_ready = str_eq(http_view(exchange)->path, STR("/readyz"));
    bool good = !asks_ready || atomic_load(&server->ready);
    struct str verbose;

    if (!good)
        http_answer(exchange, 503, "text/plain; charset=utf-8",
                    STR("[+]ping ok\n[-]simulation failed: not started or draining\nreadyz check "
                        "failed\n"));
    else if (http_query(exchange, STR("verbose"), &verbose))
        http_answer(exchange, 200, "text/plain; charset=utf-8",
                    asks_ready
                        ? STR("[+]ping ok\n[+]store ok\n[+]simulation ok\nreadyz check passed\n")
                        : STR("[+]ping ok\nlivez check passed\n"));
    else
        http_answer(exchange, 200, "text/plain; charset=utf-8", STR("ok"));
}

static void on_metrics(struct http_exchange *exchange, void *context)
{
    struct server *server = context;
    struct strbuf out = strbuf_new(http_view(exchange)->arena, 16384);
    struct api_caller caller;

    if (!authenticate(server, exchange, &caller)) {
        answer_status(exchange, 401, "Unauthorized", "Unauthorized");
        return;
    }
    if (!api_allows(server->api, exchange, STR("local"), &caller))
        return;
    metrics_set(server->metrics, LAB_CONNECTIONS, (struct str[]){ STR("kubernetes") },
                http_server_connections(server->kubernetes));
    metrics_set(server->metrics, LAB_CONNECTIONS, (struct str[]){ STR("rancher") },
                http_server_connections(server->rancher));
    metrics_render(server->metrics, &out);
    process_render(&out);
    http_answer(exchange, 200, METRIC_CONTENT_TYPE, strbuf_str(&out));
}

static void on_rancher(struct http_exchange *exchange, void *context)
{
    struct server *server = context;

    simulation_handle(server->simulation, exchange);
}

static const struct http_route kubernetes_routes[] = {
    { "GET", "/healthz", 0, on_health, "healthz" },
    { "GET", "/livez", 0, on_health, "livez" },
    { "GET", "/readyz", 0, on_health, "readyz" },
    { "GET", "/version", 0, on_kubernetes, "version" },
    { "GET", "/metrics", 0, on_metrics, "metrics" },
    { "", "/*", BODY_MAX, on_kubernetes, "kubernetes" },
};

static const struct http_route rancher_routes[] = {
    { "", "/*", BODY_MAX, on_rancher, "rancher" },
};

static void count(struct server *server, struct str port, const struct http_exchange_view *view,
                  int status, int64_t duration_us)
{
    char code[16];
    struct strbuf number = { NULL, code, 0, sizeof(code) - 1 };
    struct str labels[3] = { port, view->method, { "", 0 } };

    strbuf_i64(&number, status);
    labels[2] = strbuf_str(&number);
    metrics_add(server->metrics, LAB_REQUESTS, labels, 1);
    metrics_observe(server->metrics, LAB_REQUEST_DURATION, &port, (double)duration_us / 1e6);
    log_debug(server->log, "request", LOG_STR("port", port), LOG_STR("method", view->method),
              LOG_STR("path", view->path), LOG_STR("query", view->query), LOG_INT("code", status),
              LOG_INT("us", duration_us));
}

static void on_kubernetes_end(void *context, const struct http_exchange_view *view, int status,
                              int64_t duration_us)
{
    count(context, STR("kubernetes"), view, status, duration_us);
}

static void on_rancher_end(void *context, const struct http_exchange_view *view, int status,
                           int64_t duration_us)
{
    count(context, STR("rancher"), view, status, duration_us);
}

static struct http_server_options port_options(const struct server_options *options,
                                               struct server *server)
{
    return (struct http_server_options){
        .tls = options->tls,
        .client_certificate_optional = true,
        .context = server,
        .event_threads = 0,
        .connections_max = options->connections_max,
        .connections_per_address_max = options->connections_max,
        .handshakes_per_address_max = UINT32_MAX, /* all clients are on this machine */
        .request_ms = -1,
        .bodies_max = (size_t)256 * 1024 * 1024,
        .arena_budget = ARENA_BUDGET,
    };
}

struct server *server_create(const struct server_options *options, struct error *err)
{
    AUTO(server_free) struct server *server = mem_new(struct server);
    struct http_server_options kubernetes = port_options(options, server);
    struct http_server_options rancher = port_options(options, server);

    server->api = options->api;
    server->simulation = options->simulation;
    server->log = options->log;
    server->metrics = metrics_create(metric_rows, LAB_METRIC_COUNT);
    metrics_set(server->metrics, LAB_BUILD_INFO, (struct str[]){ STR(HERD_VERSION) }, 1);
    kubernetes.address = options->host;
    kubernetes.port = options->port;
    kubernetes.routes = kubernetes_routes;
    kubernetes.route_count = sizeof(kubernetes_routes) / sizeof(kubernetes_routes[0]);
    kubernetes.on_end = on_kubernetes_end;
    rancher.address = options->rancher_host;
    rancher.port = options->rancher_port;
    rancher.routes = rancher_routes;
    rancher.route_count = sizeof(rancher_routes) / sizeof(rancher_routes[0]);
    rancher.on_end = on_rancher_end;
    server->kubernetes = http_server_create(&kubernetes, err);
    if (!server->kubernetes)
        return NULL;
    server->rancher = http_server_create(&rancher, err);
    if (!server->rancher)
        return NULL;
    return TAKE(server);
}

void server_set_ready(struct server *server, bool ready)
{
    atomic_store(&server->ready, ready);
}

void server_drain(struct server *server, int64_t drain_ms)
{
    server_set_ready(server, false);
    api_close_watches(server->api);
    http_server_drain(server->kubernetes, drain_ms);
    http_server_drain(server->rancher, drain_ms);
}

void server_free(struct server *server)
{
    if (!server)
        return;
    http_server_free(server->kubernetes);
    http_server_free(server->rancher);
    metrics_free(server->metrics);
    mem_free(server);
}

uint16_t server_port(const struct server *server)
{
    return http_server_port(server->kubernetes);
}

uint16_t server_rancher_port(const struct server *server)
{
    return http_server_port(server->rancher);
}
