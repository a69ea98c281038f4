/* options.h: the flags of `herd-webhook review`, read and checked. */
#ifndef HERD_WEBHOOK_OFFLINE_OPTIONS_H
#define HERD_WEBHOOK_OFFLINE_OPTIONS_H

#include "io/program.h"
#include "webhook/offline/judge.h"
#include "webhook/offline/output.h"

extern const struct program offline_program;

enum offline_mode { OFFLINE_REVIEW, OFFLINE_TEST, OFFLINE_DIFF };

struct offline_options {
    struct str namespace_;    /* of Stacks that name none */
    struct str config_file;   /* "" = none */
    struct configuration_layer configuration; /* what flags say */
    const struct output *output;
    enum severity fail_on;
    bool quiet;
    bool verbose;
    enum offline_mode mode;
    struct str policy;     /* where the policies are; "": none. Of a diff: the old ones */
    struct str inventory;  /* where the ClusterInventories are; "": clusters are not known */
    struct str other;      /* of a diff: where the new ones are */
    struct str test;       /* where StackTests are */
    struct str_list words; /* files, folders, globs, "-" */
};

/* -1: one line that says which flag or word, what is wrong with it and how to mend it. Borrows from
 * `flags`. */
int offline_options_read(const struct flag_values *flags, struct offline_options *ret_options,
                         struct error *err);

#endif
