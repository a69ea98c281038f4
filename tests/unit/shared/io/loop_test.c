/* SPDX-License-Identifier: Apache-2.0 */
/* loop_test.c: order, freeing in the middle of things, and other threads. */
#include "support/rows.h"

#include "io/loop.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

struct order {
    struct loop *loop;
    char seen[64];
    size_t len;
    size_t stop_at;
};

struct mark {
    struct order *order;
    char name;
    struct loop_timer *timer;
    struct loop_timer *victim;
    int again;
};

static void note(struct mark *mark)
{
    struct order *order = mark->order;

    order->seen[order->len++] = mark->name;
    if (order->len >= order->stop_at)
        loop_stop(order->loop);
}

static void fired(void *context)
{
    struct mark *mark = context;

    note(mark);
    if (mark->victim) {
        loop_timer_free(mark->victim);
        mark->victim = NULL;
    }
    if (mark->again-- > 0)
        loop_timer_set(mark->timer, 0);
}

static void test_timers_fire_in_order_of_time_then_of_setting(void **state)
{
    static const struct {
        char name;
        int delay_ms;
    } set[] = { { 'e', 12 }, { 'a', 0 }, { 'c', 6 }, { 'b', 0 }, { 'd', 6 }, { 'A', -5 } };
    struct order order = { .loop = loop_create(), .stop_at = 6 };
    struct mark marks[6];

    (void)state;
    for (size_t i = 0; i < 6; i++) {
        marks[i] = (struct mark){ .order = &order, .name = set[i].name };
        marks[i].timer = loop_timer_create(order.loop, fired, &marks[i]);
        loop_timer_set(marks[i].timer, set[i].delay_ms);
        assert_true(loop_timer_is_set(marks[i].timer));
    }
    loop_run(order.loop);
    rows_expect_int("the last is the latest", order.seen[5], 'e');
    rows_expect("c comes before d, both after those of 0 ms",
                strchr(order.seen, 'c') < strchr(order.seen, 'd') && order.seen[3] == 'c',
                order.seen);
    for (size_t i = 0; i < 6; i++) {
        assert_false(loop_timer_is_set(marks[i].timer));
        loop_timer_free(marks[i].timer);
    }
    loop_free(order.loop);
}

static void test_a_timer_may_free_another_that_is_due(void **state)
{
    struct order order = { .loop = loop_create(), .stop_at = 2 };
    struct mark first = { .order = &order, .name = '1' };
    struct mark second = { .order = &order, .name = '2' };
    struct mark third = { .order = &order, .name = '3' };

    (void)state;
    first.timer = loop_timer_create(order.loop, fired, &first);
    second.timer = loop_timer_create(order.loop, fired, &second);
    third.timer = loop_timer_create(order.loop, fired, &third);
    first.victim = second.timer;
    loop_timer_set(first.timer, 0);
    loop_timer_set(second.timer, 0);
    loop_timer_set(third.timer, 0);
    loop_run(order.loop);
    rows_expect_str("the freed one does not fire", str_of(order.seen), STR("13"));
    loop_timer_free(first.timer);
    loop_timer_free(third.timer);
    loop_free(order.loop);
}

static void free_oneself(void *context)
{
    struct mark *mark = context;

    note(mark);
    loop_timer_free(mark->timer);
}

static void test_a_timer_may_free_itself(void **state)
{
    struct order order = { .loop = loop_create(), .stop_at = 1 };
    struct mark mark = { .order = &order, .name = 'x' };

    (void)state;
    mark.timer = loop_timer_create(order.loop, free_oneself, &mark);
    loop_timer_set(mark.timer, 0);
    loop_run(order.loop);
    rows_expect_str("it fired once", str_of(order.seen), STR("x"));
    loop_free(order.loop);
}

static void ready(void *context, int events)
{
    assert_int_equal(events, LOOP_READ);
    fired(context);
}

