/* SPDX-License-Identifier: Apache-2.0 */
/* policy_path_steps.h: a compiled path. Internal to policy_path.c and policy_walk.c. */
#ifndef HERD_STACK_POLICY_PATH_STEPS_H
#define HERD_STACK_POLICY_PATH_STEPS_H

#include "stack/policy/policy_path.h"

#include <stddef.h>

/* What stands where a path has come to so far. */
enum policy_place {
    PLACE_STRUCT, /* a struct of the tables */
    PLACE_LIST,
    PLACE_MAP,    /* labels, annotations */
    PLACE_VALUES, /* JSON that no table describes */
    PLACE_SCALAR,
};

struct policy_step {
    enum policy_step_kind {
        STEP_FIELD,  /* of a struct */
        STEP_EACH,   /* [*] */
        STEP_MEMBER, /* of a map or of free values */
        STEP_ANY,    /* .* */
        STEP_DEEP,   /* .** */
    } kind;
    const struct field *field;
    uint32_t row; /* of the field in its table: its bit of `given` */
    struct str name;
};
LIST_DEFINE(policy_steps, struct policy_step)

struct policy_meta_field {
    struct str name;
    size_t offset; /* in struct kube_meta */
    enum policy_place place;
};

enum policy_computed { COMPUTED_NOT, COMPUTED_GPUS, COMPUTED_IMAGE, COMPUTED_REPLICAS };

struct policy_path {
    const struct policy_meta_field *meta; /* NULL: under spec */
    enum policy_computed computed;        /* not a field, but what follows from several */
    struct policy_steps steps;
    enum policy_path_end end;
    const struct field_words *words; /* that stand there, or NULL: any */
    bool has_charts;
    bool deep;
    const struct policy_path *also; /* the same where an override says it, or NULL */
};

#endif
