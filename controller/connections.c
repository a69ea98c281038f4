/* SPDX-License-Identifier: Apache-2.0 */
/* connections.c: five clients that differ in few options, and what they count. */
#include "controller/connections.h"

#include "controller/clusters/request_outcome.h"
#include "controller/limits.h"
#include "controller/metrics.h"

#include <stdio.h>
#include <string.h>

static void count_request(const struct connections *connections, enum controller_metric counter,
                          const char *peer, const char *verb, int status, int64_t duration_ms)
{
    char code[16];

    snprintf(code, sizeof(code), "%d", status);
    metrics_add(connections->metrics, counter, (struct str[]){ str_of(verb), str_of(code) }, 1);
    if (strcmp(verb, "watch") != 0)
        metrics_observe(connections->metrics, CONTROLLER_REQUEST_DURATION,
                        (struct str[]){ str_of(peer) }, (double)duration_ms / 1000);
}

void connections_count_api_request(void *context, const char *verb, struct str plural, int status,
                                   int64_t duration_ms)
{
    (void)plural;
    count_request(context, CONTROLLER_API_REQUESTS, "api", verb, status, duration_ms);
}

static void on_rancher_request(void *context, const char *verb, struct str plural, int status,
                               int64_t duration_ms)
{
    const struct connections *connections = context;

    (void)plural;
    count_request(context, CONTROLLER_RANCHER_REQUESTS, "rancher", verb, status, duration_ms);
    if (status == 401 && connections->rancher_probe)
        rancher_probe_check_token(connections->rancher_probe);
}

static bool may_ask_rancher(void *context, struct error *ret_error)
{
    const struct connections *connections = context;

    return !connections->rancher_probe ||
           rancher_probe_may_ask(connections->rancher_probe, ret_error);
}

/* `options` as far as clients differ. */
static struct kube_client *create_client(struct connections *connections,
                                         struct kube_client_options options, struct error *err)
{
    options.loop = connections->loop;
    options.user_agent = "herd-controller/" HERD_VERSION;
    options.may_write_context = connections->manager;
    options.may_ask_context = connections;
    options.on_request_context = connections;
    return kube_client_create(&options, err);
}

static int open_api(struct connections *connections, const struct kube_config *config,
                    struct error *err)
{
    struct kube_client_options options = { .config = config,
                                           .on_request = connections_count_api_request };

    connections->lease = create_client(connections, options, err);
    options.connections_max = LIMIT_WATCH_CONNECTIONS;
    options.may_write = manager_may_write;
    connections->api = create_client(connections, options, err);
    if (!connections->lease || !connections->api)
        return error_wrap(err, "API server %.*s", STR_ARG(config->server));
    return 0;
}

static int open_rancher(struct connections *connections, const struct kube_config *config,
                        struct error *err)
{
    struct kube_client_options options = {
        .config = config,
        .may_write = manager_may_write,
        .on_request = on_rancher_request,
    };

    connections->rancher_login = create_client(connections, options, err);
    options.may_ask = may_ask_rancher;
    options.requests_max = LIMIT_RANCHER_REQUESTS;
    connections->rancher_requests = create_client(connections, options, err);
    options.requests_max = 0;
    options.connections_max = LIMIT_WATCH_CONNECTIONS;
    options.read_error = request_read_error;
    connections->rancher_watches = create_client(connections, options, err);
    if (!connections->rancher_login || !connections->rancher_requests ||
        !connections->rancher_watches)
        return error_wrap(err, "Rancher %.*s", STR_ARG(config->server));
    return 0;
}

int connections_open(struct connections *connections, const struct options *options,
                     struct error *err)
{
    if (open_api(connections, &options->api, err) < 0 ||
        open_rancher(connections, &options->rancher, err) < 0)
        return -1;
    connections->recorder =
        recorder_create(connections->api, STR("herd-controller"), options->identity);
    return 0;
}

void connections_close(struct connections *connections)
{
    kube_client_free(connections->rancher_login);
    kube_client_free(connections->rancher_requests);
    kube_client_free(connections->rancher_watches);
    rancher_probe_free(connections->rancher_probe);
    recorder_free(connections->recorder);
    kube_client_free(connections->api);
    kube_client_free(connections->lease);
}
