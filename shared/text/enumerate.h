/* SPDX-License-Identifier: Apache-2.0 */
/* enumerate.h: the first few of some names, for a sentence, and how many more there are.
 *
 * "a", "a, b", "a, b, c and 4 more"; with `joins_last` "a and b", too. */
#ifndef HERD_TEXT_ENUMERATE_H
#define HERD_TEXT_ENUMERATE_H

#include "base/str.h"

struct enumeration {
    struct strbuf text;
    uint32_t most;   /* so many are named */
    uint32_t count;  /* names so far */
    size_t last;     /* where the last one that is named begins */
    bool joins_last; /* "and" before the last, if all are named */
};

struct enumeration enumeration_new(struct arena *arena, uint32_t most);
void enumeration_add(struct enumeration *names, struct str name);
/* "" for none; in the arena. */
struct str enumeration_text(struct enumeration *names);

#endif
