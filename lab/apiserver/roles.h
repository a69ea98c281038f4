/* SPDX-License-Identifier: Apache-2.0 */
/* roles.h: RBAC in motion: the stored roles and bindings as a policy that is kept until one of them
 * changes, aggregated ClusterRoles, the roles that a cluster begins with, and the check that nobody
 * gives away more than they have. Inside of lab/apiserver only. */
#ifndef HERD_LAB_APISERVER_ROLES_H
#define HERD_LAB_APISERVER_ROLES_H

#include "lab/apiserver/rbac.h"
#include "lab/apiserver/request.h"

struct roles;

struct roles *roles_create(void);
void roles_free(struct roles *roles);

/* The cluster's policy as of now, held as long as the request's arena. NULL: the failure is
 * filled. */
const struct rbac_policy *roles_policy(struct request *rq);
/* May this caller do that? system:masters may do everything. *ret_why as of rbac_allows. */
bool roles_allow(struct request *rq, const struct api_caller *caller, const struct access *access,
                 struct str *ret_why);

/* After a commit, before its answer: forget what was read before, aggregate anew. */
void roles_note(struct request *rq);
/* What of bootstrap.def is not there is made; aggregated rules are brought up to date. */
int roles_bootstrap(struct api *api, struct str cluster, struct error *err);
void roles_aggregate(struct api *api, struct str cluster);

/* A role or binding on its way in: is the caller entitled to give these rights? */
int roles_admit(struct request *rq, const struct value *old, const struct value *object);

#endif
