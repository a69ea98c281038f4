/* SPDX-License-Identifier: Apache-2.0 */
/* kubeconfig.c: kubeconfig files, merged, to one server and one identity.
 *
 * Several files are searched in their order for the current context and for each name: the first
 * that has it counts, as clientcmd merges them. Relative names of files are relative to the
 * kubeconfig that says them. What Herd cannot do with an identity (plugins, passwords, proxies) is
 * rejected by name, never skipped: who is asked for must be who is sent. */
#include "runtime/kubeconfig.h"

#include "io/file.h"
#include "text/base64.h"
#include "text/limits.h"
#include "text/yaml.h"

#include <stdlib.h>

enum { FILE_BYTES = LIMIT_YAML_TEXT, PEM_BYTES = 1024 * 1024 };

#define SERVICE_ACCOUNT "/var/run/secrets/kubernetes.io/serviceaccount/"

struct source {
    struct str file;
    struct json root;
};

LIST_DEFINE(source_list, struct source)

/* Where a field is looked for: for messages, and to resolve relative names. */
struct entry {
    struct arena *arena;
    const struct source *source;
    struct str context;
    const char *list; /* "clusters", "users", "contexts" */
    struct str name;
    struct json value; /* its cluster, user or context */
};

static int reject(const struct entry *entry, const char *field, struct error *err, const char *why)
{
    return error_set(err, ERROR_INVALID, "kubeconfig %.*s, context \"%.*s\": %s[%.*s].%s: %s",
                     STR_ARG(str_shown(entry->arena, entry->source->file, 200)),
                     STR_ARG(str_shown(entry->arena, entry->context, 80)), entry->list,
                     STR_ARG(str_shown(entry->arena, entry->name, 80)), field, why);
}

static int read_source(struct arena *arena, struct str file, struct source *ret_source,
                       struct error *err)
{
    struct json_limits limits = json_limits_default;
    struct yaml_documents documents;
    struct json root;
    struct str text;

    if (file_read(arena, str_z(arena, file), FILE_BYTES, &text, err) < 0)
        return -1;
    if (yaml_read(arena, text, &documents, err) < 0)
        return error_wrap(err, "kubeconfig %.*s", STR_ARG(str_shown(arena, file, 200)));
    if (documents.count == 0 || str_eq(documents.items[0].json, STR("null"))) {
        *ret_source = (struct source){ file, { NULL, 0 } };
        return 0;
    }
    limits.string_max = 2 * LIMIT_JSON_STRING;
    if (json_read(arena, documents.items[0].json, &limits, &root, err) < 0)
        return error_wrap(err, "kubeconfig %.*s", STR_ARG(str_shown(arena, file, 200)));
    if (documents.count > 1 || !json_is(root, JSON_OBJECT))
        return error_set(err, ERROR_INVALID, "kubeconfig %.*s: must be one document of kind Config",
                         STR_ARG(str_shown(arena, file, 200)));
    *ret_source = (struct source){ file, root };
    return 0;
}

static struct json find_named(const struct source *source, struct str list, struct str name)
{
    for (struct json_iter it = json_iter(json_get(source->root, list)); json_next(&it);)
        if (str_eq(json_str(json_get(it.value, STR("name"))), name))
            return it.value;
    return (struct json){ NULL, 0 };
}

static int find_entry(struct arena *arena, const struct source_list *sources, struct str context,
                      const char *list, struct str member, struct str name, struct entry *ret_entry,
                      struct error *err)
{
    for (uint32_t i = 0; i < sources->count; i++) {
        const struct source *source = &sources->items[i];
        struct json named = find_named(source, str_of(list), name);

        if (!json_is(named, JSON_OBJECT))
            continue;
        *ret_entry = (struct entry){ arena, source, context, list, name, json_get(named, member) };
        return 0;
    }
    return error_set(err, ERROR_NOT_FOUND,
                     "kubeconfig %.*s, context \"%.*s\": %s has no entry \"%.*s\": name one that "
                     "stands there, or add it",
                     STR_ARG(str_shown(arena, sources->items[0].file, 200)),
                     STR_ARG(str_shown(arena, context, 80)), list,
                     STR_ARG(str_shown(arena, name, 80)));
}

