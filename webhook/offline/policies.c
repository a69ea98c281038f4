/* SPDX-License-Identifier: Apache-2.0 */
/* policies.c: read, check, take up. */
#include "webhook/offline/policies.h"

#include "webhook/offline/load.h"
#include "webhook/offline/output.h"

static void take_up(struct loading *l, struct policy_set_builder *builder,
                    const struct object *policy)
{
    struct problems problems = problems_new(l->arena);

    if (!policy_set_add(builder, policy->json, &problems) && !problems.denied)
        load_wrong(l, policy->file, object_place(policy), STR("is one StackPolicy too many"));
    for (uint32_t i = 0; i < problems.list.count; i++) {
        const struct problem *problem = &problems.list.items[i];

        if (problem->severity == SEVERITY_DENY)
            load_wrong(l, policy->file, object_field_place(policy, problem->field),
                       output_sentence(problem, l->arena));
    }
}

struct policy_set *policies_load(struct arena *arena, const struct input_files *files,
                                 struct str_list *ret_wrong)
{
    struct policy_set_builder *builder = policy_set_begin();
    struct loading l = load_files(arena, files, OBJECT_POLICY);

    for (uint32_t i = 0; i < l.objects.count; i++)
        take_up(&l, builder, &l.objects.items[i]);

    AUTO(policy_set_unref) struct policy_set *set = policy_set_finish(builder);

    if (l.wrong.count) {
        *ret_wrong = l.wrong;
        return NULL;
    }
    return TAKE(set);
}
