/* SPDX-License-Identifier: Apache-2.0 */
/* cluster_test.c: what a plan is told of one cluster. */
#include "support/rows.h"
#include "support/loopback.h"
#include "support/scripted_api.h"

#include "controller/backends/rancher_apps/cluster.h"
#include "controller/limits.h"

#define LIST_OF(kind, items)                                                                       \
    "{\"kind\":\"" kind "List\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"7\"},"   \
    "\"items\":[" items "]}"
#define LIST(kind) LIST_OF(kind, "")

struct fixture {
    struct arena *arena;
    struct scripted_api *api;
    struct loop *loop;
    struct kube_client *client;
    struct connection *connection;
    struct backend_events events;
    struct apps_cluster *cluster;
    bool told;
    bool free; /* there is capacity */
};

static void on_release(void *context, struct str release)
{
    (void)context;
    (void)release;
}

static void on_waiter(void *context, struct str stack)
{
    (void)context;
    (void)stack;
}

static void on_changed(void *context, struct str id)
{
    struct fixture *f = context;

    (void)id;
    f->told = true;
}

static void on_capacity(void *context, struct str id)
{
    struct fixture *f = context;

    (void)id;
    f->free = true;
}

static void on_trouble(void *context, struct str id, const struct error *error)
{
    (void)context;
    (void)id;
    (void)error;
}

static void set_up(struct fixture *f, const char *apps, const char *repos)
{
    *f = (struct fixture){ .arena = arena_create(0) };
    f->api = scripted_api_create();
    f->loop = loop_create();
    f->client = scripted_api_client(f->api, (struct kube_client_options){ .loop = f->loop });
    f->connection = connection_create(&(struct connection_options){ .requests = f->client,
                                                                    .watches = f->client,
                                                                    .id = STR("c-m-1"),
                                                                    .changed = on_changed,
                                                                    .trouble = on_trouble,
                                                                    .context = f });
    f->events = (struct backend_events){ .release_changed = on_release,
                                         .stack_changed = on_release,
                                         .cluster_changed = on_changed,
                                         .capacity_freed = on_capacity,
                                         .context = f };
    f->cluster = apps_cluster_create(f->connection, &f->events, 1);
    scripted_api_say(f->api, "WATCH", "/", 200, "");
    scripted_api_say(f->api, "GET", "/apps?", 200,
                     str_fmt(f->arena, LIST_OF("App", "%s"), apps).at);
    scripted_api_say(f->api, "GET", "/operations?", 200, LIST("Operation"));
    scripted_api_say(f->api, "GET", "/clusterrepos?", 200,
                     str_fmt(f->arena, LIST_OF("ClusterRepo", "%s"), repos).at);
}

static void tear_down(struct fixture *f)
{
    apps_cluster_free(f->cluster);
    connection_free(f->connection);
    kube_client_free(f->client);
    loop_free(f->loop);
    scripted_api_free(f->api);
    arena_free(f->arena);
}

static int64_t now(const struct fixture *f)
{
    return loop_now_ms(f->loop);
}

static void follow(struct fixture *f)
{
    f->told = false;
    connection_use(f->connection, true);
}

#define REPO(name, spec, state)                                                                    \
    "{\"metadata\":{\"name\":\"" name                                                              \
    "\",\"uid\":\"u\",\"resourceVersion\":\"1\",\"generation\":1},"                                \
    "\"spec\":{" spec "},\"status\":{\"observedGeneration\":1,\"indexConfigMapName\":\"i\","       \
    "\"conditions\":[{\"type\":\"Downloaded\",\"status\":\"" state "\",\"message\":\"x509\"}]}}"
#define OF_C "\"url\":\"https://c\""
#define DISABLED OF_C ",\"enabled\":false"

