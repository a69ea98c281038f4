/* server.c: handlers around review_answer: count, log a refusal, never answer in doubt. */
#include "webhook/server.h"

#include "base/limits.h"
#include "base/memory.h"
#include "kube/apistatus.h"
#include "webhook/metrics.h"
#include "webhook/review.h"

struct webhook_server {
    struct webhook_server_options options;
    struct http_server *http;
};

static void count_findings(struct webhook_server *server, const struct problems *problems)
{
    for (uint32_t i = 0; i < problems->list.count; i++) {
        const struct problem *found = &problems->list.items[i];
        const struct str labels[] = { found->rule, str_of(severity_name(found->severity)) };

        metrics_add(server->options.metrics, WEBHOOK_FINDINGS, labels, 1);
    }
}

/* What is not a review gets a Status, as an API server would give it. */
static void answer_failure(struct http_exchange *exchange, const struct error *error)
{
    struct strbuf out = strbuf_new(http_view(exchange)->arena, 512);
    struct kube_status status = {
        .reason = str_of(error_reason(error->code)),
        .message = str_of(error->text),
        .code = error_http_status(error->code),
    };

    kube_status_write(&status, &out);
    http_answer(exchange, status.code, "application/json", strbuf_str(&out));
}

static void handle_review(struct http_exchange *exchange, struct webhook_server *server,
                          enum review_route route)
{
    const struct http_exchange_view *view = http_view(exchange);
    struct review_context context = { fact_source_take(server->options.facts, view->arena),
                                      server->options.severities };
    struct str labels[] = { str_of(view->route->label), STR("unknown"), STR("failed") };
    struct review_outcome outcome;
    struct error err;

    if (review_answer(view->arena, route, view->body, &context, &outcome, &err) < 0) {
        log_warn(server->options.log, "review refused: it cannot be judged",
                 LOG_Z("route", view->route->label), LOG_STR("peer", view->peer),
                 LOG_Z("error", err.text));
        answer_failure(exchange, &err);
    } else {
        labels[1] = str_of(review_operation_name(outcome.operation));
        labels[2] = outcome.allowed ? STR("allowed") : STR("denied");
        count_findings(server, &outcome.problems);
        http_answer(exchange, 200, "application/json", outcome.answer);
    }
    metrics_add(server->options.metrics, WEBHOOK_REVIEWS, labels, 1);
}

static void handle_mutate(struct http_exchange *exchange, void *context)
{
    handle_review(exchange, context, REVIEW_MUTATE);
}

static void handle_validate(struct http_exchange *exchange, void *context)
{
    handle_review(exchange, context, REVIEW_VALIDATE);
}

static void handle_health(struct http_exchange *exchange, void *context)
{
    struct webhook_server *server = context;

    health_handle(server->options.health, exchange);
}

static const struct http_route routes[] = {
#define ROUTE(method, path, body_max, handler, label) { method, path, body_max, handler, label },
#include "webhook/routes.def"
#undef ROUTE
};

static void on_end(void *context, const struct http_exchange_view *view, int status,
                   int64_t duration_us)
{
    struct webhook_server *server = context;
    const char *label = view->route ? view->route->label : "none";
    struct strbuf code = strbuf_new(view->arena, 4);

    strbuf_u64(&code, (uint64_t)status);

    const struct str labels[] = { str_of(label), strbuf_str(&code) };

    metrics_add(server->options.metrics, WEBHOOK_REQUESTS, labels, 1);
    metrics_observe(server->options.metrics, WEBHOOK_REVIEW_SECONDS, labels,
                    (double)duration_us / 1e6);
}

struct webhook_server *webhook_server_create(const struct webhook_server_options *options,
                                             struct error *err)
{
    AUTO(webhook_server_free) struct webhook_server *server = mem_new(struct webhook_server);

    server->options = *options;
    server->http = http_server_create(
        &(struct http_server_options){
            .address = options->address,
            .port = options->port,
            .tls = options->tls,
            .routes = routes,
            .route_count = sizeof(routes) / sizeof(routes[0]),
            .context = server,
            .event_threads = options->event_threads,
            .on_end = on_end,
        },
        err);
    if (!server->http)
        return NULL;
    return TAKE(server);
}

void webhook_server_free(struct webhook_server *server)
{
    if (!server)
        return;
    http_server_free(server->http);
    mem_free(server);
}

struct http_server *webhook_server_http(struct webhook_server *server)
{
    return server->http;
}
