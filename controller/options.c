/* SPDX-License-Identifier: Apache-2.0 */
/* options.c: from flags to what the parts are created with. */
#include "controller/options.h"

#include "controller/console/identity.h"
#include "controller/reconcilers/workload/measurements_wire.h"
#include "io/file.h"
#include "kube/names.h"
#include "text/enumerate.h"

#include <arpa/inet.h>
#include <string.h>
#include <unistd.h>

enum flag_id {
#define FLAG FLAG_AS_ID
#include "controller/flags.def"
#undef FLAG
    FLAG_COUNT
};

static const struct flag_row flag_rows[FLAG_COUNT] = {
#define FLAG FLAG_AS_ROW
#include "controller/flags.def"
#undef FLAG
};

const struct program controller_program = {
    .name = "herd-controller",
    .summary = "The controller of Herd: brings what Stacks say to their clusters through Rancher, "
               "and keeps their status true. `herd-controller report` prints what scans found in "
               "the images of a Stack; `herd-controller report --help` tells more.",
    .flags = flag_rows,
    .flag_count = FLAG_COUNT,
};

enum { TOKEN_BYTES_MAX = 64 * 1024, CONSOLE_PORT = 3000 };

static struct str text_of(const struct flag_values *flags, enum flag_id id)
{
    return flags->values[id].text;
}

static int read_api(struct arena *arena, const struct flag_values *flags,
                    struct kube_config *ret_config, struct error *err)
{
    struct kube_config_flags wanted = {
        .file = str_z(arena, text_of(flags, FLAG_KUBECONFIG)),
        .context = str_z(arena, text_of(flags, FLAG_CONTEXT)),
        .in_cluster = flags->values[FLAG_IN_CLUSTER].number != 0,
    };

    return kube_config_from_flags(arena, &wanted, ret_config, err);
}

static int read_token_file(struct arena *arena, const struct flag_value *flag, struct error *err)
{
    struct str name = flag->text;
    struct str token;

    if (name.len == 0)
        return error_set(err, ERROR_BAD_REQUEST,
                         "--rancher-token-file is not set; name a file with a Rancher API token "
                         "(Rancher: Account & API Keys)");
    if (file_read(arena, str_z(arena, name), TOKEN_BYTES_MAX, &token, err) < 0)
        return error_wrap(err, "%s", flag->from);
    token = str_trim(token);
    if (token.len == 0)
        return error_set(err, ERROR_BAD_REQUEST,
                         "%s: %.*s is empty; put a Rancher API token into it", flag->from,
                         STR_ARG(name));
    if (str_find_char(token, ':', 0) < 0 && !str_starts(token, STR("ext/")))
        return error_set(err, ERROR_BAD_REQUEST,
                         "%s: %.*s does not hold a Rancher API token, which looks like "
                         "token-abcde:secret",
                         flag->from, STR_ARG(name));
    return 0;
}

/* https://host[:port]: slashes at the end are dropped; paths of requests follow it. */
static bool read_origin(struct str *url, struct str scheme_text)
{
    const size_t scheme = scheme_text.len;
    struct str origin = *url;

    if (!str_starts(origin, scheme_text))
        return false;
    while (origin.len > scheme && origin.at[origin.len - 1] == '/')
        origin.len--;
    for (size_t i = scheme; i < origin.len; i++)
        if (strchr("/?#@ ", origin.at[i]))
            return false;
    if (origin.len == scheme)
        return false;
    *url = origin;
    return true;
}

static int read_url(const struct flag_value *flag, struct str *ret_url, struct error *err)
{
    *ret_url = flag->text;
    if (!read_origin(ret_url, STR("https://")))
        return error_set(err, ERROR_BAD_REQUEST,
                         "%s: '%.*s' is not an address of the form https://host[:port]; leave "
                         "out what comes after that",
                         flag->from, STR_ARG(flag->text));
    return 0;
}

static int read_rancher(struct arena *arena, const struct flag_values *flags,
                        struct kube_config *ret_config, struct error *err)
{
    struct str url = text_of(flags, FLAG_RANCHER_URL);
    struct str token_file = text_of(flags, FLAG_RANCHER_TOKEN_FILE);
    struct str ca = STR("");

