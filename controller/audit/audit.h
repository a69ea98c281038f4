/* audit.h: stored Stacks, judged by the policies in the background.
 *
 * A policy that came after a Stack, or whose action is Audit, is told here: in figures, and, where
 * the API server has that kind, in one PolicyReport for each Stack that a policy is about
 * (report.h). Nothing else of a Stack is judged, and nothing is held up by it. */
#ifndef HERD_CONTROLLER_AUDIT_AUDIT_H
#define HERD_CONTROLLER_AUDIT_AUDIT_H

#include "base/metric.h"
#include "io/log.h"
#include "runtime/cache.h"
#include "runtime/client.h"

struct audit;

/* All borrowed. */
struct audit_options {
    struct loop *loop;
    struct kube_client *api;
    struct log *log;
    struct metrics *metrics;
    const struct kube_cache *stacks; /* as keep_stack keeps them */
    struct str namespace_;           /* that the Stacks are followed of; "" = all */
    uint64_t seed;
};

/* Follows policies and reports from now on; judges once it is resumed. */
struct audit *audit_create(const struct audit_options *options);
/* Before the client. */
void audit_free(struct audit *audit);
AUTO_DEFINE(audit_free, struct audit *)

/* The Stack came, changed or went. `audit` NULL does nothing, as in the next. */
void audit_stack_changed(struct audit *audit, struct str key);
void audit_pause(struct audit *audit, bool paused);

#endif
