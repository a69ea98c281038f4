/* SPDX-License-Identifier: Apache-2.0 */
/* objects_test.c: which documents are Stacks, which are nearly, what Lists hold, and where fields
 * stand. */
#include "support/rows.h"

#include "support/repeat.h"

#include "text/limits.h"
#include "webhook/limits.h"
#include "webhook/offline/objects.h"

#define STACK(name) "apiVersion: herd.suse.com/v1\nkind: Stack\nmetadata: {name: " name "}\n"

#define SCALAR "a scalar stands where an object belongs"
#define NO_KIND "there is neither apiVersion nor kind, so this is no Kubernetes object"

/* "S line:column ...; O kind ...; B line:column what ..." */
static struct str shown(struct arena *arena, const struct objects *objects)
{
    struct strbuf out = strbuf_new(arena, 256);

    for (uint32_t i = 0; i < objects->list.count; i++) {
        struct place at = object_place(&objects->list.items[i]);

        strbuf_fmt(&out, "S %u:%u ", at.line, at.column);
    }
    for (uint32_t i = 0; i < objects->others.count; i++)
        strbuf_fmt(&out, "O %u:%u %.*s ", objects->others.items[i].at.line,
                   objects->others.items[i].at.column, STR_ARG(objects->others.items[i].kind));
    for (uint32_t i = 0; i < objects->bad.count; i++)
        strbuf_fmt(&out, "B %u:%u %.*s ", objects->bad.items[i].at.line,
                   objects->bad.items[i].at.column, STR_ARG(objects->bad.items[i].what));
    return str_trim(strbuf_str(&out));
}

