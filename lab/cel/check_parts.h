/* SPDX-License-Identifier: Apache-2.0 */
/* check_parts.h: what the two halves of the check share: check.c goes over the tree, check_call.c
 * finds which functions calls mean. Inside of lab/cel only. */
#ifndef HERD_LAB_CEL_CHECK_PARTS_H
#define HERD_LAB_CEL_CHECK_PARTS_H

#include "lab/cel/check.h"
#include "lab/cel/functions.h"
#include "lab/cel/unify.h"

/* A variable of a fold. */
struct scope {
    struct str name;
    const struct cel_type *type;
    uint32_t slot;
    const struct scope *up;
};

struct check {
    struct arena *arena;
    const struct cel_env *env;
    struct cel_issues *issues;
    struct cel_unify unify;
    const struct scope *scope;
    uint32_t slots;
};

void cel_check_node(struct check *c, struct cel_node *node);
void cel_check_call(struct check *c, struct cel_node *node);
/* A field that may be absent, by "_?._". */
void cel_check_optional_select(struct check *c, struct cel_node *node);
/* No variable, type or function has the name. */
void cel_check_undeclared(struct check *c, struct cel_node *node, struct str name);
/* "a.b.c" of a chain of selections; "" if it is more than that. */
struct str cel_check_dotted(struct check *c, const struct cel_node *node);
const char *cel_check_text(struct check *c, const struct cel_type *type);

#endif
