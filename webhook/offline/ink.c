/* SPDX-License-Identifier: Apache-2.0 */
/* ink.c: one code for each meaning. */
#include "webhook/offline/ink.h"

static const char *const codes[INK_COUNT] = {
    [INK_PLACE] = "1",   [INK_ERROR] = "1;31", [INK_WARNING] = "1;33",
    [INK_NOTE] = "1;36", [INK_RULE] = "2",     [INK_GOOD] = "32",
};

void ink_put(struct strbuf *out, bool colour, enum ink ink, struct str words)
{
    if (!colour) {
        strbuf_put(out, words);
        return;
    }
    strbuf_fmt(out, "\x1b[%sm%.*s\x1b[0m", codes[ink], STR_ARG(words));
}