    if (url.len == 0)
        return error_set(err, ERROR_BAD_REQUEST,
                         "--rancher-url is not set; give Rancher's address, e.g. "
                         "--rancher-url https://rancher.example.com");
    if (read_url(&flags->values[FLAG_RANCHER_URL], &url, err) < 0)
        return -1;
    if (read_token_file(arena, &flags->values[FLAG_RANCHER_TOKEN_FILE], err) < 0)
        return -1;
    if (program_read_ca(arena, &flags->values[FLAG_RANCHER_CA_FILE], &ca, err) < 0)
        return -1;
    *ret_config = (struct kube_config){
        .server = url,
        .ca_pem = ca,
        .certificate_pem = STR(""),
        .key_pem = STR(""),
        .token = STR(""),
        .token_file = token_file,
        .tls_server_name = STR(""),
        .namespace_ = STR(""),
        .insecure = flags->values[FLAG_RANCHER_INSECURE].number != 0,
    };
    return 0;
}

static int read_prometheus(struct arena *arena, const struct flag_values *flags,
                           struct options *options, struct error *err)
{
    const struct flag_value *url = &flags->values[FLAG_PROMETHEUS_URL];
    const struct flag_value *label = &flags->values[FLAG_PROMETHEUS_LABEL];

    options->prometheus_url = url->text;
    options->prometheus_interval_ms = flags->values[FLAG_PROMETHEUS_INTERVAL].number;
    if (url->text.len && !read_origin(&options->prometheus_url, STR("http://")) &&
        !read_origin(&options->prometheus_url, STR("https://")))
        return error_set(err, ERROR_BAD_REQUEST,
                         "%s: '%.*s' is not an address of the form http[s]://host[:port]; leave "
                         "out what comes after that",
                         url->from, STR_ARG(url->text));
    if (label->text.len && !measurements_matcher(arena, label->text, &options->prometheus_matcher))
        return error_set(err, ERROR_BAD_REQUEST,
                         "%s: Invalid value: '%.*s': must be a label of Prometheus and its value, "
                         "such as cluster=prod-1",
                         label->from, STR_ARG(label->text));
    return program_read_ca(arena, &flags->values[FLAG_PROMETHEUS_CA], &options->prometheus_ca, err);
}

/* The token is read when it is needed: its Secret may come later. */
static int read_suse_observability(struct arena *arena, const struct flag_values *flags,
                                   struct options *options, struct error *err)
{
    const struct flag_value *url = &flags->values[FLAG_SUSE_URL];
    struct kube_config *config = &options->suse_observability;

    options->suse_folder = str_z(arena, text_of(flags, FLAG_SUSE_CREDENTIALS));
    if (!url->text.len)
        return 0;
    if (read_url(url, &config->server, err) < 0 ||
        program_read_ca(arena, &flags->values[FLAG_SUSE_CA], &config->ca_pem, err) < 0)
        return -1;
    if (!options->suse_folder[0])
        return error_set(
            err, ERROR_BAD_REQUEST,
            "--suse-observability-url is set and --suse-observability-credentials-dir is "
            "not; name a folder with a service token of SUSE Observability in the "
            "file token");
    return 0;
}

static int read_lease(struct arena *arena, const struct flag_values *flags, uint64_t seed,
                      struct options *options, struct error *err)
{
    struct str identity = text_of(flags, FLAG_LEADER_IDENTITY);
    struct str namespace_ = text_of(flags, FLAG_LEADER_NAMESPACE);
    char host[256] = "herd-controller";

    options->leader_elect = flags->values[FLAG_LEADER_ELECT].number != 0;
    options->lease_name = text_of(flags, FLAG_LEADER_NAME);
    if (namespace_.len == 0)
        namespace_ = options->api.namespace_.len ? options->api.namespace_ : STR("default");
    options->lease_namespace = namespace_;
    if (identity.len == 0) {
        gethostname(host, sizeof(host) - 1);
        identity = str_of(host);
    }
    /* A restarted process is another one: it must not take its predecessor's lease for its own. */
    options->identity = str_fmt(arena, "%.*s_%016llx", STR_ARG(str_slice(identity, 0, 100)),
                                (unsigned long long)seed);
    if (kube_not_dns1123_subdomain(options->lease_name))
        return error_set(err, ERROR_BAD_REQUEST, "--leader-elect-name: '%.*s': %s",
                         STR_ARG(options->lease_name),
                         kube_not_dns1123_subdomain(options->lease_name));
    if (kube_not_dns1123_label(namespace_))
        return error_set(err, ERROR_BAD_REQUEST, "--leader-elect-namespace: '%.*s': %s",
                         STR_ARG(namespace_), kube_not_dns1123_label(namespace_));
    return 0;
}

/* The webhook's own certificates. */

