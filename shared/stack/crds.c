/* crds.c: Herd's kinds, for their definitions. */
#include "stack/crd.h"

static const struct status_row stack_status[] = {
#define STATUS(depth, name, kind, help) { depth, name, STATUS_##kind, help },
#include "stack/status_fields.def"
#undef STATUS
    { 0 },
};

static const struct status_row inventory_status[] = {
#define STATUS(depth, name, kind, help) { depth, name, STATUS_##kind, help },
#include "stack/inventory_fields.def"
#undef STATUS
    { 0 },
};

static const struct crd_column stack_columns[] = {
    { "Phase", "string", ".status.phase", "Pending, Deploying, Deployed, Failed or Deleting", 0 },
    { "Clusters", "integer", ".status.clusters", "How many clusters the Stack goes to", 0 },
    { "Charts", "integer", ".status.charts", "How many charts the Stack has", 0 },
    { "Age", "date", ".metadata.creationTimestamp", "", 0 },
    { "Ready", "string", ".status.ready", "Releases deployed, of all that are wanted", 1 },
    { "Scan", "string", ".status.security.scanStatus", "State of NeuVector's scan", 1 },
    { "Message", "string", ".status.message", "Why it is in that phase", 1 },
    { 0 },
};

static const struct crd_column policy_columns[] = {
    { "Action", "string", ".spec.action", "Deny, Warn or Audit", 0 },
    { "Age", "date", ".metadata.creationTimestamp", "", 0 },
    { "Description", "string", ".spec.description", "Why the policy is there", 1 },
    { 0 },
};

static const struct crd_column inventory_columns[] = {
    { "Ready", "boolean", ".status.ready", "Whether Rancher calls the cluster ready", 0 },
    { "Nodes", "integer", ".status.nodes", "How many nodes the cluster has", 0 },
    { "GPUs", "integer", ".status.gpus", "GPUs, and parts of GPUs, that the nodes offer", 0 },
    { "Promised", "integer", ".status.promisedGpus", "What of them Stacks ask for", 0 },
    { "Age", "date", ".metadata.creationTimestamp", "", 0 },
    { "Cluster", "string", ".status.displayName", "The cluster's name in Rancher", 1 },
    { "Observed", "string", ".status.conditions[?(@.type==\"Observed\")].reason",
      "Whether the nodes were read, or why not", 1 },
    { 0 },
};

const struct crd crds[] = {
    {
        .kind = "Stack",
        .plural = "stacks",
        .singular = "stack",
        .short_names = "stk",
        .namespaced = true,
        .made_from = "shared/stack/fields.def and status_fields.def",
        .help = "A Stack: Helm charts, their order and values, and the clusters they go to.",
        .spec = &fields_of_stack_spec,
        .status = stack_status,
        .status_help = "What became of it; written by herd-controller only.",
        .columns = stack_columns,
    },
    {
        .kind = "StackPolicy",
        .plural = "stackpolicies",
        .singular = "stackpolicy",
        .short_names = "stkpol",
        .namespaced = false,
        .made_from = "shared/stack/policy_fields.def",
        .help = "A StackPolicy: what a platform team asks of Stacks beyond what Herd itself does.",
        .spec = &fields_of_policy_spec,
        .columns = policy_columns,
    },
    {
        .kind = "ClusterInventory",
        .plural = "clusterinventories",
        .singular = "clusterinventory",
        .short_names = "clinv",
        .namespaced = false,
        .made_from = "shared/stack/inventory_fields.def",
        .help = "A ClusterInventory: the GPUs of a cluster, and the Stacks that they are promised "
                "to; its name is Rancher's id of the cluster.",
        .status = inventory_status,
        .status_help = "What the cluster has; written by herd-controller only.",
        .columns = inventory_columns,
    },
    { 0 },
};
