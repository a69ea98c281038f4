/* SPDX-License-Identifier: Apache-2.0 */
/* scan_listing.h: what becomes of the StackScanReport of a Stack. Pure.
 *
 * Worst findings first over all images, within bounds; what is left out is counted. The rules for
 * numbers are those of security.h: where fewer is known than before, the report of before stands.
 */
#ifndef HERD_STACK_SCAN_LISTING_H
#define HERD_STACK_SCAN_LISTING_H

#include "stack/model/scan_report.h"
#include "stack/plan/plan.h"

enum scan_listing {
    SCAN_LISTING_STANDS, /* whatever report there is stays as it is */
    SCAN_LISTING_WRITE,
    SCAN_LISTING_REMOVE, /* nobody wants to know */
};

/* `ret_report` is set with WRITE. It fits into LIMIT_SCAN_LISTING_BYTES when it is written. */
enum scan_listing scan_listing_of(struct arena *arena, const struct stack *stack,
                                  const struct observed *observed, const struct plan *plan,
                                  struct scan_report *ret_report);

#endif
