/* schema_rules_cost.c: bounds on estimated costs, in the API server's words. */
#include "lab/apiserver/schema_rules_cost.h"

#include "base/limits.h"

enum { REQUEST_BYTES = 3 * 1024 * 1024 };

uint64_t rules_times(uint64_t a, uint64_t b)
{
    return b && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

/* With a comma between them. */
uint64_t rules_repeated(const struct cel_type *type)
{
    return REQUEST_BYTES / (type->bytes_min + 1);
}

uint64_t rules_elements(const struct schema *schema)
{
    int64_t most = SCHEMA_UNSET;

    if (schema->type == SCHEMA_ARRAY)
        most = schema->max_items;
    else if (schema->type == SCHEMA_OBJECT && schema->additional)
        most = schema->max_properties;
    else
        return 1;
    return most < 0 ? UINT64_MAX : (uint64_t)most;
}

static struct str factor_text(struct arena *arena, uint64_t cost, uint64_t bound)
{
    double factor = (double)cost / (double)bound;

    if (factor > 100)
        return STR("more than 100x");
    if (factor < 1.5)
        return str_fmt(arena, "%fx", factor);
    return str_fmt(arena, "%.1fx", factor);
}

static void too_much(struct findings *found, const struct path *at, const char *what,
                     uint64_t cost, uint64_t bound)
{
    finding_forbidden(found, at,
                      str_fmt(found->arena,
                              "%s exceeds budget by factor of %.*s (try simplifying the rule, or "
                              "adding maxItems, maxProperties, and maxLength where arrays, maps, "
                              "and strings are declared)",
                              what, STR_ARG(factor_text(found->arena, cost, bound))));
}

/* Among the most expensive ones, if it counts at all. */
static void note(struct rules_cost *costs, struct str place, uint64_t cost)
{
    uint32_t at = costs->count;

    if (cost < LIMIT_CEL_DEFINITION_COST / 100)
        return;
    while (at > 0 && costs->expensive[at - 1].cost < cost)
        at--;
    if (at == RULES_NAMED)
        return;
    if (costs->count < RULES_NAMED)
        costs->count++;
    for (uint32_t i = costs->count - 1; i > at; i--)
        costs->expensive[i] = costs->expensive[i - 1];
    costs->expensive[at].place = place;
    costs->expensive[at].cost = cost;
}

void rules_cost_add(struct rules_cost *costs, uint64_t cost, const char *what,
                    const struct path *at, struct findings *found)
{
    struct path here = path_field(at, str_of(what));
    bool is_rule = strcmp(what, "rule") == 0;

    if (cost > LIMIT_CEL_RULE_COST)
        too_much(found, &here, is_rule ? "estimated rule cost" : "estimated messageExpression cost",
                 cost, LIMIT_CEL_RULE_COST);
    costs->total = costs->total + cost < cost ? UINT64_MAX : costs->total + cost;
    note(costs, path_render(&here, found->arena), cost);
}

void rules_cost_check(const struct rules_cost *costs, const struct path *at,
                      struct findings *found)
{
    if (costs->total <= LIMIT_CEL_DEFINITION_COST)
        return;
    for (uint32_t i = 0; i < costs->count; i++) {
        struct path place = path_field(NULL, costs->expensive[i].place);

        finding_forbidden(found, &place,
                          STR("contributed to estimated rule cost total exceeding cost limit for "
                              "entire OpenAPIv3 schema"));
    }
    too_much(found, at,
             "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema",
             costs->total, LIMIT_CEL_DEFINITION_COST);
}
