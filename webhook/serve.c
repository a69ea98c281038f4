/* SPDX-License-Identifier: Apache-2.0 */
/* serve.c: starts every thread, follows the certificate and the configuration, drains on SIGTERM.
 *
 * Threads: this one (a loop: signals, files, gauges), the review server's, the health
 * server's, the one that watches clusters and the one that asks what users may do. They share
 * snapshots, answers, and what was counted.
 *
 * Going down, as endpoints need time to forget a server:
 *     signal          not ready; reviews are answered on, each with "Connection: close"
 *     + drain_ms      (or a second signal) no new connections; what is in flight is waited for,
 *                     at most LIMIT_DRAIN_WAIT_TIME
 *     then            everything ends, exit 0 */
#include "webhook/serve.h"

#include "io/limits.h"
#include "io/signal.h"
#include "runtime/kubeconfig.h"
#include "stack/policy/policy_set.h"
#include "webhook/limits.h"
#include "webhook/metrics.h"
#include "webhook/server.h"

enum health_check {
    CHECK_SERVING,
    CHECK_CERTIFICATE,
    CHECK_CONFIGURATION,
    CHECK_POLICIES,
    CHECK_COUNT
};
static const char *const check_names[CHECK_COUNT] = { "serving", "certificate", "configuration",
                                                      "policies" };

enum {
    LOOK_MS = 500, /* what is new in files is in use within a second */
    /* A certificate this near to its end is told as not ready: issuers renew far earlier. */
    CERTIFICATE_LAST_MS = 60 * 1000,
    /* A loop that did not look for so long follows no file any more: /healthz tells. */
    BEAT_MS = 30 * 1000,
    /* Of handshakes over the limit the log tells this often, however many there are. */
    TELL_LIMITED_MS = 60 * 1000,
};

struct serving {
    const struct webhook_options *options;
    struct log *log;
    struct loop *loop;
    struct metrics *metrics;
    struct health *health;
    struct tls_source *tls;
    struct fact_source *facts;
    struct access_source *access;
    struct configured *configured;
    struct configured_teller configured_teller;
    struct webhook_server *server;
    struct span_exporter *spans; /* NULL: nothing is traced */
    struct loop_timer *look;
    struct loop_timer *drained;
    struct signal_watch *signals;
    bool draining;
    bool certificate_rejected; /* told once */
    uint64_t limited_told;     /* handshakes over the limit, when the log told last */
    int64_t limited_told_ms;   /* and when that was; 0 = never */
    int settled;               /* how much was known when memory was given back last */
};

/* --- while it serves --- */

static void count_reload(struct serving *serving, struct str result)
{
    metrics_add(serving->metrics, WEBHOOK_CERTIFICATE_RELOADS, &result, 1);
}

static void look_for_certificate(struct serving *serving)
{
    struct error err;
    int found = tls_source_refresh(serving->tls, &err);

    /* Logged once it is so. */
    metrics_set(serving->metrics, WEBHOOK_CERTIFICATE_REJECTED, NULL, found < 0);
    health_note(serving->health, CHECK_CERTIFICATE, found < 0 ? str_of(err.text) : STR(""));
    if (found > 0) {
        AUTO(arena_free) struct arena *arena = arena_create(0);

        count_reload(serving, STR("taken"));
        log_info(serving->log, "certificate taken",
                 LOG_STR("serial", tls_source_serial(serving->tls, arena)));
    } else if (found < 0 && !serving->certificate_rejected) {
        count_reload(serving, STR("rejected"));
        log_warn(serving->log, "new certificate rejected; the last good one stays in use",
                 LOG_Z("error", err.text));
    }
    serving->certificate_rejected = found < 0;
}

/* By wall time, because that is what clients validate the certificate by. */
static void tell_certificate(struct serving *serving)
{
    int64_t not_after_ms = tls_source_not_after_ms(serving->tls);
    bool ending = not_after_ms - clock_wall_ms(system_clock()) < CERTIFICATE_LAST_MS;

    metrics_set(serving->metrics, WEBHOOK_CERTIFICATE_EXPIRY, NULL, (double)not_after_ms / 1000);
    health_set(serving->health, CHECK_CERTIFICATE,
               ending ? STR("the certificate in use is expired or about to be; renew the one in "
                            "--tls-cert-file")
                      : STR(""));
}

