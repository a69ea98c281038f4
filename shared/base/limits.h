/* limits.h: limits.def as constants. */
#ifndef HERD_BASE_LIMITS_H
#define HERD_BASE_LIMITS_H

#include <stdint.h>

enum {
#define LIMIT(name, value, unit, source) LIMIT_##name = (value),
#include "base/limits.def"
#undef LIMIT
};

#endif
