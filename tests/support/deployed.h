/* SPDX-License-Identifier: Apache-2.0 */
/* deployed.h: a stored Stack whose controller is done. */
#ifndef HERD_TESTS_SUPPORT_DEPLOYED_H
#define HERD_TESTS_SUPPORT_DEPLOYED_H

#include "stack/model/facts.h"
#include "stack/model/stack.h"

/* The status of `stack`, which is defaulted: each of its releases is deployed on each cluster that
 * it goes to, unless an override skips it there. */
struct str deployed_status(struct arena *arena, const struct stack *stack,
                           const struct facts *facts);
/* `object`, a Stack without a status, as it is stored then. */
struct json deployed_stack(struct arena *arena, struct json object, const struct facts *facts);

#endif