/* The first handshake and list of what is watched come after the start, and map in 2.5 MiB of
 * code that following it does not need. */
static void settle_with(struct serving *serving, const struct facts *facts)
{
    int known = facts->clusters_known + (facts->stacks.get != NULL) + (facts->policies != NULL);

    if (known <= serving->settled)
        return;
    serving->settled = known;
    program_settle();
}

static void tell_gauges(struct serving *serving)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct facts *facts = fact_source_take(serving->facts, arena);

    metrics_set(serving->metrics, WEBHOOK_CONNECTIONS, NULL,
                http_server_connections(webhook_server_http(serving->server)));
    metrics_set_known(serving->metrics, WEBHOOK_CLUSTERS, NULL, facts->clusters_known,
                      (double)facts->clusters.count);
    metrics_set_known(serving->metrics, WEBHOOK_POLICIES, NULL, facts->policies,
                      facts->policies ? (double)policy_set_count(facts->policies) : 0);
    health_set(serving->health, CHECK_POLICIES,
               facts->policies_pending ? STR("StackPolicies were not read yet") : STR(""));
    settle_with(serving, facts);
}

/* Logged once they are counted. */
static void tell_limited(struct serving *serving, const struct http_handshakes *handshakes)
{
    int64_t now_ms = clock_monotonic_ms(system_clock());
    uint64_t since_told = handshakes->limited - serving->limited_told;

    if (!since_told ||
        (serving->limited_told_ms && now_ms - serving->limited_told_ms < TELL_LIMITED_MS))
        return;
    serving->limited_told = handshakes->limited;
    serving->limited_told_ms = now_ms;
    log_warn(serving->log, "TLS handshakes over the limit of their address were closed",
             LOG_INT("handshakes", (int64_t)since_told),
             LOG_INT("limit_per_second", LIMIT_HANDSHAKES_PER_ADDRESS),
             LOG_Z("last_address", handshakes->limited_peer));
}

static void tell_handshakes(struct serving *serving)
{
    struct metrics *metrics = serving->metrics;
    struct http_handshakes handshakes;

    http_server_handshakes(webhook_server_http(serving->server), &handshakes);
    metrics_set(metrics, WEBHOOK_HANDSHAKES, (struct str[]){ STR("completed") },
                (double)handshakes.completed);
    metrics_set(metrics, WEBHOOK_HANDSHAKES, (struct str[]){ STR("failed") },
                (double)handshakes.failed);
    metrics_set(metrics, WEBHOOK_HANDSHAKES, (struct str[]){ STR("limited") },
                (double)handshakes.limited);
    tell_limited(serving, &handshakes);
}

static void on_look(void *context)
{
    struct serving *serving = context;

    health_beat(serving->health, clock_monotonic_ms(system_clock()), BEAT_MS);
    look_for_certificate(serving);
    configured_look(serving->configured, &serving->configured_teller);
    tell_certificate(serving);
    tell_gauges(serving);
    tell_handshakes(serving);
    loop_timer_set(serving->look, LOOK_MS);
}

/* --- its end --- */

static void on_drained(void *context)
{
    struct serving *serving = context;

    loop_stop(serving->loop);
}

static void begin_drain(struct serving *serving)
{
    serving->draining = true;
    health_shutting_down(serving->health);
    http_server_lame_duck(webhook_server_http(serving->server));
    loop_timer_set(serving->drained, serving->options->drain_ms);
}

/* The first signal begins the drain, a second one cuts it short. Logged once it is so. */
static void on_signal(void *context, int number)
{
    struct serving *serving = context;
    bool again = serving->draining;

    if (again)
        loop_stop(serving->loop);
    else
        begin_drain(serving);
    log_info(serving->log, again ? "stopping at once" : "draining", LOG_INT("signal", number),
             LOG_INT("drain_ms", serving->options->drain_ms));
}

/* The server first: its handlers use all else. */
static void free_parts(struct serving *serving)
{
    webhook_server_free(serving->server);
    span_exporter_free(serving->spans);
    signal_watch_free(serving->signals);
    loop_timer_free(serving->look);
    loop_timer_free(serving->drained);
    fact_source_free(serving->facts);
    access_source_free(serving->access);
    configured_free(serving->configured);
    health_free(serving->health);
    tls_source_free(serving->tls);
    metrics_free(serving->metrics);
    loop_free(serving->loop);
}

/* --- its beginning --- */

