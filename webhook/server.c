/* SPDX-License-Identifier: Apache-2.0 */
/* server.c: handlers around review_answer: count, log a rejection, never answer in doubt. */
#include "webhook/server.h"

#include "base/memory.h"
#include "kube/apistatus.h"
#include "text/limits.h"
#include "webhook/metrics.h"
#include "webhook/review.h"

#include <stdio.h>
#include <time.h>

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

static void count_policies(struct webhook_server *server, const struct policy_outcomes *policies)
{
    for (uint32_t i = 0; i < policies->count; i++) {
        const struct policy_outcome *outcome = &policies->items[i];
        const struct str labels[] = { outcome->policy,
                                      str_of(policy_outcome_name(outcome->severity)) };

        metrics_add(server->options.metrics, WEBHOOK_POLICY_RESULTS, labels, 1);
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

/* Nothing else here takes a body. */
static bool is_review(const struct http_route *route)
{
    return route->body_max > 0;
}

/* Names of users, objects and rules: no value of anything. */
static void log_rejection(struct webhook_server *server, const struct http_exchange_view *view,
                          const struct review_outcome *outcome)
{
    log_info(server->options.log, "review rejected", LOG_STR("user", outcome->username),
             LOG_STR("kind", outcome->kind), LOG_STR("namespace", outcome->namespace_),
             LOG_STR("name", outcome->name), LOG_STR("operation", outcome->operation),
             LOG_Z("dry_run", outcome->dry_run ? "true" : "false"),
             LOG_Z("route", view->route->label), LOG_STR("rules", outcome->rules),
             LOG_INT("faults", outcome->problems.denied));
}

/* Spans are told in microseconds; a review takes less than one of a clock's milliseconds. */
static int64_t wall_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* Names of users, objects and rules, as in the log. */
static void tell_span(struct webhook_server *server, const struct review_outcome *outcome,
                      enum review_route route, int64_t start_us)
{
    span_exporter_add(
        server->options.spans,
        &(struct otlp_span){
            .context = outcome->trace.context,
            .parent_id = outcome->trace.parent_id,
            .name = route == REVIEW_MUTATE ? "admission/mutate" : "admission/validate",
            .kind = OTLP_SERVER,
            .start_us = start_us,
            .end_us = wall_us(),
            .failed = !outcome->allowed,
            .message = outcome->rules,
            .attributes = { OTLP_STR("k8s.namespace.name", outcome->namespace_),
                            OTLP_STR("herd.stack", outcome->name),
                            OTLP_STR("herd.operation", outcome->operation),
                            OTLP_STR("herd.author", outcome->username),
                            OTLP_STR("herd.verdict",
                                     outcome->allowed ? STR("allowed") : STR("denied")),
                            OTLP_STR("herd.rules", outcome->rules),
                            OTLP_INT("herd.findings", outcome->findings) },
            .attribute_count = 7,
        });
}

static void handle_review(struct http_exchange *exchange, struct webhook_server *server,
                          enum review_route route)
{
    const struct http_exchange_view *view = http_view(exchange);
    struct facts facts = *fact_source_take(server->options.facts, view->arena);
    const struct configuration configuration = configured_take(server->options.configured);
    const struct review_context context = {
        .facts = &facts,
        .severities = &configuration.severities,
        .traced = server->options.spans != NULL,
    };
    int64_t start_us = context.traced ? wall_us() : 0;
    struct review_outcome outcome;
    struct error err;

    facts.plain_http_allowed = configuration.plain_http_allowed;
    facts.repo_hosts_allowed = &configuration.repo_hosts;
    facts.access = access_source_take(server->options.access, view->arena);
    if (review_answer(view->arena, route, view->body, &context, &outcome, &err) < 0) {
        log_warn(server->options.log, "review rejected: it cannot be validated",
                 LOG_Z("route", view->route->label), LOG_STR("peer", view->peer),
                 LOG_Z("error", err.text));
        answer_failure(exchange, &err);
        return;
    }

    if (outcome.trace.context.sampled)
        tell_span(server, &outcome, route, start_us);

    /* Nothing is allocated from here on: what is counted was answered. */
    const struct str labels[] = {
        str_of(view->route->label),
        outcome.operation,
        outcome.allowed ? STR("allowed") : STR("denied"),
    };

    metrics_add(server->options.metrics, WEBHOOK_REVIEWS, labels, 1);
    count_findings(server, &outcome.problems);
    count_policies(server, &outcome.policies);
    if (!outcome.allowed)
        log_rejection(server, view, &outcome);
    http_answer(exchange, 200, "application/json", outcome.answer);
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

/* Of a request that never reached a handler there is no arena, and the arena of one that passed its
 * budget has no room: nothing is allocated here. */
static void on_end(void *context, const struct http_exchange_view *view, int status,
                   int64_t duration_us)
{
    struct webhook_server *server = context;
    struct metrics *metrics = server->options.metrics;
    struct str label = str_of(view->route ? view->route->label : "none");
    char code[12];
    int len = snprintf(code, sizeof(code), "%d", status);

    metrics_add(metrics, WEBHOOK_REQUESTS, (struct str[]){ label, str_make(code, (size_t)len) }, 1);
    if (!view->route || !is_review(view->route))
        return;
    metrics_observe(metrics, WEBHOOK_REVIEW_DURATION, &label, (double)duration_us / 1e6);
    if (status != 200)
        metrics_add(metrics, WEBHOOK_REVIEWS,
                    (struct str[]){ label, STR("unknown"), STR("failed") }, 1);
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
            .arena_budget = options->arena_budget,
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