static int get_text(const struct entry *entry, const char *field, struct str *ret_text,
                    struct error *err)
{
    struct json value = json_get(entry->value, str_of(field));

    if (json_kind(value) <= JSON_NULL)
        return 0;
    if (!json_is(value, JSON_STRING))
        return reject(entry, field, err, "must be a string: put it into quotes");
    *ret_text = str_dup(entry->arena, json_str(value));
    return 0;
}

/* A file name as the kubeconfig means it. */
static struct str resolve(const struct entry *entry, struct str name)
{
    struct str file = entry->source->file;
    size_t folder = file.len;

    if (name.len == 0 || name.at[0] == '/')
        return name;
    while (folder > 0 && file.at[folder - 1] != '/')
        folder--;
    return str_fmt(entry->arena, "%.*s%.*s", (int)folder, file.at, STR_ARG(name));
}

/* `field`-data as base64, or the file that `field` names; the data wins, as in clientcmd. */
static int get_pem(const struct entry *entry, const char *field, struct str *ret_pem,
                   struct error *err)
{
    const char *data_field = str_z(entry->arena, str_fmt(entry->arena, "%s-data", field));
    struct str data = STR("");
    struct str name = STR("");
    struct error inner;

    if (get_text(entry, data_field, &data, err) < 0 || get_text(entry, field, &name, err) < 0)
        return -1;
    if (data.len) {
        if (base64_decode(entry->arena, data, ret_pem, &inner) < 0)
            return reject(entry, data_field, err, "is not base64");
    } else if (name.len) {
        if (file_read(entry->arena, str_z(entry->arena, resolve(entry, name)), PEM_BYTES, ret_pem,
                      &inner) < 0)
            return reject(entry, field, err, inner.text);
    } else {
        return 0;
    }
    if (str_find(*ret_pem, STR("-----BEGIN "), 0) < 0)
        return reject(entry, data.len ? data_field : field, err,
                      "holds no PEM: expected a line that begins with -----BEGIN");
    return 0;
}

static int read_cluster(const struct entry *entry, struct kube_config *config, struct error *err)
{
    struct str proxy = STR("");

    if (get_text(entry, "server", &config->server, err) < 0 ||
        get_text(entry, "tls-server-name", &config->tls_server_name, err) < 0 ||
        get_text(entry, "proxy-url", &proxy, err) < 0 ||
        get_pem(entry, "certificate-authority", &config->ca_pem, err) < 0)
        return -1;
    if (config->server.len == 0)
        return reject(entry, "server", err, "is missing: set it to https://host:port");
    if (!str_starts(config->server, STR("https://")) && !str_starts(config->server, STR("http://")))
        return reject(entry, "server", err, "must begin with https:// (or http://)");
    while (str_ends(config->server, STR("/")))
        config->server.len--;
    if (proxy.len)
        return reject(entry, "proxy-url", err,
                      "proxies are not supported: remove it and give a server that is reached "
                      "directly");
    config->insecure = json_bool(json_get(entry->value, STR("insecure-skip-tls-verify")));
    if (config->insecure && config->ca_pem.len)
        return reject(entry, "insecure-skip-tls-verify", err,
                      "contradicts certificate-authority: keep one of the two");
    return 0;
}

/* What would make somebody else of us than the file says. */
static int reject_unknown_ways(const struct entry *entry, struct error *err)
{
    static const struct {
        const char *field;
        const char *why;
    } ways[] = {
        { "exec", "credential plugins are not run; make a token instead (kubectl create token "
                  "NAME --duration=24h) and set it as token or tokenFile" },
        { "auth-provider", "auth providers are not run; make a token instead (kubectl create "
                           "token NAME --duration=24h) and set it as token or tokenFile" },
        { "username", "passwords are not sent; use a token (kubectl create token NAME) or a "
                      "client certificate" },
        { "password", "passwords are not sent; use a token (kubectl create token NAME) or a "
                      "client certificate" },
        { "as", "impersonation is not supported; give the identity itself" },
    };

    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
        if (json_kind(json_get(entry->value, str_of(ways[i].field))) > JSON_NULL)
            return reject(entry, ways[i].field, err, ways[i].why);
    return 0;
}

