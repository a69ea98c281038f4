/* SPDX-License-Identifier: Apache-2.0 */
/* format.h: printf for what a request makes dozens of texts with. */
#ifndef HERD_BASE_FORMAT_H
#define HERD_BASE_FORMAT_H

#include <stdarg.h>
#include <stddef.h>

/* As vsnprintf: writes what fits into `room` bytes, the NUL included, and returns how long the
 * whole text is. %s, %.*s, %d, %u, %zu and %% are put together here; a format that has anything
 * else is libc's, which takes several times as long for a short text. */
__attribute__((format(printf, 3, 0))) size_t format_text(char *into, size_t room,
                                                         const char *format, va_list args);

#endif
