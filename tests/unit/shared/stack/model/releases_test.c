/* SPDX-License-Identifier: Apache-2.0 */
/* releases_test.c: what a chart is to be on a cluster: overrides, values of all layers, placeholders,
 * references by cluster, and the digest. */
#include "support/rows.h"

#include "support/observed_builder.h"

#include "stack/model/decode.h"
#include "stack/model/default.h"

static struct json json_of(struct arena *arena, const char *text)
{
    struct json json = { NULL, 0 };
    struct error err = { 0 };

    if (text[0] && json_read(arena, str_of(text), &json_limits_default, &json, &err) < 0)
        fail_msg("%s: %s", text, err.text);
    return json;
}

/* One chart `db` with these values, and what overrides c-1 and c-2 both get. */
static const struct stack *a_stack(struct arena *arena, const char *values, const char *overrides)
{
    struct problems problems = problems_new(arena);
    struct str text = str_fmt(
        arena,
        "{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"Stack\",\"metadata\":{\"name\":\"shop\","
        "\"namespace\":\"team\"},\"spec\":{\"targets\":{\"clusterIds\":[\"c-1\",\"c-2\"]},"
        "\"charts\":[{\"name\":\"db\",\"repo\":\"https://charts.example.com\",\"version\":\"1.2.3\""
        "%s%s}]%s%s}}",
        values[0] ? ",\"values\":" : "", values, overrides[0] ? ",\"overrides\":" : "", overrides);
    const struct stack *stack =
        stack_default(arena, stack_decode(arena, json_of(arena, text.at), &problems), NULL);

    if (problems.list.count)
        fail_msg("%.*s: %.*s", STR_ARG(problems.list.items[0].field),
                 STR_ARG(problems.list.items[0].message));
    return stack;
}

/* "C name text" or "S name version text" of each line; "C name -" is absent, "C name ?" not_synced. */
static struct observed_references read_all(struct arena *arena, const char *lines)
{
    struct observed_references all = observed_references_new(arena, 4);
    struct str rest = str_of(lines);
    struct str line;

    while (str_split(&rest, '|', &line)) {
        struct observed_reference one = { .key = STR("values.yaml") };
        struct str kind;

        (void)str_split(&line, ' ', &kind);
        one.secret = str_eq(kind, STR("S"));
        (void)str_split(&line, ' ', &one.name);
        if (one.secret)
            (void)str_split(&line, ' ', &one.version);
        one.text = line;
        one.state = str_eq(line, STR("-"))   ? REFERENCE_ABSENT
                    : str_eq(line, STR("?")) ? REFERENCE_NOT_SYNCED
                                             : REFERENCE_READ;
        if (one.state != REFERENCE_READ)
            one.text = STR("");
        observed_references_push(&all, one);
    }
    return all;
}

static struct template_facts facts_of(struct arena *arena, const char *id, const char *labels)
{
    return (struct template_facts){ str_of(id), str_fmt(arena, "%s-name", id),
                                    json_of(arena, labels) };
}

#define EU "{\"region\":\"eu\",\"example.com/zone\":\"a\"}"
#define BOTH(values) "[{\"clusterIds\":[\"c-1\"],\"charts\":[{\"name\":\"db\"," values "}]}]"
#define INLINE(map) "{\"inline\":" map "}"

/* Values on c-1, or "!Reason: a part of the message". */
static void expect_values(const char *row, struct arena *arena, const struct stack *stack,
                          const struct observed_references *references,
                          const struct template_facts *facts, const char *want)
{
    struct wanted_release wanted = scene_wanted(arena, stack, references, 0, facts);
    struct str got;

    if (want[0] != '!') {
        if (!wanted.desired)
            fail_msg("%s: %.*s: %.*s", row, STR_ARG(wanted.reason), STR_ARG(wanted.message));
        rows_expect_str(row, releases_values(arena, wanted.desired), str_of(want));
        return;
    }
    rows_expect(row, !wanted.desired, "its values are not known");
    got = str_fmt(arena, "%.*s: %.*s", STR_ARG(wanted.reason), STR_ARG(wanted.message));
    for (struct str rest = str_of(want + 1), part; str_split(&rest, '*', &part);)
        rows_expect(row, str_find(got, part, 0) >= 0, got.at);
}

