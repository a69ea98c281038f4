/* SPDX-License-Identifier: Apache-2.0 */
/* server_test.c: rounds of questions to a scripted server of SUSE Observability: what is known of a cluster after each, and when
 * it is asked no more. */
#include "support/folder.h"
#include "support/loopback.h"
#include "support/rows.h"
#include "support/scripted_api.h"

#include "controller/backends/observability/server.h"

#define INFO "{\"version\":{\"major\":7},\"deploymentMode\":\"SelfHosted\"}"
#define PACKS "[{\"name\":\"kubernetes-v2\",\"configurations\":[{\"config\":{\"kubernetes_cluster_name\":\"lab-a\"}}]}]"
#define UP                                                                                                        \
    "{\"status\":\"success\",\"data\":{\"result\":[{\"metric\":{\"k8s_cluster_name\":\"lab-a\",\"k8s_namespace_name\":" \
    "\"shop\",\"k8s_pod_name\":\"web-0\"},\"value\":[1,\"1\"]}]}}"

struct fixture {
    struct arena *arena;
    const char *folder;
    struct scripted_api *api;
    struct loop *loop;
    struct suse_server *server;
    const char *clusters;
    int64_t interval_ms;
    uint32_t begun; /* rounds, also those that ask nothing */
    uint32_t begun_awaited;
    bool done, has_begun;
};

static void add_wants(void *context, struct suse_wants *wants)
{
    struct fixture *f = context;
    struct str left = str_of(f->clusters);
    struct str name;

    while (left.len && str_split(&left, ' ', &name))
        str_list_push(&wants->clusters, name);
    str_list_push(&wants->namespaces, STR("shop"));
    wants->interval_ms = f->interval_ms;
    f->has_begun = ++f->begun >= f->begun_awaited;
}

static void on_answered(void *context)
{
    struct fixture *f = context;

    f->done = true;
}

static void put_token(struct fixture *f, const char *token)
{
    folder_put(folder_name(f->arena, f->folder, "token"), str_of(token), 0600);
}

static void set_up(struct fixture *f)
{
    struct kube_config config;
    struct error err = { 0 };

    *f = (struct fixture){ .arena = arena_create(0), .clusters = "lab-a", .interval_ms = 1 };
    f->folder = folder_create(f->arena);
    f->api = scripted_api_create();
    f->loop = loop_create();
    config = scripted_api_config(f->api);
    config.token = STR("");
    f->server = suse_server_create(
        &(struct suse_server_options){ .loop = f->loop, .config = &config, .folder = f->folder, .retry_ms = 1, .seed = 1 }, &err);
    assert_non_null(f->server);
    suse_server_follow(f->server, &(struct suse_server_events){ add_wants, on_answered, f });
}

static void tear_down(struct fixture *f)
{
    suse_server_free(f->server);
    loop_free(f->loop);
    scripted_api_free(f->api);
    folder_remove(f->folder);
    arena_free(f->arena);
}

static void say(struct fixture *f, const char *piece, int status, const char *body)
{
    scripted_api_say(f->api, "GET", piece, status, body);
}

/* Until it was told something `times` more. */
static void run(struct fixture *f, uint32_t times)
{
    for (uint32_t i = 0; i < times; i++) {
        f->done = false;
        loopback_run_until(f->loop, &f->done);
    }
}

/* "reason, or pods" */
static struct str view(const struct fixture *f, const char *cluster)
{
    struct suse_view view = suse_server_view(f->server, str_of(cluster));

    if (!view.asked)
        return STR("not asked");
    if (view.reason.len)
        return view.reason;
    return str_fmt(f->arena, "%u names", map_count(view.samples->lists));
}

