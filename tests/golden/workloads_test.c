/* SPDX-License-Identifier: Apache-2.0 */
/* workloads_test.c: what each example of examples/workloads is made into is in workloads/NAME.txt: one object a line. */
#include "support/files.h"
#include "support/rows.h"
#include "support/stack_builder.h"

#include "text/json_write.h"
#include "text/yaml.h"
#include "workload/workload_kind.h"

static const struct kube_kind *kind_of(struct json object)
{
    for (int i = 0; i < WORKLOAD_KIND_COUNT; i++)
        if (str_eq(workload_kinds[i]->kind.resource.kind, json_str(json_get(object, STR("kind")))))
            return &workload_kinds[i]->kind;
    return NULL;
}

static void render(struct arena *arena, struct json object, struct strbuf *out)
{
    struct seen_children none = seen_children_new(arena, 1);
    struct kind_observation seen = { .object = object, .children = &none };
    struct kube_children children = kube_children_new(arena, 8);
    struct problems problems = problems_new(arena);
    const struct kube_kind *kind = kind_of(object);

    kind->render(kind, arena, &seen, &children, &problems);
    rows_expect_int("findings", problems.list.count, 0);
    for (uint32_t i = 0; i < children.count; i++) {
        struct error err = { .code = ERROR_NONE };
        struct json json;

        strbuf_fmt(out, "%.*s %.*s %.*s\n", STR_ARG(children.items[i].resource->kind), STR_ARG(children.items[i].name),
                   STR_ARG(children.items[i].object));
        rows_expect_int("it is JSON", json_read(arena, str_dup(arena, children.items[i].object), &json_limits_default,
                                                &json, &err), 0);
    }
}

static void examples_are_made_into_these_objects(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str_list names = test_files(arena, "examples/workloads", ".yaml");

    (void)state;
    assert_true(names.count > 0);
    for (uint32_t i = 0; i < names.count; i++) {
        struct str name = str_slice(names.items[i], 0, names.items[i].len - sizeof(".yaml") + 1);
        const char *path = str_z(arena, str_fmt(arena, "examples/workloads/%.*s.yaml", STR_ARG(name)));
        struct strbuf out = strbuf_new(arena, 4096);
        struct yaml_documents documents;
        struct error err = { .code = ERROR_NONE };

        if (yaml_read(arena, test_file(arena, path), &documents, &err) != 0)
            fail_msg("%s: %s", path, err.text);
        for (uint32_t k = 0; k < documents.count; k++)
            render(arena, test_json(arena, documents.items[k].json), &out);
        test_golden(arena, str_z(arena, str_fmt(arena, "tests/golden/workloads/%.*s.txt", STR_ARG(name))), strbuf_str(&out));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(examples_are_made_into_these_objects) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
