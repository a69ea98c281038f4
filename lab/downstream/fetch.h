/* SPDX-License-Identifier: Apache-2.0 */
/* fetch.h: an HTTP request that a thread waits for, made on a loop that runs in another.
 *
 * The simulation's threads may block, as Rancher's do; libcurl's transfers belong to one loop. */
#ifndef HERD_LAB_DOWNSTREAM_FETCH_H
#define HERD_LAB_DOWNSTREAM_FETCH_H

#include "io/http_client.h"

struct fetch {
    const char *method;
    struct str url;
    const struct http_header *headers;
    uint32_t header_count;
    struct str body;
    int64_t timeout_ms; /* 0 = FETCH_TIME_MS */
    size_t answer_bytes_max;
};

enum { FETCH_TIME_MS = 15000 };

struct fetched {
    int status; /* 0: no answer, see `error` */
    struct str body;
    struct str content_type;
    struct error error;
};

/* Not from the loop's own thread. What comes back is in the arena. */
struct fetched fetch(struct loop *loop, struct http_client *client, struct arena *arena,
                     const struct fetch *request);
/* Run `work` in the loop's thread and wait for its end. */
void fetch_run(struct loop *loop, void (*work)(void *context), void *context);

#endif
