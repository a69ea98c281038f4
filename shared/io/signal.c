/* SPDX-License-Identifier: Apache-2.0 */
/* signal.c: signals by signalfd(2): no handler ever runs in the middle of anything. */
#include "io/signal.h"

#include "base/memory.h"

#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

struct signal_watch {
    int fd;
    struct loop_watch *watch;
    void (*taken)(void *context, int number);
    void *context;
};

static sigset_t taken_signals(void)
{
    sigset_t set;
    struct sigaction hangup;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    /* Under nohup(1) it is ignored and shall stay so; a blocked signal is not. */
    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
        sigaddset(&set, SIGHUP);
    return set;
}

void signal_setup(void)
{
    struct sigaction ignore = { .sa_handler = SIG_IGN };
    sigset_t set = taken_signals();

    sigaction(SIGPIPE, &ignore, NULL);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

int signal_wait(void)
{
    sigset_t set = taken_signals();
    int number = 0;

    while (sigwait(&set, &number) != 0)
        continue;
    return number;
}

static void readable(void *context, int events)
{
    struct signal_watch *watch = context;
    struct signalfd_siginfo info;

    (void)events;
    /* One for each turn: `taken` may free the watch. */
    if (read(watch->fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
        watch->taken(watch->context, (int)info.ssi_signo);
}

struct signal_watch *signal_watch_create(struct loop *loop,
                                         void (*taken)(void *context, int number), void *context)
{
    struct signal_watch *watch = mem_new(struct signal_watch);
    sigset_t set = taken_signals();

    watch->fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    if (watch->fd < 0)
        mem_exhausted("descriptor for signals");
    watch->taken = taken;
    watch->context = context;
    watch->watch = loop_watch_create(loop, watch->fd, LOOP_READ, readable, watch);
    return watch;
}

void signal_watch_free(struct signal_watch *watch)
{
    if (!watch)
        return;
    loop_watch_free(watch->watch);
    close(watch->fd);
    mem_free(watch);
}
