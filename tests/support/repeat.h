/* SPDX-License-Identifier: Apache-2.0 */
/* repeat.h: text that is made of one piece, many times. */
#ifndef HERD_TESTS_SUPPORT_REPEAT_H
#define HERD_TESTS_SUPPORT_REPEAT_H

#include "base/str.h"

/* `head`, `count` times `piece` (where "%u" is the count so far), `tail`. In the arena. */
struct str repeat(struct arena *arena, const char *head, const char *piece, uint32_t count,
                  const char *tail);

#endif
