/* SPDX-License-Identifier: Apache-2.0 */
/* policies.c: bench-policies: what StackPolicies add to a validation.
 *
 *   bench-policies [POLICIES ROUNDS] < STACK.yaml     10, 100 and 1,000 policies if not said
 *
 * Policies of 3 rules, as examples/policy/ has them; CPU of a validation without them, and what they
 * add to it: when they are about the Stack and it keeps them, when it breaks a third of their rules,
 * when they are about other Stacks, and when each looks at a field of its own. */
#include "stack/rules/validate.h"
#include "stack/policy/policy_set.h"
#include "text/yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { VALIDATIONS = 300, ROUNDS = 7, INPUT_BYTES_MAX = 1024 * 1024 };

/* %d is the policy's number. */
static const char *const kept_rules[] = {
    "{\"name\":\"a\",\"field\":\"spec.charts[*].repo\",\"allow\":[\"https://charts.example.com/*\","
    "\"oci://registry.example.com/%d/*\",\"https://helm.ngc.nvidia.com/*\",\"https://*\"]},"
    "{\"name\":\"b\",\"field\":\"spec.charts[*].version\",\"pattern\":\"v?\\\\d+\\\\.\\\\d+\\\\.\\\\d+"
    "([-+].*)?\"},"
    "{\"name\":\"c\",\"field\":\"spec.charts[*].timeout\",\"minimum\":\"2m\",\"maximum\":\"1h\"}",
    "{\"name\":\"a\",\"field\":\"metadata.name\",\"pattern\":\"[a-z][a-z0-9-]*\"},"
    "{\"name\":\"b\",\"field\":\"spec.env\",\"allow\":[\"prod\",\"prod-%d\"]},"
    "{\"name\":\"c\",\"field\":\"spec.securityProfile.thresholds.critical\",\"minimum\":0,"
    "\"maximum\":%d}",
    "{\"name\":\"a\",\"field\":\"spec.charts[*].values.inline.**.tag\",\"deny\":[\"latest\","
    "\"%d\"]},"
    "{\"name\":\"b\",\"field\":\"spec.charts[*].values.inline.**.image\",\"deny\":[\"*:latest\"]},"
    "{\"name\":\"c\",\"field\":\"spec.charts[*].values.inline.**[nvidia.com/gpu]\",\"maximum\":64}",
    "{\"name\":\"a\",\"field\":\"spec.charts[*].namespace\",\"deny\":[\"default\",\"kube-*\","
    "\"team-%d-*\"]},"
    "{\"name\":\"b\",\"requiredChart\":\"gpu-operator\"},"
    "{\"name\":\"c\",\"requiredDependency\":\"gpu-operator\",\"charts\":[\"ollama\"]}",
    NULL,
};
/* Each third rule is broken, by each chart where it is about charts. */
static const char *const broken_rules[] = {
    "{\"name\":\"a\",\"field\":\"spec.charts[*].version\",\"pattern\":\"9+\"},"
    "{\"name\":\"b\",\"field\":\"spec.env\",\"allow\":[\"prod\",\"%d\"]},"
    "{\"name\":\"c\",\"field\":\"spec.charts[*].timeout\",\"maximum\":\"24h\"}",
    NULL,
};
static const char *const own_rules[] = {
    "{\"name\":\"a\",\"field\":\"metadata.labels[example.com/a-%d]\",\"pattern\":\"[a-z]+\"},"
    "{\"name\":\"b\",\"field\":\"metadata.annotations[example.com/b-%d]\",\"pattern\":\"[a-z]+\"},"
    "{\"name\":\"c\",\"field\":\"spec.charts[*].values.inline.c-%d.enabled\",\"allow\":[\"true\"]}",
    NULL,
};

static const struct scenario {
    const char *says;
    const char *match;
    const char *const *rules; /* taken in turn */
} scenarios[] = {
    { "about the Stack, and kept", "{\"env\":[\"prod\",\"prod-*\"]}", kept_rules },
    { "about the Stack, one rule of three broken", "{}", broken_rules },
    { "about other Stacks", "{\"env\":[\"dev\",\"test\"],\"namespaces\":[\"team-*\"]}", kept_rules },
    { "each at fields of its own", "{}", own_rules },
};

static void die(const char *what)
{
    fprintf(stderr, "bench-policies: %s\n", what);
    exit(1);
}

