/* SPDX-License-Identifier: Apache-2.0 */
/* measurements.c: see measurements.h. */
#include "controller/reconcilers/workload/measurements.h"

#include "base/memory.h"
#include "controller/reconcilers/workload/measurements_wire.h"
#include "io/http_client.h"

enum { FAILURES_MAX = 3 };

struct measurements {
    struct measurements_options options;
    struct http_client *client;
    struct http_call *call;
    struct loop_timer *timer;
    struct arena *arena; /* of the answer; NULL = there is none */
    struct map *loads;
    uint32_t failures; /* in a row */
};

static void take(struct measurements *measurements, struct arena *arena, struct map *loads)
{
    arena_free(measurements->arena);
    measurements->arena = arena;
    measurements->loads = loads;
    if (measurements->failures)
        log_info(measurements->options.log, "Prometheus answers again",
                 LOG_STR("url", measurements->options.url));
    measurements->failures = 0;
}

static void fail(struct measurements *measurements, const struct error *err)
{
    if (!measurements->failures++)
        log_warn(measurements->options.log, "Prometheus does not say the load of model servers",
                 LOG_STR("url", measurements->options.url), LOG_Z("error", err->text));
    if (measurements->failures < FAILURES_MAX)
        return;
    arena_free(measurements->arena);
    measurements->arena = NULL;
    measurements->loads = NULL;
}

static void on_done(void *context, const struct http_response *response)
{
    struct measurements *measurements = context;
    struct error err = response->error;
    struct arena *arena = arena_create(0);
    struct map *loads;

    measurements->call = NULL;
    if (err.code == ERROR_NONE && response->status != 200)
        error_set(&err, ERROR_INTERNAL, "it answered HTTP %d", response->status);
    if (err.code == ERROR_NONE &&
        measurements_read(arena, str_dup(arena, response->body), &loads, &err) == 0) {
        take(measurements, arena, loads);
    } else {
        arena_free(arena);
        fail(measurements, &err);
    }
    loop_timer_set(measurements->timer, measurements->options.interval_ms);
    measurements->options.told(measurements->options.context);
}

static void ask(void *context)
{
    struct measurements *measurements = context;
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str path = measurements_path(arena, measurements->options.matcher);
    struct http_request request = {
        .method = "GET",
        .url = str_fmt(arena, "%.*s%.*s", STR_ARG(measurements->options.url), STR_ARG(path)),
        .on_done = on_done,
        .context = measurements,
    };

    measurements->call = http_send(measurements->client, &request);
}

struct measurements *measurements_create(const struct measurements_options *options,
                                         struct error *err)
{
    const struct http_client_options of_client = {
        .ca_pem = options->ca_pem,
        .user_agent = "herd-controller/" HERD_VERSION,
        .plain_allowed = true,
        .connections_max = 1,
    };
    struct http_client *client = http_client_create(options->loop, &of_client, err);
    struct measurements *measurements;

    if (!client)
        return NULL;
    measurements = mem_new(struct measurements);
    measurements->options = *options;
    measurements->client = client;
    measurements->timer = loop_timer_create(options->loop, ask, measurements);
    loop_timer_set(measurements->timer, 0);
    return measurements;
}

void measurements_free(struct measurements *measurements)
{
    if (!measurements)
        return;
    http_client_free(measurements->client);
    loop_timer_free(measurements->timer);
    arena_free(measurements->arena);
    mem_free(measurements);
}

struct json measurements_of(const struct measurements *measurements, struct arena *arena,
                            struct str key)
{
    struct str text = STR("{}");
    struct error ignored;
    struct json json = { 0 };

    if (measurements->loads)
        text = measurement_text(arena, map_get(measurements->loads, key));
    else if (measurements->failures >= FAILURES_MAX)
        text = STR("{\"error\":\"Prometheus does not answer\"}");
    /* Our own bytes: they read back. */
    json_read(arena, text, &json_limits_default, &json, &ignored);
    return json;
}
