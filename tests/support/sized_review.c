/* SPDX-License-Identifier: Apache-2.0 */
/* sized_review.c: Stacks and policies by a loop each. */
#include "support/sized_review.h"

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>

enum { EDGE_CHARTS = 60, CHARTS = 3 };

static const char *const names[] = {
    [SIZED_CHARTS] = "charts",           [SIZED_EDGES] = "edges",
    [SIZED_LABELS] = "labels",           [SIZED_POLICIES] = "policies, kept",
    [SIZED_FAULTS] = "charts, at fault", [SIZED_FINDINGS] = "policies, broken",
    [SIZED_OVERRIDES] = "charts, overridden",
};

const char *sized_name(enum sized_by by)
{
    return names[by];
}

/* --- the Stack --- */

static void put_chart(struct strbuf *out, int number, const char *version)
{
    strbuf_fmt(out,
               "%s{\"name\":\"chart-%d\",\"repo\":\"https://charts.example.com/stable\",\"version\":\"%s\","
               "\"namespace\":\"chart-%d\",\"releaseName\":\"chart-%d\",\"wait\":true,\"timeout\":\"10m\","
               "\"values\":{\"inline\":{\"replicaCount\":3,\"image\":{\"tag\":\"1.2.3\"},\"resources\":{\"limits\":"
               "{\"memory\":\"16Gi\",\"cpu\":\"4\"}}}},\"dependsOn\":[",
               number ? "," : "", number, version, number, number);
}

static void end_chart(struct strbuf *out)
{
    strbuf_lit(out, "]}");
}

static void put_charts(struct strbuf *out, int count, const char *version)
{
    for (int i = 0; i < count; i++) {
        put_chart(out, i, version);
        if (i)
            strbuf_fmt(out, "\"chart-%d\"", i - 1);
        end_chart(out);
    }
}

/* How many edges have at most this length: the short ones come first. */
static int edges_within(int distance)
{
    return distance * EDGE_CHARTS - distance * (distance + 1) / 2;
}

static void put_edges(struct strbuf *out, int count)
{
    for (int i = 0; i < EDGE_CHARTS; i++) {
        int put = 0;

        put_chart(out, i, "1.2.3");
        for (int distance = 1; distance <= i && edges_within(distance - 1) + i - distance < count; distance++)
            strbuf_fmt(out, "%s\"chart-%d\"", put++ ? "," : "", i - distance);
        end_chart(out);
    }
}

static void put_labels(struct strbuf *out, int count)
{
    for (int i = 0; i < count; i++)
        strbuf_fmt(out, "%s\"example.com/label-%d\":\"value-%d\"", i ? "," : "", i, i);
}

static struct str charts_of(struct arena *arena, enum sized_by by, int count)
{
    struct strbuf charts = strbuf_new(arena, 4096);

    if (by == SIZED_CHARTS || by == SIZED_OVERRIDES)
        put_charts(&charts, count, "1.2.3");
    else if (by == SIZED_FAULTS)
        put_charts(&charts, count, "latest");
    else if (by == SIZED_EDGES)
        put_edges(&charts, count);
    else
        put_charts(&charts, CHARTS, "1.2.3");
    return strbuf_str(&charts);
}

static struct str overrides_of(struct arena *arena, enum sized_by by, int count)
{
    struct strbuf out = strbuf_new(arena, 64);

    if (by != SIZED_OVERRIDES)
        return STR("");
    strbuf_lit(&out, ",\"overrides\":[{\"clusterIds\":[\"c-1\"],\"charts\":[");
    for (int i = count; i-- > 0;)
        strbuf_fmt(&out, "{\"name\":\"chart-%d\",\"version\":\"1.2.4\"}%s", i, i ? "," : "]}]");
    return strbuf_str(&out);
}

static struct str body_of(struct arena *arena, enum sized_by by, int count)
{
    struct strbuf labels = strbuf_new(arena, 64);
    struct str charts = charts_of(arena, by, count);

    if (by == SIZED_LABELS)
        put_labels(&labels, count);
    return str_fmt(arena,
                   "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\",\"request\":{\"uid\":\"u-1\","
                   "\"kind\":{\"group\":\"herd.suse.com\",\"version\":\"v1\",\"kind\":\"Stack\"},\"resource\":{\"group\":"
                   "\"herd.suse.com\",\"version\":\"v1\",\"resource\":\"stacks\"},\"name\":\"sized\",\"namespace\":\"default\","
                   "\"operation\":\"CREATE\",\"userInfo\":{\"username\":\"ann\"},\"object\":{\"apiVersion\":"
                   "\"herd.suse.com/v1\",\"kind\":\"Stack\",\"metadata\":{\"name\":\"sized\",\"namespace\":\"default\",\"labels\":{"
                   "%.*s},\"annotations\":{\"herd.suse.com/last-applied-by\":\"ann\"}},\"spec\":{\"targets\":{\"selector\":"
                   "{\"matchLabels\":{\"region\":\"eu\"}}},\"charts\":[%.*s]%.*s}},\"oldObject\":null,\"dryRun\":false}}",
                   STR_ARG(strbuf_str(&labels)), STR_ARG(charts), STR_ARG(overrides_of(arena, by, count)));
}

/* --- policies --- */

static void add_policy(struct policy_set_builder *builder, int number, const char *rules)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct problems problems = problems_new(arena);
    struct error err;
    struct json policy;
    struct str text = str_fmt(arena,
                              "{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"StackPolicy\",\"metadata\":{\"name\":"
                              "\"policy-%d\"},\"spec\":{\"match\":{\"namespaces\":[\"default\",\"team-%d\"]},\"rules\":[%s]}}",
                              number, number, rules);

    if (json_read(arena, text, &json_limits_default, &policy, &err) == 0 && policy_set_add(builder, policy, &problems))
        return;
    fprintf(stderr, "sized_review: no policy: %.*s\n", STR_ARG(text));
    abort();
}

static struct policy_set *policies_of(enum sized_by by, int count)
{
    static const char kept[] = "{\"name\":\"a\",\"field\":\"spec.charts[*].repo\",\"allow\":[\"https://charts.example.com/*\"]},"
                               "{\"name\":\"b\",\"field\":\"spec.charts[*].values.inline.**.tag\",\"deny\":[\"latest\"]}";
    static const char broken[] = "{\"name\":\"a\",\"requiredChart\":\"absent\"}";
    struct policy_set_builder *builder = policy_set_begin();

    for (int i = 0; i < count && (by == SIZED_POLICIES || by == SIZED_FINDINGS); i++)
        add_policy(builder, i, by == SIZED_POLICIES ? kept : broken);
    if (by == SIZED_OVERRIDES)
        add_policy(builder, 0, "{\"name\":\"a\",\"field\":\"spec.charts[*].version\",\"charts\":[\"*\"],\"deny\":[\"latest\"]}");
    return policy_set_finish(builder);
}

struct sized_review sized_review(struct arena *arena, enum sized_by by, int count)
{
    return (struct sized_review){ body_of(arena, by, count), policies_of(by, count) };
}
