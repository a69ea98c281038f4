/* SPDX-License-Identifier: Apache-2.0 */
/* error.h: one failure, as a value on the caller's stack.
 *
 * A function that can fail returns 0 or -1 and takes `struct error *err` last. Success leaves *err
 * untouched; failure fills it and leaves every ret_ output untouched. `err` is never NULL. */
#ifndef HERD_BASE_ERROR_H
#define HERD_BASE_ERROR_H

#include "base/path.h"
#include "base/str.h"

enum error_code {
    ERROR_NONE,
#define ERROR_ROW(code, reason, http_status, course, sentence, remedy) ERROR_##code,
#include "base/errors.def"
#undef ERROR_ROW
    ERROR_CODE_COUNT
};

/* What to do about it (errors.def). */
enum error_course { COURSE_TRANSIENT, COURSE_RETRY, COURSE_WAIT, COURSE_TERMINAL };

struct error {
    enum error_code code;
    char field[256]; /* rendered path, "" where none applies */
    char text[1024]; /* for people: what, where, why, the remedy */
};

/* Always -1, so that a failing function may `return error_set(...)`. Foreign bytes in the
 * arguments should have passed through str_shown. */
__attribute__((format(printf, 3, 4))) int error_set(struct error *err, enum error_code code,
                                                    const char *format, ...);
__attribute__((format(printf, 4, 5))) int error_at(struct error *err, enum error_code code,
                                                   const struct path *at, const char *format, ...);
/* Put "context: " before the text. Always -1. */
__attribute__((format(printf, 2, 3))) int error_wrap(struct error *err, const char *format, ...);

/* An error that something long-lived may have, and mostly has not: `*held`, which is NULL or a copy
 * of its own, becomes a copy of `error`, or NULL if that is NULL. */
void error_keep(struct error **held, const struct error *error);

const char *error_reason(enum error_code code);
int error_http_status(enum error_code code);
enum error_course error_course(enum error_code code);
/* The code for an HTTP status that a server answered with. */
enum error_code error_from_http_status(int http_status);

#endif
