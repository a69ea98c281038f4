/* SPDX-License-Identifier: Apache-2.0 */
/* admit_test.c: the verdict as a whole: its words, configured severities, and what an update may
 * keep. */
#include "support/rows.h"

#include "kube/admission.h"
#include "stack/model/release.h"
#include "stack/policy/policy_set.h"
#include "support/stack_builder.h"

#define CHART(name, more)                                                                          \
    "{\"name\":\"" name "\",\"repo\":\"https://x.io\",\"version\":\"1.0.0\"" more "}"
#define BAD(name, version)                                                                         \
    "{\"name\":\"" name "\",\"repo\":\"https://x.io\",\"version\":\"" version "\"}"

#define WRITTEN_OUT                                                                                \
    ",\"namespace\":\"a\",\"releaseName\":\"a\",\"timeout\":\"10m\",\"wait\":true"
#define SAME_RELEASE(version, more)                                                                \
    "{\"name\":\"b\",\"repo\":\"https://x.io\",\"version\":\"" version "\",\"namespace\":\"a\"," \
    "\"releaseName\":\"a\"}," CHART("a", more)

static struct json document(struct arena *arena, const char *metadata, const char *charts)
{
    return test_json(arena, str_fmt(arena, "{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"Stack\","
                                           "\"metadata\":{\"name\":\"a\"%s},\"spec\":{\"env\":\"dev\","
                                           "\"targets\":{\"clusterIds\":[\"c-1\"]},\"charts\":[%s]}}",
                                    metadata, charts));
}

static const struct {
    const char *says, *old, *now, *found;
} updates[] = {
    { "a fault that stands as it stood only warns", BAD("a", "bad"), BAD("a", "bad") "," CHART("b", ""),
      "shape.version spec.charts[0].version" },
    { "also when its chart moved", BAD("a", "bad"), CHART("b", "") "," BAD("a", "bad"),
      "shape.version spec.charts[1].version" },
    { "one that was touched and is still wrong is rejected", BAD("a", "bad"), BAD("a", "worse"),
      "!shape.version spec.charts[0].version" },
    { "a new one of the same kind is rejected", BAD("a", "bad"), BAD("a", "bad") "," BAD("b", "bad"),
      "shape.version spec.charts[0].version; !shape.version spec.charts[1].version" },
    { "each old one excuses one", CHART("a", "") "," CHART("a", ""),
      CHART("a", "") "," CHART("a", "") "," CHART("a", ""),
      "shape.duplicate-chart spec.charts[1].name; !shape.duplicate-chart spec.charts[2].name" },
    { "a cycle that stands only warns",
      CHART("a", ",\"dependsOn\":[\"b\"]") "," CHART("b", ",\"dependsOn\":[\"a\"]"),
      CHART("a", ",\"dependsOn\":[\"b\"]") "," CHART("b", ",\"dependsOn\":[\"a\"],\"wait\":false"),
      "graph.cycle spec.charts[1].dependsOn" },
    { "a cycle that is made longer is rejected",
      CHART("a", ",\"dependsOn\":[\"b\"]") "," CHART("b", ",\"dependsOn\":[\"a\"]"),
      CHART("a", ",\"dependsOn\":[\"b\"]") "," CHART("b", ",\"dependsOn\":[\"c\"]") ","
      CHART("c", ",\"dependsOn\":[\"a\"]"), "!graph.cycle spec.charts[2].dependsOn" },
    { "what is missing and was missing only warns", "{\"name\":\"a\",\"version\":\"1.0.0\"}",
      "{\"name\":\"a\",\"version\":\"1.0.1\"}", "shape.required spec.charts[0].repo" },
    { "what is missing from another chart is rejected",
      "{\"name\":\"a\",\"version\":\"1.0.0\"}," CHART("b", ""),
      CHART("a", "") ",{\"name\":\"b\",\"version\":\"1.0.0\"}", "!shape.required spec.charts[1].repo" },
    { "a wrong type with another wrong value is rejected", CHART("a", ",\"wait\":1"),
      CHART("a", ",\"wait\":2"), "!shape.type spec.charts[0].wait" },
    { "a default that is written out no more stands as it stood", SAME_RELEASE("1.0.0", WRITTEN_OUT),
      SAME_RELEASE("1.0.1", ""), "shape.duplicate-release spec.charts[1].releaseName" },
    { "also within what a finding is about", "{\"name\":\"a\",\"version\":\"1.0.0\"" WRITTEN_OUT "}",
      "{\"name\":\"a\",\"version\":\"1.0.0\"}", "shape.required spec.charts[0].repo" },
    { "what was fixed is not told", BAD("a", "bad"), CHART("a", ""), "" },
    { "labels and dots in keys are found again",
      CHART("gpu-operator", ",\"values\":{\"inline\":{\"a.b\":[{\"limits\":{\"nvidia.com/gpu\":0}}]}}"),
      CHART("gpu-operator", ",\"wait\":true,\"values\":{\"inline\":{\"a.b\":[{\"limits\":{\"nvidia.com/gpu\":0}}]}}"),
      "gpu.quantity spec.charts[0].values.inline[a.b][0].limits[nvidia.com/gpu]" },
};

