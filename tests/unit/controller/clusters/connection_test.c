/* SPDX-License-Identifier: Apache-2.0 */
/* connection_test.c: one connection: when its cluster is starting, read, and too long unheard of to
 * act on; what is followed and dropped; what is sent through it, and how much of it at once. */
#include "support/rows.h"
#include "support/loopback.h"
#include "support/scripted_api.h"

#include "controller/limits.h"
#include "runtime/limits.h"
#include "controller/clusters/connection.h"

#define LIST(kind, items)                                                                          \
    "{\"kind\":\"" kind "List\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"7\"},"   \
    "\"items\":[" items "]}"
#define OBJECT(name) "{\"metadata\":{\"name\":\"" name "\",\"uid\":\"u\",\"resourceVersion\":\"1\"}}"

struct fixture {
    struct arena *arena;
    struct scripted_api *api;
    struct loop *loop;
    struct kube_client *client;
    struct connection *connection;
    bool told;
    uint32_t troubles, idle, forgotten, answered;
};

static void on_changed(void *context, struct str id)
{
    struct fixture *f = context;

    rows_expect_str("of that cluster", id, STR("c-m-1"));
    f->told = true;
}

static void on_trouble(void *context, struct str id, const struct error *error)
{
    struct fixture *f = context;

    (void)id;
    f->troubles += error != NULL;
}

static void on_idle(void *context, struct str id)
{
    struct fixture *f = context;

    (void)id;
    f->idle++;
}

static void set_up(struct fixture *f)
{
    *f = (struct fixture){ .arena = arena_create(0) };
    f->api = scripted_api_create();
    f->loop = loop_create();
    f->client = scripted_api_client(f->api, (struct kube_client_options){ .loop = f->loop });
    f->connection = connection_create(&(struct connection_options){
        .requests = f->client, .watches = f->client, .id = STR("c-m-1"), .changed = on_changed,
        .trouble = on_trouble, .idle = on_idle, .context = f });
    scripted_api_say(f->api, "WATCH", "/", 200, "");
    scripted_api_say(f->api, "GET", "/k8s/clusters/c-m-1/apis/x.io/v1/apples?", 200,
                     LIST("Apple", OBJECT("a") "," OBJECT("b")));
    scripted_api_say(f->api, "GET", "/k8s/clusters/c-m-1/apis/x.io/v1/pears?", 200,
                     LIST("Pear", OBJECT("p")));
    scripted_api_say(f->api, "GET", "/plums?", 403,
                     "{\"kind\":\"Status\",\"reason\":\"Forbidden\",\"message\":\"no\",\"code\":403}");
}

