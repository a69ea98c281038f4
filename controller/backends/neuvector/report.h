/* SPDX-License-Identifier: Apache-2.0 */
/* report.h: the scan report of an image, read while it arrives.
 *
 * A report has a row of about a kilobyte for each vulnerability, and an old image has tens of
 * thousands. What is kept is how many there are of each severity, and the worst: memory does not
 * grow with the report. */
#ifndef HERD_CONTROLLER_BACKENDS_NEUVECTOR_REPORT_H
#define HERD_CONTROLLER_BACKENDS_NEUVECTOR_REPORT_H

#include "stack/model/observed.h"

struct report_reader;

struct report_reader *report_reader_create(void);
void report_reader_free(struct report_reader *reader);
AUTO_DEFINE(report_reader_free, struct report_reader *)

/* False: it cannot become a report any more. */
bool report_reader_put(struct report_reader *reader, struct str piece);
/* Behind the last piece. -1: that was no whole report, and nothing in it counts. Of the findings
 * all but the time; `worst` is the caller's reference. */
int report_reader_end(struct report_reader *reader, struct scan_findings *ret_findings,
                      struct error *err);

#endif
