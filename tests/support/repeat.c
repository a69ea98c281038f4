/* SPDX-License-Identifier: Apache-2.0 */
/* repeat.c: text that is made of one piece, many times. */
#include "support/repeat.h"

struct str repeat(struct arena *arena, const char *head, const char *piece, uint32_t count,
                  const char *tail)
{
    struct strbuf out = strbuf_new(arena, 1024);
    struct str text = str_of(piece);
    ptrdiff_t place = str_find(text, STR("%u"), 0);

    strbuf_put(&out, str_of(head));
    for (uint32_t i = 0; i < count; i++) {
        if (place < 0) {
            strbuf_put(&out, text);
            continue;
        }
        strbuf_put(&out, str_slice(text, 0, (size_t)place));
        strbuf_u64(&out, i);
        strbuf_put(&out, str_slice(text, (size_t)place + 2, text.len));
    }
    strbuf_put(&out, str_of(tail));
    return strbuf_str(&out);
}