/* What is known of the world beside a review, and who is asked of it. */
static int create_facts(struct serving *serving, struct error *err)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct webhook_options *options = serving->options;
    struct kube_config config;
    bool watched = kube_config_flags_given(&options->api);

    if (watched && kube_config_from_flags(arena, &options->api, &config, err) < 0)
        return -1;
    serving->facts = fact_source_create(watched ? &config : NULL, serving->log, err);
    if (!serving->facts)
        return -1;
    if (watched && options->check_access)
        serving->access = access_source_create(&config, serving->metrics, err);
    return serving->access || !watched || !options->check_access ? 0 : -1;
}

static int create_server(struct serving *serving, struct error *err)
{
    const struct webhook_options *options = serving->options;

    serving->server = webhook_server_create(
        &(struct webhook_server_options){
            .address = options->listen_host,
            .port = options->listen_port,
            .tls = serving->tls,
            .event_threads = options->event_threads,
            .facts = serving->facts,
            .access = serving->access,
            .configured = serving->configured,
            .spans = serving->spans,
            .metrics = serving->metrics,
            .health = serving->health,
            .log = serving->log,
        },
        err);
    return serving->server ? 0 : error_wrap(err, "%s", options->listen_from);
}

static int create_spans(struct serving *serving, struct error *err)
{
    const struct span_target *target = &serving->options->spans;

    serving->spans = span_exporter_create(
        &(struct span_exporter_options){
            .loop = serving->loop,
            .target = target,
            .source = { STR("herd-webhook"), STR(HERD_VERSION), STR("") },
            .log = serving->log,
            .metrics = serving->metrics,
            .spans = WEBHOOK_SPANS,
            .seed = (uint64_t)clock_wall_ms(system_clock()),
        },
        err);
    return serving->spans || !target->url.len ? 0 : -1;
}

/* What can be wrong with files and addresses is found here, before anything is served. */
static int create_parts(struct serving *serving, struct error *err)
{
    const struct webhook_options *options = serving->options;

    serving->tls = tls_source_create(options->certificate_file, options->key_file,
                                     options->client_ca_file, err);
    if (!serving->tls)
        return -1;
    serving->configured = configured_create(options->config_file, &options->configuration, err);
    if (!serving->configured)
        return error_wrap(err, "--config-file");
    serving->metrics = webhook_metrics_create();
    serving->health = health_create(options->metrics_host, options->metrics_port, check_names,
                                    CHECK_COUNT, serving->metrics, err);
    if (!serving->health)
        return error_wrap(err, "%s", options->metrics_from);
    serving->configured_teller = (struct configured_teller){
        .log = serving->log,
        .metrics = serving->metrics,
        .reloads = WEBHOOK_CONFIGURATION_RELOADS,
        .rejected = WEBHOOK_CONFIGURATION_REJECTED,
        .health = serving->health,
        .check = CHECK_CONFIGURATION,
    };
    serving->loop = loop_create();
    if (create_facts(serving, err) < 0 || create_spans(serving, err) < 0 ||
        create_server(serving, err) < 0)
        return -1;
    serving->look = loop_timer_create(serving->loop, on_look, serving);
    serving->drained = loop_timer_create(serving->loop, on_drained, serving);
    serving->signals = signal_watch_create(serving->loop, on_signal, serving);
    return 0;
}

int webhook_serve(const struct webhook_options *options, struct log *log, struct error *err)
{
    struct serving serving = { .options = options, .log = log };

    /* Before anything is read from outside, and before any thread: what libraries do when they are
     * first used is within as well, so that it cannot depend on when that is. */
    webhook_sandbox_enter(options->seccomp, log);
    if (create_parts(&serving, err) < 0) {
        free_parts(&serving);
        return -1;
    }

    struct http_server *http = webhook_server_http(serving.server);

    configured_tell(serving.configured, &serving.configured_teller);
    on_look(&serving);
    health_set(serving.health, CHECK_SERVING, STR(""));
    log_info(log, "serving", LOG_INT("port", http_server_port(http)),
             LOG_INT("metrics_port", health_port(serving.health)));
    program_settle();
    loop_run(serving.loop);
    log_info(log, "stopping", LOG_INT("in_flight", http_server_in_flight(http)));
    http_server_drain(http, LIMIT_DRAIN_WAIT_TIME);
    span_exporter_drain(serving.spans);
    free_parts(&serving);
    return 0;
}
