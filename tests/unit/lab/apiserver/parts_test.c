/* SPDX-License-Identifier: Apache-2.0 */
/* parts_test.c: JSON paths, ages, strategic merges, field sets: the pure parts. */
#include "support/rows.h"

#include "lab/apiserver/columns.h"
#include "lab/apiserver/managers.h"
#include "lab/apiserver/jsonpath.h"
#include "lab/apiserver/object.h"
#include "lab/apiserver/strategic.h"

static struct value *value(struct arena *arena, const char *text)
{
    struct value *read;
    struct error err;

    if (value_read(arena, str_of(text), &json_limits_default, &read, &err) != 0)
        fail_msg("%s\n%s", err.text, text);
    return read;
}

static const struct path_row {
    const char *sentence, *path, *want;
} path_rows[] = {
    { "members", ".spec.env", "\"dev\"" },
    { "an element", ".spec.list[1]", "2" },
    { "the last element", ".spec.list[-1]", "3" },
    { "all elements", ".spec.list[*]", "1 2 3" },
    { "a key with dots", ".spec['a.b']", "true" },
    { "a key with an escaped dot", ".spec.a\\.b", "true" },
    { "a filter", ".conds[?(@.type==\"Ready\")].status", "\"True\"" },
    { "a filter that nothing passes", ".conds[?(@.type=='Nope')].status", "" },
    { "nothing there", ".spec.nope.more", "" },
    { "braces as kubectl writes them", "{.spec.env}", "\"dev\"" },
};

static void test_paths(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct json root;
    struct error err;

    (void)state;
    assert_int_equal(
        json_read(arena,
                  STR("{\"spec\":{\"env\":\"dev\",\"list\":[1,2,3],\"a.b\":true},\"conds\":[{"
                      "\"type\":\"Other\",\"status\":\"False\"},{\"type\":\"Ready\",\"status\":"
                      "\"True\"}]}"),
                  &json_limits_default, &root, &err),
        0);
    for (size_t i = 0; i < sizeof(path_rows) / sizeof(path_rows[0]); i++) {
        struct jsonpath *path = jsonpath_compile(arena, str_of(path_rows[i].path), &err);
        struct json_list found = json_list_new(arena, 0);
        struct strbuf text = strbuf_new(arena, 32);

        rows_expect(path_rows[i].sentence, path != NULL, "it compiles");
        jsonpath_find(path, root, &found);
        for (uint32_t k = 0; k < found.count; k++)
            strbuf_fmt(&text, "%s%.*s", k ? " " : "", STR_ARG(json_raw(found.items[k])));
        rows_expect_str(path_rows[i].sentence, strbuf_str(&text), str_of(path_rows[i].want));
    }
    rows_expect("a path begins with a dot", !jsonpath_compile(arena, STR("spec"), &err), "rejected");
}

static const struct age_row {
    int64_t seconds;
    const char *want;
} age_rows[] = {
    { 0, "0s" },         { 119, "119s" },         { 120, "2m" },         { 185, "3m5s" },
    { 600, "10m" },      { 10799, "179m" },       { 10800, "3h" },       { 11000, "3h3m" },
    { 172799, "47h" },   { 172800, "2d" },        { 180000, "2d2h" },    { 700000, "8d" },
    { 63072000, "2y" },  { 63158400, "2y1d" },    { 300000000, "9y" },   { -5, "<invalid>" },
};

static void test_ages(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);

    (void)state;
    for (size_t i = 0; i < sizeof(age_rows) / sizeof(age_rows[0]); i++)
        rows_expect_str("an age", age_text(arena, age_rows[i].seconds * 1000),
                        str_of(age_rows[i].want));
}

