/* SPDX-License-Identifier: Apache-2.0 */
/* builtin_roles.h: what roles and bindings must look like.
 * Source: k8s.io/kubernetes/pkg/apis/rbac (validation, v1 defaults). */
#ifndef HERD_LAB_APISERVER_BUILTIN_ROLES_H
#define HERD_LAB_APISERVER_BUILTIN_ROLES_H

#include "lab/apiserver/object.h"

/* Both pass over kinds that are no roles and no bindings. */
void roles_default(struct arena *arena, const struct kind *kind, struct value *object);
void roles_validate(struct arena *arena, const struct kind *kind, const struct value *old,
                    const struct value *object, struct findings *found);

#endif
