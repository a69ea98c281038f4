/* SPDX-License-Identifier: Apache-2.0 */
/* client_parts.h: what the files of the client (client.h) share; nobody else includes it.
 *
 * client.c goes through the steps of a question, client_place.c finds NeuVector, client_session.c
 * has the credentials and the session, client_send.c the requests and what their answers mean. */
#ifndef HERD_CONTROLLER_BACKENDS_NEUVECTOR_CLIENT_PARTS_H
#define HERD_CONTROLLER_BACKENDS_NEUVECTOR_CLIENT_PARTS_H

#include "controller/backends/neuvector/client.h"
#include "controller/backends/neuvector/credentials.h"

struct neuvector_call;

struct neuvector_client {
    struct neuvector_calls *calls;
    struct connection *connection;
    struct credentials *credentials;
    struct str digest;   /* of the credentials that were used last, in `memory` */
    uint32_t rejections; /* of those, in a row */
    struct arena *memory;
    struct arena *place;        /* of the pod's name: */
    struct str namespace_, pod; /* where NeuVector is; "" = not known */
    bool through_pod;           /* the Service does not exist */
    uint32_t namespaces_read;   /* of wire_namespaces: no pod of NeuVector is in these */
    struct arena *session;      /* secret, of: */
    struct str token;           /* "" = there is none */
    struct neuvector_call *call;
    struct loop_timer *soon; /* an answer that needs no request */
    /* What is asked. */
    struct arena *arena; /* secret */
    bool of_pods, of_report;
    struct report_reader *report; /* of the answer that is awaited */
    const char *method;
    struct str path, body;
    size_t bytes_max; /* of the answer; 0 = LIMIT_ANSWER_BODY */
    neuvector_done *done;
    void *context;
    bool looked_again, logged_in;  /* for this question */
    struct neuvector_answer known; /* what `soon` gives */
};

/* The next step of the question. */
void client_step(struct neuvector_client *client);

/* Requests and answers. */

/* What came, in an arena that ends with the call. */
typedef void neuvector_read(struct neuvector_client *client, struct arena *arena,
                            enum wire_answer kind, const struct neuvector_answer *answer);

struct neuvector_request {
    const char *method;
    struct str path, body;
    size_t bytes_max;
    struct http_header credential; /* without a value: none is sent */
    bool is_report;                /* the answer is, and read while it comes */
};

/* To NeuVector, whose place is known. */
void client_send(struct neuvector_client *client, const struct neuvector_request *request,
                 neuvector_read *read);
/* GET `path` of the cluster's own API. */
void client_send_direct(struct neuvector_client *client, struct str path, neuvector_read *read);
/* Nobody waits for what is under way any more. */
void client_leave_call(struct neuvector_client *client);

void client_finish(struct neuvector_client *client, const struct neuvector_answer *answer);
/* Without a request: from the loop all the same. */
void client_finish_soon(struct neuvector_client *client, struct str reason, struct str message);
void client_fail(struct neuvector_client *client, struct str reason, struct str message);
/* With the reason of that kind; `words` are those of who answered. */
void client_fail_as(struct neuvector_client *client, struct arena *arena, enum wire_answer kind,
                    struct str words);
/* Of the timer `soon`. */
void client_give_known(void *context);

int64_t client_time(const struct neuvector_client *client);
struct str client_cluster(const struct neuvector_client *client);

/* Where it is. */

void client_locate(struct neuvector_client *client);
/* A path of NeuVector's as one of the cluster's API. */
struct str client_place(const struct neuvector_client *client, struct arena *arena,
                        struct str path);
/* The Service is not there: the pod is the way. The pod is gone: look where others are, once. */
void client_go_another_way(struct neuvector_client *client, struct arena *arena,
                           const struct neuvector_answer *answer);

/* Who asks. */

/* Other credentials than before begin anew. */
void client_take_credential(struct neuvector_client *client, const struct credential *credential);
/* True: too often, and it was said. */
bool client_is_rejected(struct neuvector_client *client);
/* The header that carries the API key, or the session. */
struct http_header client_credential(const struct neuvector_client *client,
                                     const struct credential *credential);
void client_reject(struct neuvector_client *client, struct arena *arena);
void client_forget_session(struct neuvector_client *client);
void client_log_in(struct neuvector_client *client, const struct credential *credential);
/* Nobody waits for that; without a session there is nothing to do. */
void client_log_out(struct neuvector_client *client);

#endif
