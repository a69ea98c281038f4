/* SPDX-License-Identifier: Apache-2.0 */
/* signal.h: signals as loop events. */
#ifndef HERD_IO_SIGNAL_H
#define HERD_IO_SIGNAL_H

#include "io/loop.h"

/* SIGPIPE ignored; SIGTERM, SIGINT and SIGHUP (unless nohup ignores it) blocked in this and all
 * later threads, to be taken by signal_watch or signal_wait. Call first in main. */
void signal_setup(void);

/* Wait for one of them, for programs without a loop; its number. */
int signal_wait(void);

struct signal_watch;
/* `taken(context, number)` in the loop for each SIGTERM, SIGINT or SIGHUP. */
struct signal_watch *signal_watch_create(struct loop *loop,
                                         void (*taken)(void *context, int number), void *context);
void signal_watch_free(struct signal_watch *watch);
AUTO_DEFINE(signal_watch_free, struct signal_watch *)

#endif
