/* clusters_test.c: which ClusterInventories of files are taken, and what is said of the others. */
#include "support/rows.h"

#include "stack/inventory.h"
#include "webhook/offline/clusters.h"

#define HEAD "apiVersion: herd.suse.com/v1\nkind: ClusterInventory\nmetadata: {name: c-1}\n"
#define STATUS(members) HEAD "status: {" members "}\n"
#define OBSERVED "conditions: [{type: Observed, status: 'True', reason: NodesRead}]"

static const struct {
    const char *says, *text;
    const char *want; /* "id ready allocatable", "id unknown", or what is wrong */
} rows[] = {
    { "one that knows its nodes", STATUS("ready: true, resources: [{name: nvidia.com/gpu, allocatable: 8}], " OBSERVED), "c-1 ready 8" },
    { "one that does not", STATUS("ready: false, conditions: [{type: Observed, status: Unknown, reason: Disconnected}]"), "c-1 unknown" },
    { "one that was just made", HEAD, "c-1 unknown" },
    { "as kubectl lists them", "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: herd.suse.com/v1, kind: ClusterInventory, metadata: {name: c-1}}\n", "c-1 unknown" },
    { "other kinds beside it", HEAD "---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\n", "c-1 unknown" },
    { "a status that is none", HEAD "status: 3\n", "in.yaml:4:1: status must be an object, not number" },
    { "a figure that is none", STATUS("resources: [{name: nvidia.com/gpu, allocatable: '8'}]"),
      "in.yaml:4:45: status.resources[0].allocatable must be a whole number, 0 or more, not string" },
    { "half a GPU", STATUS("gpus: 0.5"), "in.yaml:4:10: status.gpus must be a whole number, 0 or more" },
    { "fewer than none", STATUS("promises: [{stack: a/b, resources: {nvidia.com/gpu: -1}}]"),
      "in.yaml:4:46: status.promises[0].resources[nvidia.com/gpu] must be a whole number, 0 or more" },
    { "a label that is no text", STATUS("labels: {gpu: true}"), "in.yaml:4:19: status.labels[gpu] must be a string" },
    { "an element that is no object", STATUS("resources: [8]"), "in.yaml:4:22: status.resources[0] must be an object, not number" },
    { "conditions that are no list", STATUS("conditions: {}"), "in.yaml:4:10: status.conditions must be an array, not object" },
    { "a slip in a field", STATUS("redy: true"), "in.yaml:4:10: status.redy is no field that is known here" },
    { "one without a name", "apiVersion: herd.suse.com/v1\nkind: ClusterInventory\n", "in.yaml:1:1: a ClusterInventory needs a name" },
    { "two of one cluster", HEAD "---\n" HEAD, "in.yaml:7:12: there is another ClusterInventory c-1; rename one of them" },
    { "another kind alone", "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n", "there is no ClusterInventory in in.yaml" },
    { "a file that is empty", "", "there is no ClusterInventory in in.yaml" },
    { "what is no YAML", "a: [1\n", "in.yaml:2:1: did not find expected ',' or ']', while parsing a flow sequence; correct the document" },
};

static struct str told(struct arena *arena, const struct fact_clusters *clusters)
{
    const struct fact_cluster *cluster = &clusters->items[0];
    const struct inventory_figures *figures = inventory_find(cluster->inventory, STR("nvidia.com/gpu"));

    rows_expect_int("one cluster, and Rancher's own", clusters->count, 2);
    return cluster->inventory->known
               ? str_fmt(arena, "%.*s%s %lld", STR_ARG(cluster->id), cluster->ready ? " ready" : "",
                         figures ? (long long)figures->allocatable : 0)
               : str_fmt(arena, "%.*s unknown", STR_ARG(cluster->id));
}

static void all_or_none_are_taken(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct input_files files = input_files_new(arena, 1);
        struct fact_clusters clusters;
        struct str_list wrong;

        input_files_push(&files, (struct input_file){ .name = STR("in.yaml"), .bytes = str_of(rows[i].text) });
        rows_expect_str(rows[i].says,
                        clusters_load(arena, &files, &clusters, &wrong) == 0 ? told(arena, &clusters) : wrong.items[0],
                        str_of(rows[i].want));
    }
}

static const struct {
    const char *says, *text, *want; /* each cluster, "(internal)" behind Rancher's own */
} own_rows[] = {
    { "Rancher's own is there although no inventory is", HEAD, "c-1 local(internal)" },
    { "one of Rancher's own is no cluster that a selector picks",
      "apiVersion: herd.suse.com/v1\nkind: ClusterInventory\nmetadata: {name: local}\n", "local(internal)" },
};

static void rancher_s_own_is_known(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(own_rows) / sizeof(own_rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct input_files files = input_files_new(arena, 1);
        struct strbuf got = strbuf_new(arena, 64);
        struct fact_clusters clusters = { 0 };
        struct str_list wrong;

        input_files_push(&files, (struct input_file){ .name = STR("in.yaml"), .bytes = str_of(own_rows[i].text) });
        rows_expect_int(own_rows[i].says, clusters_load(arena, &files, &clusters, &wrong), 0);
        for (uint32_t k = 0; k < clusters.count; k++)
            strbuf_fmt(&got, "%s%.*s%s", k ? " " : "", STR_ARG(clusters.items[k].id),
                       clusters.items[k].internal ? "(internal)" : "");
        rows_expect_str(own_rows[i].says, strbuf_str(&got), str_of(own_rows[i].want));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_or_none_are_taken),
        cmocka_unit_test(rancher_s_own_is_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
