/* accesses.h: what users may do, asked for in the background.
 *
 * Questions are those of stack/access.h. An answer is remembered for LIMIT_ACCESS_FIRST_TIME, and
 * a no for longer each time, up to LIMIT_ACCESS_LAST_TIME. Whoever asked in vain is woken when it
 * comes. */
#ifndef HERD_CONTROLLER_RECONCILE_ACCESSES_H
#define HERD_CONTROLLER_RECONCILE_ACCESSES_H

#include "runtime/client.h"
#include "stack/access.h"

struct accesses;

struct accesses_options {
    struct kube_client *api;
    /* An answer came that the Stack asked for. */
    void (*again)(void *context, struct str key);
    void *context;
};

struct accesses *accesses_create(const struct accesses_options *options);
/* Before the client. */
void accesses_free(struct accesses *accesses);
AUTO_DEFINE(accesses_free, struct accesses *)

struct access_found {
    enum access_answer answer; /* UNKNOWN: it is being asked for */
    struct str trouble;        /* why it could not be had, if somebody tried; in the arena */
    int64_t until_ms;          /* by the loop's clock: then it is asked anew; -1 = when it comes */
};
/* What is known, for the Stack `key`. */
struct access_found accesses_get(struct accesses *accesses, struct arena *arena,
                                 const struct access_user *user,
                                 const struct access_question *question, struct str key);

#endif