static void the_repository_that_serves_is_found(void **state)
{
    static const struct {
        const char *name, *repos;
        enum repo_state want;
        const char *repo, *says;
    } rows[] = {
        { "there is none", "", REPO_ABSENT, "herd-", "" },
        { "one that is disabled is named", REPO("a", DISABLED, "True"), REPO_UNUSABLE, "a",
          "ClusterRepo a on c-m-1 is disabled (spec.enabled: false); enable it" },
        { "one that is ready serves instead of it",
          REPO("a", DISABLED, "True") "," REPO("b", OF_C, "True"), REPO_READY, "b", "" },
        { "even one that is not ready yet does",
          REPO("a", DISABLED, "True") "," REPO("b", OF_C, "Unknown"), REPO_DOWNLOADING, "b", "" },
        { "one that failed serves if none is ready", REPO("b", OF_C, "False"), REPO_FAILED, "b",
          "x509" },
        { "one of Herd's that somebody gave another URL is named",
          REPO("herd-f399dc860c", "\"url\":\"https://d\"", "True"), REPO_UNUSABLE, "herd-",
          "was made for https://c, but its spec.url is https://d now; set it back, or delete" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fixture f;
        struct observed_cluster observed = { .id = STR("c-m-1") };
        struct backend_question question;
        const struct observed_repo *repo;

        set_up(&f, "", rows[i].repos);
        question = (struct backend_question){ .stack = STR("n/s"),
                                              .releases = str_list_new(f.arena, 0),
                                              .repos = str_list_new(f.arena, 1),
                                              .versions = observed_versions_new(f.arena, 0) };
        str_list_push(&question.repos, STR("https://c"));
        follow(&f);
        loopback_run_until(f.loop, &f.told);
        apps_cluster_prepare(f.cluster, STR("n/s"));
        loopback_run_until(f.loop, &f.free);
        apps_cluster_observe(f.cluster, f.arena, &question, now(&f), &observed);
        repo = &observed.repos.items[0];
        rows_expect_int(rows[i].name, repo->state, rows[i].want);
        rows_expect(rows[i].name, str_starts(repo->name, str_of(rows[i].repo)), repo->name.at);
        rows_expect(rows[i].name, str_find(repo->message, str_of(rows[i].says), 0) >= 0,
                    str_z(f.arena, repo->message));
        tear_down(&f);
    }
}

#define APP(status)                                                                                \
    "{\"metadata\":{\"name\":\"db\",\"namespace\":\"db\",\"uid\":\"u\",\"resourceVersion\":\"1\"}" \
    ","                                                                                            \
    "\"spec\":{\"name\":\"db\",\"namespace\":\"db\",\"version\":1,\"info\":{\"status\":\"" status  \
    "\"}}}"

static void what_changes_need_is_followed_while_something_changes(void **state)
{
    static const struct {
        const char *name, *apps;
        bool asked, leaves;
        bool settled; /* what is there can be told at once */
    } rows[] = {
        { "nothing is there", "", false, false, true },
        { "a release is deployed", APP("deployed"), false, false, true },
        { "one failed", APP("failed"), false, false, false },
        { "one is on its way", APP("pending-upgrade"), false, false, false },
        { "something was asked for", APP("deployed"), true, false, false },
        { "the Stack leaves", APP("deployed"), false, true, false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fixture f;
        struct observed_cluster observed = { .id = STR("c-m-1"), .state = CLUSTER_READ };
        struct observed_cluster again = observed;
        struct backend_question question;
        int64_t later_ms;

        set_up(&f, rows[i].apps, REPO("b", OF_C, "True"));
        question = (struct backend_question){ .stack = STR("n/s"),
                                              .releases = str_list_new(f.arena, 1),
                                              .repos = str_list_new(f.arena, 0),
                                              .versions = observed_versions_new(f.arena, 0),
                                              .asked = rows[i].asked,
                                              .leaves = rows[i].leaves };
        str_list_push(&question.releases, STR("db/db"));
        follow(&f);
        loopback_run_until(f.loop, &f.told);
        apps_cluster_observe(f.cluster, f.arena, &question, now(&f), &observed);
        rows_expect_int(rows[i].name, observed.state,
                        rows[i].settled ? CLUSTER_READ : CLUSTER_NOT_SYNCED);
        rows_expect(rows[i].name, observed.unlisted_message.len > 0,
                    "nothing is said to be missing");
        rows_expect_int(rows[i].name, (int)scripted_api_count(f.api, "GET", "/operations?"), 0);
        rows_expect_int(rows[i].name, apps_cluster_prepare(f.cluster, STR("n/s")), rows[i].settled);
        loopback_run_until(f.loop, &f.free);
        apps_cluster_observe(f.cluster, f.arena, &question, now(&f), &again);
        rows_expect_int(rows[i].name, again.state, CLUSTER_READ);
        rows_expect(rows[i].name, !again.unlisted_message.len, "something is missing still");
        later_ms = now(&f) + LIMIT_CHANGES_IDLE;
        rows_expect_int(rows[i].name, apps_cluster_rest(f.cluster, later_ms - 1000), true);
        /* Who waits for capacity keeps it. */
        rows_expect_int(rows[i].name, apps_cluster_rest(f.cluster, later_ms), true);
        apps_cluster_offer_capacity(f.cluster, 3, later_ms, on_waiter, &f);
        rows_expect_int(rows[i].name, apps_cluster_rest(f.cluster, later_ms), false);
        tear_down(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_repository_that_serves_is_found),
        cmocka_unit_test(what_changes_need_is_followed_while_something_changes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
