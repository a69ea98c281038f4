/* SPDX-License-Identifier: Apache-2.0 */
/* any_policy.c: tables of members, and a choice among them. */
#include "support/rows.h"

#include "support/any_policy.h"

#include "stack/model/policy.h"
#include "stack/policy/policy_set.h"
#include "support/stack_builder.h"

#define PICK(rng, table) (table)[rng_below((rng), sizeof(table) / sizeof((table)[0]))]

static const char *const actions[] = {
    "", "\"action\":\"Deny\",", "\"action\":\"Warn\",", "\"action\":\"Audit\",", "\"action\":null,",
};

static const char *const matches[] = {
    "", "\"match\":{},", "\"match\":{\"env\":[\"prod\",\"stag*\"]},", "\"match\":{\"env\":[\"*\"]},",
    "\"match\":{\"namespaces\":[\"def*\"]},", "\"match\":{\"excludeNamespaces\":[\"default\"]},",
    "\"match\":{\"selector\":{\"matchLabels\":{\"herd.suse.com/env\":\"dev\"}}},",
    "\"match\":{\"selector\":{\"matchExpressions\":[{\"key\":\"owner\",\"operator\":\"DoesNotExist\"}]}},",
    "\"match\":{\"clusterSelector\":{\"matchLabels\":{\"env\":\"prod\"}}},",
    "\"match\":{\"clusterSelector\":{\"matchExpressions\":[{\"key\":\"gpu\",\"operator\":\"Exists\"}]}},",
    "\"match\":{\"env\":[\"dev\"],\"excludeNamespaces\":[\"kube-*\"]},",
};

/* Where a rule looks, and what it asks for there. */
static const char *const rules[] = {
    "\"field\":\"spec.charts[*].version\",\"pattern\":\"[0-9]+\\\\.[0-9]+\\\\.[0-9]+\"",
    "\"field\":\"spec.charts[*].version\",\"notPattern\":\"\\\\^.*\"",
    "\"field\":\"spec.charts[*].version\",\"pattern\":\"(a+)+b\"",
    "\"field\":\"spec.charts[*].repo\",\"allow\":[\"https://*\"]",
    "\"field\":\"spec.charts[*].repo\",\"deny\":[\"oci://*\",\"http://*\"]",
    "\"field\":\"spec.charts[*].namespace\",\"allow\":[\"${namespace}\",\"n\",\"${name}-*\"]",
    "\"field\":\"spec.charts[*].releaseName\",\"pattern\":\"[a-z]+\",\"charts\":[\"a\",\"b\"]",
    "\"field\":\"spec.charts[*].timeout\",\"maximum\":\"10m\"",
    "\"field\":\"spec.charts[*].timeout\",\"minimum\":\"6m\",\"maximum\":\"1h\"",
    "\"field\":\"spec.charts[*].wait\",\"allow\":[\"true\"]",
    "\"field\":\"spec.charts[*].dependsOn\",\"maximum\":1",
    "\"field\":\"spec.charts[*].values.inline.**[nvidia.com/gpu]\",\"maximum\":\"1\"",
    "\"field\":\"spec.charts[*].values.inline.limits\",\"presence\":\"Forbidden\"",
    "\"field\":\"spec.charts[*].values\",\"presence\":\"Required\",\"charts\":[\"gpu-*\"]",
    "\"field\":\"spec.charts\",\"maximum\":3",
    "\"field\":\"spec.env\",\"presence\":\"Required\"",
    "\"field\":\"spec.env\",\"deny\":[\"prod\"]",
    "\"field\":\"spec.security\",\"allow\":[\"enabled\"]",
    "\"field\":\"spec.securityProfile.thresholds.high\",\"maximum\":3",
    "\"field\":\"spec.observabilityProfile.dashboards[*]\",\"pattern\":\"[a-z-]+\"",
    "\"field\":\"spec.overrides\",\"presence\":\"Forbidden\"",
    "\"field\":\"spec.targets.clusterIds[*]\",\"pattern\":\"c-m-.*\"",
    "\"field\":\"spec.targets.selector.matchLabels[gpu]\",\"deny\":[\"true\"]",
    "\"field\":\"spec.retry.limit\",\"maximum\":2",
    "\"field\":\"metadata.labels[owner]\",\"presence\":\"Required\"",
    "\"field\":\"metadata.name\",\"notPattern\":\"s[0-9]+\"",
    "\"field\":\"computed.gpus\",\"maximum\":1",
    "\"requiredChart\":\"gpu-operator\"",
    "\"requiredChart\":\"b*\"",
    "\"requiredDependency\":\"a\",\"charts\":[\"b\",\"c\"]",
    "\"requiredDependency\":\"gpu-*\"",
};

