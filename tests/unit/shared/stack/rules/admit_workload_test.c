/* SPDX-License-Identifier: Apache-2.0 */
/* admit_workload_test.c: what an admission finds in workloads: their kind's reader, the rules, the policies. */
#include "support/rows.h"

#include "stack/gpu/inventory.h"
#include "stack/policy/policy_results.h"
#include "stack/rules/admit_workload.h"
#include "support/stack_builder.h"
#include "text/value.h"
#include "text/patch.h"
#include "text/yaml.h"
#include "workload/abi_instance.h"
#include "workload/application.h"
#include "workload/model_server.h"

#define GOOD "image: {repository: r.io/abi, tag: 1.2.0}"
#define ABI(more)                                                                                                                          \
    "{apiVersion: abi.io/v1, kind: AbiInstance, metadata: {name: a, namespace: team-a}, spec: "                                            \
    "{" more "}}"
#define NAMED(meta) "{apiVersion: abi.io/v1, kind: AbiInstance, metadata: {" meta "}, spec: {" GOOD "}}"
#define LABELLED(labels, more)                                                                                                             \
    "{apiVersion: abi.io/v1, kind: AbiInstance, metadata: {name: a, namespace: team-a, labels: "                                           \
    "{" labels "}}, spec: {" more "}}"
#define APP(more)                                                                                                                          \
    "{apiVersion: cloudnative.elide.dev/v1, kind: Application, metadata: {name: a, namespace: "                                            \
    "team-a}, spec: {" more "}}"
#define MODEL(more)                                                                                                                        \
    "{apiVersion: herd.suse.com/v1, kind: ModelDeployment, metadata: {name: a, namespace: team-a}, spec: {" more "}}"
#define GPUS(count) GOOD ", features: {gpu: true}, gpu: {count: " count "}"
#define POLICY(kinds, rule)                                                                                                                \
    "{apiVersion: herd.suse.com/v1, kind: StackPolicy, metadata: {name: p}, spec: {" kinds "rules: [{name: r, " rule "}]}}"
#define OF_ABI "match: {kinds: [AbiInstance]}, "
#define OF_ALL "match: {kinds: [Stack, AbiInstance, Application]}, "

static struct json yaml(struct arena *arena, const char *text)
{
    struct yaml_documents documents;
    struct error err = { 0 };

    if (!text)
        return (struct json){ NULL, 0 };
    if (yaml_read(arena, str_of(text), &documents, &err) != 0)
        fail_msg("%s\n%s", err.text, text);
    return test_json(arena, documents.items[0].json);
}

/* `offers`: the status of the ClusterInventory local; NULL = there is none. */
static struct facts facts_with(struct arena *arena, const char *offers, const struct policy_set *policies)
{
    struct facts facts = { .clusters_known = true, .inventories_kept = true, .policies = policies };
    struct inventory *inventory = arena_new(arena, struct inventory);

    facts.clusters = fact_clusters_new(arena, 1);
    if (offers)
        *inventory = inventory_read(arena, yaml(arena, str_z(arena, str_fmt(arena, "{metadata: {name: local}, status: {%s}}", offers))));
    fact_clusters_push(&facts.clusters,
                       (struct fact_cluster){ .id = LOCAL_CLUSTER, .internal = true, .inventory = offers ? inventory : NULL });
    return facts;
}

static struct policy_set *policy_of(struct arena *arena, const char *policy)
{
    struct policy_set_builder *builder = policy_set_begin();
    struct problems problems = problems_new(arena);

    if (policy && !policy_set_add(builder, yaml(arena, policy), &problems))
        fail_msg("%s", findings_text(arena, &problems).at);
    return policy_set_finish(builder);
}

static struct verdict admit(struct arena *arena, const char *object, const char *old, const struct facts *facts)
{
    struct rule_severities severities = rule_severities_default();
    struct json json = yaml(arena, object);
    static const struct workload_kind *const kinds[] = { &abi_instance_kind, &application_kind, &model_deployment_kind };
    size_t kind = 0;

    while (!str_eq(kinds[kind]->kind.resource.kind, json_str(json_get(json, STR("kind")))))
        kind++;
    return workload_admit(arena, kinds[kind], json, yaml(arena, old), facts, &severities);
}

#define NODES(allocatable, free, node, reserved)                                                                                           \
    "resources: [{name: nvidia.com/gpu, allocatable: " allocatable ", schedulable: " free ", largestNode: " node ", reserved: " reserved   \
    "}], "
#define READ "conditions: [{type: Observed, status: 'True', reason: NodesRead}]"
#define LOST "conditions: [{type: Observed, status: Unknown, reason: Disconnected}]"

