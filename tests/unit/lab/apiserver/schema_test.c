/* SPDX-License-Identifier: Apache-2.0 */
/* schema_test.c: validation in Kubernetes' words, defaults, pruning, structural checks. */
#include "support/rows.h"

#include "lab/apiserver/schema.h"
#include "text/yaml.h"

static struct json read_yaml(struct arena *arena, const char *yaml)
{
    struct yaml_documents documents;
    struct json json;
    struct error err;

    if (yaml_read(arena, str_of(yaml), &documents, &err) != 0 ||
        json_read(arena, documents.items[0].json, &json_limits_default, &json, &err) != 0)
        fail_msg("%s\n%s", err.text, yaml);
    return json;
}

static struct str list_text(struct arena *arena, const struct str_list *list)
{
    struct strbuf out = strbuf_new(arena, 64);

    for (uint32_t i = 0; i < list->count; i++)
        strbuf_fmt(&out, "%s%.*s", i ? ", " : "", STR_ARG(list->items[i]));
    return strbuf_str(&out);
}

struct shaped {
    struct arena *arena;
    struct regex_set regexes;
    struct schema *schema;
    struct findings found;
};

static struct shaped compile(const char *yaml)
{
    struct shaped s = { .arena = arena_create(0) };

    s.found = findings_new(s.arena, 0);
    s.schema = schema_compile(s.arena, &s.regexes, read_yaml(s.arena, yaml), NULL, &s.found);
    return s;
}

static void release(struct shaped *s)
{
    regex_set_free(&s->regexes);
    arena_free(s->arena);
}

