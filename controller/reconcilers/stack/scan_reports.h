/* SPDX-License-Identifier: Apache-2.0 */
/* scan_reports.h: the StackScanReports on the API server: one for each Stack with security enabled,
 * owned by it, so that the garbage collector takes both. What stands in one: stack/plan/
 * scan_listing.h; how it gets there: runtime/children.h. */
#ifndef HERD_CONTROLLER_RECONCILERS_STACK_SCAN_REPORTS_H
#define HERD_CONTROLLER_RECONCILERS_STACK_SCAN_REPORTS_H

#include "io/log.h"
#include "runtime/client.h"
#include "stack/plan/scan_listing.h"

struct scan_reports;

/* All borrowed. */
struct scan_reports_options {
    struct kube_client *api;
    struct log *log;
    struct str namespace_; /* of the Stacks that are followed; "" = all */
    uint64_t seed;
    /* Look at the Stack again, in so long. */
    void (*again)(void *context, struct str key, int64_t delay_ms);
    /* Reports were listed, or can be written since now: look at all Stacks again. */
    void (*listed)(void *context);
    void *context;
};

/* Follows what there is; writes only when asked to. */
struct scan_reports *scan_reports_create(const struct scan_reports_options *options);
/* Before the client. Writes under way are cancelled. */
void scan_reports_free(struct scan_reports *reports);
AUTO_DEFINE(scan_reports_free, struct scan_reports *)

/* Make it so for that Stack; a report that says the same already costs no request. Everything is
 * read before it returns. */
void scan_reports_put(struct scan_reports *reports, const struct stack *stack,
                      enum scan_listing listing, const struct scan_report *report);

#endif
