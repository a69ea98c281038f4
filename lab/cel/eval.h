/* SPDX-License-Identifier: Apache-2.0 */
/* eval.h: evaluation of a checked tree, and what calls cost. Inside of lab/cel only. */
#ifndef HERD_LAB_CEL_EVAL_H
#define HERD_LAB_CEL_EVAL_H

#include "lab/cel/cel.h"
#include "lab/cel/functions.h"
#include "lab/cel/node.h"

/* The value; CEL_COST_EXCEEDED if run->exceeded. The run's slots hold the variables. */
struct cel_value cel_eval(struct cel_run *run, const struct cel_node *node);
uint64_t cel_call_cost(struct arena *arena, enum cel_cost cost, const struct cel_value *args,
                       const struct cel_value *result);

#endif
