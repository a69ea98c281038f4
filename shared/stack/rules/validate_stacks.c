/* SPDX-License-Identifier: Apache-2.0 */
/* validate_stacks.c: the Stacks that a Stack waits for.
 *
 * A cycle across Stacks can only be seen where the other Stacks are known (facts.h). From this
 * Stack the walk follows what it names now and what the others name as they are stored, within
 * one namespace, breadth first and at most LIMIT_STACK_WALK Stacks far; a cycle that lies beyond,
 * or one that two Stacks close which are applied at the same moment, is for the controller to
 * tell. Every name of this Stack's own list that leads back to it is a cycle of its own, with the
 * shortest way, and the edge to cut is the one that this Stack has. */
#include "stack/rules/validate_areas.h"

#include "base/map.h"
#include "kube/names.h"
#include "stack/model/limits.h"

/* --- names alone --- */

static void check_names(const struct stack *stack, struct findings *findings)
{
    const struct name_refs *others = &stack->spec.depends_on;
    struct path spec = path_field(NULL, STR("spec"));
    struct path list = path_field(&spec, STR("dependsOn"));
    struct str_list seen = str_list_new(findings->arena, others->count);

    for (uint32_t i = 0; i < others->count; i++) {
        struct str name = others->items[i].name;
        struct path up = path_index(&list, i);
        struct path at = path_field(&up, STR("name"));
        struct str shown = finding_shown(findings, name);

        if (name.len == 0)
            continue;
        if (kube_not_dns1123_subdomain(name))
            finding_add(findings, RULE_GRAPH_STACK, CAUSE_VALUE_INVALID, &at, STR(""),
                        "\"%.*s\": the name of a Stack %s", STR_ARG(shown),
                        kube_not_dns1123_subdomain(name));
        else if (str_eq(name, stack->meta.name))
            finding_add(findings, RULE_GRAPH_STACK, CAUSE_VALUE_INVALID, &at,
                        STR("remove the entry"), "\"%.*s\": the Stack depends on itself",
                        STR_ARG(shown));
        else if (str_list_has(&seen, name))
            finding_add(findings, RULE_GRAPH_STACK, CAUSE_VALUE_DUPLICATE, &at,
                        STR("remove one of the two"), "\"%.*s\"", STR_ARG(shown));
        str_list_push(&seen, name);
    }
}

/* --- what the others say --- */

struct known_stack {
    struct str name;
    uint32_t provides;       /* vendors of GPUs */
    struct u32_list waiters; /* numbers of those that wait for it */
    uint32_t next;           /* on the shortest way back to number 0 */
    bool exists;
    bool known; /* it exists, and so does what is said of it here */
    bool leads_back;
};
LIST_DEFINE(known_stacks, struct known_stack)

struct walk {
    struct arena *arena;
    struct known_stacks stacks; /* number 0 is this Stack */
    struct map *numbers;        /* name -> number + 1 */
    bool cut;                   /* there are more than LIMIT_STACK_WALK */
};

static uint32_t number_of(struct walk *walk, struct str name)
{
    uintptr_t known = (uintptr_t)map_get(walk->numbers, name);
    struct known_stack stack = { .name = name, .waiters = u32_list_new(walk->arena, 2) };

    if (known)
        return (uint32_t)(known - 1);
    if (walk->stacks.count >= LIMIT_STACK_WALK) {
        walk->cut = true;
        return UINT32_MAX;
    }
    known_stacks_push(&walk->stacks, stack);
    map_put(walk->numbers, name, (void *)(uintptr_t)walk->stacks.count);
    return walk->stacks.count - 1;
}

static void follow(struct walk *walk, uint32_t from, struct str name)
{
    uint32_t to = number_of(walk, name);

    if (to != UINT32_MAX)
        u32_list_push(&walk->stacks.items[to].waiters, from);
}

/* All that can be reached, each with who waits for it. */
static struct walk walk_stacks(const struct stack *stack, const struct fact_stacks *facts,
                               struct arena *arena)
{
    const struct name_refs *own = &stack->spec.depends_on;
    struct walk walk = { .arena = arena,
                         .stacks = known_stacks_new(arena, own->count + 1),
                         .numbers = map_new(arena, own->count + 1) };
    struct fact_stack found;

    number_of(&walk, stack->meta.name);
    for (uint32_t i = 0; i < own->count; i++)
        if (own->items[i].name.len)
            follow(&walk, 0, own->items[i].name);
    for (uint32_t at = 1; at < walk.stacks.count; at++) {
        struct str name = walk.stacks.items[at].name;

        if (!facts->get(facts->context, arena, stack->meta.namespace_, name, &found))
            continue;
        walk.stacks.items[at].exists = true;
        walk.stacks.items[at].known = found.known;
        walk.stacks.items[at].provides = found.provides;
        for (uint32_t k = 0; k < found.depends_on.count; k++)
            follow(&walk, at, found.depends_on.items[k]);
    }
    return walk;
}

