/* SPDX-License-Identifier: Apache-2.0 */
/* lookup.h: many look-ups in one object. Internal to text/.
 *
 * value_get walks the members: fine for the few that most objects have, quadratic when two objects
 * of a hundred thousand members meet. A lookup sorts the members of a large object once. It stands
 * as long as the object is not changed. */
#ifndef HERD_TEXT_LOOKUP_H
#define HERD_TEXT_LOOKUP_H

#include "text/value.h"

struct lookup {
    const struct value *object;
    const struct value **sorted; /* NULL for few */
    uint32_t count;
};

struct lookup lookup_new(struct arena *arena, const struct value *object);
/* The member, or NULL. */
const struct value *lookup_get(const struct lookup *lookup, struct str key);

/* Put a member behind all others: `key` is known to be new, so nothing is searched. */
void value_add(struct arena *arena, struct value *object, struct str key, struct value *member);

#endif
