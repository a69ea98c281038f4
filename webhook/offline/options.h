/* options.h: the flags of `herd-webhook review`, read and checked. */
#ifndef HERD_WEBHOOK_OFFLINE_OPTIONS_H
#define HERD_WEBHOOK_OFFLINE_OPTIONS_H

#include "io/program.h"
#include "webhook/offline/judge.h"
#include "webhook/offline/output.h"

extern const struct program offline_program;

struct offline_options {
    struct offline_config config;
    const struct output *output;
    enum severity fail_on;
    bool quiet;
    bool verbose;
    struct str test;       /* where StackTests are; "": a review */
    struct str_list words; /* files, folders, globs, "-" */
};

/* -1: one line that says which flag or word, what is wrong with it and how to mend it. Borrows from
 * `flags`. */
int offline_options_read(const struct flag_values *flags, struct offline_options *ret_options,
                         struct error *err);

#endif
