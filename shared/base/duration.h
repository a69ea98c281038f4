/* SPDX-License-Identifier: Apache-2.0 */
/* duration.h: lengths of time as Go writes them: 1h30m, 250ms. Flags and specs have them. */
#ifndef HERD_BASE_DURATION_H
#define HERD_BASE_DURATION_H

#include "base/str.h"

/* To ms; false if it is not one, is negative or does not fit. */
bool duration_parse(struct str text, int64_t *ret_ms);
/* Go's Duration.String: "15m0s", "1h0m0s", "250ms". In the arena. */
struct str duration_text(struct arena *arena, int64_t duration_ms);

#endif
