/* SPDX-License-Identifier: Apache-2.0 */
/* rancher_probe.h: whether Rancher can be used: does it answer, and does it accept the token?
 *
 * Asked at the start and from time to time, whether there is a Stack or not: one who installs Herd
 * is told at once what is wrong with the address, the CA or the token, and what to do about it. A
 * token that Rancher rejects keeps all other requests back (token_gate.h); its file is looked at
 * every second then, and another token is tried at once. */
#ifndef HERD_CONTROLLER_CLUSTERS_RANCHER_PROBE_H
#define HERD_CONTROLLER_CLUSTERS_RANCHER_PROBE_H

#include "base/metric.h"
#include "io/log.h"
#include "runtime/client.h"
#include "runtime/recorder.h"

struct rancher_probe;

/* All borrowed. */
struct rancher_probe_options {
    struct loop *loop;
    struct kube_client *login; /* to Rancher, for these questions alone; nothing keeps it back */
    struct recorder *recorder;
    struct log *log;
    struct metrics *metrics;
    struct str server;     /* Rancher's address, for people */
    struct str token_file; /* the same; "" = the token has none */
    /* Rancher gets no request until somebody renews the token: why, in a word and for people; or a
     * reason of "": it gets them again. May be NULL. */
    void (*token_changed)(void *context, struct str reason, struct str message);
    void *context;
    /* The pod that this process is, which the Events are about; without a UID there are none. */
    struct str pod_namespace, pod_name, pod_uid;
    uint64_t seed;
};

/* Asks from now on. */
struct rancher_probe *rancher_probe_create(const struct rancher_probe_options *options);
/* Before the recorder, and after the client, which may hold a question of it. */
void rancher_probe_free(struct rancher_probe *probe);
AUTO_DEFINE(rancher_probe_free, struct rancher_probe *)

/* What to do about an error of Rancher's, whichever request met it; "" = nothing that helps with
 * all of them. */
struct str rancher_probe_remedy(enum error_code code);

/* This process may write now: what is known becomes an Event, too, from now on. */
void rancher_probe_publish(struct rancher_probe *probe);
/* Another request was answered with 401: the next probe, soon, finds out whether that is because of
 * the token. */
void rancher_probe_check_token(struct rancher_probe *probe);
/* For kube_client_options.may_ask of all other clients to Rancher; `context` is the probe. */
bool rancher_probe_may_ask(void *context, struct error *ret_error);
/* Nothing but another token helps. */
bool rancher_probe_needs_token(const struct rancher_probe *probe);
/* False until the first answer, or the lack of one. */
bool rancher_probe_is_known(const struct rancher_probe *probe);
/* "" = Rancher answers and takes the token; else why not, and the remedy. Borrowed until the loop
 * turns. */
struct str rancher_probe_trouble(const struct rancher_probe *probe);

#endif
