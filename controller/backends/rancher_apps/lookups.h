/* SPDX-License-Identifier: Apache-2.0 */
/* lookups.h: what a cluster was asked, and what it answered: chart versions, logs of operations,
 * and repositories that could not be made.
 *
 * Answers are shared by all Stacks that use the cluster, and so are questions: while one is under
 * way, whoever has the same waits for it. An answer that somebody else's doing can change has an
 * end: versions end with the index they were found in, failures after some time. */
#ifndef HERD_CONTROLLER_BACKENDS_RANCHER_APPS_LOOKUPS_H
#define HERD_CONTROLLER_BACKENDS_RANCHER_APPS_LOOKUPS_H

#include "base/cleanup.h"
#include "base/rng.h"
#include "stack/model/observed.h"

struct lookups;

struct lookups *lookups_create(uint64_t seed);
void lookups_free(struct lookups *lookups);
AUTO_DEFINE(lookups_free, struct lookups *)

/* Names of questions. */
struct str lookup_version(struct arena *arena, struct str repo, struct str chart,
                          struct str version);
struct str lookup_repo(struct arena *arena, struct str repo);
struct str lookup_refresh(struct arena *arena, struct str repo);
/* Of the ClusterRepo with that uid. */
struct str lookup_removal(struct arena *arena, struct str uid);
struct str lookup_log(struct arena *arena, struct str namespace_, struct str operation);
/* Why pods keep an operation from its end: once while it runs, once after it failed. */
struct str lookup_pods(struct arena *arena, struct str namespace_, struct str operation,
                       bool failed);

/* Which pods keep a release from being ready, for as long as its workloads say `symptom`. */
struct str lookup_health(struct arena *arena, struct str namespace_, struct str release,
                         struct str symptom);

/* Whether the mark of a release could be written. */
struct str lookup_mark(struct arena *arena, struct str namespace_, struct str release);

/* Somebody has a question: true if it must be asked, false if it is under way already. Either way
 * `waiter` is told when it ends. */
bool lookups_begin(struct lookups *lookups, struct str question, struct str waiter);
/* It ended: all that wait for it are told. */
void lookups_end(struct lookups *lookups, struct str question,
                 void (*told)(void *context, struct str waiter), void *context);

struct lookup_answer {
    enum version_state state; /* FOUND and MISSING stay; FAILED ends; NOT_SYNCED: there is none, */
    struct str text;   /* exact version, log line, or why it failed; also once that has ended */
    int64_t ends_ms;   /* of FAILED: monotonic; it reads as NOT_SYNCED from then on */
    uint32_t failures; /* in a row; also once they have ended */
    int64_t since_ms;  /* when it was kept: monotonic */
};

/* Keep an answer; beyond LIMIT_LOOKUPS the one that was used least lately goes. FAILED ends after a
 * time that doubles with each failure in a row. */
void lookups_put(struct lookups *lookups, struct str question, enum version_state state,
                 struct str text, int64_t retry_after_ms, int64_t now_ms);
/* A use of the answer. Borrowed until the next change. */
struct lookup_answer lookups_get(struct lookups *lookups, struct str question, int64_t now_ms);
/* The repository changed: forget what was found in it. A range may now give another version only
 * if the index did; what was missing may be there after any download. How many were forgotten. */
uint32_t lookups_forget_repo(struct lookups *lookups, struct str repo, bool index_changed);
/* Its index was downloaded just now, whoever asked for that. */
void lookups_downloaded(struct lookups *lookups, struct str repo, int64_t now_ms);
/* What it means that an index lacks a version (an answer MISSING). An index that was downloaded a
 * short while before is believed. With any other the answer is STALE, and REFRESHING from when the
 * refresh is kept, with the last download before it as text, until `downloaded` is another one, or
 * stays the same for too long: that ends at `ret_ends_ms`. A refresh that was rejected leaves it
 * MISSING. */
enum version_state lookups_absence(struct lookups *lookups, struct str repo, struct str downloaded,
                                   const struct lookup_answer *missing, int64_t now_ms,
                                   int64_t *ret_ends_ms);
size_t lookups_count(const struct lookups *lookups);

#endif
