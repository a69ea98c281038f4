/* SPDX-License-Identifier: Apache-2.0 */
/* sandbox.h: the system calls that `herd-webhook serve` makes: syscalls.def. */
#ifndef HERD_WEBHOOK_SANDBOX_H
#define HERD_WEBHOOK_SANDBOX_H

#include "io/log.h"
#include "io/sandbox.h"

/* The table. Instrumented programs (ASan, gcov) have more at its end, of which the webhook itself
 * needs none. */
extern const struct sandbox_call webhook_calls[];
extern const uint32_t webhook_call_count;
extern const uint32_t webhook_own_call_count;

/* A word of --seccomp, which is one of its choices. */
enum sandbox_mode webhook_sandbox_mode(struct str word);

/* Enter it and say so, or why it could not be: then the webhook goes on as it is. Whoever runs it
 * may filter its calls too (seccompProfile), and admission that stands still for want of a second
 * filter would be the worse. */
void webhook_sandbox_enter(enum sandbox_mode mode, struct log *log);

#endif
