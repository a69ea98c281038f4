/* SPDX-License-Identifier: Apache-2.0 */
/* limits.h: limits.def as constants: how often and for how long Kubernetes is asked. */
#ifndef HERD_KUBE_LIMITS_H
#define HERD_KUBE_LIMITS_H

enum {
#define LIMIT(name, value, unit, source) LIMIT_##name = (value),
#include "kube/limits.def"
#undef LIMIT
};

#endif
