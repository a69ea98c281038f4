/* SPDX-License-Identifier: Apache-2.0 */
/* builtin_policies.h: what policies and their bindings must look like.
 * Source: k8s.io/kubernetes/pkg/apis/admissionregistration/validation. */
#ifndef HERD_LAB_APISERVER_BUILTIN_POLICIES_H
#define HERD_LAB_APISERVER_BUILTIN_POLICIES_H

#include "lab/apiserver/object.h"

/* Passes over all other kinds. */
void policy_validate(struct arena *arena, const struct kind *kind, const struct value *object,
                     struct findings *found);

#endif
