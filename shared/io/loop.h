/* SPDX-License-Identifier: Apache-2.0 */
/* loop.h: one thread, one epoll: timers, descriptors and messages from other threads.
 *
 * Everything but loop_post and loop_stop is called from the loop's own thread. Callbacks never
 * block. A callback may free any timer or watch, its own too. */
#ifndef HERD_IO_LOOP_H
#define HERD_IO_LOOP_H

#include "base/cleanup.h"
#include "base/clock.h"

#include <stdbool.h>
#include <stdint.h>

struct loop;
struct loop_timer;
struct loop_watch;

struct loop *loop_create(void);
/* Timers and watches must be freed before. */
void loop_free(struct loop *loop);
AUTO_DEFINE(loop_free, struct loop *)

/* Until loop_stop. */
void loop_run(struct loop *loop);
/* From any thread or signal handler; the callback at work ends first. */
void loop_stop(struct loop *loop);
/* Run `work(context)` in the loop's thread, soon; from any thread. */
void loop_post(struct loop *loop, void (*work)(void *context), void *context);

/* What a callback took, in seconds, and for how many of these it had a processor: the others it
 * waited for one, or blocked. Of a timer's also by how much it was late, else -1. */
struct loop_callback {
    double took_s;
    double cpu_s;
    double late_s;
};
/* `ran(context, callback)` after each callback, from now on: what works for long makes all others
 * wait. It must not free the loop. */
void loop_observe(struct loop *loop,
                  void (*ran)(void *context, const struct loop_callback *callback), void *context);

/* The time at which the callbacks at work were woken: monotonic, counts sleep. */
int64_t loop_now_ms(const struct loop *loop);
/* The loop's clock, for those who take a struct clock: it reads the time anew at each call. */
const struct clock *loop_clock(const struct loop *loop);

/* A timer that is not set. `fire` runs once for each time it was set. */
struct loop_timer *loop_timer_create(struct loop *loop, void (*fire)(void *context), void *context);
void loop_timer_free(struct loop_timer *timer);
AUTO_DEFINE(loop_timer_free, struct loop_timer *)
/* At loop_now_ms() + delay_ms; setting again moves it. */
void loop_timer_set(struct loop_timer *timer, int64_t delay_ms);
void loop_timer_clear(struct loop_timer *timer);
bool loop_timer_is_set(const struct loop_timer *timer);

enum { LOOP_READ = 1, LOOP_WRITE = 2 };

/* `ready(context, events)` while `fd` is ready for `events`. The descriptor stays the caller's. */
struct loop_watch *loop_watch_create(struct loop *loop, int fd, int events,
                                     void (*ready)(void *context, int events), void *context);
void loop_watch_change(struct loop_watch *watch, int events);
void loop_watch_free(struct loop_watch *watch);

/* The system's clocks, for programs without a loop. */
const struct clock *system_clock(void);

#endif
