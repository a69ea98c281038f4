/* SPDX-License-Identifier: Apache-2.0 */
/* limits.h: limits.def as constants: what a server of ours accepts, and for how long anything waits
 * for a peer. */
#ifndef HERD_IO_LIMITS_H
#define HERD_IO_LIMITS_H

enum {
#define LIMIT(name, value, unit, source) LIMIT_##name = (value),
#include "io/limits.def"
#undef LIMIT
};

#endif