static const struct merge_row {
    const char *sentence, *kind, *document, *patch, *want;
} merge_rows[] = {
    { "maps merge and null deletes", "ConfigMap", "{\"data\":{\"a\":\"1\",\"b\":\"2\"}}",
      "{\"data\":{\"a\":null,\"c\":\"3\"}}", "{\"data\":{\"b\":\"2\",\"c\":\"3\"}}" },
    { "containers join by name", "Pod",
      "{\"spec\":{\"containers\":[{\"name\":\"a\",\"image\":\"x\",\"tty\":true},{\"name\":\"b\"}]}"
      "}",
      "{\"spec\":{\"containers\":[{\"name\":\"a\",\"image\":\"y\"},{\"name\":\"c\"}]}}",
      "{\"spec\":{\"containers\":[{\"name\":\"a\",\"image\":\"y\",\"tty\":true},{\"name\":\"b\"},{"
      "\"name\":\"c\"}]}}" },
    { "one element is deleted", "Pod",
      "{\"spec\":{\"containers\":[{\"name\":\"a\"},{\"name\":\"b\"}]}}",
      "{\"spec\":{\"containers\":[{\"$patch\":\"delete\",\"name\":\"a\"}]}}",
      "{\"spec\":{\"containers\":[{\"name\":\"b\"}]}}" },
    { "lists without a key are replaced", "Pod",
      "{\"spec\":{\"containers\":[{\"name\":\"a\",\"args\":[\"1\",\"2\"]}]}}",
      "{\"spec\":{\"containers\":[{\"name\":\"a\",\"args\":[\"3\"]}]}}",
      "{\"spec\":{\"containers\":[{\"name\":\"a\",\"args\":[\"3\"]}]}}" },
    { "finalizers are a set", "ConfigMap", "{\"metadata\":{\"finalizers\":[\"a/b\"]}}",
      "{\"metadata\":{\"finalizers\":[\"c/d\",\"a/b\"]}}",
      "{\"metadata\":{\"finalizers\":[\"a/b\",\"c/d\"]}}" },
    { "elements leave a set by directive", "ConfigMap",
      "{\"metadata\":{\"finalizers\":[\"a/b\",\"c/d\"]}}",
      "{\"metadata\":{\"$deleteFromPrimitiveList/finalizers\":[\"a/b\"]}}",
      "{\"metadata\":{\"finalizers\":[\"c/d\"]}}" },
    { "an order is given by directive", "Pod",
      "{\"spec\":{\"containers\":[{\"name\":\"a\"},{\"name\":\"b\"}]}}",
      "{\"spec\":{\"$setElementOrder/containers\":[{\"name\":\"b\"},{\"name\":\"a\"}]}}",
      "{\"spec\":{\"containers\":[{\"name\":\"b\"},{\"name\":\"a\"}]}}" },
    { "a map is replaced by directive", "ConfigMap", "{\"data\":{\"a\":\"1\"}}",
      "{\"data\":{\"$patch\":\"replace\",\"b\":\"2\"}}", "{\"data\":{\"b\":\"2\"}}" },
};

static const struct kind *kind_named(const struct builtin *builtin, const char *name)
{
    for (uint32_t i = 0; i < builtin->kinds.count; i++)
        if (str_eq(builtin->kinds.items[i]->kind, str_of(name)))
            return builtin->kinds.items[i];
    return NULL;
}

static void test_strategic(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct builtin *builtin = builtin_new(arena);

    (void)state;
    for (size_t i = 0; i < sizeof(merge_rows) / sizeof(merge_rows[0]); i++) {
        const struct merge_row *row = &merge_rows[i];
        struct value *result;
        struct error err;

        assert_int_equal(strategic_merge(arena, kind_named(builtin, row->kind)->schema,
                                         value(arena, row->document), value(arena, row->patch),
                                         &result, &err),
                         0);
        rows_expect_str(row->sentence, value_json(arena, result), str_of(row->want));
    }
}

static struct str managers(struct arena *arena, const struct value *object)
{
    struct strbuf out = strbuf_new(arena, 128);

    for (struct value *m = value_first(meta_get(object, "managedFields")); m; m = value_next(m)) {
        strbuf_fmt(&out, "%s%.*s ", out.len ? " | " : "",
                   STR_ARG(value_text(value_get(m, STR("manager")))));
        value_write(value_get(m, STR("fieldsV1")), true, &out);
    }
    return strbuf_str(&out);
}

