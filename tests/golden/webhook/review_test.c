/* SPDX-License-Identifier: Apache-2.0 */
/* review_test.c: tests/golden/review/NAME.in.yaml in every form of the report.
 *
 *   NAME.txt  NAME.json  NAME.sarif  NAME.junit.xml     as --output gives them   NAME.verbose.txt
 * for a terminal, with --verbose
 *
 * NAME.policies.yaml, if it is there, has the policies. Beside the file itself, one that cannot be
 * read and one without a Stack are part of each review. */
#include "support/rows.h"

#include "support/files.h"
#include "support/stack_builder.h"
#include "webhook/offline/validate.h"
#include "webhook/offline/output.h"
#include "webhook/offline/policies.h"

#define FOLDER "tests/golden/review"

static const struct form {
    const char *output;
    const char *suffix;
    bool verbose;
} forms[] = {
    { "text", "txt", false },      { "text", "verbose.txt", true }, { "json", "json", false },
    { "sarif", "sarif", false },   { "junit", "junit.xml", false },
};

static struct str path_of(struct arena *arena, struct str stem, const char *suffix)
{
    return str_fmt(arena, FOLDER "/%.*s.%s", STR_ARG(stem), suffix);
}

/* NULL if there is no such file. */
static struct policy_set *policies_of(struct arena *arena, struct str stem, const char *suffix)
{
    struct str path = path_of(arena, stem, suffix);
    struct input_files files = input_files_new(arena, 1);
    struct policy_set *policies;
    struct str_list wrong;

    if (!test_file_exists(path.at))
        return NULL;
    input_files_push(&files, (struct input_file){ .name = path, .bytes = test_file(arena, path.at) });
    policies = policies_load(arena, &files, &wrong);
    if (!policies)
        fail_msg("%.*s", STR_ARG(wrong.items[0]));
    return policies;
}

static struct report review(struct arena *arena, struct str stem, const struct policy_set *policies)
{
    struct input_files *files = arena_new(arena, struct input_files);
    struct offline_config config = { .namespace_ = STR("default"),
                                     .configuration = configuration_default(),
                                     .policies = policies };

    *files = input_files_new(arena, 3);
    input_files_push(files, (struct input_file){ .name = STR("no such: file.yaml"),
                                                 .failure = STR("cannot read it") });
    input_files_push(files, (struct input_file){ .name = str_fmt(arena, "/repo/%.*s.in.yaml", STR_ARG(stem)),
                                                 .bytes = test_file(arena, path_of(arena, stem, "in.yaml").at) });
    input_files_push(files, (struct input_file){ .name = STR("-"), .bytes = STR("kind: Namespace\n") });
    return offline_review(arena, files, &config);
}

static struct output_style style_of(const struct form *form)
{
    return (struct output_style){
        .folder = STR("/repo"),
        .fails = SEVERITY_DENY,
        .least = SEVERITY_AUDIT,
        .counts = true,
        .verbose = form->verbose,
        .colour = form->verbose,
    };
}

static void check_report(struct arena *arena, struct str stem, const struct report *report)
{
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        struct output_style style = style_of(&forms[i]);
        struct strbuf out = strbuf_new(arena, 4096);

        output_find(str_of(forms[i].output))->write(report, &style, &out);
        test_golden(arena, path_of(arena, stem, forms[i].suffix).at, strbuf_str(&out));
    }
}

static void reports_are_as_they_stand(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str_list names = test_files(arena, FOLDER, ".in.yaml");

    (void)state;
    rows_expect("there are inputs", names.count >= 3, "three of them");
    for (uint32_t i = 0; i < names.count; i++) {
        struct str stem = str_slice(names.items[i], 0, names.items[i].len - strlen(".in.yaml"));
        AUTO(policy_set_unref) struct policy_set *policies = policies_of(arena, stem, "policies.yaml");
        struct report report = review(arena, stem, policies);

        check_report(arena, stem, &report);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_are_as_they_stand),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
