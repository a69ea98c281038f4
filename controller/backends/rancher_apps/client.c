/* SPDX-License-Identifier: Apache-2.0 */
/* client.c: paths, time limits, and what an answer proves.
 *
 * Actions and links are steve's; all else is plain Kubernetes through Rancher's cluster proxy. The
 * two take different roads: where a cluster's tunnel is down, Rancher itself waits 14 s on the one
 * and up to 40 s on the other before it says so. */
#include "controller/backends/rancher_apps/client_parts.h"

#include "base/limits.h"
#include "base/memory.h"
#include "controller/limits.h"

struct rancher_client *rancher_client_create(void)
{
    return mem_new(struct rancher_client);
}

void rancher_client_free(struct rancher_client *rancher)
{
    if (!rancher)
        return;
    while (rancher->under_way) {
        struct request *newest = rancher->under_way;

        rancher->under_way = newest->older;
        arena_free(newest->arena);
        mem_free(newest);
    }
    mem_free(rancher);
}

void request_free(struct request *request)
{
    if (request->newer)
        request->newer->older = request->older;
    else
        request->rancher->under_way = request->older;
    if (request->older)
        request->older->newer = request->newer;
    arena_free(request->arena);
    mem_free(request);
}

void request_finish(void *context, const struct kube_answer *answer)
{
    struct request *request = context;
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct request_outcome outcome = request_outcome_of(answer);

    if (outcome.result == REQUEST_DONE) {
        if (request->read && request->read(arena, answer->body, &outcome.text, &outcome.error) < 0)
            outcome.result = REQUEST_UNKNOWN;
    } else if (outcome.error.code == request->fine) {
        outcome.result = REQUEST_DONE;
    }
    request->done(request->context, &outcome);
    request_free(request);
}

struct request *request_new(struct rancher_client *rancher, struct connection *connection,
                            request_done *done, void *context, read_answer *read,
                            enum error_code fine)
{
    struct request *request = mem_new(struct request);

    request->rancher = rancher;
    request->connection = connection;
    request->older = rancher->under_way;
    if (request->older)
        request->older->newer = request;
    rancher->under_way = request;
    request->done = done;
    request->context = context;
    request->read = read;
    request->fine = fine;
    return request;
}

int request_read_json(struct arena *arena, struct str body, struct json *ret_json,
                      struct error *err)
{
    struct json_limits limits = json_limits_default;

    /* A chart's readme is one string of it. */
    limits.bytes_max = LIMIT_ANSWER_BODY;
    limits.string_max = LIMIT_ANSWER_BODY;
    if (json_read(arena, body, &limits, ret_json, err) < 0)
        return error_wrap(err, "Rancher answered with what is not JSON");
    return 0;
}

static int read_info(struct arena *arena, struct str body, struct str *ret_text, struct error *err)
{
    struct json info;

    return request_read_json(arena, body, &info, err) < 0 ? -1
                                                          : wire_info_read(info, ret_text, err);
}

int request_read_output(struct arena *arena, struct str body, struct str *ret_text,
                        struct error *err)
{
    struct json output;

    return request_read_json(arena, body, &output, err) < 0
               ? -1
               : wire_output_read(output, ret_text, err);
}

static int read_as_it_is(struct arena *arena, struct str body, struct str *ret_text,
                         struct error *err)
{
    (void)arena;
    (void)err;
    *ret_text = body;
    return 0;
}

void request_get(struct request *request, struct str path, kube_done *done)
{
    const struct kube_raw raw = { .method = "GET", .path = path, .timeout_ms = READ_TIME_MS };

    connection_send(request->connection, &raw, done, request);
}

void request_action(struct request *request, struct str path, struct str body)
{
    const struct kube_raw raw = { .method = "POST",
                                  .path = path,
                                  .content_type = "application/json",
                                  .body = body,
                                  .timeout_ms = ACTION_TIME_MS };

    request->read = request_read_output;
    connection_send(request->connection, &raw, request_finish, request);
}

