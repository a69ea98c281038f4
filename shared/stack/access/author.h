/* SPDX-License-Identifier: Apache-2.0 */
/* author.h: who a Stack's spec is from.
 *
 * Two annotations say it: STACK_LAST_APPLIED_BY the user's name, STACK_LAST_APPLIED_BY_GROUPS the
 * user's groups between commas, both as the API server authenticated the request. The mutating
 * route writes them whenever the spec changes, or another release is to be adopted. Nobody has to
 * trust it: a ValidatingAdmissionPolicy inside the API server (manifests/webhook/author.yaml) lets
 * such a change pass only with the annotations of whoever makes it, and any other one only with
 * those of before. The controller asks what that user may do before it begins anything
 * (access.h). */
#ifndef HERD_STACK_AUTHOR_H
#define HERD_STACK_AUTHOR_H

#include "kube/admission.h"
#include "stack/model/verdict.h"

struct author {
    struct str name; /* "" = nobody is recorded: it was stored past admission */
    struct str_list groups;
};

/* Of a stored Stack. */
struct author author_of(struct arena *arena, const struct kube_meta *meta);
/* Whether nothing of a stored Stack may begin because nobody is recorded. One that is being deleted
 * goes all the same. */
bool author_is_missing(const struct kube_meta *meta);

/* Whether the spec changes, as it will be stored. */
bool author_changes_spec(struct arena *arena, const struct admission_request *request,
                         struct json old_object, const struct verdict *verdict);
/* Whether the request makes its user the author. `old_object` is absent on CREATE; `verdict` is of
 * stack_admit. What a client leaves out and a default of before fills in again is no change. */
bool author_changes(struct arena *arena, const struct admission_request *request,
                    struct json old_object, const struct verdict *verdict);

/* Add to the verdict's patch what makes the annotations true, and STACK_TRACEPARENT what
 * `traceparent` says ("" = there is to be none) unless that is NULL. Of groups that have no room
 * (LIMIT_AUTHOR_GROUPS), or one of which has a comma in its name, none is written: the author then
 * has the rights of the user alone. */
void author_write(struct arena *arena, const struct admission_request *request,
                  struct json old_object, bool changes, const struct str *traceparent,
                  struct verdict *verdict);

#endif
