/* SPDX-License-Identifier: Apache-2.0 */
/* wait.h: threads that wait for each other with a time limit: by CLOCK_MONOTONIC, which nobody
 * sets. */
#ifndef HERD_IO_WAIT_H
#define HERD_IO_WAIT_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

/* A condition whose timed waits take what wait_until gives; the same with a lock for it. */
void wait_init_condition(pthread_cond_t *condition);
void wait_init(pthread_mutex_t *lock, pthread_cond_t *condition);
/* The time `ms` from now, 0 or more, for pthread_cond_timedwait. */
struct timespec wait_until(int64_t ms);

#endif
