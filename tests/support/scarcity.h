/* scarcity.h: memory that really runs out: malloc, calloc and realloc that fail.
 *
 * Only in tests that are linked with --wrap for these three (tests/CMakeLists.txt), and only for calls in code of
 * ours: what libraries ask for by themselves is given. */
#ifndef HERD_TESTS_SUPPORT_SCARCITY_H
#define HERD_TESTS_SUPPORT_SCARCITY_H

#include <stdint.h>

enum scarcity { SCARCITY_ONCE, SCARCITY_FROM_THEN_ON };

/* The `nth` request from now fails (1 is the next), of any thread; with SCARCITY_FROM_THEN_ON all after it do too.
 * 0: none fails, they are only counted. */
void scarcity_begin(enum scarcity scarcity, uint64_t nth);

/* Requests since scarcity_begin. */
uint64_t scarcity_requests(void);

#endif
