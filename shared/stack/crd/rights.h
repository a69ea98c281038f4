/* SPDX-License-Identifier: Apache-2.0 */
/* rights.h: what has to be granted for a kind whose objects are made into others, from its row. */
#ifndef HERD_STACK_CRD_RIGHTS_H
#define HERD_STACK_CRD_RIGHTS_H

#include "kube/kind.h"

/* manifests/workloads/PLURAL/rbac.yaml. Equal rows give equal bytes. */
void rights_write(const struct kube_kind *kind, struct strbuf *out);

#endif
