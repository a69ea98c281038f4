/* SPDX-License-Identifier: Apache-2.0 */
/* cases_test.c: StackTests: what passes, and what is said of what does not. */
#include "support/rows.h"

#include "webhook/offline/cases_run.h"
#include "webhook/offline/output.h"

#define HEAD "apiVersion: herd.suse.com/v1\nkind: StackTest\n"
#define STACK(ids) "{apiVersion: herd.suse.com/v1, kind: Stack, metadata: {name: a}, spec: {env: dev, "    \
                   "targets: {clusterIds: [" ids "]}, charts: [{name: a, repo: 'https://x.io', version: 1.0.0}]}}"
#define FOUND "    found: warn: spec.targets.clusterIds[1]: Duplicate value: \"c-1\"; remove one of the two [targets.repeated]\n"

static struct str run(struct arena *arena, struct str text)
{
    struct input_files files = input_files_new(arena, 1);
    struct offline_config config = { .namespace_ = STR("default"), .configuration = configuration_default() };
    struct output_style style = { .counts = true, .verbose = true };
    struct strbuf out = strbuf_new(arena, 1024);

    input_files_push(&files, (struct input_file){ .name = STR("t.yaml"), .bytes = text });

    struct case_report report = cases_run(arena, &files, &config);

    cases_text(&report, &style, &out);
    return strbuf_str(&out);
}

static void tests_say_what_they_got(void **state)
{
    static const struct {
        const char *row;
        const char *text; /* of the one test, or of the file if it begins with "apiVersion" */
        const char *want; /* lines below the first one; "" = it passed */
    } rows[] = {
        { "it is as it should be", "{name: x, verdict: allowed, stack: " STACK("c-1") "}", "" },
        { "with no finding at all", "{name: x, verdict: allowed, rules: [], stack: " STACK("c-1") "}", "" },
        { "a warning, with its words",
          "{name: x, verdict: warned, rules: [targets.repeated], messages: [Duplicate value, remove one], stack: "
          STACK("c-1, c-1") "}", "" },
        { "rules are not looked at unless they are given", "{name: x, verdict: warned, stack: " STACK("c-1, c-1") "}", "" },
        { "another verdict", "{name: x, verdict: denied, stack: " STACK("c-1, c-1") "}",
          "    verdict: got warned; want denied\n" FOUND },
        { "a rule too many", "{name: x, verdict: warned, rules: [], stack: " STACK("c-1, c-1") "}",
          "    rules: got targets.repeated; want none\n" FOUND },
        { "a rule too few, in order and each once",
          "{name: x, verdict: warned, rules: [z, targets.repeated, a, z], stack: " STACK("c-1, c-1") "}",
          "    rules: got targets.repeated; want a, targets.repeated, z\n" FOUND },
        { "words that nothing says", "{name: x, verdict: warned, messages: [\"a\\eb\"], stack: " STACK("c-1, c-1") "}",
          "    messages: nothing says \"a\\x1bb\"\n" FOUND },
        { "several Stacks: the worst counts",
          "{name: x, verdict: warned, stack: {kind: List, items: [" STACK("c-1, c-1") ", " STACK(
              "c-1") "]}}",
          "" },
        { "no Stack", "{name: x, verdict: allowed, stack: {kind: Pod}}",
          "    there is no Stack or workload in it\n" },
        { "a Stack by a slip",
          "{name: x, verdict: denied, rules: [shape.kind], stack: {apiVersion: herd.suse.com/v2, "
          "kind: Stack, metadata: {name: a}, spec: {env: dev, targets: {clusterIds: [c-1]}, "
          "charts: [{name: a, repo: 'https://x.io', version: 1.0.0}]}}}", "" },
        { "no such file", "{name: x, verdict: allowed, files: [no/such.yaml]}",
          "    cannot read no/such.yaml: No such file or directory\n" },
        { "an absolute one", "{name: x, verdict: allowed, files: [/no/such.yaml]}",
          "    cannot read /no/such.yaml: No such file or directory\n" },
        { "nothing to validate", "{name: x, verdict: allowed}",
          "    tests[0].stack: Required value: there is nothing to validate; give stack, files, or both\n" },
        { "a slip in a field", "{name: x, verdict: allowed, fils: [], stack: {}}",
          "    tests[0].fils: Unsupported value: unknown field (did you mean \"files\"?); correct the name, or remove the field\n" },
        { "a field that nothing is near to", "{name: x, verdict: allowed, elephant: 1, stack: {}}",
          "    tests[0].elephant: Unsupported value: unknown field; remove it; docs/review.md lists the fields\n" },
        { "no verdict", "{name: x, stack: {}}", "    tests[0].verdict: Required value; set it\n" },
        { "a test that is none", "7", "    tests[0]: Invalid value: must be an object, not a number; "
          "write a value of the expected type\n" },
        { "no tests", "apiVersion: herd.suse.com/v1\nkind: StackTest\ntests: []\n",
          "    tests: Required value: must have at least 1 item; add one\n" },
        { "no such policies", HEAD "policies: [no/such.yaml]\ntests: [{name: x, verdict: allowed, files: [f]}]\n",
          "    cannot read no/such.yaml: No such file or directory\n" },
        { "a slip in the kind", "apiVersion: herd.suse.com/v2\nkind: stacktest\ntests: [{name: x, verdict: allowed, files: [f]}]\n",
          "    apiVersion: Unsupported value: \"herd.suse.com/v2\": must be herd.suse.com/v1; write apiVersion: herd.suse.com/v1 and kind: StackTest\n"
          "    kind: Unsupported value: \"stacktest\": must be StackTest; write apiVersion: herd.suse.com/v1 and kind: StackTest\n" },
        { "no YAML", "apiVersion: [\n",
          "    did not find expected node content, while parsing a flow node; correct the document\n" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        bool whole = str_starts(str_of(rows[i].text), STR("apiVersion"));
        struct str got = run(arena, whole ? str_of(rows[i].text)
                                          : str_fmt(arena, HEAD "tests: [%s]\n", rows[i].text));
        ptrdiff_t first = str_find_char(got, '\n', 0);
        const char *counts = rows[i].want[0] ? "1 test: 0 passed, 1 failed\n" : "1 test: 1 passed, 0 failed\n";

        rows_expect(rows[i].row, str_find(got, rows[i].want[0] ? STR(" failed: ") : STR(" passed: "), 0) > 0, "told");
        rows_expect_str(rows[i].row, str_slice(got, (size_t)first + 1, got.len),
                        str_fmt(arena, "%s%s", rows[i].want, counts));
    }
}

static void other_kinds_are_no_tests(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);

    (void)state;
    rows_expect_str("none", run(arena, STR("kind: Pod\n---\n" STACK("c-1") "\n")),
                    STR("0 tests: 0 passed, 0 failed\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tests_say_what_they_got),
        cmocka_unit_test(other_kinds_are_no_tests),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
