/* SPDX-License-Identifier: Apache-2.0 */
/* limits.h: limits.def as constants: what documents and patterns may ask for. */
#ifndef HERD_TEXT_LIMITS_H
#define HERD_TEXT_LIMITS_H

enum {
#define LIMIT(name, value, unit, source) LIMIT_##name = (value),
#include "text/limits.def"
#undef LIMIT
};

#endif