static void an_update_may_keep_what_was_wrong(void **state)
{
    struct facts facts = { 0 };
    struct rule_severities severities = rule_severities_default();

    (void)state;
    for (size_t i = 0; i < sizeof(updates) / sizeof(updates[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct verdict verdict = stack_admit(arena, document(arena, "", updates[i].now),
                                             document(arena, "", updates[i].old), &facts, &severities);

        rows_expect_str(updates[i].says, findings_text(arena, &verdict.problems),
                        str_of(updates[i].found));
        rows_expect(updates[i].says,
                    verdict.allowed == (strchr(updates[i].found, '!') == NULL), "allowed or not");
    }
}

/* A finalizer must come off a Stack that a later Herd would not take, however wrong it is. */
static void metadata_may_change_on_any_stack(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct facts facts = { 0 };
    struct rule_severities severities = rule_severities_default();
    struct strbuf charts = strbuf_new(arena, 1024);

    (void)state;
    for (int i = 0; i < 300; i++)
        strbuf_fmt(&charts, "%s{\"name\":\"c%d\",\"wait\":5}", i ? "," : "", i);

    struct str text = strbuf_str(&charts);
    struct verdict verdict = stack_admit(
        arena, document(arena, "", text.at),
        document(arena, ",\"finalizers\":[\"herd.suse.com/teardown\"]", text.at), &facts, &severities);

    rows_expect("the spec is untouched", verdict.allowed, "it is allowed");
    rows_expect("and the faults are told", verdict.warnings.count > 200, "as warnings");
}

/* Beyond the bound of findings nobody can tell old from new, so a change of the spec is rejected. */
static void uncounted_faults_excuse_nothing(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct facts facts = { 0 };
    struct rule_severities severities = rule_severities_default();
    struct strbuf charts = strbuf_new(arena, 1024);

    (void)state;
    for (int i = 0; i < 101; i++)
        strbuf_fmt(&charts, "%s{\"name\":\"c%d\",\"repo\":\"https://x.io\",\"version\":\"?\"}",
                   i ? "," : "", i);

    struct str old = strbuf_str(&charts);
    struct json old_object = document(arena, "", old.at);
    struct str now = str_fmt(arena, "%.*s,{\"name\":\"new\",\"repo\":\"https://x.io\",\"version\":\"?\"}",
                             STR_ARG(old));
    struct verdict verdict = stack_admit(arena, document(arena, "", now.at), old_object, &facts,
                                         &severities);

    rows_expect("one more fault hides among many", !verdict.allowed, "it is rejected");
}

static const struct {
    const char *says, *old;
} absent[] = {
    { "no old object", NULL },
    { "an old object that is no object", "5" },
    { "an old object that is null", "null" },
    { "an old object without anything", "{}" },
};

static void an_unreadable_old_object_excuses_nothing(void **state)
{
    struct facts facts = { 0 };
    struct rule_severities severities = rule_severities_default();

    (void)state;
    for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct json old = absent[i].old ? test_json(arena, str_of(absent[i].old))
                                        : (struct json){ NULL, 0 };
        struct verdict verdict = stack_admit(arena, document(arena, "", BAD("a", "bad")), old, &facts,
                                             &severities);

        rows_expect(absent[i].says, !verdict.allowed, "it is rejected");
    }
}

static bool is_taken_with(uint32_t bytes, uint32_t blanks)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct facts facts = { 0 };
    struct rule_severities severities = rule_severities_default();
    uint32_t text = bytes - (uint32_t)strlen("{\"a\":\"\"}");
    const char *values = str_z(arena, str_fmt(arena, ",\"values\":{\"inline\":{\"a\":%*s\"%s\"}}", (int)blanks, "",
                                              (const char *)memset(arena_alloc(arena, text + 1), 'x', text)));
    struct json object = document(arena, "", str_z(arena, str_fmt(arena, CHART("a", "%s"), values)));

    return stack_admit(arena, object, (struct json){ NULL, 0 }, &facts, &severities).allowed;
}

