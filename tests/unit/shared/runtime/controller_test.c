/* SPDX-License-Identifier: Apache-2.0 */
/* controller_test.c: keys in, reconciles out: never two for one key, never more than the workers,
 * none while paused. */
#include "support/rows.h"
#include "support/loopback.h"

#include "runtime/controller.h"

enum { KEYS = 20, WORKERS = 3 };

struct fixture {
    struct loop *loop;
    struct kube_controller *controller;
    struct loop_timer *finish;
    uint32_t at_work[KEYS];
    uint32_t runs[KEYS];
    uint32_t total, most;
    uint32_t fail_first; /* the first so many reconciles fail */
    bool done;
};

static char names[KEYS][4];

static void finish_all(void *context)
{
    struct fixture *f = context;

    for (int i = 0; i < KEYS; i++) {
        if (!f->at_work[i])
            continue;
        f->at_work[i] = 0;
        if (f->fail_first) {
            f->fail_first--;
            kube_controller_done(f->controller, str_of(names[i]), RECONCILE_RETRY, -1);
        } else {
            kube_controller_done(f->controller, str_of(names[i]), RECONCILE_DONE, -1);
        }
    }
    if (f->total >= KEYS && kube_controller_depth(f->controller) == 0)
        f->done = true;
}

static void reconcile(void *context, struct str key)
{
    struct fixture *f = context;
    int i = (key.at[0] - '0') * 10 + (key.at[1] - '0');

    assert_int_equal(f->at_work[i], 0);
    f->at_work[i] = 1;
    f->runs[i]++;
    f->total++;
    if (kube_controller_busy(f->controller) > f->most)
        f->most = kube_controller_busy(f->controller);
    loop_timer_set(f->finish, 1);
}

static void set_up(struct fixture *f)
{
    *f = (struct fixture){ .loop = loop_create() };
    for (int i = 0; i < KEYS; i++) {
        names[i][0] = (char)('0' + i / 10);
        names[i][1] = (char)('0' + i % 10);
    }
    f->finish = loop_timer_create(f->loop, finish_all, f);
    f->controller = kube_controller_create(&(struct kube_controller_options){
        .loop = f->loop, .queue = { .retry_first_ms = 4, .retry_max_ms = 20 },
        .workers = WORKERS, .seed = 1, .reconcile = reconcile, .context = f });
}

static void tear_down(struct fixture *f)
{
    kube_controller_free(f->controller);
    loop_timer_free(f->finish);
    loop_free(f->loop);
}

static void each_key_once_and_few_at_a_time(void **state)
{
    struct fixture f;

    set_up(&f);
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < KEYS; i++)
            kube_controller_add(f.controller, str_of(names[i]));
    rows_expect_int("paused at first: nothing is handed out", f.total, 0);
    kube_controller_pause(f.controller, false);
    rows_expect_int("never from within a call", f.total, 0);
    loopback_run_until(f.loop, &f.done);
    rows_expect_int("duplicates melt together", f.total, KEYS);
    rows_expect_int("workers", f.most, WORKERS);
    tear_down(&f);
    (void)state;
}

static void what_failed_comes_again(void **state)
{
    struct fixture f;

    set_up(&f);
    f.fail_first = 5;
    for (int i = 0; i < KEYS; i++)
        kube_controller_add(f.controller, str_of(names[i]));
    kube_controller_pause(f.controller, false);
    loopback_run_until(f.loop, &f.done);
    while (f.total < KEYS + 5) {
        f.done = false;
        loopback_run_until(f.loop, &f.done);
    }
    rows_expect_int("five more", f.total, KEYS + 5);
    tear_down(&f);
    (void)state;
}

struct patience {
    struct kube_controller *controller;
    struct loop *loop;
    uint32_t calls;
    int64_t failed_ms; /* when it failed last */
    int64_t waited_ms; /* from then until it came again */
    bool done;
};

/* Fails, then comes and finds that it is too early, then fails, ... */
static void reconcile_impatiently(void *context, struct str key)
{
    struct patience *p = context;
    enum { FAILURES = 8 };

    if (p->calls++ % 2 == 0) {
        p->done = p->calls > 2 * FAILURES;
        p->failed_ms = loop_now_ms(p->loop);
        kube_controller_done(p->controller, key, p->done ? RECONCILE_DONE : RECONCILE_RETRY, -1);
    } else {
        p->waited_ms = loop_now_ms(p->loop) - p->failed_ms;
        kube_controller_done(p->controller, key, RECONCILE_LATER, 0);
    }
}

static void looking_too_early_forgets_no_failure(void **state)
{
    struct patience p = { .loop = loop_create() };

    p.controller = kube_controller_create(&(struct kube_controller_options){
        .loop = p.loop, .queue = { .retry_first_ms = 1, .retry_max_ms = 1000 }, .workers = 1,
        .seed = 1, .reconcile = reconcile_impatiently, .context = &p });
    kube_controller_add(p.controller, STR("a"));
    kube_controller_pause(p.controller, false);
    loopback_run_until(p.loop, &p.done);
    rows_expect("the eighth wait is above half of 128 ms", p.waited_ms > 64, "waits double");
    kube_controller_free(p.controller);
    loop_free(p.loop);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_key_once_and_few_at_a_time),
        cmocka_unit_test(what_failed_comes_again),
        cmocka_unit_test(looking_too_early_forgets_no_failure),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
