/* answers.h: what is kept of Rancher's answer to a question (lookups.h). Pure. */
#ifndef HERD_CONTROLLER_ESTATE_RANCHER_ANSWERS_H
#define HERD_CONTROLLER_ESTATE_RANCHER_ANSWERS_H

#include "controller/estate/rancher/client.h"

struct kept_answer {
    enum version_state state;
    struct str text;
    int64_t retry_after_ms; /* of FAILED; -1: nobody said */
};

/* Which exact version `asked` is. Another one than was asked for counts as missing. */
struct kept_answer answer_version(struct arena *arena, struct str asked,
                                  const struct rancher_outcome *outcome);
/* Whether a repository was made. Where it was, the repository itself will say more: nothing is
 * kept, and the state is UNREAD. */
struct kept_answer answer_repo(const struct rancher_outcome *outcome);
/* Why an operation failed, by its log. One that cannot be read in several tries is given up: the
 * failure is told without it. `failures`: how many tries failed before. */
struct kept_answer answer_log(struct arena *arena, uint32_t failures,
                              const struct rancher_outcome *outcome);
/* Which of a release's pods are not ready, and why; "" if that is not to be told. */
struct kept_answer answer_pods(struct arena *arena, struct str release,
                               const struct rancher_outcome *outcome);

#endif
