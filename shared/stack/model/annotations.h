/* SPDX-License-Identifier: Apache-2.0 */
/* annotations.h: the annotations of a Stack that mean something to Herd (annotations.def). */
#ifndef HERD_STACK_ANNOTATIONS_H
#define HERD_STACK_ANNOTATIONS_H

#include "stack/model/stack.h"

#define STACK_ANNOTATION_PREFIX STACK_GROUP "/"

enum annotation_check {
    ANNOTATION_ANY,
    ANNOTATION_CLUSTERS,  /* ids between commas, or "*" */
    ANNOTATION_RELEASES,  /* [CLUSTER:]NAMESPACE/RELEASE between commas */
    ANNOTATION_APPROVALS, /* WAVE@CHANGE between commas */
    ANNOTATION_TOKEN,     /* STACK_TOKEN_LEN hexadecimal digits */
    ANNOTATION_TRACEPARENT,
};

struct stack_annotation {
    struct str key;
    enum annotation_check check;
    const char *help;
};

const struct stack_annotation *stack_annotations(uint32_t *ret_count);

#endif
