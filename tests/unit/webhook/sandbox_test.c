/* SPDX-License-Identifier: Apache-2.0 */
/* sandbox_test.c: what is rejected from within, tried by children of this process that enter it. */
#include "support/rows.h"

#include "webhook/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NO_SANDBOX = 200, NO_NAME = 201, CALLS_MAX = 200 };

/* Each gives 0, or the errno of what it tried. */
static int result(long value)
{
    return value < 0 ? errno : 0;
}

static int run_a_program(void)
{
    char *words[] = { (char *)(uintptr_t)"/bin/true", NULL };

    return result(execve(words[0], words, NULL));
}

static int run_a_program_by_descriptor(void)
{
    char *words[] = { (char *)(uintptr_t)"true", NULL };

    return result(syscall(SYS_execveat, AT_FDCWD, "/bin/true", words, NULL, 0));
}

/* As fork(3) does it. */
static int make_a_process(void)
{
    long child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

    if (child == 0)
        _exit(0);
    return result(child);
}

static int make_a_process_by_clone3(void)
{
    uint64_t arguments[8] = { 0 };
    long child = syscall(SYS_clone3, arguments, sizeof(arguments));

    if (child == 0)
        _exit(0);
    return result(child);
}

static int trace(void)
{
    return result(ptrace(PTRACE_TRACEME, 0, NULL, NULL));
}

static int mount_something(void)
{
    return result(mount("none", "/mnt", "tmpfs", 0, NULL));
}

static int see_packets(void)
{
    return result(socket(AF_PACKET, SOCK_RAW, 0));
}

static int write_a_file(void)
{
    return result(open("/dev/null", O_WRONLY | O_CLOEXEC));
}

static int read_and_write_a_file(void)
{
    return result(open("/dev/null", O_RDWR | O_CLOEXEC));
}

static int make_a_file(void)
{
    return result(open("/tmp", O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
}

static int remove_a_file(void)
{
    return result(unlink("/nonexistent"));
}

static int map_a_file_as_code(void)
{
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

    return result((long)mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0));
}

static int make_code_of_data(void)
{
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return result(mprotect(page, 4096, PROT_READ | PROT_EXEC));
}

static int hear_signals_of_others(void)
{
    return result(kill(getppid(), 0));
}

static int gain_rights(void)
{
    return result(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0));
}

static int write_to_a_terminal(void)
{
    return result(ioctl(STDERR_FILENO, TIOCSTI, "x"));
}

static int read_a_file(void)
{
    return result(open("/proc/self/status", O_RDONLY | O_CLOEXEC));
}

