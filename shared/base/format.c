/* SPDX-License-Identifier: Apache-2.0 */
/* format.c: the few conversions that texts are made with. */
#include "base/format.h"

#include "base/memory.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct out {
    char *into;
    size_t room;
    size_t len;
};

static void put(struct out *out, const char *at, size_t len)
{
    size_t room = out->len < out->room ? out->room - out->len : 0;

    if (room && len)
        memcpy(out->into + out->len, at, len < room ? len : room);
    out->len += len;
}

static void put_number(struct out *out, size_t number)
{
    char digits[20];
    size_t at = sizeof(digits);

    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    put(out, digits + at, sizeof(digits) - at);
}

static void put_int(struct out *out, int number)
{
    if (number < 0)
        put(out, "-", 1);
    put_number(out, number < 0 ? (size_t) - (int64_t)number : (size_t)number);
}

/* False: there is a conversion that is not known here. */
static bool put_all(struct out *out, const char *format, va_list args)
{
    for (;;) {
        const char *percent = strchrnul(format, '%');
        const char *text;
        int most;

        put(out, format, (size_t)(percent - format));
        if (!*percent)
            return true;
        format = percent + 2;
        switch (percent[1]) {
        case '%':
            put(out, "%", 1);
            break;
        case 's':
            text = va_arg(args, const char *);
            put(out, text, strlen(text));
            break;
        case 'd':
            put_int(out, va_arg(args, int));
            break;
        case 'u':
            put_number(out, va_arg(args, unsigned));
            break;
        case 'z':
            if (*format++ != 'u')
                return false;
            put_number(out, va_arg(args, size_t));
            break;
        case '.':
            if (format[0] != '*' || format[1] != 's')
                return false;
            format += 2;
            most = va_arg(args, int);
            text = va_arg(args, const char *);
            put(out, text, most > 0 ? strnlen(text, (size_t)most) : 0);
            break;
        default:
            return false;
        }
    }
}

size_t format_text(char *into, size_t room, const char *format, va_list args)
{
    struct out out = { into, room, 0 };
    va_list again;
    bool known;
    int len;

    va_copy(again, args);
    known = put_all(&out, format, again);
    va_end(again);
    if (known) {
        if (room)
            into[out.len < room ? out.len : room - 1] = '\0';
        return out.len;
    }
    len = vsnprintf(into, room, format, args);
    if (len < 0)
        mem_exhausted("format");
    return (size_t)len;
}
