/* SPDX-License-Identifier: Apache-2.0 */
/* offline_property_test.c: a review of files says what the webhook says, byte for byte: the verdict, every
 * finding, the message and the warnings; of Stacks and StackPolicies, with any policies and severities.
 *
 * The webhook is asked as an API server asks it: /mutate, its patch applied, then /validate. HERD_CASES
 * sets how many Stacks are tried (default 10,000), HERD_SEED=N tries the input of that seed alone. */
#include "support/rows.h"

#include "support/any_policy.h"
#include "support/any_stack.h"
#include "support/review_builder.h"
#include "support/stack_builder.h"

#include "stack/rules/finding_severities.h"
#include "text/base64.h"
#include "text/patch.h"
#include "webhook/offline/validate.h"
#include "webhook/offline/policies.h"
#include "webhook/review.h"

#include <inttypes.h>
#include <stdlib.h>

/* Stacks of one input, which know of one another. */
enum { OBJECTS_OF_AN_INPUT = 40 };

static struct {
    uint64_t objects, policies, policies_denied, denied, warned, waiting, by_policy;
} tally;

/* --- what the webhook says --- */

static struct review_outcome ask(struct arena *arena, const char *row, enum review_route route,
                                 const struct review_context *context, enum object_kind kind, struct str object)
{
    struct str body = kind == OBJECT_POLICY
                          ? a_policy_review(arena, "u", "CREATE", STR("\"ann\""), object, STR("null"))
                          : a_review(arena, "u", "CREATE", object, STR("null"));
    struct review_outcome outcome;
    struct error err;

    if (review_answer(arena, route, body, context, &outcome, &err) < 0)
        fail_msg("%s: %s", row, err.text);
    return outcome;
}

static struct str patched(struct arena *arena, const char *row, struct str object, struct json response)
{
    struct str encoded = json_str(json_get(response, STR("patch")));
    struct value *before;
    struct value *after;
    struct str patch;
    struct error err;

    if (!encoded.len)
        return object;
    if (base64_decode(arena, encoded, &patch, &err) < 0 ||
        value_read(arena, object, &json_limits_default, &before, &err) < 0 ||
        patch_apply(arena, before, patch, &after, &err) < 0)
        fail_msg("%s: %s", row, err.text);
    return value_json(arena, after);
}

/* What was decided: by /mutate if it rejects, else by /validate. */
static struct review_outcome decide(struct arena *arena, const char *row,
                                    const struct review_context *context, enum object_kind kind, struct str object)
{
    struct review_outcome mutated = ask(arena, row, REVIEW_MUTATE, context, kind, object);
    struct json response = review_response(arena, row, mutated.answer, "u");

    if (!mutated.allowed)
        return mutated;
    return ask(arena, row, REVIEW_VALIDATE, context, kind, patched(arena, row, object, response));
}

/* --- compared --- */

static void put_problem(struct strbuf *out, const struct problem *problem)
{
    strbuf_fmt(out, "%.*s %s %s %.*s: %.*s; %.*s\n", STR_ARG(problem->rule),
               severity_name(problem->severity), problem_cause_name(problem->cause),
               STR_ARG(problem->field), STR_ARG(problem->message), STR_ARG(problem->remedy));
}

static struct str of_outcome(struct arena *arena, const char *row, const struct review_outcome *outcome)
{
    struct json response = review_response(arena, row, outcome->answer, "u");
    struct json_iter warnings = json_iter(json_get(response, STR("warnings")));
    struct strbuf out = strbuf_new(arena, 512);

    strbuf_fmt(&out, "%s\n%.*s\n", outcome->allowed ? "allowed" : "denied",
               STR_ARG(json_str(json_walk(response, "status", "message", NULL))));
    for (uint32_t i = 0; i < outcome->problems.list.count; i++)
        put_problem(&out, &outcome->problems.list.items[i]);
    while (json_next(&warnings))
        if (!review_is_preview(json_str(warnings.value)))
            strbuf_fmt(&out, "warning: %.*s\n", STR_ARG(json_str(warnings.value)));
    return strbuf_str(&out);
}

static struct str of_report(struct arena *arena, const struct report *report, uint32_t number)
{
    const struct report_object *stack = &report->objects.items[number];
    struct admission_answer answer = { .warnings = str_list_new(arena, 0) };
    struct verdict verdict = { .problems = problems_new(arena) };
    struct strbuf out = strbuf_new(arena, 512);

    strbuf_fmt(&out, "%s\n%.*s\n", stack->allowed ? "allowed" : "denied", STR_ARG(stack->message));
    for (uint32_t i = 0; i < report->findings.count; i++) {
        const struct report_finding *finding = &report->findings.items[i];

        if (finding->object != number)
            continue;
        put_problem(&out, &finding->problem);
        problems_add(&verdict.problems, finding->problem);
    }
    verdict_word(arena, &verdict);
    for (uint32_t i = 0; i < verdict.warnings.count; i++)
        admission_warn(&answer, arena, verdict.warnings.items[i]);
    for (uint32_t i = 0; i < answer.warnings.count; i++)
        strbuf_fmt(&out, "warning: %.*s\n", STR_ARG(answer.warnings.items[i]));
    return strbuf_str(&out);
}

/* --- one input --- */

static const char *const names[] = { "shop", "a", "b" };

static const char *any_name(struct rng *rng)
{
    return names[rng_below(rng, sizeof(names) / sizeof(names[0]))];
}

/* By that name; some wait for one of the others. */
static struct str named_stack(struct arena *arena, struct rng *rng, const char *name)
{
    struct str waits = str_fmt(arena, "[{\"name\":\"%s\"}]", any_name(rng));
    struct value *stack;
    struct value *others;
    struct error err;

