/* decode.c: the top of a Stack; its fields are read by the table fields.def. */
#include "stack/decode.h"

#include "kube/meta.h"
#include "stack/fields_decode.h"
#include "stack/top.h"

struct stack *stack_decode(struct arena *arena, struct json object, struct problems *problems)
{
    struct stack *stack = arena_new(arena, struct stack);
    struct findings found = findings_new(problems);
    struct path at = path_field(NULL, STR("spec"));

    found.arena = arena;
    stack->spec_json = json_get(object, STR("spec"));
    stack->status_json = json_get(object, STR("status"));
    kube_meta_read(object, &stack->meta);
    top_check(object, &stack_resource, &fields_of_stack_spec, &found);
    if (json_is(stack->spec_json, JSON_ABSENT) || json_is(stack->spec_json, JSON_NULL)) {
        stack->spec.given = FIELD_BROKEN;
        finding_add(&found, RULE_SHAPE_REQUIRED, CAUSE_VALUE_REQUIRED, &at, STR(""), "is required");
        return stack;
    }
    fields_decode(&found, &fields_of_stack_spec, stack->spec_json, &stack->spec, &at);
    return stack;
}