static const struct {
    const char *says, *object, *offers, *found, *message;
} rows[] = {
    { "a good one", ABI(GOOD), NULL, "", NULL },
    { "a good one of another kind", APP("image: 'r.io/app:1'"), NULL, "", NULL },
    { "by its digest", APP("image: 'app@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef'"), NULL, "", NULL },
    { "no spec at all", "{apiVersion: abi.io/v1, kind: AbiInstance, metadata: {name: a}}", NULL, "!shape.required spec", NULL },
    { "an unknown field, and where the fields stand", ABI(GOOD ", zzzzzz: 1"), NULL, "!shape.unknown-field spec.zzzzzz",
      "remove it; `kubectl explain abiinstances.spec --api-version=abi.io/v1` lists the fields" },
    { "a slip", ABI(GOOD ", replica: 1"), NULL, "!shape.unknown-field spec.replica", "did you mean \"replicas\"?" },
    { "an image of the wrong type is told once", ABI("image: 3, resources: 4"), NULL, "!shape.type spec.image; !shape.type spec.resources",
      NULL },
    { "a wrong type", APP("image: 'a:1', replicas: three"), NULL, "!shape.type spec.replicas", NULL },
    { "all at once", APP("image: A, replicas: three, strategy: Fast"), NULL,
      "!workload.image spec.image; !shape.type spec.replicas; !shape.enum spec.strategy", NULL },
    { "a kind of its group that it is not", "{apiVersion: abi.io/v2, kind: AbiInstance, metadata: {name: a}, spec: {" GOOD "}}", NULL,
      "!shape.kind apiVersion", NULL },
    { "what the kind finds by itself has a rule", ABI(GOOD ", autoscaling: {enabled: true, minReplicas: 5, maxReplicas: 2}"), NULL,
      "!workload.invalid spec.autoscaling.minReplicas", "5: it is above maxReplicas, 2" },
    { "a name that Services cannot have", NAMED("name: 1a"), NULL, "!workload.name metadata.name", NULL },
    { "a name that nothing can have is told once", NAMED("name: A_"), NULL, "!shape.metadata metadata.name", NULL },
    { "a name that is to be made", NAMED("generateName: abi-"), NULL, "", NULL },
    { "a made name of 52", NAMED("generateName: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"), NULL, "", NULL },
    { "a made name of 53", NAMED("generateName: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"), NULL,
      "!workload.name metadata.generateName", NULL },
    { "no name", NAMED("namespace: x"), NULL, "!shape.metadata metadata.name", NULL },
    { "a label that is none", LABELLED("a: b c", GOOD), NULL, "!shape.metadata metadata.labels[a]", NULL },
    { "no tag is latest", APP("image: r.io/app"), NULL, "workload.image-tag spec.image", "without a tag it is latest" },
    { "the default is latest, too", ABI("replicas: 1"), NULL, "workload.image-tag spec.image", "\"ghcr.io/abi/abi:latest\"" },
    { "an image of two fields", ABI("image: {repository: r/X, tag: '1'}"), NULL, "!workload.image spec.image",
      "\"r/X:1\": each part of its name" },
    { "a request above its limit", ABI(GOOD ", resources: {requests: {cpu: 1500m}, limits: {cpu: 1}}"), NULL,
      "!workload.resources spec.resources.requests.cpu", "\"1500m\": must be no more than the limit, 1" },
    { "a request at its limit", ABI(GOOD ", resources: {requests: {cpu: 1000m}, limits: {cpu: 1}}"), NULL, "", NULL },
    { "a request without a limit", ABI(GOOD ", resources: {requests: {cpu: 4}}"), NULL, "", NULL },
    { "no quantities", ABI(GOOD ", resources: {requests: {cpu: one, memory: -1}, limits: [1]}"), NULL,
      "!workload.resources spec.resources.limits; !workload.resources spec.resources.requests.cpu; "
      "!workload.resources spec.resources.requests.memory",
      NULL },
    { "members that resources do not have", ABI(GOOD ", resources: {memory: 1Gi}"), NULL, "!workload.resources spec.resources.memory",
      "supported fields: \"requests\", \"limits\"" },
    { "half a GPU", ABI(GOOD ", resources: {limits: {nvidia.com/gpu: 0.5}}"), NULL, "!gpu.quantity spec.resources.limits[nvidia.com/gpu]",
      NULL },
    { "requests and limits of GPUs differ", ABI(GOOD ", resources: {requests: {nvidia.com/gpu: 1}, limits: {nvidia.com/gpu: 2}}"), NULL,
      "!gpu.requests-limits spec.resources.requests[nvidia.com/gpu]", NULL },
    { "of a cluster without an inventory nothing is said", ABI(GPUS("64")), NULL, "", NULL },
    { "GPUs that there are", ABI(GPUS("4")), NODES("8", "8", "4", "0") READ, "", NULL },
    { "no GPUs of that vendor", ABI(GPUS("1")), READ, "!gpu.not-offered spec.gpu",
      "\"nvidia.com/gpu\": no node of this cluster has NVIDIA GPUs" },
    { "more than any node has", ABI(GPUS("5")), NODES("8", "8", "4", "0") READ, "!gpu.fit spec.gpu", "no node of local has more than 4" },
    { "more than all nodes have", ABI(GPUS("4") ", replicas: 3"), NODES("8", "8", "4", "0") READ, "!gpu.fit spec.gpu",
      "all pods together ask for 12 nvidia.com/gpu; local has 8" },
    { "with as many pods as the autoscaler may make", ABI(GPUS("4") ", autoscaling: {enabled: true, maxReplicas: 3}"),
      NODES("8", "8", "4", "0") READ, "!gpu.fit spec.gpu", "ask for 12" },
    { "GPUs among the limits", ABI(GOOD ", replicas: 3, resources: {limits: {nvidia.com/gpu: 4}}"), NODES("8", "8", "4", "0") READ,
      "!gpu.fit spec.resources", "ask for 12" },
    { "GPUs of no pods", ABI(GPUS("9") ", replicas: 0"), NODES("8", "8", "8", "0") READ, "!gpu.fit spec.gpu", "one pod asks for 9" },
    { "GPUs that Stacks have", ABI(GPUS("4")), NODES("8", "8", "4", "6") READ, "gpu.busy spec.gpu", "all pods together ask for 4" },
    { "GPUs that nobody could count", ABI(GPUS("4")), LOST, "gpu.unknown spec.gpu", "local (Disconnected)" },
    { "GPUs that are not asked for", ABI(GOOD ", gpu: {count: 9}"), NODES("8", "8", "8", "0") READ, "", NULL },
    { "a port that is another port, too", ABI(GOOD ", networking: {httpPort: 9091, grpcPort: 9091}"), NULL, "!workload.invalid spec.networking.grpcPort; !workload.invalid spec.networking.metricsPort",
      "Duplicate value: 9091: httpPort is the same; give each port" },
    { "a port that its features leave out is no port", ABI(GOOD ", features: {web: false}, networking: {httpPort: 9091}"), NULL, "",
      NULL },
    { "a setting that no ConfigMap takes", ABI(GOOD ", config: {a b: x, ok-1.x_Y: v, ..c: z}"), NULL, "!workload.form spec.config[..c]; !workload.form spec.config[a b]",
      "\"a b\": must consist of letters" },
    { "a setting in an Application", APP("image: 'r.io/app:1', config: {a/b: x}"), NULL, "!workload.form spec.config[a/b]",
      "\"a/b\": must consist" },
    { "a setting that is no variable everywhere", ABI(GOOD ", config: {2nd: x}"), NULL, "workload.env-name spec.config[2nd]",
      "\"2nd\": must not begin with a digit; begin its name" },
    { "settings that are variables", APP("image: 'r.io/app:1', config: {a-b.c: x, _d: z}"), NULL, "",
      NULL },
    { "a volume of -5Gi", ABI(GOOD ", storage: {enabled: true, size: '-5Gi'}"), NULL, "!workload.form spec.storage.size",
      "must be a quantity above 0; write a quantity such as" },
    { "a volume of 0", ABI(GOOD ", storage: {enabled: true, size: '0'}"), NULL, "!workload.form spec.storage.size",
      "must be a quantity above 0; write a quantity such as" },
    { "a volume of 0", ABI(GOOD ", storage: {enabled: true, size: 0}"), NULL, "!workload.form spec.storage.size",
      "must be a quantity above 0; write a quantity such as" },
    { "a volume of -1", ABI(GOOD ", storage: {enabled: true, size: -1}"), NULL, "!workload.form spec.storage.size",
      "must be a quantity above 0; write a quantity such as" },
    { "a volume of banana", ABI(GOOD ", storage: {enabled: true, size: banana}"), NULL, "!workload.form spec.storage.size",
      "must be a quantity above 0; write a quantity such as" },
    { "volumes of whole bytes, and more", ABI(GOOD ", storage: {enabled: true, size: 1000000}"), NULL, "",
      NULL },
    { "memory of GPUs that is no quantity", ABI(GOOD ", gpu: {memory: banana}"), NULL, "!workload.form spec.gpu.memory",
      "\"banana\": must be a quantity above 0" },
    { "a mount at data", ABI(GOOD ", storage: {mountPath: 'data'}"), NULL, "!workload.form spec.storage.mountPath",
      "write an absolute path" },
    { "a mount at /a:b", ABI(GOOD ", storage: {mountPath: '/a:b'}"), NULL, "!workload.form spec.storage.mountPath",
      "write an absolute path" },
    { "a mount at /", ABI(GOOD ", storage: {mountPath: '/'}"), NULL, "!workload.form spec.storage.mountPath",
      "write an absolute path" },
    { "a StorageClass that cannot be", ABI(GOOD ", storage: {storageClass: Fast_1}"), NULL, "!workload.form spec.storage.storageClass",
      "lower case letters" },
    { "credentials that cannot be", ABI("image: {repository: r.io/abi, tag: 1.2.0, pullSecrets: [ok.name, Not_OK]}"), NULL, "!workload.form spec.image.pullSecrets[1]",
      "lower case letters" },
    { "credentials twice", ABI("image: {repository: r.io/abi, tag: 1.2.0, pullSecrets: [a, b, a, a]}"), NULL, "!workload.invalid spec.image.pullSecrets[2]; !workload.invalid spec.image.pullSecrets[3]",
      "Duplicate value: \"a\"" },
    { "an API key of which nothing can be", ABI(GOOD ", secrets: {apiKeys: [{name: 1A, secretName: A_, key: a/b}]}"), NULL, "!workload.form spec.secrets.apiKeys[0].key; !workload.form spec.secrets.apiKeys[0].name; !workload.form spec.secrets.apiKeys[0].secretName",
      "name an environment variable" },
    { "an API key twice", ABI(GOOD ", secrets: {apiKeys: [{name: A, secretName: s, key: k}, {name: A, secretName: s, key: l}]}"), NULL, "!workload.invalid spec.secrets.apiKeys",
      "Duplicate value: \"A\"; choose a name" },
    { "an API key in a variable that Herd sets", ABI(GOOD ", secrets: {apiKeys: [{name: ABI_FEATURE_AI, secretName: s, key: k}]}"), NULL, "!workload.invalid spec.secrets.apiKeys",
      "Duplicate value: \"ABI_FEATURE_AI\"" },
    { "the same name in a variable that is not set", ABI(GOOD ", secrets: {apiKeys: [{name: ABI_LLM_MODEL, secretName: s, key: k}]}"), NULL, "",
      NULL },
    { "a budget of half", ABI(GOOD ", highAvailability: {podDisruptionBudget: {minAvailable: 'half'}}"), NULL, "!workload.form spec.highAvailability.podDisruptionBudget.minAvailable",
      "write a number such as 3, or a percentage" },
    { "a budget of 150%", ABI(GOOD ", highAvailability: {podDisruptionBudget: {minAvailable: '150%'}}"), NULL, "!workload.form spec.highAvailability.podDisruptionBudget.minAvailable",
      "write a number such as 3, or a percentage" },
    { "a budget of -1", ABI(GOOD ", highAvailability: {podDisruptionBudget: {minAvailable: -1}}"), NULL, "!workload.form spec.highAvailability.podDisruptionBudget.minAvailable",
      "write a number such as 3, or a percentage" },
    { "a budget of 1%%", ABI(GOOD ", highAvailability: {podDisruptionBudget: {minAvailable: '1%%'}}"), NULL, "!workload.form spec.highAvailability.podDisruptionBudget.minAvailable",
      "write a number such as 3, or a percentage" },
    { "a budget of 1.5", ABI(GOOD ", highAvailability: {podDisruptionBudget: {minAvailable: '1.5'}}"), NULL, "!workload.form spec.highAvailability.podDisruptionBudget.minAvailable",
      "write a number such as 3, or a percentage" },
    { "the other bound of a budget", ABI(GOOD ", highAvailability: {podDisruptionBudget: {maxUnavailable: half}}"), NULL, "!workload.form spec.highAvailability.podDisruptionBudget.maxUnavailable",
      NULL },
    { "a budget of 0 is one", ABI(GOOD ", highAvailability: {enabled: true, podDisruptionBudget: {maxUnavailable: 0}}"), NULL, "",
      NULL },
    { "a budget of 0 is one", ABI(GOOD ", highAvailability: {enabled: true, podDisruptionBudget: {maxUnavailable: '0'}}"), NULL, "",
      NULL },
    { "a budget of 2 is one", ABI(GOOD ", highAvailability: {enabled: true, podDisruptionBudget: {maxUnavailable: '2'}}"), NULL, "",
      NULL },
    { "a budget of 0% is one", ABI(GOOD ", highAvailability: {enabled: true, podDisruptionBudget: {maxUnavailable: '0%'}}"), NULL, "",
      NULL },
    { "a budget of 100% is one", ABI(GOOD ", highAvailability: {enabled: true, podDisruptionBudget: {maxUnavailable: '100%'}}"), NULL, "",
      NULL },
    { "a resource that containers do not have", ABI(GOOD ", resources: {limits: {mem: 1Gi, example.com/fpga: 1, hugepages-2Mi: 4Mi, a b/c: 1}}"), NULL, "!workload.resources spec.resources.limits.a b/c; !workload.resources spec.resources.limits.mem",
      "\"mem\": must be a standard resource for containers; write cpu" },
    { "a device without a limit", ABI(GOOD ", resources: {requests: {example.com/fpga: 1, hugepages-2Mi: 4Mi, cpu: 1}}"), NULL,
      "!workload.resources spec.resources.requests.hugepages-2Mi; !workload.resources spec.resources.requests[example.com/fpga]",
      "1: has no limit; write the same under limits" },
    { "a device whose limit is another", ABI(GOOD ", resources: {requests: {example.com/fpga: 1}, limits: {example.com/fpga: 2}}"), NULL,
      "!workload.resources spec.resources.requests[example.com/fpga]", "1: must be equal to the limit, 2" },
    { "GPUs without a limit", ABI(GOOD ", resources: {requests: {nvidia.com/gpu: 1}}"), NULL,
      "gpu.limits-missing spec.resources.requests[nvidia.com/gpu]; !workload.resources spec.resources.requests[nvidia.com/gpu]",
      "1: has no limit" },
    { "the GPU of no node", MODEL("model: m, image: 'r.io/m:1', gpuType: NVIDIA H100, sla: {profiles: [{gpuType: -x, serviceRate: 1}]}"), NULL, "!workload.form spec.gpuType; !workload.form spec.sla.profiles[0].gpuType",
      "write it as the nodes' label has it" },
    { "a GPU of which nothing is known", MODEL("model: m, image: 'r.io/m:1', gpuType: Tesla-T4"), NULL, "",
      NULL },
    { "a model is told the same", MODEL("model: m, image: 'r.io/m:1', config: {a b: x}, storage: {size: banana, storageClass: A, mountPath: a}, secrets: {apiKeys: [{name: 1A, secretName: s, key: k}]}"), NULL, "!workload.form spec.config[a b]; !workload.form spec.secrets.apiKeys[0].name; !workload.form spec.storage.mountPath; !workload.form spec.storage.size; !workload.form spec.storage.storageClass",
      NULL },
    { "a volume where processes share memory", MODEL("model: m, image: 'r.io/m:1', tensorParallelSize: 2, storage: {enabled: true, mountPath: /dev/shm}"), NULL, "!workload.invalid spec.storage.mountPath",
      "choose another path" },
    { "a volume where nobody shares memory", MODEL("model: m, image: 'r.io/m:1', storage: {enabled: true, mountPath: /dev/shm}"), NULL, "",
      NULL },
    { "a latency of no request", MODEL("model: m, image: 'r.io/m:1', sla: {percentile: 0}"), NULL, "!shape.bounds spec.sla.percentile",
      "0: must be 1 to 100" },
};