static int read_user(const struct entry *entry, struct kube_config *config, struct error *err)
{
    if (reject_unknown_ways(entry, err) < 0 || get_text(entry, "token", &config->token, err) < 0 ||
        get_text(entry, "tokenFile", &config->token_file, err) < 0 ||
        get_pem(entry, "client-certificate", &config->certificate_pem, err) < 0 ||
        get_pem(entry, "client-key", &config->key_pem, err) < 0)
        return -1;
    if ((config->certificate_pem.len > 0) != (config->key_pem.len > 0))
        return reject(entry, config->key_pem.len ? "client-certificate" : "client-key", err,
                      "is missing: a client certificate and its key come together");
    if (config->token_file.len) {
        struct str unused;
        struct error inner;

        /* As clientcmd: the file that is re-read wins over the token that stands there. */
        config->token = STR("");
        config->token_file = resolve(entry, config->token_file);
        if (file_read(entry->arena, str_z(entry->arena, config->token_file), PEM_BYTES, &unused,
                      &inner) < 0)
            return reject(entry, "tokenFile", err, inner.text);
    }
    return 0;
}

static int pick(struct arena *arena, const struct source_list *sources, struct str context,
                struct kube_config *ret_config, struct error *err)
{
    struct kube_config config = { .namespace_ = STR("default") };
    struct entry at_context, cluster, user;
    struct str cluster_name = STR("");
    struct str user_name = STR("");

    if (find_entry(arena, sources, context, "contexts", STR("context"), context, &at_context, err) <
            0 ||
        get_text(&at_context, "cluster", &cluster_name, err) < 0 ||
        get_text(&at_context, "user", &user_name, err) < 0 ||
        get_text(&at_context, "namespace", &config.namespace_, err) < 0)
        return -1;
    if (cluster_name.len == 0)
        return reject(&at_context, "cluster", err, "is missing: name an entry of clusters");
    if (find_entry(arena, sources, context, "clusters", STR("cluster"), cluster_name, &cluster,
                   err) < 0 ||
        read_cluster(&cluster, &config, err) < 0)
        return -1;
    /* No user is a user: the one without credentials. */
    if (user_name.len &&
        (find_entry(arena, sources, context, "users", STR("user"), user_name, &user, err) < 0 ||
         read_user(&user, &config, err) < 0))
        return -1;
    if (config.namespace_.len == 0)
        config.namespace_ = STR("default");
    *ret_config = config;
    return 0;
}

static struct str current_context(struct arena *arena, const struct source_list *sources)
{
    for (uint32_t i = 0; i < sources->count; i++) {
        struct str current = json_str(json_get(sources->items[i].root, STR("current-context")));

        if (current.len)
            return str_dup(arena, current);
    }
    return STR("");
}

/* The files to read, and whether one that is not there is passed over, as in a list of them. */
static struct str_list list_files(struct arena *arena, const char *file, bool *ret_may_miss)
{
    struct str_list files = str_list_new(arena, 0);
    const char *listed = getenv("KUBECONFIG");
    const char *home = getenv("HOME");

    *ret_may_miss = false;
    if (file && *file) {
        str_list_push(&files, str_dup(arena, str_of(file)));
    } else if (listed && *listed) {
        struct str rest = str_of(listed);
        struct str part;

        while (str_split(&rest, ':', &part))
            if (part.len)
                str_list_push(&files, str_dup(arena, part));
        *ret_may_miss = files.count > 1;
    } else {
        str_list_push(&files, str_fmt(arena, "%s/.kube/config", home && *home ? home : "/root"));
    }
    return files;
}

