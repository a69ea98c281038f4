/* SPDX-License-Identifier: Apache-2.0 */
/* command.h: `herd-controller report`: the StackScanReport of one Stack, in a format that other
 * tools read. It reads from the API server with the rights of whoever runs it, and writes nothing
 * there. */
#ifndef HERD_CONTROLLER_REPORT_COMMAND_H
#define HERD_CONTROLLER_REPORT_COMMAND_H

#include "io/program.h"

extern const struct program report_program;

/* argv[0] is the word. Gives the exit code. */
int report_run(int argc, char **argv);

#endif
