/* review_test.c: tests/golden/review/NAME.in.yaml in every form of the report.
 *
 *   NAME.txt  NAME.json  NAME.sarif  NAME.junit.xml     as --output gives them
 *   NAME.verbose.txt                                    for a terminal, with --verbose
 *
 * Beside the file itself, one that cannot be read and one without a Stack are part of each review. */
#include "support/rows.h"

#include "support/files.h"
#include "support/stack_builder.h"
#include "webhook/offline/judge.h"
#include "webhook/offline/output.h"

#define FOLDER "tests/golden/review"

static const struct form {
    const char *output;
    const char *suffix;
    bool verbose;
} forms[] = {
    { "text", "txt", false },      { "text", "verbose.txt", true }, { "json", "json", false },
    { "sarif", "sarif", false },   { "junit", "junit.xml", false },
};

static struct report review(struct arena *arena, struct str name)
{
    struct input_files *files = arena_new(arena, struct input_files);
    struct offline_config config = { .namespace_ = STR("default"),
                                     .severities = rule_severities_default() };
    const char *path = str_fmt(arena, FOLDER "/%.*s", STR_ARG(name)).at;

    *files = input_files_new(arena, 3);
    input_files_push(files, (struct input_file){ .name = STR("no such: file.yaml"),
                                                 .failure = STR("cannot read it") });
    input_files_push(files, (struct input_file){
                                .name = str_fmt(arena, "/repo/%.*s", STR_ARG(name)),
                                .bytes = test_file(arena, path) });
    input_files_push(files, (struct input_file){ .name = STR("-"), .bytes = STR("kind: Namespace\n") });
    return offline_review(arena, files, &config);
}

static void write(const struct form *form, const struct report *report, struct strbuf *out)
{
    struct output_style style = {
        .folder = STR("/repo"),
        .fails = SEVERITY_DENY,
        .least = SEVERITY_AUDIT,
        .counts = true,
        .verbose = form->verbose,
        .colour = form->verbose,
    };

    output_find(str_of(form->output))->write(report, &style, out);
}

static void reports_are_as_they_stand(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str_list names = test_files(arena, FOLDER, ".in.yaml");

    (void)state;
    rows_expect("there are inputs", names.count >= 2, "two of them");
    for (uint32_t i = 0; i < names.count; i++) {
        struct report report = review(arena, names.items[i]);
        struct str stem = str_slice(names.items[i], 0, names.items[i].len - strlen(".in.yaml"));

        for (size_t k = 0; k < sizeof(forms) / sizeof(forms[0]); k++) {
            struct strbuf out = strbuf_new(arena, 4096);

            write(&forms[k], &report, &out);
            test_golden(arena,
                        str_fmt(arena, FOLDER "/%.*s.%s", STR_ARG(stem), forms[k].suffix).at,
                        strbuf_str(&out));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_are_as_they_stand),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
