/* kept_stack.h: what is kept of a Stack between reconciles: a whole Stack for the decoder, without
 * what nobody here reads (managed fields, kubectl's copy of what was applied).
 *
 * In front stands a copy of its targets, which are asked again for every cluster whose labels
 * change: that costs a look at some sixty bytes, and not at the Stack. */
#ifndef HERD_CONTROLLER_RECONCILE_KEPT_STACK_H
#define HERD_CONTROLLER_RECONCILE_KEPT_STACK_H

#include "text/json.h"

/* For informer_options.keep; the context is not used. */
bool keep_stack(void *context, struct json object, struct strbuf *kept);

/* The Stack, unpacked into the arena. */
struct str kept_stack_object(struct arena *arena, struct str kept);
/* Its targets, as a view of the kept bytes. */
struct str kept_stack_targets(struct str kept);

/* Whether these targets may pick a cluster: by name, or because its labels match. */
bool kept_targets_pick(struct arena *arena, struct str targets, struct str cluster_id,
                       bool internal, const struct str *pairs, uint32_t pair_count);

#endif
