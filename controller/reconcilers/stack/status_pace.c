/* SPDX-License-Identifier: Apache-2.0 */
/* status_pace.c: of each Stack with a long status, when the next write may be. */
#include "controller/reconcilers/stack/status_pace.h"

#include "base/map.h"
#include "base/memory.h"
#include "controller/limits.h"

struct status_pace {
    struct dict *next; /* Stack -> int64_t, monotonic */
};

struct status_pace *status_pace_create(void)
{
    struct status_pace *pace = mem_new(struct status_pace);

    pace->next = dict_create();
    return pace;
}

void status_pace_free(struct status_pace *pace)
{
    struct str key;
    void *next;

    if (!pace)
        return;
    for (size_t cursor = 0; dict_next(pace->next, &cursor, &key, &next);)
        mem_free(next);
    dict_free(pace->next);
    mem_free(pace);
}

int64_t status_pace_left_ms(const struct status_pace *pace, struct str key, int64_t now_ms)
{
    const int64_t *next_ms = dict_get(pace->next, key);

    return next_ms && *next_ms > now_ms ? *next_ms - now_ms : 0;
}

void status_pace_written(struct status_pace *pace, struct str key, size_t bytes, int64_t now_ms)
{
    int64_t pause_ms = (int64_t)bytes * 1000 / LIMIT_STATUS_PACE;
    int64_t *next_ms;

    status_pace_forget(pace, key);
    if (bytes < LIMIT_STATUS_PACE_FROM)
        return;
    next_ms = mem_new(int64_t);
    *next_ms = now_ms + (pause_ms < LIMIT_STATUS_PAUSE_MAX ? pause_ms : LIMIT_STATUS_PAUSE_MAX);
    dict_set(pace->next, key, next_ms);
}

void status_pace_forget(struct status_pace *pace, struct str key)
{
    mem_free(dict_remove(pace->next, key));
}