static int check_names(const struct flag_values *flags, struct error *err)
{
    static const enum flag_id ids[] = { FLAG_WEBHOOK_SERVICE, FLAG_WEBHOOK_CONFIGURATION,
                                        FLAG_WEBHOOK_SECRET, FLAG_WEBHOOK_CA_SECRET };

    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        const char *wrong = kube_not_dns1123_subdomain(text_of(flags, ids[i]));

        if (wrong)
            return error_set(err, ERROR_BAD_REQUEST, "%s: '%.*s': %s", flags->values[ids[i]].from,
                             STR_ARG(text_of(flags, ids[i])), wrong);
    }
    if (str_eq(text_of(flags, FLAG_WEBHOOK_SECRET), text_of(flags, FLAG_WEBHOOK_CA_SECRET)))
        return error_set(err, ERROR_BAD_REQUEST,
                         "--webhook-secret and --webhook-ca-secret name one Secret; the CA's key "
                         "is not for the webhook: name two");
    return 0;
}

static int read_policy(const struct flag_values *flags, struct serving_policy *ret_policy,
                       struct error *err)
{
    const struct serving_policy policy = {
        .leaf_lifetime_ms = flags->values[FLAG_WEBHOOK_LIFETIME].number,
        .leaf_renew_before_ms = flags->values[FLAG_WEBHOOK_RENEW_BEFORE].number,
        .ca_lifetime_ms = flags->values[FLAG_WEBHOOK_CA_LIFETIME].number,
        .ca_renew_before_ms = flags->values[FLAG_WEBHOOK_CA_RENEW_BEFORE].number,
        .settle_ms = flags->values[FLAG_WEBHOOK_SETTLE].number,
    };

    if (policy.leaf_renew_before_ms >= policy.leaf_lifetime_ms)
        return error_set(err, ERROR_BAD_REQUEST,
                         "--webhook-certificate-renew-before is not shorter than "
                         "--webhook-certificate-lifetime: it would be renewed without end");
    if (policy.ca_renew_before_ms >= policy.ca_lifetime_ms)
        return error_set(err, ERROR_BAD_REQUEST,
                         "--webhook-ca-renew-before is not shorter than --webhook-ca-lifetime: the "
                         "CA would be renewed without end");
    /* What a CA signs last must outlive the handing over to the next. */
    if (policy.ca_renew_before_ms < policy.leaf_lifetime_ms + 2 * policy.settle_ms)
        return error_set(err, ERROR_BAD_REQUEST,
                         "--webhook-ca-renew-before is shorter than --webhook-certificate-lifetime "
                         "and twice --webhook-ca-settle: certificates would end with their CA");
    *ret_policy = policy;
    return 0;
}

static int add_names(struct arena *arena, struct str text, struct certificate_names *names,
                     struct error *err)
{
    struct str part;

    while (text.len && str_split(&text, ',', &part)) {
        unsigned char bytes[sizeof(struct in6_addr)];
        const char *z = str_z(arena, str_trim(part));
        bool is_address = inet_pton(AF_INET, z, bytes) == 1 || inet_pton(AF_INET6, z, bytes) == 1;

        if (!is_address && kube_not_dns1123_subdomain(str_of(z)))
            return error_set(err, ERROR_BAD_REQUEST, "--webhook-names: '%s': %s", z,
                             kube_not_dns1123_subdomain(str_of(z)));
        str_list_push(is_address ? &names->addresses : &names->dns_names, str_of(z));
    }
    return 0;
}

static int read_certificates(struct arena *arena, const struct flag_values *flags,
                             struct options *options, struct error *err)
{
    struct str namespace_ = text_of(flags, FLAG_WEBHOOK_NAMESPACE);
    struct str service = text_of(flags, FLAG_WEBHOOK_SERVICE);
    struct certificate_names names = {
        .namespace_ = namespace_.len ? namespace_ : options->lease_namespace,
        .ca_secret = text_of(flags, FLAG_WEBHOOK_CA_SECRET),
        .leaf_secret = text_of(flags, FLAG_WEBHOOK_SECRET),
        .configuration = text_of(flags, FLAG_WEBHOOK_CONFIGURATION),
        .workloads =
            str_fmt(arena, "%.*s-workloads", STR_ARG(text_of(flags, FLAG_WEBHOOK_CONFIGURATION))),
        .dns_names = str_list_new(arena, 4),
        .addresses = str_list_new(arena, 4),
    };

