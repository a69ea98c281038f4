/* SPDX-License-Identifier: Apache-2.0 */
/* answers.h: what is kept of Rancher's answer to a question (lookups.h). Pure. */
#ifndef HERD_CONTROLLER_BACKENDS_RANCHER_APPS_ANSWERS_H
#define HERD_CONTROLLER_BACKENDS_RANCHER_APPS_ANSWERS_H

#include "controller/backends/rancher_apps/client.h"

struct kept_answer {
    enum version_state state;
    struct str text;
    int64_t retry_after_ms; /* of FAILED; -1: nobody said */
};

/* Which exact version `asked` is. Another one than was asked for counts as missing. */
struct kept_answer answer_version(struct arena *arena, struct str asked,
                                  const struct request_outcome *outcome);
/* Whether a repository was made. Where it was, the repository itself will say more: nothing is
 * kept, and the state is NOT_SYNCED. */
struct kept_answer answer_repo(const struct request_outcome *outcome);
/* Whether a change was made, which is kept as FOUND with `text`. What was rejected stays so, and is
 * MISSING; where the answer was lost, or another change was faster, it is asked for again, a few
 * times. `failures`: how many tries failed before. */
struct kept_answer answer_change(struct str text, uint32_t failures,
                                 const struct request_outcome *outcome);
/* Why an operation failed, by its log. One that cannot be read in several tries is given up: the
 * failure is told without it. `failures`: how many tries failed before. */
struct kept_answer answer_log(struct arena *arena, uint32_t failures,
                              const struct request_outcome *outcome);
/* Which of a release's pods are not ready, and why; "" if that is not to be told. */
struct kept_answer answer_pods(struct arena *arena, struct str release,
                               const struct request_outcome *outcome);
/* The same of one that is deployed: kept for a while, which grows. */
struct kept_answer answer_health(struct arena *arena, struct str release,
                                 const struct request_outcome *outcome);

#endif
