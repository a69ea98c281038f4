/* SPDX-License-Identifier: Apache-2.0 */
/* error.c: texts and tables of failures. */
#include "base/error.h"

#include "base/memory.h"

#include "base/format.h"

#include <stdio.h>

static const struct row {
    const char *reason;
    int http_status;
    enum error_course course;
} rows[ERROR_CODE_COUNT] = {
    [ERROR_NONE] = { "", 200, COURSE_WAIT },
#define ERROR_ROW(code, reason, http_status, course, sentence, remedy)                             \
    [ERROR_##code] = { reason, http_status, COURSE_##course },
#include "base/errors.def"
#undef ERROR_ROW
};

__attribute__((format(printf, 2, 0))) static void set_text(struct error *err, const char *format,
                                                           va_list args)
{
    if (format_text(err->text, sizeof(err->text), format, args) >= sizeof(err->text))
        memcpy(err->text + sizeof(err->text) - 4, "...", 4);
}

int error_set(struct error *err, enum error_code code, const char *format, ...)
{
    va_list args;

    err->code = code;
    err->field[0] = '\0';
    va_start(args, format);
    set_text(err, format, args);
    va_end(args);
    return -1;
}

int error_at(struct error *err, enum error_code code, const struct path *at, const char *format,
             ...)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str field = path_render(at, arena);
    va_list args;

    err->code = code;
    snprintf(err->field, sizeof(err->field), "%.*s", STR_ARG(field));
    va_start(args, format);
    set_text(err, format, args);
    va_end(args);
    return -1;
}

int error_wrap(struct error *err, const char *format, ...)
{
    char inner[sizeof(err->text)];
    char context[256];
    va_list args;

    memcpy(inner, err->text, sizeof(inner));
    va_start(args, format);
    vsnprintf(context, sizeof(context), format, args);
    va_end(args);
    if (snprintf(err->text, sizeof(err->text), "%s: %s", context, inner) >= (int)sizeof(err->text))
        memcpy(err->text + sizeof(err->text) - 4, "...", 4);
    return -1;
}

void error_keep(struct error **held, const struct error *error)
{
    /* It may be the one that is held. */
    struct error *kept = error ? mem_new(struct error) : NULL;

    if (kept)
        *kept = *error;
    mem_free(*held);
    *held = kept;
}

const char *error_reason(enum error_code code)
{
    return rows[code].reason;
}

int error_http_status(enum error_code code)
{
    return rows[code].http_status;
}

enum error_course error_course(enum error_code code)
{
    return rows[code].course;
}

enum error_code error_from_http_status(int http_status)
{
    for (int code = ERROR_NONE + 1; code < ERROR_CODE_COUNT; code++)
        if (rows[code].http_status == http_status)
            return (enum error_code)code;
    return http_status >= 500 ? ERROR_INTERNAL : ERROR_BAD_REQUEST;
}
