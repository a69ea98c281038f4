/* SPDX-License-Identifier: Apache-2.0 */
/* limits.h: limits.def as constants: what every layer above shares. */
#ifndef HERD_BASE_LIMITS_H
#define HERD_BASE_LIMITS_H

enum {
#define LIMIT(name, value, unit, source) LIMIT_##name = (value),
#include "base/limits.def"
#undef LIMIT
};

#endif
