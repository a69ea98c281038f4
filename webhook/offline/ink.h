/* SPDX-License-Identifier: Apache-2.0 */
/* ink.h: colours of a terminal (ECMA-48), by what they mean. */
#ifndef HERD_WEBHOOK_OFFLINE_INK_H
#define HERD_WEBHOOK_OFFLINE_INK_H

#include "base/str.h"

enum ink { INK_PLACE, INK_ERROR, INK_WARNING, INK_NOTE, INK_RULE, INK_GOOD, INK_COUNT };

/* `words`, in that colour if there are colours. They hold no control characters. */
void ink_put(struct strbuf *out, bool colour, enum ink ink, struct str words);

#endif
