/* reach.h: is Rancher there, and does it take the token?
 *
 * Asked at the start and from time to time, whether there is a Stack or not: one who installs Herd
 * is told at once what is wrong with the address, the CA or the token, and what to do about it. */
#ifndef HERD_CONTROLLER_ESTATE_RANCHER_REACH_H
#define HERD_CONTROLLER_ESTATE_RANCHER_REACH_H

#include "base/metric.h"
#include "controller/estate/rancher/client.h"
#include "io/log.h"
#include "runtime/recorder.h"

struct reach;

/* All borrowed. */
struct reach_options {
    struct loop *loop;
    struct rancher_client *rancher;
    struct recorder *recorder;
    struct log *log;
    struct metrics *metrics;
    struct str server; /* Rancher's address, for people */
    /* The pod that this process is, which the Events are about; without a UID there are none. */
    struct str pod_namespace, pod_name, pod_uid;
    uint64_t seed;
};

/* Asks from now on. */
struct reach *reach_create(const struct reach_options *options);
/* Before the recorder, and after the Rancher client, which may hold a question of it. */
void reach_free(struct reach *reach);
AUTO_DEFINE(reach_free, struct reach *)

/* What to do about an error of Rancher's, whichever request met it; "" = nothing that helps with
 * all of them. */
struct str reach_way_out(enum error_code code);

/* This process may write now: what is known becomes an Event, too. */
void reach_tell(struct reach *reach);
/* False until the first answer, or the lack of one. */
bool reach_is_known(const struct reach *reach);
/* "" = Rancher answers and takes the token; else why not, and the way out. Borrowed until the loop
 * turns. */
struct str reach_trouble(const struct reach *reach);

#endif
