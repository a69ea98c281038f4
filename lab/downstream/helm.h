/* SPDX-License-Identifier: Apache-2.0 */
/* helm.h: the helm program as child processes, one for each operation.
 *
 * What Rancher runs in a pod runs here as a process; its files and what it prints are in a folder
 * of its own until it is forgotten. Children die with the lab, as a pod dies with its node. At most
 * HELM_AT_ONCE run at a time. All functions may be called from any thread but the loop's. */
#ifndef HERD_LAB_DOWNSTREAM_HELM_H
#define HERD_LAB_DOWNSTREAM_HELM_H

#include "base/error.h"
#include "base/list.h"
#include "io/log.h"
#include "io/loop.h"

struct helm;

enum {
    HELM_AT_ONCE = 4,
    HELM_LOG_MAX = 256 * 1024, /* what is kept of its output, from the beginning */
};

struct helm_options {
    struct loop *loop; /* borrowed */
    const char *program;
    const char *folder;
    struct log *log;
    void (*ended)(void *context, struct str cluster, struct str namespace_, struct str operation);
    void *context;
};

/* NULL: there is no such program. */
struct helm *helm_create(const struct helm_options *options, struct error *err);
/* Once the loop has stopped. Kills what runs. */
void helm_free(struct helm *helm);
AUTO_DEFINE(helm_free, struct helm *)

struct helm_file {
    struct str name;
    struct str bytes;
};

LIST_DEFINE(helm_files, struct helm_file)

struct helm_run {
    struct str cluster, namespace_, operation;
    const char *kubeconfig;
    struct str_list arguments; /* behind "helm"; FOLDER/ stands for the operation's folder */
    struct helm_files files;   /* put into that folder */
    int64_t timeout_ms;        /* killed after so long */
};

#define HELM_FOLDER "/home/shell/helm/"

enum helm_state {
    HELM_NONE,   /* this process of the lab started none */
    HELM_QUEUED, /* it waits for its turn */
    HELM_RUNNING,
    HELM_ENDED,
};

struct helm_view {
    enum helm_state state;
    int exit_code;  /* of ENDED; 128 + signal if one ended it */
    bool timed_out; /* it was killed for that */
};

/* 0: it runs, or will as soon as there is room; -1: it cannot be started. One that was
 * started before is left alone. */
int helm_start(struct helm *helm, const struct helm_run *run, struct error *err);
struct helm_view helm_look(struct helm *helm, struct str cluster, struct str operation);
/* What it has printed so far, also one of an earlier process of the lab. */
struct str helm_log(struct helm *helm, struct arena *arena, struct str cluster,
                    struct str operation);
/* Kill it if it runs, and forget that it was there; its log stays. */
void helm_kill(struct helm *helm, struct str cluster, struct str operation);
/* The same, and its folder goes. */
void helm_forget(struct helm *helm, struct str cluster, struct str operation);

#endif