/* A change of one object, as plain Kubernetes. */
static void change(struct request *request, const struct kube_request *change)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct kube_raw raw = { .method = kube_request_method(change),
                                  .path = kube_request_path(arena, change),
                                  .content_type = kube_request_content_type(change),
                                  .body = change->body,
                                  .timeout_ms = READ_TIME_MS };

    connection_send(request->connection, &raw, request_finish, request);
}

void rancher_ensure_repo(struct rancher_client *rancher, struct connection *connection,
                         struct str name, struct str url, request_done *done, void *context)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct kube_request create = { .verb = KUBE_CREATE,
                                         .resource = rancher_cluster_repos,
                                         .body = wire_repo_body(arena, name, url) };

    change(request_new(rancher, connection, done, context, NULL, ERROR_ALREADY_EXISTS), &create);
}

void rancher_refresh_repo(struct rancher_client *rancher, struct connection *connection,
                          struct str name, int64_t now_wall_ms, request_done *done, void *context)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct kube_request patch = { .verb = KUBE_PATCH,
                                        .resource = rancher_cluster_repos,
                                        .name = name,
                                        .patch_type = KUBE_PATCH_MERGE,
                                        .body = wire_refresh_body(arena, now_wall_ms) };

    change(request_new(rancher, connection, done, context, NULL, ERROR_NONE), &patch);
}

void rancher_remove_repo(struct rancher_client *rancher, struct connection *connection,
                         struct str name, struct str uid, struct str resource_version,
                         request_done *done, void *context)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct kube_request delete = { .verb = KUBE_DELETE,
                                         .resource = rancher_cluster_repos,
                                         .name = name,
                                         .body = kube_delete_body(arena, uid, resource_version) };

    change(request_new(rancher, connection, done, context, NULL, ERROR_NOT_FOUND), &delete);
}

struct strbuf request_steve_path(struct arena *arena, const char *type, struct str part,
                                 struct str part2)
{
    struct strbuf path = strbuf_new(arena, 256);

    strbuf_fmt(&path, "/v1/catalog.cattle.io.%s/", type);
    kube_percent_encode(&path, part);
    if (part2.len) {
        strbuf_char(&path, '/');
        kube_percent_encode(&path, part2);
    }
    return path;
}

void rancher_resolve_version(struct rancher_client *rancher, struct connection *connection,
                             struct str repo_name, struct str chart, struct str version,
                             request_done *done, void *context)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf path = request_steve_path(arena, "clusterrepos", repo_name, STR(""));

    strbuf_lit(&path, "?link=info&chartName=");
    kube_percent_encode(&path, chart);
    strbuf_lit(&path, "&version=");
    kube_percent_encode(&path, version);
    request_get(request_new(rancher, connection, done, context, read_info, ERROR_NONE),
                strbuf_str(&path), request_finish);
}

void rancher_mark(struct rancher_client *rancher, struct connection *connection,
                  struct str namespace_, struct str name, const struct wire_mark *mark,
                  request_done *done, void *context)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct kube_request patch = {
        .verb = KUBE_PATCH,
        .resource = rancher_apps,
        .namespace_ = namespace_,
        .name = name,
        .patch_type = KUBE_PATCH_MERGE,
        .field_manager = STR("herd-controller"),
        .body = wire_mark_body(arena, mark),
    };

    change(request_new(rancher, connection, done, context, NULL, ERROR_CONFLICT), &patch);
}

void rancher_read_log(struct rancher_client *rancher, struct connection *connection,
                      struct str namespace_, struct str operation, request_done *done,
                      void *context)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf path = request_steve_path(arena, "operations", namespace_, operation);

    strbuf_lit(&path, "/logs");
    request_get(request_new(rancher, connection, done, context, read_as_it_is, ERROR_NONE),
                strbuf_str(&path), request_finish);
}

void rancher_read_pods(struct rancher_client *rancher, struct connection *connection,
                       struct str namespace_, request_done *done, void *context)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct kube_request list = {
        .verb = KUBE_LIST,
        .resource = KUBE_RESOURCE_INIT("", "v1", "pods", "Pod", true),
        .namespace_ = namespace_,
        .limit = LIMIT_PODS_LOOKED_AT,
    };

    request_get(request_new(rancher, connection, done, context, read_as_it_is, ERROR_NONE),
                kube_request_path(arena, &list), request_finish);
}
