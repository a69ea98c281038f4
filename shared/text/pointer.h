/* SPDX-License-Identifier: Apache-2.0 */
/* pointer.h: RFC 6901 JSON Pointers. */
#ifndef HERD_TEXT_POINTER_H
#define HERD_TEXT_POINTER_H

#include "base/list.h"
#include "text/value.h"

/* "/a~1b/0" to its tokens, unescaped. -1: it does not begin with '/', or has a bad '~'. */
int pointer_parse(struct arena *arena, struct str pointer, struct str_list *ret_tokens,
                  struct error *err);
/* The value there, or NULL. */
struct value *pointer_get(struct value *root, const struct str_list *tokens);
struct json pointer_view(struct json root, const struct str_list *tokens);
/* Put one token behind, escaped. */
void pointer_push(struct strbuf *out, struct str token);

#endif
