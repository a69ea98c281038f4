/* SPDX-License-Identifier: Apache-2.0 */
/* fit_test.c: whether what a Stack asks for fits the clusters that it goes to. */
#include "support/rows.h"

#include "stack/gpu/gpu.h"
#include "stack/gpu/inventory.h"
#include "support/stack_builder.h"

#define CHART(name, more) "{\"name\":\"" name "\",\"repo\":\"https://x.io\",\"version\":\"1.0.0\"" more "}"
#define VALUES(inline) ",\"values\":{\"inline\":" inline "}"
#define ASKS(count) CHART("db", VALUES("{\"limits\":{\"nvidia.com/gpu\":" count "}}"))
#define TIMES(count, replicas) CHART("db", VALUES("{\"replicas\":" replicas ",\"limits\":{\"nvidia.com/gpu\":" count "}}"))
#define ASKS_OF(resource, count) CHART("db", VALUES("{\"limits\":{\"" resource "\":" count "}}"))
#define IDS(ids) "{\"clusterIds\":[" ids "]}"
#define PROD "{\"selector\":{\"matchLabels\":{\"env\":\"prod\"}}}"
#define AT "spec.charts[0].values.inline.limits[nvidia.com/gpu]"
#define MIG "spec.charts[0].values.inline.limits[nvidia.com/mig-1g.5gb]"

#define RESOURCE(name, allocatable, schedulable, node, reserved)                                        \
    "{\"name\":\"" name "\",\"allocatable\":" allocatable ",\"schedulable\":" schedulable               \
    ",\"largestNode\":" node ",\"reserved\":" reserved "}"
#define RESERVATION(stack, count) "{\"stack\":\"" stack "\",\"resources\":{\"nvidia.com/gpu\":" count "}}"
#define KNOWN ",\"conditions\":[{\"type\":\"Observed\",\"status\":\"True\",\"reason\":\"NodesRead\"}]"
#define UNKNOWN ",\"conditions\":[{\"type\":\"Observed\",\"status\":\"Unknown\",\"reason\":\"Disconnected\"}]"

/* c-big is prod, c-busy and c-cordoned are not; all but c-big-2 have 8 GPUs, c-big on two nodes. */
static const struct {
    const char *id, *labels, *status;
} clusters[] = {
    { "c-big", "{\"env\":\"prod\"}", "\"resources\":[" RESOURCE("nvidia.com/gpu", "8", "8", "4", "0") "]" KNOWN },
    { "c-big-2", "{\"env\":\"prod\"}", "\"resources\":[" RESOURCE("nvidia.com/gpu", "2", "2", "2", "0") "]" KNOWN },
    { "c-busy", "{}", "\"resources\":[" RESOURCE("nvidia.com/gpu", "8", "8", "8", "6") "],\"reservations\":["
      RESERVATION("default/shop", "1") "," RESERVATION("ml/train", "2") "," RESERVATION("team/rag", "3") "]" KNOWN },
    { "c-crowd", "{}", "\"resources\":[" RESOURCE("nvidia.com/gpu", "8", "8", "8", "9") "],\"reservations\":["
      RESERVATION("ml/train", "3") "],\"reservationsOmitted\":2" KNOWN },
    { "c-cordoned", "{}", "\"resources\":[" RESOURCE("nvidia.com/gpu", "8", "2", "8", "0") "]" KNOWN },
    { "c-amd", "{\"site\":\"edge\"}", "\"resources\":[" RESOURCE("amd.com/gpu", "2", "2", "2", "0") "]" KNOWN },
    { "c-plain", "{\"site\":\"edge\",\"size\":\"s\",\"zone\":\"a\"}", "\"resources\":[]" KNOWN },
    { "c-asked", "{}", "\"resources\":[{\"name\":\"nvidia.com/gpu\",\"reserved\":4}]" KNOWN },
    { "c-ours", "{\"size\":\"l\"}", "\"resources\":[" RESOURCE("nvidia.com/gpu", "8", "8", "8", "5") "],\"reservations\":["
      RESERVATION("default/ner", "3") "," RESERVATION("ml/train", "2") "]" KNOWN },
    { "c-far", "{\"zone\":\"a\"}", "\"resources\":[]" UNKNOWN },
    { "c-new", "{}", NULL },
};