static void values_that_no_action_can_carry_are_rejected(void **state)
{
    (void)state;
    rows_expect("as many as can be", is_taken_with(RELEASE_VALUES_BYTES_MAX, 0), "taken");
    rows_expect("one byte more", !is_taken_with(RELEASE_VALUES_BYTES_MAX + 1, 0), "rejected");
    rows_expect("blanks are not sent", is_taken_with(RELEASE_VALUES_BYTES_MAX, 1000), "taken");
}

static void severities_are_configured(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct facts facts = { 0 };
    struct rule_severities severities = rule_severities_default();
    struct json none = { NULL, 0 };
    struct json object = document(arena, "", BAD("a", "bad"));

    (void)state;
    severities.of[RULE_SHAPE_VERSION] = SEVERITY_WARN;

    struct verdict verdict = stack_admit(arena, object, none, &facts, &severities);

    rows_expect("a rule that only warns", verdict.allowed, "it is allowed");
    rows_expect_int("one warning", verdict.warnings.count, 1);
    rows_expect_str("in full", verdict.warnings.items[0],
                    STR("spec.charts[0].version: Invalid value: \"bad\": must be an exact version or a range; write "
                        "an exact version such as 1.2.3, or a range such as ^1.2 or >=1.2, <2"));
    severities.of[RULE_SHAPE_VERSION] = SEVERITY_AUDIT;
    verdict = stack_admit(arena, object, none, &facts, &severities);
    rows_expect("a rule that is audited", verdict.allowed && verdict.warnings.count == 0,
                "nothing is told");
    rows_expect_int("but it is found", verdict.problems.list.count, 1);
    severities.of[RULE_SHAPE_VERSION] = SEVERITY_OFF;
    verdict = stack_admit(arena, object, none, &facts, &severities);
    rows_expect("a rule that is off", verdict.allowed && verdict.warnings.count == 0, "nothing is told");
    rows_expect("and there is a patch", verdict.patch.len > 0, "of the defaults");
    severities.of[RULE_SHAPE_LONG_TIMEOUT] = SEVERITY_DENY;
    verdict = stack_admit(arena, document(arena, "", CHART("a", ",\"timeout\":\"1h\"")), none, &facts,
                          &severities);
    rows_expect("a rule that was made to reject", !verdict.allowed, "it does");
}

/* --- what takes too much work --- */

static void put_selector(struct strbuf *out, int expressions, int values)
{
    strbuf_lit(out, "\"selector\":{\"matchExpressions\":[");
    for (int i = 0; i < expressions; i++) {
        strbuf_fmt(out, "%s{\"key\":\"site\",\"operator\":\"NotIn\",\"values\":[", i ? "," : "");
        for (int k = 0; k < values; k++)
            strbuf_fmt(out, "%s\"v%d\"", k ? "," : "", k);
        strbuf_lit(out, "]}");
    }
    strbuf_lit(out, "]}");
}