    options->own_certificates = str_eq(text_of(flags, FLAG_WEBHOOK_CERTIFICATES), STR("own"));
    if (!options->own_certificates)
        return 0;
    if (kube_not_dns1123_label(names.namespace_))
        return error_set(err, ERROR_BAD_REQUEST, "--webhook-namespace: '%.*s': %s",
                         STR_ARG(names.namespace_), kube_not_dns1123_label(names.namespace_));
    if (check_names(flags, err) < 0 || read_policy(flags, &options->certificate_policy, err) < 0)
        return -1;
    str_list_push(&names.dns_names,
                  str_fmt(arena, "%.*s.%.*s.svc", STR_ARG(service), STR_ARG(names.namespace_)));
    str_list_push(&names.dns_names, str_fmt(arena, "%.*s.%.*s.svc.cluster.local", STR_ARG(service),
                                            STR_ARG(names.namespace_)));
    if (add_names(arena, text_of(flags, FLAG_WEBHOOK_NAMES), &names, err) < 0)
        return -1;
    options->certificate_names = names;
    return 0;
}

static const struct str kind_names[WORKLOAD_KIND_COUNT] = {
#define WORKLOAD_KIND(name, row, check) STR_INIT(#name),
#include "workload/workload_kinds.def"
#undef WORKLOAD_KIND
};

static int no_kind(struct arena *arena, const struct flag_value *flag, struct str name,
                   struct error *err)
{
    struct enumeration names = enumeration_new(arena, WORKLOAD_KIND_COUNT);

    for (int i = 0; i < WORKLOAD_KIND_COUNT; i++)
        enumeration_add(&names, kind_names[i]);
    return error_set(err, ERROR_BAD_REQUEST,
                     "%s: '%.*s' is not a kind; give stack, and any of %.*s, separated by commas",
                     flag->from, STR_ARG(name), STR_ARG(enumeration_text(&names)));
}

/* A typo must not leave a kind unattended: what is no kind is rejected. */
static int read_kinds(struct arena *arena, const struct flag_value *flag, struct options *options,
                      struct error *err)
{
    struct str rest = flag->text;
    struct str name;
    bool stack = false;

    options->kinds_named = rest.len > 0;
    for (int i = 0; i < WORKLOAD_KIND_COUNT; i++)
        options->kinds[i] = !options->kinds_named;
    while (rest.len && str_split(&rest, ',', &name)) {
        int which = 0;

        name = str_trim(name);
        stack |= str_eq(name, STR("stack"));
        while (which < WORKLOAD_KIND_COUNT && !str_eq(kind_names[which], name))
            which++;
        if (which < WORKLOAD_KIND_COUNT)
            options->kinds[which] = true;
        else if (!str_eq(name, STR("stack")))
            return no_kind(arena, flag, name, err);
    }
    if (options->kinds_named && !stack)
        return error_set(err, ERROR_BAD_REQUEST,
                         "%s: it lacks stack, which is always reconciled; write stack,%.*s",
                         flag->from, STR_ARG(flag->text));
    return 0;
}

/* PORT, ADDRESS:PORT or ADDRESS; unlike --metrics-listen, which holds no secrets, on this machine
 * alone if no address is given. */
static int read_console_address(struct arena *arena, const struct flag_value *flag,
                                struct console_settings *console, struct error *err)
{
    struct str text = flag->text;
    uint64_t port;
    bool has_port = str_ends(text, STR("]")) ? false : str_find_char(text, ':', 0) >= 0;

    if (str_to_u64(text, &port))
        text = str_fmt(arena, "127.0.0.1:%.*s", STR_ARG(text));
    else if (!has_port)
        text = str_fmt(arena, "%.*s:%d", STR_ARG(text), CONSOLE_PORT);
    if (address_parse(arena, text, &console->host, &console->port, err) < 0)
        return error_wrap(err, "%s", flag->from);
    return 0;
}

static int read_console(struct arena *arena, const struct flag_values *flags,
                        struct console_settings *console, struct error *err)
{
    const struct flag_value *listen = &flags->values[FLAG_CONSOLE_LISTEN];
    struct str certificate = text_of(flags, FLAG_CONSOLE_TLS_CERT);
    struct str key = text_of(flags, FLAG_CONSOLE_TLS_KEY);

