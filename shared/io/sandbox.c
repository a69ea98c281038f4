/* SPDX-License-Identifier: Apache-2.0 */
/* sandbox.c: the table as filters, by libseccomp.
 *
 * Two of them, for the kernel tells of what a filter rejects by a mark of the whole filter. The
 * first answers for calls that are said to be absent, often and as it should be, and tells of
 * nothing; the second has the table, and tells. Of two answers to one call the stricter counts. */
#include "io/sandbox.h"

#include <errno.h>
#include <seccomp.h>
#include <string.h>

/* Rules in a tree by number instead of a list: kernels before 5.11 walk it at each call. */
enum { BINARY_TREE = 2 };

static void free_filter(scmp_filter_ctx *filter)
{
    if (*filter)
        seccomp_release(*filter);
}

/* `failed` is libseccomp's: an errno, negative. */
static int sandbox_failed(struct error *err, const char *what, int failed)
{
    return error_set(err, ERROR_INTERNAL, "%s: %s", what, strerror(-failed));
}

static int add_call(scmp_filter_ctx filter, const struct sandbox_call *call, uint32_t action,
                    struct error *err)
{
    struct scmp_arg_cmp conditions[SANDBOX_ARGUMENTS_MAX];
    unsigned count = 0;
    int number = seccomp_syscall_resolve_name(call->name);

    if (number == __NR_SCMP_ERROR)
        return error_set(err, ERROR_INTERNAL, "no system call is named %s", call->name);
    for (unsigned i = 0; i < SANDBOX_ARGUMENTS_MAX; i++) {
        const struct sandbox_argument *when = &call->when[i];

        if (when->mask)
            conditions[count++] =
                SCMP_CMP64(when->number, SCMP_CMP_MASKED_EQ, when->mask, when->value);
    }

    int failed = seccomp_rule_add_array(filter, action, number, count, conditions);

    return failed ? sandbox_failed(err, call->name, failed) : 0;
}

static int load_filter(const struct sandbox_call *calls, uint32_t count, bool absent,
                       uint32_t otherwise, struct error *err)
{
    __attribute__((cleanup(free_filter))) scmp_filter_ctx filter = seccomp_init(otherwise);
    int failed;

    if (!filter)
        return error_set(err, ERROR_INTERNAL, "this kernel has no filter of system calls");
    failed = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
    if (failed)
        return sandbox_failed(err, "a filter for all threads at once", failed);
    /* Kernels before 4.14 tell of nothing; they reject all the same. */
    (void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_LOG, !absent);
    (void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, BINARY_TREE);
    for (uint32_t i = 0; i < count; i++) {
        if (absent && !calls[i].absent)
            continue;
        if (add_call(filter, &calls[i], absent ? SCMP_ACT_ERRNO(ENOSYS) : SCMP_ACT_ALLOW, err) < 0)
            return -1;
    }
    failed = seccomp_load(filter);
    return failed ? sandbox_failed(err, "the kernel takes no filter", failed) : 0;
}

int sandbox_enter(const struct sandbox_call *calls, uint32_t count, enum sandbox_mode mode,
                  struct error *err)
{
    if (mode == SANDBOX_OFF)
        return 0;
    if (load_filter(calls, count, true, SCMP_ACT_ALLOW, err) < 0)
        return -1;
    return load_filter(calls, count, false,
                       mode == SANDBOX_LOG ? SCMP_ACT_LOG : SCMP_ACT_ERRNO(EPERM), err);
}
