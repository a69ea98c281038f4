/* SPDX-License-Identifier: Apache-2.0 */
/* text.h: numbers and strings as CEL writes them. */
#ifndef HERD_LAB_CEL_TEXT_H
#define HERD_LAB_CEL_TEXT_H

#include "base/str.h"

/* Go's %g, with few digits: "1.5", "1e+100". */
struct str cel_double_text(struct arena *arena, double real);
/* In double quotes, with escapes. */
void cel_put_quoted(struct strbuf *out, struct str text);

/* The character that begins at `at`, and how many bytes it has (1 for what is no UTF-8). */
uint32_t cel_character_at(struct str text, size_t at, size_t *ret_bytes);
void cel_put_character(struct strbuf *out, uint32_t character);

#endif
