/* SPDX-License-Identifier: Apache-2.0 */
/* number.h: JSON numbers as they are written. Internal to text/. */
#ifndef HERD_TEXT_NUMBER_H
#define HERD_TEXT_NUMBER_H

#include "base/str.h"

/* A whole int64_t, written without fraction or exponent; else false. */
bool number_int64(struct str text, int64_t *ret_number);
/* Rounded; a number too large for a double is infinite. */
double number_double(struct str text);
/* So many digits without an exponent are surely within a double's range. */
enum { NUMBER_DIGITS_SURE = 300 };
/* False for what is beyond that range: Go's decoders reject it. */
bool number_fits(struct str text);
/* Equal by value, however long: 1 = 1.0 = 10e-1, 0 = -0. */
bool number_equal(struct str a, struct str b);
/* The number in the one way in which all that are equal to it are written: its digits that count,
 * and the power of ten in front of them. One whose exponent has more digits than 64 bits hold is
 * left as it is written. */
void number_canonical(struct str text, struct strbuf *out);

#endif
