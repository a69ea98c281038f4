/* SPDX-License-Identifier: Apache-2.0 */
/* cases_run.h: `herd-webhook review --test`: the StackTests of a folder, with what they name. */
#ifndef HERD_WEBHOOK_OFFLINE_CASES_RUN_H
#define HERD_WEBHOOK_OFFLINE_CASES_RUN_H

#include "webhook/offline/cases.h"

/* Run all of `files`. */
struct case_report cases_run(struct arena *arena, const struct input_files *files,
                             const struct offline_config *config);

#endif