static void documents_are_what_they_say(void **state)
{
    static const struct {
        const char *row;
        const char *text;
        const char *want;
    } rows[] = {
        { "nothing", "", "" },
        { "comments and empty documents", "# x\n---\n---\n# y\n", "" },
        { "a Stack", STACK("a"), "S 1:1" },
        { "two", STACK("a") "---\n" STACK("b"), "S 1:1 S 5:1" },
        { "a Stack in JSON", "\n {\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"Stack\"}", "S 2:2" },
        { "another kind", "apiVersion: v1\nkind: ConfigMap\n", "O 1:1 ConfigMap" },
        { "no object", "- 1\n---\n7\n", "B 1:3 " SCALAR " B 3:1 " SCALAR },
        { "an error message", "Error from server (Forbidden): stacks is forbidden\n", "B 1:1 " NO_KIND },
        { "a text in JSON", "\"{}\"", "B 1:1 " SCALAR },
        { "a comment of another language", "// x\n{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"Stack\"}", "B 1:1 " SCALAR },
        { "a sequence", "- {kind: Stack, apiVersion: herd.suse.com/v1}\n- {kind: Pod}\n- {a: 1}\n", "S 1:3 O 2:3 Pod B 3:3 " NO_KIND },
        { "a sequence in JSON", "[[{\"kind\":\"Stack\",\"apiVersion\":\"herd.suse.com/v1\"}], null]", "S 1:3" },
        { "values of a chart", "image: {tag: 1}\n", "B 1:1 " NO_KIND },
        { "a List", "kind: List\nitems:\n- {kind: Stack, apiVersion: herd.suse.com/v1}\n- {kind: Pod}\n",
          "S 3:3 O 4:3 Pod" },
        { "a StackList", "kind: StackList\nitems: [{kind: Stack, apiVersion: herd.suse.com/v1}]\n", "S 2:9" },
        { "Lists in a List", "kind: List\nitems: [{kind: List, items: [{kind: Pod}]}]\n", "O 2:30 Pod" },
        { "a List that is none", "kind: List\nitems: {}\n", "O 1:1 List" },
        { "a later version", "apiVersion: herd.suse.com/v1beta1\nkind: Stack\n", "S 1:1" },
        { "no version", "apiVersion: herd.suse.com\nkind: Stack\n", "S 1:1" },
        { "another domain", "apiVersion: herd.suse.de/v1\nkind: Stack\n", "S 1:1" },
        { "a small letter", "apiVersion: herd.suse.com/v1\nkind: stack\n", "S 1:1" },
        { "more than one", "apiVersion: herd.suse.com/v1\nkind: Stacks\n", "S 1:1" },
        { "no kind, but charts", "apiVersion: herd.suse.com/v1\nspec: {charts: []}\n", "S 1:1" },
        { "no apiVersion, but charts", "kind: Stack\nspec: {charts: []}\n", "S 1:1" },
        { "charts alone", "spec: {charts: []}\n", "S 1:1" },
        { "charts of another kind", "kind: Fleet\nspec: {charts: []}\n", "O 1:1 Fleet" },
        { "somebody else's Stack", "apiVersion: pulumi.com/v1\nkind: Stack\n", "O 1:1 Stack" },
        { "another kind of ours", "apiVersion: herd.suse.com/v1\nkind: StackPolicy\n", "O 1:1 StackPolicy" },
        { "the same with charts", "apiVersion: herd.suse.com/v1\nkind: Fleet\nspec: {charts: []}\n", "O 1:1 Fleet" },
        { "what is no YAML hides no other", "a: [\n---\n" STACK("a") "---\n{a: 1, a: 2}\n",
          "S 3:1 B 2:1 did not find expected node content, while parsing a flow node B 7:8 duplicate key \"a\"" },
        { "a NUL", "kind: A\n---\nb: \x01\n", "O 1:1 A B 3:4 control characters are not allowed" },
        { "an alias of another document", STACK("a") "x: &x 1\n---\na: *x\n", "S 1:1 B 6:4 there is no anchor &x above" },
        { "a kind of another type", "apiVersion: [herd.suse.com/v1]\nkind: {Stack: 1}\n", "B 1:1 " NO_KIND },
        { "names with escapes", "kind: \"a\\e[31m\"\n", "O 1:1 a\\x1b[31m" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct objects objects = objects_new(arena, 1 << OBJECT_STACK);

        objects_read(&objects, 0, str_of(rows[i].text), false);
        rows_expect_str(rows[i].row, shown(arena, &objects), str_of(rows[i].want));
    }
}

/* Values of charts and the like lie beside manifests. */
static void found_files_may_hold_other_data(void **state)
{
    static const struct {
        const char *row;
        const char *text;
        const char *want;
    } rows[] = {
        { "values of a chart", "image: {tag: 1}\n", "O 1:1" },
        { "a kustomization", "resources: [a.yaml]\n", "O 1:1" },
        { "a sequence of something", "- 1\n- {a: 1}\n", "O 1:3  O 2:3" },
        { "a Stack but for its kind", "spec: {charts: []}\n", "S 1:1" },
        { "Stacks in a sequence", "- {kind: Stack, apiVersion: herd.suse.com/v1}\n", "S 1:3" },
        { "a text", "404: Not Found\n---\n404 Not Found\n", "O 1:1  B 3:1 " SCALAR },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct objects objects = objects_new(arena, 1 << OBJECT_STACK);

        objects_read(&objects, 0, str_of(rows[i].text), true);
        rows_expect_str(rows[i].row, shown(arena, &objects), str_of(rows[i].want));
    }
}

static void ways_out_fit_what_is_wrong(void **state)
{
    static const struct {
        const char *row;
        struct str text;
        const char *want;
    } rows[] = {
        { "anything", STR_INIT("a: [\n"), "correct the document" },
        { "a Helm template's value", STR_INIT("a: {{ .Values.a }}\n"), "helm template . | herd-webhook review -" },
        { "and its blocks", STR_INIT("a: 1\n{{- if .Values.a }}\nb: 2\n{{- end }}\n"), "helm template" },
        { "braces elsewhere", STR_INIT("a: '{{ x }}'\nb: 1\nc: 1\nd: 1\ne: ]\n"), "correct the document" },
        { "a pattern in double quotes", STR_INIT("pattern: \"\\d+\"\n"), "single quotes" },
        { "a comment of another language", STR_INIT("// values\na: 1\n"), "with #" },
        { "UTF-16", STR_INIT("\xff\xfe" "a\0:\0 \0" "1\0"), "UTF-8" },
        { "the other UTF-16", STR_INIT("\xfe\xff\0a\0:\0 \0" "1"), "UTF-8" },
        { "Latin-1", STR_INIT("a: caf\xe9\n"), "UTF-8" },
        { "a text", STR_INIT("forbidden\n"), "see whether what wrote it failed" },
        { "no kind", STR_INIT("a: 1\n"), "passes over" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct objects objects = objects_new(arena, 1 << OBJECT_STACK);

        objects_read(&objects, 0, rows[i].text, false);
        rows_expect_int(rows[i].row, objects.bad.count, 1);
        rows_expect(rows[i].row, str_find(objects.bad.items[0].remedy, str_of(rows[i].want), 0) >= 0,
                    rows[i].want);
    }
}

static void fields_stand_at_their_keys(void **state)
{
    static const char text[] = "# first\n---\n" STACK("a")
                               "spec:\n"
                               "  env: dev\n"
                               "  charts:\n"
                               "  - name: db\n"
                               "    dependsOn: [x, \xc3\xa9y, z]\n"
                               "  - {name: api, version: 1}\n";
    static const struct {
        const char *field;
        uint32_t line, column;
    } rows[] = {
        { "", 3, 1 },
        { "apiVersion", 3, 1 },
        { "metadata.name", 5, 12 },
        { "metadata.namespace", 5, 1 },
        { "spec", 6, 1 },
        { "spec.env", 7, 3 },
        { "spec.targets", 6, 1 },
        { "spec.charts", 8, 3 },
        { "spec.charts[0]", 9, 5 },
        { "spec.charts[0].version", 9, 5 },
        { "spec.charts[0].dependsOn[2]", 10, 24 },
        { "spec.charts[1]", 11, 5 },
        { "spec.charts[1].version", 11, 17 },
        { "spec.charts[7].version", 8, 3 },
    };
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct objects objects = objects_new(arena, 1 << OBJECT_STACK);

    (void)state;
    objects_read(&objects, 0, STR("kind: Other\n"), false);
    objects_read(&objects, 1, str_of(text), false);
    rows_expect_int("one Stack", objects.list.count, 1);
    rows_expect_int("its file", objects.list.items[0].file, 1);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct place at = object_field_place(&objects.list.items[0], str_of(rows[i].field));

        rows_expect_int(rows[i].field, at.line, rows[i].line);
        rows_expect_int(rows[i].field, at.column, rows[i].column);
    }
}

static void what_programs_write_may_be_large(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct objects objects = objects_new(arena, 1 << OBJECT_STACK);
    const char *stack = "{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"Stack\",\"metadata\":{\"name\":\"a\"}},\n";
    struct str json = repeat(arena, "{\"kind\":\"List\",\"items\":[", stack, 20000, "{\"kind\":\"Pod\"}]}");
    struct str yaml = repeat(arena, "", STACK("a") "---\n", 20000, "");
    struct str list = repeat(arena, "kind: List\nitems:\n", "- {}\n", 300000, "");

    (void)state;
    rows_expect("more than a YAML document may have", json.len > LIMIT_YAML_TEXT, "bytes");
    objects_read(&objects, 0, json, false);
    rows_expect_int("Stacks of a List in JSON", objects.list.count, 20000);
    rows_expect_int("the last one's line", (int)object_place(&objects.list.items[19999]).line, 20000);
    objects_read(&objects, 1, yaml, false);
    rows_expect_int("Stacks of a stream", objects.list.count, 40000);
    rows_expect_int("nothing is bad", objects.bad.count, 0);
    objects_read(&objects, 2, list, false);
    rows_expect_int("one YAML document has its bounds", objects.bad.count, 1);
}

static void documents_are_counted(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct objects objects = objects_new(arena, 1 << OBJECT_STACK);
    struct str many = repeat(arena, "", "---\n{}\n", LIMIT_OFFLINE_DOCUMENTS + 5, "");

    (void)state;
    objects_read(&objects, 0, many, true);
    rows_expect_int("so many are read", objects.others.count, LIMIT_OFFLINE_DOCUMENTS);
    rows_expect_int("and the rest is told once", objects.bad.count, 1);
    rows_expect_int("where it begins", objects.bad.items[0].at.line, 2 * LIMIT_OFFLINE_DOCUMENTS + 1);
    objects_read(&objects, 1, STR("a: 1"), true);
    rows_expect_int("also of the next file", objects.bad.count, 2);
    rows_expect("little is kept of what is no Stack", arena_used(arena) < (64 << 20), "64 MiB");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents_are_what_they_say),
        cmocka_unit_test(found_files_may_hold_other_data),
        cmocka_unit_test(ways_out_fit_what_is_wrong),
        cmocka_unit_test(fields_stand_at_their_keys),
        cmocka_unit_test(what_programs_write_may_be_large),
        cmocka_unit_test(documents_are_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
