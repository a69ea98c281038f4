/* SPDX-License-Identifier: Apache-2.0 */
/* configured.h: the configuration that holds now: the defaults, over them what the file says as it
 * stands, over that the flags.
 *
 * The file is followed; a bad one keeps what was good last. Where there is none, it says nothing: a
 * ConfigMap that is mounted may come later, and go again. */
#ifndef HERD_SETTINGS_CONFIGURED_H
#define HERD_SETTINGS_CONFIGURED_H

#include "base/metric.h"
#include "io/log.h"
#include "runtime/health.h"
#include "stack/model/configuration.h"

struct configured;

/* `flags` is copied. NULL: the file is there and cannot be used; which line of it, and why. */
struct configured *configured_create(const char *file, const struct configuration_layer *flags,
                                     struct error *err);
void configured_free(struct configured *configured);
AUTO_DEFINE(configured_free, struct configured *)

/* Look at the file now. 1: another one was taken, or it went; 0: nothing changed; -1: what stands
 * there cannot be taken, and why. From any one thread. */
int configured_refresh(struct configured *configured, struct error *err);
/* Of what was taken last, for that thread: whether there is a file, how many things it says, and of
 * how many of them flags say otherwise or the same. */
struct configured_file {
    bool there;
    uint32_t said;
    uint32_t overruled;
};
struct configured_file configured_file_of(const struct configured *configured);

/* Where a program tells what it finds. Borrowed. */
struct configured_teller {
    struct log *log;
    struct metrics *metrics;
    uint32_t reloads;  /* id of a counter by result: taken, rejected */
    uint32_t rejected; /* id of a gauge */
    struct health *health;
    uint32_t check;
};
/* What there was at the beginning; the check is fine from now on. */
void configured_tell(struct configured *configured, const struct configured_teller *teller);
/* configured_refresh, told: each file that is taken or rejected once by log and counter, one that
 * is rejected by gauge and note for as long. True if one was taken. */
bool configured_look(struct configured *configured, const struct configured_teller *teller);

/* A copy, so that one validation has one configuration. NULL: the defaults. Any thread. */
struct configuration configured_take(struct configured *configured);

#endif
