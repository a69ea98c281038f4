/* SPDX-License-Identifier: Apache-2.0 */
/* sandbox.h: from here on the process makes the system calls of a table and no others; seccomp(2).
 *
 * What the table lacks answers EPERM and does nothing else: a call that a newer library makes goes
 * wrong as calls may, and ends no program. The kernel's audit log names it, where that can be had.
 * Nothing takes this back. No program that is started gains rights from then on (no_new_privs). */
#ifndef HERD_IO_SANDBOX_H
#define HERD_IO_SANDBOX_H

#include "base/error.h"

#include <stdint.h>

enum sandbox_mode {
    SANDBOX_OFF,
    SANDBOX_LOG, /* what the table lacks is done, and told in the kernel's audit log */
    SANDBOX_ENFORCE,
};

/* An argument of which the bits of `mask` must be `value`; a mask of 0 is no condition. */
struct sandbox_argument {
    unsigned number; /* the first is 0 */
    uint64_t mask;
    uint64_t value;
};

enum { SANDBOX_ARGUMENTS_MAX = 2 };

struct sandbox_call {
    const char *name; /* the kernel's; one that this machine's kernel has not is passed over */
    /* Answers ENOSYS: callers know another way, of which the table can say what it allows. */
    bool absent;
    struct sandbox_argument when[SANDBOX_ARGUMENTS_MAX]; /* all; of rows of one call any row */
};

/* Every thread of this process, those that run and those to come. -1: nothing, or nothing but that
 * some calls are absent, is so; the kernel or what this process runs in does not let it. */
int sandbox_enter(const struct sandbox_call *calls, uint32_t count, enum sandbox_mode mode,
                  struct error *err);

#endif
