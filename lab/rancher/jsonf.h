/* SPDX-License-Identifier: Apache-2.0 */
/* jsonf.h: JSON objects written as they look.
 *
 *     jsonf(arena, "{'kind':'Secret','metadata':{'name':%s},'data':%r,'count':%d,'ok':%b}", ...)
 *
 * ' stands for the quotes of keys and constant strings. %s a struct str, quoted and escaped; %r a
 * struct str of JSON as it is ("" gives null); %d an int64_t; %b a bool; %% itself. */
#ifndef HERD_LAB_RANCHER_JSONF_H
#define HERD_LAB_RANCHER_JSONF_H

#include "base/str.h"

struct str jsonf(struct arena *arena, const char *pattern, ...);
/* The same at the end of a buffer. */
void jsonf_put(struct strbuf *out, const char *pattern, ...);

#endif
