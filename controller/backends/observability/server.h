/* SPDX-License-Identifier: Apache-2.0 */
/* server.h: the one server of SUSE Observability that all agents report to.
 *
 * It is asked in rounds while somebody wants something: whether it answers, which clusters it has,
 * and in two queries for the pods and the GPUs of all wanted clusters. A first failed round changes
 * nothing, after the second in a row nothing is known. A service token that was rejected three
 * times is not sent again until its file changes. */
#ifndef HERD_CONTROLLER_BACKENDS_OBSERVABILITY_SERVER_H
#define HERD_CONTROLLER_BACKENDS_OBSERVABILITY_SERVER_H

#include "controller/backends/observability/server_monitors.h"
#include "controller/backends/observability/wire.h"
#include "runtime/client.h"

struct suse_server;

struct suse_server_options {
    struct loop *loop;
    const struct kube_config *config; /* its address and CA; copied */
    const char *folder;               /* of the token, in the entry `token` */
    bool (*may_write)(void *context); /* as in kube_client_options */
    void *may_write_context;
    int64_t retry_ms; /* after a first failure; 0 = as limits.def says, all of them */
    uint64_t seed;
};

/* -1: what of the address or CA cannot be used. */
struct suse_server *suse_server_create(const struct suse_server_options *options,
                                       struct error *err);
void suse_server_free(struct suse_server *server);
AUTO_DEFINE(suse_server_free, struct suse_server *)

/* Texts are borrowed for the call. */
struct suse_wants {
    struct str_list clusters; /* by the names that their agents have for them */
    struct str_list namespaces;
    int64_t interval_ms; /* between rounds */
    struct monitors_wanted monitors;
};
/* From the loop, not from within the functions here. */
struct suse_server_events {
    /* A round begins: add what is wanted. */
    void (*add_wants)(void *context, struct suse_wants *wants);
    /* A round is over: views may be others now. */
    void (*answered)(void *context);
    void *context;
};
/* Who uses it; `events` is copied. */
void suse_server_follow(struct suse_server *server, const struct suse_server_events *events);
/* Somebody wants it asked again within that time; sooner than it was told to wait it is not. */
void suse_server_look(struct suse_server *server, int64_t within_ms);

/* Nobody wants the monitors any more that begin so (suse_monitors.h). */
void suse_server_drop(struct suse_server *server, struct str prefix);

/* What is known of one cluster. */
struct suse_view {
    bool asked;                         /* else what is known is of before */
    struct str reason;                  /* why nothing is known; "" = it is */
    struct str message;                 /* the same in words */
    const struct sample_index *samples; /* NULL = there are none to be had */
    struct str monitors_trouble; /* why monitors are not there as they should be; "" = they are */
    uint64_t generation;         /* another one, if that or the number of monitors may be */
};
/* Borrowed until the loop goes on. `server` NULL: none is configured. */
struct suse_view suse_server_view(const struct suse_server *server, struct str cluster);
/* How many monitors that begin so are there and work; false: not known. */
bool suse_server_monitors(const struct suse_server *server, struct str prefix, uint32_t *ret_count);

#endif
