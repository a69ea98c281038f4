/* SPDX-License-Identifier: Apache-2.0 */
/* policy.h: ValidatingAdmissionPolicies: what the API server itself checks of a request, in CEL.
 *
 * A policy holds where a binding puts it to work. Its expressions see the request
 * (admission_cel.h), its own variables, and the parameters that the binding names. Audit
 * annotations have nobody who reads them here: they are evaluated for their errors only. Source:
 * k8s.io/apiserver/pkg/admission/plugin/policy/validating. */
#ifndef HERD_LAB_APISERVER_POLICY_H
#define HERD_LAB_APISERVER_POLICY_H

#include "lab/apiserver/admission_cel.h"

/* A policy's variables, each of which may read those before it. */
struct policy_variable {
    struct str name;
    struct cel_program *program; /* NULL: it does not compile, which is in `why` */
    struct str why;
};

LIST_DEFINE(policy_variables, struct policy_variable)

/* What expressions of a policy may read, with the types that its variables turned out to have. */
struct policy_env {
    struct cel_env env;
    struct policy_variables variables;
};
struct policy_env policy_env_of(struct arena *arena, struct json spec);

/* Ask all policies that are bound. -1: one rejects, or failed and its failurePolicy says Fail. */
int policies_validate(const struct admission_facts *facts);

#endif
