/* SPDX-License-Identifier: Apache-2.0 */
/* schema_rules_test.c: rules in CEL of definitions: rejected when they are none, evaluated on what is written. The texts
 * are those of a real API server (requests.txt asks for most of them). */
#include "support/rows.h"

#include "lab/apiserver/schema_cel.h"
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

struct ruled {
    struct arena *arena;
    struct regex_set regexes;
    struct schema *schema;
    struct findings found;
};

static struct ruled compile(const char *yaml)
{
    struct ruled s = { .arena = arena_create(0) };
    struct json json = read_yaml(s.arena, yaml);

    s.found = findings_new(s.arena, 0);
    s.schema = schema_compile(s.arena, &s.regexes, json, NULL, &s.found);
    if (s.found.count == 0)
        schema_cel_compile(s.arena, json, s.schema, NULL, &s.found);
    return s;
}

static void release(struct ruled *s)
{
    regex_set_free(&s->regexes);
    arena_free(s->arena);
}

#define SPEC(rules, properties) \
    "{type: object, properties: {spec: {type: object, x-kubernetes-validations: [" rules "], properties: {" properties "}}}}"
#define CHARTS \
    "charts: {type: array, maxItems: 9, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {type: object, " \
    "required: [name], x-kubernetes-validations: [{rule: 'self.v >= oldSelf.v', message: only upwards}], " \
    "properties: {name: {type: string}, v: {type: integer}}}}"

