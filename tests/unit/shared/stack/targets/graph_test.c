/* SPDX-License-Identifier: Apache-2.0 */
/* graph_test.c: order, faults and cycles of small graphs that can be drawn by hand. */
#include "support/rows.h"

#include "stack/targets/graph.h"

/* "a:b,c d:" is two nodes, the first needing b and c. */
static struct graph *parse(struct arena *arena, const char *text)
{
    struct graph *graph = graph_new(arena, 4);
    struct str rest = text[0] ? str_of(text) : (struct str){ NULL, 0 };
    struct str node;

    while (str_split(&rest, ' ', &node)) {
        ptrdiff_t colon = str_find_char(node, ':', 0);
        struct str needs = str_slice(node, (size_t)colon + 1, node.len);
        struct str_list list = str_list_new(arena, 4);
        struct str need;

        if (!needs.len)
            needs.at = NULL;
        while (str_split(&needs, ',', &need))
            str_list_push(&list, need);
        graph_add(graph, str_slice(node, 0, (size_t)colon), list);
    }
    return graph;
}

static struct str numbers(struct arena *arena, const struct u32_list *list)
{
    struct strbuf text = strbuf_new(arena, 64);

    for (uint32_t i = 0; i < list->count; i++)
        strbuf_fmt(&text, "%s%u", i ? " " : "", list->items[i]);
    return strbuf_str(&text);
}

static const struct {
    const char *says, *graph, *order; /* order NULL: there is none */
    const char *cycles;               /* "0 1 /1" = nodes 0 1, cut at place 1 */
} rows[] = {
    { "nothing has an empty order", "", "", "" },
    { "one node stands alone", "a:", "0", "" },
    { "what is needed comes first, whatever the numbers", "a:b b:c c:", "2 1 0", "" },
    { "lower numbers come first where they are free", "a:c b: c: d:", "1 2 0 3", "" },
    { "a node that becomes free takes its place by number", "a:d b: c: d:", "1 2 3 0", "" },
    { "a diamond", "top:l,r l:base r:base base:", "3 1 2 0", "" },
    { "a cycle of two; the last closes it", "a:b b:a", NULL, "0 1 /1" },
    { "a cycle of three, from its least, in order of dependence", "a:b b:c c:a", NULL, "0 1 2 /2" },
    { "the foundation that most wait for is cut", "app:db,gpu db:gpu gpu:app", NULL, "0 2 /1" },
    { "every separate cycle is told, by its least", "a:b b:a c:d d:e e:c", NULL,
      "0 1 /1; 2 3 4 /2" },
    { "what is behind a cycle is not on it", "a:b b:c c:b d:a", NULL, "1 2 /0" },
    { "two cycles through one node are two", "a:b,c b:a c:a", NULL, "0 1 /0; 0 2 /0" },
    { "so are two that share a node which is not the least", "a:b b:a,c c:b", NULL, "0 1 /1; 1 2 /0" },
    { "one cut may fix two", "a:b b:c,d c:a d:a", NULL, "0 1 2 /0" },
    { "cycles of all three pairs, and what their cuts leave", "a:b,c b:a,c c:a,b", NULL,
      "0 1 /1; 0 2 /1; 1 2 /1" },
    { "a node that needs itself makes no edge", "a:a", "0", "" },
    { "an unknown name makes no edge", "a:x b:", "0 1", "" },
};

static void order_and_cycles(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct graph *graph = parse(arena, rows[i].graph);
        struct u32_list order = { 0 };
        struct strbuf text = strbuf_new(arena, 64);

        graph_link(graph);

        int failed = graph_order(graph, arena, &order);
        bool more = true;
        struct graph_cycles cycles = graph_cycles_of(graph, arena, &more);

        rows_expect(rows[i].says, !more, "all are told");
        rows_expect_int(rows[i].says, failed, rows[i].order ? 0 : -1);
        rows_expect_str(rows[i].says, numbers(arena, &order),
                        str_of(rows[i].order ? rows[i].order : ""));
        for (uint32_t k = 0; k < cycles.count; k++) {
            struct str nodes = numbers(arena, &cycles.items[k].nodes);

            strbuf_fmt(&text, "%s%.*s /%u", k ? "; " : "", STR_ARG(nodes), cycles.items[k].cut);
        }
        rows_expect_str(rows[i].says, strbuf_str(&text), str_of(rows[i].cycles));
    }
}

