/* SPDX-License-Identifier: Apache-2.0 */
/* helm.c: start, watch and end helm's processes. Everything about them happens on the loop; callers
 * wait for it (fetch_run), which takes no longer than a fork. */
#include "lab/downstream/helm.h"

#include "base/map.h"
#include "base/memory.h"
#include "io/file.h"
#include "lab/downstream/fetch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ARGUMENTS_MAX = 64 };

struct command {
    char *arguments[ARGUMENTS_MAX + 2];
    char *environment[8];
};

struct child {
    struct helm *helm;
    struct arena *arena; /* of the texts and the command */
    struct str cluster, namespace_, operation;
    const char *log_file;
    struct command command;
    int64_t timeout_ms;
    uint64_t order; /* first come, first served */
    pid_t pid;
    int process; /* pidfd: readable once it has ended; -1 then */
    int output;  /* read end of its stdout and stderr; -1 once closed */
    int log;     /* file */
    size_t logged;
    struct loop_watch *process_watch, *output_watch;
    struct loop_timer *deadline;
    struct helm_view view;
};

struct helm {
    struct helm_options options;
    char *program, *folder;
    struct dict *children; /* "cluster/operation"; of this process of the lab */
    uint32_t running;
    uint64_t orders;
};

/* ---- files ----------------------------------------------------------------------------------- */

static const char *folder_of(const struct helm *helm, struct arena *arena, struct str cluster,
                             struct str operation)
{
    return str_z(
        arena, str_fmt(arena, "%s/%.*s.%.*s", helm->folder, STR_ARG(cluster), STR_ARG(operation)));
}

static void remove_folder(const char *folder)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct error ignored;
    struct str_list names;

    if (file_list(arena, folder, &names, &ignored) != 0)
        return;
    for (uint32_t i = 0; i < names.count; i++)
        unlink(str_z(arena, str_fmt(arena, "%s/%.*s", folder, STR_ARG(names.items[i]))));
    rmdir(folder);
}

static int write_files(const char *folder, struct arena *arena, const struct helm_run *run,
                       struct error *err)
{
    if (file_make_folder(folder, 0700, err) != 0)
        return -1;
    for (uint32_t i = 0; i < run->files.count; i++) {
        const struct helm_file *file = &run->files.items[i];

        if (file_replace(str_z(arena, str_fmt(arena, "%s/%.*s", folder, STR_ARG(file->name))),
                         file->bytes, 0600, err) != 0)
            return -1;
    }
    return 0;
}

/* ---- a child --------------------------------------------------------------------------------- */

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void stop_watching(struct child *child)
{
    loop_watch_free(child->process_watch);
    loop_watch_free(child->output_watch);
    loop_timer_free(child->deadline);
    child->process_watch = child->output_watch = NULL;
    child->deadline = NULL;
    close_fd(&child->process);
    close_fd(&child->output);
    close_fd(&child->log);
}

static void child_free(struct child *child)
{
    if (child->view.state == HELM_RUNNING) {
        kill(-child->pid, SIGKILL);
        waitpid(child->pid, NULL, 0);
    }
    stop_watching(child);
    arena_free(child->arena);
    mem_free(child);
}

static void drain_output(struct child *child)
{
    char bytes[16384];
    ssize_t got;

    while (child->output >= 0 && (got = read(child->output, bytes, sizeof(bytes))) != 0) {
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return; /* nothing at present */

        size_t keep = HELM_LOG_MAX - child->logged;

        if (keep > (size_t)got)
            keep = (size_t)got;
        if (keep && write(child->log, bytes, keep) == (ssize_t)keep)
            child->logged += keep;
    }
    loop_watch_free(child->output_watch);
    child->output_watch = NULL;
    close_fd(&child->output);
}

static void on_output(void *context, int events)
{
    (void)events;
    drain_output(context);
}

static void start_next(struct helm *helm);

/* It ended. What helm itself started would hold the pipe open. */
static void on_end(void *context, int events)
{
    struct child *child = context;
    struct helm *helm = child->helm;
    int status = 0;

    (void)events;
    kill(-child->pid, SIGKILL);
    waitpid(child->pid, &status, 0);
    drain_output(child);
    stop_watching(child);
    child->view.state = HELM_ENDED;
    child->view.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    helm->running--;
    log_info(helm->options.log, "helm ended", LOG_STR("cluster", child->cluster),
             LOG_STR("operation", child->operation), LOG_INT("code", child->view.exit_code));
    helm->options.ended(helm->options.context, child->cluster, child->namespace_, child->operation);
    start_next(helm);
}

static void on_deadline(void *context)
{
    struct child *child = context;

    child->view.timed_out = true;
    kill(-child->pid, SIGKILL);
}

static char *owned(struct arena *arena, struct str text)
{
    char *copy = arena_alloc(arena, text.len + 1);

    memcpy(copy, text.at, text.len);
    copy[text.len] = '\0';
    return copy;
}

