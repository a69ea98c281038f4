/* options.c: from flags to what the parts are created with. Pure. */
#include "webhook/options.h"

#include "base/limits.h"

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
    "herd-webhook serve",
    "The admission webhook of Herd: answers AdmissionReviews of Stacks at /mutate and /validate.",
    flag_rows,
    FLAG_COUNT,
};

/* A review takes tens of microseconds: more event threads than this help nobody. */
enum { EVENT_THREADS_BY_ITSELF = 4 };

static const char *text_of(const struct flag_values *flags, enum flag_id id, struct arena *arena)
{
    return str_z(arena, flags->values[id].text);
}

static int check_words(const struct flag_values *flags, struct error *err)
{
    struct str_list words = flags->rest;

    if (words.count == 0)
        return error_set(err, ERROR_BAD_REQUEST,
                         "say what to do: herd-webhook serve [flags]; --help lists them");
    if (!str_eq(words.items[0], STR("serve")))
        return error_set(err, ERROR_BAD_REQUEST,
                         "there is no command '%.*s'; write herd-webhook serve [flags]; --help "
                         "lists them",
                         STR_ARG(words.items[0]));
    if (words.count > 1)
        return error_set(err, ERROR_BAD_REQUEST,
                         "serve takes flags only, and no word '%.*s'; write herd-webhook serve "
                         "[flags]; --help lists them",
                         STR_ARG(words.items[1]));
    return 0;
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

/* --- severities of rules --- */

static int unknown_rule(const char *origin, struct str name, struct error *err)
{
    struct str_nearest nearest = { .name = name };

    for (enum rule_id id = 0; id < RULE_COUNT; id++)
        str_nearest_try(&nearest, str_of(rule_of(id)->name));
    if (nearest.found.len)
        return error_set(err, ERROR_BAD_REQUEST,
                         "%s: there is no rule '%.*s'; did you mean %.*s?", origin, STR_ARG(name),
                         STR_ARG(nearest.found));
    return error_set(err, ERROR_BAD_REQUEST,
                     "%s: there is no rule '%.*s'; docs/rules.md lists them", origin,
                     STR_ARG(name));
}

/* "rule=severity" */
static int read_severity(const char *origin, struct str part, bool seen[RULE_COUNT],
                         struct rule_severities *severities, struct error *err)
{
    ptrdiff_t equals = str_find_char(part, '=', 0);
    struct str name = str_trim(str_slice(part, 0, equals < 0 ? 0 : (size_t)equals));
    struct str word = str_trim(str_slice(part, (size_t)equals + 1, part.len));
    enum severity severity;
    enum rule_id rule;

    if (equals < 0)
        return error_set(err, ERROR_BAD_REQUEST,
                         "%s: '%.*s' is not rule=severity, e.g. gpu.no-provider=deny", origin,
                         STR_ARG(part));
    if (!rule_from(name, &rule))
        return unknown_rule(origin, name, err);
    if (seen[rule])
        return error_set(err, ERROR_BAD_REQUEST,
                         "%s: %.*s stands twice; keep one of the two", origin, STR_ARG(name));
    if (!severity_from(word, &severity))
        return error_set(err, ERROR_BAD_REQUEST,
                         "%s: %.*s: '%.*s' is not a severity; write deny, warn, audit or off",
                         origin, STR_ARG(name), STR_ARG(word));
    if (rule_is_fixed(rule) && severity != SEVERITY_DENY)
        return error_set(err, ERROR_BAD_REQUEST,
                         "%s: %.*s can only deny, because all else relies on it; leave it out",
                         origin, STR_ARG(name));
    seen[rule] = true;
    severities->of[rule] = severity;
    return 0;
}

/* "rule=severity,rule=severity" over the defaults. */
static int read_severities(const struct flag_value *flag, struct rule_severities *ret_severities,
                           struct error *err)
{
    struct str text = flag->text;
    struct rule_severities severities = rule_severities_default();
    bool seen[RULE_COUNT] = { false };
    struct str part;

    while (text.len && str_split(&text, ',', &part))
        if (read_severity(flag->from, str_trim(part), seen, &severities, err) < 0)
            return -1;
    *ret_severities = severities;
    return 0;
}

static uint32_t count_threads(int64_t wanted, uint32_t processors)
{
    if (wanted > 0)
        return (uint32_t)wanted;
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
        .event_threads = count_threads(values[FLAG_THREADS].number, processors),
        .plain_http_allowed = values[FLAG_ALLOW_PLAIN_HTTP].number != 0,
        .drain_ms = values[FLAG_DRAIN].number,
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
        read_severities(&values[FLAG_RULE_SEVERITY], &options.severities, err) < 0)
        return -1;
    *ret_options = options;
    return 0;
}
