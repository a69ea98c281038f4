/* SPDX-License-Identifier: Apache-2.0 */
/* ranges.h: some of a list's elements as text: "0-3,7,9-12" are indexes from 0, in order.
 *
 * Five thousand clusters that are all in one state take six bytes, and half of them at random
 * twelve KiB. Pure. */
#ifndef HERD_TEXT_RANGES_H
#define HERD_TEXT_RANGES_H

#include "base/str.h"

/* The indexes i < count with has[i]; "" if there is none. */
struct str ranges_encode(struct arena *arena, const bool *has, uint32_t count);

/* Set has[i] for each index of the text; the others stay as they are. Indexes of `count` and above
 * are passed over, and text that ranges_encode did not write is read as far as it goes. */
void ranges_decode(struct str text, bool *has, uint32_t count);

#endif
