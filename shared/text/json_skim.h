/* SPDX-License-Identifier: Apache-2.0 */
/* json_skim.h: members of an object in text that json_read does not take, or not yet.
 *
 * Brackets and quotes are all that is looked at: what is nested too deeply, is a duplicate or is
 * cut off hides nothing that stands before it. Nothing is allocated, each step takes time in the
 * length of what it passes. */
#ifndef HERD_TEXT_JSON_SKIM_H
#define HERD_TEXT_JSON_SKIM_H

#include "base/str.h"

struct json_skim {
    struct str key;   /* as written, without quotes */
    struct str value; /* as written; of what is cut off, all that there is */
    struct str rest_;
};

/* Of what does not begin with '{', json_skim_next gives nothing. */
struct json_skim json_skim(struct str object);
bool json_skim_next(struct json_skim *skim);

/* The text of a string of printable ASCII without escapes and of at most `bytes_max`; else "". */
struct str json_skim_text(struct str value, size_t bytes_max);

#endif
