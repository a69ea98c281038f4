/* SPDX-License-Identifier: Apache-2.0 */
/* options.c: from flags to what the parts are created with. Pure. */
#include "webhook/options.h"

#include "webhook/limits.h"

enum flag_id {
#define FLAG FLAG_AS_ID
#include "webhook/flags.def"
#undef FLAG
    FLAG_COUNT
};

static const struct flag_row flag_rows[FLAG_COUNT] = {
#define FLAG FLAG_AS_ROW
#include "webhook/flags.def"
#undef FLAG
};

const struct program webhook_program = {
    .name = "herd-webhook serve",
    .summary = "Answers AdmissionReviews of Stacks at /mutate and /validate, over TLS.",
    .flags = flag_rows,
    .flag_count = FLAG_COUNT,
};

/* A review takes tens of microseconds: more event threads than this help nobody. */
enum { EVENT_THREADS_BY_ITSELF = 4 };

static const char *text_of(const struct flag_values *flags, enum flag_id id, struct arena *arena)
{
    return str_z(arena, flags->values[id].text);
}

static int check_words(const struct flag_values *flags, struct error *err)
{
    if (flags->rest.count == 0)
        return 0;
    return error_set(err, ERROR_BAD_REQUEST,
                     "serve takes flags only, and no word '%.*s'; write herd-webhook serve "
                     "[flags]; --help lists them",
                     STR_ARG(flags->rest.items[0]));
}

/* --- where clusters are read --- */

static int read_kubeconfig(struct arena *arena, const struct flag_values *flags,
                           struct kube_config_flags *ret_api, struct error *err)
{
    struct kube_config_flags api = {
        .file = text_of(flags, FLAG_KUBECONFIG, arena),
        .context = text_of(flags, FLAG_CONTEXT, arena),
        .in_cluster = flags->values[FLAG_IN_CLUSTER].number != 0,
    };

    if (kube_config_flags_check(&api, err) < 0)
        return -1;
    if (*api.context && !*api.file)
        return error_set(err, ERROR_BAD_REQUEST,
                         "--context names a context of --kubeconfig, which is not set; give both");
    *ret_api = api;
    return 0;
}

/* Where users are asked about, a thread waits now and then, and others should go on meanwhile. */
static uint32_t count_threads(const struct webhook_options *options, int64_t wanted,
                              uint32_t processors)
{
    if (wanted > 0)
        return (uint32_t)wanted;
    if (options->check_access && kube_config_flags_given(&options->api))
        return EVENT_THREADS_BY_ITSELF;
    if (processors < 1)
        return 1;
    return processors > EVENT_THREADS_BY_ITSELF ? EVENT_THREADS_BY_ITSELF : processors;
}

int webhook_options_read(struct arena *arena, const struct flag_values *flags, uint32_t processors,
                         struct webhook_options *ret_options, struct error *err)
{
    const struct flag_value *values = flags->values;
    struct webhook_options options = {
        .version = values[FLAG_VERSION].number != 0,
        .listen_from = values[FLAG_LISTEN].from,
        .metrics_from = values[FLAG_METRICS_LISTEN].from,
        .certificate_file = text_of(flags, FLAG_TLS_CERT_FILE, arena),
        .key_file = text_of(flags, FLAG_TLS_KEY_FILE, arena),
        .client_ca_file = text_of(flags, FLAG_CLIENT_CA_FILE, arena),
        .check_access = values[FLAG_CHECK_ACCESS].number != 0,
        .config_file = text_of(flags, FLAG_CONFIG_FILE, arena),
        .drain_ms = values[FLAG_DRAIN].number,
        .seccomp = webhook_sandbox_mode(values[FLAG_SECCOMP].text),
    };

    if (options.version) {
        *ret_options = options;
        return 0;
    }
    if (check_words(flags, err) < 0)
        return -1;
    if (address_parse(arena, values[FLAG_LISTEN].text, &options.listen_host, &options.listen_port,
                      err) < 0)
        return error_wrap(err, "%s", values[FLAG_LISTEN].from);
    if (address_parse(arena, values[FLAG_METRICS_LISTEN].text, &options.metrics_host,
                      &options.metrics_port, err) < 0)
        return error_wrap(err, "%s", values[FLAG_METRICS_LISTEN].from);
    if (read_kubeconfig(arena, flags, &options.api, err) < 0 ||
        configuration_read_flags(&values[FLAG_RULE_SEVERITY], &values[FLAG_ALLOW_PLAIN_HTTP],
                                 &options.configuration, err) < 0 ||
        span_target_read(arena, &values[FLAG_OTLP_ENDPOINT], &values[FLAG_OTLP_CA_FILE],
                         &values[FLAG_OTLP_HEADERS_FILE], &options.spans, err) < 0)
        return -1;
    options.event_threads = count_threads(&options, values[FLAG_THREADS].number, processors);
    *ret_options = options;
    return 0;
}
