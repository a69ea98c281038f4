/* schema_rules_cost.h: what the rules of a definition may cost: each one, and all together. Source:
 * k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation/cel_validation.go. */
#ifndef HERD_LAB_APISERVER_SCHEMA_RULES_COST_H
#define HERD_LAB_APISERVER_SCHEMA_RULES_COST_H

#include "lab/apiserver/schema_cel.h"

enum { RULES_NAMED = 4 };

/* Zero-initialised. */
struct rules_cost {
    uint64_t total;
    struct {
        struct str place;
        uint64_t cost;
    } expensive[RULES_NAMED]; /* the most expensive ones first */
    uint32_t count;
};

/* How often a value of such a type may stand in one object, if no schema above bounds it. */
uint64_t rules_repeated(const struct cel_type *type);
/* How many elements or values the schema's own may have; UINT64_MAX: no bound is given. */
uint64_t rules_elements(const struct schema *schema);
uint64_t rules_times(uint64_t a, uint64_t b);

/* One expression (`what` is "rule" or "messageExpression") at `at`. */
void rules_cost_add(struct rules_cost *costs, uint64_t cost, const char *what,
                    const struct path *at, struct findings *found);
/* All of a definition; `at` is its schema. */
void rules_cost_check(const struct rules_cost *costs, const struct path *at,
                      struct findings *found);

#endif
