/* SPDX-License-Identifier: Apache-2.0 */
/* values.h: what stands in the ConfigMaps and Secrets that a Stack's releases read, and what of it
 * nobody may read in a message.
 *
 * Each object and key is read once, however many releases name it. Nothing is read beyond
 * LIMIT_VALUES_READ bytes for one Stack. */
#ifndef HERD_CONTROLLER_RECONCILERS_STACK_VALUES_H
#define HERD_CONTROLLER_RECONCILERS_STACK_VALUES_H

#include "controller/reconcilers/stack/references.h"
#include "stack/model/redaction.h"

/* In the arena; the rest is borrowed. */
struct values_reader {
    struct arena *arena;
    const struct references *references;
    struct str namespace_;
    struct observed_references found; /* each once, in the order in which they were wanted */
    struct map *places;               /* kind, name and key -> index in `found` + 1 */
    struct map *masks;                /* by the Secrets that they hide */
    bool settling; /* set if something is being read for the first time and will soon be there */
};

struct values_reader values_reader(struct arena *arena, const struct references *references,
                                   struct str namespace_);
void values_want(struct values_reader *reader, const struct observed_references *wanted);
/* Read all that is wanted. */
void values_read(struct values_reader *reader);

/* Hides what stands in the Secrets of `of`, which were read; shows nothing if one of them could not
 * be, unless it is optional. Equal Secrets give the same mask. */
struct mask *values_mask(struct values_reader *reader, const struct observed_references *of);

/* What was said of a request with the values of these Secrets (desired_release), in these versions.
 * Where they are not at hand any more, nothing of it is shown. */
struct str values_shown(struct arena *arena, const struct references *references,
                        struct str namespace_, struct str secret_versions, struct str words);

#endif
