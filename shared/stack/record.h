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
 *   else, without one          the author stays. If the Stack could be made anew as it is, by the
 *                              user who asks, that one becomes its author, with a receipt. So who
 *                              wants a Stack judged that admission never saw changes the annotation
 *
 * In the last case a fault of before does not refuse the update, but there is no receipt: a running
 * Stack is not locked, and one that nobody judged does not pass for one that was. Where there is no
 * key, receipts are neither written nor looked at. */
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
    struct str in_the_way; /* why there can be no receipt; "" = nothing */
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
 * if they are not. What is refused already is left as it is. */
void record_write(struct arena *arena, const struct record *record, struct verdict *verdict);
void record_check(struct arena *arena, const struct record *record,
                  const struct rule_severities *severities, struct verdict *verdict);

#endif
