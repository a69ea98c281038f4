/* record.h: what admission records on a Stack, where nobody else can write it: who changed its spec
 * last, and the receipt of its judgement.
 *
 * The annotations STACK_LAST_APPLIED_BY and STACK_RECEIPT are admission's own. The mutating route
 * writes them; the validating route refuses an object that says what the mutating one would not
 * have written, so leaving that one out gains nothing. Both get the same answer however often they
 * ask.
 *
 *   new, or its spec changed   the user who asks; and a receipt, if nothing of it is only let pass
 *                              because it was so before
 *   else, with a valid receipt both stay as they are: labels, finalizers, a user's own edit
 *   else, and it is wished     somebody wrote another text in the receipt's place: to have a Stack
 *                              judged that admission never saw. If it could be made anew as it is,
 *                              by this user, that one becomes its author, with a receipt; if not,
 *                              the wish is refused, and says why
 *   else                       the author stays, and there is no receipt: whoever touches a label
 *                              of a Stack that nobody judged does not vouch for it, and is not
 *                              kept from it either
 *
 * Where there is no key, receipts are neither written nor looked at. */
#ifndef HERD_STACK_RECORD_H
#define HERD_STACK_RECORD_H

#include "stack/validate.h"

struct policy_set;

struct recording {
    struct json object;
    struct json old_object; /* absent on CREATE */
    struct str namespace_;  /* of the request */
    struct str username;
    struct json groups;
    struct str receipt_key; /* "" = none */
    const struct policy_set *policies;
};

struct record {
    const struct recording *of;
    bool fresh;          /* a new Stack, or another spec */
    bool kept;           /* the receipt of before holds */
    bool wished;         /* it does not, and one is asked for */
    struct str in_the_way; /* why there can be none; "" = nothing */
};

/* A user's name as the annotation has it: control characters escaped, at most
 * LIMIT_USERNAME_BYTES and one escape. No two names that fit have one form, and none has the form
 * of one that was cut. */
struct str record_name(struct arena *arena, struct str username);

/* After stack_judge of the same object. `of` is borrowed. */
struct record record_begin(struct arena *arena, const struct recording *of,
                           const struct verdict *verdict);
/* Whether it matters what the user may do: another spec is asked for, or a receipt. */
bool record_needs_user(const struct record *record);
/* One route each. The first adds to the patch what makes the annotations true; the second refuses
 * if they are not. Both refuse a wish that cannot be met. What is refused already is left so. */
void record_write(struct arena *arena, const struct record *record,
                  const struct rule_severities *severities, struct verdict *verdict);
void record_check(struct arena *arena, const struct record *record,
                  const struct rule_severities *severities, struct verdict *verdict);

#endif
