/* receipt_secret.h: makes the key of receipts where there is none: a Secret with RECEIPT_KEY_BYTES
 * random bytes under `key`. One that is there is left as it is, whatever it holds; what is no key
 * is logged. It is looked for once a minute, so one that was deleted comes back, with another key.
 * Both programs read it from a file that the kubelet makes of it; without it there are no receipts,
 * so nothing waits for this. */
#ifndef HERD_CONTROLLER_RECONCILE_RECEIPT_SECRET_H
#define HERD_CONTROLLER_RECONCILE_RECEIPT_SECRET_H

#include "io/log.h"
#include "runtime/client.h"

struct receipt_secret;

/* Borrowed, but for the names, which outlive it. */
struct receipt_secret_options {
    struct loop *loop;
    struct kube_client *api; /* sends no change unless the Lease is held */
    struct log *log;
    struct str namespace_, name;
    uint64_t seed; /* of the backoff */
};

/* Paused at first: only one may write. */
struct receipt_secret *receipt_secret_create(const struct receipt_secret_options *options);
/* Before the client. */
void receipt_secret_free(struct receipt_secret *secret);
AUTO_DEFINE(receipt_secret_free, struct receipt_secret *)
/* NULL does nothing. */
void receipt_secret_pause(struct receipt_secret *secret, bool paused);

#endif
