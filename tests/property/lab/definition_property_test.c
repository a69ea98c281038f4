/* SPDX-License-Identifier: Apache-2.0 */
/* definition_property_test.c: what the webhook lets pass, the Stacks' own definition lets pass too: its schema, and its
 * rules in CEL, as the API server evaluates them. And a rule that is stricter than the webhook is found.
 *
 * HERD_CASES sets how many Stacks are tried (default 10,000); HERD_SEED=N tries that one alone. */
#include "support/rows.h"

#include "base/rng.h"
#include "lab/apiserver/schema_cel.h"
#include "stack/model/configuration.h"
#include "stack/crd/crd.h"
#include "support/any_stack.h"
#include "support/stack_builder.h"
#include "text/patch.h"
#include "text/yaml.h"

#include <inttypes.h>
#include <stdlib.h>

/* --- the definition --- */

struct definition_of {
    struct arena *arena;
    struct regex_set regexes;
    struct schema *schema;
};

static struct str replaced(struct arena *arena, struct str text, const char *from, const char *to)
{
    struct strbuf out = strbuf_new(arena, text.len);
    size_t done = 0;
    ptrdiff_t at;

    while ((at = str_find(text, str_of(from), done)) >= 0) {
        strbuf_put(&out, str_slice(text, done, (size_t)at));
        strbuf_put(&out, str_of(to));
        done = (size_t)at + strlen(from);
    }
    if (!done)
        fail_msg("the definition does not say: %s", from);
    strbuf_put(&out, str_slice(text, done, text.len));
    return strbuf_str(&out);
}

/* Of Stacks; `from`, unless it is NULL, is written as `to`. */
static struct definition_of compile(const char *from, const char *to)
{
    struct definition_of d = { .arena = arena_create(0) };
    struct strbuf text = strbuf_new(d.arena, 65536);
    struct findings found = findings_new(d.arena, 0);
    struct yaml_documents documents;
    struct json_iter versions;
    struct json json;
    struct error err;

    crd_write(&crds[0], &text);
    if (yaml_read(d.arena, strbuf_str(&text), &documents, &err) < 0)
        fail_msg("%s", err.text);

    struct str crd = documents.items[0].json;

    crd = from ? replaced(d.arena, crd, from, to) : crd;
    versions = json_iter(json_walk(test_json(d.arena, crd), "spec", "versions", NULL));
    json_next(&versions);
    json = json_walk(versions.value, "schema", "openAPIV3Schema", NULL);
    d.schema = schema_compile(d.arena, &d.regexes, json, NULL, &found);
    schema_cel_compile(d.arena, json, d.schema, NULL, &found);
    rows_expect_str(to ? to : "the definition", findings_join(d.arena, &found), STR(""));
    return d;
}

static void release(struct definition_of *d)
{
    regex_set_free(&d->regexes);
    arena_free(d->arena);
}

/* What the API server would find. False: the schema alone rejects it, so rules are not asked. */
static bool put_to(const struct definition_of *d, struct arena *arena, struct value *value, struct str *ret_schema,
                   struct str *ret_rules)
{
    struct findings of_schema = findings_new(arena, 0);
    struct findings of_rules = findings_new(arena, 0);
    struct str_list warnings = str_list_new(arena, 0);

    schema_default(arena, d->schema, value);
    schema_validate(d->schema, value, NULL, &of_schema);
    schema_validate_lists(d->schema, value, NULL, &of_schema);
    *ret_schema = findings_join(arena, &of_schema);
    *ret_rules = STR("");
    if (of_schema.count)
        return false;
    schema_cel_validate(d->schema, value, NULL, &of_rules, &warnings);
    *ret_rules = findings_join(arena, &of_rules);
    return true;
}

/* --- the webhook --- */

/* With every rule off that can be, as the most lenient of administrators has it. */
static struct rule_severities all_off(void)
{
    struct rule_severities severities = rule_severities_default();

    for (enum rule_id id = 0; id < RULE_COUNT; id++)
        if (!rule_fixed_why(id))
            severities.of[id] = SEVERITY_OFF;
    return severities;
}

/* As its author wrote it, which is what the definition sees where no webhook is asked; and as /mutate leaves it. */
struct passed {
    struct value *written, *patched;
};

/* False: it is rejected. */
static bool let_pass(struct arena *arena, struct str text, const struct rule_severities *severities,
                     struct passed *ret_passed)
{
    struct facts facts = { .plain_http_allowed = true };
    struct verdict verdict = stack_admit(arena, test_json(arena, text), (struct json){ NULL, 0 }, &facts, severities);
    struct error err;

    if (!verdict.allowed)
        return false;
    if (value_read(arena, text, &json_limits_default, &ret_passed->written, &err) < 0 ||
        value_read(arena, text, &json_limits_default, &ret_passed->patched, &err) < 0 ||
        (verdict.patch.len && patch_apply(arena, ret_passed->patched, verdict.patch, &ret_passed->patched, &err) < 0))
        fail_msg("%s", err.text);
    return true;
}

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text ? strtoull(text, NULL, 10) : otherwise;
}

static bool is_sound(uint64_t seed)
{
    return seed % 2 == 0;
}

/* Half of them may be anything, the others are sound but for a slip. */
static struct str stack_number(struct arena *arena, uint64_t seed)
{
    struct rng rng = rng_from_seed(seed);

    return is_sound(seed) ? any_sound_stack(arena, &rng) : any_stack(arena, &rng);
}

static struct {
    uint64_t validated, by_default, leniently;
} tally;

