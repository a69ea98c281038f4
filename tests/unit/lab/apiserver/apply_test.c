/* SPDX-License-Identifier: Apache-2.0 */
/* apply_test.c: server-side apply as a pure function: what becomes of an object, whose its fields are,
 * and what is rejected. */
#include "support/rows.h"

#include "lab/apiserver/apply.h"
#include "lab/apiserver/object.h"

#define T1 "2026-01-01T00:00:01Z"

static struct value *value(struct arena *arena, const char *text)
{
    struct value *read;
    struct error err;

    if (value_read(arena, str_of(text), &json_limits_default, &read, &err) != 0)
        fail_msg("%s\n%s", err.text, text);
    return read;
}

/* A kind by definition: a list map, a set, an atomic list, an atomic map, a map, a status. */
static struct kind *a_kind(struct arena *arena)
{
    static const char schema[] =
        "{\"type\":\"object\",\"properties\":{\"spec\":{\"type\":\"object\",\"properties\":{"
        "\"a\":{\"type\":\"string\"},\"b\":{\"type\":\"string\"},"
        "\"parts\":{\"type\":\"array\",\"x-kubernetes-list-type\":\"map\",\"x-kubernetes-list-map-keys\":["
        "\"name\"],\"items\":{\"type\":\"object\",\"required\":[\"name\"],\"properties\":{\"name\":{\"type\":"
        "\"string\"},\"v\":{\"type\":\"string\"},\"w\":{\"type\":\"string\"}}}},"
        "\"set\":{\"type\":\"array\",\"x-kubernetes-list-type\":\"set\",\"items\":{\"type\":\"string\"}},"
        "\"list\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
        "\"one\":{\"type\":\"object\",\"x-kubernetes-map-type\":\"atomic\",\"additionalProperties\":{"
        "\"type\":\"string\"}},"
        "\"map\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}}}},"
        "\"status\":{\"type\":\"object\",\"properties\":{\"phase\":{\"type\":\"string\"}}}}}";
    struct kind *kind = arena_new(arena, struct kind);
    struct regex_set *regexes = arena_new(arena, struct regex_set);
    struct findings found = findings_new(arena, 0);
    struct json json;
    struct error err;

    assert_int_equal(json_read(arena, str_of(schema), &json_limits_default, &json, &err), 0);
    kind->traits = KIND_CUSTOM | KIND_STATUS;
    kind->schema = schema_compile(arena, regexes, json, NULL, &found);
    assert_int_equal(found.count, 0);
    return kind;
}

#define SPEC(text) "{\"spec\":{" text "}}"
#define MANAGED(text) ",\"metadata\":{\"managedFields\":[" text "]}"
#define APPLY(who, set) ENTRY(who, "Apply", set)
#define UPDATE(who, set) ENTRY(who, "Update", set)
#define ENTRY(who, how, set)                                                                       \
    "{\"manager\":\"" who "\",\"operation\":\"" how "\",\"apiVersion\":\"v1\",\"time\":"            \
    "\"2026-01-01T00:00:00Z\",\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{\"f:spec\":{" set "}}}"
#define LIVE(spec, managed) "{\"spec\":{" spec "}" MANAGED(managed) "}"

