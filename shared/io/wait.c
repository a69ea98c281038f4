/* SPDX-License-Identifier: Apache-2.0 */
/* wait.c: see wait.h. */
#include "io/wait.h"

enum { NS_PER_MS = 1000000, NS_PER_S = 1000000000 };

void wait_init_condition(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

void wait_init(pthread_mutex_t *lock, pthread_cond_t *condition)
{
    pthread_mutex_init(lock, NULL);
    wait_init_condition(condition);
}

struct timespec wait_until(int64_t ms)
{
    struct timespec at;

    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += (time_t)(ms / 1000);
    at.tv_nsec += (long)(ms % 1000) * NS_PER_MS;
    if (at.tv_nsec >= NS_PER_S) {
        at.tv_sec++;
        at.tv_nsec -= NS_PER_S;
    }
    return at;
}