    if (value_read(arena, any_stack(arena, rng), &json_limits_default, &stack, &err) < 0 ||
        value_read(arena, waits, &json_limits_default, &others, &err) < 0)
        fail_msg("%s", err.text);
    value_set(arena, value_get(stack, STR("metadata")), STR("name"), value_str(arena, str_of(name)));
    if (!rng_below(rng, 3))
        value_set(arena, value_get(stack, STR("spec")), STR("dependsOn"), others);
    return value_json(arena, stack);
}

static struct input_files any_input(struct arena *arena, struct rng *rng)
{
    struct input_files files = input_files_new(arena, 2);
    struct strbuf text = strbuf_new(arena, 64 * 1024);

    for (int i = 0; i < OBJECTS_OF_AN_INPUT; i++) {
        const char *name = rng_below(rng, 4) ? str_fmt(arena, "s%d", i).at : any_name(rng);

        strbuf_lit(&text, "---\n");
        strbuf_put(&text, rng_below(rng, 6) ? named_stack(arena, rng, name) : any_policy(arena, rng, name));
        strbuf_char(&text, '\n');
    }
    input_files_push(&files, (struct input_file){ .name = STR("a.yaml"), .bytes = strbuf_str(&text) });
    return files;
}

static void count(const struct report_object *object)
{
    tally.objects++;
    tally.denied += !object->allowed;
    tally.warned += object->warned > 0;
    tally.policies += object->kind == OBJECT_POLICY;
    tally.policies_denied += object->kind == OBJECT_POLICY && !object->allowed;
}

/* As some administrator has it. */
static struct configuration any_configuration(struct rng *rng)
{
    struct configuration configuration = configuration_default();

    configuration.plain_http_allowed = rng_below(rng, 2);
    if (rng_below(rng, 2))
        repo_hosts_add(&configuration.repo_hosts, STR("localhost"));
    for (enum rule_id id = 0; id < RULE_COUNT; id++)
        if (!rule_fixed_why(id) && !rng_below(rng, 8))
            configuration.severities.of[id] = (enum severity)rng_below(rng, SEVERITY_DENY + 1);
    return configuration;
}

/* A random set, as --policy reads it; perhaps empty, of which there is no folder. */
static struct policy_set *some_policies(struct arena *arena, struct rng *rng)
{
    struct str_list texts = any_policies(arena, rng, 8);
    struct input_files files = input_files_new(arena, 8);
    struct policy_set *policies;
    struct str_list wrong;

    if (!texts.count)
        return NULL;
    for (uint32_t i = 0; i < texts.count; i++)
        input_files_push(&files, (struct input_file){ .name = STR("p.yaml"), .bytes = texts.items[i] });
    policies = policies_load(arena, &files, &wrong);
    if (!policies)
        fail_msg("%.*s", STR_ARG(wrong.items[0]));
    return policies;
}

static void both_say_the_same_of_one_input(uint64_t seed)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(arena_free) struct arena *scratch = arena_create(0);
    const char *row = str_fmt(arena, "HERD_SEED=%" PRIu64, seed).at;
    struct rng rng = rng_from_seed(seed);
    AUTO(policy_set_unref) struct policy_set *policies = some_policies(arena, &rng);
    struct offline_config config = { .namespace_ = STR("default"),
                                     .configuration = any_configuration(&rng),
                                     .policies = policies };
    struct input_files files = any_input(arena, &rng);
    struct report report = offline_review(arena, &files, &config);
    struct objects objects = objects_new(arena, 1 << OBJECT_STACK | 1 << OBJECT_POLICY);

    objects_read(&objects, 0, files.items[0].bytes, false);

    struct offline_stacks *stacks = offline_stacks_new(arena, &objects.list, &files, config.namespace_);

    rows_expect_int(row, report.objects.count, OBJECTS_OF_AN_INPUT);
    for (uint32_t i = 0; i < report.objects.count; i++) {
        struct facts facts = offline_facts(&config, stacks, i);
        struct review_context context = { .facts = &facts, .severities = &config.configuration.severities };
        enum object_kind kind = report.objects.items[i].kind;
        struct json object = kind == OBJECT_POLICY ? objects.list.items[i].json : offline_stack_json(stacks, i);
        struct review_outcome outcome = decide(scratch, row, &context, kind, json_raw(object));

        rows_expect_str(row, of_report(scratch, &report, i), of_outcome(scratch, row, &outcome));
        count(&report.objects.items[i]);
        arena_reset(scratch);
    }
    for (uint32_t i = 0; i < report.findings.count; i++) {
        tally.waiting += str_eq(report.findings.items[i].problem.rule, STR("graph.stack-cycle"));
        tally.by_policy += str_starts(report.findings.items[i].problem.rule, STR("policy/"));
    }
}

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text ? strtoull(text, NULL, 10) : otherwise;
}

static void both_say_the_same(void **state)
{
    uint64_t only = number_from("HERD_SEED", 0);
    uint64_t cases = number_from("HERD_CASES", 10000);

    (void)state;
    if (only) {
        both_say_the_same_of_one_input(only);
        return;
    }
    for (uint64_t seed = 1; tally.objects < cases; seed++)
        both_say_the_same_of_one_input(seed);
    rows_expect("some are denied", tally.denied > cases / 10, "denied");
    rows_expect("some are allowed", tally.objects - tally.denied > cases / 50, "allowed");
    rows_expect("some are warned about", tally.warned > cases / 50, "warned");
    rows_expect("some break policies", tally.by_policy > cases / 10, "of policies");
    rows_expect("some are policies", tally.policies > cases / 10, "policies");
    rows_expect("some of these are not in order", tally.policies_denied > cases / 200 &&
                tally.policies_denied < tally.policies / 2, "denied");
    rows_expect("some wait for one another", tally.waiting > cases / 1000, "cycles");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_say_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
