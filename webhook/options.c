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
    if (flags->rest.count == 1 && str_eq(flags->rest.items[0], STR("serve")))
        return 0;
    return error_set(err, ERROR_BAD_REQUEST,
                     "say what to do: herd-webhook serve [flags]; --help lists them");
}

/* --- where clusters are read --- */

static int read_kubeconfig(struct arena *arena, const struct flag_values *flags,
                           struct webhook_options *options, struct error *err)
{
    options->kubeconfig = text_of(flags, FLAG_KUBECONFIG, arena);
    options->context = text_of(flags, FLAG_CONTEXT, arena);
    options->in_cluster = flags->values[FLAG_IN_CLUSTER].number != 0;
    if (options->in_cluster && (*options->kubeconfig || *options->context))
        return error_set(err, ERROR_BAD_REQUEST,
                         "--in-cluster excludes --kubeconfig and --context; give one of both");
    if (*options->context && !*options->kubeconfig)
        return error_set(err, ERROR_BAD_REQUEST,
                         "--context names a context of --kubeconfig, which is not set; give both");
    return 0;
}

/* --- severities of rules --- */

static int unknown_rule(struct str name, struct error *err)
{
    uint32_t best = (uint32_t)(name.len / 3 + 1);
    const char *nearest = NULL;

    for (enum rule_id id = 0; id < RULE_COUNT; id++) {
        uint32_t distance = str_distance(name, str_of(rule_of(id)->name), best);

        if (distance < best) {
            best = distance;
            nearest = rule_of(id)->name;
        }
    }
    if (nearest)
        return error_set(err, ERROR_BAD_REQUEST,
                         "--rule-severity: there is no rule '%.*s'; did you mean %s?",
                         STR_ARG(name), nearest);
    return error_set(err, ERROR_BAD_REQUEST,
                     "--rule-severity: there is no rule '%.*s'; docs/rules.md lists them",
                     STR_ARG(name));
}

/* "rule=severity" */
static int read_severity(struct str part, bool seen[RULE_COUNT], struct rule_severities *severities,
                         struct error *err)
{
    ptrdiff_t equals = str_find_char(part, '=', 0);
    struct str name = str_trim(str_slice(part, 0, equals < 0 ? 0 : (size_t)equals));
    struct str word = str_trim(str_slice(part, (size_t)equals + 1, part.len));
    enum severity severity;
    enum rule_id rule;

    if (equals < 0)
        return error_set(err, ERROR_BAD_REQUEST,
                         "--rule-severity: '%.*s' is not rule=severity, e.g. gpu.no-provider=deny",
                         STR_ARG(part));
    if (!rule_from(name, &rule))
        return unknown_rule(name, err);
    if (seen[rule])
        return error_set(err, ERROR_BAD_REQUEST,
                         "--rule-severity: %.*s stands twice; keep one of the two", STR_ARG(name));
    if (!severity_from(word, &severity))
        return error_set(err, ERROR_BAD_REQUEST,
                         "--rule-severity: %.*s: '%.*s' is not a severity; write deny, warn or off",
                         STR_ARG(name), STR_ARG(word));
    if (rule_is_fixed(rule) && severity != SEVERITY_DENY)
        return error_set(err, ERROR_BAD_REQUEST,
                         "--rule-severity: %.*s can only deny, because all else relies on it; "
                         "leave it out",
                         STR_ARG(name));
    seen[rule] = true;
    severities->of[rule] = severity;
    return 0;
}

/* "rule=severity,rule=severity" over the defaults. */
static int read_severities(struct str text, struct rule_severities *ret_severities,
                           struct error *err)
{
    struct rule_severities severities = rule_severities_default();
    bool seen[RULE_COUNT] = { false };
    struct str part;

    while (text.len && str_split(&text, ',', &part))
        if (read_severity(str_trim(part), seen, &severities, err) < 0)
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
        return error_wrap(err, "--listen");
    if (address_parse(arena, values[FLAG_METRICS_LISTEN].text, &options.metrics_host,
                      &options.metrics_port, err) < 0)
        return error_wrap(err, "--metrics-listen");
    if (read_kubeconfig(arena, flags, &options, err) < 0 ||
        read_severities(values[FLAG_RULE_SEVERITY].text, &options.severities, err) < 0)
        return -1;
    *ret_options = options;
    return 0;
}
