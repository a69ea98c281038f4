/* receipt_key.h: the key of receipts, as it stands in its file. */
#ifndef HERD_WEBHOOK_RECEIPT_KEY_H
#define HERD_WEBHOOK_RECEIPT_KEY_H

#include "base/str.h"

struct receipt_key;

/* The file may come later, and may change. */
struct receipt_key *receipt_key_create(const char *file);
void receipt_key_free(struct receipt_key *key);
AUTO_DEFINE(receipt_key_free, struct receipt_key *)
/* A copy in the arena; "" while there is none. `key` may be NULL: never one. Any thread. */
struct str receipt_key_take(struct receipt_key *key, struct arena *arena);

#endif
