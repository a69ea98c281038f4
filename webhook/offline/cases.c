/* SPDX-License-Identifier: Apache-2.0 */
/* cases.c: the fields of a StackTest, and what a case must find. */
#include "webhook/offline/cases.h"

#include "stack/model/fields_decode.h"
#include "stack/model/stack.h"
#include "webhook/offline/output.h"

/* --- fields --- */

enum { NAMES_MAX = 100, TESTS_MAX = 1000 };

static const struct field_word verdict_words[] = {
    { STR_INIT("allowed"), CASE_ALLOWED },
    { STR_INIT("warned"), CASE_WARNED },
    { STR_INIT("denied"), CASE_DENIED },
};
static const struct field_words verdicts = { verdict_words, 3 };

enum case_row { ROW_NAME, ROW_STACK, ROW_FILES, ROW_VERDICT, ROW_RULES, ROW_MESSAGES, CASE_ROWS };

#define AT(type, member) .offset = offsetof(struct type, member)
static const struct field case_rows[CASE_ROWS] = {
    [ROW_NAME] = { STR_INIT("name"), FIELD_STRING, FIELD_REQUIRED, AT(test_case, name), .min = 1,
                   .max = 253, .help = "What must hold, as a sentence." },
    [ROW_STACK] = { STR_INIT("stack"), FIELD_OBJECT, AT(test_case, stack),
                    .help = "A Stack or workload, or a List of them." },
    [ROW_FILES] = { STR_INIT("files"), FIELD_STRINGS, AT(test_case, files), .max = NAMES_MAX,
                    .help = "Files, folders and globs with Stacks and workloads, from the folder "
                            "of this file." },
    [ROW_VERDICT] = { STR_INIT("verdict"), FIELD_WORD, FIELD_REQUIRED, AT(test_case, verdict),
                      .words = &verdicts, .help = "The verdict on the worst of them." },
    [ROW_RULES] = { STR_INIT("rules"), FIELD_STRINGS, AT(test_case, rules), .max = NAMES_MAX,
                    .help = "All rules that find something, and no other." },
    [ROW_MESSAGES] = { STR_INIT("messages"), FIELD_STRINGS, AT(test_case, messages),
                       .max = NAMES_MAX, .help = "Words that findings must say." },
};

static const struct field_table fields_of_case = {
    .name = "case",
    .help = "Stacks, and what must be said of them.",
    .hint = "remove it; docs/review.md lists the fields",
    .rows = case_rows,
    .count = CASE_ROWS,
    .size = sizeof(struct test_case),
};

enum suite_row {
    ROW_API_VERSION,
    ROW_KIND,
    ROW_METADATA,
    ROW_POLICIES,
    ROW_INVENTORY,
    ROW_TESTS,
    SUITE_ROWS
};

/* apiVersion and kind were looked at before. */
struct suite_fields {
    uint64_t given;
    struct str api_version;
    struct str kind;
    struct test_suite suite;
};

static const struct field suite_rows[SUITE_ROWS] = {
    [ROW_API_VERSION] = { STR_INIT("apiVersion"), FIELD_STRING, FIELD_REQUIRED,
                          AT(suite_fields, api_version), .min = 1, .max = 253 },
    [ROW_KIND] = { STR_INIT("kind"), FIELD_STRING, FIELD_REQUIRED, AT(suite_fields, kind), .min = 1,
                   .max = 253 },
    [ROW_METADATA] = { STR_INIT("metadata"), FIELD_OBJECT, AT(suite_fields, suite.metadata) },
    [ROW_POLICIES] = { STR_INIT("policies"), FIELD_STRINGS, AT(suite_fields, suite.policies),
                       .max = NAMES_MAX, .help = "Where the StackPolicies are that are tested." },
    [ROW_INVENTORY] = { STR_INIT("inventory"), FIELD_STRINGS, AT(suite_fields, suite.inventory),
                        .max = NAMES_MAX,
                        .help = "Where the ClusterInventories are by which is validated." },
    [ROW_TESTS] = { STR_INIT("tests"), FIELD_STRUCTS, FIELD_REQUIRED, AT(suite_fields, suite.tests),
                    .of = &fields_of_case, .min = 1, .max = TESTS_MAX },
};

static const struct field_table fields_of_suite = {
    .name = "suite",
    .help = "Tests of rules and policies.",
    .hint = "remove it; docs/review.md lists the fields",
    .rows = suite_rows,
    .count = SUITE_ROWS,
    .size = sizeof(struct suite_fields),
};

/* --- what the table cannot say --- */

static void check_word(struct findings *found, struct str name, struct str got, const char *want)
{
    struct path at = path_field(NULL, name);

    if (got.len && !str_eq(got, str_of(want)))
        finding_add(found, RULE_SHAPE_KIND, CAUSE_VALUE_NOT_SUPPORTED, &at,
                    STR("write apiVersion: " STACK_GROUP "/" STACK_VERSION " and kind: StackTest"),
                    "\"%.*s\": must be %s", STR_ARG(finding_shown(found, got)), want);
}

static void check_case(struct findings *found, const struct test_case *test, const struct path *at)
{
    struct path stack = path_field(at, STR("stack"));

    if (!(test->given & FIELD_BROKEN) && !STACK_GIVEN(test, ROW_STACK) &&
        !STACK_GIVEN(test, ROW_FILES))
        finding_add(found, RULE_SHAPE_REQUIRED, CAUSE_VALUE_REQUIRED, &stack,
                    STR("give stack, files, or both"), "there is nothing to validate");
}

