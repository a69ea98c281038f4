/* SPDX-License-Identifier: Apache-2.0 */
/* command.h: `herd-webhook review` as a command. */
#ifndef HERD_WEBHOOK_OFFLINE_COMMAND_H
#define HERD_WEBHOOK_OFFLINE_COMMAND_H

#include "webhook/offline/options.h"

/* Exit codes of a review. */
enum offline_exit {
    OFFLINE_CLEAN = 0,
    OFFLINE_FINDINGS = 1,
    OFFLINE_UNREADABLE = 2, /* and PROGRAM_USAGE */
};

/* What a report comes to. Pure. */
enum offline_exit offline_exit_of(const struct report *report, enum severity fail_on);

int offline_run(int argc, char **argv);

#endif
