/* applied_by.h: who changed the spec of a Stack last, recorded where nobody else can write it.
 *
 * The annotation STACK_LAST_APPLIED_BY is admission's own. A new Stack gets its author. An update
 * that changes the spec gets the user who asks for it; every other update (labels, finalizers, a
 * user's own edit of the annotation) keeps what was stored. The mutating route writes it; the
 * validating route refuses an object that does not say what the mutating one would have written,
 * so leaving that one out gains nothing. Both get the same answer however often they ask.
 *
 * Defaults are not a change of the spec: two specs that mean the same once defaulted are one, so
 * that whoever touches a Stack of an older Herd does not become its author. */
#ifndef HERD_STACK_APPLIED_BY_H
#define HERD_STACK_APPLIED_BY_H

#include "stack/validate.h"

struct stack_change {
    struct json object;
    struct json old_object; /* absent on CREATE */
    struct str username;    /* of the request */
};

/* A user's name as the annotation has it: control characters escaped, at most
 * LIMIT_USERNAME_BYTES and one escape. No two names that fit have one form, and none has the form
 * of one that was cut. */
struct str applied_by_name(struct arena *arena, struct str username);

/* After stack_judge of the same object. The first adds to the patch what makes the annotation true;
 * the second refuses if it is not. What is refused already is left as it is. */
void applied_by_write(struct arena *arena, const struct stack_change *change,
                      struct verdict *verdict);
void applied_by_check(struct arena *arena, const struct stack_change *change,
                      struct verdict *verdict);

#endif
