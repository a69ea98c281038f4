/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz.h: what libFuzzer, or replay.c in its place, calls; and how a target says that a law is broken. */
#ifndef HERD_TESTS_FUZZ_H
#define HERD_TESTS_FUZZ_H

#include "base/arena.h"
#include "base/str.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* What a target defines under the name that libFuzzer calls: steps.c calls it, and counts. */
#define LLVMFuzzerTestOneInput fuzz_one_input
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Not assert: release builds fuzz too. */
#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);         \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

#endif
