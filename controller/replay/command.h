/* SPDX-License-Identifier: Apache-2.0 */
/* command.h: `herd-controller replay FILE`: computes the replicas of ModelDeployments and LLMModels
 * again, from the inputs that their status.scaling has. It asks nobody. */
#ifndef HERD_CONTROLLER_REPLAY_COMMAND_H
#define HERD_CONTROLLER_REPLAY_COMMAND_H

#include "io/program.h"

extern const struct program replay_program;

/* argv[0] is the word. Gives the exit code. */
int replay_run(int argc, char **argv);

#endif
