/* admitted.h: did admission judge the Stack that is stored, as it is?
 *
 * A Stack can be stored while the webhook is not asked: its configuration was deleted, somebody
 * wrote to etcd, a backup came back. Its receipt (receipt.h) tells. One without is held: nothing is
 * done about it until it was judged. But what was accepted before goes on, in the same generation,
 * on every cluster that it means: Stacks that are older than receipts, and all of them when the key
 * is another one. The condition Accepted says that they are in doubt. */
#ifndef HERD_STACK_ADMITTED_H
#define HERD_STACK_ADMITTED_H

#include "stack/receipt.h"
#include "stack/status.h"

enum receipts_mode {
    RECEIPTS_IGNORE, /* all go on, and nothing is said of it; a receipt still says who it was */
    RECEIPTS_WARN,   /* all go on; the condition Accepted says that there is none */
    RECEIPTS_HOLD,
};
/* "ignore", "warn", "hold"; IGNORE for another word. */
enum receipts_mode receipts_mode_from(struct str name);

struct admitted {
    bool judged;            /* there is a valid receipt: */
    struct receipt receipt;
    bool held;              /* nothing is done */
    struct str doubt;       /* why; also of one that goes on without a receipt; "" = none */
};

/* `key` "" = there is none, and all pass. `before`: the stored status, or NULL. A Stack that is
 * being deleted is never held. */
struct admitted stack_admitted(struct arena *arena, enum receipts_mode mode, struct str key,
                               const struct stack *stack, const struct stack_status *before);

/* Whether the status says that the Stack was held for want of a receipt. */
bool stack_was_held(const struct stack_status *before);

#endif
