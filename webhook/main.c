/* main.c: `herd-webhook serve`: starts every thread, follows the certificate, drains on SIGTERM.
 *
 * Threads: this one (a loop: signals, certificate, gauges), the review server's, the health server's
 * and the one that watches clusters. They share snapshots only. */
#include "base/limits.h"
#include "io/program.h"
#include "io/signal.h"
#include "runtime/kubeconfig.h"
#include "webhook/metrics.h"
#include "webhook/server.h"

#include <stdio.h>
#include <unistd.h>

enum flag_id {
#define FLAG(id, name, type, fallback, unit, min, max, environment, choices, secret, help) FLAG_##id,
#include "webhook/flags.def"
#undef FLAG
    FLAG_COUNT
};

static const struct flag_row flag_rows[FLAG_COUNT] = {
#define FLAG(id, name, type, fallback, unit, min, max, environment, choices, secret, help)         \
    [FLAG_##id] = { name, FLAG_##type, fallback, unit, min, max, environment, choices, secret, help },
#include "webhook/flags.def"
#undef FLAG
};

static const struct program program = {
    "herd-webhook serve",
    "The admission webhook of Herd: answers AdmissionReviews of Stacks at /mutate and /validate.",
    flag_rows,
    FLAG_COUNT,
};

enum health_check { CHECK_SERVING, CHECK_CERTIFICATE, CHECK_COUNT };
static const char *const check_names[CHECK_COUNT] = { "serving", "certificate" };

enum {
    CERTIFICATE_LOOK_MS = 500, /* a new serial is served within a second */
    /* A certificate this near to its end is told as not ready: issuers renew far earlier. */
    CERTIFICATE_LAST_MS = 60 * 1000,
    EVENT_THREADS_MAX = 4,
};

/* What the main thread holds while it serves. */
struct serving {
    struct loop *loop;
    struct log *log;
    struct metrics *metrics;
    struct health *health;
    struct tls_source *tls;
    struct fact_source *facts;
    struct webhook_server *server;
    struct loop_timer *look;
    struct loop_timer *drained;
    struct signal_watch *signals;
    int64_t drain_ms;
    bool certificate_refused; /* told once */
};

static void look_at_certificate(struct serving *serving)
{
    struct error err;
    int found = tls_source_refresh(serving->tls, &err);
    int64_t not_after_ms = tls_source_not_after_ms(serving->tls);
    bool ending = not_after_ms - clock_wall_ms(system_clock()) < CERTIFICATE_LAST_MS;

    if (found > 0) {
        AUTO(arena_free) struct arena *arena = arena_create(0);

        metrics_add(serving->metrics, WEBHOOK_CERTIFICATE_RELOADS, (struct str[]){ STR("taken") }, 1);
        log_info(serving->log, "certificate taken",
                 LOG_STR("serial", tls_source_serial(serving->tls, arena)));
    } else if (found < 0 && !serving->certificate_refused) {
        metrics_add(serving->metrics, WEBHOOK_CERTIFICATE_RELOADS, (struct str[]){ STR("refused") },
                    1);
        log_warn(serving->log, "new certificate refused; the last good one stays in use",
                 LOG_Z("error", err.text));
    }
    serving->certificate_refused = found < 0;
    metrics_set(serving->metrics, WEBHOOK_CERTIFICATE_NOT_AFTER, NULL, (double)not_after_ms / 1000);
    health_set(serving->health, CHECK_CERTIFICATE,
               ending ? STR("the certificate in use is expired or about to be; renew the one in "
                            "--tls-cert-file")
                      : STR(""));
}

static void on_look(void *context)
{
    struct serving *serving = context;
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct facts *facts = fact_source_take(serving->facts, arena);

    look_at_certificate(serving);
    metrics_set(serving->metrics, WEBHOOK_CONNECTIONS, NULL,
                http_server_connections(webhook_server_http(serving->server)));
    metrics_set(serving->metrics, WEBHOOK_CLUSTERS, NULL,
                facts->clusters_known ? (double)facts->clusters.count : -1);
    loop_timer_set(serving->look, CERTIFICATE_LOOK_MS);
}

static void on_drained(void *context)
{
    struct serving *serving = context;

    loop_stop(serving->loop);
}

/* The first signal begins the drain, a second one ends it. */
static void on_signal(void *context, int number)
{
    struct serving *serving = context;

    if (loop_timer_is_set(serving->drained)) {
        loop_stop(serving->loop);
        return;
    }
    log_info(serving->log, "draining", LOG_INT("signal", number),
             LOG_INT("drain_ms", serving->drain_ms));
    health_shutting_down(serving->health);
    http_server_lame_duck(webhook_server_http(serving->server));
    loop_timer_set(serving->drained, serving->drain_ms);
}

static void stop_serving(struct serving *serving)
{
    if (serving->server)
        http_server_drain(webhook_server_http(serving->server), LIMIT_DRAIN_WAIT_TIME);
    webhook_server_free(serving->server);
    signal_watch_free(serving->signals);
    loop_timer_free(serving->look);
    loop_timer_free(serving->drained);
    fact_source_free(serving->facts);
    health_free(serving->health);
    tls_source_free(serving->tls);
    metrics_free(serving->metrics);
    loop_free(serving->loop);
    log_free(serving->log);
}

static int load_kube_config(const struct flag_values *flags, struct arena *arena,
                            struct kube_config *config, const struct kube_config **ret_config,
                            struct error *err)
{
    const char *file = str_z(arena, flags->values[FLAG_KUBECONFIG].text);
    const char *context = str_z(arena, flags->values[FLAG_CONTEXT].text);

    *ret_config = NULL;
    if (flags->values[FLAG_IN_CLUSTER].number) {
        if (kube_config_in_cluster(arena, config, err) < 0)
            return -1;
    } else if (flags->values[FLAG_KUBECONFIG].text.len) {
        if (kube_config_load(arena, file, context, config, err) < 0)
            return -1;
    } else {
        return 0;
    }
    *ret_config = config;
    return 0;
}

/* "rule=severity,rule=severity" over the defaults. */
static int read_severities(struct str text, struct rule_severities *severities, struct error *err)
{
    struct str part;

    while (text.len && str_split(&text, ',', &part)) {
        ptrdiff_t equals = str_find_char(part, '=', 0);
        enum rule_id rule;

        if (equals < 0)
            return error_set(err, ERROR_BAD_REQUEST,
                             "--rule-severity: '%.*s' is not rule=severity, e.g. gpu.no-provider=warn",
                             STR_ARG(part));
        if (!rule_from(str_slice(part, 0, (size_t)equals), &rule))
            return error_set(err, ERROR_BAD_REQUEST,
                             "--rule-severity: there is no rule '%.*s'; docs/rules.md lists them",
                             (int)equals, part.at);
        if (!severity_from(str_slice(part, (size_t)equals + 1, part.len), &severities->of[rule]))
            return error_set(err, ERROR_BAD_REQUEST,
                             "--rule-severity: '%.*s': a severity is deny, warn or off",
                             STR_ARG(part));
    }
    return 0;
}

static uint32_t event_threads(const struct flag_values *flags)
{
    int64_t wanted = flags->values[FLAG_THREADS].number;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);

    if (wanted > 0)
        return (uint32_t)wanted;
    return processors < 1 ? 1 : processors > EVENT_THREADS_MAX ? EVENT_THREADS_MAX : (uint32_t)processors;
}

