/* SPDX-License-Identifier: Apache-2.0 */
/* loop.c: epoll, a heap of timers, and an eventfd that other threads ring.
 *
 * One turn: wait, take the time, run what is ready, run what was posted, fire what is due. After a
 * long gap what is due comes first: a lease or a deadline that ran out meanwhile must be known
 * before anybody reads or writes. A
 * watch that is freed while a turn is under way stays as a tombstone until its end, because the
 * kernel may have handed out an event for it in the same batch. A timer is off the heap before
 * it fires, so it may go at once. */
#include "io/loop.h"

#include "base/memory.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum {
    EVENTS_AT_ONCE = 16, /* what is due is looked at between so many */
    /* epoll's timeout does not count sleep, the timers do: look at least this often. */
    WAIT_MS_MAX = 1000,
    /* Longer than any wait with a timer set: the loop or the process stood still. */
    GAP_MS_MAX = WAIT_MS_MAX + 250,
};

struct loop_timer {
    struct loop *loop;
    void (*fire)(void *context);
    void *context;
    int64_t due_ms;
    uint64_t order; /* among equals, the one set first fires first */
    size_t place;   /* on the heap, from 1; 0 = not set */
};

struct loop_watch {
    struct loop *loop;
    void (*ready)(void *context, int events);
    void *context;
    int fd;
    int events;
    bool dead;
    struct loop_watch *next_dead;
};

struct post {
    void (*work)(void *context);
    void *context;
    struct post *next;
};

struct loop {
    int epoll;
    int bell;
    atomic_bool stop;
    bool in_turn;
    int64_t now_ms;
    struct clock clock;
    struct loop_timer **heap; /* heap[1] is due first */
    size_t heap_count;
    size_t heap_capacity;
    uint64_t next_order;
    struct loop_watch *dead;
    pthread_mutex_t posts_lock;
    struct post *first_post;
    struct post **posts_end;
    void (*ran)(void *context,
                const struct loop_callback *callback); /* NULL: nobody wants to know */
    void *ran_context;
};

