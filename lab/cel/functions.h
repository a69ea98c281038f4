/* SPDX-License-Identifier: Apache-2.0 */
/* functions.h: functions.def as a table: what may be called, on what, and what it costs. Inside of
 * lab/cel only. */
#ifndef HERD_LAB_CEL_FUNCTIONS_H
#define HERD_LAB_CEL_FUNCTIONS_H

#include "lab/cel/value.h"
#include "text/regex.h"

/* What one evaluation carries along. */
struct cel_run {
    struct arena *arena;
    struct cel_value *slots;
    uint64_t cost, cost_max;
    bool exceeded;
    const struct map *regexes; /* pattern -> struct regex, of the program's literals */
};

/* How the cost of a call grows with what it is given (cost.c). */
enum cel_cost {
    COST_NONE, /* what is called for pays */
    COST_ONE,
    COST_SCAN, /* a walk over the first argument */
    COST_REPLACE,
    COST_JOIN,
    COST_SECOND,   /* a walk over the second one */
    COST_ELEMENTS, /* of the second one */
    COST_SHORTER,  /* of two */
    COST_BOTH,
    COST_PRODUCT,
    COST_REGEX,
    COST_WALK, /* over all that is in the first argument */
    COST_SLICE,
    COST_FLATTEN,
    COST_COMPARE, /* each element with each other */
    COST_SETS,
    COST_SETS_TWICE,
};

enum { CEL_ARGS_MAX = 4 };

struct cel_function {
    const char *name;
    bool member;
    const struct cel_type *result;
    enum cel_cost cost;
    struct cel_value (*call)(struct cel_run *run, const struct cel_value *args);
    const struct cel_type *args[CEL_ARGS_MAX + 1]; /* up to NULL */
};

/* All of a name, which stand together; NULL and 0 = none. */
const struct cel_function *cel_functions_named(struct str name, uint32_t *ret_count);
uint32_t cel_function_count(const struct cel_function *function);
/* For tests. */
const struct cel_function *cel_functions_all(uint32_t *ret_count);
/* What Kubernetes has and this module has not: why, or NULL. */
const char *cel_refusal(struct str name);

/* A pattern, compiled once for the run; NULL and an error that says why not. */
const struct regex *cel_regex(struct cel_run *run, struct str pattern, struct cel_value *ret_error);
/* A pattern of RE2 as text/regex matches it; what RE2 has not is refused. */
struct regex *cel_regex_create(struct str pattern, struct error *err);

#define FUNCTION(name, style, result, cost, function, ...)                                         \
    struct cel_value function(struct cel_run *run, const struct cel_value *args);
#define OPERATOR(name, result, ...)
#define REFUSED(name, why)
#include "lab/cel/functions.def"
#undef FUNCTION
#undef OPERATOR
#undef REFUSED

#endif