/* Everything that can be wrong with what the user gave is found here, before anything is served. */
static int start_serving(struct serving *serving, const struct flag_values *flags,
                         const struct rule_severities *severities, struct arena *arena,
                         struct error *err)
{
    const struct flag_value *values = flags->values;
    struct kube_config config_read;
    const struct kube_config *config;
    const char *host;
    const char *metrics_host;
    uint16_t port;
    uint16_t metrics_port;

    if (address_parse(arena, values[FLAG_LISTEN].text, &host, &port, err) < 0)
        return error_wrap(err, "--listen");
    if (address_parse(arena, values[FLAG_METRICS_LISTEN].text, &metrics_host, &metrics_port, err) < 0)
        return error_wrap(err, "--metrics-listen");
    if (load_kube_config(flags, arena, &config_read, &config, err) < 0)
        return -1;
    serving->tls = tls_source_create(str_z(arena, values[FLAG_TLS_CERT_FILE].text),
                                     str_z(arena, values[FLAG_TLS_KEY_FILE].text), err);
    if (!serving->tls)
        return -1;
    serving->metrics = metrics_create(webhook_metrics, WEBHOOK_METRIC_COUNT);
    metrics_set(serving->metrics, WEBHOOK_BUILD_INFO, (struct str[]){ STR(HERD_VERSION) }, 1);
    serving->health = health_create(metrics_host, metrics_port, check_names, CHECK_COUNT,
                                    serving->metrics, err);
    if (!serving->health)
        return error_wrap(err, "--metrics-listen");
    serving->facts = fact_source_create(config, values[FLAG_ALLOW_PLAIN_HTTP].number, serving->log,
                                        err);
    if (!serving->facts)
        return -1;
    serving->server = webhook_server_create(
        &(struct webhook_server_options){
            .address = host,
            .port = port,
            .tls = serving->tls,
            .event_threads = event_threads(flags),
            .facts = serving->facts,
            .severities = severities,
            .metrics = serving->metrics,
            .health = serving->health,
            .log = serving->log,
        },
        err);
    return serving->server ? 0 : error_wrap(err, "--listen");
}

static int serve(const struct flag_values *flags, struct arena *arena)
{
    struct rule_severities severities = rule_severities_default();
    struct serving serving = { .drain_ms = flags->values[FLAG_DRAIN].number };
    struct error err;

    serving.log = program_log(&program, flags);
    program_log_flags(serving.log, flags);
    serving.loop = loop_create();
    if (read_severities(flags->values[FLAG_RULE_SEVERITY].text, &severities, &err) < 0 ||
        start_serving(&serving, flags, &severities, arena, &err) < 0) {
        stop_serving(&serving);
        return program_refuse(&program, &err);
    }
    serving.look = loop_timer_create(serving.loop, on_look, &serving);
    serving.drained = loop_timer_create(serving.loop, on_drained, &serving);
    serving.signals = signal_watch_create(serving.loop, on_signal, &serving);
    on_look(&serving);
    health_set(serving.health, CHECK_SERVING, STR(""));
    log_info(serving.log, "serving",
             LOG_INT("port", http_server_port(webhook_server_http(serving.server))),
             LOG_INT("metrics_port", health_port(serving.health)));
    program_settle();
    loop_run(serving.loop);
    log_info(serving.log, "stopping", LOG_Z("reason", "signal"));
    stop_serving(&serving);
    return PROGRAM_OK;
}

int main(int argc, char **argv)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct flag_values flags;
    struct error err;

    signal_setup();

    int code = program_parse(&program, argc, argv, arena, &flags);

    if (code != PROGRAM_GO_ON)
        return code;
    if (flags.values[FLAG_VERSION].number) {
        printf("herd-webhook %s\n", HERD_VERSION);
        return PROGRAM_OK;
    }
    if (flags.rest.count != 1 || !str_eq(flags.rest.items[0], STR("serve"))) {
        error_set(&err, ERROR_BAD_REQUEST,
                  "say what to do: herd-webhook serve [flags]; --help lists them");
        return program_refuse(&program, &err);
    }
    return serve(&flags, arena);
}