static void expect_message(struct arena *arena, const char *says, const struct problems *problems, const char *message)
{
    struct strbuf all = strbuf_new(arena, 256);

    for (uint32_t i = 0; i < problems->list.count; i++)
        strbuf_fmt(&all, "%.*s; %.*s\n", STR_ARG(problems->list.items[i].message), STR_ARG(problems->list.items[i].remedy));
    rows_expect(says, str_find(strbuf_str(&all), str_of(message), 0) >= 0, str_z(arena, strbuf_str(&all)));
}

static void finds_what_is_wrong(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct facts facts = facts_with(arena, rows[i].offers, NULL);
        struct verdict verdict = admit(arena, rows[i].object, NULL, &facts);

        rows_expect_str(rows[i].says, findings_text(arena, &verdict.problems), str_of(rows[i].found));
        rows_expect(rows[i].says, verdict.allowed == !strchr(rows[i].found, '!'), "it is allowed, or not");
        rows_expect(rows[i].says, verdict.allowed || !verdict.patch.len, "a rejection has no patch");
        if (rows[i].message)
            expect_message(arena, rows[i].says, &verdict.problems, rows[i].message);
    }
}

static const struct {
    const char *says, *object, *policy, *found, *message;
} policy_rows[] = {
    { "a policy is about Stacks unless it says more", ABI(GOOD), POLICY("", "field: 'metadata.labels[team]', presence: Required"), "",
      NULL },
    { "a label", ABI(GOOD), POLICY(OF_ABI, "field: 'metadata.labels[team]', presence: Required"), "!policy/p/r metadata.labels[team]",
      NULL },
    { "of another kind", APP("image: 'a:1'"), POLICY(OF_ABI, "field: 'metadata.labels[team]', presence: Required"), "", NULL },
    { "of all kinds", APP("image: 'a:1'"), POLICY(OF_ALL, "field: 'metadata.labels[team]', presence: Required"),
      "!policy/p/r metadata.labels[team]", NULL },
    { "a field, after defaults", ABI(GOOD), POLICY(OF_ABI, "field: spec.networking.serviceType, deny: [ClusterIP]"),
      "!policy/p/r spec.networking.serviceType", NULL },
    { "a member of what is free", ABI(GOOD ", resources: {limits: {memory: 64Gi}}"),
      POLICY(OF_ABI, "field: spec.resources.limits.memory, maximum: 32Gi"), "!policy/p/r spec.resources.limits.memory", NULL },
    { "the elements of a list",
      ABI(GOOD ", secrets: {apiKeys: [{name: A, secretName: s, key: k}, {name: B, secretName: t, "
               "key: k}]}"),
      POLICY(OF_ABI, "field: 'spec.secrets.apiKeys[*].secretName', deny: [t]"), "!policy/p/r spec.secrets.apiKeys[1].secretName", NULL },
    { "the image, however a kind spells it", ABI(GOOD),
      POLICY("match: {kinds: [AbiInstance, Application]}, ", "field: computed.image, allow: ['registry.suse.com/*']"),
      "!policy/p/r spec.image", "\"r.io/abi:1.2.0\": supported values: \"registry.suse.com/*\" (StackPolicy p)" },
    { "and in the other kind", APP("image: 'registry.suse.com/a:1'"),
      POLICY("match: {kinds: [AbiInstance, Application]}, ", "field: computed.image, allow: ['registry.suse.com/*']"), "", NULL },
    { "GPUs, as of Stacks", ABI(GPUS("4") ", replicas: 3"), POLICY(OF_ALL, "field: computed.gpus, maximum: 8"), "!policy/p/r spec.gpu",
      "12: the number of GPUs on one cluster must be less than or equal to 8" },
    { "pods that an autoscaler may make", ABI(GOOD ", autoscaling: {enabled: true, maxReplicas: 9}"),
      POLICY(OF_ABI, "field: computed.replicas, maximum: 8"), "!policy/p/r spec.replicas", "9: the number of pods must be" },
    { "an env by its label", LABELLED("herd.suse.com/env: prod", GOOD),
      POLICY("match: {kinds: [AbiInstance], env: [prod]}, ", "field: metadata.name, deny: ['*']"), "!policy/p/r metadata.name", NULL },
    { "another env", LABELLED("herd.suse.com/env: dev", GOOD),
      POLICY("match: {kinds: [AbiInstance], env: [prod]}, ", "field: metadata.name, deny: ['*']"), "", NULL },
    { "a namespace, and its word", ABI(GOOD),
      POLICY("match: {kinds: [AbiInstance], namespaces: [team-*]}, ", "field: computed.image, allow: ['r.io/${namespace}/*']"),
      "!policy/p/r spec.image", "r.io/team-a/*" },
    { "an excluded namespace", ABI(GOOD),
      POLICY("match: {kinds: [AbiInstance], excludeNamespaces: [team-a]}, ", "field: metadata.name, deny: ['*']"), "", NULL },
    { "a selector", LABELLED("tier: gold", GOOD),
      POLICY("match: {kinds: [AbiInstance], selector: {matchLabels: {tier: gold}}}, ", "field: metadata.name, deny: ['*']"),
      "!policy/p/r metadata.name", NULL },
    { "a warning", ABI(GOOD), POLICY(OF_ABI "action: Warn, ", "field: metadata.name, deny: [a]"), "policy/p/r metadata.name", NULL },
};

