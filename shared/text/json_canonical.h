/* SPDX-License-Identifier: Apache-2.0 */
/* json_canonical.h: JSON in the one form that all texts of equal values have: for digests.
 *
 * Compact; members in byte order of their names; numbers as digits and a power of ten, so that 1,
 * 1.0 and 10e-1 are one. json_equal(a, b) if and only if both give the same bytes. */
#ifndef HERD_TEXT_JSON_CANONICAL_H
#define HERD_TEXT_JSON_CANONICAL_H

#include "text/json.h"

/* Nothing for an absent value. */
void json_canonical(struct json value, struct strbuf *out);
/* `text`: a JSON number. */
void json_canonical_number(struct str text, struct strbuf *out);

#endif