static void merges_layers_in_order(void **state)
{
    static const struct {
        const char *row, *values, *overrides, *read, *want;
    } rows[] = {
        { "nothing is an empty map", "", "", "", "{}" },
        { "keys are sorted", INLINE("{\"b\":1,\"a\":[1,2.50]}"), "", "", "{\"a\":[1,2.50],\"b\":1}" },
        { "ConfigMaps, Secrets, inline", "{\"secretRefs\":[{\"name\":\"s\"}],\"configMapRefs\":[{\"name\":\"c\"}],"
          "\"inline\":{\"x\":3}}", "", "C c {x: 1, w: 1, z: 1}|S s u/1 {x: 2, w: 2}", "{\"w\":2,\"x\":3,\"z\":1}" },
        { "an override comes after them", INLINE("{\"a\":1,\"b\":{\"c\":1,\"d\":1},\"l\":[1,2]}"),
          BOTH("\"values\":{\"inline\":{\"b\":{\"c\":null,\"e\":2},\"l\":[3]}}"), "",
          "{\"a\":1,\"b\":{\"d\":1,\"e\":2},\"l\":[3]}" },
        { "with references of its own, in the same order", INLINE("{\"a\":1,\"b\":1,\"c\":1,\"d\":1}"),
          BOTH("\"values\":{\"inline\":{\"d\":4},\"secretRefs\":[{\"name\":\"s\"}],\"configMapRefs\":[{\"name\":\"c\"}]}"),
          "C c {b: 2, c: 2, d: 2}|S s u/1 {c: 3, d: 3}", "{\"a\":1,\"b\":2,\"c\":3,\"d\":4}" },
        { "a key named inline is one like others", INLINE("{\"inline\":1}"), "", "", "{\"inline\":1}" },
        { "what is optional may be absent", "{\"configMapRefs\":[{\"name\":\"c\",\"optional\":true}],\"inline\":{\"a\":1}}", "",
          "C c -", "{\"a\":1}" },
        { "an empty document is an empty map", "{\"configMapRefs\":[{\"name\":\"c\"}]}", "", "C c # nothing", "{}" },
        { "a ConfigMap that is absent", "{\"configMapRefs\":[{\"name\":\"c\"}]}", "", "C c -",
          "!ConfigMapNotFound*ConfigMap team/c does not exist; create it" },
        { "a Secret of an override that is absent", "", BOTH("\"values\":{\"secretRefs\":[{\"name\":\"s\"}]}"), "S s - -",
          "!SecretNotFound*Secret team/s does not exist" },
        { "one that is being read", "{\"configMapRefs\":[{\"name\":\"c\"}]}", "", "C c ?", "!ValuesNotSynced*is being read" },
        { "a list is no map", "{\"configMapRefs\":[{\"name\":\"c\"}]}", "", "C c [a]", "!ValuesInvalid*ConfigMap team/c holds an array" },
        { "a syntax error names the reference", "{\"configMapRefs\":[{\"name\":\"c\"}]}", "", "C c a: [", "!ValuesInvalid*ConfigMap team/c" },
        { "two documents are one too many", "{\"configMapRefs\":[{\"name\":\"c\"}]}", "", "C c a: 1\n---\nb: 2", "!2 YAML documents" },
        { "a Secret's syntax error tells its place", "{\"secretRefs\":[{\"name\":\"s\"}]}", "", "S s u/1 a: 1\npin: *canary",
          "!ValuesInvalid*Secret team/s: line 2, column *not shown" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        const struct stack *stack = a_stack(arena, rows[i].values, rows[i].overrides);
        struct observed_references read = read_all(arena, rows[i].read);
        struct template_facts facts = facts_of(arena, "c-1", "");
        struct wanted_release wanted = scene_wanted(arena, stack, &read, 0, &facts);

        expect_values(rows[i].row, arena, stack, &read, &facts, rows[i].want);
        rows_expect(rows[i].row, str_find(wanted.message, STR("canary"), 0) < 0, wanted.message.at);
    }
}

static void replaces_placeholders(void **state)
{
    static const struct {
        const char *row, *values, *overrides, *read, *labels, *want;
    } rows[] = {
        { "all facts", INLINE("{\"a\":\"${cluster.id}/${cluster.name}\",\"b\":[\"x-${cluster.labels.region}\"]}"), "", "", EU,
          "{\"a\":\"c-1/c-1-name\",\"b\":[\"x-eu\"]}" },
        { "a label with a prefix", INLINE("{\"a\":\"${cluster.labels.example.com/zone}\"}"), "", "", EU, "{\"a\":\"a\"}" },
        { "an escape", INLINE("{\"a\":\"$${cluster.id}\",\"b\":\"$$${cluster.id}\"}"), "", "", "",
          "{\"a\":\"${cluster.id}\",\"b\":\"$${cluster.id}\"}" },
        { "other text stays", INLINE("{\"a\":\"${HOME} $${1} ${CLUSTER.id} ${clusters}\"}"), "", "", "",
          "{\"a\":\"${HOME} $${1} ${CLUSTER.id} ${clusters}\"}" },
        { "keys stay", INLINE("{\"${cluster.id}\":1}"), "", "", "", "{\"${cluster.id}\":1}" },
        { "in ConfigMaps", "{\"configMapRefs\":[{\"name\":\"c\"}]}", "", "C c a: ${cluster.id}", "", "{\"a\":\"c-1\"}" },
        { "not in Secrets", "{\"secretRefs\":[{\"name\":\"s\"}],\"inline\":{\"b\":\"${cluster.id}\"}}", "",
          "S s u/1 {a: '${cluster.id} $${cluster.x} ${cluster.'}", "",
          "{\"a\":\"${cluster.id} $${cluster.x} ${cluster.\",\"b\":\"c-1\"}" },
        { "a fact is text, whatever it says", INLINE("{\"a\":\"${cluster.labels.region}\"}"), "", "",
          "{\"region\":\"\\\"},\\\"b\\\":1 ${cluster.id}\"}", "{\"a\":\"\\\"},\\\"b\\\":1 ${cluster.id}\"}" },
        { "a number stays text", INLINE("{\"a\":\"${cluster.labels.region}\"}"), "", "", "{\"region\":\"5\"}", "{\"a\":\"5\"}" },
        { "a label that is missing", INLINE("{\"a\":\"${cluster.labels.zone}\"}"), "", "", EU,
          "!ValuesInvalid*${cluster.labels.zone}, and cluster c-1 (c-1-name) has no such label; add the label*override" },
        { "is not if an override takes its place", INLINE("{\"a\":\"${cluster.labels.zone}\"}"),
          BOTH("\"values\":{\"inline\":{\"a\":\"b\"}}"), "", EU, "{\"a\":\"b\"}" },
        { "an empty one is there", INLINE("{\"a\":\"x${cluster.labels.zone}\"}"), "", "", "{\"zone\":\"\"}", "{\"a\":\"x\"}" },
        { "what a ConfigMap makes up", "{\"configMapRefs\":[{\"name\":\"c\"}]}", "", "C c {a: {b.c: ['${cluster.foo}']}}", EU,
          "!ValuesInvalid*ConfigMap team/c: a[b.c][0]: '${cluster.foo}' is not a placeholder; use ${cluster.id}" },
        { "without an end", "{\"configMapRefs\":[{\"name\":\"c\"}]}", "", "C c {a: '${cluster.id'}", EU, "!'${cluster.id' is not a placeholder" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct observed_references read = read_all(arena, rows[i].read);
        struct template_facts facts = facts_of(arena, "c-1", rows[i].labels);

        expect_values(rows[i].row, arena, a_stack(arena, rows[i].values, rows[i].overrides), &read,
                      &facts, rows[i].want);
    }
}

static void reads_references_by_cluster(void **state)
{
    static const char values[] = "{\"secretRefs\":[{\"name\":\"keys-${cluster.id}\"}],\"inline\":{\"a\":1}}";
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct stack *stack = a_stack(arena, values, "");
    struct observed_references read =
        read_all(arena, "S keys-c-1 u/1 {pin: one}|S keys-c-2 - -");
    struct template_facts one = facts_of(arena, "c-1", ""), two = facts_of(arena, "c-2", "");
    struct releases *releases = releases_new(arena, stack, &read);
    struct u32_list on = releases_overrides(releases, &one);
    struct observed_references named = releases_references(releases, &on, &two);
    struct wanted_release wanted;

    (void)state;
    expect_values("its own Secret", arena, stack, &read, &one, "{\"a\":1,\"pin\":\"one\"}");
    expect_values("another cluster waits alone", arena, stack, &read, &two,
                  "!SecretNotFound*Secret team/keys-c-2 does not exist");
    rows_expect_int("one reference of a cluster", named.count, 1);
    rows_expect_str("by its name there", named.items[0].name, STR("keys-c-2"));
    wanted = releases_wanted(releases, 0, &on, &one);
    rows_expect_str("the version says which", wanted.desired->secret_versions,
                    STR("keys-c-1/values.yaml=u/1\n"));
}

/* Releases that are deployed stay as they are: these digests were made before values had
 * placeholders and overrides had references. */
static void keeps_digests(void **state)
{
#define PLAIN INLINE("{\"z\":{\"cost\":\"$$5 ${HOME} $${X}\"},\"a\":[1,2.50]}")
#define CONFIG "\"configMapRefs\":[{\"name\":\"base\"}]"
#define WRITTEN "\"inline\":{\"z\":{\"k\":null},\"a\":4}}"
#define SECRET "{" CONFIG ",\"secretRefs\":[{\"name\":\"keys\"}]," WRITTEN
#define NEWER BOTH("\"version\":\"2.0.0\"")
    static const struct {
        const char *row, *values, *overrides, *want;
    } rows[] = {
        { "no values", "", "", "sha256:13382c4353ccb5b8cf76544d47b63a512847a23897ec5a57db5de8866e4b3b6b" },
        { "inline", PLAIN, "", "sha256:0ae5d6b70cd978a5a802f001084a8705eee79e205e338f3df559b9ef3d9832b4" },
        { "a ConfigMap", "{" CONFIG "," WRITTEN, "", "sha256:ef8e20be03900b61deed6caa90dde7e2677eefd6b005537f56262196d5244c57" },
        { "a Secret", SECRET, "", "sha256-refs:fdc6fd2338ea780d6a74c830d12b0d2117fa1528d136b327646b9d14be2adffc" },
        { "an override of the version", "", NEWER, "sha256:1f858cfd42a06913f16df13344d8b2e30d6fa3b09c56069b7481fbcecd859d36" },
        { "over inline", PLAIN, NEWER, "sha256:05e591c2f1797399434e6efb23c8ce5ab1713e61e3fe184697c1d9fe1e5f5d18" },
        { "over a ConfigMap", "{" CONFIG "," WRITTEN, NEWER, "sha256:8ab5ca62a8abf0490b9ff79494da8ffc0846443e1f7fab1feb010e9e3f287250" },
        { "over a Secret", SECRET, NEWER, "sha256-refs:bf3030092a5826097fe3309c59791bc8aba1c00e92be2a87623f2b128b34a4de" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct observed_references read =
            read_all(arena, "C base {a: 1, z: {k: 1, l: 2}}|S keys u1/7 {pin: x}");
        struct template_facts facts = facts_of(arena, "c-1", EU);
        struct wanted_release wanted = scene_wanted(
            arena, a_stack(arena, rows[i].values, rows[i].overrides), &read, 0, &facts);

        rows_expect_str(rows[i].row, wanted.desired->digest, str_of(rows[i].want));
    }
}

static void digests_what_makes_another_release(void **state)
{
#define LABEL "${cluster.labels.region}"
    static const struct {
        const char *row, *values, *overrides, *read, *id, *labels;
        bool same; /* as that of the row before */
    } rows[] = {
        { "a plain release", INLINE("{\"a\":1}"), "", "", "c-1", EU, false },
        { "on another cluster", INLINE("{\"a\":1}"), "", "", "c-2", "", true },
        { "an override elsewhere", INLINE("{\"a\":1}"), "[{\"clusterIds\":[\"c-9\"],\"charts\":[{\"name\":\"db\",\"version\":\"2.0.0\"}]}]",
          "", "c-1", "", true },
        { "values", INLINE("{\"a\":2}"), "", "", "c-1", "", false },
        { "the same, by an override", INLINE("{\"a\":1}"), BOTH("\"values\":{\"inline\":{\"a\":2}}"), "", "c-1", "", true },
        { "a label", INLINE("{\"a\":\"" LABEL "\"}"), "", "", "c-1", EU, false },
        { "the same where it is equal", INLINE("{\"a\":\"" LABEL "\"}"), "", "", "c-2", "{\"region\":\"eu\",\"b\":\"c\"}", true },
        { "and where it is written out", INLINE("{\"a\":\"eu\"}"), "", "", "c-2", "", true },
        { "another label", INLINE("{\"a\":\"" LABEL "\"}"), "", "", "c-2", "{\"region\":\"us\"}", false },
        { "an id", INLINE("{\"a\":\"${cluster.id}\"}"), "", "", "c-1", EU, false },
        { "another id", INLINE("{\"a\":\"${cluster.id}\"}"), "", "", "c-2", EU, false },
        { "a Secret", "{\"secretRefs\":[{\"name\":\"s\"}]}", "", "S s u/1 {pin: 1}", "c-1", "", false },
        { "another content alone", "{\"secretRefs\":[{\"name\":\"s\"}]}", "", "S s u/1 {pin: 2}", "c-1", "", true },
        { "another version", "{\"secretRefs\":[{\"name\":\"s\"}]}", "", "S s u/2 {pin: 2}", "c-1", "", false },
        { "a ConfigMap beside it", "{\"configMapRefs\":[{\"name\":\"c\"}],\"secretRefs\":[{\"name\":\"s\"}]}", "",
          "S s u/2 {pin: 2}|C c {a: '" LABEL "'}", "c-1", EU, false },
        { "whose label is another", "{\"configMapRefs\":[{\"name\":\"c\"}],\"secretRefs\":[{\"name\":\"s\"}]}", "",
          "S s u/2 {pin: 2}|C c {a: '" LABEL "'}", "c-1", "{\"region\":\"us\"}", false },
        { "a label that an override makes unused", "{\"secretRefs\":[{\"name\":\"s\"}],\"inline\":{\"a\":\"" LABEL "\"}}",
          BOTH("\"values\":{\"inline\":{\"a\":1}}"), "S s u/2 {pin: 2}", "c-1", EU, false },
        { "may change", "{\"secretRefs\":[{\"name\":\"s\"}],\"inline\":{\"a\":\"" LABEL "\"}}",
          BOTH("\"values\":{\"inline\":{\"a\":1}}"), "S s u/2 {pin: 2}", "c-1", "", true },
        { "an override's Secret", "", BOTH("\"values\":{\"secretRefs\":[{\"name\":\"s\"}]}"), "S s u/2 {pin: 2}", "c-1", "", false },
        { "in another version", "", BOTH("\"values\":{\"secretRefs\":[{\"name\":\"s\"}]}"), "S s u/3 {pin: 2}", "c-1", "", false },
        { "with another content", "", BOTH("\"values\":{\"secretRefs\":[{\"name\":\"s\"}]}"), "S s u/3 {pin: 3}", "c-1", "", true },
    };
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str before = STR("");

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct observed_references read = read_all(arena, rows[i].read);
        struct template_facts facts = facts_of(arena, rows[i].id, rows[i].labels);
        struct wanted_release wanted = scene_wanted(
            arena, a_stack(arena, rows[i].values, rows[i].overrides), &read, 0, &facts);
        struct str digest = wanted.desired ? wanted.desired->digest : wanted.message;

        rows_expect(rows[i].row, wanted.desired != NULL, digest.at);
        rows_expect_int(rows[i].row, str_eq(digest, before), rows[i].same);
        rows_expect_int(rows[i].row, str_starts(digest, STR(DIGEST_OF_SECRETS)),
                        wanted.desired->secret_versions.len > 0);
        before = digest;
    }
}

static void lays_versions_and_skips_over(void **state)
{
    static const struct {
        const char *row, *override, *labels, *version; /* "" = skipped */
    } rows[] = {
        { "by id", "\"clusterIds\":[\"c-2\",\"c-1\"],\"charts\":[{\"name\":\"db\",\"version\":\"2.0.0\"}]", "", "2.0.0" },
        { "by label", "\"selector\":{\"matchLabels\":{\"region\":\"eu\"}},\"charts\":[{\"name\":\"db\",\"version\":\"2.0.0\"}]", EU, "2.0.0" },
        { "not where the label differs", "\"selector\":{\"matchLabels\":{\"region\":\"eu\"}},\"charts\":[{\"name\":\"db\",\"version\":\"2.0.0\"}]",
          "{\"region\":\"us\"}", "1.2.3" },
        { "skip", "\"clusterIds\":[\"c-1\"],\"charts\":[{\"name\":\"db\",\"skip\":true}]", "", "" },
        { "a skipped chart needs no values", "\"clusterIds\":[\"c-1\"],\"charts\":[{\"name\":\"db\",\"skip\":true,"
          "\"values\":{\"configMapRefs\":[{\"name\":\"none\"}]}}]", "", "" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct str overrides = str_fmt(arena, "[{%s}]", rows[i].override);
        struct observed_references read = read_all(arena, "");
        struct template_facts facts = facts_of(arena, "c-1", rows[i].labels);
        struct wanted_release wanted =
            scene_wanted(arena, a_stack(arena, "", overrides.at), &read, 0, &facts);

        rows_expect_int(rows[i].row, wanted.skip, rows[i].version[0] == '\0');
        if (wanted.desired)
            rows_expect_str(rows[i].row, wanted.desired->version, str_of(rows[i].version));
    }
}

/* 64 KiB of placeholders for a long name would be far more than a release may have. */
static void bounds_what_placeholders_make(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf values = strbuf_new(arena, 1 << 17);
    struct strbuf name = strbuf_new(arena, 1 << 17);
    struct template_facts facts = { .id = STR("c-1") };

    (void)state;
    strbuf_lit(&values, "{\"inline\":{\"a\":\"");
    for (int i = 0; i < 4096; i++)
        strbuf_lit(&values, "${cluster.name}");
    strbuf_lit(&values, "\"}}");
    for (int i = 0; i < 8192; i++)
        strbuf_lit(&name, "long-nam");
    facts.name = strbuf_str(&name);
    expect_values("it is rejected", arena, a_stack(arena, strbuf_str(&values).at, ""), NULL, &facts,
                  "!ValuesTooLarge*more than 997952 bytes");
    rows_expect("and costs little", arena_used(arena) < 32 << 20, "less than 32 MiB");
}

/* A thousand clusters that differ in nothing that is used: one merge. */
static void merges_once_for_equal_clusters(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct stack *stack =
        a_stack(arena, INLINE("{\"a\":\"${cluster.labels.region}\",\"b\":1}"), "");
    struct releases *releases = releases_new(arena, stack, NULL);
    const struct desired_release *of[2] = { NULL, NULL };
    size_t merged = 0;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        struct template_facts facts =
            facts_of(arena, str_fmt(arena, "c-%d", i).at,
                     i % 2 ? "{\"region\":\"eu\"}" : "{\"region\":\"us\"}");
        struct u32_list on = releases_overrides(releases, &facts);
        struct wanted_release wanted = releases_wanted(releases, 0, &on, &facts);

        if (of[i % 2])
            rows_expect("one release for equal labels", wanted.desired == of[i % 2], "the same");
        else
            merged = releases_merged_bytes(releases);
        of[i % 2] = wanted.desired;
    }
    rows_expect("one of each", of[0] != of[1], "two");
    rows_expect_int("merged once", (int64_t)releases_merged_bytes(releases), (int64_t)merged);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merges_layers_in_order),
        cmocka_unit_test(replaces_placeholders),
        cmocka_unit_test(reads_references_by_cluster),
        cmocka_unit_test(keeps_digests),
        cmocka_unit_test(digests_what_makes_another_release),
        cmocka_unit_test(lays_versions_and_skips_over),
        cmocka_unit_test(bounds_what_placeholders_make),
        cmocka_unit_test(merges_once_for_equal_clusters),
    };

    return cmocka_run_group_tests_name("shared/stack/model/releases", tests, NULL, NULL);
}