static const struct row {
    const char *sentence;
    const char *live; /* NULL: nothing */
    const char *config;
    bool force;
    const char *want;     /* the spec, sorted; NULL = rejected */
    const char *managers; /* or the message of the rejection */
} rows[] = {
    { "a creation gives all to the applier", NULL, SPEC("\"a\":\"1\",\"map\":{\"k\":\"1\"}"), false,
      "{\"a\":\"1\",\"map\":{\"k\":\"1\"}}", "me+ {\"f:a\":{},\"f:map\":{\"f:k\":{}}}" },
    { "the same again changes nothing", LIVE("\"a\":\"1\"", APPLY("me", "\"f:a\":{}")),
      SPEC("\"a\":\"1\""), false, "{\"a\":\"1\"}", "me+ {\"f:a\":{}}" },
    { "what is said no more goes", LIVE("\"a\":\"1\",\"b\":\"2\"", APPLY("me", "\"f:a\":{},\"f:b\":{}")),
      SPEC("\"a\":\"1\""), false, "{\"a\":\"1\"}", "me+ {\"f:a\":{}}" },
    { "but not what another owns, too",
      LIVE("\"a\":\"1\",\"b\":\"2\"", APPLY("me", "\"f:a\":{},\"f:b\":{}") "," APPLY("you", "\"f:b\":{}")),
      SPEC("\"a\":\"1\""), false, "{\"a\":\"1\",\"b\":\"2\"}",
      "me+ {\"f:a\":{}} | you+ {\"f:b\":{}}" },
    { "a container that nobody names any more goes, with what nobody said in it",
      LIVE("\"a\":\"1\",\"parts\":[{\"name\":\"x\",\"v\":\"1\",\"w\":\"0\"}]",
           APPLY("me", "\"f:a\":{},\"f:parts\":{\"k:{\\\"name\\\":\\\"x\\\"}\":{\".\":{},\"f:name\":{},"
                       "\"f:v\":{}}}")),
      SPEC("\"a\":\"1\""), false, "{\"a\":\"1\"}", "me+ {\"f:a\":{}}" },
    { "nor what nobody applied", LIVE("\"a\":\"1\",\"b\":\"2\"", APPLY("me", "\"f:a\":{}")),
      SPEC("\"a\":\"3\""), false, "{\"a\":\"3\",\"b\":\"2\"}", "me+ {\"f:a\":{}}" },
    { "a map goes with its last entry",
      LIVE("\"map\":{\"k\":\"1\"}", APPLY("me", "\"f:map\":{\"f:k\":{}}")), SPEC("\"a\":\"1\""), false,
      "{\"a\":\"1\"}", "me+ {\"f:a\":{}}" },
    { "the same value is owned together", LIVE("\"a\":\"1\"", UPDATE("you", "\"f:a\":{}")),
      SPEC("\"a\":\"1\""), false, "{\"a\":\"1\"}", "me+ {\"f:a\":{}} | you {\"f:a\":{}}" },
    { "another value is a conflict", LIVE("\"a\":\"1\"", UPDATE("you", "\"f:a\":{}")),
      SPEC("\"a\":\"2\""), false, NULL,
      "Apply failed with 1 conflict: conflict with \"you\" using v1: "
      ".spec.a" },
    { "with an applier, too", LIVE("\"a\":\"1\"", APPLY("you", "\"f:a\":{}")), SPEC("\"a\":\"2\""), false,
      NULL, "Apply failed with 1 conflict: conflict with \"you\": .spec.a" },
    { "several conflicts are listed by manager",
      LIVE("\"a\":\"1\",\"b\":\"1\",\"list\":[\"x\"]",
           APPLY("you", "\"f:a\":{},\"f:b\":{}") "," APPLY("he", "\"f:list\":{}")),
      SPEC("\"a\":\"2\",\"b\":\"2\",\"list\":[]"), false, NULL,
      "Apply failed with 3 conflicts: conflicts with \"he\":\n- .spec.list\nconflicts with "
      "\"you\":\n- .spec.a\n- .spec.b" },
    { "force takes it", LIVE("\"a\":\"1\",\"b\":\"1\"", APPLY("you", "\"f:a\":{},\"f:b\":{}")),
      SPEC("\"a\":\"2\""), true, "{\"a\":\"2\",\"b\":\"1\"}", "you+ {\"f:b\":{}} | me+ {\"f:a\":{}}" },
    { "elements with a key merge by it",
      LIVE("\"parts\":[{\"name\":\"x\",\"v\":\"1\"},{\"name\":\"y\",\"v\":\"1\"}]",
           APPLY("you", "\"f:parts\":{\"k:{\\\"name\\\":\\\"x\\\"}\":{\".\":{},\"f:name\":{},\"f:v\":{}}}")),
      SPEC("\"parts\":[{\"name\":\"y\",\"w\":\"2\"},{\"name\":\"z\"}]"), false,
      "{\"parts\":[{\"name\":\"x\",\"v\":\"1\"},{\"name\":\"y\",\"v\":\"1\",\"w\":\"2\"},{\"name\":\"z\"}]}",
      "you+ {\"f:parts\":{\"k:{\\\"name\\\":\\\"x\\\"}\":{\".\":{},\"f:name\":{},\"f:v\":{}}}} | me+ "
      "{\"f:parts\":{\"k:{\\\"name\\\":\\\"y\\\"}\":{\".\":{},\"f:name\":{},\"f:w\":{}},"
      "\"k:{\\\"name\\\":\\\"z\\\"}\":{\".\":{},\"f:name\":{}}}}" },
    { "an element that is said no more goes",
      LIVE("\"parts\":[{\"name\":\"x\",\"v\":\"1\"},{\"name\":\"y\"}]",
           APPLY("me", "\"f:parts\":{\"k:{\\\"name\\\":\\\"x\\\"}\":{\".\":{},\"f:name\":{},\"f:v\":{}},"
                       "\"k:{\\\"name\\\":\\\"y\\\"}\":{\".\":{},\"f:name\":{}}}")),
      SPEC("\"parts\":[{\"name\":\"y\"}]"), false, "{\"parts\":[{\"name\":\"y\"}]}",
      "me+ {\"f:parts\":{\"k:{\\\"name\\\":\\\"y\\\"}\":{\".\":{},\"f:name\":{}}}}" },
    { "a conflict within an element names it",
      LIVE("\"parts\":[{\"name\":\"x\",\"v\":\"1\"}]",
           APPLY("you", "\"f:parts\":{\"k:{\\\"name\\\":\\\"x\\\"}\":{\".\":{},\"f:name\":{},\"f:v\":{}}}")),
      SPEC("\"parts\":[{\"name\":\"x\",\"v\":\"2\"}]"), false, NULL,
      "Apply failed with 1 conflict: conflict with \"you\": .spec.parts[name=\"x\"].v" },
    { "sets are joined", LIVE("\"set\":[\"x\"]", APPLY("you", "\"f:set\":{\"v:\\\"x\\\"\":{}}")),
      SPEC("\"set\":[\"y\",\"x\"]"), false, "{\"set\":[\"y\",\"x\"]}",
      "you+ {\"f:set\":{\"v:\\\"x\\\"\":{}}} | me+ "
      "{\"f:set\":{\"v:\\\"x\\\"\":{},\"v:\\\"y\\\"\":{}}}" },
    { "an atomic map is one field", LIVE("\"one\":{\"x\":\"1\"}", APPLY("you", "\"f:one\":{}")),
      SPEC("\"one\":{\"y\":\"1\"}"), false, NULL,
      "Apply failed with 1 conflict: conflict with \"you\": .spec.one" },
    { "a null takes away", LIVE("\"a\":\"1\",\"b\":\"1\"", APPLY("me", "\"f:a\":{}")),
      SPEC("\"a\":\"1\",\"b\":null"), false, "{\"a\":\"1\"}", "me+ {\"f:a\":{},\"f:b\":{}}" },
    { "where nobody kept books, all was there before", "{\"spec\":{\"a\":\"1\"}}", SPEC("\"a\":\"2\""),
      false, NULL,
      "Apply failed with 1 conflict: conflict with \"before-first-apply\" using v1"
      ": .spec.a" },
};