/* `timeout`: of the one chart. */
static struct json annotated_stack_of(struct arena *arena, const char *annotations, int overrides, int expressions,
                                      int values, const char *timeout)
{
    struct strbuf text = strbuf_new(arena, 4096);

    strbuf_fmt(&text, "{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"Stack\",\"metadata\":{\"name\":\"a\","
               "\"annotations\":{%s}},\"spec\":{\"targets\":{\"selector\":{\"matchLabels\":{\"all\":\"yes\"}}},\"charts\":[" CHART("a", ",\"timeout\":\"%s\",\"values\":{\"inline\":{\"site\":\"${cluster.labels.site}\"}}")
               "],\"overrides\":[", annotations, timeout);
    for (int i = 0; i < overrides; i++) {
        strbuf_put(&text, i ? STR(",{") : STR("{"));
        put_selector(&text, expressions, values);
        strbuf_lit(&text, ",\"charts\":[{\"name\":\"a\",\"skip\":true}]}");
    }
    strbuf_lit(&text, "]}}");
    return test_json(arena, strbuf_str(&text));
}

static struct json stack_of(struct arena *arena, int overrides, int expressions, int values, const char *timeout)
{
    return annotated_stack_of(arena, "", overrides, expressions, values, timeout);
}

static void add_clusters(struct arena *arena, struct facts *facts, int count)
{
    struct json labels = test_json(arena, STR("{\"all\":\"yes\",\"site\":\"s\"}"));

    facts->clusters_known = true;
    facts->clusters = fact_clusters_new(arena, (uint32_t)count);
    for (int i = 0; i < count; i++)
        fact_clusters_push(&facts->clusters, (struct fact_cluster){ .id = str_fmt(arena, "c-%d", i), .labels = labels });
}

static const struct {
    const char *says;
    int overrides, expressions, values, clusters;
    const char *field, *message; /* NULL: it is allowed */
} costly[] = {
    { "as many values as can be", 16, 1, 254, 100, NULL, NULL },
    { "one override more", 17, 1, 254, 100, "spec.overrides[16].selector",
      "Too many: 4336: the selectors of a Stack must have at most 4096 requirements and values" },
    { "expressions count, too", 2, 8, 256, 0, "spec.overrides[1].selector",
      "Too many: 4113: the selectors of a Stack must have at most 4096 requirements and values" },
    { "for many clusters they are too many", 16, 1, 250, 2000, "spec.overrides",
      "Too many: comparing it with the clusters takes more than 6000000 steps" },
    { "a usual Stack for as many is not", 100, 1, 2, 2000, NULL, NULL },
};

