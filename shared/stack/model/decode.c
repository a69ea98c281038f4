/* SPDX-License-Identifier: Apache-2.0 */
/* decode.c: the top of an object; its spec is read by a table of fields. */
#include "stack/model/decode.h"

#include "kube/meta.h"
#include "stack/model/fields_decode.h"
#include "stack/model/type_meta.h"

/* The usual remedy names the fields of Stacks. */
static void name_own_fields(struct arena *arena, const struct kube_resource *resource,
                            struct problems *problems, uint32_t from)
{
    const struct rule *rule = rule_of(RULE_SHAPE_UNKNOWN_FIELD);

    for (uint32_t i = from; i < problems->list.count; i++) {
        struct problem *problem = &problems->list.items[i];

        if (str_eq(problem->rule, str_of(rule->name)) &&
            str_eq(problem->remedy, str_of(rule->remedy)))
            problem->remedy = str_fmt(
                arena, "remove it; `kubectl explain %.*s.spec --api-version=%.*s` lists the fields",
                STR_ARG(resource->plural), STR_ARG(kube_api_version(arena, resource)));
    }
}

void object_decode(struct arena *arena, struct json object, const struct kube_resource *resource,
                   const struct field_table *table, void *spec, struct problems *problems)
{
    struct findings found = findings_new(problems);
    struct path at = path_field(NULL, STR("spec"));
    struct json json = json_get(object, STR("spec"));
    uint32_t before = problems->list.count;

    found.arena = arena;
    type_meta_check(object, resource, table, &found);
    if (json_is(json, JSON_ABSENT) || json_is(json, JSON_NULL)) {
        *(uint64_t *)spec = FIELD_BROKEN; /* `given` comes first */
        finding_add(&found, RULE_SHAPE_REQUIRED, CAUSE_VALUE_REQUIRED, &at, STR(""), "%s", "");
        return;
    }
    fields_decode(&found, table, json, spec, &at);
    if (resource != &stack_resource)
        name_own_fields(arena, resource, problems, before);
}

struct stack *stack_decode(struct arena *arena, struct json object, struct problems *problems)
{
    struct stack *stack = arena_new(arena, struct stack);

    stack->spec_json = json_get(object, STR("spec"));
    stack->status_json = json_get(object, STR("status"));
    kube_meta_read(object, &stack->meta);
    object_decode(arena, object, &stack_resource, &fields_of_stack_spec, &stack->spec, problems);
    return stack;
}
