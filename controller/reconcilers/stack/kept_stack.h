/* SPDX-License-Identifier: Apache-2.0 */
/* kept_stack.h: what is kept of a Stack between reconciles: a whole Stack for the decoder, without
 * what nobody here reads (managed fields, kubectl's copy of what was applied).
 *
 * In front stand a copy of its targets, which are asked again when labels that they name change
 * (targets_index.h), and what metrics count: that costs a look at some sixty bytes, and not at the
 * Stack. */
#ifndef HERD_CONTROLLER_RECONCILERS_STACK_KEPT_STACK_H
#define HERD_CONTROLLER_RECONCILERS_STACK_KEPT_STACK_H

#include "kube/selector.h"

/* For informer_options.keep; the context is not used. */
bool keep_stack(void *context, struct json object, struct strbuf *kept);

/* The Stack, unpacked and read into the arena. -1: it cannot be, which is our own mistake. */
int kept_stack_read(struct arena *arena, struct str kept, struct json *ret_stack,
                    struct error *err);
/* The same without what its status says of each release, which may be much: of a large one without
 * any status. */
int kept_stack_read_spec(struct arena *arena, struct str kept, struct json *ret_stack,
                         struct error *err);
/* Its targets, as a view of the kept bytes. */
struct str kept_stack_targets(struct str kept);
/* {"phase": "...", "scans": "...", "summary": {...}} of its status, in the same way. */
struct str kept_stack_tally(struct str kept);

/* Whether these targets may pick a cluster: by name, or because its labels match. */
bool kept_targets_pick(struct arena *arena, struct str targets, struct str cluster_id,
                       bool internal, const struct label *labels, uint32_t label_count);

#endif