static void tear_down(struct fixture *f)
{
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

static void on_object(void *context, struct kube_object *before, struct kube_object *after)
{
    (void)context;
    (void)before;
    (void)after;
}

static void on_forgotten(void *context)
{
    struct fixture *f = context;

    f->forgotten++;
}

static void on_synced(void *context)
{
    struct fixture *f = context;

    f->told = true;
}

static void on_own_trouble(void *context, const struct error *error)
{
    struct fixture *f = context;

    f->told = error != NULL;
}

#define FRUIT(plural) KUBE_RESOURCE_INIT("x.io", "v1", plural, "Fruit", false)
static const struct kube_resource apples = FRUIT("apples");
static const struct kube_resource pears = FRUIT("pears");
static const struct kube_resource plums = FRUIT("plums");

static struct collection *follow(struct fixture *f, const struct kube_resource *resource,
                                 bool required)
{
    return connection_follow(f->connection, &(struct collection_options){
        .resource = *resource, .need = required ? COLLECTION_REQUIRED : COLLECTION_OPTIONAL, .on_change = on_object,
        .on_forgotten = on_forgotten, .on_synced = required ? NULL : on_synced,
        .on_trouble = required ? NULL : on_own_trouble, .context = f });
}

static void await(struct fixture *f)
{
    f->told = false;
    loopback_run_until(f->loop, &f->told);
}

static void is_stale_once_it_is_unheard_of(void **state)
{
    struct fixture f;
    struct collection *one, *other;

    (void)state;
    set_up(&f);
    connection_use(f.connection, true);
    rows_expect("what nobody follows is not read", !connection_is_read(f.connection), "read");
    one = follow(&f, &apples, true);
    other = follow(&f, &pears, true);
    rows_expect("what is being read is not stale",
                !connection_is_stale(f.connection, now(&f) + 3600000), "stale");
    await(&f);
    rows_expect("it is read once all are listed", connection_is_read(f.connection), "not read");
    rows_expect_int("objects of both are held", (int)connection_objects(f.connection), 3);
    rows_expect("fresh", !connection_is_stale(f.connection, now(&f)), "stale");
    rows_expect("until nothing was heard for the bound",
                connection_is_stale(f.connection, now(&f) + LIMIT_CLUSTER_DEAD_TIME + 1), "fresh");
    connection_drop(one);
    connection_drop(other);
    tear_down(&f);
}

static void starts_but_once(void **state)
{
    struct fixture f;
    struct collection *one;

    (void)state;
    set_up(&f);
    connection_use(f.connection, true);
    rows_expect("who will follow it begins in a moment", connection_is_starting(f.connection, now(&f) + 20000), "no");
    connection_use(f.connection, false);
    one = follow(&f, &apples, true);
    rows_expect("not before Rancher reaches it", !connection_is_starting(f.connection, now(&f)), "yes");
    connection_use(f.connection, true);
    rows_expect("its first lists are waited for", connection_is_starting(f.connection, now(&f)), "no");
    rows_expect("not for ever", !connection_is_starting(f.connection, now(&f) + 20000), "yes");
    connection_use(f.connection, false);
    loopback_run_until(f.loop, &(bool){ true });

    int64_t began_ms = now(&f);

    connection_use(f.connection, true);
    rows_expect("one that never came up does not begin anew",
                !connection_is_starting(f.connection, began_ms + 20000), "yes");
    await(&f);
    rows_expect("not once it is read", !connection_is_starting(f.connection, now(&f)), "yes");
    connection_use(f.connection, false);
    rows_expect_int("what was read is forgotten", (int)f.forgotten, 2);
    rows_expect("so it is not read", !connection_is_read(f.connection), "read");
    connection_use(f.connection, true);
    rows_expect("nor does it start when it comes back", !connection_is_starting(f.connection, now(&f)),
                "yes");
    connection_drop(one);
    tear_down(&f);
}

static void who_follows_what_is_not_required_has_nobody_wait(void **state)
{
    struct fixture f;
    struct collection *required, *pear, *plum;

    (void)state;
    set_up(&f);
    connection_use(f.connection, true);
    required = follow(&f, &apples, true);
    await(&f);
    plum = follow(&f, &plums, false);
    await(&f);
    rows_expect("one that may not be listed leaves the cluster read",
                connection_is_read(f.connection) && f.troubles == 0, "not read");
    rows_expect_str("and without trouble", connection_trouble(f.connection, f.arena), STR(""));
    connection_drop(plum);
    pear = follow(&f, &pears, false);
    await(&f);
    connection_use(f.connection, false);
    rows_expect("it keeps what it had while the agent is away",
                kube_cache_count(informer_cache(collection_informer(pear))) == 1, "forgotten");
    rows_expect("unlike what is required", !collection_informer(required), "kept");
    connection_drop(pear);
    connection_drop(required);
    tear_down(&f);
}

static void is_followed_and_dropped_at_will(void **state)
{
    struct fixture f;
    struct collection *one, *other;

    (void)state;
    set_up(&f);
    connection_use(f.connection, true);
    one = follow(&f, &apples, true);
    await(&f);
    other = follow(&f, &pears, true);
    rows_expect("with one more it is not read for a moment", !connection_is_read(f.connection), "read");
    await(&f);
    rows_expect("then it is, and says so", connection_is_read(f.connection), "not read");
    connection_drop(other);
    rows_expect("with one less it still is", connection_is_read(f.connection), "not read");
    connection_drop(one);
    rows_expect("with none it is not", !connection_is_read(f.connection), "read");
    one = follow(&f, &apples, true);
    rows_expect("who comes next begins anew", connection_is_starting(f.connection, now(&f)), "no");
    connection_drop(one);
    tear_down(&f);
}

static void on_answer(void *context, const struct kube_answer *answer)
{
    struct fixture *f = context;

    rows_expect_int("answered", answer->status, 200);
    f->answered++;
    f->told = true;
}

static void a_service_is_asked_through_both_proxies(void **state)
{
    const struct connection_service service = { "https", STR("cattle-neuvector-system"),
                                          STR("neuvector-svc-controller-api"), 10443 };
    const struct http_header session = { STR("X-Auth-Token"), STR("t") };
    struct fixture f;

    (void)state;
    set_up(&f);
    scripted_api_say(f.api, "POST", "/k8s/clusters/c-m-1/api/v1/namespaces/cattle-neuvector-system/"
                     "services/https:neuvector-svc-controller-api:10443/proxy/v1/scan?max=2", 200, "{}");
    connection_send(f.connection, &(struct kube_raw){
        .method = "POST", .content_type = "application/json", .body = STR("{\"a\":1}"),
        .path = connection_service_path(f.arena, &service, STR("/v1/scan?max=2")),
        .headers = &session, .header_count = 1, .answer_bytes_max = 1024 }, on_answer, &f);
    rows_expect("it is on its way", connection_is_busy(f.connection), "idle");
    await(&f);
    rows_expect_int("it was answered", (int)f.answered, 1);
    rows_expect_int("which is told", (int)f.idle, 1);
    rows_expect("with the client's own header",
                scripted_api_last_has(f.api, "POST", "/v1/scan", "X-Auth-Token: t"), "lost");
    rows_expect("beside those of every request",
                scripted_api_last_has(f.api, "POST", "/v1/scan", "Content-Type: application/json"), "lost");
    rows_expect("the body came along",
                str_find(scripted_api_last(f.api, f.arena, "POST", "/v1/scan"), STR("{\"a\":1}"), 0) >= 0,
                "no body");
    tear_down(&f);
}

static void on_too_large(void *context, const struct kube_answer *answer)
{
    struct fixture *f = context;

    rows_expect_int("an answer above the client's bound is none", answer->error.code, ERROR_TOO_LARGE);
    f->told = true;
}

static void each_client_bounds_its_answers(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    scripted_api_say(f.api, "GET", "/metrics", 200, "0123456789");
    connection_send(f.connection, &(struct kube_raw){
        .method = "GET", .path = STR("/metrics"), .answer_bytes_max = 9 }, on_too_large, &f);
    await(&f);
    connection_send(f.connection, &(struct kube_raw){
        .method = "GET", .path = STR("/metrics"), .answer_bytes_max = 10 }, on_answer, &f);
    await(&f);
    tear_down(&f);
}

static void on_step(void *context, const struct kube_answer *answer)
{
    struct fixture *f = context;

    (void)answer;
    connection_send(f->connection, &(struct kube_raw){ .method = "GET", .path = STR("/v1/second") },
                    on_answer, f);
}

static void requests_wait_their_turn(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    for (int i = 0; i < LIMIT_CLUSTER_REQUESTS; i++)
        scripted_api_hang(f.api, "GET", "/v1/slow");
    scripted_api_say(f.api, "GET", "/v1/second", 200, "{}");
    scripted_api_say(f.api, "GET", "/v1/first", 200, "{}");
    connection_send(f.connection, &(struct kube_raw){ .method = "GET", .path = STR("/v1/first") },
                    on_step, &f);
    for (int i = 1; i < LIMIT_CLUSTER_REQUESTS; i++)
        connection_send(f.connection, &(struct kube_raw){ .method = "GET", .path = STR("/v1/slow") },
                        on_answer, &f);
    connection_send(f.connection, &(struct kube_raw){ .method = "GET", .path = STR("/v1/second") },
                    on_answer, &f);
    rows_expect_int("one too many is not sent",
                    (int)scripted_api_count(f.api, "GET", "/v1/second"), 0);
    await(&f);
    while (f.answered < 2)
        await(&f);
    rows_expect_int("it is, and so is what a first step brings, once there is a turn",
                    (int)scripted_api_count(f.api, "GET", "/v1/second"), 2);
    scripted_api_run_until(f.api, f.loop, "GET", "/v1/slow", LIMIT_CLUSTER_REQUESTS - 1);
    rows_expect_int("the others are under way", (int)scripted_api_count(f.api, "GET", "/v1/slow"),
                    LIMIT_CLUSTER_REQUESTS - 1);
    rows_expect_int("so it is not idle", (int)f.idle, 0);
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_stale_once_it_is_unheard_of),
        cmocka_unit_test(starts_but_once),
        cmocka_unit_test(who_follows_what_is_not_required_has_nobody_wait),
        cmocka_unit_test(is_followed_and_dropped_at_will),
        cmocka_unit_test(a_service_is_asked_through_both_proxies),
        cmocka_unit_test(each_client_bounds_its_answers),
        cmocka_unit_test(requests_wait_their_turn),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
