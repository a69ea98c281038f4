/* SPDX-License-Identifier: Apache-2.0 */
/* any_review.c: tables of what is sent, and a choice among them. */
#include "support/rows.h"

#include "support/any_review.h"

#include "support/any_policy.h"
#include "support/any_stack.h"
#include "support/files.h"
#include "support/review_builder.h"
#include "support/stack_builder.h"
#include "stack/gpu/inventory.h"
#include "text/yaml.h"

/* --- what reviews are validated by --- */

static bool get_stack(void *context, struct arena *arena, struct str namespace_, struct str name,
                      struct fact_stack *ret_stack)
{
    struct str_list needs = str_list_new(arena, 1);

    (void)context, (void)namespace_;
    if (!str_eq(name, STR("a")))
        return false;
    str_list_push(&needs, STR("s"));
    *ret_stack = (struct fact_stack){ .known = true, .depends_on = needs };
    return true;
}

#define POLICY(name, spec)                                                                         \
    "{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"StackPolicy\",\"metadata\":{\"name\":\"" name "\"},\"spec\":" spec "}"

static const char *const policies[] = {
    POLICY("pinned", "{\"match\":{\"env\":[\"prod\"]},\"rules\":[{\"name\":\"exact\",\"field\":\"spec.charts[*].version\","
                     "\"pattern\":\"[0-9]+\\\\.[0-9]+\\\\.[0-9]+\"}]}"),
    POLICY("namespaces", "{\"rules\":[{\"name\":\"system\",\"field\":\"spec.charts[*].namespace\",\"deny\":[\"kube-*\"]}]}"),
    POLICY("repositories", "{\"action\":\"Warn\",\"rules\":[{\"name\":\"own\",\"field\":\"spec.charts[*].repo\","
                           "\"allow\":[\"https://charts.example.com*\"]}]}"),
    POLICY("endless", "{\"rules\":[{\"name\":\"e\",\"field\":\"spec.charts[*].version\",\"notPattern\":\"(a+)+b\"}]}"),
    POLICY("gpus", "{\"action\":\"Audit\",\"rules\":[{\"name\":\"few\",\"maximum\":\"4\","
                   "\"field\":\"spec.charts[*].values.inline.**[nvidia.com/gpu]\"}]}"),
    POLICY("guarded", "{\"match\":{\"clusterSelector\":{\"matchLabels\":{\"env\":\"prod\"}}},\"action\":\"Warn\","
                      "\"rules\":[{\"name\":\"chart\",\"requiredChart\":\"gpu-operator\"},{\"name\":\"first\",\"requiredDependency\":\"a\"}]}"),
    POLICY("all-gpus", "{\"rules\":[{\"name\":\"few\",\"maximum\":\"64\",\"field\":\"computed.gpus\"}]}"),
};

static struct policy_set *read_policies(struct arena *arena)
{
    struct policy_set_builder *builder = policy_set_begin();

    for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++) {
        struct problems problems = problems_new(arena);

        if (!policy_set_add(builder, test_json(arena, str_of(policies[i])), &problems))
            fail_msg("%s: %.*s", policies[i], STR_ARG(problems.list.items[0].message));
    }
    return policy_set_finish(builder);
}

void review_world_begin(struct review_world *world, struct arena *arena)
{
    struct json labels = test_json(arena, STR("{\"gpu\":\"true\",\"env\":\"prod\"}"));

    struct inventory *inventory = arena_new(arena, struct inventory);

    *inventory = inventory_read(arena, test_json(arena, STR(
        "{\"status\":{\"ready\":true,\"nodes\":2,\"readyNodes\":2,\"resources\":[{\"name\":\"nvidia.com/gpu\",\"allocatable\":8,"
        "\"schedulable\":8,\"largestNode\":4,\"reserved\":6}],\"conditions\":[{\"type\":\"Observed\",\"status\":\"True\"}]}}")));
    world->policies = read_policies(arena);
    world->facts = (struct facts){ .policies = world->policies,
                                   .clusters_known = true,
                                   .inventories_kept = true,
                                   .clusters = fact_clusters_new(arena, 2),
                                   .stacks = { .get = get_stack } };
    fact_clusters_push(&world->facts.clusters,
                       (struct fact_cluster){ .id = STR("c-m-gpu01"), .display_name = STR("gpu01"),
                                             .labels = labels, .ready = true, .inventory = inventory });
    world->severities = rule_severities_default();
    world->context = (struct review_context){ .facts = &world->facts,
                                               .severities = &world->severities };
}

void review_world_end(struct review_world *world)
{
    policy_set_unref(world->policies);
}

/* --- the examples --- */

static void add_examples(struct arena *arena, const char *folder, struct review_examples *all)
{
    struct str_list names = test_files(arena, folder, ".yaml");

    for (uint32_t i = 0; i < names.count; i++) {
        const char *path = str_fmt(arena, "%s/%.*s", folder, STR_ARG(names.items[i])).at;
        struct yaml_documents documents;
        struct error err;

        if (yaml_read(arena, test_file(arena, path), &documents, &err) < 0)
            fail_msg("%s: %s", path, err.text);
        for (uint32_t k = 0; k < documents.count; k++) {
            struct json object = test_json(arena, documents.items[k].json);

            if (str_eq(json_str(json_get(object, STR("kind"))), STR("Stack")))
                review_examples_push(all, (struct review_example){ path, documents.items[k].json });
        }
    }
}

