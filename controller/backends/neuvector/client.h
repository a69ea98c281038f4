/* SPDX-License-Identifier: Apache-2.0 */
/* client.h: one cluster's NeuVector: finds it, logs in, and asks one thing after the other.
 *
 * It is reached through the API server's proxy of its Service; where that does not exist, as by
 * default, through the proxy of one of its controller's pods. An API key needs no session. With a
 * password there is one session, which is renewed when it ends and closed with the client. */
#ifndef HERD_CONTROLLER_BACKENDS_NEUVECTOR_CLIENT_H
#define HERD_CONTROLLER_BACKENDS_NEUVECTOR_CLIENT_H

#include "controller/backends/neuvector/report.h"
#include "controller/backends/neuvector/wire.h"
#include "controller/clusters/connection.h"

struct neuvector_client;

/* Requests under way of all clients; outlives them, and the connections. */
struct neuvector_calls {
    struct neuvector_call *first;
};
/* Of connections that ended before they answered. */
void neuvector_calls_free(struct neuvector_calls *calls);
/* Whether some of them end sessions. */
bool neuvector_calls_end_sessions(const struct neuvector_calls *calls);

/* `folder`: of credentials.h. */
struct neuvector_client *neuvector_client_create(struct neuvector_calls *calls,
                                                 struct connection *connection, const char *folder);
/* Ends its session, and what is under way without calling back. */
void neuvector_client_free(struct neuvector_client *client);
AUTO_DEFINE(neuvector_client_free, struct neuvector_client *)

struct neuvector_answer {
    enum wire_answer kind; /* OK, NOT_FOUND, REFUSED or DENIED; with a reason it means nothing */
    struct json json;      /* of OK; absent where NeuVector says nothing */
    /* Of OK, where a report was asked for: see report_reader_end; NULL = it cannot be read, and
     * `message` says why. */
    const struct scan_findings *report;
    struct str reason;  /* why NeuVector cannot be asked at present; "" = it can */
    struct str message; /* for people: of the reason, or of what was not OK */
};
/* All of it is borrowed for the call. It comes once, from the loop, not from within what asks; it
 * may ask the next thing, and free the client. */
typedef void neuvector_done(void *context, const struct neuvector_answer *answer);

/* Nothing else may be under way. The texts are copied, but for `method`. */
void neuvector_client_ask(struct neuvector_client *client, const char *method, struct str path,
                          struct str body, neuvector_done *done, void *context);
/* GET `path`, with a bound on the answer. */
void neuvector_client_get(struct neuvector_client *client, struct str path, size_t bytes_max,
                          neuvector_done *done, void *context);
/* GET `path`, whose answer is the report of a scan, and is not held. */
void neuvector_client_get_report(struct neuvector_client *client, struct str path,
                                 neuvector_done *done, void *context);
/* The same of the cluster's own API: GET `path`. */
void neuvector_client_get_pods(struct neuvector_client *client, struct str path,
                               neuvector_done *done, void *context);

/* Nothing will be asked for a while: its session ends, and what is under way without calling back.
 */
void neuvector_client_rest(struct neuvector_client *client);

#endif
