/* SPDX-License-Identifier: Apache-2.0 */
/* limits.h: limits.def as constants: what herd-webhook remembers, and what a review in CI reads. */
#ifndef HERD_WEBHOOK_LIMITS_H
#define HERD_WEBHOOK_LIMITS_H

enum {
#define LIMIT(name, value, unit, source) LIMIT_##name = (value),
#include "webhook/limits.def"
#undef LIMIT
};

#endif