static void every_rule_has_a_row(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf met = strbuf_new(arena, 4096);

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        strbuf_fmt(&met, "%s ", rows[i].found);
    for (int i = 0; i < RULE_COUNT; i++)
        if (strcmp(rule_of((enum rule_id)i)->area, "workload") == 0)
            rows_expect(rule_of((enum rule_id)i)->name, str_find(strbuf_str(&met), str_of(rule_of((enum rule_id)i)->name), 0) >= 0,
                        "a row finds it");
}

static void policies_apply_to_workloads(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(policy_rows) / sizeof(policy_rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        AUTO(policy_set_unref) struct policy_set *set = policy_of(arena, policy_rows[i].policy);
        struct facts facts = facts_with(arena, NULL, set);
        struct verdict verdict = admit(arena, policy_rows[i].object, NULL, &facts);

        rows_expect_str(policy_rows[i].says, findings_text(arena, &verdict.problems), str_of(policy_rows[i].found));
        if (policy_rows[i].message)
            expect_message(arena, policy_rows[i].says, &verdict.problems, policy_rows[i].message);
    }
}

/* For metrics: the policies that are about an object, whether it keeps them or not. */
static void outcomes_are_of_the_policies_of_the_kind(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct policy_set_builder *builder = policy_set_begin();
    struct problems problems = problems_new(arena);
    struct strbuf text = strbuf_new(arena, 64);

    (void)state;
    policy_set_add(builder,
                   yaml(arena, "{apiVersion: herd.suse.com/v1, kind: StackPolicy, metadata: {name: of-stacks}, "
                               "spec: {rules: [{name: r, field: metadata.name, deny: [a]}]}}"),
                   &problems);
    policy_set_add(builder,
                   yaml(arena, "{apiVersion: herd.suse.com/v1, kind: StackPolicy, metadata: {name: broken}, spec: "
                               "{match: "
                               "{kinds: [AbiInstance]}, rules: [{name: r, field: metadata.name, deny: [a]}]}}"),
                   &problems);
    policy_set_add(builder,
                   yaml(arena, "{apiVersion: herd.suse.com/v1, kind: StackPolicy, metadata: {name: kept}, spec: "
                               "{match: "
                               "{kinds: [Stack, AbiInstance]}, rules: [{name: r, field: metadata.name, deny: [b]}]}}"),
                   &problems);

    AUTO(policy_set_unref) struct policy_set *set = policy_set_finish(builder);
    struct facts facts = facts_with(arena, NULL, set);
    struct verdict verdict = admit(arena, ABI(GOOD), NULL, &facts);
    struct policy_outcomes outcomes = policy_outcomes_of_workload(arena, set, verdict.workload, &verdict.problems);

    for (uint32_t i = 0; i < outcomes.count; i++)
        strbuf_fmt(&text, "%.*s %s; ", STR_ARG(outcomes.items[i].policy), policy_outcome_name(outcomes.items[i].severity));
    rows_expect_str("outcomes", strbuf_str(&text), STR("broken deny; kept pass; "));
}

