/* stack.c: what a Stack is to Kubernetes, and its selectors as something that matches. */
#include "stack/stack.h"

const struct kube_resource stack_resource =
    KUBE_RESOURCE_INIT(STACK_GROUP, STACK_VERSION, "stacks", "Stack", true);

static void add_labels(struct selector *selector, struct arena *arena, struct json labels)
{
    struct json_iter it = json_iter(labels);

    while (json_next(&it)) {
        if (!json_is(it.value, JSON_STRING))
            continue;

        struct str_list one = str_list_new(arena, 1);

        str_list_push(&one, json_str(it.value));
        selector_add(selector, it.key, SELECTOR_IN, one);
    }
}

struct selector label_selector_compile(struct arena *arena, const struct label_selector *selector)
{
    struct selector compiled = selector_new(arena);

    add_labels(&compiled, arena, selector->match_labels);
    for (uint32_t i = 0; i < selector->match_expressions.count; i++) {
        const struct match_expression *expression = &selector->match_expressions.items[i];
        enum selector_operator op;

        if (expression->key.len && selector_operator_from(expression->op, &op))
            selector_add(&compiled, expression->key, op, expression->values);
    }
    return compiled;
}

bool label_selector_is_empty(const struct label_selector *selector)
{
    return json_count(selector->match_labels) == 0 && selector->match_expressions.count == 0;
}
