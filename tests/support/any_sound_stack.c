/* SPDX-License-Identifier: Apache-2.0 */
/* any_sound_stack.c: every form that a field may have, at the edges of what it takes. */
#include "support/any_stack.h"

#define PICK(rng, table) (table)[rng_below((rng), sizeof(table) / sizeof((table)[0]))]

/* Names that are DNS-1123 labels, each also as a namespace and a release. */
static const char *const names[] = {
    "a", "7", "a-b", "a--b", "0-9", "x7", "vector-db", "z9z",
    "a23456789-123456789-123456789-123456789-123456789-12x",
};

static const char *const repos[] = {
    "https://x.io", "https://x.io:8443/charts/", "oci://registry.example.com/team/charts",
    "oci://x.io", "https://x.io/a?b=c", "http://plain.example.com",
};

static const char *const versions[] = { "1.2.3", "v1.2.3", "1.2.3-rc.1", "^1.2", ">=1.2, <2", "1.x" };

static const char *const expressions[] = {
    "{\"key\":\"env\",\"operator\":\"In\",\"values\":[\"prod\"]}",
    "{\"key\":\"env\",\"operator\":\"NotIn\",\"values\":[\"dev\",\"test\"]}",
    "{\"key\":\"example.com/gpu\",\"operator\":\"Exists\"}",
    "{\"key\":\"old\",\"operator\":\"DoesNotExist\"}",
    "{\"key\":\"old\",\"operator\":\"DoesNotExist\",\"values\":[]}",
};

static const char *const labels[] = { "{\"env\":\"prod\"}", "{\"zone\":\"\"}", "{\"example.com/tier\":\"1\",\"b\":\"c\"}" };

static const char *const cluster_ids[] = { "[\"c-m-1\"]", "[\"c-1\",\"c-2\"]", "[\"c-abcde\",\"c-m-xyz12345\",\"c-3\"]" };

static void put_expressions(struct strbuf *out, struct rng *rng)
{
    strbuf_lit(out, "\"matchExpressions\":[");
    for (uint64_t left = rng_below(rng, 3); ; left--) {
        strbuf_put(out, str_of(PICK(rng, expressions)));
        if (!left)
            break;
        strbuf_char(out, ',');
    }
    strbuf_char(out, ']');
}

static void put_selector(struct strbuf *out, struct rng *rng)
{
    uint64_t form = rng_below(rng, 4);

    strbuf_lit(out, "\"selector\":{");
    if (form != 0)
        strbuf_fmt(out, "\"matchLabels\":%s", form == 3 ? "{}" : PICK(rng, labels));
    if (form > 1)
        strbuf_char(out, ',');
    if (form != 1)
        put_expressions(out, rng);
    strbuf_char(out, '}');
}

/* Members that say which clusters. */
static void put_clusters(struct strbuf *out, struct rng *rng)
{
    if (rng_below(rng, 2))
        put_selector(out, rng);
    else
        strbuf_fmt(out, "\"clusterIds\":%s", PICK(rng, cluster_ids));
}

enum { CHARTS_MAX = 4 };

static void put_depends_on(struct strbuf *out, struct rng *rng, const char *const *before, uint64_t count)
{
    if (!rng_below(rng, 3))
        return;
    strbuf_lit(out, ",\"dependsOn\":[");
    if (count && rng_below(rng, 2))
        strbuf_fmt(out, "\"%s\"", before[rng_below(rng, count)]);
    strbuf_char(out, ']');
}

/* Names one after the other, so that there is no duplicate. */
static uint64_t put_charts(struct strbuf *out, struct rng *rng, const char *chosen[CHARTS_MAX])
{
    uint64_t count = 1 + rng_below(rng, CHARTS_MAX);
    uint64_t first = rng_below(rng, sizeof(names) / sizeof(names[0]));

    strbuf_lit(out, "\"charts\":[");
    for (uint64_t i = 0; i < count; i++) {
        chosen[i] = names[(first + i) % (sizeof(names) / sizeof(names[0]))];
        strbuf_fmt(out, "%s{\"name\":\"%s\",\"repo\":\"%s\",\"version\":\"%s\"", i ? "," : "", chosen[i],
                   PICK(rng, repos), PICK(rng, versions));
        if (rng_below(rng, 2))
            strbuf_fmt(out, ",\"namespace\":\"%s\"", PICK(rng, names));
        put_depends_on(out, rng, chosen, i);
        strbuf_char(out, '}');
    }
    strbuf_char(out, ']');
    return count;
}

static void put_overrides(struct strbuf *out, struct rng *rng, const char *chart)
{
    strbuf_lit(out, ",\"overrides\":[{");
    put_clusters(out, rng);
    strbuf_fmt(out, ",\"charts\":[{\"name\":\"%s\",\"skip\":true}]}]", chart);
}

static void put_waves(struct strbuf *out, struct rng *rng)
{
    strbuf_lit(out, ",\"rollout\":{\"waves\":[{\"name\":\"w-1\",");
    put_selector(out, rng);
    strbuf_lit(out, "},{\"name\":\"2\",");
    put_selector(out, rng);
    strbuf_lit(out, "}]}");
}

struct str any_sound_stack(struct arena *arena, struct rng *rng)
{
    const char *chosen[CHARTS_MAX];
    struct strbuf out = strbuf_new(arena, 1024);
    uint64_t count;

    strbuf_lit(&out, "{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"Stack\",\"metadata\":{\"name\":\"shop\"},\"spec\":{");
    count = put_charts(&out, rng, chosen);
    strbuf_lit(&out, ",\"targets\":{");
    put_clusters(&out, rng);
    strbuf_char(&out, '}');
    if (rng_below(rng, 2))
        put_overrides(&out, rng, chosen[rng_below(rng, count)]);
    if (rng_below(rng, 2))
        put_waves(&out, rng);
    strbuf_lit(&out, "}}");
    return strbuf_str(&out);
}
