/* SPDX-License-Identifier: Apache-2.0 */
/* limits.h: limits.def as constants: what herd-controller asks, remembers and reads. */
#ifndef HERD_CONTROLLER_LIMITS_H
#define HERD_CONTROLLER_LIMITS_H

enum {
#define LIMIT(name, value, unit, source) LIMIT_##name = (value),
#include "controller/limits.def"
#undef LIMIT
};

#endif