/* Where the operation's files are in life, here stands its folder. */
static char *argument_of(struct arena *arena, struct str argument, const char *folder)
{
    ptrdiff_t at = str_find(argument, STR(HELM_FOLDER), 0);

    if (at < 0)
        return owned(arena, argument);
    return owned(arena, str_fmt(arena, "%.*s%s/%.*s", (int)at, argument.at, folder,
                                STR_ARG(str_slice(argument, (size_t)at + sizeof(HELM_FOLDER) - 1,
                                                  argument.len))));
}

static int make_command(const struct helm *helm, struct arena *arena, const struct helm_run *run,
                        const char *folder, struct command *command, struct error *err)
{
    const char *path = getenv("PATH");
    uint32_t count = run->arguments.count;

    if (count > ARGUMENTS_MAX)
        return error_set(err, ERROR_INVALID, "helm is given more than %d arguments", ARGUMENTS_MAX);
    *command = (struct command){ 0 };
    command->arguments[0] = owned(arena, str_of(helm->program));
    for (uint32_t i = 0; i < count; i++)
        command->arguments[i + 1] = argument_of(arena, run->arguments.items[i], folder);
    command->environment[0] = owned(arena, str_fmt(arena, "KUBECONFIG=%s", run->kubeconfig));
    command->environment[1] = owned(arena, str_fmt(arena, "HOME=%s", helm->folder));
    command->environment[2] = owned(arena, str_fmt(arena, "PATH=%s", path ? path : ""));
    command->environment[3] = owned(arena, STR("HELM_DRIVER=secret"));
    return 0;
}

/* In the child: only what is safe after fork in a program of many threads. */
static void __attribute__((noreturn))
become_helm(const struct command *command, pid_t parent, int output)
{
    sigset_t none;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(137);
    if (dup2(output, STDOUT_FILENO) < 0 || dup2(output, STDERR_FILENO) < 0)
        _exit(126);
    close(STDIN_FILENO);
    open("/dev/null", O_RDONLY);
    execvpe(command->arguments[0], command->arguments, command->environment);
    _exit(127);
}

static int spawn(struct child *child, struct error *err)
{
    int pipes[2];
    pid_t parent = getpid();

    child->log = open(child->log_file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (child->log < 0 || pipe2(pipes, O_CLOEXEC | O_NONBLOCK) != 0)
        return error_set(err, ERROR_FILE, "%s: %s", child->log_file, strerror(errno));
    /* Only our end may not wait: helm's writes do. */
    fcntl(pipes[1], F_SETFL, 0);
    child->output = pipes[0];
    child->pid = fork();
    if (child->pid == 0)
        become_helm(&child->command, parent, pipes[1]);
    close(pipes[1]);
    if (child->pid < 0)
        return error_set(err, ERROR_INTERNAL, "cannot start helm: %s", strerror(errno));
    setpgid(child->pid, child->pid);
    child->process = (int)syscall(SYS_pidfd_open, child->pid, 0);
    child->view.state = HELM_RUNNING;
    return child->process >= 0
               ? 0
               : error_set(err, ERROR_INTERNAL, "cannot watch helm: %s", strerror(errno));
}

static void watch_child(struct child *child)
{
    struct loop *loop = child->helm->options.loop;

    child->process_watch = loop_watch_create(loop, child->process, LOOP_READ, on_end, child);
    child->output_watch = loop_watch_create(loop, child->output, LOOP_READ, on_output, child);
    child->deadline = loop_timer_create(loop, on_deadline, child);
    loop_timer_set(child->deadline, child->timeout_ms);
    child->helm->running++;
}

static struct child *first_queued(const struct helm *helm)
{
    struct child *first = NULL;
    size_t cursor = 0;
    struct str key;
    void *value;

    while (dict_next(helm->children, &cursor, &key, &value)) {
        struct child *child = value;

        if (child->view.state == HELM_QUEUED && (!first || child->order < first->order))
            first = child;
    }
    return first;
}

/* As many as may. One that cannot be started ends as if it had said so. */
static void start_next(struct helm *helm)
{
    struct child *child;

    while (helm->running < HELM_AT_ONCE && (child = first_queued(helm))) {
        struct error err;

        if (spawn(child, &err) == 0) {
            watch_child(child);
            continue;
        }
        log_error(helm->options.log, "helm not started", LOG_STR("operation", child->operation),
                  LOG_Z("error", err.text));
        if (child->log >= 0 && write(child->log, err.text, strlen(err.text)) < 0)
            log_warn(helm->options.log, "helm's log not written", LOG_Z("file", child->log_file));
        stop_watching(child);
        child->view = (struct helm_view){ HELM_ENDED, 126, false };
        helm->options.ended(helm->options.context, child->cluster, child->namespace_,
                            child->operation);
    }
}

/* ---- what callers ask, on the loop ----------------------------------------------------------- */

struct question {
    struct helm *helm;
    struct str key;
    const struct helm_run *run;
    int result;
    struct error *err;
    struct helm_view view;
};

static char *text_of(struct str text)
{
    char *copy = mem_alloc(text.len + 1);

    memcpy(copy, text.at, text.len);
    copy[text.len] = '\0';
    return copy;
}

static struct str key_of(struct arena *arena, struct str cluster, struct str operation)
{
    return str_fmt(arena, "%.*s/%.*s", STR_ARG(cluster), STR_ARG(operation));
}

static int queue_child(struct helm *helm, struct str key, const struct helm_run *run,
                       struct error *err)
{
    struct child *child = mem_new(struct child);
    struct arena *arena = child->arena = arena_create(0);
    const char *folder = folder_of(helm, arena, run->cluster, run->operation);

    child->helm = helm;
    child->cluster = str_dup(arena, run->cluster);
    child->namespace_ = str_dup(arena, run->namespace_);
    child->operation = str_dup(arena, run->operation);
    child->log_file = str_z(arena, str_fmt(arena, "%s/log", folder));
    child->timeout_ms = run->timeout_ms;
    child->order = helm->orders++;
    child->process = child->output = child->log = -1;
    if (write_files(folder, arena, run, err) != 0 ||
        make_command(helm, arena, run, folder, &child->command, err) != 0) {
        child_free(child);
        return -1;
    }
    child->view.state = HELM_QUEUED;
    dict_set(helm->children, key, child);
    return 0;
}

static void do_start(void *context)
{
    struct question *q = context;

    if (!dict_get(q->helm->children, q->key))
        q->result = queue_child(q->helm, q->key, q->run, q->err);
    start_next(q->helm);
}

static void do_look(void *context)
{
    struct question *q = context;
    const struct child *child = dict_get(q->helm->children, q->key);

    if (child)
        q->view = child->view;
}

static void do_forget(void *context)
{
    struct question *q = context;
    struct child *child = dict_remove(q->helm->children, q->key);

    if (!child)
        return;
    if (child->view.state == HELM_RUNNING)
        q->helm->running--;
    child_free(child);
    start_next(q->helm);
}

int helm_start(struct helm *helm, const struct helm_run *run, struct error *err)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct question q = {
        .helm = helm, .key = key_of(arena, run->cluster, run->operation), .run = run, .err = err
    };

    fetch_run(helm->options.loop, do_start, &q);
    return q.result;
}