static int connect_somewhere(void)
{
    return result(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

static int map_memory_for_patterns(void)
{
    return result((long)mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

static void *do_nothing(void *nothing)
{
    return nothing;
}

static int start_a_thread(void)
{
    pthread_t thread;
    int failed = pthread_create(&thread, NULL, do_nothing, NULL);

    return failed ? failed : pthread_join(thread, NULL);
}

static const struct {
    const char *row;
    int (*try)(void);
    int want;
} tries[] = {
    { "no program is run", run_a_program, EPERM },
    { "none by a descriptor", run_a_program_by_descriptor, EPERM },
    { "no process is made", make_a_process, EPERM },
    { "none by clone3, which is not there", make_a_process_by_clone3, ENOSYS },
    { "nothing is traced", trace, EPERM },
    { "nothing is mounted", mount_something, EPERM },
    { "no socket sees packets", see_packets, EPERM },
    { "no file is written", write_a_file, EPERM },
    { "none is read and written", read_and_write_a_file, EPERM },
    { "none is made", make_a_file, EPERM },
    { "none is removed", remove_a_file, EPERM },
    { "no file is mapped as code", map_a_file_as_code, EPERM },
    { "data does not become code", make_code_of_data, EPERM },
    { "nobody gets a signal", hear_signals_of_others, EPERM },
    { "of prctl there is nothing but a thread's name", gain_rights, EPERM },
    { "nothing is put into a terminal", write_to_a_terminal, EPERM },
    { "files are read", read_a_file, 0 },
    { "there are sockets of the internet", connect_somewhere, 0 },
    { "PCRE2 gets the memory that it asks for", map_memory_for_patterns, 0 },
    { "threads are started", start_a_thread, 0 },
};

/* With what sanitizers do at the end of a thread, and in front of _exit. */
static int enter(const struct sandbox_call *calls, uint32_t count, enum sandbox_mode mode,
                 struct error *err)
{
    struct sandbox_call all[CALLS_MAX] = { { .name = "sigaltstack" } };

    assert_true(count < CALLS_MAX);
    memcpy(all + 1, calls, count * sizeof(*calls));
    return sandbox_enter(all, count + 1, mode, err);
}

static int enter_as_webhook(enum sandbox_mode mode)
{
    struct error err;

    if (enter(webhook_calls, webhook_own_call_count, mode, &err) == 0)
        return 0;
    fprintf(stderr, "%s\n", err.text);
    return -1;
}

/* What a child gets that entered. _exit: instrumented builds may do at their end what is rejected. */
static int in_child(enum sandbox_mode mode, int (*try)(void))
{
    pid_t child = fork();
    int status = 0;

    if (child == 0)
        _exit(enter_as_webhook(mode) < 0 ? NO_SANDBOX : try());
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void what_serving_does_not_need_is_rejected(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++)
        rows_expect_int(tries[i].row, in_child(SANDBOX_ENFORCE, tries[i].try), tries[i].want);
}

static void logged_and_off_reject_nothing(void **state)
{
    (void)state;
    rows_expect_int("log", in_child(SANDBOX_LOG, write_a_file), 0);
    rows_expect_int("off", in_child(SANDBOX_OFF, write_a_file), 0);
}

struct early {
    pthread_barrier_t entered;
    int got;
};

static void *write_when_entered(void *context)
{
    struct early *early = context;

    pthread_barrier_wait(&early->entered);
    early->got = write_a_file();
    return NULL;
}

/* Within a child that has not entered. */
static int of_a_thread_that_ran_before(void)
{
    struct early early = { .got = -1 };
    pthread_t thread;

    pthread_barrier_init(&early.entered, NULL, 2);
    if (pthread_create(&thread, NULL, write_when_entered, &early) != 0 ||
        enter_as_webhook(SANDBOX_ENFORCE) < 0)
        return NO_SANDBOX;
    pthread_barrier_wait(&early.entered);
    pthread_join(thread, NULL);
    return early.got;
}

static void threads_that_run_already_are_within(void **state)
{
    (void)state;
    rows_expect_int("a thread", in_child(SANDBOX_OFF, of_a_thread_that_ran_before), EPERM);
}

static int with_a_call_of_another_architecture(void)
{
    static const struct sandbox_call calls[] = {
        { .name = "s390_pci_mmio_read" }, { .name = "exit_group" }, { .name = "cacheflush" },
    };
    struct error err;

    return enter(calls, 3, SANDBOX_ENFORCE, &err) < 0 ? NO_SANDBOX : 0;
}

static int with_a_call_that_is_none(void)
{
    static const struct sandbox_call calls[] = { { .name = "opennat" } };
    struct error err;

    if (enter(calls, 1, SANDBOX_ENFORCE, &err) == 0)
        return 0;
    return strstr(err.text, "opennat") ? NO_SANDBOX : NO_NAME;
}

static void names_are_those_of_any_architecture(void **state)
{
    (void)state;
    rows_expect_int("of another one", in_child(SANDBOX_OFF, with_a_call_of_another_architecture), 0);
    rows_expect_int("of none", in_child(SANDBOX_OFF, with_a_call_that_is_none), NO_SANDBOX);
}

/* What a call may be asked for by two rows that are the same is asked for twice. */
static void each_row_of_the_table_stands_once(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < webhook_own_call_count; i++)
        for (uint32_t k = 0; k < i; k++)
            rows_expect(webhook_calls[i].name,
                        strcmp(webhook_calls[i].name, webhook_calls[k].name) != 0 ||
                            memcmp(webhook_calls[i].when, webhook_calls[k].when,
                                   sizeof(webhook_calls[i].when)) != 0,
                        "is a duplicate");
}

static void words_are_modes(void **state)
{
    (void)state;
    rows_expect_int("off", webhook_sandbox_mode(STR("off")), SANDBOX_OFF);
    rows_expect_int("log", webhook_sandbox_mode(STR("log")), SANDBOX_LOG);
    rows_expect_int("enforce", webhook_sandbox_mode(STR("enforce")), SANDBOX_ENFORCE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_serving_does_not_need_is_rejected),
        cmocka_unit_test(logged_and_off_reject_nothing),
        cmocka_unit_test(threads_that_run_already_are_within),
        cmocka_unit_test(names_are_those_of_any_architecture),
        cmocka_unit_test(each_row_of_the_table_stands_once),
        cmocka_unit_test(words_are_modes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
