/* SPDX-License-Identifier: Apache-2.0 */
/* capacity.c: claims end by themselves, so that none that was forgotten holds a place for ever. */
#include "controller/backends/capacity.h"

#include "base/map.h"
#include "base/memory.h"

enum {
    CLAIM_MS = 300000, /* above the time that an action's requests may take */
    SHOW_MS = 10000,   /* an operation stands in the API before its action is answered, and the App
                        * a moment after it ended */
    RUN_MS = 3600000,  /* the rights of an operation end after an hour */
};

struct waiter {
    struct waiter *next;
    size_t len;
    char key[];
};

struct claim {
    int64_t until_ms;
    bool shown;
    size_t len;
    char stack[];
};

struct capacity {
    struct dict *claims;  /* release -> struct claim */
    struct dict *waiting; /* Stack -> struct waiter */
    struct waiter *first, *last;
};

struct capacity *capacity_create(void)
{
    struct capacity *capacity = mem_new(struct capacity);

    capacity->claims = dict_create();
    capacity->waiting = dict_create();
    return capacity;
}

void capacity_free(struct capacity *capacity)
{
    struct str key;
    void *value;

    if (!capacity)
        return;
    for (size_t cursor = 0; dict_next(capacity->claims, &cursor, &key, &value);)
        mem_free(value);
    dict_free(capacity->claims);
    dict_free(capacity->waiting);
    while (capacity->first) {
        struct waiter *next = capacity->first->next;

        mem_free(capacity->first);
        capacity->first = next;
    }
    mem_free(capacity);
}

void capacity_claim(struct capacity *capacity, struct str release, struct str stack, int64_t now_ms)
{
    struct claim *claim = mem_alloc(sizeof(*claim) + stack.len);

    claim->until_ms = now_ms + CLAIM_MS;
    claim->shown = false;
    claim->len = stack.len;
    memcpy(claim->stack, stack.at, stack.len);
    mem_free(dict_remove(capacity->claims, release));
    dict_set(capacity->claims, release, claim);
}

struct str capacity_claimant(const struct capacity *capacity, struct str release, int64_t now_ms)
{
    const struct claim *claim = dict_get(capacity->claims, release);

    return claim && claim->until_ms > now_ms ? str_make(claim->stack, claim->len) : STR("");
}

void capacity_asked(struct capacity *capacity, struct str release, int64_t now_ms)
{
    struct claim *claim = dict_get(capacity->claims, release);

    if (claim && !claim->shown)
        claim->until_ms = now_ms + SHOW_MS;
}

void capacity_shown(struct capacity *capacity, struct str release, bool running, int64_t now_ms)
{
    struct claim *claim = dict_get(capacity->claims, release);

    if (!claim)
        return;
    claim->shown = true;
    claim->until_ms = now_ms + (running ? RUN_MS : SHOW_MS);
}

void capacity_settled(struct capacity *capacity, struct str release)
{
    const struct claim *claim = dict_get(capacity->claims, release);

    if (claim && claim->shown)
        capacity_drop(capacity, release);
}

void capacity_drop(struct capacity *capacity, struct str release)
{
    mem_free(dict_remove(capacity->claims, release));
}

struct str_list capacity_claims(struct capacity *capacity, struct arena *arena, uint32_t count_max,
                                int64_t now_ms)
{
    struct str_list claims = str_list_new(arena, 4);
    struct str release;
    void *value;

    for (size_t cursor = 0; dict_next(capacity->claims, &cursor, &release, &value);) {
        struct claim *claim = value;

        if (claim->until_ms <= now_ms) {
            dict_remove(capacity->claims, release);
            mem_free(claim);
        } else if (!claim->shown && claims.count < count_max) {
            str_list_push(&claims, str_dup(arena, release));
        }
    }
    return claims;
}

void capacity_wait(struct capacity *capacity, struct str stack)
{
    struct waiter *waiter;

    if (dict_get(capacity->waiting, stack))
        return;
    waiter = mem_alloc(sizeof(*waiter) + stack.len);
    waiter->len = stack.len;
    memcpy(waiter->key, stack.at, stack.len);
    if (capacity->last)
        capacity->last->next = waiter;
    else
        capacity->first = waiter;
    capacity->last = waiter;
    dict_set(capacity->waiting, stack, waiter);
}

bool capacity_next(struct capacity *capacity, struct arena *arena, struct str *ret_stack)
{
    struct waiter *first = capacity->first;

    if (!first)
        return false;
    *ret_stack = str_dup(arena, str_make(first->key, first->len));
    dict_remove(capacity->waiting, *ret_stack);
    capacity->first = first->next;
    if (!capacity->first)
        capacity->last = NULL;
    mem_free(first);
    return true;
}

bool capacity_is_awaited(const struct capacity *capacity)
{
    return capacity->first != NULL;
}

struct observed_operation capacity_claimed_operation(struct arena *arena, struct str release,
                                                     struct str stack)
{
    struct observed_operation claim = {
        .name = str_fmt(arena, "of Stack %.*s", STR_ARG(stack)),
        .message = STR("it was requested a moment ago"),
        .state = OPERATION_RUNNING,
    };

    kube_key_split(str_dup(arena, release), &claim.namespace_, &claim.release_name);
    return claim;
}