#define BROUGHT(count)                                                                                  \
    CHART("db", VALUES("{\"limits\":{\"nvidia.com/gpu\":" count "}}") ",\"dependsOn\":[\"gpu-operator\"]") \
    "," CHART("gpu-operator", "")
#define SKIPPED(ids) "\"overrides\":[{\"clusterIds\":[" ids "],\"charts\":[{\"name\":\"gpu-operator\",\"skip\":true}]}]"

#define AFTER(stack) "\"dependsOn\":[{\"name\":\"" stack "\"}]"

/* gpus brings NVIDIA's, tools waits for it, plain brings nothing, and of taken nobody knows. */
static bool stored_get(void *context, struct arena *arena, struct str namespace_, struct str name,
                       struct fact_stack *ret_stack)
{
    bool gpus = str_eq(name, STR("gpus")), tools = str_eq(name, STR("tools")), taken = str_eq(name, STR("taken"));

    (void)context, (void)namespace_;
    *ret_stack = (struct fact_stack){ .known = !taken, .depends_on = str_list_new(arena, 1) };
    if (gpus)
        ret_stack->provides = gpu_of_resource(STR("nvidia.com/gpu"));
    if (tools)
        str_list_push(&ret_stack->depends_on, STR("gpus"));
    return gpus || tools || taken || str_eq(name, STR("plain"));
}