struct helm_view helm_look(struct helm *helm, struct str cluster, struct str operation)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct question q = { .helm = helm, .key = key_of(arena, cluster, operation) };

    fetch_run(helm->options.loop, do_look, &q);
    return q.view;
}

void helm_kill(struct helm *helm, struct str cluster, struct str operation)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct question q = { .helm = helm, .key = key_of(arena, cluster, operation) };

    fetch_run(helm->options.loop, do_forget, &q);
}

void helm_forget(struct helm *helm, struct str cluster, struct str operation)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);

    helm_kill(helm, cluster, operation);
    remove_folder(folder_of(helm, arena, cluster, operation));
}

struct str helm_log(struct helm *helm, struct arena *arena, struct str cluster,
                    struct str operation)
{
    const char *folder = folder_of(helm, arena, cluster, operation);
    struct str text = STR("");
    struct error ignored;

    file_read(arena, str_z(arena, str_fmt(arena, "%s/log", folder)), HELM_LOG_MAX, &text, &ignored);
    return text;
}

/* ---- life ------------------------------------------------------------------------------------ */

static bool can_run(const char *program)
{
    const char *path = getenv("PATH");
    struct str rest = str_of(path ? path : "");
    struct str part;

    if (strchr(program, '/'))
        return access(program, X_OK) == 0;
    while (str_split(&rest, ':', &part)) {
        AUTO(arena_free) struct arena *arena = arena_create(0);

        if (access(str_z(arena, str_fmt(arena, "%.*s/%s", STR_ARG(part), program)), X_OK) == 0)
            return true;
    }
    return false;
}

struct helm *helm_create(const struct helm_options *options, struct error *err)
{
    AUTO(helm_free) struct helm *helm = mem_new(struct helm);

    helm->options = *options;
    helm->program = text_of(str_of(options->program));
    helm->folder = text_of(str_of(options->folder));
    helm->children = dict_create();
    if (!can_run(helm->program)) {
        error_set(err, ERROR_BAD_REQUEST,
                  "--helm: there is no program %s; install helm 3, or say where it is",
                  helm->program);
        return NULL;
    }
    if (file_make_folder(helm->folder, 0700, err) != 0)
        return NULL;
    return TAKE(helm);
}

void helm_free(struct helm *helm)
{
    size_t cursor = 0;
    struct str key;
    void *child;

    if (!helm)
        return;
    while (dict_next(helm->children, &cursor, &key, &child))
        child_free(child);
    dict_free(helm->children);
    mem_free(helm->program);
    mem_free(helm->folder);
    mem_free(helm);
}