    console->is_on = listen->text.len > 0;
    console->certificate_file = str_z(arena, certificate);
    console->key_file = str_z(arena, key);
    console->serves_anonymous = str_eq(text_of(flags, FLAG_CONSOLE_ANONYMOUS), STR("loopback"));
    if (!console->is_on)
        return 0;
    if (read_console_address(arena, listen, console, err) < 0)
        return -1;
    if (console->serves_anonymous && flags->values[FLAG_IN_CLUSTER].number)
        return error_set(err, ERROR_BAD_REQUEST,
                         "--console-anonymous=loopback is not for a pod (--in-cluster): whoever "
                         "may forward a port to it would have the controller's rights; leave it "
                         "out, and send tokens");
    if (!certificate.len != !key.len)
        return error_set(err, ERROR_BAD_REQUEST,
                         "--console-tls-cert-file and --console-tls-key-file go together; set both "
                         "or neither");
    if (!certificate.len && !flags->values[FLAG_CONSOLE_PLAIN].number &&
        !address_is_loopback(str_of(console->host)))
        return error_set(err, ERROR_BAD_REQUEST,
                         "%s: '%.*s' can be reached from other machines, and the tokens of callers "
                         "would travel there in plain text; set --console-tls-cert-file and "
                         "--console-tls-key-file, or listen on 127.0.0.1:PORT, or, where something "
                         "else encrypts the way, set --console-allow-plain-http",
                         listen->from, STR_ARG(listen->text));
    return 0;
}

int options_read(struct arena *arena, const struct flag_values *flags, uint64_t seed,
                 struct options *ret_options, struct error *err)
{
    struct options options = {
        .namespace_ = text_of(flags, FLAG_NAMESPACE),
        .workers = (uint32_t)flags->values[FLAG_WORKERS].number,
        .cluster_operations = (uint32_t)flags->values[FLAG_CLUSTER_OPERATIONS].number,
        .settle_ms = flags->values[FLAG_RANCHER_SETTLE].number,
        .resync_ms = flags->values[FLAG_RESYNC].number,
        .config_file = str_z(arena, text_of(flags, FLAG_CONFIG_FILE)),
        .cluster_inventories = flags->values[FLAG_CLUSTER_INVENTORIES].number != 0,
        .inventory_interval_ms = flags->values[FLAG_INVENTORY_INTERVAL].number,
        .check_access = flags->values[FLAG_CHECK_ACCESS].number != 0,
        .neuvector_folder = str_z(arena, text_of(flags, FLAG_NEUVECTOR_CREDENTIALS)),
        .neuvector_interval_ms = flags->values[FLAG_NEUVECTOR_INTERVAL].number,
        .policy_audit = flags->values[FLAG_POLICY_AUDIT].number != 0,
        .pod_name = text_of(flags, FLAG_LEADER_IDENTITY),
        .pod_uid = text_of(flags, FLAG_POD_UID),
        .version = flags->values[FLAG_VERSION].number != 0,
    };

    if (options.version) {
        *ret_options = options;
        return 0;
    }
    if (flags->rest.count)
        return error_set(err, ERROR_BAD_REQUEST,
                         "herd-controller takes flags only, not '%.*s'; --help lists them",
                         STR_ARG(flags->rest.items[0]));
    if (options.namespace_.len && kube_not_dns1123_label(options.namespace_))
        return error_set(err, ERROR_BAD_REQUEST, "--namespace: '%.*s': %s",
                         STR_ARG(options.namespace_), kube_not_dns1123_label(options.namespace_));
    if (read_kinds(arena, &flags->values[FLAG_KINDS], &options, err) < 0)
        return -1;
    if (address_parse(arena, text_of(flags, FLAG_METRICS_LISTEN), &options.listen_host,
                      &options.listen_port, err) < 0)
        return error_wrap(err, "%s", flags->values[FLAG_METRICS_LISTEN].from);
    if (read_console(arena, flags, &options.console, err) < 0)
        return -1;
    if (configuration_read_flags(&flags->values[FLAG_RULE_SEVERITY],
                                 &flags->values[FLAG_ALLOW_PLAIN_HTTP], &options.configuration,
                                 err) < 0)
        return -1;
    if (read_rancher(arena, flags, &options.rancher, err) < 0 ||
        read_suse_observability(arena, flags, &options, err) < 0 ||
        read_prometheus(arena, flags, &options, err) < 0 ||
        read_api(arena, flags, &options.api, err) < 0 ||
        read_lease(arena, flags, seed, &options, err) < 0 ||
        span_target_read(arena, &flags->values[FLAG_OTLP_ENDPOINT],
                         &flags->values[FLAG_OTLP_CA_FILE], &flags->values[FLAG_OTLP_HEADERS_FILE],
                         &options.spans, err) < 0 ||
        read_certificates(arena, flags, &options, err) < 0)
        return -1;
    *ret_options = options;
    return 0;
}
