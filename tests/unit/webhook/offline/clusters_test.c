/* SPDX-License-Identifier: Apache-2.0 */
/* clusters_test.c: which ClusterInventories of files are taken, and what is said of the others. */
#include "support/rows.h"

#include "stack/gpu/inventory.h"
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
    { "a status that is none", HEAD "status: 3\n", "in.yaml:4:1: status: Invalid value: must be an object, not a number; write a value of the expected type" },
    { "a figure that is none", STATUS("resources: [{name: nvidia.com/gpu, allocatable: '8'}]"),
      "in.yaml:4:45: status.resources[0].allocatable: Invalid value: must be an integer, not a string; write a value of the expected type" },
    { "half a GPU", STATUS("gpus: 0.5"), "in.yaml:4:10: status.gpus: Invalid value: 0.5: must be a whole number, 0 or more; stay within the bounds" },
    { "fewer than none", STATUS("reservations: [{stack: a/b, resources: {nvidia.com/gpu: -1}}]"),
      "in.yaml:4:50: status.reservations[0].resources[nvidia.com/gpu]: Invalid value: -1: must be a whole number, 0 or more; stay within the bounds" },
    { "a label that is no text", STATUS("labels: {gpu: true}"), "in.yaml:4:19: status.labels[gpu]: Invalid value: must be a string, not a boolean; write it in quotes" },
    { "an element that is no object", STATUS("resources: [8]"), "in.yaml:4:22: status.resources[0]: Invalid value: must be an object, not a number; write a value of the expected type" },
    { "conditions that are no list", STATUS("conditions: {}"), "in.yaml:4:10: status.conditions: Invalid value: must be a list of objects, not an object; write a list: begin each of its elements with '- '" },
    { "a slip in a field", STATUS("redy: true"), "in.yaml:4:10: status.redy: Unsupported value: unknown field (did you mean \"ready\"?); correct the name, or remove the field" },
    { "a field that nobody knows", STATUS("somethingElse: 1"),
      "in.yaml:4:10: status.somethingElse: Unsupported value: unknown field; remove it; docs/fields.md lists the fields" },
    { "a time that is none", STATUS("observedAt: yesterday"),
      "in.yaml:4:10: status.observedAt: Invalid value: \"yesterday\": must be an RFC 3339 time, like 2026-01-31T12:00:00Z; write a value of the expected type" },
    { "a status of a condition that is none", STATUS("conditions: [{type: Observed, status: 'Yes'}]"),
      "in.yaml:4:40: status.conditions[0].status: Unsupported value: \"Yes\": supported values: \"True\", \"False\", \"Unknown\"; use one of the supported values" },
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
