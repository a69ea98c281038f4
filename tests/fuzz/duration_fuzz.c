/* SPDX-License-Identifier: Apache-2.0 */
/* duration_fuzz.c: what is read is not negative, and is written as Go would so that it reads the same. */
#include "fuzz.h"

#include "base/duration.h"


int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    int64_t ms;
    int64_t again;

    if (!duration_parse(str_make((const char *)data, size), &ms))
        return 0;
    MUST(ms >= 0);
    MUST(duration_parse(duration_text(arena, ms), &again));
    MUST(again == ms);
    return 0;
}
