/* SPDX-License-Identifier: Apache-2.0 */
/* memory.h: heap memory that never comes back NULL.
 *
 * Real exhaustion ends the process at once with exit code 70 and one line on standard error:
 * no caller has a half-made answer to lose (reliability: a verdict is sent whole or not at all).
 * The bounds in limits.def are what makes that rare. */
#ifndef HERD_BASE_MEMORY_H
#define HERD_BASE_MEMORY_H

#include <stddef.h>

/* Exit code of a process that ran out of memory (EX_SOFTWARE of sysexits.h). */
#define MEMORY_EXIT_CODE 70

/* Zeroed memory; mem_free it. `bytes` may be 0. */
void *mem_alloc(size_t bytes);
void *mem_resize(void *held, size_t bytes);
/* A copy of `bytes` bytes with a NUL behind them. */
char *mem_copy(const void *from, size_t bytes);
void mem_free(void *held);
/* For what held secrets: its `held_bytes` are zeroed before they are given back. */
void *mem_resize_secret(void *held, size_t held_bytes, size_t bytes);
void mem_free_secret(void *held, size_t held_bytes);

/* End the process as exhaustion does. `what` is a constant text. */
_Noreturn void mem_exhausted(const char *what);

#define mem_new(type) ((type *)mem_alloc(sizeof(type)))

#endif
