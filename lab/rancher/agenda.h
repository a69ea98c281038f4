/* SPDX-License-Identifier: Apache-2.0 */
/* agenda.h: what the simulation has to look at, and when. Safe from any thread.
 *
 * Entries are only hints: whoever takes one reads the world anew, so one too many does no harm. */
#ifndef HERD_LAB_RANCHER_AGENDA_H
#define HERD_LAB_RANCHER_AGENDA_H

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/str.h"

enum agenda_kind {
    AGENDA_TASK,    /* cluster, namespace, Operation */
    AGENDA_RELEASE, /* cluster, namespace, release: bring its App up to date */
    AGENDA_REPO,    /* cluster, ClusterRepo */
    AGENDA_CLUSTER, /* cluster */
    /* Cluster, namespace and name; in the order of enum pods_maker. */
    AGENDA_DEPLOYMENT,
    AGENDA_STATEFUL_SET,
    AGENDA_JOB,
    AGENDA_POD,
};

struct agenda_entry {
    enum agenda_kind kind;
    struct str cluster, namespace_, name;
};

struct agenda;

struct agenda *agenda_create(const struct clock *clock);
void agenda_free(struct agenda *agenda);
AUTO_DEFINE(agenda_free, struct agenda *)

/* The texts are copied. `due_ms` is wall time. */
void agenda_put(struct agenda *agenda, const struct agenda_entry *entry, int64_t due_ms);
/* Wait for the next due entry; its texts are put into `arena`. False once the agenda is closed. */
bool agenda_take(struct agenda *agenda, struct arena *arena, struct agenda_entry *ret_entry);
/* From now on agenda_take gives false. */
void agenda_close(struct agenda *agenda);
size_t agenda_count(struct agenda *agenda);

#endif