static int64_t read_us(clockid_t id)
{
    struct timespec now;

    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int64_t read_ms(clockid_t id)
{
    return read_us(id) / 1000;
}

static int64_t monotonic_ms(void *context)
{
    (void)context;
    return read_ms(CLOCK_BOOTTIME);
}

static int64_t wall_ms(void *context)
{
    (void)context;
    return read_ms(CLOCK_REALTIME);
}

const struct clock *system_clock(void)
{
    static const struct clock clock = { monotonic_ms, wall_ms, NULL };

    return &clock;
}

struct loop *loop_create(void)
{
    struct loop *loop = mem_new(struct loop);

    loop->epoll = epoll_create1(EPOLL_CLOEXEC);
    loop->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

    struct epoll_event event = { .events = EPOLLIN, .data.ptr = NULL };

    if (loop->epoll < 0 || loop->bell < 0 ||
        epoll_ctl(loop->epoll, EPOLL_CTL_ADD, loop->bell, &event) != 0)
        mem_exhausted("descriptors for an event loop");
    loop->clock = *system_clock();
    loop->posts_end = &loop->first_post;
    pthread_mutex_init(&loop->posts_lock, NULL);
    return loop;
}

void loop_free(struct loop *loop)
{
    if (!loop)
        return;
    while (loop->first_post) {
        struct post *post = loop->first_post;

        loop->first_post = post->next;
        mem_free(post);
    }
    pthread_mutex_destroy(&loop->posts_lock);
    close(loop->bell);
    close(loop->epoll);
    mem_free(loop->heap);
    mem_free(loop);
}

void loop_observe(struct loop *loop,
                  void (*ran)(void *context, const struct loop_callback *callback), void *context)
{
    loop->ran = ran;
    loop->ran_context = context;
}

/* When a callback begins, by both clocks; 0 where nobody wants to know. */
struct begun {
    int64_t at_us;
    int64_t cpu_us;
};

static struct begun callback_begins(const struct loop *loop)
{
    struct begun begun = { 0, 0 };

    if (loop->ran)
        begun = (struct begun){ read_us(CLOCK_BOOTTIME), read_us(CLOCK_THREAD_CPUTIME_ID) };
    return begun;
}

/* `due_ms`: of a timer; -1 = of something else. */
static void callback_ended(const struct loop *loop, struct begun begun, int64_t due_ms)
{
    struct loop_callback callback = { .late_s = -1 };

    if (!loop->ran)
        return;
    callback.took_s = (double)(read_us(CLOCK_BOOTTIME) - begun.at_us) / 1e6;
    callback.cpu_s = (double)(read_us(CLOCK_THREAD_CPUTIME_ID) - begun.cpu_us) / 1e6;
    if (due_ms >= 0)
        callback.late_s = (double)(begun.at_us - due_ms * 1000) / 1e6;
    loop->ran(loop->ran_context, &callback);
}

/* Only what a signal handler may do. */
static void ring(const struct loop *loop)
{
    int saved = errno;
    uint64_t one = 1;

    /* It can fail only with EAGAIN, when the bell is ringing already. */
    if (write(loop->bell, &one, sizeof(one)) < 0)
        errno = saved;
    errno = saved;
}

void loop_stop(struct loop *loop)
{
    atomic_store(&loop->stop, true);
    ring(loop);
}

void loop_post(struct loop *loop, void (*work)(void *context), void *context)
{
    struct post *post = mem_new(struct post);

    post->work = work;
    post->context = context;
    pthread_mutex_lock(&loop->posts_lock);
    *loop->posts_end = post;
    loop->posts_end = &post->next;
    pthread_mutex_unlock(&loop->posts_lock);
    ring(loop);
}

static void run_posts(struct loop *loop)
{
    pthread_mutex_lock(&loop->posts_lock);

    struct post *post = loop->first_post;

    loop->first_post = NULL;
    loop->posts_end = &loop->first_post;
    pthread_mutex_unlock(&loop->posts_lock);
    while (post) {
        struct post *next = post->next;
        struct begun begun = callback_begins(loop);

        post->work(post->context);
        callback_ended(loop, begun, -1);
        mem_free(post);
        post = next;
    }
}

int64_t loop_now_ms(const struct loop *loop)
{
    return loop->in_turn ? loop->now_ms : read_ms(CLOCK_BOOTTIME);
}

const struct clock *loop_clock(const struct loop *loop)
{
    return &loop->clock;
}

static bool sooner(const struct loop_timer *a, const struct loop_timer *b)
{
    return a->due_ms != b->due_ms ? a->due_ms < b->due_ms : a->order < b->order;
}

static void heap_put(struct loop *loop, size_t place, struct loop_timer *timer)
{
    loop->heap[place] = timer;
    timer->place = place;
}

/* `timer` belongs at or above `place`, or at or below it: move it there. */
static void heap_settle(struct loop *loop, size_t place, struct loop_timer *timer)
{
    while (place > 1 && sooner(timer, loop->heap[place / 2])) {
        heap_put(loop, place, loop->heap[place / 2]);
        place /= 2;
    }
    for (;;) {
        size_t child = place * 2;

        if (child > loop->heap_count)
            break;
        if (child < loop->heap_count && sooner(loop->heap[child + 1], loop->heap[child]))
            child++;
        if (!sooner(loop->heap[child], timer))
            break;
        heap_put(loop, place, loop->heap[child]);
        place = child;
    }
    heap_put(loop, place, timer);
}

void loop_timer_clear(struct loop_timer *timer)
{
    struct loop *loop = timer->loop;
    size_t place = timer->place;

    if (!place)
        return;
    timer->place = 0;

    struct loop_timer *last = loop->heap[loop->heap_count--];

    if (last != timer)
        heap_settle(loop, place, last);
}

void loop_timer_set(struct loop_timer *timer, int64_t delay_ms)
{
    struct loop *loop = timer->loop;

    loop_timer_clear(timer);
    if (loop->heap_count + 1 >= loop->heap_capacity) {
        loop->heap_capacity = loop->heap_capacity ? loop->heap_capacity * 2 : 64;
        loop->heap = mem_resize(loop->heap, loop->heap_capacity * sizeof(struct loop_timer *));
    }
    timer->due_ms = loop_now_ms(loop) + (delay_ms > 0 ? delay_ms : 0);
    timer->order = loop->next_order++;
    heap_settle(loop, ++loop->heap_count, timer);
}

bool loop_timer_is_set(const struct loop_timer *timer)
{
    return timer->place != 0;
}

struct loop_timer *loop_timer_create(struct loop *loop, void (*fire)(void *context), void *context)
{
    struct loop_timer *timer = mem_new(struct loop_timer);

    timer->loop = loop;
    timer->fire = fire;
    timer->context = context;
    return timer;
}

void loop_timer_free(struct loop_timer *timer)
{
    if (!timer)
        return;
    loop_timer_clear(timer);
    mem_free(timer);
}

/* Those that were set before this turn's firing began: a timer that sets itself to 0 cannot starve
 * the rest of the loop. */
static void fire_timers(struct loop *loop)
{
    uint64_t order_end = loop->next_order;

    while (loop->heap_count) {
        struct loop_timer *timer = loop->heap[1];

        if (timer->due_ms > loop->now_ms || timer->order >= order_end)
            break;

        int64_t due_ms = timer->due_ms;
        struct begun begun = callback_begins(loop);

        loop_timer_clear(timer);
        timer->fire(timer->context);
        callback_ended(loop, begun, due_ms);
    }
}

static void epoll_set(const struct loop_watch *watch, int operation)
{
    struct epoll_event event = { .data.ptr = (void *)(uintptr_t)watch };

    if (watch->events & LOOP_READ)
        event.events |= EPOLLIN | EPOLLRDHUP;
    if (watch->events & LOOP_WRITE)
        event.events |= EPOLLOUT;
    /* Removal fails where the descriptor was closed before, which removed it too. */
    if (epoll_ctl(watch->loop->epoll, operation, watch->fd, &event) != 0 &&
        operation != EPOLL_CTL_DEL)
        mem_exhausted("epoll entries");
}

struct loop_watch *loop_watch_create(struct loop *loop, int fd, int events,
                                     void (*ready)(void *context, int events), void *context)
{
    struct loop_watch *watch = mem_new(struct loop_watch);

    watch->loop = loop;
    watch->ready = ready;
    watch->context = context;
    watch->fd = fd;
    loop_watch_change(watch, events);
    return watch;
}

void loop_watch_change(struct loop_watch *watch, int events)
{
    int old = watch->events;

    if (events == old)
        return;
    watch->events = events;
    /* With no events wished for, the kernel would still tell of errors, again and again. */
    if (!events)
        epoll_set(watch, EPOLL_CTL_DEL);
    else
        epoll_set(watch, old ? EPOLL_CTL_MOD : EPOLL_CTL_ADD);
}

void loop_watch_free(struct loop_watch *watch)
{
    if (!watch)
        return;
    loop_watch_change(watch, 0);
    if (!watch->loop->in_turn) {
        mem_free(watch);
        return;
    }
    watch->dead = true;
    watch->next_dead = watch->loop->dead;
    watch->loop->dead = watch;
}

static void bury(struct loop *loop)
{
    while (loop->dead) {
        struct loop_watch *watch = loop->dead;

        loop->dead = watch->next_dead;
        mem_free(watch);
    }
}

static void tell(struct loop_watch *watch, uint32_t happened)
{
    int events = 0;

    if (happened & (EPOLLIN | EPOLLRDHUP))
        events |= LOOP_READ;
    if (happened & EPOLLOUT)
        events |= LOOP_WRITE;
    /* An error is found by whichever the owner tries. */
    if (happened & (EPOLLERR | EPOLLHUP))
        events |= LOOP_READ | LOOP_WRITE;
    events &= watch->events;
    if (events && !watch->dead) {
        const struct loop *loop = watch->loop;
        struct begun begun = callback_begins(loop);

        watch->ready(watch->context, events);
        callback_ended(loop, begun, -1);
    }
}

static int wait_ms(const struct loop *loop)
{
    if (!loop->heap_count)
        return -1;

    int64_t left = loop->heap[1]->due_ms - read_ms(CLOCK_BOOTTIME);

    return left <= 0 ? 0 : left < WAIT_MS_MAX ? (int)left : WAIT_MS_MAX;
}

static void turn(struct loop *loop)
{
    struct epoll_event events[EVENTS_AT_ONCE];
    int count = epoll_wait(loop->epoll, events, EVENTS_AT_ONCE, wait_ms(loop));
    int64_t last_ms = loop->now_ms; /* 0 at the first turn, which counts as late */
    bool rung = false;

    loop->now_ms = read_ms(CLOCK_BOOTTIME);
    loop->in_turn = true;

    bool late = loop->now_ms - last_ms > GAP_MS_MAX;

    if (late)
        fire_timers(loop);
    for (int i = 0; i < count; i++) {
        if (events[i].data.ptr)
            tell(events[i].data.ptr, events[i].events);
        else
            rung = true;
    }
    if (rung) {
        uint64_t rings;

        if (read(loop->bell, &rings, sizeof(rings)) < 0 && errno != EAGAIN && errno != EINTR)
            mem_exhausted("event loop's bell");
        run_posts(loop);
    }
    if (!late)
        fire_timers(loop);
    loop->in_turn = false;
    bury(loop);
}

void loop_run(struct loop *loop)
{
    /* A stop that came before counts; it is used up on the remedy. */
    while (!atomic_load(&loop->stop))
        turn(loop);
    atomic_store(&loop->stop, false);
}