static const struct {
    const char *says, *policy, *found, *message;
} bad_policy_rows[] = {
    { "a kind that is none", POLICY("match: {kinds: [Stack, Pod]}, ", "field: metadata.name, deny: [x]"),
      "!policy.kind spec.match.kinds[1]", "\"Pod\": supported values: \"Stack\", \"AbiInstance\"" },
    { "no kinds", POLICY("match: {kinds: []}, ", "field: metadata.name, deny: [x]"), "!shape.required spec.match.kinds", NULL },
    { "a field of Stacks", POLICY(OF_ABI, "field: spec.env, deny: [x]"), "!policy.field spec.rules[0].field",
      "must be a field of an AbiInstance: unknown field \"env\"" },
    { "a field that not all have", POLICY(OF_ALL, "field: spec.replicas, maximum: 3"), "!policy.field spec.rules[0].field",
      "must be a field of a Stack" },
    { "one name of several types", POLICY("match: {kinds: [AbiInstance, Application]}, ", "field: spec.image, presence: Required"),
      "!policy.field spec.rules[0].field", "must be of one type in all kinds" },
    { "what Stacks do not have computed", POLICY(OF_ALL, "field: computed.image, deny: [x]"), "!policy.field spec.rules[0].field",
      "must be a field of a Stack: supported fields of computed: gpus;" },
    { "what nothing has computed", POLICY(OF_ABI, "field: computed.x, deny: [x]"), "!policy.field spec.rules[0].field",
      "supported fields of computed: gpus, image, replicas" },
    { "charts", POLICY(OF_ABI, "requiredChart: x"), "!policy.kind spec.rules[0]", "only Stacks have charts" },
    { "clusters", POLICY("match: {kinds: [AbiInstance], clusterSelector: {matchLabels: {a: b}}}, ", "field: metadata.name, deny: [x]"),
      "!policy.kind spec.match.clusterSelector", "only Stacks have target clusters" },
    { "a word that the field never has", POLICY(OF_ABI, "field: spec.networking.serviceType, deny: [Nodeport]"),
      "!policy.never spec.rules[0].deny[0]", "did you mean \"NodePort\"?" },
    { "a bound of a text", POLICY(OF_ABI, "field: computed.image, maximum: 3"), "!policy.check spec.rules[0].field", NULL },
};