static void the_definition_takes(const struct definition_of *d, struct arena *arena, uint64_t seed)
{
    struct rule_severities severities[2] = { rule_severities_default(), all_off() };
    const char *row = str_fmt(arena, "HERD_SEED=%" PRIu64, seed).at;
    struct str text = stack_number(arena, seed);
    struct passed passed;
    struct str of_schema;
    struct str of_rules;

    tally.validated++;
    if (let_pass(arena, text, &severities[0], &passed)) {
        tally.by_default++;
        put_to(d, arena, passed.patched, &of_schema, &of_rules);
        rows_expect_str(row, of_schema, STR(""));
        rows_expect_str(row, of_rules, STR(""));
    }
    if (let_pass(arena, text, &severities[1], &passed)) {
        tally.leniently += put_to(d, arena, passed.patched, &of_schema, &of_rules);
        rows_expect_str(row, of_rules, STR(""));
        put_to(d, arena, passed.written, &of_schema, &of_rules);
        rows_expect_str(row, of_rules, STR(""));
        if (is_sound(seed)) /* the others lack what is required */
            rows_expect_str(row, of_schema, STR(""));
    }
}

static void what_the_webhook_lets_pass_the_definition_takes(void **state)
{
    struct definition_of d = compile(NULL, NULL);
    uint64_t only = number_from("HERD_SEED", 0);
    uint64_t last = only ? only : number_from("HERD_CASES", 10000);

    (void)state;
    for (uint64_t seed = only ? only : 1; seed <= last; seed++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);

        the_definition_takes(&d, arena, seed);
    }
    release(&d);
    if (only)
        return;
    rows_expect("a good part passes", tally.by_default > tally.validated / 4, "a quarter");
    rows_expect("more passes where rules are off", tally.leniently > tally.by_default, "more");
}

/* --- mutants --- */

/* Each rule of the definition, a little stricter than it is. */
static const struct {
    const char *from, *to;
} stricter[] = {
    { "has(self.selector) != has(self.clusterIds)", "has(self.selector) && !has(self.clusterIds)" },
    { "has(self.selector) != has(self.clusterIds)", "!has(self.selector) && has(self.clusterIds)" },
    { "size(self.clusterIds) > 0", "size(self.clusterIds) > 1" },
    { "(has(self.matchLabels) && size(self.matchLabels) > 0) ||", "false ||" },
    { "|| (has(self.matchExpressions) && size(self.matchExpressions) > 0)", "" },
    { "self.operator in ['In', 'NotIn', 'Exists', 'DoesNotExist']", "self.operator in ['In', 'Exists', 'DoesNotExist']" },
    { "self.operator in ['In', 'NotIn', 'Exists', 'DoesNotExist']", "self.operator in ['In', 'NotIn', 'Exists']" },
    { "(has(self.values) && size(self.values) > 0)", "has(self.values)" },
    { "(has(self.values) && size(self.values) > 0)", "(has(self.values) && size(self.values) == 1)" },
    { "!(self.name in self.dependsOn)", "size(self.dependsOn) > 0 && !(self.name in self.dependsOn)" },
    { "self.name.matches('^[a-z0-9](", "self.name.matches('^[a-z](" },
    { "self.name.matches('^[a-z0-9]([-a-z0-9]*", "self.name.matches('^[a-z0-9]([a-z0-9]*" },
    { "self.__namespace__.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?", "self.__namespace__.matches('^[a-z0-9]([-a-z0-9]*[a-z])?" },
    { "!has(self.__namespace__) ||", "has(self.__namespace__) &&" },
    { "|| self.repo.startsWith('oci://')", "" },
    { "|| self.repo.startsWith('http://')", "" },
    { "self.repo.startsWith('https://') ||", "" },
};

static bool finds(const struct definition_of *d, uint64_t cases)
{
    struct rule_severities severities = rule_severities_default();

    for (uint64_t seed = 1; seed <= cases; seed++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct passed passed;
        struct str of_schema;
        struct str of_rules;

        if (!let_pass(arena, stack_number(arena, seed), &severities, &passed))
            continue;
        put_to(d, arena, passed.patched, &of_schema, &of_rules);
        if (of_rules.len)
            return true;
        put_to(d, arena, passed.written, &of_schema, &of_rules);
        if (of_rules.len)
            return true;
    }
    return false;
}

static void a_rule_that_is_too_strict_is_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(stricter) / sizeof(stricter[0]); i++) {
        struct definition_of d = compile(stricter[i].from, stricter[i].to);

        rows_expect(stricter[i].to[0] ? stricter[i].to : stricter[i].from, finds(&d, 2000), "found");
        release(&d);
    }
}

/* Whoever adds a rule says here how it would be too strict. */
static void each_rule_is_among_them(void **state)
{
    uint32_t count;
    const struct crd_rule *rules = crd_rules(&count);

    (void)state;
    for (uint32_t i = 0; i < count; i++) {
        bool has_mutant = strcmp(rules[i].table->name, "policy_rule") == 0;

        for (size_t k = 0; k < sizeof(stricter) / sizeof(stricter[0]) && !has_mutant; k++)
            has_mutant = strstr(rules[i].rule, stricter[k].from) != NULL;
        rows_expect(rules[i].rule, has_mutant, "a stricter mutant");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_webhook_lets_pass_the_definition_takes),
        cmocka_unit_test(a_rule_that_is_too_strict_is_found),
        cmocka_unit_test(each_rule_is_among_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
