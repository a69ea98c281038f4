/* SPDX-License-Identifier: Apache-2.0 */
/* client_parts.h: what the requests to Rancher share. Internal to client*.c. */
#ifndef HERD_CONTROLLER_BACKENDS_RANCHER_APPS_CLIENT_PARTS_H
#define HERD_CONTROLLER_BACKENDS_RANCHER_APPS_CLIENT_PARTS_H

#include "controller/backends/rancher_apps/client.h"

enum {
    ACTION_TIME_MS = 140000, /* Rancher downloads the chart (30 s), makes a pod and waits for it */
    READ_TIME_MS = 60000,    /* above the 40 s for which Rancher waits for a tunnel */
};

struct request;

struct rancher_client {
    struct request *under_way; /* newest first */
};

/* What to make of a good answer's body. */
typedef int read_answer(struct arena *arena, struct str body, struct str *ret_text,
                        struct error *err);

struct request {
    struct rancher_client *rancher;
    struct connection *connection;
    struct request *older, *newer;
    request_done *done;
    void *context;
    read_answer *read;    /* NULL: the answer's body says nothing */
    enum error_code fine; /* this failure is what was wanted already */
    struct arena *arena;  /* of one in several steps, with what it is about; else NULL */
    struct rancher_release release;
    struct str path, body; /* of an upgrade: what is sent after the look */
};

struct request *request_new(struct rancher_client *rancher, struct connection *connection,
                            request_done *done, void *context, read_answer *read,
                            enum error_code fine);
void request_free(struct request *request);
/* For connection_send: tell what the answer means, and free the request. */
void request_finish(void *context, const struct kube_answer *answer);

int request_read_json(struct arena *arena, struct str body, struct json *ret_json,
                      struct error *err);
/* Of an action: its Operation's name. */
int request_read_output(struct arena *arena, struct str body, struct str *ret_text,
                        struct error *err);
/* "/v1/catalog.cattle.io.<type>/<part>/<part>" */
struct strbuf request_steve_path(struct arena *arena, const char *type, struct str part,
                                 struct str part2);
/* GET `path`; ends in `done`. */
void request_get(struct request *request, struct str path, kube_done *done);
/* An action of steve's: POST `body`, and what it answers ends the request. */
void request_action(struct request *request, struct str path, struct str body);

#endif
