/* scarcity.c: what the linker puts in the place of malloc, calloc and realloc. */
#include "support/scarcity.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

static atomic_uint_fast64_t requests;
static uint64_t fails_at; /* set before threads start */
static enum scarcity how;

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *held, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *held, size_t bytes);

void scarcity_begin(enum scarcity scarcity, uint64_t nth)
{
    how = scarcity;
    fails_at = nth;
    atomic_store(&requests, 0);
}

uint64_t scarcity_requests(void)
{
    return atomic_load(&requests);
}

static bool is_refused(void)
{
    uint64_t number = atomic_fetch_add(&requests, 1) + 1;

    return fails_at && (number == fails_at || (number > fails_at && how == SCARCITY_FROM_THEN_ON));
}

void *__wrap_malloc(size_t bytes)
{
    return is_refused() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return is_refused() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *held, size_t bytes)
{
    return is_refused() ? NULL : __real_realloc(held, bytes);
}
