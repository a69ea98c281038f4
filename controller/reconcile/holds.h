/* holds.h: releases that a peer asked to leave alone for a while (Retry-After), by Stack.
 *
 * The status has no place for it, so it is remembered here only: after a restart the ordinary wait
 * of the failure counts. */
#ifndef HERD_CONTROLLER_RECONCILE_HOLDS_H
#define HERD_CONTROLLER_RECONCILE_HOLDS_H

#include "stack/plan.h"

struct holds;

struct holds *holds_create(void);
void holds_free(struct holds *holds);
AUTO_DEFINE(holds_free, struct holds *)

/* Until `now_ms` + `retry_after_ms`, which is capped; nothing happens if it is not positive. */
void holds_add(struct holds *holds, struct str key, struct str cluster_id, struct str chart_name,
               int64_t retry_after_ms, int64_t now_ms);

struct shifted_failure {
    struct str cluster_id;
    struct str chart_name;
    struct str release_name;
    int64_t really_ms;  /* when it failed */
    int64_t instead_ms; /* what the plan is told */
};
LIST_DEFINE(shifted_failures, struct shifted_failure)

/* A plan counts a failure's wait from when it began. So that the wait ends no earlier than the
 * hold, failures in `before` are told to have begun later; `holds_restore` puts the true times into
 * what was planned. */
struct shifted_failures holds_apply(struct holds *holds, struct arena *arena, struct str key,
                                    int64_t now_ms, int64_t now_wall_ms,
                                    struct stack_status *before);
void holds_restore(const struct shifted_failures *shifted, struct release_states *planned);
void holds_forget(struct holds *holds, struct str key);

#endif