int kube_config_load(struct arena *arena, const char *file, const char *context,
                     struct kube_config *ret_config, struct error *err)
{
    bool may_miss;
    struct str_list files = list_files(arena, file, &may_miss);
    struct source_list sources = source_list_new(arena, files.count);
    struct str wanted = context && *context ? str_dup(arena, str_of(context)) : STR("");

    for (uint32_t i = 0; i < files.count; i++) {
        struct source source = { .file = STR("") };
        struct error inner;

        if (read_source(arena, files.items[i], &source, &inner) == 0) {
            source_list_push(&sources, source);
        } else if (!may_miss || inner.code != ERROR_NOT_FOUND) {
            *err = inner;
            return -1;
        }
    }
    if (sources.count == 0)
        return error_set(err, ERROR_NOT_FOUND,
                         "none of the files that KUBECONFIG names is there: correct it, or give "
                         "a kubeconfig by flag");
    if (wanted.len == 0)
        wanted = current_context(arena, &sources);
    if (wanted.len == 0)
        return error_set(err, ERROR_INVALID,
                         "kubeconfig %.*s: current-context is not set: set it (kubectl config "
                         "use-context NAME) or name a context",
                         STR_ARG(str_shown(arena, sources.items[0].file, 200)));
    return pick(arena, &sources, wanted, ret_config, err);
}

int kube_config_in_cluster(struct arena *arena, struct kube_config *ret_config, struct error *err)
{
    struct kube_config config = { .token_file = STR(SERVICE_ACCOUNT "token") };
    const char *host = getenv("KUBERNETES_SERVICE_HOST");
    const char *port = getenv("KUBERNETES_SERVICE_PORT");
    struct str unused;
    struct error ignored;

    if (!host || !*host || !port || !*port)
        return error_set(err, ERROR_NOT_FOUND,
                         "not inside a cluster: KUBERNETES_SERVICE_HOST and "
                         "KUBERNETES_SERVICE_PORT are not set; give a kubeconfig");
    if (file_read(arena, SERVICE_ACCOUNT "token", PEM_BYTES, &unused, err) < 0)
        return error_wrap(err, "in-cluster identity: set automountServiceAccountToken, or give a "
                               "kubeconfig");
    if (file_read(arena, SERVICE_ACCOUNT "ca.crt", PEM_BYTES, &config.ca_pem, err) < 0)
        return error_wrap(err, "in-cluster identity");
    config.server =
        str_fmt(arena, strchr(host, ':') ? "https://[%s]:%s" : "https://%s:%s", host, port);
    if (file_read(arena, SERVICE_ACCOUNT "namespace", 256, &config.namespace_, &ignored) < 0 ||
        str_trim(config.namespace_).len == 0)
        config.namespace_ = STR("default");
    config.namespace_ = str_trim(config.namespace_);
    *ret_config = config;
    return 0;
}

int kube_config_flags_check(const struct kube_config_flags *flags, struct error *err)
{
    if (flags->in_cluster && (*flags->file || *flags->context))
        return error_set(err, ERROR_BAD_REQUEST,
                         "--in-cluster excludes --kubeconfig and --context; give one of both");
    return 0;
}

int kube_config_from_flags(struct arena *arena, const struct kube_config_flags *flags,
                           struct kube_config *ret_config, struct error *err)
{
    bool in_pod = !kube_config_flags_given(flags) && !getenv("KUBECONFIG") &&
                  getenv("KUBERNETES_SERVICE_HOST");

    if (kube_config_flags_check(flags, err) < 0)
        return -1;
    if (flags->in_cluster || in_pod) {
        if (kube_config_in_cluster(arena, ret_config, err) == 0)
            return 0;
        return flags->in_cluster ? error_wrap(err, "--in-cluster") : -1;
    }
    if (kube_config_load(arena, flags->file, flags->context, ret_config, err) == 0)
        return 0;
    return *flags->file ? error_wrap(err, "--kubeconfig") : -1;
}
