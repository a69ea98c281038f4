/* SPDX-License-Identifier: Apache-2.0 */
/* reflector.h: how a list is kept equal to the server's, as a step function.
 *
 *   LISTING --page, page, ...--> WATCHING --end--> WATCHING (from the last resourceVersion)
 *      ^                            |
 *      '------ 410, line too long --'        WAITING between attempts, with backoff
 *
 * One with an interval has no watch: LISTING, WAITING for about as long, LISTING. Whoever gives one
 * to a reflector that watches ends its watch, and a list follows at once.
 *
 * Effects are requests to make and objects to put; the shell (runtime/informer) performs them and
 * feeds what happened back. Sources: Kubernetes API concepts, "Efficient detection of changes" and
 * "Retrieving large results sets in chunks". */
#ifndef HERD_KUBE_REFLECTOR_H
#define HERD_KUBE_REFLECTOR_H

#include "base/error.h"
#include "base/rng.h"
#include "kube/backoff.h"

enum reflector_state { REFLECTOR_IDLE, REFLECTOR_LISTING, REFLECTOR_WATCHING, REFLECTOR_WAITING };

enum reflector_event {
    REFLECTOR_START,
    REFLECTOR_PAGE,         /* a page of a list came: resource_version and continue_ */
    REFLECTOR_LIST_FAILED,  /* error */
    REFLECTOR_CHANGE,       /* a watch event or bookmark was put: resource_version */
    REFLECTOR_WATCH_ENDED,  /* closed by the server in good order, or our own time was up */
    REFLECTOR_WATCH_FAILED, /* error: connection lost, 410 as status or as event, line too long */
    REFLECTOR_TIMER,        /* the wait is over */
};

enum reflector_effect {
    REFLECTOR_DO_NOTHING,
    REFLECTOR_DO_LIST,  /* one page, from `continue_`, at `resource_version` */
    REFLECTOR_DO_WATCH, /* from `resource_version` for `watch_ms` */
    REFLECTOR_DO_WAIT,  /* `wait_ms`, then REFLECTOR_TIMER */
};

enum { REFLECTOR_TOKEN_BYTES_MAX = 4096, REFLECTOR_VERSION_BYTES = 64 };

struct reflector {
    enum reflector_state state;
    bool synced;         /* a whole list was put at least once */
    bool relist;         /* what follows the wait */
    int64_t interval_ms; /* between lists; 0 = what follows a list is a watch */
    uint32_t expired_in_a_row;
    char resource_version[REFLECTOR_VERSION_BYTES]; /* last known; "" = none */
    char list_version[REFLECTOR_VERSION_BYTES];     /* of the list under way */
    char *continue_; /* of the list under way; NULL = its first page */
    struct backoff backoff;
};

struct reflector_input {
    enum reflector_event event;
    struct str resource_version;
    struct str continue_;
    enum error_code error;
    int64_t retry_after_ms; /* -1 = none */
    int64_t lasted_ms;      /* of WATCH_ENDED and WATCH_FAILED: how long the watch stood */
};

struct reflector_output {
    enum reflector_effect effect;
    bool list_begins; /* forget what an earlier unfinished list put aside */
    bool list_ends;   /* what was not in the list is gone */
    int64_t wait_ms;
    int64_t watch_ms;
};

struct reflector reflector_new(void);
/* What it holds, not itself. */
void reflector_free(struct reflector *reflector);
struct reflector_output reflector_step(struct reflector *reflector,
                                       const struct reflector_input *input, struct rng *rng);

#endif
