/* SPDX-License-Identifier: Apache-2.0 */
/* default_test.c: what is filled in, what is left alone, and the patch that says it. */
#include "support/rows.h"

#include "stack/model/default.h"
#include "stack/model/fields.h"
#include "support/stack_builder.h"
#include "text/patch.h"

#define CONSTANTS                                                                                  \
    "/spec/drift=\"Detect\" "                                                                       \
    "/spec/onFailure=\"Retry\" /spec/deletionPolicy=\"Delete\" /spec/paused=false "
#define PROFILE                                                                                    \
    "/spec/securityProfile={\"policyMode\":\"Discover\",\"thresholds\":{\"critical\":0,\"high\":-1}," \
    "\"compliance\":\"enabled\"}"
#define OBSERVED                                                                                   \
    "/spec/observabilityProfile={\"scrapeInterval\":\"30s\",\"tracing\":{\"enabled\":true,"           \
    "\"samplingRatio\":0.1},\"dashboards\":[\"ai-workloads\"],\"alerts\":\"enabled\"}"

static const struct {
    const char *says, *chart, *spec, *patch; /* "path=value path=value ..." */
} rows[] = {
    { "without an env nothing is enabled and nothing labelled", "", "",
      CONSTANTS "/spec/security=\"disabled\" /spec/observability=\"disabled\"" },
    { "in dev neither", "", "\"env\":\"dev\"",
      CONSTANTS "/spec/security=\"disabled\" /spec/observability=\"disabled\" "
                      "/metadata/labels={\"herd.suse.com/env\":\"dev\"}" },
    { "in staging both are enabled and spelled out", "", "\"env\":\"staging\"",
      CONSTANTS "/spec/security=\"enabled\" /spec/observability=\"enabled\" " PROFILE " " OBSERVED
                      " /metadata/labels={\"herd.suse.com/env\":\"staging\"}" },
    { "in prod too, but for what the author said", "", "\"env\":\"prod\",\"observability\":\"disabled\"",
      CONSTANTS "/spec/security=\"enabled\" " PROFILE
                      " /metadata/labels={\"herd.suse.com/env\":\"prod\"}" },
    { "outside prod where the author says so", "", "\"security\":\"enabled\"",
      CONSTANTS "/spec/observability=\"disabled\" " PROFILE },
    { "a profile that stands there gets what it lacks", "",
      "\"security\":\"disabled\",\"observability\":\"disabled\",\"securityProfile\":{\"policyMode\":"
      "\"Protect\",\"thresholds\":{\"high\":3}}",
      "/spec/securityProfile/thresholds/critical=0 /spec/securityProfile/compliance=\"enabled\" "
      CONSTANTS },
    { "an absent rollout stays absent, a present one is completed, its waves are not", "",
      "\"security\":\"disabled\",\"observability\":\"disabled\",\"rollout\":{\"waves\":[{\"name\":\"w\","
      "\"selector\":{\"matchLabels\":{\"a\":\"b\"}}}]}",
      "/spec/rollout/maxConcurrentClusters=0 /spec/rollout/maxFailures=-1 "
      "/spec/rollout/maxUnavailable=\"0\" /spec/rollout/removalDelay=\"5m\" "
      "/spec/rollout/maxRemovals=\"50%\" /spec/drift=\"Detect\" /spec/onFailure=\"Retry\" "
      "/spec/deletionPolicy=\"Delete\" /spec/paused=false " },
    { "what the chart says stays", ",\"wait\":false,\"timeout\":\"1h\",\"namespace\":\"n\",\"releaseName\":\"r\"",
      "\"security\":\"disabled\",\"observability\":\"disabled\",\"drift\":\"Ignore\",\"onFailure\":\"Stop\","
      "\"deletionPolicy\":\"Orphan\",\"paused\":true", "" },
};

/* The operations of a patch as rows write them; all of them are "add". */
static struct str patch_text(struct arena *arena, struct str patch)
{
    struct strbuf text = strbuf_new(arena, 256);

    if (!patch.len)
        return STR("");

    struct json_iter it = json_iter(test_json(arena, patch));

    while (json_next(&it)) {
        rows_expect_str("operation", json_str(json_get(it.value, STR("op"))), STR("add"));
        strbuf_fmt(&text, "%s%.*s=%.*s", it.position ? " " : "",
                   STR_ARG(json_str(json_get(it.value, STR("path")))),
                   STR_ARG(json_raw(json_get(it.value, STR("value")))));
    }
    return strbuf_str(&text);
}

static struct json patched(struct arena *arena, struct str document, struct str patch)
{
    struct value *before;
    struct value *after;
    struct error err = { 0 };

    if (!patch.len)
        return test_json(arena, document);
    if (value_read(arena, document, &json_limits_default, &before, &err) != 0 ||
        patch_apply(arena, before, patch, &after, &err) != 0)
        fail_msg("%s\n%.*s", err.text, STR_ARG(patch));
    return test_json(arena, value_json(arena, after));
}

static struct str again(struct arena *arena, struct json object)
{
    struct problems problems = problems_new(arena);
    struct str patch;

