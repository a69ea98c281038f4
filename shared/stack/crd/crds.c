/* SPDX-License-Identifier: Apache-2.0 */
/* crds.c: Herd's kinds, for their definitions. */
#include "stack/crd/crd.h"

#include "stack/gpu/inventory.h"
#include "stack/model/scan_report.h"
#include "stack/model/status.h"
#include "stack/model/status_rows.h"
#include "stack/policy/policy_status.h"
#include "workload/abi_instance.h"
#include "workload/application.h"
#include "workload/model_server.h"

/* runtime/kind.c writes it, and nothing reads it back. */
STATUS_TABLE(kind_status, char, "What became of it; written by its controller only.")
STATUS_UNUSED(kind_status, "observedGeneration", COUNT64, NONE,
              "The metadata.generation that this status is about.")
STATUS_UNUSED(kind_status, "children", COUNTS, NONE,
              "How many objects are desired, and how many are applied.")
STATUS_UNUSED(kind_status, "conditions", CONDITIONS, FIELDS(condition),
              "Accepted: whether the spec is valid. Applied: whether all objects are as desired.")
STATUS_END(kind_status)

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
    { "Ready", "string", ".status.conditions[?(@.type==\"Ready\")].status",
      "Whether the policy is valid and applied", 0 },
    { "Action", "string", ".spec.action", "Deny, Warn or Audit", 0 },
    { "Stacks", "integer", ".status.matchingStacks", "Stacks that the policy applies to", 0 },
    { "Violating", "integer", ".status.violatingStacks", "Stacks that violate a rule of it", 0 },
    { "Age", "date", ".metadata.creationTimestamp", "", 0 },
    { "Message", "string", ".status.conditions[?(@.type==\"Ready\")].message",
      "What is wrong with the policy, if anything is", 1 },
    { "Description", "string", ".spec.description", "Why the policy is there", 1 },
    { 0 },
};

static const struct crd_column inventory_columns[] = {
    { "Ready", "boolean", ".status.ready", "Whether Rancher calls the cluster ready", 0 },
    { "Nodes", "integer", ".status.nodes", "How many nodes the cluster has", 0 },
    { "GPUs", "integer", ".status.gpus", "GPUs, and parts of GPUs, that the nodes offer", 0 },
    { "Reserved", "integer", ".status.reservedGPUs", "What of them Stacks ask for", 0 },
    { "Age", "date", ".metadata.creationTimestamp", "", 0 },
    { "Cluster", "string", ".status.displayName", "The cluster's name in Rancher", 1 },
    { "Observed", "string", ".status.conditions[?(@.type==\"Observed\")].reason",
      "Whether the nodes were read, or why not", 1 },
    { 0 },
};

static const struct crd_column scan_report_columns[] = {
    { "Critical", "integer", ".report.summary.critical", "Critical vulnerabilities", 0 },
    { "High", "integer", ".report.summary.high", "High vulnerabilities", 0 },
    { "Images", "integer", ".report.summary.images", "Images that the Stack runs", 0 },
    { "Age", "date", ".metadata.creationTimestamp", "", 0 },
    { "Medium", "integer", ".report.summary.medium", "Medium vulnerabilities", 1 },
    { "Scanned", "integer", ".report.summary.scannedImages", "Images that have been scanned", 1 },
    { "Omitted", "integer", ".report.summary.omittedFindings",
      "Vulnerabilities that are counted and not listed", 1 },
    { 0 },
};

static const struct crd_column abi_columns[] = {
    { "Phase", "string", ".status.phase",
      "Pending, Creating, Running, Updating, Failed or Terminating", 0 },
    { "Ready", "integer", ".status.readyReplicas", "Pods that are ready", 0 },
    { "Replicas", "integer", ".status.replicas", "Pods that there are", 0 },
    { "Health", "string", ".status.health.status", "Healthy, Degraded, Unhealthy or Unknown", 0 },
    { "Age", "date", ".metadata.creationTimestamp", "", 0 },
    { "Version", "string", ".status.version", "The version that runs", 1 },
    { "Message", "string", ".status.conditions[?(@.type==\"Ready\")].message",
      "Why it is not ready", 1 },
    { 0 },
};

static const struct crd_column application_columns[] = {
    { "Phase", "string", ".status.phase", "Pending, Running, Failed or Succeeded", 0 },
    { "Ready", "integer", ".status.readyReplicas", "Pods that are ready", 0 },
    { "Replicas", "integer", ".status.replicas", "Pods that there are", 0 },
    { "Age", "date", ".metadata.creationTimestamp", "", 0 },
    { "Image", "string", ".spec.image", "The container image", 1 },
    { "Message", "string", ".status.conditions[?(@.type==\"Ready\")].message",
      "Why it is not ready", 1 },
    { 0 },
};

