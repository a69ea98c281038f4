/* SPDX-License-Identifier: Apache-2.0 */
/* manager_test.c: what every part of a process gets from the manager: start, leadership, checks, an end. */
#include "support/rows.h"
#include "support/scripted_api.h"

#include "base/memory.h"
#include "io/program.h"
#include "io/signal.h"
#include "runtime/manager.h"

#include <signal.h>
#include <unistd.h>

enum { DURATION = 600, DEADLINE = 400, RETRY = 80, EVENT = 7 };

static const struct metric_row gauges[] = { { .kind = METRIC_GAUGE, .name = "leader", .help = "?" } };

/* What happened, as words in their order. */
static struct strbuf seen;
static struct manager *manager;
static bool may_write_at_start, may_write_when_leading;
static uint32_t busy_rounds;
static int raised;

static void see(const char *what, const char *part)
{
    strbuf_fmt(&seen, "%s %s;", what, part);
}

static void *start_a(void *context, uint64_t seed)
{
    (void)seed;
    may_write_at_start = manager_may_write(manager);
    see("start", "a");
    return context;
}

static void *start_b(void *context, uint64_t seed)
{
    (void)seed;
    see("start", "b");
    return context;
}

static void *start_none(void *context, uint64_t seed)
{
    (void)context;
    (void)seed;
    return NULL;
}

static void free_a(void *part)
{
    (void)part;
    see("free", "a");
}

static void free_b(void *part)
{
    (void)part;
    see("free", "b");
}

static void pause_a(void *part, bool paused)
{
    (void)part;
    see(paused ? "pause" : "resume", "a");
    if (!paused)
        may_write_when_leading = manager_may_write(manager);
}

static void pause_b(void *part, bool paused)
{
    (void)part;
    see(paused ? "pause" : "resume", "b");
    if (!paused && raised)
        raise(raised);
}

static uint32_t busy(const void *part)
{
    (void)part;
    if (busy_rounds == 0)
        return 0;
    see("busy", "a");
    return busy_rounds--;
}

static void never(void *part, const struct manager_event *event)
{
    (void)part;
    (void)event;
    fail_msg("a part that was not asked for heard something");
}

static void hear(void *part, const struct manager_event *event)
{
    (void)part;
    assert_int_equal(event->kind, EVENT);
    see("hear", "b");
}

static struct str trouble(const void *part)
{
    (void)part;
    return STR("not yet");
}

static void tick(void *part)
{
    (void)part;
    if (busy_rounds == 0)
        manager_notify(manager, &(struct manager_event){ .kind = EVENT });
}

static const struct manager_part part_a = { .name = "a", .start = start_a, .free = free_a, .pause = pause_a,
                                            .busy = busy, .checks = { { "one", trouble, NULL }, { "two", NULL, NULL } } };
static const struct manager_part part_none = { .name = "none", .start = start_none, .notify = never,
                                               .checks = { { "three", trouble, trouble } } };
static const struct manager_part part_b = { .name = "b", .start = start_b, .free = free_b, .pause = pause_b,
                                            .tick = tick, .notify = hear };
static const struct manager_part *const parts[] = { &part_a, &part_none, &part_b };

struct fixture {
    struct loop_timer *look;
    struct arena *arena;
    struct loop *loop;
    struct log *log;
    struct metrics *metrics;
    struct scripted_api *api;
    struct kube_client *client;
};

static void set_up(struct fixture *f)
{
    struct error err;

    f->arena = arena_create(0);
    f->loop = loop_create();
    f->log = log_create(2, LOG_ERROR, LOG_TEXT, system_clock(), "test");
    f->metrics = metrics_create(gauges, 1);
    f->api = scripted_api_create();
    f->client = scripted_api_client(f->api, (struct kube_client_options){ .loop = f->loop });
    seen = strbuf_new(f->arena, 256);
    manager = manager_create(&(struct manager_options){ .loop = f->loop, .log = f->log, .metrics = f->metrics,
        .parts = parts, .part_count = 3, .context = f, .identity = STR("me") });
    assert_int_equal(manager_listen(manager, "127.0.0.1", 0, &err), 0);
    busy_rounds = 0;
    raised = 0;
}

static void tear_down(struct fixture *f)
{
    manager_free(manager);
    kube_client_free(f->client);
    scripted_api_free(f->api);
    metrics_free(f->metrics);
    log_free(f->log);
    loop_free(f->loop);
}

static void a_signal_pauses_all_and_awaits_what_is_under_way(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    busy_rounds = 2;
    raised = SIGTERM;
    rows_expect_int("check numbers follow the rows", manager_check_of(manager, "three"), 2);
    rows_expect_int("ended by a signal", manager_run(manager, NULL), PROGRAM_OK);
    alarm(0); /* this process goes on */
    manager_free(TAKE(manager));
    rows_expect_str("in this order", strbuf_str(&seen),
                    STR("start a;start b;resume a;resume b;pause a;pause b;busy a;busy a;free b;free a;"));
    assert_true(may_write_at_start && may_write_when_leading);
    tear_down(&f);
    arena_free(f.arena);
}

static void on_heard(void *context)
{
    struct fixture *f = context;

    if (str_find(strbuf_str(&seen), STR("hear b;"), 0) >= 0)
        loop_stop(f->loop);
    else
        loop_timer_set(f->look, 1);
}

static void an_event_goes_to_every_part_that_was_started(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);

    f.look = loop_timer_create(f.loop, on_heard, &f);
    loop_timer_set(f.look, 1);
    manager_run(manager, NULL);
    rows_expect("heard", str_find(strbuf_str(&seen), STR("hear b;"), 0) >= 0, "the part that listens");
    loop_timer_free(f.look);
    tear_down(&f);
    arena_free(f.arena);
}

static void a_lost_lease_pauses_all_and_ends_the_process(void **state)
{
    static const char lease[] = "{\"kind\":\"Lease\",\"metadata\":{\"name\":\"l\",\"resourceVersion\":\"1\"},"
        "\"spec\":{\"holderIdentity\":\"me\",\"leaseDurationSeconds\":1}}";
    struct fixture f;

    (void)state;
    set_up(&f);
    scripted_api_say(f.api, "GET", "leases", 404, "{\"kind\":\"Status\",\"reason\":\"NotFound\",\"code\":404}");
    scripted_api_say(f.api, "POST", "leases", 201, lease);
    scripted_api_hang(f.api, "PUT", "leases");
    scripted_api_hang(f.api, "PATCH", "leases");

    int code = manager_run(manager, &(struct leader_options){
        .client = f.client, .namespace_ = STR("n"), .name = STR("l"), .seed = 1,
        .duration_ms = DURATION, .renew_deadline_ms = DEADLINE, .retry_ms = RETRY });

    rows_expect_int("it failed: somebody else may act", code, PROGRAM_FAILED);
    assert_false(may_write_at_start);
    assert_true(may_write_when_leading);
    assert_false(manager_may_write(manager));
    rows_expect("resumed, then paused", str_find(strbuf_str(&seen), STR("resume a;resume b;"), 0) >= 0 &&
                str_find(strbuf_str(&seen), STR("pause a;pause b;"), 0) >= 0, "all parts");
    tear_down(&f);
    arena_free(f.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_signal_pauses_all_and_awaits_what_is_under_way),
        cmocka_unit_test(an_event_goes_to_every_part_that_was_started),
        cmocka_unit_test(a_lost_lease_pauses_all_and_ends_the_process),
    };

    signal_setup();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
