/* SPDX-License-Identifier: Apache-2.0 */
/* preview_test.c: what is told of tests/golden/preview/NAME.in.yaml stands in NAME.out.txt.
 *
 * One document is created; of two the second replaces the first, which is deployed. The clusters are
 * those of the lab that examples speak of. */
#include "support/rows.h"

#include "stack/model/decode.h"
#include "stack/model/default.h"
#include "stack/preview/preview.h"
#include "support/deployed.h"
#include "support/facts_builder.h"
#include "support/files.h"
#include "support/stack_builder.h"
#include "text/yaml.h"

#define FOLDER "tests/golden/preview"

static void set_up(struct arena *arena, struct facts_builder *builder)
{
    some_facts(arena, builder);
    with_cluster(builder, "c-m-gpu01", "env=prod,workload=ai-ml,gpu=true,region=eu-central");
    with_cluster(builder, "c-m-gpu02", "env=prod,workload=ai-ml,gpu=true,region=eu-west");
    with_cluster(builder, "c-m-gpu-cluster-01", "env=prod,workload=model-serving,gpu=true,region=us-east");
    with_cluster(builder, "c-m-gpu-cluster-02", "env=prod,workload=model-serving,gpu=true,region=us-west");
    with_cluster(builder, "c-m-dev-cluster", "env=dev");
}

static void put_lines(struct strbuf *out, const char *head, const struct str_list *lines)
{
    strbuf_fmt(out, "%s:\n", head);
    for (uint32_t i = 0; i < lines->count; i++)
        strbuf_fmt(out, "%.*s\n", STR_ARG(lines->items[i]));
}

static void preview_one(struct arena *arena, struct str stem)
{
    struct facts_builder builder;
    struct yaml_documents documents;
    struct problems ignored = problems_new(arena);
    struct json old = { NULL, 0 };
    struct strbuf out = strbuf_new(arena, 512);
    struct error err;
    const char *path = str_fmt(arena, FOLDER "/%.*s.in.yaml", STR_ARG(stem)).at;

    set_up(arena, &builder);
    if (yaml_read(arena, test_file(arena, path), &documents, &err) < 0)
        fail_msg("%s: %s", path, err.text);
    if (documents.count > 1)
        old = deployed_stack(arena, test_json(arena, documents.items[0].json), &builder.facts);

    struct json now = test_json(arena, documents.items[documents.count - 1].json);
    const struct stack *stack = stack_default(arena, stack_decode(arena, now, &ignored), NULL);
    const struct resolved_targets *chosen = resolved_targets_of(arena, stack, &builder.facts);
    struct str_list applied = stack_preview(arena, stack, chosen, old, &builder.facts, false);
    struct str_list dry_run = stack_preview(arena, stack, chosen, old, &builder.facts, true);

    put_lines(&out, "kubectl apply", &applied);
    put_lines(&out, "kubectl apply --dry-run=server", &dry_run);
    test_golden(arena, str_fmt(arena, FOLDER "/%.*s.out.txt", STR_ARG(stem)).at, strbuf_str(&out));
}

static void changes_are_told_as_they_stand(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str_list names = test_files(arena, FOLDER, ".in.yaml");

    (void)state;
    rows_expect_int("there are some", names.count, 3);
    for (uint32_t i = 0; i < names.count; i++)
        preview_one(arena, str_slice(names.items[i], 0, names.items[i].len - strlen(".in.yaml")));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(changes_are_told_as_they_stand) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
