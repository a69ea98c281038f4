/* SPDX-License-Identifier: Apache-2.0 */
/* remote.c: requests to a real API server, and what is followed there. */
#include "lab/downstream/remote_parts.h"

#include "base/memory.h"
#include "io/follow.h"
#include "io/log.h"
#include "kube/apistatus.h"
#include "lab/downstream/fetch.h"
#include "lab/rancher/resources.h"

enum { TOKEN_BYTES = 64 * 1024, ANSWER_BYTES_MAX = 64 * 1024 * 1024 };

static struct str bearer(void *context)
{
    struct remote *remote = context;

    if (!remote->token)
        return remote->config.token;
    return str_trim(
        file_cache_get(remote->token, clock_monotonic_ms(loop_clock(remote->options.loop))));
}

static int connect_to(struct remote *remote, struct error *err)
{
    const struct kube_config *config = &remote->config;

    if (config->token_file.len)
        remote->token = file_cache_create(config->token_file.at, TOKEN_BYTES, 0);
    remote->http =
        http_client_create(remote->options.loop,
                           &(struct http_client_options){
                               .ca_pem = config->ca_pem,
                               .certificate_pem = config->certificate_pem,
                               .key_pem = config->key_pem,
                               .user_agent = "herd-lab",
                               .insecure = config->insecure,
                               .plain_allowed = str_starts(config->server, STR("http://")),
                               .tls_server_name = config->tls_server_name,
                               .bearer = bearer,
                               .bearer_context = remote,
                           },
                           err);
    remote->watches = !remote->http ? NULL
                                    : kube_client_create(
                                          &(struct kube_client_options){
                                              .loop = remote->options.loop,
                                              .config = config,
                                              .user_agent = "herd-lab",
                                          },
                                          err);
    return remote->watches ? 0 : -1;
}

struct remote *remote_create(const struct remote_options *options, struct error *err)
{
    AUTO(remote_free) struct remote *remote = mem_new(struct remote);

    remote->arena = arena_create(0);
    remote->options = *options;
    remote->cluster = str_dup(remote->arena, options->cluster);
    remote->options.cluster = remote->cluster;
    remote->options.kubeconfig = str_z(remote->arena, str_of(options->kubeconfig));
    if (kube_config_load(remote->arena, remote->options.kubeconfig, "", &remote->config, err) !=
            0 ||
        connect_to(remote, err) != 0) {
        error_wrap(err, "cluster %.*s", STR_ARG(remote->cluster));
        return NULL;
    }
    return TAKE(remote);
}

void remote_free(struct remote *remote)
{
    if (!remote)
        return;
    for (int i = 0; i < REMOTE_FOLLOWED; i++)
        informer_free(remote->followed[i].informer);
    kube_client_free(remote->watches);
    http_client_free(remote->http);
    file_cache_free(remote->token);
    arena_free(remote->arena);
    mem_free(remote);
}

struct str remote_cluster(const struct remote *remote)
{
    return remote->cluster;
}

const char *remote_kubeconfig(const struct remote *remote)
{
    return remote->options.kubeconfig;
}

/* ---- requests -------------------------------------------------------------------------------- */

int remote_call(struct remote *remote, struct arena *arena, const struct kube_request *request,
                struct str *ret_body, struct error *err)
{
    struct str path = kube_request_path(arena, request);
    const char *type = kube_request_content_type(request);
    struct http_header headers[] = {
        { STR_INIT("Accept"), STR_INIT("application/json") },
        { STR_INIT("Content-Type"), str_of(type ? type : "application/json") },
    };
    struct fetched answer =
        fetch(remote->options.loop, remote->http, arena,
              &(struct fetch){
                  .method = kube_request_method(request),
                  .url = str_fmt(arena, "%.*s%.*s", STR_ARG(remote->config.server), STR_ARG(path)),
                  .headers = headers,
                  .header_count = request->body.len ? 2 : 1,
                  .body = request->body,
                  .answer_bytes_max = ANSWER_BYTES_MAX,
              });

    if (answer.status == 0) {
        *err = answer.error;
        return -1;
    }
    if (answer.status < 200 || answer.status > 299) {
        kube_error_from_answer(answer.status, answer.body, err);
        return -1;
    }
    *ret_body = answer.body;
    return 0;
}

struct str remote_version(struct remote *remote, struct arena *arena)
{
    struct error ignored;
    struct json root;
    struct fetched answer = fetch(
        remote->options.loop, remote->http, arena,
        &(struct fetch){ .method = "GET",
                         .url = str_fmt(arena, "%.*s/version", STR_ARG(remote->config.server)) });

    if (answer.status != 200 ||
        json_read(arena, answer.body, &json_limits_default, &root, &ignored) != 0)
        return STR("");
    return json_str(json_get(root, STR("gitVersion")));
}

/* ---- watches --------------------------------------------------------------------------------- */

/* Who is told reads the object anew: its name is all that counts. */
static bool keep_nothing(void *context, struct json object, struct strbuf *kept)
{
    (void)context;
    (void)object;
    strbuf_char(kept, '-');
    return true;
}

static void on_change(void *context, struct kube_object *before, struct kube_object *after)
{
    const struct followed *followed = context;
    const struct remote_options *options = &followed->remote->options;
    const struct kube_object *object = after ? after : before;

    options->changed(options->context, options->cluster, followed->resource,
                     kube_object_namespace(object), kube_object_name(object), after != NULL);
}

static void on_trouble(void *context, const struct error *error)
{
    const struct followed *followed = context;
    const struct remote_options *options = &followed->remote->options;

    if (error)
        log_warn(options->log, "downstream cluster not read", LOG_STR("cluster", options->cluster),
                 LOG_STR("kind", followed->resource->kind), LOG_Z("error", error->text));
    else
        log_info(options->log, "downstream cluster read", LOG_STR("cluster", options->cluster),
                 LOG_STR("kind", followed->resource->kind));
}

static void follow(void *context)
{
    static const struct {
        const struct kube_resource *resource;
        const char *fields;
    } rows[REMOTE_FOLLOWED] = {
        { &res_secrets, "type=helm.sh/release.v1" },
        { &res_repos, "" },
        { &res_nodes, "" },
    };
    struct remote *remote = context;

    for (int i = 0; i < REMOTE_FOLLOWED; i++) {
        struct followed *followed = &remote->followed[i];

        if (followed->informer)
            continue;
        followed->remote = remote;
        followed->resource = rows[i].resource;
        followed->informer = informer_create(&(struct informer_options){
            .client = remote->watches,
            .resource = *rows[i].resource,
            .field_selector = str_of(rows[i].fields),
            .seed = remote->options.seed + (uint64_t)i,
            .keep = keep_nothing,
            .on_change = on_change,
            .on_trouble = on_trouble,
            .context = followed,
            .secret = true,
        });
    }
}

void remote_follow(struct remote *remote)
{
    fetch_run(remote->options.loop, follow, remote);
}
