/* SPDX-License-Identifier: Apache-2.0 */
/* rows.h: what every unit test begins with: cmocka, in the order it wants its headers. */
#ifndef HERD_TESTS_SUPPORT_ROWS_H
#define HERD_TESTS_SUPPORT_ROWS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

/* Fail with the row's sentence, got and want. */
void rows_expect_str(const char *row, struct str got, struct str want);
void rows_expect_int(const char *row, int64_t got, int64_t want);
void rows_expect(const char *row, bool holds, const char *what);

#endif
