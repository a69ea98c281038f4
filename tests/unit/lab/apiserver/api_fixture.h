/* SPDX-License-Identifier: Apache-2.0 */
/* api_fixture.h: an API server of one test, with a scratch kind, served on loopback; and a peer
 * that is its admission webhook. For the tests of this folder only. */
#ifndef HERD_TESTS_UNIT_LAB_APISERVER_API_FIXTURE_H
#define HERD_TESTS_UNIT_LAB_APISERVER_API_FIXTURE_H

#include "support/rows.h"

#include "io/log.h"
#include "lab/apiserver/api.h"
#include "support/folder.h"
#include "support/loopback.h"
#include "text/json_write.h"

#include <stdio.h>
#include <unistd.h>

static const char *const scratch_definition =
    "apiVersion: apiextensions.k8s.io/v1\n"
    "kind: CustomResourceDefinition\n"
    "metadata: {name: widgets.test.example.com}\n"
    "spec:\n"
    "  group: test.example.com\n"
    "  scope: Namespaced\n"
    "  names: {plural: widgets, kind: Widget, shortNames: [wd]}\n"
    "  versions:\n"
    "  - name: v1\n"
    "    served: true\n"
    "    storage: true\n"
    "    subresources: {status: {}}\n"
    "    selectableFields: [{jsonPath: .spec.env}]\n"
    "    additionalPrinterColumns:\n"
    "    - {name: Env, type: string, jsonPath: .spec.env}\n"
    "    - {name: Size, type: integer, jsonPath: .spec.size}\n"
    "    schema:\n"
    "      openAPIV3Schema:\n"
    "        type: object\n"
    "        properties:\n"
    "          spec:\n"
    "            type: object\n"
    "            required: [env]\n"
    "            properties:\n"
    "              env: {type: string}\n"
    "              size: {type: integer, default: 3, maximum: 10}\n"
    "          status: {type: object, properties: {phase: {type: string}}}\n";

static const struct kube_resource widgets =
    KUBE_RESOURCE_INIT("test.example.com", "v1", "widgets", "Widget", true);
static const struct kube_resource configmaps =
    KUBE_RESOURCE_INIT("", "v1", "configmaps", "ConfigMap", true);

struct fixture {
    struct arena *arena;
    const char *folder;
    struct log *log;
    struct api *api;
    struct http_server *server;
    struct loop *loop;
    struct http_client *client;
    struct str groups; /* of whoever asks */
};

static void serve_api(struct http_exchange *exchange, void *context)
{
    struct fixture *f = context;
    struct api_caller caller = { .user = STR_INIT("tester"),
                                 .groups = str_list_new(http_view(exchange)->arena, 1) };

    str_list_push(&caller.groups, f->groups);
    api_handle(f->api, exchange, STR("local"), http_view(exchange)->path, &caller);
}

static const struct http_route api_routes[] = {
    { "", "/*", 3 * 1024 * 1024, serve_api, "api" },
};

static void open_api(struct fixture *f)
{
    struct api_options options = { .data_folder = f->folder,
                                   .clock = system_clock(),
                                   .log = f->log,
                                   .seed = 1,
                                   .token_key = STR("a key of tests") };
    struct error err;

    f->api = api_create(&options, &err);
    if (!f->api || api_add_cluster(f->api, STR("local"), &err) != 0)
        fail_msg("%s", err.text);
}

static void close_api(struct fixture *f)
{
    api_free(f->api);
    f->api = NULL;
}

static struct fixture *fixture_begin(void)
{
    struct arena *arena = arena_create(0);
    struct fixture *f = arena_new(arena, struct fixture);
    struct http_server_options server = {
        .address = "127.0.0.1",
        .routes = api_routes,
        .route_count = 1,
        .context = f,
        .request_ms = -1,
        .arena_budget = (size_t)1 << 33,
    };
    struct http_client_options client = { .user_agent = "tester/1", .plain_allowed = true };
    struct error err;

    f->arena = arena;
    f->folder = folder_create(arena);
    f->groups = STR("system:masters");
    f->log = log_create(STDERR_FILENO, LOG_ERROR, LOG_TEXT, system_clock(), "test");
    open_api(f);
    if (api_add_definition(f->api, STR("local"), str_of(scratch_definition), &err) != 0)
        fail_msg("%s", err.text);
    f->server = http_server_create(&server, &err);
    f->loop = loop_create();
    f->client = http_client_create(f->loop, &client, &err);
    return f;
}

static void fixture_end(struct fixture *f)
{
    api_close_watches(f->api);
    http_client_free(f->client);
    loop_free(f->loop);
    http_server_drain(f->server, 2000);
    http_server_free(f->server);
    close_api(f);
    log_free(f->log);
    folder_remove(f->folder);
    arena_free(f->arena);
}

static inline struct reply ask(struct fixture *f, const char *method, const char *path,
                               const char *accept, const char *type, const char *body)
{
    struct http_header headers[] = { { STR_INIT("Accept"), str_of(accept) },
                                     { STR_INIT("Content-Type"), str_of(type) } };
    struct http_request request = {
        .method = method,
        .url = str_fmt(f->arena, "http://127.0.0.1:%u%s", http_server_port(f->server), path),
        .headers = headers,
        .header_count = 2,
        .body = str_of(body),
    };

    return loopback_ask(f->loop, f->client, &request, f->arena);
}

static inline struct reply ask_json(struct fixture *f, const char *method, const char *path,
                                    const char *body)
{
    return ask(f, method, path, "application/json", "application/json", body);
}

/* A member of a JSON text: "status.message", "items.0.metadata.name". */
static inline struct str member(struct fixture *f, struct str json, const char *path)
{
    struct json at;
    struct error err;
    struct str rest = str_of(path), part;
    uint64_t index;

    if (json_read(f->arena, json, &json_limits_default, &at, &err) != 0)
        fail_msg("%s\n%.*s", err.text, STR_ARG(json));
    while (rest.len && str_split(&rest, '.', &part)) {
        struct json_iter it = json_iter(at);

        if (!json_is(at, JSON_ARRAY) || !str_to_u64(part, &index)) {
            at = json_get(at, part);
            continue;
        }
        while (json_next(&it))
            if (it.position == index)
                at = it.value;
    }
    return json_is(at, JSON_STRING) ? json_str(at) : json_raw(at);
}

/* The beginning of each of them. */
#define WIDGET "\"apiVersion\":\"test.example.com/v1\",\"kind\":\"Widget\","
#define WIDGETS "/apis/test.example.com/v1/namespaces/default/widgets"

#endif