    stack_default(arena, stack_decode(arena, object, &problems), &patch);
    return patch;
}

static void defaults(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct stack_builder b = a_stack(arena);
        struct problems problems = problems_new(arena);
        struct str patch;

        with_raw_chart(&b, str_fmt(arena, "{\"name\":\"db\",\"repo\":\"https://x.io\",\"version\":"
                                          "\"1.0.0\"%s}", rows[i].chart).at);
        if (rows[i].spec[0])
            with_spec(&b, rows[i].spec);

        const struct stack *decoded = stack_decode(arena, stack_json(&b), &problems);
        const struct stack *once = stack_default(arena, decoded, &patch);
        struct str want = str_trim(str_of(rows[i].patch));
        struct str second;

        rows_expect_int(rows[i].says, problems.list.count, 0);
        rows_expect_str(rows[i].says, patch_text(arena, patch), want);
        rows_expect_str("the patched document needs no patch",
                        again(arena, patched(arena, stack_text(&b), patch)), STR(""));
        stack_default(arena, once, &second);
        rows_expect_str("the defaulted Stack needs no patch", second, STR(""));
    }
}

static void constants_hold_where_nothing_is_written(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct stack_builder b = a_stack(arena);
    struct problems problems = problems_new(arena);

    (void)state;
    with_chart(&b, "db", "");

    const struct stack *decoded = stack_decode(arena, stack_json(&b), &problems);
    const struct stack *stack = stack_default(arena, decoded, NULL);

    rows_expect_int("retry", stack->spec.retry.limit, -1);
    rows_expect_str("backoff", stack->spec.retry.backoff, STR("30s"));
    rows_expect_int("failures", stack->spec.rollout.max_failures, -1);
    rows_expect_int("the profile", stack->spec.security_profile.policy_mode, POLICY_MODE_DISCOVER);
    rows_expect_str("namespace", stack->spec.charts.items[0].namespace_, STR("db"));
    rows_expect_str("release", stack->spec.charts.items[0].release_name, STR("db"));
    rows_expect("wait", stack->spec.charts.items[0].wait, "so");
    rows_expect_int("timeout", chart_timeout_ms(&stack->spec.charts.items[0]), 600000);
    rows_expect_str("the decoded Stack is as it was", decoded->spec.charts.items[0].timeout, STR(""));
    rows_expect_int("no duration is 0", chart_timeout_ms(&(struct chart){ .timeout = STR("x") }), 0);
}

static const struct {
    const char *says, *metadata, *env, *want; /* want: the last operation */
} labels[] = {
    { "beside other labels", "{\"name\":\"a\",\"labels\":{\"b\":\"c\"}}", "dev",
      "/metadata/labels/herd.suse.com~1env=\"dev\"" },
    { "into no labels", "{\"name\":\"a\",\"labels\":null}", "dev",
      "/metadata/labels={\"herd.suse.com/env\":\"dev\"}" },
    { "into empty ones", "{\"generateName\":\"a-\",\"labels\":{}}", "dev",
      "/metadata/labels/herd.suse.com~1env=\"dev\"" },
    { "not over one that stands there", "{\"name\":\"a\",\"labels\":{\"herd.suse.com/env\":\"x\"}}",
      "dev", "/spec/observability=\"disabled\"" },
    { "not with an env that is no label", "{\"name\":\"a\"}", "a b", "/spec/observability=\"disabled\"" },
    { "not without metadata", "null", "dev", "/spec/observability=\"disabled\"" },
};

static void the_label(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct str text = str_fmt(arena, "{\"metadata\":%s,\"spec\":{\"env\":\"%s\"}}",
                                  labels[i].metadata, labels[i].env);
        struct problems problems = problems_new(arena);
        const struct stack *decoded = stack_decode(arena, test_json(arena, text), &problems);
        struct str patch;
        const struct stack *once = stack_default(arena, decoded, &patch);
        struct str ops = patch_text(arena, patch);

        rows_expect(labels[i].says, str_ends(ops, str_of(labels[i].want)), ops.at);
        stack_default(arena, once, &patch);
        rows_expect_str(labels[i].says, patch, STR(""));
    }
}

/* A patch must apply even to what validation will reject. */
static void broken_parts_get_no_defaults(void **state)
{
    static const char *const specs[] = {
        "null", "[]", "{\"charts\":[\"x\",{\"name\":\"a\"}],\"retry\":\"x\",\"rollout\":{\"waves\":[1]}}",
        "{\"charts\":\"x\",\"securityProfile\":{\"thresholds\":5}}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct str text = str_fmt(arena, "{\"metadata\":{\"name\":\"a\"},\"spec\":%s}", specs[i]);
        struct problems problems = problems_new(arena);
        struct str patch;

        stack_default(arena, stack_decode(arena, test_json(arena, text), &problems), &patch);
        rows_expect_str(specs[i], again(arena, patched(arena, text, patch)), STR(""));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(constants_hold_where_nothing_is_written),
        cmocka_unit_test(the_label),
        cmocka_unit_test(broken_parts_get_no_defaults),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
