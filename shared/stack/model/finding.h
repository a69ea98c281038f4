/* SPDX-License-Identifier: Apache-2.0 */
/* finding.h: how decode and validate write down what they find. Internal to stack/. */
#ifndef HERD_STACK_FINDING_H
#define HERD_STACK_FINDING_H

#include "stack/model/rules.h"

/* No rule is reported more often than this for one Stack; one last finding counts as all others of
 * it. It keeps a hostile document's answer small, and a rule that is off cannot hide another. */
enum { FINDINGS_PER_RULE_MAX = 100 };

struct findings {
    struct arena *arena;
    struct problems *problems;
    uint32_t of[RULE_COUNT];
};

struct findings findings_new(struct problems *problems);

/* "Invalid value: detail", as Kubernetes writes it for the cause; without a detail, the cause
 * alone. */
struct str cause_text(struct arena *arena, enum problem_cause cause, struct str detail);

/* Whether one more finding of the rule would be listed: else its message need not be made. */
bool finding_is_listed(const struct findings *findings, enum rule_id rule);

/* Add one with its rule's own severity. Its message is what Kubernetes says for the cause ("Invalid
 * value"), then what is formatted: the value in double quotes, ": " and what is wrong with it; or
 * nothing, of what is missing or twice. `remedy` "" = the rule's. Whatever the author wrote passes
 * through finding_shown on its way into the message. */
__attribute__((format(printf, 6, 7))) void finding_add(struct findings *findings, enum rule_id rule,
                                                       enum problem_cause cause,
                                                       const struct path *at, struct str remedy,
                                                       const char *format, ...);

/* Fit for a message: escaped, and cut at 80 bytes. */
struct str finding_shown(const struct findings *findings, struct str foreign);
/* "a -> b -> a": of a cycle's names, each waiting for the next; of a long one
 * its first and last. */
struct str finding_cycle_shown(const struct findings *findings, const struct str_list *names);
/* The remedy for an unknown field whose name is nearly right. */
#define FINDING_CORRECT_NAME STR("correct the name, or remove the field")
/* " (did you mean "x"?)" for the end of a message, or "" if nothing is near. */
struct str finding_did_you_mean(const struct findings *findings, struct str nearest);

#endif
