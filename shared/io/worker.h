/* SPDX-License-Identifier: Apache-2.0 */
/* worker.h: a thread beside an event loop, for pure work that takes longer than a callback may.
 *
 * Called from the loop's own thread only. */
#ifndef HERD_IO_WORKER_H
#define HERD_IO_WORKER_H

#include "io/loop.h"

struct worker;

/* The thread begins with the first work. */
struct worker *worker_create(struct loop *loop);
/* What is under way ends first, and its `done` is not called. Before the loop is freed. */
void worker_free(struct worker *worker);
AUTO_DEFINE(worker_free, struct worker *)

/* `work(context)` on the thread, then `done(context)` from the loop. One at a time. Until `done`
 * nobody else may touch what `work` writes, nor change what it reads. */
void worker_run(struct worker *worker, void (*work)(void *context), void (*done)(void *context),
                void *context);
/* From then until `done` is called. */
bool worker_is_busy(const struct worker *worker);

#endif