static void what_takes_too_much_work_is_rejected_by_its_field(void **state)
{
    struct rule_severities severities = rule_severities_default();

    (void)state;
    for (size_t i = 0; i < sizeof(costly) / sizeof(costly[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct facts facts = { 0 };

        add_clusters(arena, &facts, costly[i].clusters);

        struct verdict verdict = stack_admit(
            arena, stack_of(arena, costly[i].overrides, costly[i].expressions, costly[i].values, "10m"),
            (struct json){ NULL, 0 }, &facts, &severities);

        rows_expect(costly[i].says, verdict.allowed == !costly[i].field, costly[i].field ? "rejected" : "allowed");
        if (!costly[i].field)
            continue;

        const struct problem *found = &verdict.problems.list.items[0];

        rows_expect_str(costly[i].says, found->rule, STR("shape.work"));
        rows_expect_str(costly[i].says, found->field, str_of(costly[i].field));
        rows_expect_str(costly[i].says, found->message, str_of(costly[i].message));
    }
}

/* The rules behind it were not asked: only what changes nothing may pass. */
static void work_excuses_nothing_but_what_stays(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct rule_severities severities = rule_severities_default();
    struct facts facts = { 0 };
    struct json old = stack_of(arena, 16, 1, 250, "10m");

    (void)state;
    add_clusters(arena, &facts, 2000);
    rows_expect("another label", stack_admit(arena, old, old, &facts, &severities).allowed, "allowed");
    rows_expect("another timeout", !stack_admit(arena, stack_of(arena, 16, 1, 250, "20m"), old, &facts, &severities).allowed,
                "rejected");
}

static struct policy_set *policy_of(struct arena *arena, const char *check)
{
    struct policy_set_builder *builder = policy_set_begin();
    struct problems problems = problems_new(arena);
    struct json policy = test_json(
        arena, str_fmt(arena, "{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"StackPolicy\",\"metadata\":{\"name\":\"p\"},"
                              "\"spec\":{\"match\":{\"clusterSelector\":{\"matchLabels\":{\"all\":\"yes\"}}},\"rules\":["
                              "{\"name\":\"r\",%s}]}}", check));

    rows_expect("the policy", policy_set_add(builder, policy, &problems), "is in order");
    return policy_set_finish(builder);
}

#define TIMEOUT(most) "\"field\":\"spec.charts[*].timeout\",\"maximum\":\"" most "\""

static void a_stored_stack_stays_valid_whatever_clusters_there_are(void **state)
{
    static const struct {
        const char *says;
        int overrides, values, clusters;
        const char *annotations, *check; /* of a policy for the clusters of its targets */
        bool allowed, allowed_stored;
    } rows[] = {
        { "more of them than it can be compared with", 16, 250, 2000, "", "\"requiredChart\":\"a\"", false, true },
        { "one that it names is gone", 1, 2, 10, "\"herd.suse.com/abandon-clusters\":\"c-99\"", TIMEOUT("20m"), false, true },
        { "but policies look where it goes", 1, 2, 10, "", TIMEOUT("5m"), false, false },
        { "and its selectors are bounded", 17, 254, 10, "", TIMEOUT("20m"), false, false },
        { "nothing is wrong", 1, 2, 10, "", TIMEOUT("20m"), true, true },
    };
    struct rule_severities severities = rule_severities_default();

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        AUTO(policy_set_unref) struct policy_set *policies = policy_of(arena, rows[i].check);
        struct facts facts = { .policies = policies };
        struct json none = { NULL, 0 };
        struct json object = annotated_stack_of(arena, rows[i].annotations, rows[i].overrides, 1, rows[i].values, "10m");

        add_clusters(arena, &facts, rows[i].clusters);
        rows_expect(rows[i].says, stack_admit(arena, object, none, &facts, &severities).allowed == rows[i].allowed,
                    "in a review");
        facts.stored = true;
        rows_expect(rows[i].says, stack_admit(arena, object, none, &facts, &severities).allowed == rows[i].allowed_stored,
                    "once it is stored");
    }
}

static void a_label_that_disagrees_warns(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct verdict verdict = validate_json(
        arena, document(arena, ",\"labels\":{\"herd.suse.com/env\":\"prod\"}", CHART("a", "")));

    (void)state;
    rows_expect_str("told", findings_text(arena, &verdict.problems),
                    STR("shape.env-label metadata.labels[herd.suse.com/env]"));
}

static void the_message(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct verdict verdict = validate_json(arena, document(arena, "", BAD("a", "bad") "," BAD("b", "y")));
    struct strbuf charts = strbuf_new(arena, 1024);

    (void)state;
    rows_expect("several are counted", str_starts(verdict.message, STR("2 faults:\n- spec.charts[0]")),
                verdict.message.at);
    rows_expect_str("no patch goes with a rejection", verdict.patch, STR(""));
    for (int i = 0; i < 60; i++)
        strbuf_fmt(&charts, "%s{\"name\":\"c%d\",\"repo\":\"https://x.io\",\"version\":\"?\"}",
                   i ? "," : "", i);
    verdict = validate_json(arena, document(arena, "", strbuf_str(&charts).at));
    rows_expect("what is too much is counted", str_ends(verdict.message, STR("\n- and 20 more")),
                verdict.message.at);
}

static void a_warning_that_is_too_long_keeps_its_remedy(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct verdict verdict = validate_json(
        arena, document(arena, "",
                        CHART("inference", ",\"values\":{\"inline\":{\"a-component-with-a-long-name\":{\"another-one\":{"
                              "\"resources\":{\"limits\":{\"nvidia.com/gpu\":1}}}}}}")));
    struct str line;

    (void)state;
    rows_expect_int("one warning", verdict.warnings.count, 1);
    line = verdict.warnings.items[0];
    rows_expect_int("as long as it may be", (int64_t)line.len, ADMISSION_WARNING_BYTES);
    rows_expect("cut where it can be spared",
                str_find(line, STR("nvidia.com/gpu]: Not found: NVIDIA GPUs for \"inference\""), 0) > 0, line.at);
    rows_expect("and not at its end",
                str_ends(line, STR("...; add a GPU operator to the Stack and to dependsOn, or install one on the clusters")), line.at);
}

static void what_cannot_be_decoded_is_rejected(void **state)
{
    static const struct {
        const char *row, *text, *message;
    } rows[] = {
        { "a key twice", "{\"request\":{\"object\":{\"spec\":{\"env\":\"a\",\"env\":\"b\"}}}}",
          "spec: Invalid value: cannot be decoded: duplicate key \"env\"; correct it in the manifest and apply "
          "that again" },
        { "bytes that are not UTF-8", "{\"request\":{\"object\":{\"a\":\"\xff\"}}}",
          "request.object: Invalid value: cannot be decoded: bytes that are not UTF-8; correct it in the manifest "
          "and apply that again" },
        { "nesting", "{\"request\":{\"object\":{\"a\":[[[]]]}}}",
          "a[0]: Invalid value: cannot be decoded: more than 5 levels of nesting; make it flatter or smaller; "
          "large values can be in a ConfigMap that values.configMapRefs names" },
        { "nothing", "", "request: Invalid value: cannot be decoded: expected a value; the text ends here; correct it "
          "in the manifest and apply that again" },
    };
    struct json_limits limits = json_limits_default;

    (void)state;
    limits.depth_max = 5;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct json root;
        struct error err;

        rows_expect_int(rows[i].row, json_read(arena, str_of(rows[i].text), &limits, &root, &err), -1);

        struct verdict verdict = stack_undecodable(arena, &err);

        rows_expect(rows[i].row, !verdict.allowed, "rejected");
        rows_expect_str(rows[i].row, findings_text(arena, &verdict.problems),
                        str_fmt(arena, "!shape.undecodable %.*s", STR_ARG(verdict.problems.list.items[0].field)));
        rows_expect_str(rows[i].row, verdict.message, str_of(rows[i].message));
    }
}

