/* SPDX-License-Identifier: Apache-2.0 */
/* health_test.c: the probes' pages over HTTP. */
#include "support/rows.h"
#include "support/loopback.h"

#include "runtime/health.h"

struct fixture {
    struct arena *arena;
    struct health *health;
    struct loop *loop;
    struct http_client *client;
};

static const struct metric_row metric_rows[] = {
    { METRIC_COUNTER, "herd_test_total", { NULL }, NULL, "A test." },
};

static struct reply get(struct fixture *f, const char *path)
{
    return loopback_get(f->loop, f->client, "http", health_port(f->health), path, f->arena);
}

static void probes_say_what_is_wrong(void **state)
{
    static const char *const checks[] = { "informers", "leader" };
    AUTO(metrics_free) struct metrics *metrics = metrics_create(metric_rows, 1);
    struct error err;
    struct fixture f = { .arena = arena_create(0), .loop = loop_create() };
    struct http_client_options options = { .plain_allowed = true, .user_agent = "test" };

    f.health = health_create("127.0.0.1", 0, checks, 2, metrics, &err);
    f.client = http_client_create(f.loop, &options, &err);
    assert_non_null(f.health);
    assert_non_null(f.client);

    struct reply reply = get(&f, "/readyz");

    rows_expect_int("not ready at first", reply.status, 500);
    rows_expect_str("and says why", reply.body,
                    STR("[+]ping ok\n[+]loop ok\n[-]informers failed: starting\n"
                        "[-]leader failed: starting\n[+]shutdown ok\nreadyz check failed\n"));
    rows_expect_int("but alive", get(&f, "/healthz").status, 200);
    health_set(f.health, 0, STR(""));
    health_set(f.health, 1, STR(""));
    rows_expect_str("ready", get(&f, "/readyz").body, STR("ok"));
    rows_expect_str("with its list", get(&f, "/livez?verbose").body,
                    STR("[+]ping ok\n[+]loop ok\nlivez check passed\n"));
    health_shutting_down(f.health);
    rows_expect_int("not ready when going down", get(&f, "/readyz").status, 500);
    rows_expect_int("but alive still", get(&f, "/healthz").status, 200);
    health_beat(f.health, clock_monotonic_ms(system_clock()) - 1000, 500);
    rows_expect_int("a loop that hangs is not alive", get(&f, "/healthz").status, 500);
    health_beat(f.health, clock_monotonic_ms(system_clock()), 60000);
    rows_expect_int("until it turns again", get(&f, "/healthz").status, 200);
    reply = get(&f, "/metrics");
    rows_expect("metrics", str_find(reply.body, STR("herd_test_total 0"), 0) >= 0, reply.body.at);
    rows_expect_int("nothing else", get(&f, "/secrets").status, 404);

    http_client_free(f.client);
    health_free(f.health);
    loop_free(f.loop);
    arena_free(f.arena);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(probes_say_what_is_wrong) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