static void test_managers(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct kind *kind = kind_named(builtin_new(arena), "ConfigMap");
    struct field_writer a = { STR("a"), STR(""), STR("v1"), STR("2026-01-01T00:00:00Z") };
    struct field_writer b = { STR("b"), STR(""), STR("v1"), STR("2026-01-01T00:00:01Z") };
    struct value *first = value(arena, "{\"metadata\":{\"name\":\"n\",\"labels\":{\"l\":\"1\"}},"
                                       "\"data\":{\"x\":\"1\",\"y\":\"1\"}}");
    struct value *second, *third;

    (void)state;
    managers_update(arena, kind, NULL, first, &a);
    rows_expect_str("the creator has everything but what the server sets", managers(arena, first),
                    STR("a "
                        "{\"f:data\":{\".\":{},\"f:x\":{},\"f:y\":{}},\"f:metadata\":{\"f:labels\":"
                        "{\".\":{},\"f:l\":{}}}}"));
    second = value_clone(arena, first);
    value_set(arena, value_get(second, STR("data")), STR("y"), value_str(arena, STR("2")));
    managers_update(arena, kind, first, second, &b);
    rows_expect_str("what another changes is the other's", managers(arena, second),
                    STR("a "
                        "{\"f:data\":{\".\":{},\"f:x\":{}},\"f:metadata\":{\"f:labels\":{\".\":{},"
                        "\"f:l\":{}}}} | b {\"f:data\":{\"f:y\":{}}}"));
    third = value_clone(arena, second);
    value_remove(value_get(third, STR("data")), STR("y"));
    managers_update(arena, kind, second, third, &a);
    rows_expect_str("what is gone is nobody's", managers(arena, third),
                    STR("a "
                        "{\"f:data\":{\".\":{},\"f:x\":{}},\"f:metadata\":{\"f:labels\":{\".\":{},"
                        "\"f:l\":{}}}}"));
}

/* Twelve who change one key each: the oldest three become one. */
static void test_ancient(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct kind *kind = kind_named(builtin_new(arena), "ConfigMap");
    struct value *object = value(arena, "{\"metadata\":{\"name\":\"n\"},\"data\":{}}");
    struct str shown;

    (void)state;
    for (int i = 0; i < 12; i++) {
        struct field_writer writer = { str_fmt(arena, "m%02d", i), STR(""), STR("v1"),
                                       str_fmt(arena, "2026-01-01T00:00:%02dZ", i) };
        struct value *next = value_clone(arena, object);

        value_set(arena, value_get(next, STR("data")), str_fmt(arena, "k%02d", i),
                  value_str(arena, STR("1")));
        managers_update(arena, kind, i ? object : NULL, next, &writer);
        object = next;
    }
    shown = managers(arena, object);
    assert_true(str_starts(shown, STR("ancient-changes {\"f:data\":{\".\":{},\"f:k00\":{},"
                                      "\"f:k01\":{},\"f:k02\":{}}} | m03 ")));
    rows_expect_int("ten are left", value_count(meta_get(object, "managedFields")), 10);
    meta_remove(object, "managedFields");
    managers_update(arena, kind, object, object,
                    &(struct field_writer){ STR("x"), STR(""), STR("v1"), STR("t") });
    rows_expect_str("who is not kept track of stays so", managers(arena, object), STR(""));
}

static void test_tables(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct builtin *builtin = builtin_new(arena);

    (void)state;
    for (uint32_t i = 0; i < builtin->kinds.count; i++) {
        const struct kind *kind = builtin->kinds.items[i];

        for (uint32_t k = 0; k < i; k++)
            rows_expect("a plural is unique in its group",
                        !str_eq(kind->plural, builtin->kinds.items[k]->plural) ||
                            !str_eq(kind->group, builtin->kinds.items[k]->group),
                        str_z(arena, kind->plural));
        rows_expect("a kind has help", kind->schema->description.len > 0,
                    str_z(arena, kind->kind));
        for (uint32_t c = 0; c < kind->columns.count; c++)
            rows_expect("a column has a path or a function",
                        kind->columns.items[c].path || kind->columns.items[c].cell,
                        str_z(arena, kind->columns.items[c].name));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths),    cmocka_unit_test(test_ages),
        cmocka_unit_test(test_strategic), cmocka_unit_test(test_managers), cmocka_unit_test(test_ancient),
        cmocka_unit_test(test_tables),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
