/* SPDX-License-Identifier: Apache-2.0 */
/* rows.c: failures that name the row. */
#include "support/rows.h"

#include "support/thread_sanitizer.h"

#include <inttypes.h>

void rows_expect_str(const char *row, struct str got, struct str want)
{
    if (!str_eq(got, want))
        fail_msg("%s\n  got:  %.*s\n  want: %.*s", row, STR_ARG(got), STR_ARG(want));
}

void rows_expect_int(const char *row, int64_t got, int64_t want)
{
    if (got != want)
        fail_msg("%s\n  got:  %" PRId64 "\n  want: %" PRId64, row, got, want);
}

void rows_expect(const char *row, bool holds, const char *what)
{
    if (!holds)
        fail_msg("%s\n  does not hold: %s", row, what);
}
