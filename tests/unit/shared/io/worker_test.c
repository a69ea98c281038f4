/* SPDX-License-Identifier: Apache-2.0 */
/* worker_test.c: work that runs beside the loop, and is done in it. */
#include "support/rows.h"

#include "io/worker.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

struct job {
    struct loop *loop;
    struct worker *worker;
    struct loop_timer *timer;
    pthread_t worked_on, done_on;
    atomic_int begun, worked, done;
    int turns; /* of the loop while the work was under way */
    int left;
};

static void work(void *context)
{
    struct job *job = context;

    job->worked_on = pthread_self();
    atomic_store(&job->begun, 1);
    usleep(20000);
    atomic_fetch_add(&job->worked, 1);
}

static void turn(void *context)
{
    struct job *job = context;

    job->turns += worker_is_busy(job->worker);
    loop_timer_set(job->timer, 1);
}

static void done(void *context)
{
    struct job *job = context;

    job->done_on = pthread_self();
    atomic_fetch_add(&job->done, 1);
    rows_expect("nothing is under way when it is done", !worker_is_busy(job->worker), "not busy");
    if (--job->left > 0)
        worker_run(job->worker, work, done, job);
    else
        loop_stop(job->loop);
}

static struct job job_new(void)
{
    struct job job = { .loop = loop_create(), .left = 3 };

    job.worker = worker_create(job.loop);
    return job;
}

static void the_loop_goes_on_meanwhile(void **state)
{
    struct job job = job_new();

    (void)state;
    job.timer = loop_timer_create(job.loop, turn, &job);
    loop_timer_set(job.timer, 1);
    worker_run(job.worker, work, done, &job);
    loop_run(job.loop);
    rows_expect_int("each once", job.worked, 3);
    rows_expect_int("each done", job.done, 3);
    rows_expect("the work on another thread", !pthread_equal(job.worked_on, pthread_self()), "another");
    rows_expect("its end on the loop's", pthread_equal(job.done_on, pthread_self()), "the same");
    rows_expect("timers fired meanwhile", job.turns > 0, "some");
    loop_timer_free(job.timer);
    worker_free(job.worker);
    loop_free(job.loop);
}

static void what_is_under_way_ends_before_it_is_freed(void **state)
{
    struct job job = job_new();

    (void)state;
    worker_run(job.worker, work, done, &job);
    while (!atomic_load(&job.begun))
        usleep(100);
    worker_free(job.worker);
    rows_expect_int("it ended", job.worked, 1);
    rows_expect_int("and was told to nobody", job.done, 0);
    loop_free(job.loop);
}

static void one_that_is_never_used_has_no_thread(void **state)
{
    struct job job = job_new();

    (void)state;
    worker_free(job.worker);
    worker_free(NULL);
    loop_free(job.loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_loop_goes_on_meanwhile),
        cmocka_unit_test(what_is_under_way_ends_before_it_is_freed),
        cmocka_unit_test(one_that_is_never_used_has_no_thread),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
