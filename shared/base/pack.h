/* SPDX-License-Identifier: Apache-2.0 */
/* pack.h: strings that stand behind the struct they belong to, in the same allocation. */
#ifndef HERD_BASE_PACK_H
#define HERD_BASE_PACK_H

#include "base/str.h"

/* A copy at `*at`, which moves behind it. The caller has made room. */
static inline struct str pack_str(char **at, struct str s)
{
    char *begin = *at;

    if (s.len)
        memcpy(begin, s.at, s.len);
    *at += s.len;
    return str_make(begin, s.len);
}

#endif