static const struct crd_column model_columns[] = {
    { "Phase", "string", ".status.phase",
      "Pending, Creating, Running, Updating, Failed or Terminating", 0 },
    { "Ready", "integer", ".status.readyReplicas", "Pods that are ready", 0 },
    { "Replicas", "integer", ".status.replicas", "Pods that there are", 0 },
    { "Scaling", "string", ".status.scaling.reason", "Why so many replicas", 0 },
    { "Age", "date", ".metadata.creationTimestamp", "", 0 },
    { "GPU", "string", ".spec.gpuType", "GPU that the nodes have", 1 },
    { "Endpoint", "string", ".status.endpoint", "URL of the Service", 1 },
    { "Message", "string", ".status.conditions[?(@.type==\"Ready\")].message",
      "Why it is not ready", 1 },
    { 0 },
};

const struct crd crds[] = {
    {
        .group = STACK_GROUP,
        .version = STACK_VERSION,
        .kind = "Stack",
        .plural = "stacks",
        .singular = "stack",
        .short_names = "stk",
        .namespaced = true,
        .made_from = "shared/stack/model/fields.def and status_fields.def",
        .help = "A Stack: Helm charts, their order and values, and the clusters they go to.",
        .spec = &fields_of_stack_spec,
        .status = &fields_of_stack_status,
        .status_default = STACK_STATUS_DEFAULT,
        .columns = stack_columns,
    },
    {
        .group = STACK_GROUP,
        .version = STACK_VERSION,
        .kind = "StackPolicy",
        .plural = "stackpolicies",
        .singular = "stackpolicy",
        .short_names = "stkpol",
        .namespaced = false,
        .made_from = "shared/stack/model/policy_fields.def and policy_status_fields.def",
        .help = "A StackPolicy: what a platform team asks of Stacks beyond what Herd itself does.",
        .spec = &fields_of_policy_spec,
        .status = &fields_of_policy_status,
        .columns = policy_columns,
    },
    {
        .group = STACK_GROUP,
        .version = STACK_VERSION,
        .kind = "ClusterInventory",
        .plural = "clusterinventories",
        .singular = "clusterinventory",
        .short_names = "clinv",
        .namespaced = false,
        .made_from = "shared/stack/model/inventory_fields.def",
        .help = "A ClusterInventory: the GPUs of a cluster, and the Stacks that they are reserved "
                "for; its name is Rancher's id of the cluster.",
        .status = &fields_of_inventory,
        .columns = inventory_columns,
    },
    {
        .group = STACK_GROUP,
        .version = STACK_VERSION,
        .kind = "StackScanReport",
        .plural = "stackscanreports",
        .singular = "stackscanreport",
        .short_names = "ssr",
        .namespaced = true,
        .made_from = "shared/stack/model/scan_report_fields.def",
        .help = "A StackScanReport: the vulnerabilities that NeuVector found in the images of the "
                "Stack with the same name; herd-controller writes it, and it goes with its Stack.",
        .report = &fields_of_scan_report,
        .columns = scan_report_columns,
    },
    {
        .group = "abi.io",
        .version = "v1",
        .kind = "AbiInstance",
        .plural = "abiinstances",
        .singular = "abiinstance",
        .short_names = "abi",
        .namespaced = true,
        .made_from = "shared/workload/abi_instance_fields.def",
        .help = "An AbiInstance: ABI on this cluster, with its Services, volumes and autoscaling.",
        .spec = &fields_of_abi_spec,
        .status = &fields_of_abi_status,
        .columns = abi_columns,
        .scale = true,
        .workload = true,
    },
    {
        .group = "cloudnative.elide.dev",
        .version = "v1",
        .kind = "Application",
        .plural = "applications",
        .singular = "application",
        .namespaced = true,
        .made_from = "shared/workload/application_fields.def",
        .help = "An Application: an image that runs on this cluster, for good or once.",
        .spec = &fields_of_application_spec,
        .status = &fields_of_application_status,
        .columns = application_columns,
        .scale = true,
        .workload = true,
    },
    {
        .group = "herd.suse.com",
        .version = "v1",
        .kind = "ModelDeployment",
        .plural = "modeldeployments",
        .singular = "modeldeployment",
        .short_names = "mdep",
        .namespaced = true,
        .made_from = "shared/workload/model_server_fields.def and scaling_fields.def",
        .help = "A ModelDeployment: a model that is served on this cluster, by as many replicas "
                "as its SLA needs.",
        .spec = &fields_of_model_spec,
        .status = &fields_of_model_status,
        .columns = model_columns,
        .scale = true,
        .workload = true,
    },
    {
        .group = "ai.example.com",
        .version = "v1",
        .kind = "LLMModel",
        .plural = "llmmodels",
        .singular = "llmmodel",
        .short_names = "llm",
        .namespaced = true,
        .made_from = "shared/workload/model_server_fields.def and scaling_fields.def",
        .help = "An LLMModel: a language model that is served on this cluster, by as many "
                "replicas as its SLA needs.",
        .spec = &fields_of_llm_model_spec,
        .status = &fields_of_model_status,
        .columns = model_columns,
        .scale = true,
        .workload = true,
    },
    { 0 },
};
