/* SPDX-License-Identifier: Apache-2.0 */
/* definition.h: a CustomResourceDefinition, checked and compiled into the kinds that it serves. */
#ifndef HERD_LAB_APISERVER_DEFINITION_H
#define HERD_LAB_APISERVER_DEFINITION_H

#include "lab/apiserver/kind.h"

struct definition {
    struct arena *arena;
    struct regex_set regexes;
    struct str group, plural;
    struct kinds kinds; /* of the served versions, newest first as given */
    unsigned uses;
};

/* Defaults that the API server fills in: singular, listKind, conversion. */
void definition_default(struct arena *arena, struct value *crd);
/* The conditions NamesAccepted and Established, accepted names and stored versions. */
void definition_establish(struct arena *arena, struct value *crd, struct str now);
/* What is wrong with it goes to `found`. The result is one reference, and usable if nothing was
 * found. */
struct definition *definition_compile(struct str crd, const struct schema *meta,
                                      struct findings *found);
void definition_unref(struct definition *definition);

#endif
