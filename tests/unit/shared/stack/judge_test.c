/* judge_test.c: the verdict as a whole: its words, configured severities, and what an update may
 * keep. */
#include "support/rows.h"

#include "kube/admission.h"
#include "stack/release.h"
#include "support/stack_builder.h"

#define CHART(name, more)                                                                          \
    "{\"name\":\"" name "\",\"repo\":\"https://x.io\",\"version\":\"1.0.0\"" more "}"
#define BAD(name, version)                                                                         \
    "{\"name\":\"" name "\",\"repo\":\"https://x.io\",\"version\":\"" version "\"}"

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
    { "one that was touched and is still wrong is refused", BAD("a", "bad"), BAD("a", "worse"),
      "!shape.version spec.charts[0].version" },
    { "a new one of the same kind is refused", BAD("a", "bad"), BAD("a", "bad") "," BAD("b", "bad"),
      "shape.version spec.charts[0].version; !shape.version spec.charts[1].version" },
    { "each old one excuses one", CHART("a", "") "," CHART("a", ""),
      CHART("a", "") "," CHART("a", "") "," CHART("a", ""),
      "shape.duplicate-chart spec.charts[1].name; !shape.duplicate-chart spec.charts[2].name" },
    { "a cycle that stands only warns",
      CHART("a", ",\"dependsOn\":[\"b\"]") "," CHART("b", ",\"dependsOn\":[\"a\"]"),
      CHART("a", ",\"dependsOn\":[\"b\"]") "," CHART("b", ",\"dependsOn\":[\"a\"],\"wait\":false"),
      "graph.cycle spec.charts[1].dependsOn" },
    { "a cycle that is made longer is refused",
      CHART("a", ",\"dependsOn\":[\"b\"]") "," CHART("b", ",\"dependsOn\":[\"a\"]"),
      CHART("a", ",\"dependsOn\":[\"b\"]") "," CHART("b", ",\"dependsOn\":[\"c\"]") ","
      CHART("c", ",\"dependsOn\":[\"a\"]"), "!graph.cycle spec.charts[2].dependsOn" },
    { "what is missing and was missing only warns", "{\"name\":\"a\",\"version\":\"1.0.0\"}",
      "{\"name\":\"a\",\"version\":\"1.0.1\"}", "shape.required spec.charts[0].repo" },
    { "what is missing from another chart is refused",
      "{\"name\":\"a\",\"version\":\"1.0.0\"}," CHART("b", ""),
      CHART("a", "") ",{\"name\":\"b\",\"version\":\"1.0.0\"}", "!shape.required spec.charts[1].repo" },
    { "a wrong type with another wrong value is refused", CHART("a", ",\"wait\":1"),
      CHART("a", ",\"wait\":2"), "!shape.type spec.charts[0].wait" },
    { "what was mended is not told", BAD("a", "bad"), CHART("a", ""), "" },
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
        struct verdict verdict = stack_judge(arena, document(arena, "", updates[i].now),
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
    struct verdict verdict = stack_judge(
        arena, document(arena, "", text.at),
        document(arena, ",\"finalizers\":[\"herd.suse.com/teardown\"]", text.at), &facts, &severities);

    rows_expect("the spec is untouched", verdict.allowed, "it is allowed");
    rows_expect("and the faults are told", verdict.warnings.count > 200, "as warnings");
}

/* Beyond the bound of findings nobody can tell old from new, so a change of the spec is refused. */
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
    struct verdict verdict = stack_judge(arena, document(arena, "", now.at), old_object, &facts,
                                         &severities);

    rows_expect("one more fault hides among many", !verdict.allowed, "it is refused");
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
        struct verdict verdict = stack_judge(arena, document(arena, "", BAD("a", "bad")), old, &facts,
                                             &severities);

        rows_expect(absent[i].says, !verdict.allowed, "it is refused");
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

    return stack_judge(arena, object, (struct json){ NULL, 0 }, &facts, &severities).allowed;
}

