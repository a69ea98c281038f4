/* SPDX-License-Identifier: Apache-2.0 */
/* options.h: the flags of `herd-webhook review`, read and checked. */
#ifndef HERD_WEBHOOK_OFFLINE_OPTIONS_H
#define HERD_WEBHOOK_OFFLINE_OPTIONS_H

#include "io/program.h"
#include "webhook/offline/validate.h"
#include "webhook/offline/output.h"

extern const struct program offline_program;

struct offline_options {
    struct str namespace_;                    /* of Stacks that name none */
    struct str config_file;                   /* "" = none */
    struct configuration_layer configuration; /* what flags say */
    const struct output *output;
    enum severity fail_on;
    bool quiet;
    bool verbose;
    struct str policy;     /* where the policies are; "": none */
    struct str inventory;  /* where the ClusterInventories are; "": clusters are not known */
    struct str test;       /* where StackTests are; "": files are reviewed */
    struct str_list words; /* files, folders, globs, "-" */
};

/* -1: one line that says which flag or word, what is wrong with it and how to fix it. Borrows from
 * `flags`. */
int offline_options_read(const struct flag_values *flags, struct offline_options *ret_options,
                         struct error *err);

#endif
