/* SPDX-License-Identifier: Apache-2.0 */
/* review_builder.h: AdmissionReviews of Stacks and StackPolicies for tests, as the API server writes them, and what
 * an answer says. */
#ifndef HERD_TESTS_SUPPORT_REVIEW_BUILDER_H
#define HERD_TESTS_SUPPORT_REVIEW_BUILDER_H

#include "text/json.h"

/* `object` and `old_object` are JSON; `operation` is "CREATE", "UPDATE" or "DELETE". */
struct str a_review(struct arena *arena, const char *uid, const char *operation, struct str object,
                    struct str old_object);
/* a_review is by the user "ann"; this one by `username`, as JSON. */
struct str a_review_by(struct arena *arena, const char *uid, const char *operation,
                       struct str username, struct str object, struct str old_object);

/* The same of a StackPolicy. */
struct str a_policy_review(struct arena *arena, const char *uid, const char *operation, struct str username,
                           struct str object, struct str old_object);

/* The response of an AdmissionReview; the test fails, with `row`, if it is not one for `uid` that
 * an API server takes: kind, patch and patchType together, a rejection with an error's code. */
struct json review_response(struct arena *arena, const char *row, struct str answer,
                            const char *uid);
/* Whether a warning tells what the change will do (stack/preview.h), rather than what was found:
 * that depends on whether it is a dry run. */
bool review_is_preview(struct str warning);
/* The answer without those. */
struct str review_without_preview(struct arena *arena, struct str answer);

#endif
