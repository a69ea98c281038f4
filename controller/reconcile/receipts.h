/* receipts.h: the key of receipts, and what is done about Stacks without one, as of now.
 *
 * The key is a file that the kubelet makes of a Secret, for this program and for each server of the
 * webhook, for each at its own time: on a new installation the Secret is made by the controller,
 * after all of them have started, and while a new version rolls out, servers of the old one go on
 * that know no receipts. Who has no key writes none, so until every server has it, a Stack without
 * one says nothing. Hence a Stack is held only
 *
 *   when a key is known here, and
 *   some Stack carries a receipt by it: a server of the webhook has the same key, and
 *   LIMIT_RECEIPT_SETTLE has passed since the later of the two: the other servers have it, too.
 *
 * A controller that finds both when it begins to act waits for nothing: the time passed before, or
 * it is the successor of one for whom it did. Another key begins anew. Until then, and without a
 * key, nothing is held, nor said to be in doubt; and what is accepted meanwhile stays accepted
 * (stack/admitted.h). A key that cannot be read any more stays what it was. */
#ifndef HERD_CONTROLLER_RECONCILE_RECEIPTS_H
#define HERD_CONTROLLER_RECONCILE_RECEIPTS_H

#include "io/log.h"
#include "runtime/cache.h"
#include "stack/admitted.h"

struct receipts;

/* `log` is borrowed. `key_file` NULL: there is no key. */
struct receipts *receipts_create(const char *key_file, enum receipts_mode mode, int64_t settle_ms,
                                 struct log *log);
void receipts_free(struct receipts *receipts);
AUTO_DEFINE(receipts_free, struct receipts *)

/* Before anything is done: of the Stacks that there are (kept_stack.h). */
void receipts_begin(struct receipts *receipts, const struct kube_cache *stacks);
/* A Stack carries a valid receipt. */
void receipts_proven(struct receipts *receipts, int64_t now_ms);
/* Look at the file and the clock. True: something else counts from now on, so every Stack should
 * be looked at. */
bool receipts_look(struct receipts *receipts, int64_t now_ms);
/* As it was at the last look. */
enum receipts_mode receipts_mode(const struct receipts *receipts);
struct str receipts_key(const struct receipts *receipts); /* borrowed until the next look */

#endif
