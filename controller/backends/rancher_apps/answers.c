/* SPDX-License-Identifier: Apache-2.0 */
/* answers.c: found, missing for now, or to be asked again. */
#include "controller/backends/rancher_apps/answers.h"

#include "base/limits.h"

enum { TRIES_MAX = 3 };

static struct kept_answer kept(enum version_state state, struct str text)
{
    return (struct kept_answer){ state, text, -1 };
}

struct kept_answer answer_version(struct arena *arena, struct str asked,
                                  const struct request_outcome *outcome)
{
    struct str why = str_of(outcome->error.text);

    if (outcome->result == REQUEST_DONE && wire_version_fits(asked, outcome->text))
        return kept(VERSION_FOUND, outcome->text);
    if (outcome->result == REQUEST_DONE)
        return kept(VERSION_MISSING,
                    str_fmt(arena,
                            "the repository has no version %.*s; the newest that Rancher would "
                            "take instead is %.*s",
                            STR_ARG(asked), STR_ARG(outcome->text)));
    if (str_find(why, STR("no chart "), 0) >= 0)
        return kept(VERSION_MISSING, why);
    return (struct kept_answer){ VERSION_FAILED, why, outcome->retry_after_ms };
}

struct kept_answer answer_repo(const struct request_outcome *outcome)
{
    if (outcome->result == REQUEST_DONE)
        return kept(VERSION_NOT_SYNCED, STR(""));
    return (struct kept_answer){ VERSION_FAILED, str_of(outcome->error.text),
                                 outcome->retry_after_ms };
}

struct kept_answer answer_change(struct str text, uint32_t failures,
                                 const struct request_outcome *outcome)
{
    bool passes = outcome->result == REQUEST_UNKNOWN || outcome->error.code == ERROR_CONFLICT;

    if (outcome->result == REQUEST_DONE)
        return kept(VERSION_FOUND, text);
    if (!passes || failures + 1 >= TRIES_MAX)
        return kept(VERSION_MISSING, str_of(outcome->error.text));
    return (struct kept_answer){ VERSION_FAILED, str_of(outcome->error.text),
                                 outcome->retry_after_ms };
}

struct kept_answer answer_log(struct arena *arena, uint32_t failures,
                              const struct request_outcome *outcome)
{
    struct str why = str_of(outcome->error.text);

    if (outcome->result == REQUEST_DONE)
        return kept(VERSION_FOUND, wire_log_cause(arena, outcome->text));
    if (outcome->error.code == ERROR_NOT_FOUND || failures + 1 >= TRIES_MAX)
        return kept(VERSION_MISSING, why);
    return (struct kept_answer){ VERSION_FAILED, why, outcome->retry_after_ms };
}

/* One request is all that is spent on it: what fails is done without. */
struct kept_answer answer_pods(struct arena *arena, struct str release,
                               const struct request_outcome *outcome)
{
    struct error ignored = { .code = ERROR_NONE };
    struct json_limits limits = json_limits_default;
    struct json list;

    limits.bytes_max = LIMIT_ANSWER_BODY;
    if (outcome->result != REQUEST_DONE ||
        json_read(arena, outcome->text, &limits, &list, &ignored) < 0)
        return kept(VERSION_MISSING, STR(""));
    return kept(VERSION_FOUND, wire_pods_cause(arena, list, release));
}

/* Pods come and go: it is asked again while the symptom lasts, less and less often. */
struct kept_answer answer_health(struct arena *arena, struct str release,
                                 const struct request_outcome *outcome)
{
    struct kept_answer answer = answer_pods(arena, release, outcome);

    return (struct kept_answer){ VERSION_FAILED, answer.text, outcome->retry_after_ms };
}
