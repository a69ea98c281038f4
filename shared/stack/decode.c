/* decode.c: the top of a Stack; its fields are read by the table fields.def. */
#include "stack/decode.h"

#include "kube/meta.h"
#include "stack/fields_decode.h"

/* apiVersion, kind and what else stands at the top: the API server's business, but an offline
 * review and a stored Stack of a later version come here too. */
static void decode_top(struct findings *found, struct json object, struct stack *stack)
{
    static const struct str members[] = { STR_INIT("apiVersion"), STR_INIT("kind"),
                                          STR_INIT("metadata"), STR_INIT("spec"),
                                          STR_INIT("status") };
    struct json_iter it = json_iter(object);

    while (json_next(&it)) {
        bool known = false;

        for (uint32_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
            known = known || str_eq(members[i], it.key);
        if (!known) {
            struct path at = path_field(NULL, finding_shown(found, it.key));

            finding_add(found, RULE_SHAPE_UNKNOWN_FIELD, CAUSE_VALUE_NOT_SUPPORTED, &at,
                        field_find(&fields_of_stack_spec, it.key) ? STR("put it under spec")
                                                                  : STR(""),
                        "there is no such field");
        }
    }
    if (!str_eq(stack->api_version, STR(STACK_GROUP "/" STACK_VERSION))) {
        struct path at = path_field(NULL, STR("apiVersion"));

        finding_add(found, RULE_SHAPE_KIND, CAUSE_VALUE_NOT_SUPPORTED, &at, STR(""),
                    "'%.*s' is not " STACK_GROUP "/" STACK_VERSION,
                    STR_ARG(finding_shown(found, stack->api_version)));
    }
    if (!str_eq(stack->kind, stack_resource.kind)) {
        struct path at = path_field(NULL, STR("kind"));

        finding_add(found, RULE_SHAPE_KIND, CAUSE_VALUE_NOT_SUPPORTED, &at, STR(""),
                    "'%.*s' is not Stack", STR_ARG(finding_shown(found, stack->kind)));
    }
}

struct stack *stack_decode(struct arena *arena, struct json object, struct problems *problems)
{
    struct stack *stack = arena_new(arena, struct stack);
    struct findings found = findings_new(problems);
    struct path at = path_field(NULL, STR("spec"));

    found.arena = arena;
    stack->api_version = json_str(json_get(object, STR("apiVersion")));
    stack->kind = json_str(json_get(object, STR("kind")));
    stack->spec_json = json_get(object, STR("spec"));
    stack->status_json = json_get(object, STR("status"));
    kube_meta_read(object, &stack->meta);
    decode_top(&found, object, stack);
    if (json_is(stack->spec_json, JSON_ABSENT) || json_is(stack->spec_json, JSON_NULL)) {
        stack->spec.given = FIELD_BROKEN;
        finding_add(&found, RULE_SHAPE_REQUIRED, CAUSE_VALUE_REQUIRED, &at, STR(""), "is required");
        return stack;
    }
    fields_decode(&found, &fields_of_stack_spec, stack->spec_json, &stack->spec, &at);
    return stack;
}
