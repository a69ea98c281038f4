/* SPDX-License-Identifier: Apache-2.0 */
/* promql.h: the little of PromQL that the simulated Prometheus evaluates, at one moment. Pure.
 *
 *     query = term { "or" term }        what has the labels of something on the left is left out
 *     term  = [ number "*" ] ( selector | avg_over_time "(" selector "[" duration "]" ")" )
 *           | ( "min" | "count" ) "by" "(" label { "," label } ")" "(" selector ")"
 *
 * There is no past: an average over time is the value of now. All else is no silent nothing, but
 * the error `execution`. */
#ifndef HERD_LAB_RANCHER_PROMQL_H
#define HERD_LAB_RANCHER_PROMQL_H

#include "base/error.h"
#include "base/list.h"

struct prom_label {
    struct str name;
    struct str value;
};
LIST_DEFINE(prom_labels, struct prom_label)

struct prom_series {
    struct str name; /* "" = an operator took it away */
    struct prom_labels labels;
    double value;
};
LIST_DEFINE(prom_series_list, struct prom_series)

/* -1 with what is not understood, and where. */
int promql_evaluate(struct arena *arena, struct str query, const struct prom_series_list *all,
                    struct prom_series_list *ret_vector, struct error *err);

#endif
