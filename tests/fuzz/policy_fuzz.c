/* SPDX-License-Identifier: Apache-2.0 */
/* policy_fuzz.c: two lines, a StackPolicy and a Stack: what admission takes can be put to Stacks, what it does not is
 * left out, unless it can only never be kept, and what is found is found again and fit to show. */
#include "fuzz.h"

#include "stack/model/decode.h"
#include "stack/model/default.h"
#include "stack/policy/policy_set.h"

static void must_be_showable(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        MUST((unsigned char)text.at[i] >= ' ' && text.at[i] != 0x7f);
}

static void check_problems(const struct problems *problems)
{
    for (uint32_t i = 0; i < problems->list.count; i++) {
        MUST(problems->list.items[i].rule.len && problems->list.items[i].message.len);
        must_be_showable(problems->list.items[i].field);
        must_be_showable(problems->list.items[i].message);
        must_be_showable(problems->list.items[i].remedy);
    }
}

static struct policy_set *set_of(struct arena *arena, struct json policy, bool *ret_taken)
{
    struct policy_set_builder *builder = policy_set_begin();
    struct problems problems = problems_new(arena);

    *ret_taken = policy_set_add(builder, policy, &problems);
    check_problems(&problems);
    return policy_set_finish(builder);
}

/* Of what was stored before such rules were rejected, the other rules count (policy_set.h). */
static bool may_stand(const struct problems *problems)
{
    for (uint32_t i = 0; i < problems->list.count; i++)
        if (problems->list.items[i].severity == SEVERITY_DENY &&
            !str_eq(problems->list.items[i].rule, STR("policy.never")))
            return false;
    return true;
}

static void check_stack(struct arena *arena, const struct policy_set *set, struct json object)
{
    struct problems ignored = problems_new(arena);
    struct problems found = problems_new(arena);
    struct problems again = problems_new(arena);
    const struct stack *stack = stack_default(arena, stack_decode(arena, object, &ignored), NULL);

    const struct facts facts = { .clusters_known = false };
    const struct resolved_targets *chosen = resolved_targets_of(arena, stack, &facts);

    policy_set_evaluate(set, stack, chosen, &found);
    policy_set_evaluate(set, stack, chosen, &again);
    check_problems(&found);
    MUST(found.list.count == again.list.count);
    for (uint32_t i = 0; i < found.list.count; i++) {
        MUST(str_starts(found.list.items[i].rule, STR("policy/")));
        MUST(str_eq(found.list.items[i].message, again.list.items[i].message));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str rest = str_make((const char *)data, size);
    struct error err;
    struct json policy;
    struct json object = { NULL, 0 };
    struct str first;
    bool taken;

    if (!str_split(&rest, '\n', &first) || json_read(arena, first, &json_limits_default, &policy, &err) < 0)
        return 0;
    if (rest.at && json_read(arena, rest, &json_limits_default, &object, &err) < 0)
        object = (struct json){ NULL, 0 };

    struct verdict verdict = policy_admit(arena, policy, (struct json){ NULL, 0 });
    AUTO(policy_set_unref) struct policy_set *set = set_of(arena, policy, &taken);

    check_problems(&verdict.problems);
    MUST(may_stand(&verdict.problems) == taken);
    MUST(taken || !verdict.allowed);
    MUST(policy_set_count(set) == taken);
    check_stack(arena, set, object);
    return 0;
}
