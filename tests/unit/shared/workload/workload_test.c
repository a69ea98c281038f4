/* SPDX-License-Identifier: Apache-2.0 */
/* workload_test.c: what is rendered of a workload whose objects exist already. */
#include "support/rows.h"
#include "support/stack_builder.h"

#include "workload/workload.h"

static struct json rendered(struct arena *arena, const struct workload *workload, const struct seen_children *seen,
                            struct kube_children *ret_children)
{
    struct kind_observation observation = { .children = seen };

    *ret_children = kube_children_new(arena, 8);
    workload_render(arena, workload, &observation, ret_children);
    for (uint32_t i = 0; i < ret_children->count; i++)
        if (ret_children->items[i].resource == &workload_child_resources[workload->controller] && !ret_children->items[i].partial)
            return test_json(arena, ret_children->items[i].object);
    fail_msg("nothing controls the pods");
    return (struct json){ 0 };
}

static struct workload workload_of(enum workload_resource controller)
{
    return (struct workload){ .name = STR("a"), .app = STR("x"), .label = STR("x.io/w"), .label_value = STR("a"),
                              .controller = controller, .replicas = 3, .image = STR("i") };
}

/* --- the claim template of a StatefulSet is immutable --- */

static const struct {
    const char *row;
    bool exists;
    const char *has_size, *has_class; /* of the StatefulSet that exists; "" = none */
    const char *size, *class;         /* of the spec */
    const char *expected_size, *expected_class;
} templates[] = {
    { "a new one is as the spec says", false, "", "", "1Gi", "fast", "1Gi", "fast" },
    { "a new one without a class has the default class", false, "", "", "1Gi", "", "1Gi", "" },
    { "one that stays", true, "1Gi", "fast", "1Gi", "fast", "1Gi", "fast" },
    { "a size that grows is for the claims", true, "1Gi", "fast", "2Gi", "fast", "1Gi", "fast" },
    { "a class that is taken out is kept", true, "1Gi", "fast", "1Gi", "", "1Gi", "fast" },
    { "no class is kept, too", true, "1Gi", "", "1Gi", "", "1Gi", "" },
};

static void a_claim_template_keeps_what_it_was_made_with(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(templates) / sizeof(templates[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct seen_children seen = seen_children_new(arena, 1);
        struct workload workload = workload_of(WORKLOAD_STATEFUL_SETS);
        struct problems problems = problems_new(arena);
        struct kube_children children;
        struct json_iter it;
        struct json spec;

        workload.volume_size = str_of(templates[i].size);
        workload.storage_class = str_of(templates[i].class);
        if (templates[i].exists)
            seen_children_push(&seen, (struct seen_child){ &workload_child_resources[WORKLOAD_STATEFUL_SETS], STR("a"),
                                                           { .replicas = 3,
                                                             .storage = str_of(templates[i].has_size),
                                                             .storage_class = str_of(templates[i].has_class) } });
        workload_check_volumes(arena, &workload, &(struct kind_observation){ .children = &seen }, &problems);
        rows_expect_int(templates[i].row, problems.list.count, 0);
        it = json_iter(json_walk(rendered(arena, &workload, &seen, &children), "spec", "volumeClaimTemplates", NULL));
        rows_expect(templates[i].row, json_next(&it), "a template");
        spec = json_get(it.value, STR("spec"));
        rows_expect_str(templates[i].row, json_str(json_walk(spec, "resources", "requests", "storage", NULL)),
                        str_of(templates[i].expected_size));
        rows_expect_str(templates[i].row, json_str(json_get(spec, STR("storageClassName"))), str_of(templates[i].expected_class));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_claim_template_keeps_what_it_was_made_with),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
