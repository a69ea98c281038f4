/* SPDX-License-Identifier: Apache-2.0 */
/* access.h: may the user do that? So that nobody reaches through Herd what they could not reach
 * themselves.
 *
 * Whoever has a Stack made, or changes its spec, must be allowed to deploy to each cluster that it
 * goes to now, and to read each ConfigMap and Secret that it takes values from. The API server is
 * asked, by SubjectAccessReview:
 *
 *   deploy   a whole cluster        clusters.management.cattle.io       named by its id
 *   deploy   a namespace of it      releases.herd.suse.com              named CLUSTER:NAMESPACE
 *   get      values                 configmaps, secrets                 of the Stack's namespace
 *
 * The first is what Rancher's cluster owners have (their roles grant every verb on their cluster),
 * and, without a name, what may be given for all clusters. The second is a resource that nobody
 * stores: it is there to be granted. Who has not the first needs the second for each namespace that
 * a chart of the Stack goes to. RBAC can name both one by one (resourceNames); docs/access.md has
 * roles to copy.
 *
 * A selector means the clusters that are known to match now. While clusters are not known, it may
 * mean any, and the right on all of them is asked for. The controller asks again, for the author
 * (author.h), before it installs or upgrades anything. */
#ifndef HERD_STACK_ACCESS_H
#define HERD_STACK_ACCESS_H

#include "stack/access/author.h"
#include "stack/rules/validate.h"

/* Whose rights count, as a SubjectAccessReview has it. */
struct access_user {
    struct str name;
    struct str members; /* of its spec: "user":...,"uid":...,"groups":[...],"extra":{...} */
    struct str digest;  /* of a recorded one: of `members`, to remember answers by */
};

/* Of a request's userInfo; `groups` and `extra` may be absent. */
struct access_user access_user_of(struct arena *arena, struct str username, struct str uid,
                                  struct json groups, struct json extra);
/* Of an author: by name and groups. */
struct access_user access_user_recorded(struct arena *arena, const struct author *author);

/* A SubjectAccessReview to create, and what its answer says. */
extern const struct kube_resource access_review_resource;
void access_review_write(const struct access_user *user, const struct access_question *question,
                         struct strbuf *out);
bool access_review_allows(struct json review);

/* A question in few words, to remember its answer by; in the arena. */
struct str access_question_key(struct arena *arena, const struct access_question *question);

/* A ConfigMap or Secret that the Stack takes values from. */
struct access_reference {
    struct path at;
    bool secret;
    struct str name; /* as it is written: it may be another one for each cluster (template.h) */
};
LIST_DEFINE(access_references, struct access_reference)
/* Each once, of charts and overrides. Borrows from the Stack; paths from `spec`. */
struct access_references access_references_of(struct arena *arena, const struct stack *stack,
                                              const struct path *spec);
/* Whether the one for cluster `cluster_id` may be read; "" = any cluster's. */
struct access_question access_question_about(struct arena *arena, struct str namespace_,
                                             const struct access_reference *reference,
                                             struct str cluster_id);

/* Ask for the user, where somebody can be asked (facts->access); what is found goes to the
 * verdict. For whoever becomes the author (author_changes). `namespace_` is the request's. */
void access_validate(struct arena *arena, const struct facts *facts, const struct access_user *user,
                     struct str namespace_, const struct rule_severities *severities,
                     struct verdict *verdict);

#endif
