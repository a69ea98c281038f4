/* SPDX-License-Identifier: Apache-2.0 */
/* client_test.c: the way to NeuVector, sessions and keys, and what each failure is called, against
 * a scripted Rancher. */
#include "support/rows.h"
#include "support/folder.h"
#include "support/loopback.h"
#include "support/scripted_api.h"

#include "controller/backends/neuvector/client.h"

#define POD(ready)                                                                                 \
    "{\"metadata\":{\"name\":\"nv-1\",\"namespace\":\"nv\"},\"status\":{\"conditions\":["          \
    "{\"type\":\"Ready\",\"status\":\"" ready "\"}]}}"
#define PODS(items) "{\"kind\":\"PodList\",\"items\":[" items "]}"
#define STATUS(message) "{\"kind\":\"Status\",\"message\":\"" message "\"}"
#define NV(code) "{\"code\":" code ",\"error\":\"words\",\"message\":\"words\"}"
#define SERVICE "/services/https:neuvector-svc-controller-api:10443/proxy"
#define PROXIED_POD "/pods/https:nv-1:10443/proxy"

struct fixture {
    struct arena *arena;
    const char *folder;
    struct scripted_api *api;
    struct loop *loop;
    struct kube_client *kube;
    struct connection *connection;
    struct neuvector_calls calls;
    struct neuvector_client *client;
    bool done;
    enum wire_answer kind;
    struct str reason, message;
};

static void on_changed(void *context, struct str id)
{
    (void)context, (void)id;
}

static void on_trouble(void *context, struct str id, const struct error *error)
{
    (void)context, (void)id, (void)error;
}

static void put(struct fixture *f, const char *name, const char *text)
{
    folder_put(folder_name(f->arena, f->folder, name), str_of(text), 0600);
}

static void set_up(struct fixture *f)
{
    *f = (struct fixture){ .arena = arena_create(0) };
    f->folder = folder_create(f->arena);
    f->api = scripted_api_create();
    f->loop = loop_create();
    f->kube = scripted_api_client(f->api, (struct kube_client_options){ .loop = f->loop });
    f->connection = connection_create(&(struct connection_options){
        .requests = f->kube, .watches = f->kube, .id = STR("c-m-1"), .changed = on_changed,
        .trouble = on_trouble, .idle = on_changed, .context = f });
    f->client = neuvector_client_create(&f->calls, f->connection, f->folder);
}

static void tear_down(struct fixture *f)
{
    neuvector_client_free(f->client);
    connection_free(f->connection);
    kube_client_free(f->kube);
    neuvector_calls_free(&f->calls);
    loop_free(f->loop);
    scripted_api_free(f->api);
    folder_remove(f->folder);
    arena_free(f->arena);
}

static void on_answer(void *context, const struct neuvector_answer *answer)
{
    struct fixture *f = context;

    f->done = true;
    f->kind = answer->kind;
    f->reason = str_dup(f->arena, answer->reason);
    f->message = str_dup(f->arena, answer->message);
}

static void ask(struct fixture *f)
{
    f->done = false;
    neuvector_client_ask(f->client, "GET", STR("/v1/x"), STR(""), on_answer, f);
    loopback_run_until(f->loop, &f->done);
}

static void say(struct fixture *f, const char *method, const char *piece, int status,
                const char *body)
{
    scripted_api_say(f->api, method, piece, status, body);
}