static void policies_that_could_not_apply_are_rejected(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad_policy_rows) / sizeof(bad_policy_rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct verdict verdict = policy_admit(arena, yaml(arena, bad_policy_rows[i].policy), (struct json){ NULL, 0 });

        rows_expect_str(bad_policy_rows[i].says, findings_text(arena, &verdict.problems), str_of(bad_policy_rows[i].found));
        if (bad_policy_rows[i].message)
            expect_message(arena, bad_policy_rows[i].says, &verdict.problems, bad_policy_rows[i].message);
    }
}

#define WRONG "image: {repository: r/X}, resources: {requests: {cpu: 2}, limits: {cpu: 1}}"
#define TEAM POLICY(OF_ABI, "field: 'metadata.labels[team]', presence: Required")

static const struct {
    const char *says, *object, *old, *policy, *found;
} update_rows[] = {
    { "what was wrong before only warns", ABI(WRONG ", replicas: 2"), ABI(WRONG), NULL,
      "workload.image spec.image; workload.resources spec.resources.requests.cpu" },
    { "what comes to be wrong is denied", ABI(WRONG), ABI("image: {repository: r/X}"), NULL,
      "workload.image spec.image; !workload.resources spec.resources.requests.cpu" },
    { "what is wrong in other words is denied", ABI("image: {repository: s/X}"), ABI("image: {repository: r/X}"), NULL,
      "!workload.image spec.image" },
    { "a default that is written out is no change", ABI("image: {repository: r/X, tag: latest}"), ABI("image: {repository: r/X}"), NULL,
      "workload.image spec.image" },
    { "nothing of the spec is denied where only metadata changes", LABELLED("a: b", GOOD ", z: 1"), LABELLED("a: b", GOOD ", z: 1"), NULL,
      "shape.unknown-field spec.z" },
    { "what the kind itself finds, too", ABI(GOOD ", replicas: 3, autoscaling: {enabled: true, minReplicas: 5, maxReplicas: 2}"),
      ABI(GOOD ", autoscaling: {enabled: true, minReplicas: 5, maxReplicas: 2}"), NULL, "workload.invalid spec.autoscaling.minReplicas" },
    { "a policy that came later only warns", ABI(GOOD ", replicas: 2"), ABI(GOOD), TEAM, "policy/p/r metadata.labels[team]" },
    { "a label that is taken away", ABI(GOOD), LABELLED("team: x", GOOD), TEAM, "!policy/p/r metadata.labels[team]" },
};

