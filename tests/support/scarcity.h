/* SPDX-License-Identifier: Apache-2.0 */
/* scarcity.h: memory that really runs out: malloc, calloc and realloc that fail.
 *
 * Only in tests that are linked with --wrap for these and for _exit (tests/CMakeLists.txt), and only for calls in code
 * of ours: what libraries ask for by themselves is given. */
#ifndef HERD_TESTS_SUPPORT_SCARCITY_H
#define HERD_TESTS_SUPPORT_SCARCITY_H

#include <stdint.h>

enum scarcity { SCARCITY_ONCE, SCARCITY_FROM_THEN_ON };

/* The `nth` request from now fails (1 is the next), of any thread; with SCARCITY_FROM_THEN_ON all after it do too.
 * 0: none fails, they are only counted. */
void scarcity_begin(enum scarcity scarcity, uint64_t nth);

/* The same, while work(context) runs. 0; or the exit code with which the process would have ended. It goes on instead,
 * with what the work held: for a child process that ends soon. */
int scarcity_run(enum scarcity scarcity, uint64_t nth, void (*work)(void *context), void *context);

/* Requests since scarcity_begin. */
uint64_t scarcity_requests(void);

#endif
