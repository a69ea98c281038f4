/* SPDX-License-Identifier: Apache-2.0 */
/* signal_test.c: signals come as events of the loop, one after the other. */
#include "support/rows.h"

#include "io/signal.h"

#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

struct taken {
    struct loop *loop;
    struct signal_watch *watch;
    int numbers[4];
    int count;
};

static void take(void *context, int number)
{
    struct taken *taken = context;

    taken->numbers[taken->count++] = number;
    if (taken->count == 3) {
        signal_watch_free(taken->watch);
        loop_stop(taken->loop);
    }
}

static void test_signals(void **state)
{
    struct taken taken = { .loop = loop_create() };
    int sum = 0;

    (void)state;
    signal_setup();
    taken.watch = signal_watch_create(taken.loop, take, &taken);
    kill(getpid(), SIGTERM);
    kill(getpid(), SIGINT);
    kill(getpid(), SIGHUP);
    loop_run(taken.loop);
    for (int i = 0; i < 3; i++)
        sum += taken.numbers[i];
    rows_expect_int("each came once", sum, SIGTERM + SIGINT + SIGHUP);
    loop_free(taken.loop);

    kill(getpid(), SIGTERM);
    rows_expect_int("and can be waited for", signal_wait(), SIGTERM);

    int ends[2];

    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    rows_expect_int("a broken pipe is an error, not the end", write(ends[1], "x", 1), -1);
    close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_signals) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
