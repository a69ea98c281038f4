/* SPDX-License-Identifier: Apache-2.0 */
/* worker.c: the thread waits on a condition, the loop on an eventfd. */
#include "io/worker.h"

#include "base/memory.h"

#include <assert.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct worker {
    struct loop *loop;
    struct loop_watch *watch; /* of `bell`, which rings when work ended */
    int bell;
    pthread_t thread;
    bool started;
    void (*done)(void *context); /* of what is under way; NULL: nothing is */
    void *context;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    void (*work)(void *context); /* under the lock, as all below: what the thread is to do next */
    bool ending;
};

static void ring(const struct worker *worker)
{
    uint64_t one = 1;

    if (write(worker->bell, &one, sizeof(one)) < 0)
        mem_exhausted("a worker's bell");
}

static void *serve(void *context)
{
    struct worker *worker = context;

    pthread_mutex_lock(&worker->lock);
    for (;;) {
        while (!worker->work && !worker->ending)
            pthread_cond_wait(&worker->changed, &worker->lock);
        if (worker->ending)
            break;

        void (*work)(void *) = TAKE(worker->work);

        pthread_mutex_unlock(&worker->lock);
        work(worker->context);
        ring(worker);
        pthread_mutex_lock(&worker->lock);
    }
    pthread_mutex_unlock(&worker->lock);
    return NULL;
}

static void on_bell(void *context, int events)
{
    struct worker *worker = context;
    void (*done)(void *) = TAKE(worker->done);
    uint64_t rings;

    (void)events;
    if (read(worker->bell, &rings, sizeof(rings)) < 0)
        mem_exhausted("a worker's bell");
    done(worker->context);
}

struct worker *worker_create(struct loop *loop)
{
    struct worker *worker = mem_new(struct worker);

    worker->loop = loop;
    worker->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (worker->bell < 0)
        mem_exhausted("a worker's bell");
    worker->watch = loop_watch_create(loop, worker->bell, LOOP_READ, on_bell, worker);
    pthread_mutex_init(&worker->lock, NULL);
    pthread_cond_init(&worker->changed, NULL);
    return worker;
}

void worker_free(struct worker *worker)
{
    if (!worker)
        return;
    pthread_mutex_lock(&worker->lock);
    worker->ending = true;
    pthread_cond_signal(&worker->changed);
    pthread_mutex_unlock(&worker->lock);
    if (worker->started)
        pthread_join(worker->thread, NULL);
    loop_watch_free(worker->watch);
    close(worker->bell);
    pthread_cond_destroy(&worker->changed);
    pthread_mutex_destroy(&worker->lock);
    mem_free(worker);
}

void worker_run(struct worker *worker, void (*work)(void *context), void (*done)(void *context),
                void *context)
{
    assert(!worker->done);
    worker->done = done;
    worker->context = context;
    if (!worker->started && pthread_create(&worker->thread, NULL, serve, worker) != 0)
        mem_exhausted("a thread");
    worker->started = true;
    pthread_mutex_lock(&worker->lock);
    worker->work = work;
    pthread_cond_signal(&worker->changed);
    pthread_mutex_unlock(&worker->lock);
}

bool worker_is_busy(const struct worker *worker)
{
    return worker->done != NULL;
}