static void an_update_may_keep_what_was_there(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(update_rows) / sizeof(update_rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        AUTO(policy_set_unref) struct policy_set *set = policy_of(arena, update_rows[i].policy);
        struct facts facts = facts_with(arena, NULL, set);
        struct verdict verdict = admit(arena, update_rows[i].object, update_rows[i].old, &facts);

        rows_expect_str(update_rows[i].says, findings_text(arena, &verdict.problems), str_of(update_rows[i].found));
    }
}

static void the_configuration_may_change_rules_but_not_what_the_reader_denies(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct facts facts = facts_with(arena, NULL, NULL);
    struct rule_severities severities = rule_severities_default();
    struct verdict verdict;

    (void)state;
    severities.of[RULE_WORKLOAD_IMAGE] = SEVERITY_WARN;
    severities.of[RULE_WORKLOAD_RESOURCES] = SEVERITY_OFF;
    severities.of[RULE_SHAPE_UNKNOWN_FIELD] = SEVERITY_OFF;
    verdict = workload_admit(arena, &abi_instance_kind, yaml(arena, ABI(WRONG ", z: 1")), (struct json){ NULL, 0 }, &facts, &severities);
    rows_expect_str("severities", findings_text(arena, &verdict.problems), STR("workload.image spec.image; !shape.unknown-field spec.z"));
}

