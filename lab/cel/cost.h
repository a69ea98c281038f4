/* cost.h: how much an expression may cost at most, as far as the sizes in its types tell.
 * Kubernetes refuses rules of definitions by this number, so it is the same here. Inside of
 * lab/cel only. Source: github.com/google/cel-go checker/cost.go;
 * k8s.io/apiserver/pkg/cel/library/cost.go. */
#ifndef HERD_LAB_CEL_COST_H
#define HERD_LAB_CEL_COST_H

#include "lab/cel/cel.h"
#include "lab/cel/functions.h"
#include "lab/cel/node.h"

/* From least to most: of a size, or of a cost. Sums and products end at UINT64_MAX. */
struct cel_span {
    uint64_t min, max;
};

/* What is known of the sizes of elements: of the index or key, and of the value. */
struct cel_entry_sizes {
    enum cel_kind container;
    struct cel_span key, value;
};

/* What is known of a node beside its type. */
struct cel_guess {
    const struct cel_type *declared; /* the part of a variable that it is; NULL = none */
    bool is_path;                    /* it is one, though nothing may be declared there */
    bool sized, has_entries;
    struct cel_span size;
    struct cel_entry_sizes entries;
};

struct cel_span cel_span_add(struct cel_span a, struct cel_span b);
struct cel_span cel_span_times(struct cel_span a, struct cel_span b);
/* Rounded up. */
struct cel_span cel_span_scale(struct cel_span span, double factor);
struct cel_span cel_span_union(struct cel_span a, struct cel_span b);
static inline struct cel_span cel_span_of(uint64_t fixed)
{
    return (struct cel_span){ fixed, fixed };
}

/* What a call costs beside its arguments. *ret_sized and *ret_size: what is known of the result. */
struct cel_call_guess {
    struct cel_span cost;
    bool sized;
    struct cel_span size;
};
/* `sizes` are those of all arguments, `element` that of the first one's elements if it is a
 * list. */
struct cel_call_guess cel_guess_call(const struct cel_function *function,
                                     const struct cel_node *call, const struct cel_span *sizes,
                                     struct cel_span element);

/* All of an expression that was checked. */
struct cel_span cel_guess_cost(struct arena *arena, const struct cel_env *env,
                               struct cel_node *root);

#endif
