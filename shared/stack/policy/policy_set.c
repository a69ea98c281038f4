/* SPDX-License-Identifier: Apache-2.0 */
/* policy_set.c: which policies there are, ready to be put to Stacks. policy_evaluate.c does that.
 *
 * Everything lives in the set's own arena. */
#include "stack/policy/policy_set_parts.h"

#include "base/map.h"
#include "base/memory.h"
#include "stack/model/limits.h"

#include <stdlib.h>

struct policy_set_builder {
    struct policy_set *set;
};

static struct policy_set *set_create(void)
{
    struct policy_set *set = mem_new(struct policy_set);

    atomic_init(&set->references, 1);
    set->arena = arena_create(0);
    set->policies = ready_policies_new(set->arena, 0);
    for (int i = 0; i < POLICY_KIND_COUNT; i++)
        set->groups[i] = path_groups_new(set->arena, 0);
    set->others = check_refs_new(set->arena, 0);
    return set;
}

struct policy_set_builder *policy_set_begin(void)
{
    struct policy_set_builder *builder = mem_new(struct policy_set_builder);

    builder->set = set_create();
    return builder;
}

static enum severity severity_of(enum policy_action action)
{
    switch (action) {
    case POLICY_ACTION_WARN:
        return SEVERITY_WARN;
    case POLICY_ACTION_AUDIT:
        return SEVERITY_AUDIT;
    case POLICY_ACTION_DENY:
    case POLICY_ACTION_UNSET:
        break;
    }
    return SEVERITY_DENY;
}

static void take_problems(struct problems *from, struct problems *into)
{
    problems_sort(from);
    for (uint32_t i = 0; i < from->list.count; i++)
        problems_add(into, from->list.items[i]);
}

static void name_rules(struct ready_policy *policy, struct arena *arena)
{
    policy->rule_names = str_list_new(arena, policy->checks.count);
    for (uint32_t i = 0; i < policy->checks.count; i++)
        str_list_push(&policy->rule_names, str_fmt(arena, "policy/%.*s/%.*s", STR_ARG(policy->name),
                                                   STR_ARG(policy->checks.items[i].rule->name)));
}

/* Whether all rules can be put to a Stack, even if in vain. */
static bool is_usable(const struct problems *found)
{
    for (uint32_t i = 0; i < found->list.count; i++) {
        const struct problem *problem = &found->list.items[i];

        if (problem->severity == SEVERITY_DENY &&
            !str_eq(problem->rule, str_of(rule_of(RULE_POLICY_NEVER)->name)))
            return false;
    }
    return true;
}

bool policy_set_add(struct policy_set_builder *builder, struct json object,
                    struct problems *problems)
{
    struct policy_set *set = builder->set;
    struct problems found = problems_new(problems->arena);
    struct str text = str_dup(set->arena, json_raw(object));
    struct policy_checks checks;
    struct json copy;
    struct error err;

    /* It was read before, so it reads again: what it is made of must live as long as the set. */
    if (json_read(set->arena, text, &json_limits_default, &copy, &err) < 0)
        return false;

    const struct policy *policy = policy_read(set->arena, copy, &found, &checks);

    take_problems(&found, problems);
    if (!is_usable(&found) || set->policies.count >= LIMIT_POLICIES)
        return false;

    struct ready_policy ready = {
        .name = policy->meta.name,
        .policy = policy,
        .severity = severity_of(policy->spec.action),
        .checks = checks,
        .selector = label_selector_compile(set->arena, &policy->spec.match.selector),
        .clusters = label_selector_compile(set->arena, &policy->spec.match.cluster_selector),
    };

    name_rules(&ready, set->arena);
    ready_policies_push(&set->policies, ready);
    return true;
}

/* --- one walk for each field --- */

/* `numbers`: field -> number of its group, from 1. */
static struct path_group *group_of(struct policy_set *set, unsigned kind, struct map *numbers,
                                   const struct policy_check *check)
{
    struct path_groups *groups = &set->groups[kind];
    uintptr_t number = (uintptr_t)map_get(numbers, check->rule->field);

    if (!number) {
        path_groups_push(groups, (struct path_group){ check->rule->field, check->paths[kind],
                                                      check_refs_new(set->arena, 4) });
        number = groups->count;
        map_put(numbers, check->rule->field, (void *)number);
    }
    return &groups->items[number - 1];
}

static void group_checks(struct policy_set *set, unsigned kind)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct map *numbers = map_new(arena, set->policies.count);

    for (uint32_t i = 0; i < set->policies.count; i++) {
        const struct policy_checks *checks = &set->policies.items[i].checks;

        for (uint32_t k = 0; k < checks->count; k++) {
            const struct policy_check *check = &checks->items[k];
            const struct check_ref ref = { i, k, check };

            if (check->paths[kind])
                check_refs_push(&group_of(set, kind, numbers, check)->checks, ref);
            else if (!check->rule->field.len && kind == POLICY_KIND_STACK)
                check_refs_push(&set->others, ref);
        }
    }
}

/* --- one look at the clusters for each selector of them --- */

static void number_clusters(struct policy_set *set)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct map *numbers = map_new(arena, set->policies.count);

    for (uint32_t i = 0; i < set->policies.count; i++) {
        struct ready_policy *policy = &set->policies.items[i];
        struct str text = selector_text(arena, &policy->clusters);
        uintptr_t number = (uintptr_t)map_get(numbers, text);

        if (!number) {
            number = ++set->clusters_count;
            map_put(numbers, text, (void *)number);
        }
        policy->clusters_number = (uint32_t)number - 1;
    }
}

static int by_name(const void *a, const void *b)
{
    const struct ready_policy *left = a;
    const struct ready_policy *right = b;

    return str_cmp(left->name, right->name);
}

struct policy_set *policy_set_finish(struct policy_set_builder *builder)
{
    struct policy_set *set = builder->set;

    if (set->policies.count)
        qsort(set->policies.items, set->policies.count, sizeof(set->policies.items[0]), by_name);
    for (unsigned kind = 0; kind < POLICY_KIND_COUNT; kind++)
        group_checks(set, kind);
    number_clusters(set);
    mem_free(builder);
    return set;
}

struct policy_set *policy_set_ref(struct policy_set *set)
{
    if (set)
        atomic_fetch_add(&set->references, 1);
    return set;
}

void policy_set_unref(struct policy_set *set)
{
    if (!set || atomic_fetch_sub(&set->references, 1) != 1)
        return;
    arena_free(set->arena);
    mem_free(set);
}

uint32_t policy_set_count(const struct policy_set *set)
{
    return set->policies.count;
}

struct str policy_set_name(const struct policy_set *set, uint32_t index)
{
    return set->policies.items[index].name;
}

/* By bisection: they stand in the order of their names. */
int64_t policy_set_find(const struct policy_set *set, struct str name)
{
    uint32_t low = 0, high = set->policies.count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = str_cmp(set->policies.items[middle].name, name);

        if (order == 0)
            return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

enum policy_action policy_set_action(const struct policy_set *set, uint32_t index)
{
    return set->policies.items[index].policy->spec.action;
}

uint32_t policy_set_rule_count(const struct policy_set *set, uint32_t index)
{
    return set->policies.items[index].checks.count;
}

struct str policy_set_rule_name(const struct policy_set *set, uint32_t index, uint32_t rule)
{
    return set->policies.items[index].checks.items[rule].rule->name;
}

bool policy_set_needs_clusters(const struct policy_set *set)
{
    for (uint32_t i = 0; i < set->policies.count; i++)
        if (set->policies.items[i].clusters.all.count)
            return true;
    return set->others.count > 0; /* overrides skip charts by clusters */
}
