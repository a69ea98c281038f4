/* SPDX-License-Identifier: Apache-2.0 */
/* enumerate.c: names are written as they come; the end follows from how many there were. */
#include "text/enumerate.h"

struct enumeration enumeration_new(struct arena *arena, uint32_t most)
{
    return (struct enumeration){ .text = strbuf_new(arena, 0), .most = most };
}

void enumeration_add(struct enumeration *names, struct str name)
{
    if (names->count++ >= names->most)
        return;
    if (names->count > 1)
        strbuf_lit(&names->text, ", ");
    names->last = names->text.len;
    strbuf_put(&names->text, name);
}

struct str enumeration_text(struct enumeration *names)
{
    struct str text = strbuf_str(&names->text);
    struct str others = str_slice(text, 0, names->count > 1 ? names->last - 2 : 0); /* ", " */

    if (names->count > names->most)
        return str_fmt(names->text.arena, "%.*s and %u more", STR_ARG(text),
                       names->count - names->most);
    if (!names->joins_last || names->count < 2)
        return text;
    return str_fmt(names->text.arena, "%.*s and %.*s", STR_ARG(others),
                   STR_ARG(str_slice(text, names->last, text.len)));
}