/* old "": a creation; warnings "": none */
static const struct run_row {
    const char *sentence, *schema, *old, *value, *want, *warnings;
} run_rows[] = {
    { "a rule that holds says nothing", SPEC("{rule: 'self.a < 3'}", "a: {type: integer}"), "", "{spec: {a: 2}}", "", "" },
    { "one that does not is told as it stands", SPEC("{rule: 'self.a < 3'}", "a: {type: integer}"), "", "{spec: {a: 3}}",
      "spec: Invalid value: failed rule: self.a < 3", "" },
    { "or in the words of its message", SPEC("{rule: 'self.a < 3', message: ' too large '}", "a: {type: integer}"), "",
      "{spec: {a: 3}}", "spec: Invalid value: too large", "" },
    { "or of its expression",
      SPEC("{rule: 'self.a < 3', message: m, messageExpression: '\"a is \" + (self.a > 9 ? \"huge\" : \"large\")'}", "a: {type: integer}"),
      "", "{spec: {a: 3}}", "spec: Invalid value: a is large", "" },
    { "an expression that fails leaves it to the message",
      SPEC("{rule: 'self.a < 3', message: m, messageExpression: '1 / (self.a - 3) > 0 ? \"x\" : \"y\"'}", "a: {type: integer}"), "",
      "{spec: {a: 3}}", "spec: Invalid value: m", "" },
    { "an expression that says nothing, too",
      SPEC("{rule: 'self.a < 3', message: m, messageExpression: '\" \"'}", "a: {type: integer}"), "", "{spec: {a: 3}}",
      "spec: Invalid value: m", "" },
    { "a reason gives another word", SPEC("{rule: 'has(self.a)', reason: FieldValueRequired, message: m}", "a: {type: integer}"), "",
      "{spec: {}}", "spec: Required value: m", "" },
    { "forbidden", SPEC("{rule: '!has(self.a)', reason: FieldValueForbidden, fieldPath: .a, message: m}", "a: {type: integer}"), "",
      "{spec: {a: 1}}", "spec.a: Forbidden: m", "" },
    { "a path names the field to blame", SPEC("{rule: 'false', fieldPath: \".m['x.y']\", message: m}",
      "m: {type: object, additionalProperties: {type: string}}"), "", "{spec: {}}", "spec.m[x.y]: Invalid value: m", "" },
    { "a scalar is shown",
      "{type: object, properties: {a: {type: string, x-kubernetes-validations: [{rule: 'self == \"x\"', message: m}]}}}", "",
      "{a: 'y'}", "a: Invalid value: \"y\": m", "" },
    { "at the root there is no path", "{type: object, x-kubernetes-validations: [{rule: 'self.metadata.name == \"x\"', message: m}]}",
      "", "{metadata: {name: z}}", "<nil>: Invalid value: m", "" },
    { "an error is told with the rule", SPEC("{rule: 'self.a < 3'}", "a: {type: integer}"), "", "{spec: {}}",
      "spec: Invalid value: \"object\": no such key: a evaluating rule: self.a < 3", "" },
    { "an overload that there is not", SPEC("{rule: 'self.p < 3'}", "p: {x-kubernetes-int-or-string: true}"), "", "{spec: {p: x}}",
      "spec: Invalid value: \"object\": 'no such overload': call arguments did not match a supported operator, function or macro "
      "signature for rule: self.p < 3", "" },
    { "null is not looked at", "{type: object, properties: {a: {type: string, nullable: true, x-kubernetes-validations: "
      "[{rule: 'false'}]}}}", "", "{a: null}", "", "" },
    { "elements have their places",
      "{type: object, properties: {l: {type: array, maxItems: 9, items: {type: integer, x-kubernetes-validations: "
      "[{rule: 'self > 1', message: m}]}}}}", "", "{l: [1, 2, 0]}",
      "[l[0]: Invalid value: 1: m, l[2]: Invalid value: 0: m]", "" },
    { "values of maps have their keys",
      "{type: object, properties: {l: {type: object, maxProperties: 9, additionalProperties: {type: integer, "
      "x-kubernetes-validations: [{rule: 'self > 1', message: m}]}}}}", "", "{l: {a: 1, b: 2}}", "l[a]: Invalid value: 1: m", "" },
    { "rules of allOf count", SPEC("", "a: {type: integer, allOf: [{x-kubernetes-validations: [{rule: 'self > 1', message: m}]}]}"), "",
      "{spec: {a: 1}}", "spec.a: Invalid value: 1: m", "" },
    { "a transition is no matter of creations", SPEC("{rule: 'self.a == oldSelf.a', message: fixed}", "a: {type: integer}"), "",
      "{spec: {a: 1}}", "", "" },
    { "but of updates", SPEC("{rule: 'self.a == oldSelf.a', message: fixed}", "a: {type: integer}"), "{spec: {a: 2}}",
      "{spec: {a: 1}}", "spec: Invalid value: fixed", "" },
    { "what was not there has no old value", SPEC("{rule: 'self.a == oldSelf.a', message: fixed}", "a: {type: integer}"), "{}",
      "{spec: {a: 1}}", "", "" },
    { "an optional old value can be asked for", SPEC("{rule: 'oldSelf.hasValue() || self.a == 0', optionalOldSelf: true, message: m}",
      "a: {type: integer}"), "", "{spec: {a: 1}}", "spec: Invalid value: m", "" },
    { "and is there on updates", SPEC("{rule: 'oldSelf.optMap(o, o.a == 2).orValue(false)', optionalOldSelf: true, message: m}",
      "a: {type: integer}"), "{spec: {a: 2}}", "{spec: {a: 1}}", "", "" },
    { "elements with keys are followed", SPEC("", CHARTS), "{spec: {charts: [{name: a, v: 2}, {name: b, v: 2}]}}",
      "{spec: {charts: [{name: b, v: 1}, {name: c, v: 0}, {name: a, v: 3}]}}", "spec.charts[0]: Invalid value: only upwards", "" },
    { "what was wrong before and is as before is a warning", SPEC("{rule: 'self.a < 3', message: m}", "a: {type: integer}"),
      "{spec: {a: 3}, x: 1}", "{spec: {a: 3}, x: 2}", "", "spec: Invalid value: m" },
    { "what was wrong before and changes is not", SPEC("{rule: 'self.a < 3', message: m}", "a: {type: integer}, b: {type: string}"),
      "{spec: {a: 3}}", "{spec: {a: 3, b: x}}", "spec: Invalid value: m", "" },
    { "what costs too much ends all",
      SPEC("{rule: 'self.l.all(a, self.l.all(b, self.l.all(c, a + b + c > 0)))', message: m}, {rule: 'false'}",
           "l: {type: array, maxItems: 20, items: {type: integer}}"), "",
      "{spec: {l: [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, "
      "1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]}}",
      "spec: Invalid value: \"object\": 'operation cancelled: actual cost limit exceeded': no further validation rules will be run "
      "due to call cost exceeds limit for rule: m", "" },
};

