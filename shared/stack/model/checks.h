/* SPDX-License-Identifier: Apache-2.0 */
/* checks.h: what is checked alike in every kind: its metadata, its selectors, names of files. */
#ifndef HERD_STACK_CHECKS_H
#define HERD_STACK_CHECKS_H

#include "stack/model/finding.h"
#include "stack/model/stack.h"

static inline bool is_word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
}

/* Letters, digits, '-', '_', and '.' but not in front: no remedy of a directory or an URL. */
static inline bool is_file_name(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!is_word_char(text.at[i]) && !(text.at[i] == '.' && i > 0))
            return false;
    return true;
}

/* Of a Stack or a StackPolicy. */
void validate_metadata(const struct kube_meta *meta, struct findings *findings);
/* A selector at `at`: labels, operators, requirements that exclude one another. False if it is none
 * that may be asked about anything. */
bool validate_selector(const struct label_selector *selector, const struct path *at,
                       struct findings *findings);

#endif
