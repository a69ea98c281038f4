/* SPDX-License-Identifier: Apache-2.0 */
/* limits.h: limits.def as constants: how lists are read and watches kept. */
#ifndef HERD_RUNTIME_LIMITS_H
#define HERD_RUNTIME_LIMITS_H

enum {
#define LIMIT(name, value, unit, source) LIMIT_##name = (value),
#include "runtime/limits.def"
#undef LIMIT
};

#endif
