/* access.h: may the user deploy there? So that nobody reaches through Herd what they could not
 * reach themselves.
 *
 * Whoever has a Stack made, or changes its spec, must be allowed to deploy to each cluster that it
 * goes to now. The API server is asked, by SubjectAccessReview, about the verb `deploy`:
 *
 *   a whole cluster        clusters.management.cattle.io       named by its id
 *   a namespace of it      releases.herd.suse.com              named CLUSTER:NAMESPACE
 *
 * The first is what Rancher's cluster owners have (their roles grant every verb on their cluster),
 * and, without a name, what may be given for all clusters. The second is a resource that nobody
 * stores: it is there to be granted. Who has not the first needs the second for each namespace that
 * a chart of the Stack goes to. RBAC can name both one by one (resourceNames); docs/access.md has
 * roles to copy.
 *
 * A selector means the clusters that are known to match now. While clusters are not known, it may
 * mean any, and the right on all of them is asked for. The controller asks again, for the user who
 * is recorded, before it installs on a cluster where nothing of the Stack is. */
#ifndef HERD_STACK_ACCESS_H
#define HERD_STACK_ACCESS_H

#include "stack/record.h"

/* Whose rights count, as a SubjectAccessReview has it. */
struct access_user {
    struct str name;
    struct str members; /* of its spec: "user":...,"uid":...,"groups":[...],"extra":{...} */
};

struct receipt;

/* Of a request's userInfo; `groups` and `extra` may be absent. */
struct access_user access_user_of(struct arena *arena, struct str username, struct str uid,
                                  struct json groups, struct json extra);
/* Of a receipt: by name and groups. */
struct access_user access_user_recorded(struct arena *arena, const struct receipt *receipt);

/* A SubjectAccessReview to create, and what its answer says. */
extern const struct kube_resource access_review_resource;
void access_review_write(const struct access_user *user, const struct access_question *question,
                         struct strbuf *out);
bool access_review_allows(struct json review);

/* Ask for the user, where it matters (record_needs_user) and somebody can be asked
 * (facts->access). Of a new Stack or spec, what is found goes to the verdict; of one that only
 * lacks its receipt, it stands in the receipt's way. */
void access_judge(struct arena *arena, const struct facts *facts, const struct access_user *user,
                  const struct rule_severities *severities, struct record *record,
                  struct verdict *verdict);

#endif
