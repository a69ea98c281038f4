/* SPDX-License-Identifier: Apache-2.0 */
/* steps.c: how much one input may cost: each block of code that runs is counted (-fsanitize-coverage=trace-pc), so the
 * figure is the same on every machine. HERD_STEPS=1 prints it for each input. */
#include "fuzz.h"

#include <inttypes.h>

void __wrap___sanitizer_cov_trace_pc(void);

/* What 50 ms allow, and for each byte what a target's laws, which ask a dozen times, take of it at most today, ten times. */
enum { STEPS_MAX = 50000000, STEPS_PER_BYTE = 5000 };

static uint64_t steps;

void __wrap___sanitizer_cov_trace_pc(void)
{
    steps++;
}

#undef LLVMFuzzerTestOneInput
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int result;

    steps = 0;
    result = fuzz_one_input(data, size);
    if (getenv("HERD_STEPS"))
        printf("%zu bytes, %" PRIu64 " steps\n", size, steps);
    MUST(steps <= STEPS_MAX + STEPS_PER_BYTE * (uint64_t)size);
    return result;
}
