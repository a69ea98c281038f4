/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c: malloc that ends the process instead of failing. */
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Noreturn void mem_exhausted(const char *what)
{
    static const char text[] = "herd: out of memory: ";

    /* write, not stdio: stdio may want memory too. */
    if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0 ||
        write(STDERR_FILENO, what, strlen(what)) < 0 || write(STDERR_FILENO, "\n", 1) < 0)
        _exit(MEMORY_EXIT_CODE);
    _exit(MEMORY_EXIT_CODE);
}

void *mem_alloc(size_t bytes)
{
    void *memory = calloc(1, bytes ? bytes : 1);

    if (!memory)
        mem_exhausted("heap");
    return memory;
}

void *mem_resize(void *held, size_t bytes)
{
    void *memory = realloc(held, bytes ? bytes : 1);

    if (!memory)
        mem_exhausted("heap");
    return memory;
}

char *mem_copy(const void *from, size_t bytes)
{
    char *copy = malloc(bytes + 1);

    if (!copy)
        mem_exhausted("heap");
    if (bytes)
        memcpy(copy, from, bytes);
    copy[bytes] = '\0';
    return copy;
}

void mem_free(void *held)
{
    free(held);
}

void *mem_resize_secret(void *held, size_t held_bytes, size_t bytes)
{
    void *memory = malloc(bytes ? bytes : 1);

    if (!memory)
        mem_exhausted("heap");
    if (held)
        memcpy(memory, held, held_bytes < bytes ? held_bytes : bytes);
    mem_free_secret(held, held_bytes);
    return memory;
}

void mem_free_secret(void *held, size_t held_bytes)
{
    if (held)
        explicit_bzero(held, held_bytes);
    free(held);
}
