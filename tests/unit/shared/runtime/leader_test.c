/* SPDX-License-Identifier: Apache-2.0 */
/* leader_test.c: two candidates and one lease on a loopback server: one leads, hands over, and
 * loses leadership at the deadline even when the server hangs. Bounds are 25 times shorter. */
#include "support/rows.h"
#include "support/loopback.h"

#include "io/http_server.h"
#include "kube/meta.h"
#include "runtime/leader.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { DURATION = 600, DEADLINE = 400, RETRY = 80 };

/* An API server that knows one lease. */
struct server {
    pthread_mutex_t lock;
    struct http_server *http;
    char lease[2048];
    unsigned version;
    bool labelled; /* with labels that are somebody else's */
    bool hang, closing;
    unsigned writes;
};

static void answer(struct http_exchange *exchange, int status, const char *text)
{
    http_answer(exchange, status, "application/json",
                str_dup(http_view(exchange)->arena, str_of(text)));
}

static void store_lease(struct server *s, struct str spec)
{
    snprintf(s->lease, sizeof(s->lease),
             "{\"kind\":\"Lease\",\"metadata\":{\"name\":\"l\",\"resourceVersion\":\"%u\"%s},"
             "\"spec\":%.*s}", ++s->version, s->labelled ? ",\"labels\":{\"a\":\"b\"}" : "",
             STR_ARG(spec));
}

static bool write_lease(struct server *s, const struct http_exchange_view *view, bool update)
{
    struct json root;
    struct kube_meta meta;
    struct error err;

    assert_int_equal(json_read(view->arena, view->body, &json_limits_default, &root, &err), 0);
    kube_meta_read(root, &meta);
    if (update &&
        !str_eq(meta.resource_version, str_fmt(view->arena, "%u", s->version)))
        return false;
    s->writes++;
    /* Who puts an object replaces all of it; who patches leaves what the patch does not name. */
    s->labelled = s->labelled && str_eq(view->method, STR("PATCH"));
    store_lease(s, json_raw(json_get(root, STR("spec"))));
    return true;
}

static bool wait_while_hung(struct server *s)
{
    for (;;) {
        pthread_mutex_lock(&s->lock);

        bool wait = s->hang && !s->closing;

        if (!wait)
            return true;
        pthread_mutex_unlock(&s->lock);
        nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
    }
}

static void handle(struct http_exchange *exchange, void *context)
{
    struct server *s = context;
    const struct http_exchange_view *view = http_view(exchange);
    bool get = str_eq(view->method, STR("GET"));
    bool update = str_eq(view->method, STR("PUT")) || str_eq(view->method, STR("PATCH"));

    wait_while_hung(s);
    if (!s->lease[0] && (get || update))
        answer(exchange, 404, "{\"kind\":\"Status\",\"reason\":\"NotFound\",\"code\":404}");
    else if (s->lease[0] && str_eq(view->method, STR("POST")))
        answer(exchange, 409, "{\"kind\":\"Status\",\"reason\":\"AlreadyExists\",\"code\":409}");
    else if (!get && !write_lease(s, view, update))
        answer(exchange, 409, "{\"kind\":\"Status\",\"reason\":\"Conflict\",\"code\":409}");
    else
        answer(exchange, 200, s->lease);
    pthread_mutex_unlock(&s->lock);
}

struct side {
    struct leader *leader;
    bool began, lost, released;
};

struct fixture {
    struct arena *arena;
    struct server server;
    struct loop *loop;
    struct kube_client *client;
    struct side sides[2];
};

static void on_began(void *context)
{
    ((struct side *)context)->began = true;
}

static void on_lost(void *context)
{
    ((struct side *)context)->lost = true;
}

static void on_released(void *context)
{
    ((struct side *)context)->released = true;
}

static void set_up(struct fixture *f)
{
    static const struct http_route routes[] = { { "", "/*", 65536, handle, "lease" } };
    struct error err;

    memset(f, 0, sizeof(*f));
    f->arena = arena_create(0);
    pthread_mutex_init(&f->server.lock, NULL);
    f->server.http = http_server_create(&(struct http_server_options){
        .address = "127.0.0.1", .routes = routes, .route_count = 1, .context = &f->server }, &err);
    assert_non_null(f->server.http);
    f->loop = loop_create();

    struct kube_config config = {
        .server = str_fmt(f->arena, "http://127.0.0.1:%u", http_server_port(f->server.http)) };

    f->client = kube_client_create(
        &(struct kube_client_options){ .loop = f->loop, .config = &config, .user_agent = "t" },
        &err);
    assert_non_null(f->client);
}