static const struct row {
    const char *says;
    const char *targets;
    const char *charts;
    const char *spec; /* further members, NULL: none */
    const char *found;
    const char *message; /* part of the first finding's; NULL: not looked at */
} rows[] = {
    { "it fits", IDS("\"c-big\""), ASKS("4"), NULL, "", NULL },
    { "to the last one", IDS("\"c-big\""), TIMES("4", "2"), NULL, "", NULL },
    { "one more does not", IDS("\"c-big\""), TIMES("3", "3"), NULL, "!gpu.fit " AT,
      "the Stack asks each cluster for 9 nvidia.com/gpu; c-big has 8; ask for fewer GPUs or replicas" },
    { "one pod for more than any node has", IDS("\"c-big\""), ASKS("5"), NULL, "!gpu.fit " AT,
      "one pod asks for 5 nvidia.com/gpu, and no node of c-big has more than 4" },
    { "charts are summed", IDS("\"c-big-2\""), ASKS("1") "," CHART("x", VALUES("{\"limits\":{\"nvidia.com/gpu\":2}}")), NULL, "!gpu.fit " AT,
      "for 3 nvidia.com/gpu; c-big-2 has 2" },
    { "of a selector each cluster counts", PROD, ASKS("4"), NULL, "!gpu.fit " AT, "for 4 nvidia.com/gpu; c-big-2 has 2;" },
    { "many are told", IDS("\"c-crowd\",\"c-busy\",\"c-big\",\"c-big-2\",\"c-cordoned\""), TIMES("1", "9"), NULL, "!gpu.fit " AT,
      "c-big has 8, c-big-2 has 2, c-busy has 8 and 2 more;" },
    { "an override counts where it applies", IDS("\"c-big\",\"c-big-2\""), ASKS("4"),
      "\"overrides\":[{\"clusterIds\":[\"c-big-2\"],\"charts\":[{\"name\":\"db\",\"values\":{\"inline\":{\"limits\":{\"nvidia.com/gpu\":2}}}}]}]", "", NULL },
    { "and may ask for too much", IDS("\"c-big\",\"c-big-2\""), ASKS("2"),
      "\"overrides\":[{\"clusterIds\":[\"c-big-2\"],\"charts\":[{\"name\":\"db\",\"values\":{\"inline\":{\"replicas\":2}}}]}]", "!gpu.fit " AT, "4 nvidia.com/gpu; c-big-2 has 2" },
    { "or leave the chart out", IDS("\"c-big\",\"c-big-2\""), ASKS("4") "," CHART("x", ""),
      "\"overrides\":[{\"clusterIds\":[\"c-big-2\"],\"charts\":[{\"name\":\"db\",\"skip\":true}]}]", "", NULL },
    { "slices that no node offers, although whole ones are there", IDS("\"c-big\""), ASKS_OF("nvidia.com/mig-1g.5gb", "1"), NULL, "!gpu.fit " MIG,
      "for 1 nvidia.com/mig-1g.5gb; c-big has none (but 8 nvidia.com/gpu)" },
    { "unless the Stack brings what offers them", IDS("\"c-big\""), CHART("db", VALUES("{\"limits\":{\"nvidia.com/mig-1g.5gb\":1}}") ",\"dependsOn\":[\"gpu-operator\"]") "," CHART("gpu-operator", ""),
      NULL, "", NULL },
    { "its own reservation is not in its way", IDS("\"c-busy\""), ASKS("3"), NULL, "", NULL },
    { "what is reserved for others is", IDS("\"c-busy\""), ASKS("4"), NULL, "gpu.busy " AT,
      "for 4 nvidia.com/gpu; c-busy has 8: 5 reserved for 2 Stacks of other namespaces; wait until they are free" },
    { "those of its own namespace are named", IDS("\"c-ours\""), ASKS("4"), NULL, "gpu.busy " AT,
      "c-ours has 8: 5 reserved for default/ner and 1 Stack of another namespace; wait" },
    { "a reservation that is not listed may be its own", IDS("\"c-crowd\""), ASKS("5"), NULL, "", NULL },
    { "those that are listed count", IDS("\"c-crowd\""), ASKS("6"), NULL, "gpu.busy " AT, "c-crowd has 8: 3 reserved for 1 Stack of another namespace" },
    { "nodes that take no pods", IDS("\"c-cordoned\""), ASKS("3"), NULL, "gpu.busy " AT, "c-cordoned has 8: 6 on nodes that take no pods now" },
    { "no GPUs of that vendor", IDS("\"c-amd\",\"c-big\""), ASKS("1"), NULL, "!gpu.not-offered " AT,
      "Invalid value: \"nvidia.com/gpu\": cluster c-amd has no NVIDIA GPUs, and no chart of this Stack provides them; " },
    { "each cluster without any is rejected", IDS("\"c-plain\",\"c-amd\""), ASKS("1"), NULL, "!gpu.not-offered " AT "; !gpu.not-offered " AT, "cluster c-amd has no NVIDIA GPUs" },
    { "and each chart", IDS("\"c-plain\""), ASKS("1") "," CHART("x", VALUES("{\"limits\":{\"nvidia.com/gpu\":1}}")), NULL,
      "!gpu.not-offered " AT "; !gpu.not-offered spec.charts[1].values.inline.limits[nvidia.com/gpu]", NULL },
    { "but none that is skipped there", IDS("\"c-plain\",\"c-big\""), ASKS("1") "," CHART("x", ""),
      "\"overrides\":[{\"clusterIds\":[\"c-plain\"],\"charts\":[{\"name\":\"db\",\"skip\":true}]}]", "", NULL },
    { "or asks for none there", IDS("\"c-plain\",\"c-big\""), ASKS("1"),
      "\"overrides\":[{\"clusterIds\":[\"c-plain\"],\"charts\":[{\"name\":\"db\",\"values\":{\"inline\":{\"replicas\":0}}}]}]", "", NULL },
    { "a cluster without any is rejected beside one that is not known", IDS("\"c-plain\",\"c-far\""), ASKS("1"), NULL,
      "!gpu.not-offered " AT "; gpu.unknown " AT, NULL },
    { "none, and reserved all the same", IDS("\"c-asked\""), ASKS("1"), NULL, "!gpu.not-offered " AT, NULL },
    { "no cluster of a selector has any", "{\"selector\":{\"matchLabels\":{\"site\":\"edge\"}}}", ASKS("1"), NULL, "!gpu.not-offered " AT,
      "Invalid value: \"nvidia.com/gpu\": of the clusters that spec.targets.selector matches, none has NVIDIA GPUs (c-amd, c-plain), and no chart of this Stack provides them; add" },
    { "some of a selector have none", "{\"selector\":{\"matchExpressions\":[{\"key\":\"size\",\"operator\":\"Exists\"}]}}", ASKS("1"), NULL, "gpu.no-provider " AT,
      "NVIDIA GPUs for \"db\": no chart of this Stack provides them, and no node offers any today on c-plain" },
    { "one of a selector is not known", "{\"selector\":{\"matchLabels\":{\"zone\":\"a\"}}}", ASKS("1"), NULL, "gpu.no-provider " AT "; gpu.unknown " AT,
      "no node offers any today on c-plain" },
    { "what the Stack brings is not missed", IDS("\"c-plain\""), CHART("db", VALUES("{\"limits\":{\"nvidia.com/gpu\":9}}") ",\"dependsOn\":[\"gpu-operator\"]") "," CHART("gpu-operator", ""),
      NULL, "", NULL },
    { "but what is there already counts", IDS("\"c-big\""), CHART("db", VALUES("{\"limits\":{\"nvidia.com/gpu\":9}}") ",\"dependsOn\":[\"gpu-operator\"]") "," CHART("gpu-operator", ""),
      NULL, "!gpu.fit " AT, NULL },
    { "but not where an override skips it", IDS("\"c-plain\",\"c-amd\",\"c-big-2\""), BROUGHT("1"), SKIPPED("\"c-plain\",\"c-big-2\""), "!gpu.not-offered " AT,
      "cluster c-plain has no NVIDIA GPUs, and an override skips what provides them; add a GPU operator" },
    { "of a selector only on some", "{\"selector\":{\"matchLabels\":{\"site\":\"edge\"}}}", BROUGHT("1"), SKIPPED("\"c-plain\""), "gpu.no-provider " AT,
      "NVIDIA GPUs for \"db\": an override skips what provides them, and no node offers any today on c-plain; add a GPU operator" },
    { "unless what needs it is skipped, too", IDS("\"c-plain\""), BROUGHT("1"),
      "\"overrides\":[{\"clusterIds\":[\"c-plain\"],\"charts\":[{\"name\":\"gpu-operator\",\"skip\":true},{\"name\":\"db\",\"skip\":true}]}]", "", NULL },
    { "or the cluster has its own", IDS("\"c-big\""), BROUGHT("1"), SKIPPED("\"c-big\""), "", NULL },
    { "or it is another vendor's", IDS("\"c-plain\""), BROUGHT("1") "," CHART("amd-gpu-operator", ""),
      "\"overrides\":[{\"clusterIds\":[\"c-plain\"],\"charts\":[{\"name\":\"amd-gpu-operator\",\"skip\":true}]}]", "", NULL },
    { "where nobody knows what is there", IDS("\"c-new\",\"c-plain\""), BROUGHT("1"), SKIPPED("\"c-new\""), "gpu.no-provider " AT "; gpu.unknown " AT,
      "skips what provides them on c-new; add a GPU operator" },
    { "what it would have brought is missing", IDS("\"c-big\""), CHART("db", VALUES("{\"limits\":{\"nvidia.com/mig-1g.5gb\":1}}") ",\"dependsOn\":[\"gpu-operator\"]") "," CHART("gpu-operator", ""),
      SKIPPED("\"c-big\""), "!gpu.fit " MIG, "c-big has none (but 8 nvidia.com/gpu)" },
    { "a Stack that this one depends on brings them", IDS("\"c-plain\""), ASKS("9"), AFTER("gpus"), "", NULL },
    { "or one that that one depends on", IDS("\"c-plain\""), ASKS("9"), AFTER("tools"), "", NULL },
    { "of another vendor", IDS("\"c-plain\""), ASKS_OF("amd.com/gpu", "1"), AFTER("gpus"), "!gpu.not-offered spec.charts[0].values.inline.limits[amd.com/gpu]", NULL },
    { "one that brings none", IDS("\"c-plain\""), ASKS("1"), AFTER("plain"), "!gpu.not-offered " AT, NULL },
    { "one that is not there yet may bring them", IDS("\"c-plain\""), ASKS("1"), AFTER("later"), "gpu.no-provider " AT "; graph.unknown-stack spec.dependsOn[0].name",
      "NVIDIA GPUs for \"db\": none are on c-plain, and it is not known whether the Stack 'later' provides them; see that 'later' has a GPU operator" },
    { "or one that is there and not known", "{\"selector\":{\"matchLabels\":{\"site\":\"edge\"}}}", ASKS("1"), AFTER("taken"), "gpu.no-provider " AT, "none are on c-amd, c-plain, and it is not known whether the Stack 'taken' provides them" },
    { "it brings slices, too", IDS("\"c-big\""), ASKS_OF("nvidia.com/mig-1g.5gb", "1"), AFTER("gpus"), "", NULL },
    { "an inventory that knows nothing", IDS("\"c-far\""), ASKS("1"), NULL, "gpu.no-provider " AT "; gpu.unknown " AT, NULL },
    { "one that is not there is told once", IDS("\"c-new\",\"c-far\",\"c-big\""), CHART("gpu-operator", VALUES("{\"limits\":{\"nvidia.com/gpu\":1,\"amd.com/gpu\":1}}")), NULL,
      "!gpu.not-offered spec.charts[0].values.inline.limits[amd.com/gpu]; gpu.unknown spec.charts[0].values.inline.limits[amd.com/gpu]", NULL },
    { "a Stack that asks for none hears of none", IDS("\"c-far\",\"c-plain\""), CHART("db", ""), NULL, "", NULL },
    { "a cluster that Rancher does not know", IDS("\"c-big-3\""), ASKS("9"), NULL, "gpu.no-provider " AT "; targets.unknown-cluster spec.targets.clusterIds[0]", NULL },
};