static struct str managers_text(struct arena *arena, const struct value *object)
{
    struct strbuf out = strbuf_new(arena, 128);
    struct managers managers;

    managers_read(arena, meta_get(object, "managedFields"), &managers);
    for (uint32_t i = 0; i < managers.count; i++) {
        strbuf_fmt(&out, "%s%.*s%s ", i ? " | " : "", STR_ARG(managers.items[i].by.manager),
                   managers.items[i].applies ? "+" : "");
        value_write(value_get(managers.items[i].set, STR("f:spec")), true, &out);
    }
    return strbuf_str(&out);
}

static struct apply by_me(const struct kind *kind, bool force)
{
    return (struct apply){ kind, { STR("me"), STR(""), STR("v1"), STR(T1) }, force };
}

static void test_rows(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct kind *kind = a_kind(arena);

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct row *row = &rows[i];
        struct apply apply = by_me(kind, row->force);
        struct apply_conflicts conflicts;
        struct value *object = NULL;
        struct strbuf spec = strbuf_new(arena, 128);

        if (apply_object(arena, &apply, row->live ? value(arena, row->live) : NULL,
                         value(arena, row->config), &object, &conflicts) != 0) {
            rows_expect(row->sentence, row->want == NULL, "it is not rejected");
            rows_expect_str(row->sentence, apply_conflict_message(arena, &conflicts),
                            str_of(row->managers));
            continue;
        }
        value_write(value_get(object, STR("spec")), true, &spec);
        rows_expect_str(row->sentence, strbuf_str(&spec), str_of(row->want ? row->want : "rejected"));
        rows_expect_str(row->sentence, managers_text(arena, object), str_of(row->managers));
    }
}

