/* SPDX-License-Identifier: Apache-2.0 */
/* mask.h: somebody else's words, without the secrets that they may repeat.
 *
 * Helm, a chart or a server may quote a value that it was given in what it says of a failure.
 * Before such words go to a status, an Event or a log, each secret in them is
 * replaced with "[secret]".
 *
 * A secret is looked for as it stands, line by line, quoted as in JSON, as str_shown writes it, and
 * inside of base64, whatever stands around it there. Words may have been cut: the beginning of a
 * secret before "..." or at the end counts as well. What is shorter than LIMIT_MASK_BYTES is not
 * looked for: it would tear ordinary words apart and can be guessed anyway. Pure. */
#ifndef HERD_TEXT_MASK_H
#define HERD_TEXT_MASK_H

#include "text/json.h"

struct mask;

/* In the arena, with copies of all that is added. */
struct mask *mask_new(struct arena *arena);
void mask_add(struct mask *mask, struct str secret);
/* Each string and number of a JSON value, not the names of members. */
void mask_add_json(struct mask *mask, struct json value);
/* What must be hidden is not known in full: from now on no words are shown at all, but `instead`, a
 * constant. The first that is given stays. */
void mask_withhold(struct mask *mask, struct str instead);

/* In time linear in the text, but for secrets that begin alike. "" stays "". */
struct str mask_apply(struct mask *mask, struct arena *arena, struct str text);

#endif
