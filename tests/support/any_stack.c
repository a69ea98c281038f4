/* SPDX-License-Identifier: Apache-2.0 */
/* any_stack.c: tables of members, and a choice among them. */
#include "support/any_stack.h"

#include <inttypes.h>

/* Mostly right, now and then wrong, sometimes of another type. */
static const struct {
    const char *name, *values[5];
    uint32_t percent; /* of documents that have it */
} members[] = {
    { "env", { "\"dev\"", "\"prod\"", "\"staging\"", "\"a b\"", "7" }, 40 },
    { "security", { "\"enabled\"", "\"disabled\"", "null", "\"on\"", "true" }, 40 },
    { "observability", { "\"enabled\"", "\"disabled\"", "null", "\"off\"", "{}" }, 40 },
    { "securityProfile", { "{}", "{\"policyMode\":\"Protect\"}", "{\"thresholds\":{\"high\":5}}",
                           "{\"thresholds\":[]}", "\"x\"" }, 40 },
    { "observabilityProfile", { "{}", "{\"alerts\":\"disabled\"}", "{\"tracing\":{\"enabled\":false}}",
                                "{\"dashboards\":[\"a/b\"]}", "[]" }, 40 },
    { "targets", { "{\"clusterIds\":[\"c-1\"]}", "{\"selector\":{\"matchLabels\":{\"gpu\":\"true\"}}}",
                   "{\"selector\":{}}", "{}", "5" }, 95 },
    { "dependsOn", { "[]", "[{\"name\":\"a\"}]", "[{\"name\":\"shop\"}]", "[{}]", "[\"a\"]" }, 40 },
    { "overrides", { "[]", "[{\"clusterIds\":[\"c-1\"],\"charts\":[{\"name\":\"a\",\"skip\":true}]}]",
                     "[{\"charts\":[]}]", "[1]", "{}" }, 40 },
    { "rollout", { "{}", "{\"maxFailures\":2}",
                   "{\"waves\":[{\"name\":\"w\",\"selector\":{\"matchLabels\":{\"a\":\"b\"}}}]}",
                   "{\"waves\":[{},3]}", "0" }, 40 },
    { "drift", { "\"Detect\"", "\"Ignore\"", "null", "\"detect\"", "1" }, 40 },
    { "retry", { "{}", "{\"limit\":3}", "{\"backoff\":\"1m\"}", "{\"backoff\":\"x\"}", "[]" }, 40 },
    { "onFailure", { "\"Retry\"", "\"Stop\"", "null", "\"Rollback\"", "0" }, 40 },
    { "paused", { "true", "false", "null", "\"true\"", "1" }, 40 },
    { "surprise", { "1", "null", "{}", "[]", "\"\"" }, 3 },
};

static const struct {
    const char *name, *values[4];
} chart_members[] = {
    { "repo", { "\"https://x.io\"", "\"oci://x.io/y\"", "\"http://x.io\"", "\"https://u:p@x.io\"" } },
    { "version", { "\"1.2.3\"", "\"^1\"", "\"latest\"", "1" } },
    { "namespace", { "\"n\"", "\"kube-system\"", "\"N\"", "null" } },
    { "releaseName", { "\"r\"", "\"r2\"", "\"R\"", "null" } },
    { "wait", { "true", "false", "null", "1" } },
    { "timeout", { "\"5m\"", "\"1h\"", "\"x\"", "null" } },
    { "values", { "{\"inline\":{\"limits\":{\"nvidia.com/gpu\":1}}}", "{}",
                  "{\"inline\":{\"requests\":{\"nvidia.com/gpu\":0.5}}}", "{\"inline\":[]}" } },
};

static void put_charts(struct strbuf *out, struct rng *rng)
{
    static const char *const names[] = { "a", "b", "c", "d", "gpu-operator" };
    uint64_t count = rng_below(rng, 6);

    strbuf_lit(out, "\"charts\":[");
    for (uint64_t i = 0; i < count; i++) {
        strbuf_fmt(out, "%s{\"name\":\"%s\"", i ? "," : "", names[rng_below(rng, 8) ? i % 5 : 0]);
        for (size_t k = 0; k < sizeof(chart_members) / sizeof(chart_members[0]); k++)
            if (k < 2 || rng_below(rng, 2))
                strbuf_fmt(out, ",\"%s\":%s", chart_members[k].name,
                           chart_members[k].values[rng_below(rng, 12) ? rng_below(rng, 2)
                                                                      : rng_below(rng, 4)]);
        strbuf_lit(out, ",\"dependsOn\":[");
        for (uint64_t k = rng_below(rng, 3); k; k--)
            strbuf_fmt(out, "\"%s\"%s", names[rng_below(rng, 5)], k > 1 ? "," : "");
        strbuf_lit(out, "]}");
    }
    strbuf_char(out, ']');
}

struct str any_stack(struct arena *arena, struct rng *rng)
{
    static const char *const labels[] = { "", ",\"labels\":{}", ",\"labels\":null",
                                          ",\"labels\":{\"herd.suse.com/env\":\"dev\"}" };
    struct strbuf out = strbuf_new(arena, 1024);

    strbuf_fmt(&out, "{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"Stack\",\"metadata\":{\"name\":"
                     "\"shop\"%s},\"spec\":{", labels[rng_below(rng, 4)]);
    put_charts(&out, rng);
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
        if (rng_below(rng, 100) < members[i].percent)
            strbuf_fmt(&out, ",\"%s\":%s", members[i].name,
                       members[i].values[rng_below(rng, 10) ? rng_below(rng, 2) : rng_below(rng, 5)]);
    strbuf_lit(&out, "}}");
    return strbuf_str(&out);
}