/* Control characters and terminal escapes of the author do not reach anybody's terminal. */
static void foreign_text_is_shown_safely(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct verdict verdict = validate_json(
        arena, document(arena, "", BAD("a\\u001b[31m", "\\n\\u0007") ",{\"na\\u001bme\":1}"));

    (void)state;
    for (size_t i = 0; i < verdict.message.len; i++)
        rows_expect("no control characters",
                    (unsigned char)verdict.message.at[i] >= 0x20 || verdict.message.at[i] == '\n',
                    verdict.message.at);
    rows_expect("a password is not shown",
                str_find(validate_json(arena, document(arena, "", "{\"name\":\"a\",\"version\":\"1.0.0\","
                                    "\"repo\":\"https://u:hunter2@x.io\"}")).message,
                         STR("hunter2"), 0) < 0, "hunter2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_warning_that_is_too_long_keeps_its_remedy),
        cmocka_unit_test(an_update_may_keep_what_was_wrong),
        cmocka_unit_test(metadata_may_change_on_any_stack),
        cmocka_unit_test(uncounted_faults_excuse_nothing),
        cmocka_unit_test(an_unreadable_old_object_excuses_nothing),
        cmocka_unit_test(values_that_no_action_can_carry_are_rejected),
        cmocka_unit_test(severities_are_configured),
        cmocka_unit_test(what_takes_too_much_work_is_rejected_by_its_field),
        cmocka_unit_test(work_excuses_nothing_but_what_stays),
        cmocka_unit_test(a_stored_stack_stays_valid_whatever_clusters_there_are),
        cmocka_unit_test(a_label_that_disagrees_warns),
        cmocka_unit_test(the_message),
        cmocka_unit_test(what_cannot_be_decoded_is_rejected),
        cmocka_unit_test(foreign_text_is_shown_safely),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
