/* SPDX-License-Identifier: Apache-2.0 */
/* sandbox.c: syscalls.def as a table, and its entry. */
#include "webhook/sandbox.h"

#include <fcntl.h>
#include <linux/netlink.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>

/* Of an int the upper half of a register says nothing. */
#define INT_MASK UINT32_MAX
#define ARGUMENT(number, mask, value)                                                              \
    {                                                                                              \
        (number), (mask), (value)                                                                  \
    }

/* What syscalls.def says of arguments. */
#define ANY                                                                                        \
    {                                                                                              \
        0, 0, 0                                                                                    \
    }
#define A_THREAD ARGUMENT(0, CLONE_THREAD, CLONE_THREAD)
#define READ_ONLY ARGUMENT(2, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY)
#define INET ARGUMENT(0, INT_MASK, AF_INET)
#define INET6 ARGUMENT(0, INT_MASK, AF_INET6)
#define NETLINK ARGUMENT(0, INT_MASK, AF_NETLINK), ARGUMENT(2, INT_MASK, NETLINK_ROUTE)
#define UNIX ARGUMENT(0, INT_MASK, AF_UNIX)
#define DATA ARGUMENT(2, PROT_EXEC, 0)
#define JIT                                                                                        \
    ARGUMENT(2, INT_MASK, PROT_READ | PROT_WRITE | PROT_EXEC),                                     \
        ARGUMENT(3, INT_MASK, MAP_PRIVATE | MAP_ANONYMOUS)
#define THREAD_NAME ARGUMENT(0, INT_MASK, PR_SET_NAME)
#define BYTES_TO_READ ARGUMENT(1, INT_MASK, FIONREAD)

#ifdef HERD_INSTRUMENTED
#define INSTRUMENT(call, arguments, why) { #call, false, { arguments } },
#else
#define INSTRUMENT(call, arguments, why)
#endif

const struct sandbox_call webhook_calls[] = {
#define CALL(call, arguments, seen, why) { #call, false, { arguments } },
#define ABSENT(call, why) { #call, true, { ANY } },
#include "webhook/syscalls.def"
#undef CALL
#undef ABSENT
#undef INSTRUMENT
};

const uint32_t webhook_call_count = sizeof(webhook_calls) / sizeof(webhook_calls[0]);
const uint32_t webhook_own_call_count = 0
#define CALL(call, arguments, seen, why) +1
#define ABSENT(call, why) +1
#define INSTRUMENT(call, arguments, why)
#include "webhook/syscalls.def"
    ;
#undef CALL
#undef ABSENT
#undef INSTRUMENT

static const char *const mode_names[] = {
    [SANDBOX_OFF] = "off",
    [SANDBOX_LOG] = "log",
    [SANDBOX_ENFORCE] = "enforce",
};

enum sandbox_mode webhook_sandbox_mode(struct str word)
{
    for (int i = SANDBOX_OFF; i < SANDBOX_ENFORCE; i++)
        if (str_eq(word, str_of(mode_names[i])))
            return (enum sandbox_mode)i;
    return SANDBOX_ENFORCE;
}

void webhook_sandbox_enter(enum sandbox_mode mode, struct log *log)
{
    struct error err;

    if (mode == SANDBOX_OFF)
        return;
    if (sandbox_enter(webhook_calls, webhook_call_count, mode, &err) < 0)
        log_warn(log, "system calls are not restricted; serving without",
                 LOG_Z("seccomp", mode_names[mode]), LOG_Z("error", err.text));
    else
        log_info(log, "system calls are restricted", LOG_Z("seccomp", mode_names[mode]));
}
