/* SPDX-License-Identifier: Apache-2.0 */
/* limits.h: limits.def as constants: what a Stack may ask for, and what it takes to validate,
 * preview and deploy it. */
#ifndef HERD_STACK_MODEL_LIMITS_H
#define HERD_STACK_MODEL_LIMITS_H

enum {
#define LIMIT(name, value, unit, source) LIMIT_##name = (value),
#include "stack/model/limits.def"
#undef LIMIT
};

#endif
