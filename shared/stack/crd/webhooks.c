/* SPDX-License-Identifier: Apache-2.0 */
/* webhooks.c: two objects, which differ in the verb alone; what they say is as for Stacks
 * (manifests/webhook/configuration.yaml). */
#include "stack/crd/webhooks.h"

#include "workload/workload_kind.h"

static const char beginning[] =
    "# Made from shared/workload/workload_kinds.def by tests/golden/generated_test.c.\n"
    "# How the API server calls the webhook for the workload kinds, as for Stacks "
    "(../../webhook/configuration.yaml): only what changes\n"
    "# the spec, labels or annotations passes here. Scaling by the scale subresource does not. "
    "cert-manager's cainjector writes caBundle.\n";

static void put_rules(struct strbuf *out)
{
    for (int i = 0; i < WORKLOAD_KIND_COUNT; i++) {
        const struct kube_resource *resource = &workload_kinds[i]->kind.resource;

        strbuf_fmt(out,
                   "      - apiGroups: [%.*s]\n"
                   "        apiVersions: [%.*s]\n"
                   "        operations: [CREATE, UPDATE]\n"
                   "        resources: [%.*s]\n"
                   "        scope: Namespaced\n",
                   STR_ARG(resource->group), STR_ARG(resource->version), STR_ARG(resource->plural));
    }
}

static void put_configuration(struct strbuf *out, const char *kind, const char *verb,
                              const char *further)
{
    strbuf_fmt(out,
               "apiVersion: admissionregistration.k8s.io/v1\n"
               "kind: %sWebhookConfiguration\n"
               "metadata:\n"
               "  name: herd-webhook-workloads\n"
               "  labels:\n"
               "    app.kubernetes.io/name: herd-webhook\n"
               "    app.kubernetes.io/part-of: herd\n"
               "  annotations:\n"
               "    cert-manager.io/inject-ca-from: herd-system/herd-webhook\n"
               "webhooks:\n"
               "  - name: %s.workloads.herd.suse.com\n"
               "    admissionReviewVersions: [v1]\n"
               "    sideEffects: None\n"
               "    failurePolicy: Fail\n"
               "    timeoutSeconds: 5\n"
               "    matchPolicy: Equivalent\n"
               "%s"
               "    clientConfig:\n"
               "      service:\n"
               "        namespace: herd-system\n"
               "        name: herd-webhook\n"
               "        path: /%s\n"
               "        port: 443\n"
               "    rules:\n",
               kind, verb, further, verb);
    put_rules(out);
    strbuf_lit(out,
               "    matchConditions:\n"
               "      - name: not-being-deleted\n"
               "        expression: \"request.operation != 'UPDATE' || "
               "!has(oldObject.metadata.deletionTimestamp)\"\n"
               "      - name: changes-what-is-validated\n"
               "        expression: >-\n"
               "          request.operation != 'UPDATE' || object.?spec != oldObject.?spec\n"
               "          || object.metadata.?labels != oldObject.metadata.?labels\n"
               "          || object.metadata.?annotations != oldObject.metadata.?annotations\n");
}

void webhooks_write(struct strbuf *out)
{
    strbuf_put(out, str_of(beginning));
    put_configuration(out, "Mutating", "mutate", "    reinvocationPolicy: IfNeeded\n");
    strbuf_lit(out, "---\n");
    put_configuration(out, "Validating", "validate", "");
}
