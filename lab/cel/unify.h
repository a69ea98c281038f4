/* SPDX-License-Identifier: Apache-2.0 */
/* unify.h: may a value of one type stand where another is wanted, and what is then known of the
 * parameters in both? Source: github.com/google/cel-go checker/types.go. Inside of lab/cel only. */
#ifndef HERD_LAB_CEL_UNIFY_H
#define HERD_LAB_CEL_UNIFY_H

#include "lab/cel/type.h"

struct cel_unify {
    struct arena *arena;
    const struct cel_type **bound; /* by parameter; NULL = nothing is known */
    uint32_t count, capacity;
    struct {
        uint32_t param;
        const struct cel_type *was;
    } * trail; /* what to take back if an attempt fails */
    uint32_t trail_count, trail_capacity;
};

struct cel_unify cel_unify_new(struct arena *arena);
/* A parameter that nothing is known of. */
const struct cel_type *cel_unify_fresh(struct cel_unify *u);
/* The type with fresh parameters instead of A and B. */
const struct cel_type *cel_unify_instance(struct cel_unify *u, const struct cel_type *type,
                                          const struct cel_type *a, const struct cel_type *b);
/* What is known is kept only if it holds. */
bool cel_assignable(struct cel_unify *u, const struct cel_type *from, const struct cel_type *to);
bool cel_all_assignable(struct cel_unify *u, const struct cel_type *const *from,
                        const struct cel_type *const *to, uint32_t count);
/* With all that is known put in; `final`: the rest becomes dyn. */
const struct cel_type *cel_substitute(struct cel_unify *u, const struct cel_type *type, bool final);
const struct cel_type *cel_most_general(const struct cel_type *a, const struct cel_type *b);

#endif
