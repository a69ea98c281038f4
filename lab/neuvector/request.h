/* SPDX-License-Identifier: Apache-2.0 */
/* request.h: a request to the simulated NeuVector, and the shapes of its answers; for the files of
 * this folder. */
#ifndef HERD_LAB_NEUVECTOR_REQUEST_H
#define HERD_LAB_NEUVECTOR_REQUEST_H

#include "lab/rancher/inside.h"

struct nv {
    struct simulation *simulation;
    struct http_exchange *exchange;
    struct arena *arena;
    struct str cluster, namespace_;
    struct str path; /* NeuVector's own, without the '/' before it */
};

bool nv_is(struct nv *nv, const char *method, const char *path);
bool nv_strikes(struct nv *nv, enum fault_id id);
/* False: the role may only read, which was answered. */
bool nv_may_write(struct nv *nv);

/* Whether it has learned such a group: "nv.SERVICE.NAMESPACE" of a container that runs. */
bool nv_has_group(struct nv *nv, struct str group);

/* `code` is NeuVector's own number. */
void nv_reply_error(struct nv *nv, int status, int64_t code, const char *text);
/* The same, with more words in "message". */
void nv_reply_message(struct nv *nv, int status, int64_t code, const char *text,
                      struct str message);
void nv_reply_empty(struct nv *nv);
void nv_reply_query(struct nv *nv, struct str json);

#endif
