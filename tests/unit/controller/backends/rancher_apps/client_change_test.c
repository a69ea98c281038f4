/* SPDX-License-Identifier: Apache-2.0 */
/* client_change_test.c: a release is read as it is now before it is changed. */
#include "support/rows.h"
#include "support/loopback.h"
#include "support/scripted_api.h"

#include "controller/backends/rancher_apps/client.h"

#define APP(uid, revision, status) APP_OF("u7", uid, revision, status)
#define APP_OF(stack_uid, uid, revision, status)                                                   \
    "{\"kind\":\"App\",\"metadata\":{\"name\":\"db\",\"namespace\":\"data\",\"uid\":\"" uid        \
    "\",\"annotations\":{\"herd.suse.com/stack-uid\":\"" stack_uid "\"}},\"spec\":{\"name\":\"db\",\"version\":" revision ",\"info\":{\"status\":\"" status        \
    "\"}},\"status\":{\"summary\":{\"state\":\"" status "\"}}}"
#define SECRET(status)                                                                             \
    "{\"kind\":\"Secret\",\"metadata\":{\"name\":\"sh.helm.release.v1.db.v2\",\"uid\":\"s1\","     \
    "\"resourceVersion\":\"41\",\"labels\":{\"owner\":\"helm\",\"name\":\"db\","                   \
    "\"status\":\"" status "\"}}}"
#define NOT_FOUND                                                                                  \
    "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"NotFound\",\"message\":\"no\","      \
    "\"code\":404}"
#define CONFLICT                                                                                   \
    "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"Conflict\",\"message\":\"no\","      \
    "\"code\":409}"
#define DONE_BODY                                                                                  \
    "{\"operationName\":\"helm-operation-x\",\"operationNamespace\":\"cattle-system\"}"

struct row {
    const char *name;
    enum { UNINSTALL, REMOVE_LOCK, UPGRADE } change;
    bool stuck;
    bool absent;       /* as seen */
    uint32_t revision; /* as seen */
    int app_status;
    const char *app;
    int secret_status;
    const char *secret;
    int delete_status;
    int post_status; /* of an upgrade */
    uint32_t posts, deletes;
    enum request_result result;
};

struct waiting {
    bool ended;
    enum request_result result;
};

static void on_done(void *context, const struct request_outcome *outcome)
{
    struct waiting *waiting = context;

    waiting->ended = true;
    waiting->result = outcome->result;
}

static void say_all(struct scripted_api *api, const struct row *r)
{
    scripted_api_say(api, "GET", "/apps/db", r->app_status, r->app);
    scripted_api_say(api, "GET",
                     r->revision == 1 ? "/secrets/sh.helm.release.v1.db.v1"
                                      : "/secrets/sh.helm.release.v1.db.v2",
                     r->secret_status ? r->secret_status : 404,
                     r->secret ? r->secret : NOT_FOUND);
    scripted_api_say(api, "POST", "?action=uninstall", 201, DONE_BODY);
    scripted_api_say(api, "POST", "/stable?action=upgrade", r->post_status ? r->post_status : 201,
                     r->post_status == 404 ? NOT_FOUND : DONE_BODY);
    scripted_api_say(api, "DELETE", "/secrets/", r->delete_status ? r->delete_status : 200,
                     r->delete_status == 409 ? CONFLICT : "{}");
}

static void change(struct rancher_client *rancher, const struct row *r,
                   const struct rancher_release *release, struct waiting *waiting)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct desired_release desired = { .namespace_ = STR("data"), .release_name = STR("db"),
                                       .chart_name = STR("db"), .chart_in_repo = STR("postgres"),
                                       .digest = STR("d1") };
    const struct wire_upgrade upgrade = {
        .stack = release->stack, .stack_uid = release->stack_uid, .repo_name = STR("stable"),
        .version = str_dup(arena, STR("1.2.3")), .revision = release->revision,
        .desired = &desired,
    };

    if (r->change == UPGRADE)
        rancher_upgrade(rancher, release, &upgrade, on_done, waiting);
    else if (r->change == UNINSTALL)
        rancher_uninstall(rancher, release, on_done, waiting);
    else
        rancher_remove_lock(rancher, release, on_done, waiting);
}

static void ignore(void *context, struct str id)
{
    (void)context;
    (void)id;
}