static const struct valid_row {
    const char *sentence, *schema, *value, *want;
} valid_rows[] = {
    { "a fitting value has no findings",
      "{type: object, required: [a], properties: {a: {type: string}}}", "{a: x}", "" },
    { "a missing member is required",
      "{type: object, required: [a], properties: {a: {type: string}}}", "{}", "a: Required value" },
    { "a wrong type is named with the right one",
      "{type: object, properties: {a: {type: string}}}", "{a: 1}",
      "a: Invalid value: \"integer\": a in body must be of type string: \"integer\"" },
    { "null is rejected where it is not nullable", "{type: object, properties: {a: {type: string}}}",
      "{a: null}", "a: Invalid value: \"null\": a in body must be of type string: \"null\"" },
    { "null passes where it is nullable",
      "{type: object, properties: {a: {type: string, nullable: true}}}", "{a: null}", "" },
    { "an enum names what it supports",
      "{type: object, properties: {a: {type: string, enum: [x, z1]}}}", "{a: z}",
      "a: Unsupported value: \"z\": supported values: \"x\", \"z1\"" },
    { "patterns search, they are not anchored",
      "{type: object, properties: {a: {type: string, pattern: 'b+'}}}", "{a: abbc}", "" },
    { "a pattern that does not match is shown",
      "{type: object, properties: {a: {type: string, pattern: '^b+$'}}}", "{a: ab}",
      "a: Invalid value: \"ab\": a in body should match '^b+$'" },
    { "too long counts characters", "{type: object, properties: {a: {type: string, maxLength: 2}}}",
      "{a: äö}", "" },
    { "too long", "{type: object, properties: {a: {type: string, maxLength: 2}}}", "{a: abc}",
      "a: Too long: may not be more than 2 bytes" },
    { "too short", "{type: object, properties: {a: {type: string, minLength: 2}}}", "{a: a}",
      "a: Invalid value: \"a\": a in body should be at least 2 chars long" },
    { "above the maximum", "{type: object, properties: {a: {type: integer, maximum: 3}}}", "{a: 4}",
      "a: Invalid value: 4: a in body should be less than or equal to 3" },
    { "an exclusive minimum",
      "{type: object, properties: {a: {type: number, minimum: 0, exclusiveMinimum: true}}}",
      "{a: 0}", "a: Invalid value: 0: a in body should be greater than 0" },
    { "1.0 is an integer", "{type: object, properties: {a: {type: integer}}}", "{a: 1.0}", "" },
    { "1.5 is not", "{type: object, properties: {a: {type: integer}}}", "{a: 1.5}",
      "a: Invalid value: \"number\": a in body must be of type integer: \"number\"" },
    { "int-or-string takes both and nothing else",
      "{type: object, properties: {a: {x-kubernetes-int-or-string: true}, b: "
      "{x-kubernetes-int-or-string: true}, c: {x-kubernetes-int-or-string: true}}}",
      "{a: 1, b: x, c: true}",
      "c: Invalid value: \"boolean\": c in body must be of type integer,string: \"boolean\"" },
    { "too many items",
      "{type: object, properties: {a: {type: array, maxItems: 1, items: {type: string}}}}",
      "{a: [x, z]}", "a: Too many: 2: must have at most 1 items" },
    { "items are checked at their index",
      "{type: object, properties: {a: {type: array, items: {type: object, required: [m], "
      "properties: {m: {type: string}}}}}}",
      "{a: [{m: x}, {}]}", "a[1].m: Required value" },
    { "values of a map",
      "{type: object, properties: {a: {type: object, additionalProperties: {type: string}}}}",
      "{a: {k: 1}}",
      "a.k: Invalid value: \"integer\": a.k in body must be of type string: \"integer\"" },
    { "a date-time that is none",
      "{type: object, properties: {a: {type: string, format: date-time}}}", "{a: soon}",
      "a: Invalid value: \"soon\": a in body must be of type date-time: \"soon\"" },
    { "none of anyOf",
      "{type: object, properties: {a: {type: object, properties: {x: {type: string}, z: {type: "
      "string}}, anyOf: [{required: [x]}, {required: [z]}]}}}",
      "{a: {}}",
      "[a: Invalid value: \"\": \"a\" must validate at least one schema (anyOf), a.x: Required "
      "value]" },
    { "both of oneOf",
      "{type: object, properties: {a: {type: object, properties: {x: {type: string}, z: {type: "
      "string}}, oneOf: [{required: [x]}, {required: [z]}]}}}",
      "{a: {x: a, z: b}}",
      "a: Invalid value: \"\": \"a\" must validate one and only one schema (oneOf). Found 2 valid "
      "alternatives" },
    { "what not forbids",
      "{type: object, properties: {a: {type: object, properties: {x: {type: string}}, not: "
      "{required: [x]}}}}",
      "{a: {x: a}}", "a: Invalid value: \"\": \"a\" must not validate the schema (not)" },
    { "doubles in a list map",
      "{type: object, properties: {a: {type: array, x-kubernetes-list-type: map, "
      "x-kubernetes-list-map-keys: [m], items: {type: object, required: [m], properties: {m: "
      "{type: string}}}}}}",
      "{a: [{m: x}, {m: x}]}",
      "a[1]: Duplicate value: {\"m\":\"x\"}" },
    { "doubles in a set",
      "{type: object, properties: {a: {type: array, x-kubernetes-list-type: set, items: {type: "
      "string}}}}",
      "{a: [x, z, x]}", "a[2]: Duplicate value: \"x\"" },
};

static void test_validate(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(valid_rows) / sizeof(valid_rows[0]); i++) {
        const struct valid_row *row = &valid_rows[i];
        struct shaped s = compile(row->schema);
        struct value *value = value_of(s.arena, read_yaml(s.arena, row->value));
        struct findings found = findings_new(s.arena, 0);

        rows_expect_str(row->sentence, findings_join(s.arena, &s.found), STR(""));
        schema_validate(s.schema, value, NULL, &found);
        schema_validate_lists(s.schema, value, NULL, &found);
        rows_expect_str(row->sentence, findings_join(s.arena, &found), str_of(row->want));
        release(&s);
    }
}

