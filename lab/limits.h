/* SPDX-License-Identifier: Apache-2.0 */
/* limits.h: limits.def as constants: what Kubernetes' expressions (CEL) may cost in herd-lab, as in
 * an API server. */
#ifndef HERD_LAB_LIMITS_H
#define HERD_LAB_LIMITS_H

enum {
#define LIMIT(name, value, unit, source) LIMIT_##name = (value),
#include "lab/limits.def"
#undef LIMIT
};

#endif
