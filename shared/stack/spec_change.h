/* spec_change.h: did an update change what the Stack says?
 *
 * Defaults are not a change: two specs that mean the same once defaulted are one. */
#ifndef HERD_STACK_SPEC_CHANGE_H
#define HERD_STACK_SPEC_CHANGE_H

#include "text/json.h"

/* `patch` holds the object's own defaults, as stack_default gives it. */
bool spec_changed(struct arena *arena, struct json object, struct str patch,
                  struct json old_object);

#endif
