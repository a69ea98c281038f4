/* SPDX-License-Identifier: Apache-2.0 */
/* process.h: the series `process_*` of this process, which every program adds to its own metrics.
 */
#ifndef HERD_IO_PROCESS_H
#define HERD_IO_PROCESS_H

#include "base/str.h"

/* Append them in Prometheus' text format, read from /proc (proc(5)) now. What cannot be read is
 * left out. */
void process_render(struct strbuf *out);

#endif
