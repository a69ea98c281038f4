/* SPDX-License-Identifier: Apache-2.0 */
/* scarcity.c: what the linker puts in the place of malloc, calloc, realloc and _exit. */
#include "support/scarcity.h"

#include <setjmp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

static atomic_uint_fast64_t requests;
static uint64_t fails_at; /* set before threads start */
static enum scarcity how;
static jmp_buf *end; /* where _exit leads to while scarcity_run runs */

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *held, size_t bytes);
_Noreturn void __real__exit(int code);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *held, size_t bytes);
_Noreturn void __wrap__exit(int code);

void scarcity_begin(enum scarcity scarcity, uint64_t nth)
{
    how = scarcity;
    fails_at = nth;
    atomic_store(&requests, 0);
}

int scarcity_run(enum scarcity scarcity, uint64_t nth, void (*work)(void *context), void *context)
{
    jmp_buf here;
    int code = setjmp(here);

    if (code == 0) {
        end = &here;
        scarcity_begin(scarcity, nth);
        work(context);
    }
    end = NULL;
    fails_at = 0;
    return code;
}

_Noreturn void __wrap__exit(int code)
{
    if (end)
        longjmp(*end, code ? code : -1);
    __real__exit(code);
}

uint64_t scarcity_requests(void)
{
    return atomic_load(&requests);
}

static bool is_rejected(void)
{
    uint64_t number = atomic_fetch_add(&requests, 1) + 1;

    return fails_at && (number == fails_at || (number > fails_at && how == SCARCITY_FROM_THEN_ON));
}

void *__wrap_malloc(size_t bytes)
{
    return is_rejected() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return is_rejected() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *held, size_t bytes)
{
    return is_rejected() ? NULL : __real_realloc(held, bytes);
}