static const struct shape_row {
    const char *sentence, *schema, *value, *want, *unknown;
} shape_rows[] = {
    { "a default fills what is absent",
      "{type: object, properties: {a: {type: integer, default: 3}}}", "{}", "{\"a\":3}", "" },
    { "a default stays away from what is there",
      "{type: object, properties: {a: {type: integer, default: 3}}}", "{a: 1}", "{\"a\":1}", "" },
    { "defaults go into defaults",
      "{type: object, properties: {a: {type: object, default: {}, properties: {b: {type: string, "
      "default: x}}}}}",
      "{}", "{\"a\":{\"b\":\"x\"}}", "" },
    { "a null that may not be one takes the default",
      "{type: object, properties: {a: {type: integer, default: 3}}}", "{a: null}", "{\"a\":3}",
      "" },
    { "one without a default goes, one that may be null stays",
      "{type: object, properties: {a: {type: string}, b: {type: string, nullable: true}, c: {type: "
      "object, x-kubernetes-preserve-unknown-fields: true}}}",
      "{a: null, b: null, c: {d: null}}", "{\"b\":null,\"c\":{\"d\":null}}", "" },
    { "defaults go into each element",
      "{type: object, properties: {a: {type: array, items: {type: object, properties: {b: {type: "
      "string, default: x}}}}}}",
      "{a: [{}, {b: z}]}", "{\"a\":[{\"b\":\"x\"},{\"b\":\"z\"}]}", "" },
    { "unknown members go, and are named",
      "{type: object, properties: {a: {type: object, "
      "properties: {b: {type: string}}}}}",
      "{a: {b: x, c: 1}, d: 2}", "{\"a\":{\"b\":\"x\"}}", "a.c, d" },
    { "unknown members stay where that is asked for",
      "{type: object, properties: {a: {type: object, x-kubernetes-preserve-unknown-fields: "
      "true}}}",
      "{a: {c: 1}}", "{\"a\":{\"c\":1}}", "" },
    { "in elements they are named with their index",
      "{type: object, properties: {a: {type: array, items: {type: object, properties: {}}}}}",
      "{a: [{}, {x: 1}]}", "{\"a\":[{},{}]}", "a[1].x" },
};

static void test_shape(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(shape_rows) / sizeof(shape_rows[0]); i++) {
        const struct shape_row *row = &shape_rows[i];
        struct shaped s = compile(row->schema);
        struct value *value = value_of(s.arena, read_yaml(s.arena, row->value));
        struct str_list unknown = str_list_new(s.arena, 0);

        schema_prune(s.arena, s.schema, value, true, &unknown);
        schema_default(s.arena, s.schema, value);
        rows_expect_str(row->sentence, value_json(s.arena, value), str_of(row->want));
        rows_expect_str(row->sentence, list_text(s.arena, &unknown), str_of(row->unknown));
        release(&s);
    }
}

static const struct bad_row {
    const char *sentence, *schema, *want;
} bad_rows[] = {
    { "a member needs a type", "{type: object, properties: {a: {}}}",
      "properties[a].type: Required value: must not be empty for specified object fields" },
    { "an array needs items", "{type: object, properties: {a: {type: array}}}",
      "properties[a].items: Required value: must be specified" },
    { "uniqueItems is forbidden",
      "{type: object, properties: {a: {type: array, uniqueItems: true, items: {type: string}}}}",
      "properties[a].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime "
      "complexity becomes quadratic" },
    { "a list map needs keys",
      "{type: object, properties: {a: {type: array, x-kubernetes-list-type: map, items: {type: "
      "object}}}}",
      "properties[a].x-kubernetes-list-map-keys: Required value: must not be empty if "
      "x-kubernetes-list-type is map" },
    { "a type that there is not", "{type: object, properties: {a: {type: text}}}",
      "[properties[a].type: Unsupported value: \"text\": supported values: \"object\", \"array\", "
      "\"string\", \"integer\", \"number\", \"boolean\", properties[a].type: Required value: must "
      "not be empty for specified object fields]" },
};

static void test_structural(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad_rows) / sizeof(bad_rows[0]); i++) {
        struct shaped s = compile(bad_rows[i].schema);

        rows_expect_str(bad_rows[i].sentence, findings_join(s.arena, &s.found),
                        str_of(bad_rows[i].want));
        release(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_validate),
        cmocka_unit_test(test_shape),
        cmocka_unit_test(test_structural),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
