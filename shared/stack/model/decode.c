/* SPDX-License-Identifier: Apache-2.0 */
/* decode.c: the top of an object; its spec is read by a table of fields. */
#include "stack/model/decode.h"

#include "kube/meta.h"
#include "stack/model/fields_decode.h"
#include "stack/model/type_meta.h"

void object_decode(struct arena *arena, struct json object, const struct kube_resource *resource,
                   const struct field_table *table, void *spec, struct problems *problems)
{
    struct findings found = findings_new(problems);
    struct path at = path_field(NULL, STR("spec"));
    struct json json = json_get(object, STR("spec"));

    found.arena = arena;
    type_meta_check(object, resource, table, &found);
    if (json_is(json, JSON_ABSENT) || json_is(json, JSON_NULL)) {
        *(uint64_t *)spec = FIELD_BROKEN; /* `given` comes first */
        finding_add(&found, RULE_SHAPE_REQUIRED, CAUSE_VALUE_REQUIRED, &at, STR(""), "%s", "");
        return;
    }
    fields_decode(&found, table, json, spec, &at);
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