static void each_failure_has_its_reason(void **state)
{
    static const struct {
        const char *row, *pods;
        int pods_status, status;
        const char *body, *reason;
    } rows[] = {
        { "no NeuVector", PODS(""), 200, 0, "", "NeuVectorNotFound" },
        { "none that is ready", PODS(POD("False")), 200, 0, "", "NeuVectorUnreachable" },
        { "pods may not be listed", STATUS("pods is forbidden"), 403, 0, "",
          "NeuVectorProxyForbidden" },
        { "the proxy may not be used", PODS(POD("True")), 200, 403, STATUS("services/proxy"),
          "NeuVectorProxyForbidden" },
        { "Rancher lets the user not use the cluster", "", 403, 0, "", "NeuVectorProxyForbidden" },
        { "nor its proxy", PODS(POD("True")), 200, 403,
          "{\"type\":\"error\",\"status\":403,\"code\":\"Forbidden\",\"message\":\"no\"}",
          "NeuVectorProxyForbidden" },
        { "nothing behind the Service", PODS(POD("True")), 200, 503, STATUS("no endpoints"),
          "NeuVectorUnreachable" },
        { "its store fails", PODS(POD("True")), 200, 500, NV("8"), "NeuVectorUnreachable" },
        { "wrong credentials", PODS(POD("True")), 200, 401, NV("3"),
          "NeuVectorCredentialsRejected" },
        { "an expired password", PODS(POD("True")), 200, 401, NV("48"),
          "NeuVectorPasswordChangeRequired" },
        { "a page instead of JSON", PODS(POD("True")), 200, 200, "<html>",
          "NeuVectorUnexpectedResponse" },
        { "a pod whose name leads elsewhere",
          "{\"items\":[{\"metadata\":{\"name\":\"x/../../evil\"},\"status\":{\"conditions\":["
          "{\"type\":\"Ready\",\"status\":\"True\"}]}}]}", 200, 200, "{}",
          "NeuVectorUnexpectedResponse" },
        { "half a document", PODS(POD("True")), 200, 200, "{\"workloads\":[{",
          "NeuVectorUnexpectedResponse" },
        { "an agent that is away", PODS(POD("True")), 200, 500, "cluster agent disconnected",
          "NeuVectorUnreachable" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fixture f;

        set_up(&f);
        put(&f, "api-key", "herd:secret\n");
        say(&f, "GET", "/cattle-neuvector-system/pods?labelSelector", rows[i].pods_status, rows[i].pods);
        say(&f, "GET", "/namespaces/neuvector/pods?labelSelector", 200, PODS(""));
        if (rows[i].status)
            say(&f, "GET", SERVICE "/v1/x", rows[i].status, rows[i].body);
        ask(&f);
        rows_expect_str(rows[i].row, f.reason, str_of(rows[i].reason));
        rows_expect("it names the cluster", str_find(f.message, STR("c-m-1"), 0) >= 0, f.message.at);
        tear_down(&f);
    }
}

static void what_is_no_trouble_is_for_who_asked(void **state)
{
    static const struct {
        const char *row;
        int status;
        const char *body;
        enum wire_answer kind;
    } rows[] = {
        { "an answer", 200, "{}", WIRE_OK },
        { "an action's, which is empty", 200, "", WIRE_OK },
        { "no such object", 404, NV("7"), WIRE_NOT_FOUND },
        { "a role that may not", 403, NV("25"), WIRE_DENIED },
        { "objects of a CR", 400, NV("4"), WIRE_REFUSED },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fixture f;

        set_up(&f);
        put(&f, "api-key", "herd:secret");
        say(&f, "GET", "/cattle-neuvector-system/pods?labelSelector", 200, PODS(POD("True")));
        say(&f, "GET", SERVICE "/v1/x", rows[i].status, rows[i].body);
        ask(&f);
        rows_expect_str(rows[i].row, f.reason, STR(""));
        rows_expect_int(rows[i].row, f.kind, rows[i].kind);
        rows_expect("with the key",
                    scripted_api_last_has(f.api, "GET", "/v1/x", "X-Auth-Apikey: herd:secret"),
                    "X-Auth-Apikey");
        tear_down(&f);
    }
}

static void without_the_service_the_pod_is_the_way(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    put(&f, "api-key", "herd:secret");
    say(&f, "GET", "/cattle-neuvector-system/pods?labelSelector", 200, PODS(POD("True")));
    say(&f, "GET", SERVICE, 404, STATUS("services not found"));
    say(&f, "GET", PROXIED_POD "/v1/x", 200, "{}");
    ask(&f);
    rows_expect_str("it answers", f.reason, STR(""));
    ask(&f);
    rows_expect_int("the Service is not asked again", scripted_api_count(f.api, "GET", SERVICE), 1);
    rows_expect_int("nor where it is", scripted_api_count(f.api, "GET", "labelSelector"), 1);
    tear_down(&f);
}

/* A pod of a tenant, with the label of the controller and its port, gets no credentials. */
static void it_is_looked_for_in_its_namespaces_only(void **state)
{
    static const struct {
        const char *row, *rancher, *own, *reason, *namespace_;
    } rows[] = {
        { "Rancher's chart", PODS(POD("True")), PODS(POD("True")), "", "cattle-neuvector-system" },
        { "NeuVector's own", PODS(""), PODS(POD("True")), "", "neuvector" },
        { "Rancher's, while it starts", PODS(POD("False")), PODS(POD("True")),
          "NeuVectorUnreachable", "" },
        { "a tenant's", PODS(""), PODS(""), "NeuVectorNotFound", "" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fixture f;

        set_up(&f);
        put(&f, "api-key", "herd:secret");
        say(&f, "GET", "/api/v1/pods?", 200, PODS(POD("True")));
        say(&f, "GET", "/namespaces/cattle-neuvector-system/pods?", 200, rows[i].rancher);
        say(&f, "GET", "/namespaces/neuvector/pods?", 200, rows[i].own);
        say(&f, "GET", SERVICE "/v1/x", 200, "{}");
        ask(&f);
        rows_expect_str(rows[i].row, f.reason, str_of(rows[i].reason));
        rows_expect_int("the credentials are sent once, or not at all",
                        scripted_api_count(f.api, "GET", SERVICE), !rows[i].reason[0]);
        if (!rows[i].reason[0])
            rows_expect_int("to this namespace", scripted_api_count(f.api, "GET", str_fmt(f.arena,
                            "/namespaces/%s" SERVICE, rows[i].namespace_).at), 1);
        tear_down(&f);
    }
}

static void three_rejections_are_enough(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    put(&f, "username", "herd");
    put(&f, "password", "wrong");
    say(&f, "GET", "/cattle-neuvector-system/pods?labelSelector", 200, PODS(POD("True")));
    say(&f, "POST", SERVICE "/v1/auth", 401, NV("3"));
    say(&f, "POST", SERVICE "/v1/auth", 401, NV("3"));
    say(&f, "POST", SERVICE "/v1/auth", 401, NV("3"));
    say(&f, "POST", SERVICE "/v1/auth", 200, "{\"token\":{\"token\":\"abc\"}}");
    say(&f, "GET", SERVICE "/v1/x", 200, "{}");
    for (int i = 0; i < 5; i++) {
        ask(&f);
        rows_expect_str("rejected", f.reason, STR("NeuVectorCredentialsRejected"));
    }
    rows_expect_int("three logins", scripted_api_count(f.api, "POST", "/v1/auth"), 3);
    rows_expect("it says so", str_find(f.message, STR("has rejected the credentials three times"), 0) >= 0, f.message.at);
    put(&f, "password", "another");
    ask(&f);
    rows_expect_str("another password is tried", f.reason, STR(""));
    tear_down(&f);
}

static void a_session_is_renewed_once(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    put(&f, "username", "herd");
    put(&f, "password", "right");
    say(&f, "GET", "/cattle-neuvector-system/pods?labelSelector", 200, PODS(POD("True")));
    say(&f, "POST", SERVICE "/v1/auth", 200, "{\"token\":{\"token\":\"one\"}}");
    say(&f, "POST", SERVICE "/v1/auth", 200, "{\"token\":{\"token\":\"two\"}}");
    say(&f, "GET", SERVICE "/v1/x", 200, "{}");
    say(&f, "GET", SERVICE "/v1/x", 408, NV("3"));
    say(&f, "GET", SERVICE "/v1/x", 200, "{}");
    say(&f, "DELETE", SERVICE "/v1/auth", 200, "");
    ask(&f);
    rows_expect_int("one login", scripted_api_count(f.api, "POST", "/v1/auth"), 1);
    ask(&f);
    rows_expect_str("an ended session is no trouble", f.reason, STR(""));
    rows_expect_int("another login", scripted_api_count(f.api, "POST", "/v1/auth"), 2);
    rows_expect("its token", scripted_api_last_has(f.api, "GET", "/v1/x", "X-Auth-Token: two"),
                "X-Auth-Token: two");
    neuvector_client_rest(f.client);
    scripted_api_run_until(f.api, f.loop, "DELETE", "/v1/auth", 1);
    rows_expect("the session is ended",
                scripted_api_last_has(f.api, "DELETE", "/v1/auth", "X-Auth-Token: two"),
                "with its token");
    tear_down(&f);
}

static void credentials_are_checked_before_anything_is_asked(void **state)
{
    static const struct {
        const char *row, *name, *text, *says;
    } rows[] = {
        { "none", "other", "x", "create the Secret herd-neuvector" },
        { "a key without its secret", "api-key", "herd", "is not NAME:SECRET" },
        { "a key that would be two headers", "api-key", "herd:a\r\nX-Evil: 1", "is not NAME:SECRET" },
        { "a username alone", "username", "herd", "only one of username and password" },
        { "of another cluster", "c-m-2.api-key", "herd:a", "create the Secret herd-neuvector" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fixture f;

        set_up(&f);
        put(&f, rows[i].name, rows[i].text);
        ask(&f);
        rows_expect_str(rows[i].row, f.reason, STR("NeuVectorCredentialsMissing"));
        rows_expect(rows[i].row, str_find(f.message, str_of(rows[i].says), 0) >= 0, f.message.at);
        rows_expect_int("nothing is asked", scripted_api_count(f.api, "GET", "/"), 0);
        tear_down(&f);
    }
}

static void credentials_of_the_cluster_go_first(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    put(&f, "api-key", "all:a");
    put(&f, "c-m-1.api-key", "one:b");
    say(&f, "GET", "/cattle-neuvector-system/pods?labelSelector", 200, PODS(POD("True")));
    say(&f, "GET", SERVICE "/v1/x", 200, "{}");
    ask(&f);
    rows_expect("its own", scripted_api_last_has(f.api, "GET", "/v1/x", "X-Auth-Apikey: one:b"),
                "one:b");
    tear_down(&f);
}

static void neuvectors_troubles_hold_nothing_else_back(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    put(&f, "api-key", "herd:secret");
    say(&f, "GET", "/cattle-neuvector-system/pods?labelSelector", 200, PODS(POD("True")));
    say(&f, "GET", SERVICE "/v1/x", 503, STATUS("no endpoints available"));
    say(&f, "GET", SERVICE "/v1/x", 429, "Too many requests");
    ask(&f);
    rows_expect("a Service without endpoints concerns nobody else",
                request_backoff_ends_ms(connection_backoff(f.connection), loop_now_ms(f.loop)) < 0,
                "no backoff");
    ask(&f);
    rows_expect_str("its own 429 is its trouble", f.reason, STR("NeuVectorUnreachable"));
    rows_expect("and nobody else's",
                request_backoff_ends_ms(connection_backoff(f.connection), loop_now_ms(f.loop)) < 0,
                "no backoff");
    tear_down(&f);
}

static void what_the_clusters_api_says_holds_all_back(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    put(&f, "api-key", "herd:secret");
    say(&f, "GET", "/cattle-neuvector-system/pods?labelSelector", 429, "Too many requests");
    ask(&f);
    rows_expect("a 429 concerns all",
                request_backoff_ends_ms(connection_backoff(f.connection), loop_now_ms(f.loop)) >= 0,
                "a backoff");
    ask(&f);
    rows_expect_int("and NeuVector waits for it, too",
                    scripted_api_count(f.api, "GET", "labelSelector"), 1);
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_failure_has_its_reason),
        cmocka_unit_test(what_is_no_trouble_is_for_who_asked),
        cmocka_unit_test(without_the_service_the_pod_is_the_way),
        cmocka_unit_test(it_is_looked_for_in_its_namespaces_only),
        cmocka_unit_test(three_rejections_are_enough),
        cmocka_unit_test(a_session_is_renewed_once),
        cmocka_unit_test(credentials_are_checked_before_anything_is_asked),
        cmocka_unit_test(credentials_of_the_cluster_go_first),
        cmocka_unit_test(neuvectors_troubles_hold_nothing_else_back),
        cmocka_unit_test(what_the_clusters_api_says_holds_all_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