static struct facts known_facts(struct arena *arena, bool kept)
{
    struct facts facts = { .clusters_known = true, .inventories_kept = kept, .clusters = fact_clusters_new(arena, 0),
                           .stacks = { .get = stored_get } };

    for (size_t i = 0; i < sizeof(clusters) / sizeof(clusters[0]); i++) {
        struct inventory *inventory = NULL;

        if (clusters[i].status) {
            inventory = arena_new(arena, struct inventory);
            *inventory = inventory_read(arena, test_json(arena, str_fmt(arena, "{\"status\":{%s}}", clusters[i].status)));
        }
        fact_clusters_push(&facts.clusters, (struct fact_cluster){ .id = str_of(clusters[i].id), .ready = true,
                               .labels = test_json(arena, str_of(clusters[i].labels)), .inventory = kept ? inventory : NULL });
    }
    return facts;
}

static struct problems validated(struct arena *arena, const struct row *row, bool kept)
{
    struct stack_builder b = a_stack(arena);
    struct facts facts = known_facts(arena, kept);
    struct rule_severities severities = rule_severities_default();

    b.name = STR("shop");
    with_targets(&b, row->targets);
    with_raw_chart(&b, row->charts);
    if (row->spec)
        with_spec(&b, row->spec);
    return stack_admit(arena, stack_json(&b), (struct json){ NULL, 0 }, &facts, &severities).problems;
}

