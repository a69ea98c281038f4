/* SPDX-License-Identifier: Apache-2.0 */
/* agenda.c: a binary heap by due time, and one condition variable. */
#include "lab/rancher/agenda.h"

#include "base/memory.h"
#include "io/wait.h"

#include <pthread.h>
#include <time.h>

/* The clock may be set while somebody waits: look at it at least that often. */
enum { LOOK_MS = 500 };

struct slot {
    int64_t due_ms;
    uint64_t order; /* equal times: first come, first served */
    enum agenda_kind kind;
    size_t lens[3];
    char *texts; /* the three texts, one behind the other */
};

struct agenda {
    const struct clock *clock;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct slot *slots;
    size_t count, capacity;
    uint64_t orders;
    bool closed;
};

struct agenda *agenda_create(const struct clock *clock)
{
    struct agenda *agenda = mem_new(struct agenda);

    agenda->clock = clock;
    wait_init(&agenda->lock, &agenda->changed);
    return agenda;
}

void agenda_free(struct agenda *agenda)
{
    if (!agenda)
        return;
    for (size_t i = 0; i < agenda->count; i++)
        mem_free(agenda->slots[i].texts);
    mem_free(agenda->slots);
    pthread_cond_destroy(&agenda->changed);
    pthread_mutex_destroy(&agenda->lock);
    mem_free(agenda);
}

static bool before(const struct slot *a, const struct slot *b)
{
    return a->due_ms != b->due_ms ? a->due_ms < b->due_ms : a->order < b->order;
}

static void swap(struct slot *a, struct slot *b)
{
    struct slot held = *a;

    *a = *b;
    *b = held;
}

static void rise(struct slot *slots, size_t at)
{
    while (at > 0 && before(&slots[at], &slots[(at - 1) / 2])) {
        swap(&slots[at], &slots[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
}

static void sink(struct slot *slots, size_t count, size_t at)
{
    for (;;) {
        size_t least = at;

        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < count; child++)
            if (before(&slots[child], &slots[least]))
                least = child;
        if (least == at)
            return;
        swap(&slots[at], &slots[least]);
        at = least;
    }
}

static struct slot slot_of(const struct agenda_entry *entry, int64_t due_ms)
{
    struct slot slot = { .due_ms = due_ms, .kind = entry->kind };
    const struct str texts[3] = { entry->cluster, entry->namespace_, entry->name };
    size_t at = 0;

    slot.texts = mem_alloc(texts[0].len + texts[1].len + texts[2].len + 1);
    for (int i = 0; i < 3; i++) {
        if (texts[i].len)
            memcpy(slot.texts + at, texts[i].at, texts[i].len);
        slot.lens[i] = texts[i].len;
        at += texts[i].len;
    }
    return slot;
}

void agenda_put(struct agenda *agenda, const struct agenda_entry *entry, int64_t due_ms)
{
    struct slot slot = slot_of(entry, due_ms);

    pthread_mutex_lock(&agenda->lock);
    if (agenda->count == agenda->capacity) {
        agenda->capacity = agenda->capacity ? agenda->capacity * 2 : 64;
        agenda->slots = mem_resize(agenda->slots, agenda->capacity * sizeof(slot));
    }
    slot.order = agenda->orders++;
    agenda->slots[agenda->count++] = slot;
    rise(agenda->slots, agenda->count - 1);
    pthread_cond_signal(&agenda->changed);
    pthread_mutex_unlock(&agenda->lock);
}

/* With the lock held: sleep until the first entry may be due. */
static void wait_a_while(struct agenda *agenda)
{
    int64_t ms = LOOK_MS;
    struct timespec until;

    if (agenda->count) {
        ms = agenda->slots[0].due_ms - clock_wall_ms(agenda->clock);
        ms = ms < 0 ? 0 : ms > LOOK_MS ? LOOK_MS : ms;
    }
    until = wait_until(ms);
    if (agenda->count)
        pthread_cond_timedwait(&agenda->changed, &agenda->lock, &until);
    else
        pthread_cond_wait(&agenda->changed, &agenda->lock);
}

static void give(struct slot *slot, struct arena *arena, struct agenda_entry *ret_entry)
{
    struct str all =
        str_dup(arena, str_make(slot->texts, slot->lens[0] + slot->lens[1] + slot->lens[2]));

    ret_entry->kind = slot->kind;
    ret_entry->cluster = str_slice(all, 0, slot->lens[0]);
    ret_entry->namespace_ = str_slice(all, slot->lens[0], slot->lens[0] + slot->lens[1]);
    ret_entry->name = str_slice(all, slot->lens[0] + slot->lens[1], all.len);
    mem_free(slot->texts);
}

bool agenda_take(struct agenda *agenda, struct arena *arena, struct agenda_entry *ret_entry)
{
    struct slot first;

    pthread_mutex_lock(&agenda->lock);
    while (!agenda->closed &&
           (agenda->count == 0 || agenda->slots[0].due_ms > clock_wall_ms(agenda->clock)))
        wait_a_while(agenda);
    if (agenda->closed) {
        pthread_mutex_unlock(&agenda->lock);
        return false;
    }
    first = agenda->slots[0];
    agenda->slots[0] = agenda->slots[--agenda->count];
    sink(agenda->slots, agenda->count, 0);
    pthread_mutex_unlock(&agenda->lock);
    give(&first, arena, ret_entry);
    return true;
}

void agenda_close(struct agenda *agenda)
{
    pthread_mutex_lock(&agenda->lock);
    agenda->closed = true;
    pthread_cond_broadcast(&agenda->changed);
    pthread_mutex_unlock(&agenda->lock);
}

size_t agenda_count(struct agenda *agenda)
{
    pthread_mutex_lock(&agenda->lock);

    size_t count = agenda->count;

    pthread_mutex_unlock(&agenda->lock);
    return count;
}