static void check(const struct row *r)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(scripted_api_free) struct scripted_api *api = scripted_api_create();
    AUTO(loop_free) struct loop *loop = loop_create();
    AUTO(kube_client_free) struct kube_client *client =
        scripted_api_client(api, (struct kube_client_options){ .loop = loop });
    AUTO(rancher_client_free) struct rancher_client *rancher = rancher_client_create();
    AUTO(connection_free) struct connection *connection = connection_create(
        &(struct connection_options){ .requests = client, .watches = client, .id = STR("c-m-1"),
                                      .idle = ignore });
    const struct rancher_release release = {
        .connection = connection, .namespace_ = STR("data"), .name = STR("db"),
        .uid = r->absent ? STR("") : STR("u1"), .stack = STR("team/shop"), .stack_uid = STR("u7"),
        .revision = r->revision, .stuck = r->stuck,
    };
    struct waiting waiting = { .ended = false };

    say_all(api, r);
    change(rancher, r, &release, &waiting);
    loopback_run_until(loop, &waiting.ended);
    rows_expect_int(r->name, scripted_api_count(api, "POST", "?action="), r->posts);
    rows_expect_int(r->name, scripted_api_count(api, "DELETE", "/secrets/"), r->deletes);
    rows_expect_int(r->name, waiting.result, r->result);
    if (r->posts)
        rows_expect(r->name,
                    str_find(scripted_api_last(api, arena, "POST",
                                               r->change == UPGRADE ? "?action=upgrade"
                                                                    : "?action=uninstall"),
                             STR("Stack team/shop, uid u7"), 0) >= 0,
                    "the operation says whose it is");
    if (r->deletes) {
        struct str last = scripted_api_last(api, arena, "DELETE", "/secrets/");

        rows_expect(r->name,
                    str_find(last, STR("\"uid\":\"s1\",\"resourceVersion\":\"41\""), 0) >= 0,
                    "just that Secret is deleted, as it was read");
    }
}

