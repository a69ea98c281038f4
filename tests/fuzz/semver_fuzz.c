/* SPDX-License-Identifier: Apache-2.0 */
/* semver_fuzz.c: two lines, a range and a version: order is an order, and an exact range has its version. */
#include "fuzz.h"

#include "text/semver.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str rest = str_make((const char *)data, size);
    struct str range_text;
    struct semver_range *range;
    struct semver version;
    struct semver from_range;
    struct error err;
    bool is_range;

    if (!str_split(&rest, '\n', &range_text) || !rest.at)
        return 0;
    is_range = semver_range_parse(arena, range_text, &range, &err) == 0;
    if (semver_parse(rest, &version, &err) < 0)
        return 0;
    if (is_range)
        MUST(!semver_range_has(range, &version) || !semver_range_is_empty(range));
    MUST(semver_cmp(&version, &version) == 0);
    MUST(semver_range_parse(arena, rest, &range, &err) == 0);
    MUST(semver_range_has(range, &version));
    if (semver_parse(range_text, &from_range, &err) == 0)
        MUST(semver_cmp(&version, &from_range) == -semver_cmp(&from_range, &version));
    return 0;
}