static const struct {
    const char *says, *graph;
    uint32_t count;
    struct graph_finding first;
} faults[] = {
    { "nothing is wrong", "a:b b:", 0, { 0 } },
    { "a name that is not there, with one that is near", "gpu-operator: ollama:gpu-operatr", 1,
      { GRAPH_UNKNOWN_NAME, 1, 0, STR_INIT("gpu-operator") } },
    { "a name that is near to none", "db: ollama:kubernetes", 1,
      { GRAPH_UNKNOWN_NAME, 1, 0, STR_INIT("") } },
    { "itself", "a: b:a,b", 1, { GRAPH_ITSELF, 1, 1, STR_INIT("") } },
    { "twice", "a: b:a,a", 1, { GRAPH_REPEATED, 1, 1, STR_INIT("") } },
    { "the second of two with one name needs the name: itself", "a: a:a", 1,
      { GRAPH_ITSELF, 1, 0, STR_INIT("") } },
};

static void entries_that_make_no_edge(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct graph_findings found = graph_link(parse(arena, faults[i].graph));

        rows_expect_int(faults[i].says, found.count, faults[i].count);
        if (!found.count)
            continue;
        rows_expect_int(faults[i].says, found.items[0].fault, faults[i].first.fault);
        rows_expect_int(faults[i].says, found.items[0].node, faults[i].first.node);
        rows_expect_int(faults[i].says, found.items[0].entry, faults[i].first.entry);
        rows_expect_str(faults[i].says, found.items[0].nearest, faults[i].first.nearest);
    }
}

static bool is_number(void *context, uint32_t other)
{
    return *(const uint32_t *)context == other;
}

static void reaching(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct graph *graph = parse(arena, "a:b b:c c: d:a,b e:e2 e2:e");
    uint32_t c = 2;
    uint32_t e = 4;

    (void)state;
    graph_link(graph);
    rows_expect("directly", graph_reaches(graph, arena, 1, is_number, &c), "b reaches c");
    rows_expect("far", graph_reaches(graph, arena, 3, is_number, &c), "d reaches c");
    rows_expect("not itself", !graph_reaches(graph, arena, 2, is_number, &c), "c does not");
    rows_expect("itself over a cycle", graph_reaches(graph, arena, 4, is_number, &e), "e does");
    rows_expect("not backwards", !graph_reaches(graph, arena, 2, is_number, &e), "c does not");
    rows_expect_str("needs", numbers(arena, graph_needs(graph, 3)), STR("0 1"));
    rows_expect_str("waiters", numbers(arena, graph_waiters(graph, 1)), STR("0 3"));
}

/* Only the first unknown names get a near one: looking walks all names. */
static void near_names_are_rationed(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct graph *graph = graph_new(arena, 1);
    struct str_list many = str_list_new(arena, 100);

    (void)state;
    for (int i = 0; i < 100; i++)
        str_list_push(&many, str_fmt(arena, "databas%d", i % 10));
    graph_add(graph, STR("database"), many);

    struct graph_findings found = graph_link(graph);

    rows_expect_int("all are told", found.count, 100);
    rows_expect_str("the first has a near one", found.items[0].nearest, STR("database"));
    rows_expect_str("the last has none", found.items[99].nearest, STR(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_and_cycles),
        cmocka_unit_test(entries_that_make_no_edge),
        cmocka_unit_test(reaching),
        cmocka_unit_test(near_names_are_rationed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
