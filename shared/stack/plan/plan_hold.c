/* SPDX-License-Identifier: Apache-2.0 */
/* plan_hold.c: why nothing may be asked for although everything can be looked at: the Stack is
 * paused, or waits for other Stacks. Stacks that wait for one another wait for ever; each of them
 * finds the cycle by what the others wait for, and says so instead. A pause keeps a Stack that is
 * deleted only while something of it is left, and it is help that it waits for then. Nothing is
 * asked of a Rancher that rejects the token either, nor for a while of one that was too busy for a
 * request for the cluster. */
#include "stack/plan/plan_parts.h"

#include <stdlib.h>

/* The Stacks that are not ready, and this one as the first of them, as a graph. */
static struct graph *graph_of_stacks(const struct planner *p)
{
    const struct observed_stacks *others = &p->observed->stacks;
    struct graph *graph = graph_new(p->arena, others->count + 1);
    struct str_list awaited = str_list_new(p->arena, others->count);

    for (uint32_t i = 0; i < others->count; i++)
        if (!others->items[i].ready && !others->items[i].distant)
            str_list_push(&awaited, others->items[i].name);
    graph_add(graph, p->stack->meta.name, awaited);
    for (uint32_t i = 0; i < others->count; i++)
        if (!others->items[i].ready && !str_eq(others->items[i].name, p->stack->meta.name))
            graph_add(graph, others->items[i].name, others->items[i].depends_on);
    (void)graph_link(graph);
    return graph;
}

static struct str node_name(const struct planner *p, uint32_t node)
{
    const struct observed_stacks *others = &p->observed->stacks;

    for (uint32_t i = 0, at = 1; node && i < others->count; i++)
        if (!others->items[i].ready && !str_eq(others->items[i].name, p->stack->meta.name) &&
            at++ == node)
            return others->items[i].name;
    return p->stack->meta.name;
}

static bool find_cycle(struct planner *p)
{
    struct graph *graph = graph_of_stacks(p);
    bool more;
    struct graph_cycles cycles = graph_cycles_of(graph, p->arena, &more);
    struct strbuf text = strbuf_new(p->arena, 128);

    if (!cycles.count)
        return false;

    const struct graph_cycle *cycle = &cycles.items[0];
    const struct u32_list *nodes = &cycle->nodes;
    uint32_t after_cut = nodes->items[(cycle->cut + 1) % nodes->count];

    strbuf_lit(&text, "dependency cycle: ");
    for (uint32_t i = 0; i < nodes->count; i++)
        strbuf_fmt(&text, "%.*s -> ", STR_ARG(node_name(p, nodes->items[i])));
    strbuf_fmt(&text, "%.*s; take %.*s out of spec.dependsOn of %.*s",
               STR_ARG(node_name(p, nodes->items[0])), STR_ARG(node_name(p, after_cut)),
               STR_ARG(node_name(p, nodes->items[cycle->cut])));
    p->hold_reason = REASON(STACK_CYCLE);
    p->hold_message = strbuf_str(&text);
    p->stalled = true;
    return true;
}