static void test_status_has_its_own_path(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct kind *kind = a_kind(arena);
    struct apply apply = by_me(kind, false);
    struct value *live = value(arena, "{\"spec\":{\"a\":\"1\"},\"status\":{\"phase\":\"x\"}" MANAGED(
                                          UPDATE("you", "\"f:a\":{}")) "}");
    struct value *config = value(arena, "{\"spec\":{\"a\":\"1\",\"b\":\"1\"},\"status\":{\"phase\":\"y\"}}");
    struct apply_conflicts conflicts;
    struct value *object;

    (void)state;
    assert_int_equal(apply_object(arena, &apply, live, config, &object, &conflicts), 0);
    rows_expect_str("the main path leaves the status",
                    value_text(value_walk(object, "status", "phase", NULL)), STR("x"));
    rows_expect_str("and writes the rest", value_text(value_walk(object, "spec", "b", NULL)),
                    STR("1"));
    apply.by.sub_resource = STR("status");
    assert_int_equal(apply_object(arena, &apply, live, config, &object, &conflicts), 0);
    rows_expect_str("the status path writes it",
                    value_text(value_walk(object, "status", "phase", NULL)), STR("y"));
    rows_expect("and nothing else", !value_walk(object, "spec", "b", NULL), "no spec.b");
}

static const struct {
    const char *sentence, *config, *want;
} fault_rows[] = {
    { "lists of which each element is known", SPEC("\"parts\":[{\"name\":\"x\"}],\"set\":[\"x\",\"y\"]"), "" },
    { "an element without its key", SPEC("\"parts\":[{\"v\":\"1\"}]"),
      ".spec.parts: element 0: associative list with keys has an element that omits key field "
      "\"name\"" },
    { "an element twice", SPEC("\"parts\":[{\"name\":\"x\"},{\"name\":\"x\"}]"),
      ".spec.parts: duplicate entries for key [name=\"x\"]" },
    { "a value twice", SPEC("\"set\":[\"x\",\"x\"]"), ".spec.set: duplicate entries for key [=\"x\"]" },
};

static void test_faults(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct kind *kind = a_kind(arena);

    (void)state;
    for (size_t i = 0; i < sizeof(fault_rows) / sizeof(fault_rows[0]); i++) {
        struct str_list faults = apply_faults(arena, kind, value(arena, fault_rows[i].config));

        rows_expect_str(fault_rows[i].sentence, faults.count ? faults.items[0] : STR(""),
                        str_of(fault_rows[i].want));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_status_has_its_own_path),
        cmocka_unit_test(test_faults),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