struct test_suite cases_decode(struct arena *arena, struct json object, struct problems *problems)
{
    struct findings found = findings_new(problems);
    struct suite_fields *fields = arena_new(arena, struct suite_fields);
    struct path tests = path_field(NULL, STR("tests"));

    fields_decode(&found, &fields_of_suite, object, fields, NULL);
    check_word(&found, STR("apiVersion"), fields->api_version, STACK_GROUP "/" STACK_VERSION);
    check_word(&found, STR("kind"), fields->kind, "StackTest");
    for (uint32_t i = 0; i < fields->suite.tests.count; i++) {
        struct path at = path_index(&tests, i);

        check_case(&found, &fields->suite.tests.items[i], &at);
    }
    problems_sort(problems);
    return fields->suite;
}

/* --- got and want --- */

static enum case_verdict verdict_of(const struct report *got)
{
    if (got->denied)
        return CASE_DENIED;
    return got->warned ? CASE_WARNED : CASE_ALLOWED;
}

__attribute__((format(printf, 2, 3))) static void add_line(struct str_list *lines,
                                                           const char *format, ...)
{
    va_list args;

    va_start(args, format);
    str_list_push(lines, str_vfmt(lines->arena, format, args));
    va_end(args);
}

static struct str joined(struct arena *arena, const struct str_list *names)
{
    struct strbuf out = strbuf_new(arena, 64);

    for (uint32_t i = 0; i < names->count; i++)
        strbuf_fmt(&out, "%s%.*s", i ? ", " : "", STR_ARG(names->items[i]));
    return names->count ? strbuf_str(&out) : STR("none");
}

/* Without repetitions, in the order of the bytes. */
static struct str_list sorted(struct arena *arena, const struct str_list *names)
{
    struct str_list out = str_list_new(arena, names->count);

    for (uint32_t i = 0; i < names->count; i++) {
        uint32_t at = out.count;

        if (str_list_has(&out, names->items[i]))
            continue;
        str_list_push(&out, names->items[i]);
        for (; at > 0 && str_cmp(out.items[at - 1], names->items[i]) > 0; at--)
            out.items[at] = out.items[at - 1];
        out.items[at] = names->items[i];
    }
    return out;
}

static void compare_rules(const struct test_case *wanted, const struct report *got,
                          struct str_list *wrong)
{
    struct arena *arena = wrong->arena;
    struct str_list rules = str_list_new(arena, 8);

    for (uint32_t i = 0; i < got->findings.count; i++)
        if (!str_list_has(&rules, got->findings.items[i].problem.rule))
            str_list_push(&rules, got->findings.items[i].problem.rule);

    struct str_list got_rules = sorted(arena, &rules);
    struct str_list want_rules = sorted(arena, &wanted->rules);
    struct str got_text = joined(arena, &got_rules);
    struct str want_text = joined(arena, &want_rules);

    if (!str_eq(got_text, want_text))
        add_line(wrong, "rules: got %.*s; want %.*s", STR_ARG(got_text), STR_ARG(want_text));
}

static void compare_messages(const struct test_case *wanted, const struct report *got,
                             struct str_list *wrong)
{
    for (uint32_t i = 0; i < wanted->messages.count; i++) {
        bool said = false;

        for (uint32_t k = 0; k < got->findings.count && !said; k++)
            said = str_find(output_sentence(&got->findings.items[k].problem, wrong->arena),
                            wanted->messages.items[i], 0) >= 0;
        if (!said)
            add_line(wrong, "messages: nothing says \"%.*s\"",
                     STR_ARG(str_shown(wrong->arena, wanted->messages.items[i], 253)));
    }
}

static void tell_findings(const struct report *got, struct str_list *lines)
{
    for (uint32_t i = 0; i < got->findings.count; i++) {
        const struct problem *problem = &got->findings.items[i].problem;

        add_line(lines, "found: %s: %.*s [%.*s]", severity_name(problem->severity),
                 STR_ARG(output_sentence(problem, lines->arena)), STR_ARG(problem->rule));
    }
}

struct str_list cases_compare(struct arena *arena, const struct test_case *wanted,
                              const struct report *got)
{
    struct str_list wrong = str_list_new(arena, 4);
    enum case_verdict verdict = verdict_of(got);

    for (uint32_t i = 0; i < got->files.count; i++)
        if (got->files.items[i].failure.len)
            add_line(&wrong, "%.*s", STR_ARG(got->files.items[i].failure));
    if (!wrong.count && !got->count_of[OBJECT_STACK] && !got->workloads && !got->denied)
        add_line(&wrong, "there is no Stack or workload in it");
    if (wrong.count)
        return wrong;
    if (verdict != wanted->verdict)
        add_line(&wrong, "verdict: got %.*s; want %.*s",
                 STR_ARG(field_word_name(&verdicts, verdict)),
                 STR_ARG(field_word_name(&verdicts, wanted->verdict)));
    if (STACK_GIVEN(wanted, ROW_RULES))
        compare_rules(wanted, got, &wrong);
    compare_messages(wanted, got, &wrong);
    if (wrong.count)
        tell_findings(got, &wrong);
    return wrong;
}

struct case_result cases_broken(struct arena *arena, const struct object *object,
                                const struct problems *problems)
{
    struct case_result result = { .file = object->file,
                                  .at = object_place(object),
                                  .name = STR("the StackTest itself"),
                                  .wrong = str_list_new(arena, 4) };

    if (problems->list.count)
        result.at = object_field_place(object, problems->list.items[0].field);
    for (uint32_t i = 0; i < problems->list.count; i++)
        add_line(&result.wrong, "%.*s", STR_ARG(output_sentence(&problems->list.items[i], arena)));
    return result;
}