static void looks_before_it_uninstalls(void **state)
{
    static const struct row rows[] = {
        { "what is as it was seen is uninstalled", .revision = 3, .app_status = 200,
          .app = APP("u1", "3", "deployed"), .posts = 1, .result = REQUEST_DONE },
        { "also when somebody upgraded it meanwhile", .revision = 3, .app_status = 200,
          .app = APP("u1", "4", "deployed"), .posts = 1, .result = REQUEST_DONE },
        { "a namesake made since is left alone", .revision = 3, .app_status = 200,
          .app = APP("u2", "1", "deployed"), .result = REQUEST_DONE },
        { "what is not there is done", .revision = 3, .app_status = 404, .app = NOT_FOUND,
          .result = REQUEST_DONE },
        { "a look that fails is a rejection", .revision = 3, .app_status = 502, .app = "bad gateway",
          .result = REQUEST_REJECTED },
        { "a look that shows no App is a rejection", .revision = 3, .app_status = 200,
          .app = "<html>", .result = REQUEST_REJECTED },
        { "a stuck release is freed while it is stuck", .stuck = true, .revision = 1,
          .app_status = 200, .app = APP("u1", "1", "pending-install"), .secret_status = 200,
          .secret = SECRET("pending-install"), .posts = 1, .result = REQUEST_DONE },
        { "or hangs in its uninstallation", .stuck = true, .revision = 1, .app_status = 200,
          .app = APP("u1", "1", "uninstalling"), .secret_status = 200,
          .secret = SECRET("uninstalling"), .posts = 1, .result = REQUEST_DONE },
        { "or its Secret is lost", .stuck = true, .revision = 1, .app_status = 200,
          .app = APP("u1", "1", "pending-install"), .posts = 1, .result = REQUEST_DONE },
        { "not one whose Secret is deployed before the App says so", .stuck = true, .revision = 1,
          .app_status = 200, .app = APP("u1", "1", "pending-install"), .secret_status = 200,
          .secret = SECRET("deployed"), .result = REQUEST_DONE },
        { "and nothing that could not be looked at", .stuck = true, .revision = 1,
          .app_status = 200, .app = APP("u1", "1", "pending-install"), .secret_status = 503,
          .secret = "", .result = REQUEST_REJECTED },
        { "not once it is deployed", .stuck = true, .revision = 1, .app_status = 200,
          .app = APP("u1", "1", "deployed"), .result = REQUEST_DONE },
        { "nor once another revision is on its way", .stuck = true, .revision = 1,
          .app_status = 200, .app = APP("u1", "2", "pending-upgrade"), .result = REQUEST_DONE },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        check(&rows[i]);
}

static void looks_before_it_removes_a_lock(void **state)
{
    static const struct row rows[] = {
        { "a revision that is still pending", .change = REMOVE_LOCK, .revision = 2, .app_status = 200,
          .app = APP("u1", "2", "pending-upgrade"), .secret_status = 200,
          .secret = SECRET("pending-upgrade"), .deletes = 1, .result = REQUEST_DONE },
        { "not one that ended meanwhile", .change = REMOVE_LOCK, .revision = 2, .app_status = 200,
          .app = APP("u1", "2", "deployed"), .secret_status = 200, .secret = SECRET("deployed"),
          .result = REQUEST_DONE },
        { "nor one whose Secret says so before the App does", .change = REMOVE_LOCK, .revision = 2,
          .app_status = 200, .app = APP("u1", "2", "pending-upgrade"), .secret_status = 200,
          .secret = SECRET("deployed"), .result = REQUEST_DONE },
        { "nor that of a namesake made since", .change = REMOVE_LOCK, .revision = 2, .app_status = 200,
          .app = APP("u2", "2", "pending-upgrade"), .secret_status = 200,
          .secret = SECRET("pending-upgrade"), .result = REQUEST_DONE },
        { "a lock that is not there is removed", .change = REMOVE_LOCK, .revision = 2, .app_status = 200,
          .app = APP("u1", "2", "pending-upgrade"), .result = REQUEST_DONE },
        { "one that changed in between stays", .change = REMOVE_LOCK, .revision = 2, .app_status = 200,
          .app = APP("u1", "2", "pending-upgrade"), .secret_status = 200,
          .secret = SECRET("pending-upgrade"), .delete_status = 409, .deletes = 1,
          .result = REQUEST_DONE },
        { "a look that fails is a rejection", .change = REMOVE_LOCK, .revision = 2, .app_status = 200,
          .app = APP("u1", "2", "pending-upgrade"), .secret_status = 503, .secret = "",
          .result = REQUEST_REJECTED },
        { "a first revision goes with its release", .change = REMOVE_LOCK, .revision = 1, .app_status = 200,
          .app = APP("u1", "1", "pending-install"), .posts = 1, .result = REQUEST_DONE },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        check(&rows[i]);
}

static void looks_before_it_upgrades(void **state)
{
    static const struct row rows[] = {
        { "what is as it was seen is upgraded", .change = UPGRADE, .revision = 3, .app_status = 200,
          .app = APP("u1", "3", "deployed"), .posts = 1, .result = REQUEST_DONE },
        { "whosever it is: that was decided about", .change = UPGRADE, .revision = 3,
          .app_status = 200, .app = APP_OF("u8", "u1", "3", "deployed"), .posts = 1,
          .result = REQUEST_DONE },
        { "not a revision that somebody made since", .change = UPGRADE, .revision = 3,
          .app_status = 200, .app = APP("u1", "4", "deployed"), .result = REQUEST_DONE },
        { "nor a namesake made since", .change = UPGRADE, .revision = 3, .app_status = 200,
          .app = APP("u2", "3", "deployed"), .result = REQUEST_DONE },
        { "nor one that is gone", .change = UPGRADE, .revision = 3, .app_status = 404,
          .app = NOT_FOUND, .result = REQUEST_DONE },
        { "what is still absent is installed", .change = UPGRADE, .absent = true,
          .app_status = 404, .app = NOT_FOUND, .posts = 1, .result = REQUEST_DONE },
        { "not what somebody installed since", .change = UPGRADE, .absent = true,
          .app_status = 200, .app = APP_OF("", "u2", "1", "deployed"), .result = REQUEST_DONE },
        { "a look that fails is a rejection", .change = UPGRADE, .revision = 3, .app_status = 502,
          .app = "bad gateway", .result = REQUEST_REJECTED },
        { "also of what was absent", .change = UPGRADE, .absent = true, .app_status = 502,
          .app = "bad gateway", .result = REQUEST_REJECTED },
        { "a look that shows no App is a rejection", .change = UPGRADE, .absent = true,
          .app_status = 200, .app = "<html>", .result = REQUEST_REJECTED },
        { "a repository that is gone is no success", .change = UPGRADE, .absent = true,
          .app_status = 404, .app = NOT_FOUND, .post_status = 404, .posts = 1,
          .result = REQUEST_REJECTED },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        check(&rows[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(looks_before_it_uninstalls),
        cmocka_unit_test(looks_before_it_removes_a_lock),
        cmocka_unit_test(looks_before_it_upgrades),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
