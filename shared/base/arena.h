/* SPDX-License-Identifier: Apache-2.0 */
/* arena.h: memory that is freed together.
 *
 * One arena belongs to one piece of work: an admission request, a reconcile, a decoded document.
 * Nobody frees parts. Memory comes zeroed and aligned for any type.
 *
 * Budget: an arena may be bounded. Work that runs under arena_run() and passes the budget is
 * abandoned: arena_run returns -1 and the arena can be freed. So nothing that runs there may hold
 * what is not in an arena (an open file, a lock, heap memory): what must be made under a lock, or
 * on another thread, is made in an arena_beside. Outside arena_run, passing the budget ends the
 * process as exhaustion does (memory.h).
 *
 * Work may be bounded in the same way: what compares in a loop within a loop charges its steps,
 * each about one comparison of two short strings, and is abandoned once there are too many. */
#ifndef HERD_BASE_ARENA_H
#define HERD_BASE_ARENA_H

#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/* Owned by the caller. `budget_bytes` 0 means no bound. */
struct arena *arena_create(size_t budget_bytes);
void arena_free(struct arena *arena);
AUTO_DEFINE(arena_free, struct arena *)

/* From now on it holds secrets: its memory is zeroed before it is given back or used anew. */
void arena_keep_secret(struct arena *arena);

/* Forget everything that was allocated and keep one block for the next use. */
void arena_reset(struct arena *arena);

/* Zeroed, never NULL. */
void *arena_alloc(struct arena *arena, size_t bytes);
/* Not zeroed: for bytes that are written at once. */
void *arena_bytes(struct arena *arena, size_t bytes);
/* Make the newest allocation longer in place if it can be; false if it must be copied. */
bool arena_extend(struct arena *arena, const void *newest, size_t old_bytes, size_t new_bytes);

/* Bytes handed out since creation or reset. */
size_t arena_used(const struct arena *arena);

/* Run `work(context)`. 0, or -1 if it passed a budget and was abandoned on the way. */
int arena_run(struct arena *arena, void (*work)(void *context), void *context);
/* The same with a bound of steps that ends with it. False: it was abandoned for these. What passes
 * the budget of bytes is abandoned by the outer arena_run. */
bool arena_run_within(struct arena *arena, uint64_t steps, void (*work)(void *context),
                      void *context);

/* Bound the steps from now on; 0 (at first): they are not even counted, so an arena that threads
 * share can be named where it is not bounded. */
void arena_bound_work(struct arena *arena, uint64_t steps);
/* Charge steps; what passes the bound is abandoned as above. */
void arena_work(struct arena *arena, uint64_t steps);
/* What the steps from now on are for: a field, in static words; and what was said last. */
void arena_work_for(struct arena *arena, const char *field);
const char *arena_worked_for(const struct arena *arena);

/* Run `release(held)` when the arena is reset or freed, last one first: for the odd reference that
 * work under arena_run takes and must not lose if it is abandoned. */
void arena_defer(struct arena *arena, void (*release)(void *held), void *held);

/* An arena without a budget that is freed when `arena` is reset or freed, and lends its contents
 * that long. Nothing is abandoned in it: for work that holds a lock, and for
 * other threads' work. */
struct arena *arena_beside(struct arena *arena);

/* For tests: the `nth` allocation from now (1 is the next) behaves as if it passed the budget; with
 * arena_fail_from all after it do so too, until either is called again (0: none fails). */
void arena_fail_at(struct arena *arena, size_t nth);
void arena_fail_from(struct arena *arena, size_t nth);

#define arena_new(arena, type) ((type *)arena_alloc((arena), sizeof(type)))
#define arena_array(arena, type, count)                                                            \
    ((type *)arena_alloc((arena), arena_array_bytes((count), sizeof(type))))

/* count * size; ends the process on overflow, which only a caller without bounds reaches. */
size_t arena_array_bytes(size_t count, size_t size);

#endif