/* Backwards from this Stack over those that wait, so that each is met on its shortest way. */
static void find_ways_back(struct walk *walk)
{
    struct u32_list queue = u32_list_new(walk->arena, 16);

    u32_list_push(&queue, 0);
    for (uint32_t head = 0; head < queue.count; head++) {
        uint32_t to = queue.items[head];
        const struct u32_list *waiters = &walk->stacks.items[to].waiters;

        for (uint32_t k = 0; k < waiters->count; k++) {
            struct known_stack *from = &walk->stacks.items[waiters->items[k]];

            if (waiters->items[k] == 0 || from->leads_back)
                continue;
            from->leads_back = true;
            from->next = to;
            u32_list_push(&queue, waiters->items[k]);
        }
    }
}

static void blame_cycle(const struct walk *walk, uint32_t first, const struct path *at,
                        struct findings *findings)
{
    struct str_list names = str_list_new(findings->arena, 4);

    str_list_push(&names, walk->stacks.items[0].name);
    for (uint32_t i = first; i; i = walk->stacks.items[i].next)
        str_list_push(&names, walk->stacks.items[i].name);
    finding_add(findings, RULE_GRAPH_STACK_CYCLE, CAUSE_VALUE_INVALID, at,
                str_fmt(findings->arena, "remove one edge, for example %.*s -> %.*s",
                        STR_ARG(finding_shown(findings, names.items[0])),
                        STR_ARG(finding_shown(findings, names.items[1]))),
                "dependency cycle: %.*s", STR_ARG(finding_cycle_shown(findings, &names)));
}

/* Invalid names, this Stack itself and duplicates were reported. */
static bool is_reported(const struct stack *stack, uint32_t entry)
{
    const struct name_refs *others = &stack->spec.depends_on;
    struct str name = others->items[entry].name;
    bool reported =
        name.len == 0 || str_eq(name, stack->meta.name) || kube_not_dns1123_subdomain(name) != NULL;

    for (uint32_t i = 0; i < entry && !reported; i++)
        reported = str_eq(others->items[i].name, name);
    return reported;
}

static void check_others(const struct stack *stack, const struct fact_stacks *facts,
                         struct findings *findings)
{
    struct path spec = path_field(NULL, STR("spec"));
    struct path list = path_field(&spec, STR("dependsOn"));
    struct walk walk = walk_stacks(stack, facts, findings->arena);

    find_ways_back(&walk);
    for (uint32_t i = 0; i < stack->spec.depends_on.count; i++) {
        struct str name = stack->spec.depends_on.items[i].name;
        struct path up = path_index(&list, i);
        struct path at = path_field(&up, STR("name"));

        if (is_reported(stack, i))
            continue;

        uint32_t number = number_of(&walk, name);

        if (number == UINT32_MAX)
            continue;
        if (walk.stacks.items[number].leads_back)
            blame_cycle(&walk, number, &at, findings);
        else if (!walk.stacks.items[number].exists)
            finding_add(findings, RULE_GRAPH_UNKNOWN_STACK, CAUSE_VALUE_NOT_FOUND, &at, STR(""),
                        "\"%.*s\": no Stack of the namespace \"%.*s\" has that name today",
                        STR_ARG(finding_shown(findings, name)),
                        STR_ARG(finding_shown(findings, stack->meta.namespace_)));
    }
}

/* Without a name or namespace (an offline look) there is nobody to lead back to. */
static bool can_walk(const struct stack *stack, const struct facts *facts)
{
    return facts->stacks.get && stack->meta.name.len && stack->meta.namespace_.len;
}

struct stacks_provide stacks_provide(const struct stack *stack, const struct facts *facts,
                                     struct arena *arena)
{
    struct stacks_provide all = { 0 };

    if (stack->spec.depends_on.count == 0)
        return all;
    if (!can_walk(stack, facts))
        return (struct stacks_provide){ .unknown = stack->spec.depends_on.items[0].name };

    struct walk walk = walk_stacks(stack, &facts->stacks, arena);

    if (walk.cut)
        all.unknown = walk.stacks.items[1].name;
    for (uint32_t i = 1; i < walk.stacks.count; i++) {
        const struct known_stack *one = &walk.stacks.items[i];

        all.vendors |= one->provides;
        if (!one->known && !all.unknown.len)
            all.unknown = one->name;
    }
    return all;
}

void validate_stacks(const struct stack *stack, const struct facts *facts,
                     struct findings *findings)
{
    if (stack->spec.depends_on.count == 0)
        return;
    check_names(stack, findings);
    if (can_walk(stack, facts))
        check_others(stack, &facts->stacks, findings);
}