static void test_run(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(run_rows) / sizeof(run_rows[0]); i++) {
        const struct run_row *row = &run_rows[i];
        struct ruled s = compile(row->schema);
        struct str_list warnings = str_list_new(s.arena, 0);
        struct value *old = *row->old ? value_of(s.arena, read_yaml(s.arena, row->old)) : NULL;
        struct value *value = value_of(s.arena, read_yaml(s.arena, row->value));

        rows_expect_str(row->sentence, findings_join(s.arena, &s.found), STR(""));
        schema_cel_validate(s.schema, value, old, &s.found, &warnings);
        rows_expect_str(row->sentence, findings_join(s.arena, &s.found), str_of(row->want));
        rows_expect_str(row->sentence, warnings.count ? warnings.items[0] : STR(""), str_of(row->warnings));
        release(&s);
    }
}

#define AT "properties[spec].x-kubernetes-validations[0]."
#define SHOWN(rule) "Invalid value: {\"Rule\":\"" rule "\",\"Message\":\"\",\"MessageExpression\":\"\",\"Reason\":null," \
    "\"FieldPath\":\"\",\"OptionalOldSelf\":null}: "

static const struct bad_row {
    const char *sentence, *schema, *want;
} bad_rows[] = {
    { "a rule must be given", SPEC("{rule: ' '}", ""), AT "rule: Required value: rule is not specified" },
    { "a message must not be blank", SPEC("{rule: 'true', message: ' '}", ""),
      AT "message: Invalid value: \" \": must be non-empty if specified" },
    { "nor have lines", SPEC("{rule: 'true', message: \"a\\nb\"}", ""),
      AT "message: Invalid value: \"a\\nb\": must not contain line breaks" },
    { "a rule of two lines needs one", SPEC("{rule: \"true &&\\ntrue\"}", ""),
      AT "message: Required value: message must be specified if rule contains line breaks" },
    { "reasons are few", SPEC("{rule: 'true', reason: Bad}", ""),
      AT "reason: Unsupported value: \"Bad\": supported values: \"FieldValueDuplicate\", \"FieldValueForbidden\", "
      "\"FieldValueInvalid\", \"FieldValueRequired\"" },
    { "a path must lead somewhere", SPEC("{rule: 'true', fieldPath: .b}", "a: {type: integer}"),
      AT "fieldPath: Invalid value: \".b\": must be a valid path" },
    { "lists are no places", SPEC("{rule: 'true', fieldPath: '.a[0]'}", "a: {type: array, items: {type: integer}}"),
      AT "fieldPath: Invalid value: \".a[0]\": must be a valid path" },
    { "a field that there is not", SPEC("{rule: 'self.b == 1'}", "a: {type: integer}"),
      AT "rule: " SHOWN("self.b == 1") "compilation failed: ERROR: <input>:1:5: undefined field 'b'\n | self.b == 1\n | ....^" },
    { "no answer", SPEC("{rule: 'self.a'}", "a: {type: integer}"),
      AT "rule: " SHOWN("self.a") "cel expression must evaluate to a bool" },
    { "an old value of what cannot be followed",
      SPEC("", "l: {type: array, items: {type: integer, x-kubernetes-validations: [{rule: 'self > oldSelf'}]}}"),
      "properties[spec].properties[l].items.x-kubernetes-validations[0].rule: Invalid value: \"self > oldSelf\": oldSelf cannot be "
      "used on the uncorrelatable portion of the schema within properties[spec].properties[l]" },
    { "an optional old value that nobody reads", SPEC("{rule: 'true', optionalOldSelf: true}", ""),
      AT "optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule" },
    { "what the lab does not evaluate", SPEC("{rule: 'isURL(self.a)'}", "a: {type: string}"),
      AT "rule: " SHOWN("isURL(self.a)") "compilation failed: ERROR: <input>:1:6: herd-lab does not evaluate 'isURL': the functions "
      "of URLs\n | isURL(self.a)\n | .....^" },
};

static void test_rejected(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad_rows) / sizeof(bad_rows[0]); i++) {
        struct ruled s = compile(bad_rows[i].schema);

        rows_expect_str(bad_rows[i].sentence, findings_join(s.arena, &s.found), str_of(bad_rows[i].want));
        release(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_run), cmocka_unit_test(test_rejected) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
