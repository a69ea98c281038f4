/* SPDX-License-Identifier: Apache-2.0 */
/* policies.h: the StackPolicies of files, made ready for a review. Pure.
 *
 * All or none: with one left out, a review would let pass what the policy rejects. */
#ifndef HERD_WEBHOOK_OFFLINE_POLICIES_H
#define HERD_WEBHOOK_OFFLINE_POLICIES_H

#include "stack/policy/policy_set.h"
#include "webhook/offline/input.h"

/* The caller's reference; or NULL, and in `ret_wrong` a line for each thing that is wrong with the
 * files, with its place first. Objects of other kinds are passed over. */
struct policy_set *policies_load(struct arena *arena, const struct input_files *files,
                                 struct str_list *ret_wrong);

#endif
