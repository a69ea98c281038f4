/* SPDX-License-Identifier: Apache-2.0 */
/* bootstrap.h: bootstrap.def as objects. */
#ifndef HERD_LAB_APISERVER_BOOTSTRAP_H
#define HERD_LAB_APISERVER_BOOTSTRAP_H

#include "base/str.h"

uint32_t bootstrap_count(void);
/* "clusterroles" or "clusterrolebindings", the name, and the whole object as JSON. */
void bootstrap_object(struct arena *arena, uint32_t index, struct str *ret_plural,
                      struct str *ret_name, struct str *ret_object);

#endif