static struct json read_stack(struct arena *arena)
{
    char *text = arena_bytes(arena, INPUT_BYTES_MAX);
    struct yaml_documents documents;
    struct json stack;
    struct error err = { 0 };

    if (yaml_read(arena, str_make(text, fread(text, 1, INPUT_BYTES_MAX, stdin)), &documents, &err) < 0)
        die(err.text);
    if (!documents.count || json_read(arena, documents.items[0].json, &json_limits_default, &stack, &err) < 0)
        die("there is no Stack in standard input");
    return stack;
}

/* --- policies --- */

/* The rules with each %d replaced. */
static struct str numbered(struct arena *arena, const char *rules, int number)
{
    struct strbuf out = strbuf_new(arena, 1024);

    for (const char *at = rules; *at; at++) {
        if (at[0] == '%' && at[1] == 'd') {
            strbuf_fmt(&out, "%d", number);
            at++;
        } else {
            strbuf_char(&out, *at);
        }
    }
    return strbuf_str(&out);
}

static void add_policy(struct policy_set_builder *builder, const struct scenario *scenario, int number)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct problems problems = problems_new(arena);
    int kinds = 0;
    struct json policy;
    struct error err = { 0 };

    while (scenario->rules[kinds])
        kinds++;

    struct str rules = numbered(arena, scenario->rules[number % kinds], number);
    struct str text = str_fmt(arena,
                              "{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"StackPolicy\",\"metadata\":"
                              "{\"name\":\"policy-%d\"},\"spec\":{\"match\":%s,\"rules\":[%.*s]}}",
                              number, scenario->match, STR_ARG(rules));

    if (json_read(arena, text, &json_limits_default, &policy, &err) < 0)
        die(err.text);
    if (!policy_set_add(builder, policy, &problems))
        die(problems.list.count ? str_z(arena, problems.list.items[0].message) : "a policy is not taken");
}

static struct policy_set *make_set(const struct scenario *scenario, int count)
{
    struct policy_set_builder *builder = policy_set_begin();

    for (int i = 0; i < count; i++)
        add_policy(builder, scenario, i);
    return policy_set_finish(builder);
}

/* --- figures --- */

static double microseconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int compare_times(const void *a, const void *b)
{
    const double *left = a, *right = b;

    return (*left > *right) - (*left < *right);
}

/* CPU of one validation, the median of some rounds. */
static double validate_time(struct json stack, const struct policy_set *set, int rounds, uint32_t *ret_findings)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct rule_severities severities = rule_severities_default();
    struct facts facts = { .policies = set };
    double times[ROUNDS];

    for (int round = 0; round < rounds; round++) {
        double began = microseconds();

        for (int i = 0; i < VALIDATIONS; i++) {
            *ret_findings = stack_admit(arena, stack, (struct json){ NULL, 0 }, &facts, &severities).problems.list.count;
            arena_reset(arena);
        }
        times[round] = (microseconds() - began) / VALIDATIONS;
    }
    qsort(times, (size_t)rounds, sizeof(*times), compare_times);
    return times[rounds / 2];
}

static void tell(const struct scenario *scenario, struct json stack, double without, const int *counts, int rounds)
{
    printf("%-42s", scenario->says);
    for (int i = 0; i < 3 && counts[i]; i++) {
        AUTO(policy_set_unref) struct policy_set *set = make_set(scenario, counts[i]);
        uint32_t findings;
        double with = validate_time(stack, set, rounds, &findings);

        printf("  %8.1f (%4u)", with - without, findings);
        fflush(stdout);
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct json stack = read_stack(arena);
    int counts[3] = { argc > 1 ? atoi(argv[1]) : 10, argc > 1 ? 0 : 100, argc > 1 ? 0 : 1000 };
    int rounds = argc > 2 ? atoi(argv[2]) : ROUNDS;
    uint32_t findings;

    if (rounds < 1 || rounds > ROUNDS)
        rounds = ROUNDS;

    double without = validate_time(stack, NULL, rounds, &findings);

    printf("a validation without policies: %.1f us (%u findings)\n", without, findings);
    printf("us that policies of 3 rules add (findings)");
    for (int i = 0; i < 3 && counts[i]; i++)
        printf("  %15d", counts[i]);
    printf("\n");
    for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
        tell(&scenarios[i], stack, without, counts, rounds);
    return 0;
}