/* Of every kind: its defaults as a patch, and after it none is left. */
static void defaults_are_a_patch(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct facts facts = facts_with(arena, NULL, NULL);
    struct json object = yaml(arena, ABI("image: {repository: r.io/abi}, replicas: 3"));
    struct verdict verdict = admit(arena, ABI("image: {repository: r.io/abi}, replicas: 3"), NULL, &facts);
    struct value *document, *result;
    struct error err = { 0 };
    struct rule_severities severities = rule_severities_default();

    (void)state;
    rows_expect_str("only what is absent, in objects that are there", verdict.patch,
                    STR("[{\"op\":\"add\",\"path\":\"/spec/image/tag\",\"value\":\"latest\"},"
                        "{\"op\":\"add\",\"path\":\"/spec/image/pullPolicy\",\"value\":\"IfNotPresent\"}]"));
    assert_int_equal(value_read(arena, json_raw(object), &json_limits_default, &document, &err), 0);
    assert_int_equal(patch_apply(arena, document, verdict.patch, &result, &err), 0);
    verdict = workload_admit(arena, &abi_instance_kind, test_json(arena, value_json(arena, result)), (struct json){ NULL, 0 }, &facts,
                             &severities);
    rows_expect_str("a second time nothing", verdict.patch, STR(""));
    verdict = admit(arena, APP("image: 'a:1'"), NULL, &facts);
    rows_expect_str("of another kind", verdict.patch,
                    STR("[{\"op\":\"add\",\"path\":\"/spec/replicas\",\"value\":1},"
                        "{\"op\":\"add\",\"path\":\"/spec/strategy\",\"value\":\"RollingUpdate\"}]"));
    verdict = admit(arena, APP("image: 'a:1'"), APP("image: 'a:1'"), &facts);
    rows_expect_str("none to a spec that is stored so", verdict.patch, STR(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_is_wrong),
        cmocka_unit_test(every_rule_has_a_row),
        cmocka_unit_test(policies_apply_to_workloads),
        cmocka_unit_test(outcomes_are_of_the_policies_of_the_kind),
        cmocka_unit_test(policies_that_could_not_apply_are_rejected),
        cmocka_unit_test(an_update_may_keep_what_was_there),
        cmocka_unit_test(the_configuration_may_change_rules_but_not_what_the_reader_denies),
        cmocka_unit_test(defaults_are_a_patch),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