static void join(struct fixture *f, int i)
{
    f->sides[i].leader = leader_create(&(struct leader_options){
        .client = f->client,
        .namespace_ = STR("n"),
        .name = STR("l"),
        .identity = i ? STR("second") : STR("first"),
        .seed = (uint64_t)i + 1,
        .duration_ms = DURATION,
        .renew_deadline_ms = DEADLINE,
        .retry_ms = RETRY,
        .began = on_began,
        .lost = on_lost,
        .context = &f->sides[i],
    });
}

static void hang(struct fixture *f, bool hangs)
{
    pthread_mutex_lock(&f->server.lock);
    f->server.hang = hangs;
    pthread_mutex_unlock(&f->server.lock);
}

static void tear_down(struct fixture *f)
{
    pthread_mutex_lock(&f->server.lock);
    f->server.closing = true;
    pthread_mutex_unlock(&f->server.lock);
    leader_free(f->sides[0].leader);
    leader_free(f->sides[1].leader);
    kube_client_free(f->client);
    loop_free(f->loop);
    http_server_free(f->server.http);
    arena_free(f->arena);
}

static void hands_over_when_released(void **state)
{
    struct fixture f;

    set_up(&f);
    join(&f, 0);
    loopback_run_until(f.loop, &f.sides[0].began);
    assert_true(leader_is_leading(f.sides[0].leader));
    join(&f, 1);
    leader_release(f.sides[0].leader, on_released, &f.sides[0]);
    assert_false(leader_may_write(f.sides[0].leader));
    loopback_run_until(f.loop, &f.sides[0].released);

    int64_t released_ms = loop_now_ms(f.loop);

    loopback_run_until(f.loop, &f.sides[1].began);
    rows_expect("sooner than the lease would have run out",
                loop_now_ms(f.loop) - released_ms < DURATION, "hand-over");
    rows_expect("transitions are counted",
                strstr(f.server.lease, "\"leaseTransitions\":2") != NULL, f.server.lease);
    assert_false(f.sides[0].lost);
    tear_down(&f);
    (void)state;
}

static void loses_at_the_deadline_when_the_server_hangs(void **state)
{
    struct fixture f;

    set_up(&f);
    join(&f, 0);
    loopback_run_until(f.loop, &f.sides[0].began);
    hang(&f, true);

    int64_t hung_ms = loop_now_ms(f.loop);

    loopback_run_until(f.loop, &f.sides[0].lost);
    rows_expect("not after the deadline", loop_now_ms(f.loop) - hung_ms <= DEADLINE + 100, "lost");
    assert_false(leader_may_write(f.sides[0].leader));
    hang(&f, false);
    join(&f, 1);
    loopback_run_until(f.loop, &f.sides[1].began);
    assert_true(leader_is_leading(f.sides[1].leader));
    tear_down(&f);
    (void)state;
}

static void releases_at_once_while_it_follows(void **state)
{
    struct fixture f;

    set_up(&f);
    join(&f, 0);
    leader_release(f.sides[0].leader, on_released, &f.sides[0]);
    loopback_run_until(f.loop, &f.sides[0].released);
    assert_int_equal(f.server.writes, 0);
    tear_down(&f);
    (void)state;
}

/* The manifests ship it empty, with labels, and apply it again. */
static void takes_an_empty_lease_and_leaves_its_labels(void **state)
{
    struct fixture f;

    set_up(&f);
    f.server.labelled = true;
    store_lease(&f.server, STR("{}"));

    int64_t began_ms = loop_now_ms(f.loop);

    join(&f, 0);
    loopback_run_until(f.loop, &f.sides[0].began);
    rows_expect("nobody ever held it, so it is taken at once",
                loop_now_ms(f.loop) - began_ms < DURATION, "empty lease");
    leader_release(f.sides[0].leader, on_released, &f.sides[0]);
    loopback_run_until(f.loop, &f.sides[0].released);
    rows_expect("labels that others gave it stay", f.server.labelled, f.server.lease);
    tear_down(&f);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hands_over_when_released),
        cmocka_unit_test(loses_at_the_deadline_when_the_server_hangs),
        cmocka_unit_test(releases_at_once_while_it_follows),
        cmocka_unit_test(takes_an_empty_lease_and_leaves_its_labels),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