/* Some of which no policy may have. */
static const char *const wrong_rules[] = {
    "\"field\":\"spec.charts[*].versoin\",\"pattern\":\"1\"",
    "\"field\":\"spec.charts[*].version\",\"pattern\":\"(\"",
    "\"field\":\"spec.charts[*].version\"",
    "\"field\":\"spec.charts[*].timeout\",\"maximum\":\"ten\"",
    "\"field\":\"spec.charts\",\"minimum\":5,\"maximum\":2",
    "\"field\":\"spec.env\",\"allow\":[\"${chart}\"]",
    "\"field\":\"spec.drift\",\"deny\":[\"ignore\"]",
    "\"field\":\"spec.paused\",\"presence\":\"Forbidden\"",
    "\"field\":\"spec.env\",\"notPattern\":\"${name}\"",
    "\"field\":\"spec.env\",\"allow\":[\"dev\"],\"deny\":[\"d*\"]",
    "\"requiredChart\":\"a\",\"requiredDependency\":\"b\"",
    "\"field\":7", "\"presence\":\"Required\"", "",
};

static const char *const words[] = {
    "", "", ",\"message\":\"${field} of ${chart} is ${value}\"", ",\"message\":\"in ${env}: ${policy}/${rule}\"",
    ",\"message\":\"not for ${namespace}/${name}\",\"remedy\":\"ask the owner of ${policy}\"",
};

static const char *const wrong_specs[] = {
    "null", "[]", "{}", "{\"rules\":[]}", "{\"rules\":[null,7]}", "{\"action\":\"deny\",\"rules\":[{}]}",
};

struct str any_policy(struct arena *arena, struct rng *rng, const char *name)
{
    bool wrong = !rng_below(rng, 6);
    uint64_t count = 1 + rng_below(rng, 4);
    struct strbuf out = strbuf_new(arena, 512);

    strbuf_fmt(&out, "{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"StackPolicy\",\"metadata\":{\"name\":\"%s\"},\"spec\":", name);
    if (wrong && !rng_below(rng, 3)) {
        strbuf_fmt(&out, "%s}", PICK(rng, wrong_specs));
        return strbuf_str(&out);
    }
    strbuf_fmt(&out, "{%s%s\"rules\":[", PICK(rng, actions), PICK(rng, matches));
    for (uint64_t i = 0; i < count; i++) {
        const char *rule = wrong && i + 1 == count ? PICK(rng, wrong_rules) : PICK(rng, rules);

        strbuf_fmt(&out, "%s{\"name\":\"r%d\"%s%s%s}", i ? "," : "", (int)(rng_below(rng, 60) ? i : 0), rule[0] ? "," : "", rule,
                   PICK(rng, words));
    }
    strbuf_lit(&out, "]}}");
    return strbuf_str(&out);
}

struct str_list any_policies(struct arena *arena, struct rng *rng, uint32_t most)
{
    struct str_list all = str_list_new(arena, most);

    for (uint64_t left = rng_below(rng, most + 1); left; left--) {
        struct str policy = any_policy(arena, rng, str_fmt(arena, "p%d", (int)left).at);

        if (policy_admit(arena, test_json(arena, policy), (struct json){ NULL, 0 }).allowed)
            str_list_push(&all, policy);
    }
    return all;
}
