/* SPDX-License-Identifier: Apache-2.0 */
/* jsonf.c: one walk over the pattern. */
#include "lab/rancher/jsonf.h"

#include "text/json_write.h"

#include <assert.h>

static void put_argument(struct strbuf *out, char kind, va_list *args)
{
    switch (kind) {
    case 's':
        json_quote(out, va_arg(*args, struct str));
        break;
    case 'r': {
        struct str raw = va_arg(*args, struct str);

        strbuf_put(out, raw.len ? raw : STR("null"));
        break;
    }
    case 'd':
        strbuf_i64(out, va_arg(*args, int64_t));
        break;
    case 'b':
        strbuf_put(out, va_arg(*args, int) ? STR("true") : STR("false"));
        break;
    case '%':
        strbuf_char(out, '%');
        break;
    default:
        assert(!"a pattern of ours has an unknown conversion");
    }
}

static void put_all(struct strbuf *out, const char *pattern, va_list *args)
{
    for (const char *p = pattern; *p; p++) {
        if (*p == '%')
            put_argument(out, *++p, args);
        else
            strbuf_char(out, *p == '\'' ? '"' : *p);
    }
}

void jsonf_put(struct strbuf *out, const char *pattern, ...)
{
    va_list args;

    va_start(args, pattern);
    put_all(out, pattern, &args);
    va_end(args);
}

struct str jsonf(struct arena *arena, const char *pattern, ...)
{
    struct strbuf out = strbuf_new(arena, strlen(pattern) + 128);
    va_list args;

    va_start(args, pattern);
    put_all(&out, pattern, &args);
    va_end(args);
    return strbuf_str(&out);
}
