/* SPDX-License-Identifier: Apache-2.0 */
/* process.h: this process, as the system sees it. */
#ifndef HERD_IO_PROCESS_H
#define HERD_IO_PROCESS_H

#include "base/str.h"

/* As many open files as the system lets it have: shells and some container runtimes give 1,024, and
 * let programs take more. */
void process_raise_open_files(void);
/* Append the series `process_*`, which every program adds to its own metrics, in Prometheus' text
 * format, read from /proc (proc(5)) now. What cannot be read is left out. */
void process_render(struct strbuf *out);

#endif
