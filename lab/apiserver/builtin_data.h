/* SPDX-License-Identifier: Apache-2.0 */
/* builtin_data.h: what kinds must look like that hold what programs write: ConfigMaps, Secrets,
 * Leases and Events. Pure. Source: k8s.io/kubernetes/pkg/apis/core/validation,
 * pkg/apis/coordination/validation. */
#ifndef HERD_LAB_APISERVER_BUILTIN_DATA_H
#define HERD_LAB_APISERVER_BUILTIN_DATA_H

#include "lab/apiserver/object.h"

/* Passes over all other kinds. */
void data_validate(struct arena *arena, const struct kind *kind, const struct value *old,
                   const struct value *object, struct findings *found);

#endif