static void test_a_timer_that_sets_itself_to_zero_starves_nobody(void **state)
{
    struct order order = { .loop = loop_create(), .stop_at = 40 };
    struct mark busy = { .order = &order, .name = 't', .again = 1000 };
    struct mark socket = { .order = &order, .name = 's' };
    int ends[2];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "x", 1), 1);
    busy.timer = loop_timer_create(order.loop, fired, &busy);
    loop_timer_set(busy.timer, 0);

    struct loop_watch *watch = loop_watch_create(order.loop, ends[0], LOOP_READ, ready, &socket);

    loop_run(order.loop);
    rows_expect("both had their turns", strstr(order.seen, "stst"), order.seen);
    loop_watch_free(watch);
    loop_timer_free(busy.timer);
    loop_free(order.loop);
    close(ends[0]);
    close(ends[1]);
}

/* A first turn does not know how long nobody looked; it stands for one after a long stop. */
static void test_after_a_long_gap_timers_come_before_descriptors(void **state)
{
    struct order order = { .loop = loop_create(), .stop_at = 6 };
    struct mark due = { .order = &order, .name = 't', .again = 2 };
    struct mark socket = { .order = &order, .name = 's' };
    int ends[2];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "x", 1), 1);
    due.timer = loop_timer_create(order.loop, fired, &due);
    loop_timer_set(due.timer, 0);

    struct loop_watch *watch = loop_watch_create(order.loop, ends[0], LOOP_READ, ready, &socket);

    loop_run(order.loop);
    rows_expect_str("timers first, then the usual order", str_of(order.seen), STR("tsstst"));
    loop_watch_free(watch);
    loop_timer_free(due.timer);
    loop_free(order.loop);
    close(ends[0]);
    close(ends[1]);
}

static void test_many_timers(void **state)
{
    enum { COUNT = 5000 };
    struct loop *loop = loop_create();
    struct loop_timer **timers = calloc(COUNT, sizeof(struct loop_timer *));
    struct order order = { .loop = loop, .stop_at = 63 };
    struct mark mark = { .order = &order, .name = 'm' };
    uint64_t random = 12345;

    (void)state;
    /* Set, move, clear and free at random; then the rest fires in order. */
    for (int i = 0; i < COUNT; i++) {
        timers[i] = loop_timer_create(loop, fired, &mark);
        random = random * 6364136223846793005ULL + 1442695040888963407ULL;
        loop_timer_set(timers[i], 1000 + (int64_t)(random >> 40) % 100000);
    }
    for (int i = 0; i < COUNT; i++) {
        random = random * 6364136223846793005ULL + 1442695040888963407ULL;
        if (i % 3 == 0)
            loop_timer_clear(timers[i]);
        else if (i % 3 == 1)
            loop_timer_set(timers[i], 1000 + (int64_t)(random >> 40) % 100000);
    }
    for (int i = 0; i < 63; i++)
        loop_timer_set(timers[i * 7], 0);
    loop_run(loop);
    rows_expect_int("only those that are due fire", (int64_t)order.len, 63);
    for (int i = 0; i < COUNT; i++)
        loop_timer_free(timers[i]);
    free(timers);
    loop_free(loop);
}

struct pair {
    struct loop *loop;
    struct loop_watch *watches[2];
    int fired;
};

/* Whichever comes first frees both: the other's event is in the same batch. */
static void free_both(void *context, int events)
{
    struct pair *pair = context;

    (void)events;
    pair->fired++;
    loop_watch_free(pair->watches[0]);
    loop_watch_free(pair->watches[1]);
    loop_stop(pair->loop);
}

static void test_a_watch_freed_in_the_same_batch_is_not_called(void **state)
{
    struct pair pair = { .loop = loop_create() };
    int ends[2][2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pipe(ends[i]), 0);
        assert_int_equal(write(ends[i][1], "x", 1), 1);
        pair.watches[i] = loop_watch_create(pair.loop, ends[i][0], LOOP_READ, free_both, &pair);
    }
    loop_run(pair.loop);
    rows_expect_int("one was called", pair.fired, 1);
    for (int i = 0; i < 2; i++) {
        close(ends[i][0]);
        close(ends[i][1]);
    }
    loop_free(pair.loop);
}

static void count_ready(void *context, int events)
{
    struct order *order = context;

    order->seen[order->len++] = (char)('0' + events);
    if (order->len == order->stop_at)
        loop_stop(order->loop);
}