static int compare_ids(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* Nothing can begin anywhere before it is there, and has said where it goes. */
static bool is_awaited(const struct observed_stack *other)
{
    return !other->ready && !other->distant &&
           (!other->exists || other->deleting || !other->current || !other->targets.count);
}

bool plan_is_held(const struct planner *p, const struct slot *s, struct str *ret_reason,
                  struct str *ret_message)
{
    const struct observed_cluster *c = plan_cluster(p, s);
    bool held = p->hold_reason.len != 0;

    if (!held && !c->backoff_reason.len)
        return false;
    *ret_reason = held ? p->hold_reason : c->backoff_reason;
    *ret_message = held ? p->hold_message : c->backoff_message;
    return true;
}

void plan_find_hold(struct planner *p)
{
    const struct observed_stacks *others = &p->observed->stacks;
    struct strbuf names = strbuf_new(p->arena, 64);

    if (p->stack->spec.paused) {
        p->stalled = p->deleting;
        p->hold_reason = p->deleting ? REASON(DELETION_PAUSED) : REASON(PAUSED);
        p->hold_message = p->deleting
                              ? STR("the Stack is being deleted, but it is paused, so its releases "
                                    "stay; set spec.paused to false to remove them")
                              : STR("the Stack is paused; set spec.paused to false to go on");
        return;
    }
    if (p->observed->rancher_trouble_reason.len) {
        p->stalled = true;
        p->hold_reason = p->observed->rancher_trouble_reason;
        p->hold_message = p->observed->rancher_trouble_message;
        return;
    }
    for (uint32_t i = 0; i < others->count && !p->deleting; i++)
        if (is_awaited(&others->items[i]))
            strbuf_fmt(&names, "%s%.*s%s", names.len ? ", " : "", STR_ARG(others->items[i].name),
                       others->items[i].exists
                           ? others->items[i].deleting ? " (which is being deleted)" : ""
                           : " (which does not exist)");
    if (p->deleting || !others->count || find_cycle(p) || !names.len)
        return;
    p->hold_reason = REASON(WAITING_FOR_STACK);
    p->hold_message =
        str_fmt(p->arena, "waiting for Stack %.*s to be Ready", STR_ARG(strbuf_str(&names)));
}

static bool has_id(const struct str_list *sorted, struct str id)
{
    return sorted->count &&
           bsearch(&id, sorted->items, sorted->count, sizeof(id), compare_ids) != NULL;
}

/* A cluster waits for the Stacks that go there, too; where they are not wanted nothing is awaited.
 * So one cluster of theirs that is away keeps no other one waiting. */
static void wait_on(struct planner *p, struct cluster_part *c)
{
    const struct observed_stacks *others = &p->observed->stacks;
    struct str id = c->observed->id;
    struct strbuf names = strbuf_new(p->arena, 0);

    for (uint32_t i = 0; i < others->count; i++)
        if (!others->items[i].ready && !others->items[i].distant &&
            has_id(&others->items[i].targets, id) && has_id(&others->items[i].pending, id))
            strbuf_fmt(&names, "%s%.*s", names.len ? ", " : "", STR_ARG(others->items[i].name));
    if (!names.len)
        return;
    c->access_reason = REASON(WAITING_FOR_STACK);
    c->access_message = str_fmt(p->arena, "waiting for Stack %.*s to be deployed on %.*s",
                                STR_ARG(strbuf_str(&names)), STR_ARG(id));
}

/* Whether it waits for this one and this one for it: then nobody would ever go. */
static bool is_mutual(const struct planner *p, struct str name)
{
    for (uint32_t i = 0; i < p->stack->spec.depends_on.count; i++)
        if (str_eq(p->stack->spec.depends_on.items[i].name, name))
            return true;
    return str_eq(p->stack->meta.name, name);
}

/* What depends on a Stack goes before it. */
static void keep_for_dependents(struct planner *p, struct cluster_part *c)
{
    const struct observed_stacks *all = &p->observed->dependents;

    for (uint32_t i = 0; i < all->count; i++) {
        const struct observed_stack *d = &all->items[i];

        if (is_mutual(p, d->name) || (d->deleting && !has_id(&d->held, c->observed->id)))
            continue;
        c->needed_reason = d->deleting ? REASON(WAITING_FOR_DEPENDENTS) : REASON(STACK_NEEDED);
        c->needed_message =
            d->deleting ? str_fmt(p->arena,
                                  "Stack %.*s, which depends on this one, is removed from %.*s "
                                  "first",
                                  STR_ARG(d->name), STR_ARG(c->observed->id))
                        : str_fmt(p->arena,
                                  "Stack %.*s depends on this one; delete it, or take %.*s out "
                                  "of its spec.dependsOn",
                                  STR_ARG(d->name), STR_ARG(p->stack->meta.name));
        return;
    }
}

void plan_heed_stacks(struct planner *p)
{
    for (uint32_t i = 0; i < p->observed->clusters.count; i++) {
        if (p->deleting)
            keep_for_dependents(p, &p->clusters[i]);
        else if (!p->clusters[i].access_reason.len)
            wait_on(p, &p->clusters[i]);
    }
}
