/* diff_test.c: a Stack's findings of both reports are compared, whatever the Stacks before it had: none, too, and
 * documents between them that are no objects. */
#include "support/rows.h"

#include "webhook/offline/diff.h"

#include <string.h>

/* What is found of each Stack, a letter for each finding: a capital denies. '-' is a finding of no object. */
static const struct row {
    const char *name;
    const char *before[4];
    const char *after[4];
    const char *changes; /* a letter for each Stack: '.', Refused, Passes, Told */
} rows[] = {
    { "nothing anywhere", { "", "" }, { "", "" }, ".." },
    { "a Stack without findings hides none behind it", { "", "a", "b" }, { "", "a", "b" }, "..." },
    { "one that had none is refused, and so is the next", { "", "" }, { "A", "A" }, "RR" },
    { "only the last", { "", "", "", "" }, { "", "", "", "A" }, "...R" },
    { "only the last, which passes", { "", "", "", "A" }, { "", "", "", "" }, "...P" },
    { "findings on one side each", { "a", "", "a", "" }, { "", "a", "", "a" }, "TTTT" },
    { "what cannot be read stands between", { "a", "-", "b", "" }, { "a", "-", "", "c" }, "..TT" },
    { "the same ones", { "Ab", "cd", "", "e" }, { "Ab", "cd", "", "e" }, "...." },
    { "refused for another reason", { "A", "b" }, { "B", "b" }, "T." },
};

static struct report report_of(struct arena *arena, const char *const found[4], size_t stacks)
{
    struct report report = { .objects = report_objects_new(arena, 4), .findings = report_findings_new(arena, 8) };

    for (uint32_t i = 0; i < stacks; i++) {
        struct report_object object = { .kind = OBJECT_STACK, .allowed = true };

        for (const char *at = found[i]; *at; at++) {
            bool denies = *at >= 'A' && *at <= 'Z';
            struct report_finding finding = { .object = *at == '-' ? REPORT_NO_OBJECT : i };

            finding.problem.severity = denies ? SEVERITY_DENY : SEVERITY_WARN;
            finding.problem.rule = STR("shape.type");
            finding.problem.message = str_fmt(arena, "%c", *at);
            object.allowed = object.allowed && !denies;
            report_findings_push(&report.findings, finding);
        }
        report_objects_push(&report.objects, object);
    }
    return report;
}

static char letter_of(const struct diff *diff, uint32_t object)
{
    for (uint32_t i = 0; i < diff->stacks.count; i++)
        if (diff->stacks.items[i].object == object)
            return "?RPT"[diff->stacks.items[i].change];
    return '.';
}

static void each_stack_is_compared(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        size_t stacks = strlen(rows[i].changes);
        struct report before = report_of(arena, rows[i].before, stacks);
        struct report after = report_of(arena, rows[i].after, stacks);
        struct diff diff = diff_reports(arena, &before, &after);
        struct strbuf got = strbuf_new(arena, 8);

        for (uint32_t k = 0; k < stacks; k++)
            strbuf_char(&got, letter_of(&diff, k));
        rows_expect_str(rows[i].name, strbuf_str(&got), str_of(rows[i].changes));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(each_stack_is_compared) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
