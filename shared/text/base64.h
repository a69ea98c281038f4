/* SPDX-License-Identifier: Apache-2.0 */
/* base64.h: RFC 4648 base64, standard alphabet, padded. */
#ifndef HERD_TEXT_BASE64_H
#define HERD_TEXT_BASE64_H

#include "base/error.h"

struct str base64_encode(struct arena *arena, struct str bytes);
/* White space is allowed; anything else outside the alphabet is ERROR_SYNTAX. */
int base64_decode(struct arena *arena, struct str text, struct str *ret_bytes, struct error *err);

#endif