struct review_examples review_examples_read(struct arena *arena)
{
    static const char *const folders[] = { "examples", "examples/accepted", "examples/defaulted",
                                           "examples/rejected" };
    struct review_examples all = review_examples_new(arena, 64);

    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
        add_examples(arena, folders[i], &all);
    rows_expect("there are examples of all kinds", all.count > 30, "more than 30 Stacks");
    return all;
}

/* --- hostile ones --- */

#define STACK_OF(metadata, spec)                                                                   \
    "{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"Stack\",\"metadata\":" metadata ",\"spec\":" spec "}"
#define CHARTS(charts) "{\"targets\":{\"clusterIds\":[\"c-m-1\"]},\"charts\":" charts "}"
#define CHART(more) "{\"name\":\"a\",\"repo\":\"https://x.io\",\"version\":\"1.2.3\"" more "}"

#define TEN(text) text text text text text text text text text text
#define DEEPER_THAN_READ TEN(TEN("[")) TEN("[[[")

static const char *const hostile_objects[] = {
    "null",
    "[]",
    "\"Stack\"",
    "{}",
    STACK_OF("null", "null"),
    STACK_OF("[]", "[]"),
    STACK_OF("{}", CHARTS("[" CHART("") "]")),
    STACK_OF("{\"annotations\":[]}", CHARTS("[" CHART("") "]")),
    STACK_OF("{\"annotations\":{\"herd.suse.com/last-applied-by\":\"root\"}}", CHARTS("[" CHART("") "]")),
    STACK_OF("{\"annotations\":{\"herd.suse.com/last-applied-by\":{}}}", CHARTS("[" CHART("") "]")),
    STACK_OF("{\"labels\":\"x\"}", CHARTS("[" CHART("") "]")),
    STACK_OF("{\"labels\":{\"a/b/c\":[]}}", CHARTS("[" CHART("") "]")),
    STACK_OF("{\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"}", CHARTS("7")),
    STACK_OF("{\"name\":\"\\u001b[2J\\r\\n\"}", CHARTS("[" CHART("") "]")),
    STACK_OF("{\"name\":\"s\"}", "{\"\\u001b[31m\":1,\"a/b~c\":{},\"\":[]}"),
    STACK_OF("{\"name\":\"s\"}", CHARTS("[" CHART("") "," CHART("") "]")),
    STACK_OF("{\"name\":\"s\"}", CHARTS("[" CHART(",\"dependsOn\":[\"a\"]") "]")),
    STACK_OF("{\"name\":\"s\"}", CHARTS("[null,[],{},\"a\",1e999,true]")),
    STACK_OF("{\"name\":\"s\"}", CHARTS("[" CHART(",\"timeout\":\"-1h\"") "]")),
    STACK_OF("{\"name\":\"s\"}", CHARTS("[" CHART(",\"values\":{\"inline\":{\"a\":1e400}}") "]")),
    STACK_OF("{\"name\":\"s\"}",
             CHARTS("[" CHART(",\"values\":{\"inline\":{\"\\ud83d\\ude00\":-0.0,\"nvidia.com/gpu\":[]}}") "]")),
    STACK_OF("{\"name\":\"s\"}", CHARTS("[" CHART(",\"releaseName\":\"../../x\"") "]")),
    STACK_OF("{\"name\":\"s\"}", CHARTS("[" CHART(",\"namespace\":\"kube-system\"") "]")),
    STACK_OF("{\"name\":\"s\"}", "{\"targets\":{\"clusterIds\":[\"local\",\"../local\",\"%2e%2e\",\"\"]},"
                                 "\"charts\":[" CHART("") "]}"),
    STACK_OF("{\"name\":\"s\"}", "{\"targets\":{\"selector\":{\"matchExpressions\":[{\"key\":\"a\","
                                 "\"operator\":\"In\"}]}},\"charts\":[" CHART("") "]}"),
    STACK_OF("{\"name\":\"s\"}", "{\"dependsOn\":[{\"name\":\"a\"},{\"name\":\"s\"}],\"targets\":{\"clusterIds\":"
                                 "[\"c-1\"]},\"charts\":[" CHART("") "]}"),
    "{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"Stack\",\"kind\":\"Pod\"}",
    "{\"apiVersion\":\"herd.suse.com/v2\",\"kind\":\"Stack\"}",
    DEEPER_THAN_READ,
};

static const char *const operations[] = { "CREATE", "CREATE", "UPDATE", "UPDATE", "UPDATE", "DELETE", "CONNECT", "" };

static const char *const usernames[] = {
    "\"ann\"", "\"ann\"", "\"system:serviceaccount:a:b\"", "\"\"", "null", "7", "\"\\u001b[31mroot\\n\"",
    "\"\\\\x1b\\\\...\"", "\"\\u00e4\\ud83d\\ude00\"",
};

