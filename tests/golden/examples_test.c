/* SPDX-License-Identifier: Apache-2.0 */
/* examples_test.c: the files under examples/ are validated as they say.
 *
 * examples/ and accepted/   every Stack in them is accepted
 * rejected/NAME.yaml        is rejected with the text of NAME.answer.txt
 * defaulted/NAME.yaml       gets the patch NAME.patch.json and becomes NAME.out.yaml */
#include "support/rows.h"

#include "support/files.h"
#include "support/stack_builder.h"
#include "text/patch.h"
#include "text/yaml.h"

static struct yaml_documents read_documents(struct arena *arena, const char *path)
{
    struct yaml_documents documents;
    struct error err = { 0 };

    if (yaml_read(arena, test_file(arena, path), &documents, &err) != 0)
        fail_msg("%s: %s", path, err.text);
    return documents;
}

static bool is_stack(struct json object)
{
    return str_eq(json_str(json_get(object, STR("kind"))), STR("Stack"));
}

static uint32_t expect_accepted(const char *folder)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str_list names = test_files(arena, folder, ".yaml");
    uint32_t stacks = 0;

    for (uint32_t i = 0; i < names.count; i++) {
        const char *path = str_fmt(arena, "%s/%.*s", folder, STR_ARG(names.items[i])).at;
        struct yaml_documents documents = read_documents(arena, path);

        for (uint32_t k = 0; k < documents.count; k++) {
            struct json object = test_json(arena, documents.items[k].json);

            if (!is_stack(object))
                continue;

            struct verdict verdict = validate_json(arena, object);

            stacks++;
            if (!verdict.allowed)
                fail_msg("%s is rejected:\n%.*s", path, STR_ARG(verdict.message));
            if (verdict.warnings.count)
                fail_msg("%s is warned about:\n%.*s", path, STR_ARG(verdict.warnings.items[0]));
        }
    }
    return stacks;
}

static void examples_are_accepted_without_a_warning(void **state)
{
    (void)state;
    rows_expect_int("stacks to begin with", expect_accepted("examples"), 2);
    /* The seven of the seeds, as they stand there, and one with every field. */
    rows_expect_int("stacks of the seeds, every field, values by cluster, and a rollout", expect_accepted("examples/accepted"), 10);
}

/* The one Stack of a file. */
static struct json only_stack(struct arena *arena, const char *path, struct str *ret_text)
{
    struct yaml_documents documents = read_documents(arena, path);

    rows_expect_int(path, documents.count, 1);
    *ret_text = documents.items[0].json;
    return test_json(arena, documents.items[0].json);
}

static void rejected_examples_get_their_answer(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str_list names = test_files(arena, "examples/rejected", ".yaml");

    (void)state;
    for (uint32_t i = 0; i < names.count; i++) {
        struct str stem = str_slice(names.items[i], 0, names.items[i].len - strlen(".yaml"));
        const char *path = str_fmt(arena, "examples/rejected/%.*s", STR_ARG(names.items[i])).at;
        const char *answer = str_fmt(arena, "examples/rejected/%.*s.answer.txt", STR_ARG(stem)).at;
        struct str text;
        struct verdict verdict = validate_json(arena, only_stack(arena, path, &text));

        rows_expect(path, !verdict.allowed, "it is rejected");
        rows_expect_str(path, verdict.patch, STR(""));
        test_golden(arena, answer, str_fmt(arena, "%.*s\n", STR_ARG(verdict.message)));
    }
}

static struct str patched(struct arena *arena, struct str text, struct str patch)
{
    struct value *document;
    struct value *result;
    struct error err = { 0 };

    if (value_read(arena, text, &json_limits_default, &document, &err) != 0 ||
        patch_apply(arena, document, patch, &result, &err) != 0)
        fail_msg("%s", err.text);
    return value_json(arena, result);
}

static void defaulted_examples_become_their_output(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str_list names = test_files(arena, "examples/defaulted", ".out.yaml");

    (void)state;
    rows_expect("there are examples of defaults", names.count >= 4, "four of them");
    for (uint32_t i = 0; i < names.count; i++) {
        struct str stem = str_slice(names.items[i], 0, names.items[i].len - strlen(".out.yaml"));
        const char *path = str_fmt(arena, "examples/defaulted/%.*s.yaml", STR_ARG(stem)).at;
        const char *out = str_fmt(arena, "examples/defaulted/%.*s.out.yaml", STR_ARG(stem)).at;
        const char *patch = str_fmt(arena, "examples/defaulted/%.*s.patch.json", STR_ARG(stem)).at;
        struct str text;
        struct verdict verdict = validate_json(arena, only_stack(arena, path, &text));
        struct strbuf yaml = strbuf_new(arena, 1024);
        struct json after = test_json(arena, patched(arena, text, verdict.patch));

        yaml_write(after, &yaml);
        test_golden(arena, patch, str_fmt(arena, "%.*s\n", STR_ARG(verdict.patch)));
        test_golden(arena, out, strbuf_str(&yaml));
        rows_expect_str("what was defaulted needs nothing more", validate_json(arena, after).patch,
                        STR(""));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples_are_accepted_without_a_warning),
        cmocka_unit_test(rejected_examples_get_their_answer),
        cmocka_unit_test(defaulted_examples_become_their_output),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