static void each_answer_has_its_reason(void **state)
{
    static const struct {
        const char *row;
        struct {
            int status;
            const char *body;
        } info, packs, query;
        const char *want, *says;
    } rows[] = {
        { "all is well", { 200, INFO }, { 200, PACKS }, { 200, UP }, "1 names", "" },
        { "no series", { 200, INFO }, { 200, PACKS }, { 200, "{\"status\":\"success\",\"data\":{\"result\":[]}}" }, "0 names", "" },
        { "no instance of its name", { 200, INFO }, { 200, "[]" }, { 200, UP }, "SUSEObservabilityClusterUnknown",
          "stackstate.cluster.name" },
        { "it starts", { 503, "no healthy upstream" }, { 0, NULL }, { 0, NULL }, "SUSEObservabilityUnreachable", "HTTP 503" },
        { "a login page", { 200, "<html>" }, { 0, NULL }, { 0, NULL }, "SUSEObservabilityUnreachable", "GET /api/server/info" },
        { "something else", { 200, "{}" }, { 0, NULL }, { 0, NULL }, "SUSEObservabilityUnreachable", "it does not say its version" },
        { "StackPacks fail", { 200, INFO }, { 500, "oops" }, { 0, NULL }, "SUSEObservabilityUnreachable", "GET /api/stackpack" },
        { "the query fails", { 200, INFO }, { 200, PACKS }, { 422, "{\"status\":\"error\",\"error\":\"too slow\"}" },
          "SUSEObservabilityUnreachable", "GET /prometheus/api/v1/query" },
        { "half an answer", { 200, INFO }, { 200, PACKS }, { 200, "{\"status\":" }, "SUSEObservabilityUnreachable",
          "GET /prometheus/api/v1/query" },
        { "no such token", { 401, "" }, { 0, NULL }, { 0, NULL }, "SUSEObservabilityTokenRejected", "GET /api/server/info (HTTP 401)" },
        { "it may not read StackPacks", { 200, INFO }, { 403, "" }, { 0, NULL }, "SUSEObservabilityTokenRejected",
          "GET /api/stackpack (HTTP 403)" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct suse_view got;
        struct fixture f;

        set_up(&f);
        put_token(&f, "svctok-1\n");
        say(&f, "/api/server/info", rows[i].info.status, rows[i].info.body);
        if (rows[i].packs.status)
            say(&f, "/api/stackpack", rows[i].packs.status, rows[i].packs.body);
        if (rows[i].query.status)
            say(&f, "/prometheus/api/v1/query", rows[i].query.status, rows[i].query.body);
        rows_expect_str(rows[i].row, view(&f, "lab-a"), STR("not asked"));
        suse_server_look(f.server, 0);
        run(&f, 1);
        rows_expect_str(rows[i].row, view(&f, "lab-a"), str_of(rows[i].want));
        got = suse_server_view(f.server, STR("lab-a"));
        rows_expect(rows[i].row, str_find(got.message, str_of(rows[i].says), 0) >= 0, str_z(f.arena, got.message));
        rows_expect(rows[i].row, scripted_api_last_has(f.api, "GET", "/api/server/info", "X-API-Key: svctok-1"), "no token");
        tear_down(&f);
    }
}

static void one_failure_changes_nothing(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    put_token(&f, "svctok-1");
    say(&f, "/api/server/info", 200, INFO);
    say(&f, "/api/server/info", 503, "");
    say(&f, "/api/server/info", 200, INFO);
    say(&f, "/api/stackpack", 200, PACKS);
    say(&f, "/prometheus/api/v1/query", 200, UP);
    suse_server_look(f.server, 0);
    run(&f, 1);
    rows_expect_str("a good round", view(&f, "lab-a"), STR("1 names"));
    rows_expect_str("of another cluster nothing is known", view(&f, "lab-b"), STR("not asked"));
    run(&f, 1);
    rows_expect_int("the next that is told of came after one that failed", scripted_api_count(f.api, "GET", "/api/server/info"), 3);
    rows_expect_str("it was good", view(&f, "lab-a"), STR("1 names"));
    say(&f, "/api/server/info", 503, "");
    do
        run(&f, 1);
    while (str_eq(view(&f, "lab-a"), STR("1 names")));
    rows_expect_str("after two", view(&f, "lab-a"), STR("SUSEObservabilityUnreachable"));
    tear_down(&f);
}

static void a_rejected_token_is_sent_three_times(void **state)
{
    struct suse_view got;
    struct fixture f;

    (void)state;
    set_up(&f);
    put_token(&f, "svctok-old");
    say(&f, "/api/server/info", 401, "");
    suse_server_look(f.server, 0);
    run(&f, 2);
    got = suse_server_view(f.server, STR("lab-a"));
    rows_expect("it says so", str_find(got.message, STR("three times, so Herd sends none until it changes"), 0) >= 0,
                str_z(f.arena, got.message));
    f.begun_awaited = f.begun + 5;
    f.has_begun = false;
    loopback_run_until(f.loop, &f.has_begun);
    rows_expect_int("three times", scripted_api_count(f.api, "GET", "/api/server/info"), 3);
    say(&f, "/api/server/info", 200, INFO);
    say(&f, "/api/stackpack", 200, PACKS);
    say(&f, "/prometheus/api/v1/query", 200, UP);
    put_token(&f, "svctok-new");
    run(&f, 1);
    rows_expect_str("another one", view(&f, "lab-a"), STR("1 names"));
    rows_expect_int("once more", scripted_api_count(f.api, "GET", "/api/server/info"), 4);
    tear_down(&f);
}

static void without_a_token_nothing_is_asked(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    suse_server_look(f.server, 0);
    run(&f, 1);
    rows_expect_str("no token", view(&f, "lab-a"), STR("SUSEObservabilityNotConfigured"));
    rows_expect_int("nothing is asked", scripted_api_count(f.api, "GET", "/"), 0);
    rows_expect_str("no server", suse_server_view(NULL, STR("lab-a")).reason, STR("SUSEObservabilityNotConfigured"));
    tear_down(&f);
}

/* Without anybody who wants something nothing is known: it may be another time later. */
static void what_is_wanted_again_is_asked_anew(void **state)
{
    static const struct {
        const char *row;
        int status;
        const char *then;
    } rows[] = {
        { "it answered", 200, "1 names" },
        { "it did not", 503, "SUSEObservabilityUnreachable" },
        { "it rejected the token", 401, "SUSEObservabilityTokenRejected" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct fixture f;

        set_up(&f);
        put_token(&f, "svctok-1");
        say(&f, "/api/server/info", rows[i].status, INFO);
        say(&f, "/api/stackpack", 200, PACKS);
        say(&f, "/prometheus/api/v1/query", 200, UP);
        suse_server_look(f.server, 0);
        run(&f, rows[i].status == 401 ? 2 : 1);
        f.clusters = "";
        f.begun_awaited = f.begun + 1;
        f.has_begun = false;
        loopback_run_until(f.loop, &f.has_begun);
        f.clusters = "lab-a";
        rows_expect_str(rows[i].row, view(&f, "lab-a"), STR("not asked"));
        suse_server_look(f.server, 0);
        run(&f, 1);
        rows_expect_str(rows[i].row, view(&f, "lab-a"), str_of(rows[i].then));
        rows_expect(rows[i].row, rows[i].status != 401 || scripted_api_count(f.api, "GET", "/api/server/info") == 3, "sent again");
        tear_down(&f);
    }
}

static void whoever_comes_does_not_wait_for_those_who_have_time(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    f.interval_ms = 3600000;
    put_token(&f, "svctok-1");
    say(&f, "/api/server/info", 200, INFO);
    say(&f, "/api/stackpack", 200, PACKS);
    say(&f, "/prometheus/api/v1/query", 200, UP);
    suse_server_look(f.server, 0);
    run(&f, 1);
    suse_server_look(f.server, 1);
    run(&f, 1);
    rows_expect_int("asked twice", scripted_api_count(f.api, "GET", "/api/server/info"), 2);
    tear_down(&f);
}

static void many_clusters_are_asked_for_in_several_queries(void **state)
{
    struct strbuf names;
    struct fixture f;

    (void)state;
    set_up(&f);
    names = strbuf_new(f.arena, 512);
    for (int i = 0; i < 41; i++)
        strbuf_fmt(&names, "%sc-%d", i ? " " : "", i);
    f.clusters = str_z(f.arena, strbuf_str(&names));
    put_token(&f, "svctok-1");
    say(&f, "/api/server/info", 200, INFO);
    say(&f, "/api/stackpack", 200, PACKS);
    say(&f, "/prometheus/api/v1/query", 200, UP);
    suse_server_look(f.server, 0);
    run(&f, 1);
    rows_expect_int("two for pods, two for GPUs",
                    scripted_api_count(f.api, "GET", "/prometheus/api/v1/query"), 4);
    rows_expect_int(
        "of these",
        scripted_api_count(f.api, "GET", "/prometheus/api/v1/query?query=avg_over_time"), 2);
    rows_expect_str("each was asked for", view(&f, "c-40"), STR("SUSEObservabilityClusterUnknown"));
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_answer_has_its_reason),
        cmocka_unit_test(one_failure_changes_nothing),
        cmocka_unit_test(a_rejected_token_is_sent_three_times),
        cmocka_unit_test(without_a_token_nothing_is_asked),
        cmocka_unit_test(what_is_wanted_again_is_asked_anew),
        cmocka_unit_test(whoever_comes_does_not_wait_for_those_who_have_time),
        cmocka_unit_test(many_clusters_are_asked_for_in_several_queries),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