static void values_that_no_action_can_carry_are_refused(void **state)
{
    (void)state;
    rows_expect("as many as can be", is_taken_with(RELEASE_VALUES_BYTES_MAX, 0), "taken");
    rows_expect("one byte more", !is_taken_with(RELEASE_VALUES_BYTES_MAX + 1, 0), "refused");
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

    struct verdict verdict = stack_judge(arena, object, none, &facts, &severities);

    rows_expect("a rule that only warns", verdict.allowed, "it is allowed");
    rows_expect_int("one warning", verdict.warnings.count, 1);
    rows_expect_str("in full", verdict.warnings.items[0],
                    STR("spec.charts[0].version: 'bad' is neither an exact version nor a range; write "
                        "an exact version such as 1.2.3, or a range such as ^1.2 or >=1.2, <2"));
    severities.of[RULE_SHAPE_VERSION] = SEVERITY_AUDIT;
    verdict = stack_judge(arena, object, none, &facts, &severities);
    rows_expect("a rule that is audited", verdict.allowed && verdict.warnings.count == 0,
                "nothing is told");
    rows_expect_int("but it is found", verdict.problems.list.count, 1);
    severities.of[RULE_SHAPE_VERSION] = SEVERITY_OFF;
    verdict = stack_judge(arena, object, none, &facts, &severities);
    rows_expect("a rule that is off", verdict.allowed && verdict.warnings.count == 0, "nothing is told");
    rows_expect("and there is a patch", verdict.patch.len > 0, "of the defaults");
    severities.of[RULE_SHAPE_LONG_TIMEOUT] = SEVERITY_DENY;
    verdict = stack_judge(arena, document(arena, "", CHART("a", ",\"timeout\":\"1h\"")), none, &facts,
                          &severities);
    rows_expect("a rule that was made to refuse", !verdict.allowed, "it does");
}

static void a_label_that_disagrees_warns(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct verdict verdict = judge_json(
        arena, document(arena, ",\"labels\":{\"herd.suse.com/env\":\"prod\"}", CHART("a", "")));

    (void)state;
    rows_expect_str("told", findings_text(arena, &verdict.problems),
                    STR("shape.env-label metadata.labels[herd.suse.com/env]"));
}

static void the_message(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct verdict verdict = judge_json(arena, document(arena, "", BAD("a", "bad") "," BAD("b", "y")));
    struct strbuf charts = strbuf_new(arena, 1024);

    (void)state;
    rows_expect("several are counted", str_starts(verdict.message, STR("2 faults:\n- spec.charts[0]")),
                verdict.message.at);
    rows_expect_str("no patch goes with a refusal", verdict.patch, STR(""));
    for (int i = 0; i < 60; i++)
        strbuf_fmt(&charts, "%s{\"name\":\"c%d\",\"repo\":\"https://x.io\",\"version\":\"?\"}",
                   i ? "," : "", i);
    verdict = judge_json(arena, document(arena, "", strbuf_str(&charts).at));
    rows_expect("what is too much is counted", str_ends(verdict.message, STR("\n- and 20 more")),
                verdict.message.at);
}

static void a_warning_that_is_too_long_keeps_its_way_out(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct verdict verdict = judge_json(
        arena, document(arena, "",
                        CHART("inference", ",\"values\":{\"inline\":{\"a-component-with-a-long-name\":{\"another-one\":{"
                              "\"resources\":{\"limits\":{\"nvidia.com/gpu\":1}}}}}}")));
    struct str line;

    (void)state;
    rows_expect_int("one warning", verdict.warnings.count, 1);
    line = verdict.warnings.items[0];
    rows_expect_int("as long as it may be", (int64_t)line.len, ADMISSION_WARNING_BYTES);
    rows_expect("cut where it can be spared", str_find(line, STR("nvidia.com/gpu]: 'inference' needs"), 0) > 0, line.at);
    rows_expect("and not at its end",
                str_ends(line, STR("...; add a GPU operator to the Stack and to dependsOn, or see that the clusters have one")), line.at);
}

/* Control characters and terminal escapes of the author do not reach anybody's terminal. */
static void foreign_text_is_shown_safely(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct verdict verdict = judge_json(
        arena, document(arena, "", BAD("a\\u001b[31m", "\\n\\u0007") ",{\"na\\u001bme\":1}"));

    (void)state;
    for (size_t i = 0; i < verdict.message.len; i++)
        rows_expect("no control characters",
                    (unsigned char)verdict.message.at[i] >= 0x20 || verdict.message.at[i] == '\n',
                    verdict.message.at);
    rows_expect("a password is not shown",
                str_find(judge_json(arena, document(arena, "", "{\"name\":\"a\",\"version\":\"1.0.0\","
                                    "\"repo\":\"https://u:hunter2@x.io\"}")).message,
                         STR("hunter2"), 0) < 0, "hunter2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_warning_that_is_too_long_keeps_its_way_out),
        cmocka_unit_test(an_update_may_keep_what_was_wrong),
        cmocka_unit_test(metadata_may_change_on_any_stack),
        cmocka_unit_test(uncounted_faults_excuse_nothing),
        cmocka_unit_test(an_unreadable_old_object_excuses_nothing),
        cmocka_unit_test(values_that_no_action_can_carry_are_refused),
        cmocka_unit_test(severities_are_configured),
        cmocka_unit_test(a_label_that_disagrees_warns),
        cmocka_unit_test(the_message),
        cmocka_unit_test(foreign_text_is_shown_safely),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
