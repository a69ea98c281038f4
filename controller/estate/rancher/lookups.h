/* lookups.h: what a cluster was asked, and what it answered: chart versions, logs of operations,
 * and repositories that could not be made.
 *
 * Answers are shared by all Stacks that use the cluster, and so are questions: while one is under
 * way, whoever has the same waits for it. An answer that somebody else's doing can change has an
 * end: versions end with the index they were found in, failures after some time. */
#ifndef HERD_CONTROLLER_ESTATE_RANCHER_LOOKUPS_H
#define HERD_CONTROLLER_ESTATE_RANCHER_LOOKUPS_H

#include "base/cleanup.h"
#include "base/rng.h"
#include "stack/observed.h"

struct lookups;

struct lookups *lookups_create(uint64_t seed);
void lookups_free(struct lookups *lookups);
AUTO_DEFINE(lookups_free, struct lookups *)

/* Names of questions. */
struct str lookup_version(struct arena *arena, struct str repo, struct str chart,
                          struct str version);
struct str lookup_repo(struct arena *arena, struct str repo);
struct str lookup_log(struct arena *arena, struct str namespace_, struct str operation);
/* Why pods keep an operation from its end: once while it runs, once after it failed. */
struct str lookup_pods(struct arena *arena, struct str namespace_, struct str operation,
                       bool failed);

/* Somebody has a question: true if it must be asked, false if it is under way already. Either way
 * `waiter` is told when it ends. */
bool lookups_begin(struct lookups *lookups, struct str question, struct str waiter);
/* It ended: all that wait for it are told. */
void lookups_end(struct lookups *lookups, struct str question,
                 void (*told)(void *context, struct str waiter), void *context);

struct lookup_answer {
    enum version_state state; /* FOUND and MISSING stay; FAILED ends; UNREAD: there is none */
    struct str text;          /* exact version, log line, or why it failed */
    int64_t ends_ms;          /* of FAILED: monotonic; it reads as UNREAD from then on */
    uint32_t failures;        /* in a row; also once they have ended */
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
size_t lookups_count(const struct lookups *lookups);

#endif
