/* plan_hold.c: why nothing may be asked for although everything can be looked at: the Stack is
 * paused, or waits for other Stacks. Stacks that wait for one another wait for ever; each of them
 * finds the circle by what the others wait for, and says so instead. A pause keeps a Stack that is
 * deleted only while something of it is left, and it is help that it waits for then. */
#include "stack/plan_parts.h"

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

    strbuf_lit(&text, "Stacks wait for one another: ");
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
    for (uint32_t i = 0; i < others->count && !p->deleting; i++)
        if (!others->items[i].ready && !others->items[i].distant)
            strbuf_fmt(&names, "%s%.*s%s", names.len ? ", " : "", STR_ARG(others->items[i].name),
                       others->items[i].exists ? "" : " (which does not exist)");
    if (!names.len || find_cycle(p))
        return;
    p->hold_reason = REASON(WAITING_FOR_STACK);
    p->hold_message = str_fmt(p->arena, "waiting for Stack %.*s to be Ready",
                              STR_ARG(strbuf_str(&names)));
}