/* What is put in: bytes that mean something to a reader of JSON, and some that never should. */
static const char *const pieces[] = {
    "{", "}", "[", "]", "\"", ",", ":", "0", "-", "null", "true", "\\", "\\u0000", "\\ud800", "\n", "\x01", "\xff",
    "\xc3", "\xef\xbb\xbf", "1e999", "[[[[[[[[", "\"a\":1,", "\"spec\":{},", "\"uid\":\"x\",", "{\"charts\":[]}",
    "\"deletionTimestamp\":\"2026-01-01T00:00:00Z\",", "\"allowed\":true,", "\"subResource\":\"status\",",
    "\"dryRun\":true,", "\"operation\":\"DELETE\",",
};

#define ANY_OF(rng, table) (table)[rng_below((rng), sizeof(table) / sizeof((table)[0]))]

static struct str mutated(struct arena *arena, struct rng *rng, struct str text)
{
    size_t at = (size_t)rng_below(rng, text.len);
    size_t gone = (size_t)rng_below(rng, rng_below(rng, 4) ? 3 : 200);
    struct str piece = STR("");
    char flipped;

    switch (rng_below(rng, 3)) {
    case 0:
        flipped = (char)(text.at[at] ^ (1 << rng_below(rng, 8)));
        piece = str_make(&flipped, 1);
        gone = 1;
        break;
    case 1:
        break;
    default:
        piece = str_of(ANY_OF(rng, pieces));
        gone = 0;
        break;
    }

    struct strbuf out = strbuf_new(arena, text.len + piece.len);

    strbuf_put(&out, str_slice(text, 0, at));
    strbuf_put(&out, piece);
    strbuf_put(&out, str_slice(text, at + gone, text.len));
    return strbuf_str(&out);
}

static struct str any_object(struct arena *arena, struct rng *rng, const struct review_examples *examples)
{
    switch (rng_below(rng, 4)) {
    case 0:
        return str_of(ANY_OF(rng, hostile_objects));
    case 1:
        if (examples->count)
            return examples->items[rng_below(rng, examples->count)].json;
        /* fall through */
    default:
        return any_stack(arena, rng);
    }
}

/* Often the object as it is or nearly, as most updates are. */
static struct str any_old(struct arena *arena, struct rng *rng, const struct review_examples *examples,
                          struct str object)
{
    switch (rng_below(rng, 4)) {
    case 0:
        return STR("null");
    case 1:
        return object;
    case 2:
        return mutated(arena, rng, object);
    default:
        return any_object(arena, rng, examples);
    }
}

#define UID "c2c1b7e0-6f4b-4f2c-9b0e-5d8f3c1a7e21"

static struct str any_stack_review(struct arena *arena, struct rng *rng, const struct review_examples *examples)
{
    const char *operation = ANY_OF(rng, operations);
    struct str username = str_of(ANY_OF(rng, usernames));
    struct str object = any_object(arena, rng, examples);
    struct str old = any_old(arena, rng, examples, object);

    return a_review_by(arena, UID, operation, username, object, old);
}

/* Now and then of something else than a policy, or with another one as the old object. */
static struct str any_policy_review(struct arena *arena, struct rng *rng, const struct review_examples *examples)
{
    const char *operation = ANY_OF(rng, operations);
    struct str username = str_of(ANY_OF(rng, usernames));
    struct str object = rng_below(rng, 12) ? any_policy(arena, rng, "p") : any_object(arena, rng, examples);
    struct str old = rng_below(rng, 3) ? any_policy(arena, rng, "p") : any_old(arena, rng, examples, object);

    return a_policy_review(arena, UID, operation, username, object, old);
}

struct str any_review(struct arena *arena, struct rng *rng, const struct review_examples *examples)
{
    struct str review = rng_below(rng, 5) ? any_stack_review(arena, rng, examples)
                                          : any_policy_review(arena, rng, examples);

    for (uint64_t n = rng_below(rng, 9); n > 5; n--)
        review = mutated(arena, rng, review);
    return review;
}

struct str review_number(struct arena *arena, const struct review_examples *examples, uint64_t n)
{
    struct rng rng = rng_from_seed(n);

    if (n < examples->count)
        return a_review(arena, "u", "CREATE", examples->items[n].json, STR("null"));
    return any_review(arena, &rng, examples);
}

/* --- one review --- */

static void answer(void *context)
{
    struct review_attempt *attempt = context;

    attempt->result = review_answer(attempt->arena, attempt->route, attempt->body,
                                    &attempt->world->context, &attempt->outcome, &attempt->err);
}

struct review_attempt review_attempt(const struct review_world *world, struct arena *arena,
                                     enum review_route route, struct str body)
{
    struct review_attempt attempt = { .world = world, .arena = arena, .route = route, .body = body };

    if (arena_run(arena, answer, &attempt) < 0)
        attempt.result = REVIEW_ABANDONED;
    return attempt;
}