/* As an offline review does, to which somebody gave them. */
static void who_may_read_all_is_told_all(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct stack_builder b = a_stack(arena);
    struct facts facts = known_facts(arena, true);
    struct rule_severities severities = rule_severities_default();
    struct verdict verdict;

    (void)state;
    facts.names_all_stacks = true;
    with_targets(&b, IDS("\"c-ours\""));
    with_raw_chart(&b, ASKS("4"));
    verdict = stack_admit(arena, stack_json(&b), (struct json){ NULL, 0 }, &facts, &severities);
    rows_expect_int("one finding", verdict.problems.list.count, 1);
    rows_expect("names both",
                str_find(verdict.problems.list.items[0].message, STR("reserved for default/ner, ml/train"), 0) >= 0,
                verdict.problems.list.items[0].message.at);
}

static void stacks_fit_or_do_not(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct problems problems = validated(arena, &rows[i], true);

        rows_expect_str(rows[i].says, findings_text(arena, &problems), str_of(rows[i].found));
        if (rows[i].message) {
            const struct problem *first = &problems.list.items[0];
            struct str words = str_fmt(arena, "%.*s; %.*s", STR_ARG(first->message), STR_ARG(first->remedy));

            rows_expect(rows[i].says, str_find(words, str_of(rows[i].message), 0) >= 0, words.at);
        }
    }
}