static void test_a_watch_can_change_its_mind(void **state)
{
    struct order order = { .loop = loop_create(), .stop_at = 1 };
    int ends[2];

    (void)state;
    assert_int_equal(pipe(ends), 0);

    struct loop_watch *watch = loop_watch_create(order.loop, ends[1], 0, count_ready, &order);

    loop_watch_change(watch, LOOP_WRITE);
    loop_run(order.loop);
    rows_expect_str("it is writable", str_of(order.seen), STR("2"));
    loop_watch_change(watch, 0);
    close(ends[0]);

    /* An error on a descriptor that nobody asks about must not spin or call. */
    struct mark mark = { .order = &order, .name = 't' };

    order.stop_at = 2;
    mark.timer = loop_timer_create(order.loop, fired, &mark);
    loop_timer_set(mark.timer, 10);
    loop_run(order.loop);
    rows_expect_str("it is quiet", str_of(order.seen), STR("2t"));
    loop_timer_free(mark.timer);
    loop_watch_free(watch);
    close(ends[1]);
    loop_free(order.loop);
}

enum { THREADS = 4, POSTS = 2000 };

struct posts {
    struct loop *loop;
    int count; /* not atomic: only the loop's thread touches it */
    int last[THREADS];
};

struct message {
    struct posts *posts;
    int thread;
    int number;
};

static void receive(void *context)
{
    struct message *message = context;
    struct posts *posts = message->posts;

    assert_int_equal(message->number, posts->last[message->thread] + 1);
    posts->last[message->thread] = message->number;
    free(message);
    if (++posts->count == THREADS * POSTS)
        loop_stop(posts->loop);
}

struct poster {
    struct posts *posts;
    int thread;
};

static void *post_many(void *context)
{
    const struct poster *poster = context;

    for (int i = 1; i <= POSTS; i++) {
        struct message *message = malloc(sizeof(*message));

        *message = (struct message){ poster->posts, poster->thread, i };
        loop_post(poster->posts->loop, receive, message);
    }
    return NULL;
}

static void test_posts_of_many_threads_arrive_in_their_order(void **state)
{
    struct posts posts = { .loop = loop_create() };
    struct poster posters[THREADS];
    pthread_t threads[THREADS];

    (void)state;
    for (int i = 0; i < THREADS; i++) {
        posters[i] = (struct poster){ &posts, i };
        pthread_create(&threads[i], NULL, post_many, &posters[i]);
    }
    loop_run(posts.loop);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    rows_expect_int("all arrived", posts.count, THREADS * POSTS);
    loop_free(posts.loop);
}

static void test_a_stop_before_the_run_counts(void **state)
{
    struct loop *loop = loop_create();

    (void)state;
    loop_stop(loop);
    loop_run(loop);
    loop_free(loop);
}

static void test_clocks(void **state)
{
    struct loop *loop = loop_create();
    int64_t before = clock_monotonic_ms(system_clock());

    (void)state;
    rows_expect("the loop's time is the clock's", loop_now_ms(loop) >= before &&
                loop_now_ms(loop) <= clock_monotonic_ms(loop_clock(loop)), "monotonic");
    rows_expect("wall time is of this century", clock_wall_ms(loop_clock(loop)) > 1700000000000,
                "wall");
    loop_free(loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timers_fire_in_order_of_time_then_of_setting),
        cmocka_unit_test(test_a_timer_may_free_another_that_is_due),
        cmocka_unit_test(test_a_timer_may_free_itself),
        cmocka_unit_test(test_a_timer_that_sets_itself_to_zero_starves_nobody),
        cmocka_unit_test(test_after_a_long_gap_timers_come_before_descriptors),
        cmocka_unit_test(test_many_timers),
        cmocka_unit_test(test_a_watch_freed_in_the_same_batch_is_not_called),
        cmocka_unit_test(test_a_watch_can_change_its_mind),
        cmocka_unit_test(test_posts_of_many_threads_arrive_in_their_order),
        cmocka_unit_test(test_a_stop_before_the_run_counts),
        cmocka_unit_test(test_clocks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
