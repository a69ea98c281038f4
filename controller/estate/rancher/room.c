/* room.c: claims end by themselves, so that none that was forgotten holds a place for ever. */
#include "controller/estate/rancher/room.h"

#include "base/map.h"
#include "base/memory.h"

enum {
    CLAIM_MS = 180000, /* above the time that an action's request may take */
    SHOW_MS = 10000,   /* an operation stands in the API before its action is answered */
};

struct waiter {
    struct waiter *next;
    size_t len;
    char key[];
};

struct room {
    struct dict *claims;  /* release -> int64_t, when it ends */
    struct dict *waiting; /* Stack -> struct waiter */
    struct waiter *first, *last;
};

struct room *room_create(void)
{
    struct room *room = mem_new(struct room);

    room->claims = dict_create();
    room->waiting = dict_create();
    return room;
}

void room_free(struct room *room)
{
    struct str key;
    void *value;

    if (!room)
        return;
    for (size_t cursor = 0; dict_next(room->claims, &cursor, &key, &value);)
        mem_free(value);
    dict_free(room->claims);
    dict_free(room->waiting);
    while (room->first) {
        struct waiter *next = room->first->next;

        mem_free(room->first);
        room->first = next;
    }
    mem_free(room);
}

static void claim_until(struct room *room, struct str release, int64_t until_ms)
{
    int64_t *until = dict_get(room->claims, release);

    if (!until) {
        until = mem_new(int64_t);
        dict_set(room->claims, release, until);
    }
    *until = until_ms;
}

void room_claim(struct room *room, struct str release, int64_t now_ms)
{
    claim_until(room, release, now_ms + CLAIM_MS);
}

void room_asked(struct room *room, struct str release, int64_t now_ms)
{
    /* None any more: it has shown already. */
    if (dict_get(room->claims, release))
        claim_until(room, release, now_ms + SHOW_MS);
}

void room_drop(struct room *room, struct str release)
{
    mem_free(dict_remove(room->claims, release));
}

struct str_list room_claims(struct room *room, struct arena *arena, uint32_t count_max,
                            int64_t now_ms)
{
    struct str_list claims = str_list_new(arena, 4);
    struct str release;
    void *until;

    for (size_t cursor = 0; dict_next(room->claims, &cursor, &release, &until);) {
        if (*(int64_t *)until <= now_ms) {
            dict_remove(room->claims, release);
            mem_free(until);
        } else if (claims.count < count_max) {
            str_list_push(&claims, str_dup(arena, release));
        }
    }
    return claims;
}

void room_wait(struct room *room, struct str stack)
{
    struct waiter *waiter;

    if (dict_get(room->waiting, stack))
        return;
    waiter = mem_alloc(sizeof(*waiter) + stack.len);
    waiter->len = stack.len;
    memcpy(waiter->key, stack.at, stack.len);
    if (room->last)
        room->last->next = waiter;
    else
        room->first = waiter;
    room->last = waiter;
    dict_set(room->waiting, stack, waiter);
}

bool room_next(struct room *room, struct arena *arena, struct str *ret_stack)
{
    struct waiter *first = room->first;

    if (!first)
        return false;
    *ret_stack = str_dup(arena, str_make(first->key, first->len));
    dict_remove(room->waiting, *ret_stack);
    room->first = first->next;
    if (!room->first)
        room->last = NULL;
    mem_free(first);
    return true;
}

bool room_is_awaited(const struct room *room)
{
    return room->first != NULL;
}
