/* SPDX-License-Identifier: Apache-2.0 */
/* describe_test.c: the index and the description name the same paths, and the definitions all kinds. */
#include "support/rows.h"

#include "base/set.h"
#include "controller/console/describe.h"
#include "text/json.h"

/* All of Herd's kinds: what is added is described, too. */
static struct console_kinds all_kinds(void)
{
    struct console_kinds kinds = { .count = 0 };

    for (const struct crd *crd = crds; crd->kind; crd++)
        console_kinds_add(&kinds, crd);
    return kinds;
}

static struct json read_page(struct arena *arena, const struct strbuf *page)
{
    struct strbuf text = *page;
    struct json root = { NULL, 0 };
    struct error err = { .code = ERROR_NONE };

    rows_expect("it is JSON", json_read(arena, strbuf_str(&text), &json_limits_default, &root, &err) == 0, err.text);
    return root;
}

static void the_index_and_the_description_name_the_same_paths(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct console_kinds kinds = all_kinds();
    struct strbuf index = strbuf_new(arena, 0), openapi = strbuf_new(arena, 0);
    struct json endpoints, paths;

    describe_index(&kinds, &index);
    describe_openapi(arena, &kinds, &openapi);
    endpoints = json_get(read_page(arena, &index), STR("endpoints"));
    paths = json_get(read_page(arena, &openapi), STR("paths"));
    rows_expect_int("as many", json_count(paths), json_count(endpoints));
    for (struct json_iter it = json_iter(endpoints); json_next(&it);) {
        struct json methods = json_get(paths, json_str(json_get(it.value, STR("path"))));
        struct str rest = json_str(json_get(it.value, STR("methods")));
        struct str method;

        while (rest.len && str_split(&rest, ',', &method)) {
            method = str_trim(method);
            method = str_eq(method, STR("GET"))     ? STR("get")
                     : str_eq(method, STR("POST"))  ? STR("post")
                     : str_eq(method, STR("PUT"))   ? STR("put")
                     : str_eq(method, STR("PATCH")) ? STR("patch")
                                                    : STR("delete");
            rows_expect(json_str(json_get(it.value, STR("path"))).at, json_is(json_get(methods, method), JSON_OBJECT),
                        "is described with its methods");
        }
    }
    (void)state;
}

static void operations_have_names_of_their_own(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct console_kinds kinds = all_kinds();
    struct strbuf openapi = strbuf_new(arena, 0);
    struct set names = set_new(arena, 64);

    describe_openapi(arena, &kinds, &openapi);
    for (struct json_iter path = json_iter(json_get(read_page(arena, &openapi), STR("paths"))); json_next(&path);)
        for (struct json_iter it = json_iter(path.value); json_next(&it);) {
            struct str name = json_str(json_get(it.value, STR("operationId")));

            if (!str_eq(it.key, STR("parameters")))
                rows_expect(str_z(arena, name), name.len && set_add(names, name), "is used once");
        }
    (void)state;
}

static void definitions_and_schemas_are_there_for_each_kind(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct console_kinds kinds = all_kinds();
    struct strbuf definitions = strbuf_new(arena, 0), openapi = strbuf_new(arena, 0);
    struct json schemas;
    struct json_iter it;

    describe_definitions(arena, &kinds, &definitions);
    describe_openapi(arena, &kinds, &openapi);
    schemas = json_walk(read_page(arena, &openapi), "components", "schemas", NULL);
    it = json_iter(json_get(read_page(arena, &definitions), STR("items")));
    for (uint32_t i = 0; i < kinds.count; i++) {
        struct str kind = kinds.items[i].resource.kind;

        json_next(&it);
        rows_expect_str("in order", json_str(json_walk(it.value, "spec", "names", "kind", NULL)), kind);
        rows_expect(kinds.items[i].crd->kind, json_is(json_walk(schemas, kinds.items[i].crd->kind, "properties", NULL), JSON_OBJECT),
                    "has a schema");
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_index_and_the_description_name_the_same_paths),
        cmocka_unit_test(operations_have_names_of_their_own),
        cmocka_unit_test(definitions_and_schemas_are_there_for_each_kind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
