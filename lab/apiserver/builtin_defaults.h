/* SPDX-License-Identifier: Apache-2.0 */
/* builtin_defaults.h: the rows of defaults.def, put into objects. */
#ifndef HERD_LAB_APISERVER_BUILTIN_DEFAULTS_H
#define HERD_LAB_APISERVER_BUILTIN_DEFAULTS_H

#include "lab/apiserver/kind.h"
#include "text/value.h"

void defaults_fill(struct arena *arena, const struct kind *kind, struct value *object);

#endif
