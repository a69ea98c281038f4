/* SPDX-License-Identifier: Apache-2.0 */
/* arena.c: blocks that grow fourfold up to 1 MiB; a larger request gets a block of its own. */
#include "base/arena.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCK_BYTES_FIRST = 1024, /* thousands of arenas hold a few words for long */
    BLOCK_BYTES_MAX = 1024 * 1024,
    ALIGNMENT = 16,
};

struct block {
    struct block *older;
    size_t capacity;
    size_t used;
    alignas(ALIGNMENT) char at[];
};

struct deferred {
    struct deferred *older;
    void (*release)(void *held);
    void *held;
};

struct arena {
    struct block *newest;
    size_t budget;
    size_t used;
    size_t fail_at; /* allocations to go; 0 = none fails */
    bool fails_on;  /* it stays at the last one */
    bool secret;
    bool counts_work;
    uint64_t work_left;
    const char *work_for;
    struct deferred *deferred; /* newest first */
    jmp_buf *escape; /* where work that passes the budget is abandoned to; NULL outside arena_run */
};

struct arena *arena_create(size_t budget_bytes)
{
    struct arena *arena = mem_new(struct arena);

    arena->budget = budget_bytes;
    return arena;
}

void arena_keep_secret(struct arena *arena)
{
    arena->secret = true;
}

static void wipe(const struct arena *arena, struct block *block)
{
    if (arena->secret)
        explicit_bzero(block->at, block->used);
}

static void free_from(const struct arena *arena, struct block *block)
{
    while (block) {
        struct block *older = block->older;

        wipe(arena, block);
        free(block);
        block = older;
    }
}

static void release_deferred(struct arena *arena)
{
    while (arena->deferred) {
        struct deferred *newest = arena->deferred;

        arena->deferred = newest->older;
        newest->release(newest->held);
    }
}

void arena_free(struct arena *arena)
{
    if (!arena)
        return;
    release_deferred(arena);
    free_from(arena, arena->newest);
    free(arena);
}

void arena_reset(struct arena *arena)
{
    release_deferred(arena);
    if (arena->newest) {
        free_from(arena, arena->newest->older);
        wipe(arena, arena->newest);
        arena->newest->older = NULL;
        arena->newest->used = 0;
        if (arena->newest->capacity > BLOCK_BYTES_MAX) {
            free(arena->newest);
            arena->newest = NULL;
        }
    }
    arena->used = 0;
}

static _Noreturn void over_budget(struct arena *arena)
{
    if (!arena->escape)
        mem_exhausted("arena budget");
    longjmp(*arena->escape, 1);
}

static void charge(struct arena *arena, size_t bytes)
{
    if (arena->fail_at == 1) {
        arena->fail_at = arena->fails_on;
        over_budget(arena);
    }
    arena->fail_at -= arena->fail_at > 0;
    if (arena->budget && bytes > arena->budget - arena->used)
        over_budget(arena);
    arena->used += bytes;
}

static struct block *add_block(struct arena *arena, size_t bytes)
{
    size_t capacity = BLOCK_BYTES_FIRST;

    if (arena->newest)
        capacity = arena->newest->capacity * 4;
    if (capacity > BLOCK_BYTES_MAX)
        capacity = BLOCK_BYTES_MAX;
    if (capacity < bytes)
        capacity = bytes;

    struct block *block = malloc(sizeof(*block) + capacity);

    if (!block)
        mem_exhausted("arena block");
    block->capacity = capacity;
    block->used = 0;
    block->older = arena->newest;
    arena->newest = block;
    return block;
}

void *arena_bytes(struct arena *arena, size_t bytes)
{
    size_t rounded = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);

    if (rounded < bytes)
        mem_exhausted("arena request");
    if (rounded == 0)
        rounded = ALIGNMENT;
    charge(arena, rounded);

    struct block *block = arena->newest;

    if (!block || block->capacity - block->used < rounded)
        block = add_block(arena, rounded);

    void *memory = block->at + block->used;

    block->used += rounded;
    return memory;
}

void *arena_alloc(struct arena *arena, size_t bytes)
{
    void *memory = arena_bytes(arena, bytes);

    memset(memory, 0, bytes);
    return memory;
}

bool arena_extend(struct arena *arena, const void *newest, size_t old_bytes, size_t new_bytes)
{
    size_t old_rounded = (old_bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    size_t new_rounded = (new_bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    struct block *block = arena->newest;

    if (!block || new_rounded < new_bytes || new_rounded < old_rounded)
        return false;
    if ((const char *)newest + old_rounded != block->at + block->used)
        return false;
    if (new_rounded - old_rounded > block->capacity - block->used)
        return false;
    charge(arena, new_rounded - old_rounded);
    block->used += new_rounded - old_rounded;
    return true;
}

void arena_defer(struct arena *arena, void (*release)(void *held), void *held)
{
    struct deferred *deferred = arena_new(arena, struct deferred);

    *deferred = (struct deferred){ arena->deferred, release, held };
    arena->deferred = deferred;
}

static void free_beside(void *held)
{
    struct arena **beside = held;

    arena_free(*beside);
}

struct arena *arena_beside(struct arena *arena)
{
    struct arena **beside = arena_new(arena, struct arena *);

    arena_defer(arena, free_beside, beside);
    *beside = arena_create(0);
    return *beside;
}

size_t arena_used(const struct arena *arena)
{
    return arena->used;
}

int arena_run(struct arena *arena, void (*work)(void *context), void *context)
{
    jmp_buf here;
    jmp_buf *outer = arena->escape;

    if (setjmp(here) != 0) {
        arena->escape = outer;
        return -1;
    }
    arena->escape = &here;
    work(context);
    arena->escape = outer;
    return 0;
}

void arena_bound_work(struct arena *arena, uint64_t steps)
{
    arena->counts_work = steps > 0;
    arena->work_left = steps;
}

void arena_work(struct arena *arena, uint64_t steps)
{
    if (!arena->counts_work)
        return;
    if (steps < arena->work_left) {
        arena->work_left -= steps;
        return;
    }
    arena->work_left = 0;
    over_budget(arena);
}

bool arena_run_within(struct arena *arena, uint64_t steps, void (*work)(void *context),
                      void *context)
{
    bool abandoned, too_much;

    arena_bound_work(arena, steps);
    abandoned = arena_run(arena, work, context) < 0;
    too_much = abandoned && !arena->work_left;
    arena_bound_work(arena, 0);
    if (abandoned && !too_much)
        over_budget(arena);
    return !too_much;
}

void arena_work_for(struct arena *arena, const char *field)
{
    arena->work_for = field;
}

const char *arena_worked_for(const struct arena *arena)
{
    return arena->work_for;
}

void arena_fail_at(struct arena *arena, size_t nth)
{
    arena->fail_at = nth;
    arena->fails_on = false;
}

void arena_fail_from(struct arena *arena, size_t nth)
{
    arena->fail_at = nth;
    arena->fails_on = true;
}

size_t arena_array_bytes(size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size)
        mem_exhausted("array size");
    return count * size;
}
