/* SPDX-License-Identifier: Apache-2.0 */
/* redaction.h: what others say in an observation, without the Secrets' values that it may quote.
 *
 * Helm and charts put values into the reasons that they give; these go to the status, Events and
 * logs, whose readers need not be allowed to read Secrets. Pure. */
#ifndef HERD_STACK_REDACTION_H
#define HERD_STACK_REDACTION_H

#include "stack/model/observed.h"
#include "text/mask.h"

/* Whether anybody said anything: else there is nothing to hide values in. */
bool redaction_is_needed(const struct observed_cluster *cluster);
/* All values of a Secret's text, which is YAML or JSON. What cannot be read cannot be hidden, so
 * then no words are shown. */
void redaction_hide_text(struct mask *mask, struct arena *arena, struct str text);
/* Hide in what Helm says of releases and operations. What it says of a release that has another
 * Stack's stamp is dropped: its values are not known here. */
void redaction_hide(struct mask *mask, struct arena *arena, struct str stack_uid,
                    struct observed_cluster *cluster);

/* In place of words that may quote a Secret that is not there to be looked for. */
#define WORDS_WITHHELD                                                                             \
    "(not shown: it may quote a Secret that cannot be read now; see the log of the operation in "  \
    "Rancher)"

#endif