/* Each cluster is a finding of its own, so that one less never makes the others new. */
static void what_was_so_before_only_warns(void **state)
{
    static const struct {
        const char *says, *before, *after, *charts, *found;
    } updates[] = {
        { "the same clusters", IDS("\"c-plain\",\"c-amd\""), IDS("\"c-plain\",\"c-amd\""), ASKS("1"), "gpu.not-offered " AT "; gpu.not-offered " AT },
        { "one less", IDS("\"c-plain\",\"c-amd\""), IDS("\"c-plain\""), ASKS("1"), "gpu.not-offered " AT },
        { "one more", IDS("\"c-plain\""), IDS("\"c-amd\",\"c-plain\""), ASKS("1"), "!gpu.not-offered " AT "; gpu.not-offered " AT },
        { "more GPUs", IDS("\"c-plain\""), IDS("\"c-plain\""), ASKS("2"), "!gpu.not-offered " AT },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(updates) / sizeof(updates[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct stack_builder before = a_stack(arena), after = a_stack(arena);
        struct facts facts = known_facts(arena, true);
        struct rule_severities severities = rule_severities_default();
        struct verdict verdict;

        with_targets(&before, updates[i].before);
        with_raw_chart(&before, ASKS("1"));
        with_targets(&after, updates[i].after);
        with_raw_chart(&after, updates[i].charts);
        with_spec(&after, "\"paused\":true");
        verdict = stack_admit(arena, stack_json(&after), stack_json(&before), &facts, &severities);
        rows_expect_str(updates[i].says, findings_text(arena, &verdict.problems), str_of(updates[i].found));
    }
}

/* Each names its place; the answer stays small. */
static void many_clusters_without_gpus_are_bounded(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct stack_builder b = a_stack(arena);
    struct facts facts = { .clusters_known = true, .inventories_kept = true, .clusters = fact_clusters_new(arena, 0) };
    struct rule_severities severities = rule_severities_default();
    struct strbuf ids = strbuf_new(arena, 4096);
    struct inventory none = inventory_new(arena);

    (void)state;
    none.known = true;
    for (int i = 0; i < 150; i++) {
        fact_clusters_push(&facts.clusters, (struct fact_cluster){ .id = str_fmt(arena, "c-%03d", i), .inventory = &none });
        strbuf_fmt(&ids, "%s\"c-%03d\"", i ? "," : "", i);
    }
    with_targets(&b, str_fmt(arena, "{\"clusterIds\":[%.*s]}", STR_ARG(strbuf_str(&ids))).at);
    with_raw_chart(&b, ASKS("1") "," CHART("x", VALUES("{\"limits\":{\"nvidia.com/gpu\":1}}")));

    struct problems problems = stack_admit(arena, stack_json(&b), (struct json){ NULL, 0 }, &facts, &severities).problems;

    rows_expect_int("a hundred, and one for the others", problems.list.count, 101);
}

static void where_nobody_writes_inventories_nothing_is_said(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct problems problems = validated(arena, &(struct row){ .targets = IDS("\"c-big\""), .charts = ASKS("100") }, false);

    (void)state;
    rows_expect_str("as ever", findings_text(arena, &problems), STR("gpu.no-provider " AT));
    rows_expect_str("in the words of before", problems.list.items[0].message,
                    STR("Not found: NVIDIA GPUs for \"db\": no chart of this Stack provides them"));
    problems = validated(arena,
                      &(struct row){ .targets = IDS("\"c-big\",\"c-plain\""), .charts = BROUGHT("100"), .spec = SKIPPED("\"c-big\"") },
                      false);
    rows_expect_str("what is skipped is seen all the same", findings_text(arena, &problems), STR("gpu.no-provider " AT));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_may_read_all_is_told_all),
        cmocka_unit_test(stacks_fit_or_do_not),
        cmocka_unit_test(what_was_so_before_only_warns),
        cmocka_unit_test(many_clusters_without_gpus_are_bounded),
        cmocka_unit_test(where_nobody_writes_inventories_nothing_is_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
