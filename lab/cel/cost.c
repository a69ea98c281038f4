/* SPDX-License-Identifier: Apache-2.0 */
/* cost.c: what a call costs while it is evaluated. A tenth for each character, a quarter for
 * each of a pattern. Source: github.com/google/cel-go interpreter/runtimecost.go and
 * k8s.io/apiserver/pkg/cel/library/cost.go. */
#include "lab/cel/eval.h"

static uint64_t tenth(uint64_t size)
{
    return (size + 9) / 10;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t walk(struct arena *arena, const struct cel_value *value)
{
    uint64_t cost = 0;
    struct cel_values keys;

    switch (value->kind) {
    case CEL_STRING:
    case CEL_BYTES:
        return value->text.len / 10;
    case CEL_LIST:
        for (uint32_t i = 0; i < value->list->count; i++)
            cost += walk(arena, &value->list->items[i]);
        return cost;
    case CEL_MAP:
    case CEL_STRUCT:
        keys = cel_map_keys(arena, value);
        for (uint32_t i = 0; i < keys.count; i++) {
            struct cel_value found;

            cost += walk(arena, &keys.items[i]);
            if (cel_map_find(arena, value, &keys.items[i], &found))
                cost += walk(arena, &found);
        }
        return cost;
    default:
        return 1;
    }
}

uint64_t cel_call_cost(struct arena *arena, enum cel_cost cost, const struct cel_value *args,
                       const struct cel_value *result)
{
    switch (cost) {
    case COST_NONE:
        return 0;
    case COST_ONE:
        return 1;
    case COST_SCAN:
        return tenth(cel_size(&args[0]));
    case COST_REPLACE:
        return tenth(2 * cel_size(&args[0]));
    case COST_JOIN:
        return tenth(2 * cel_size(result));
    case COST_SECOND:
        return tenth(cel_size(&args[1]));
    case COST_ELEMENTS:
        return cel_size(&args[1]);
    case COST_SHORTER:
        return tenth(smaller(cel_size(&args[0]), cel_size(&args[1])));
    case COST_BOTH:
        return tenth(cel_size(&args[0]) + cel_size(&args[1]));
    case COST_PRODUCT:
        return tenth(cel_size(&args[0])) * tenth(cel_size(&args[1]));
    case COST_REGEX:
        return tenth(1 + cel_size(&args[0])) * ((cel_size(&args[1]) + 3) / 4);
    case COST_WALK:
        return walk(arena, &args[0]);
    case COST_SLICE:
        return 11 + cel_size(result);
    case COST_FLATTEN:
        return 11 + cel_size(&args[0]);
    case COST_COMPARE:
        return 11 + 2 * cel_size(&args[0]) * cel_size(&args[0]);
    case COST_SETS:
    case COST_SETS_TWICE:
        return 1 + cel_size(&args[0]) * cel_size(&args[1]) * (cost == COST_SETS ? 1 : 2);
    }
    return 1;
}
