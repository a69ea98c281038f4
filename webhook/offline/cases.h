/* SPDX-License-Identifier: Apache-2.0 */
/* cases.h: tests of rules and policies, as YAML: which Stacks, and what must be said of them. Pure.
 *
 *     apiVersion: herd.suse.com/v1
 *     kind: StackTest
 *     policies: [pinned-versions.yaml]
 *     tests:
 *       - name: a cycle is rejected
 *         files: [../rejected/cycle.yaml]
 *         verdict: denied
 *         rules: [graph.cycle]
 *         messages: ["ollama -> qdrant"]
 */
#ifndef HERD_WEBHOOK_OFFLINE_CASES_H
#define HERD_WEBHOOK_OFFLINE_CASES_H

#include "webhook/offline/validate.h"

enum case_verdict { CASE_UNSET, CASE_ALLOWED, CASE_WARNED, CASE_DENIED };

struct test_case {
    uint64_t given;
    struct str name;
    struct json stack;        /* one Stack, or a List; absent if there are files alone */
    struct str_list files;    /* as input_read takes them, from the folder of the StackTest */
    unsigned verdict;         /* of the worst of its Stacks */
    struct str_list rules;    /* all that may have findings; counts if it was given */
    struct str_list messages; /* parts, each of some finding's sentence */
};
LIST_DEFINE(test_cases, struct test_case)

struct test_suite {
    uint64_t given;
    struct json metadata;
    struct str_list policies;  /* files, folders and globs, as in test_case */
    struct str_list inventory; /* the same */
    struct test_cases tests;
};

/* What one case came to. */
struct case_result {
    uint32_t file;
    struct place at;
    struct str suite; /* name of the StackTest, or of its file */
    struct str name;
    struct str_list wrong; /* lines; none: it passed */
};
LIST_DEFINE(case_results, struct case_result)

struct case_report {
    struct report_files files;
    struct case_results results;
    uint32_t failed;
};

/* Read a StackTest; what is wrong with it goes to `problems`. Borrows from `object`. */
struct test_suite cases_decode(struct arena *arena, struct json object, struct problems *problems);

/* What differs between a review of the case's Stacks and what it wants: lines for people. */
struct str_list cases_compare(struct arena *arena, const struct test_case *wanted,
                              const struct report *got);

/* A result for what keeps a StackTest from being run at all: one line for each problem. */
struct case_result cases_broken(struct arena *arena, const struct object *object,
                                const struct problems *problems);

#endif
