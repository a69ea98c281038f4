/* client.c: paths, time limits, and what an answer proves.
 *
 * Actions and links are steve's; all else is plain Kubernetes through Rancher's cluster proxy. The
 * two take different roads: where a cluster's tunnel is down, Rancher itself waits 14 s on the one
 * and up to 40 s on the other before it says so. */
#include "controller/estate/rancher/client_parts.h"

#include "base/limits.h"
#include "base/memory.h"

struct rancher_client *rancher_client_create(struct kube_client *requests,
                                             struct kube_client *watches)
{
    struct rancher_client *rancher = mem_new(struct rancher_client);

    rancher->kube = requests;
    rancher->watches = watches;
    return rancher;
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

void rancher_read_error(int http_status, struct str body, struct error *ret_error)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);

    wire_error_read(arena, http_status, body, ret_error);
}

struct kube_client *rancher_client_watches(struct rancher_client *rancher)
{
    return rancher->watches;
}

struct str rancher_prefix(struct arena *arena, struct str cluster_id)
{
    struct strbuf out = strbuf_new(arena, 64);

    strbuf_lit(&out, "/k8s/clusters/");
    kube_percent_encode(&out, cluster_id);
    return strbuf_str(&out);
}

static enum rancher_result result_of_failure(const struct kube_answer *answer)
{
    if (answer->status == 0)
        return answer->sent ? RANCHER_UNKNOWN : RANCHER_REFUSED;
    return wire_error_is_refusal(answer->status, answer->body) ? RANCHER_REFUSED
                                                               : RANCHER_UNKNOWN;
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
    struct rancher_outcome outcome = { .result = RANCHER_DONE,
                                       .text = STR(""),
                                       .retry_after_ms = answer->retry_after_ms };

    if (answer->status >= 200 && answer->status < 300 && answer->error.code == ERROR_NONE) {
        if (request->read &&
            request->read(arena, answer->body, &outcome.text, &outcome.error) < 0)
            outcome.result = RANCHER_UNKNOWN;
    } else {
        outcome.error = answer->error;
        if (answer->status)
            wire_error_read(arena, answer->status, answer->body, &outcome.error);
        outcome.result = outcome.error.code == request->fine ? RANCHER_DONE
                                                             : result_of_failure(answer);
    }
    request->done(request->context, &outcome);
    request_free(request);
}

struct request *request_new(struct rancher_client *rancher, rancher_done *done, void *context,
                            read_answer *read, enum error_code fine)
{
    struct request *request = mem_new(struct request);

    request->rancher = rancher;
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

static int read_info(struct arena *arena, struct str body, struct str *ret_text,
                     struct error *err)
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

static int read_collection(struct arena *arena, struct str body, struct str *ret_text,
                           struct error *err)
{
    struct json answer;

    (void)ret_text;
    return request_read_json(arena, body, &answer, err) < 0 ? -1
                                                            : wire_collection_read(answer, err);
}

static int read_as_it_is(struct arena *arena, struct str body, struct str *ret_text,
                         struct error *err)
{
    (void)arena;
    (void)err;
    *ret_text = body;
    return 0;
}

void rancher_ask(struct rancher_client *rancher, rancher_done *done, void *context)
{
    kube_client_raw(rancher->kube, "GET", STR("/v3/clusters?limit=1"), NULL, STR(""), ASK_TIME_MS,
                    request_finish,
                    request_new(rancher, done, context, read_collection, ERROR_NONE));
}

void rancher_ensure_repo(struct rancher_client *rancher, struct str cluster_id, struct str name,
                         struct str url, rancher_done *done, void *context)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct kube_request create = {
        .verb = KUBE_CREATE,
        .prefix = rancher_prefix(arena, cluster_id),
        .resource = rancher_cluster_repos,
        .body = wire_repo_body(arena, name, url),
    };

    kube_client_raw(rancher->kube, "POST", kube_request_path(arena, &create), "application/json",
                    create.body, READ_TIME_MS, request_finish,
                    request_new(rancher, done, context, NULL, ERROR_ALREADY_EXISTS));
}

/* "/k8s/clusters/c-m-1/v1/catalog.cattle.io.<type>/<part>/<part>" */
struct strbuf request_steve_path(struct arena *arena, struct str cluster_id, const char *type,
                                 struct str part, struct str part2)
{
    struct strbuf path = strbuf_new(arena, 256);

    strbuf_put(&path, rancher_prefix(arena, cluster_id));
    strbuf_fmt(&path, "/v1/catalog.cattle.io.%s/", type);
    kube_percent_encode(&path, part);
    if (part2.len) {
        strbuf_char(&path, '/');
        kube_percent_encode(&path, part2);
    }
    return path;
}

void rancher_resolve_version(struct rancher_client *rancher, struct str cluster_id,
                             struct str repo_name, struct str chart, struct str version,
                             rancher_done *done, void *context)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf path = request_steve_path(arena, cluster_id, "clusterrepos", repo_name, STR(""));

    strbuf_lit(&path, "?link=info&chartName=");
    kube_percent_encode(&path, chart);
    strbuf_lit(&path, "&version=");
    kube_percent_encode(&path, version);
    kube_client_raw(rancher->kube, "GET", strbuf_str(&path), NULL, STR(""), READ_TIME_MS,
                    request_finish, request_new(rancher, done, context, read_info, ERROR_NONE));
}

void rancher_upgrade(struct rancher_client *rancher, struct str cluster_id,
                     const struct wire_upgrade *upgrade, rancher_done *done, void *context)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf path =
        request_steve_path(arena, cluster_id, "clusterrepos", upgrade->repo_name, STR(""));

    arena_keep_secret(arena); /* the body has the values */
    strbuf_lit(&path, "?action=upgrade");
    kube_client_raw(rancher->kube, "POST", strbuf_str(&path), "application/json",
                    wire_upgrade_body(arena, upgrade), ACTION_TIME_MS, request_finish,
                    request_new(rancher, done, context, request_read_output, ERROR_NONE));
}

void rancher_read_log(struct rancher_client *rancher, struct str cluster_id,
                      struct str namespace_, struct str operation, rancher_done *done,
                      void *context)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf path = request_steve_path(arena, cluster_id, "operations", namespace_, operation);

    strbuf_lit(&path, "/logs");
    kube_client_raw(rancher->kube, "GET", strbuf_str(&path), NULL, STR(""), READ_TIME_MS,
                    request_finish, request_new(rancher, done, context, read_as_it_is, ERROR_NONE));
}

void rancher_read_pods(struct rancher_client *rancher, struct str cluster_id,
                       struct str namespace_, rancher_done *done, void *context)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct kube_request list = {
        .verb = KUBE_LIST,
        .prefix = rancher_prefix(arena, cluster_id),
        .resource = KUBE_RESOURCE_INIT("", "v1", "pods", "Pod", true),
        .namespace_ = namespace_,
        .limit = LIMIT_PODS_LOOKED_AT,
    };

    kube_client_raw(rancher->kube, "GET", kube_request_path(arena, &list), NULL, STR(""),
                    READ_TIME_MS, request_finish,
                    request_new(rancher, done, context, read_as_it_is, ERROR_NONE));
}
