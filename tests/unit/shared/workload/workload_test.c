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

/* --- spec.replicas while an autoscaler sets them --- */

static const struct {
    const char *row;
    int replicas, min, max;    /* of the spec; max 0 = no autoscaler */
    int live;                  /* -1 = nothing exists yet */
    const char *manager;       /* who else owns them; "" = nobody */
    int expected;              /* -1 = they are left out */
    int handed_over;           /* -1 = they are not */
} scaled[] = {
    { "without an autoscaler they are the spec's", 3, 0, 0, 5, "", 3, -1 },
    { "whoever changed them", 3, 0, 0, 5, "kubectl", 3, -1 },
    { "an autoscaler begins with the spec's", 4, 3, 10, -1, "", 4, -1 },
    { "within its bounds", 1, 3, 10, -1, "", 3, -1 },
    { "what we own is handed over as it is", 4, 3, 10, 7, "", -1, 7 },
    { "what the autoscaler owns is left out", 4, 3, 10, 7, "kube-controller-manager", -1, -1 },
    { "too few are its own affair", 4, 3, 10, 2, "kube-controller-manager", -1, -1 },
    { "too many go at once: the budget of GPUs is behind it", 4, 3, 10, 12, "kube-controller-manager", 10, -1 },
    { "an autoscaler leaves alone what has none", 4, 3, 10, 0, "kubectl", 3, -1 },
};

static void an_autoscaler_owns_the_replicas(void **state)
{
    static const enum workload_resource controllers[] = { WORKLOAD_DEPLOYMENTS, WORKLOAD_STATEFUL_SETS };

    (void)state;
    for (size_t i = 0; i < 2 * sizeof(scaled) / sizeof(scaled[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct seen_children seen = seen_children_new(arena, 1);
        struct workload workload = workload_of(controllers[i % 2]);
        struct kube_children children;
        int64_t replicas = -1, handed_over = -1;

        workload.replicas = scaled[i / 2].replicas;
        workload.replicas_min = scaled[i / 2].min;
        workload.replicas_max = scaled[i / 2].max;
        if (scaled[i / 2].live >= 0)
            seen_children_push(&seen, (struct seen_child){ &workload_child_resources[workload.controller], STR("a"),
                                                           { .replicas = scaled[i / 2].live,
                                                             .replicas_manager = str_of(scaled[i / 2].manager) } });
        json_int64(json_walk(rendered(arena, &workload, &seen, &children), "spec", "replicas", NULL), &replicas);
        rows_expect_int(scaled[i / 2].row, replicas, scaled[i / 2].expected);
        if (children.items[0].handover.len)
            json_int64(json_walk(test_json(arena, children.items[0].handover), "spec", "replicas", NULL), &handed_over);
        rows_expect_int(scaled[i / 2].row, handed_over, scaled[i / 2].handed_over);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_claim_template_keeps_what_it_was_made_with),
        cmocka_unit_test(an_autoscaler_owns_the_replicas),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
