/* receipt.h: how the controller knows that a Stack was judged by admission, and who asked for it.
 *
 * The annotation STACK_RECEIPT is compact JSON:
 *
 *   {"by":"ann","groups":["dev"],"more":2,"policies":"9f86...","mac":"5891..."}
 *
 *   by        who asked, as record_name has it; the annotation STACK_LAST_APPLIED_BY says the same
 *   groups    the user's groups at that time, and how many `more` had no room
 *   policies  digest of the StackPolicies that it was judged by (policy_set_digest); "" = none
 *   mac       HMAC-SHA256 over all of these, the Stack's namespace and name, and its spec
 *
 * A Stack that gets its name from generateName has none yet when it is judged: then that stands for
 * the name. The spec is taken in canonical form (fields_canonical.h), so only what changes its
 * meaning breaks the receipt. Everybody can read a receipt; nobody without the key can make one. */
#ifndef HERD_STACK_RECEIPT_H
#define HERD_STACK_RECEIPT_H

#include "stack/stack.h"

struct receipt {
    struct str by;
    struct str_list groups;
    int64_t groups_left_out;
    struct str policies;
};

enum receipt_state {
    RECEIPT_MISSING,
    RECEIPT_WRONG, /* of another Stack, spec, author or key; or no receipt at all */
    RECEIPT_VALID,
};

/* What stands in the key's file, if it is a key: so many random bytes. Else "". */
enum { RECEIPT_KEY_BYTES = 32 };
struct str receipt_key_of(struct str file);

/* The groups that a receipt has room for: at most LIMIT_RECEIPT_GROUPS bytes; the others are
 * counted. `groups`: a list of strings. */
void receipt_take_groups(struct arena *arena, struct json groups, struct receipt *receipt);
/* What the annotation says. `stack` is decoded and defaulted; `namespace_` stands in for one that
 * its metadata does not have yet. */
struct str receipt_write(struct arena *arena, struct str key, const struct stack *stack,
                         struct str namespace_, const struct receipt *receipt);
/* The receipt that the Stack carries; `ret_receipt` (may be NULL) only if it is valid. */
enum receipt_state receipt_check(struct arena *arena, struct str key, const struct stack *stack,
                                 struct str namespace_, struct receipt *ret_receipt);

#endif
