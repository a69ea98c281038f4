/* SPDX-License-Identifier: Apache-2.0 */
/* review_fuzz.c: any body on either route keeps the laws of answers (tests/support/review_laws.c). */
#include "fuzz.h"

#include "support/review_laws.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct review_world world;

    review_world_begin(&world, arena);
    for (enum review_route route = REVIEW_MUTATE; route <= REVIEW_VALIDATE; route++) {
        const char *broken =
            review_laws_broken(&world, arena, route, str_make((const char *)data, size), NULL);

        if (broken) {
            fprintf(stderr, "%s: does not hold: %s\n", route == REVIEW_MUTATE ? "mutate" : "validate", broken);
            abort();
        }
    }
    review_world_end(&world);
    return 0;
}
