/* SPDX-License-Identifier: Apache-2.0 */
/* stack.c: what a Stack is to Kubernetes, and its selectors as something that matches. */
#include "stack/model/stack.h"

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

/* "cluster:namespace/release", or without the cluster. */
static bool names_release(struct str part, struct str cluster_id, struct str namespace_,
                          struct str release_name)
{
    ptrdiff_t colon = str_find_char(part, ':', 0);
    struct str release = colon < 0 ? part : str_slice(part, (size_t)colon + 1, part.len);

    if (colon >= 0 && !str_eq(str_slice(part, 0, (size_t)colon), cluster_id))
        return false;
    return release.len == namespace_.len + 1 + release_name.len &&
           str_starts(release, namespace_) && release.at[namespace_.len] == '/' &&
           str_ends(release, release_name);
}

bool stack_adopts(const struct kube_meta *meta, struct str cluster_id, struct str namespace_,
                  struct str release_name)
{
    struct str rest = kube_annotation(meta, STR(STACK_ADOPT));
    struct str part;

    while (str_split(&rest, ',', &part))
        if (names_release(str_trim(part), cluster_id, namespace_, release_name))
            return true;
    return false;
}

/* Namespaces of the platform itself: what runs there can take the cluster. Prefixes end in '-'. */
static const struct str protected_namespaces[] = {
    STR_INIT("kube-system"), STR_INIT("kube-public"), STR_INIT("kube-node-lease"),
    STR_INIT("cattle-"),     STR_INIT("fleet-"),      STR_INIT("cluster-fleet-"),
    STR_INIT("rancher-"),    STR_INIT("herd-system"),
};

bool stack_is_protected_namespace(struct str namespace_)
{
    for (uint32_t i = 0; i < sizeof(protected_namespaces) / sizeof(struct str); i++) {
        struct str one = protected_namespaces[i];

        if (str_ends(one, STR("-")) ? str_starts(namespace_, one) : str_eq(namespace_, one))
            return true;
    }
    return false;
}

bool stack_trace(const struct kube_meta *meta, struct trace_context *ret_context)
{
    return traceparent_read(kube_annotation(meta, STR(STACK_TRACEPARENT)), ret_context);
}
