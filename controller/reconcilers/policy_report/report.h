/* SPDX-License-Identifier: Apache-2.0 */
/* report.h: what the policies came to for one stored Stack, as a PolicyReport
 * (wgpolicyk8s.io/v1alpha2, the kind that policy dashboards read). Pure.
 *
 * At most one for each Stack, in its namespace, owned by it: the API server's garbage collector
 * takes both. `result` is fail for a rule of a policy that denies or audits, warn for one that
 * warns, pass for one that is kept; the action is told as the severity: high, medium, low. */
#ifndef HERD_CONTROLLER_RECONCILERS_POLICY_REPORT_REPORT_H
#define HERD_CONTROLLER_RECONCILERS_POLICY_REPORT_REPORT_H

#include "stack/policy/policy_results.h"

extern const struct kube_resource report_resource;

/* Which of them are ours. */
#define REPORT_SELECTOR "app.kubernetes.io/managed-by=herd"

enum report_result { REPORT_PASS, REPORT_FAIL, REPORT_WARN, REPORT_RESULTS };
const char *report_result_name(enum report_result result);
/* Of a rule with so many findings. */
enum report_result report_result_of(enum policy_action action, uint32_t findings);

struct report_stack {
    struct str namespace_;
    struct str name;
    struct str uid;
};

/* "stack-NAME"; of a name that is too long its beginning and a digest. */
struct str report_name(struct arena *arena, struct str stack_name);

/* What is remembered of a report, for informer_options.keep: whose it is, a digest of what it says
 * and since when each result stands; the context is not used. */
bool report_keep(void *context, struct json object, struct strbuf *kept);
/* The Stack that it is about: "namespace/name" by what report_keep remembers. */
struct str report_stack_key(struct arena *arena, struct str kept);

/* The report as JSON; a result that the stored report has too (`kept`, "" = there is none) keeps
 * its time. "": the stored one says exactly this. At most LIMIT_REPORT_RESULTS results, broken ones
 * first; the summary counts all. */
struct str report_write(struct arena *arena, const struct report_stack *stack,
                        const struct policy_set *set, const struct policy_results *results,
                        struct str kept, int64_t now_s);

#endif
