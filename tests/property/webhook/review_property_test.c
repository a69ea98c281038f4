/* review_property_test.c: laws of reviews, on the examples and on what becomes of them when bytes
 * are lost.
 *
 * HERD_CASES sets how many mutated reviews are tried (default 2,000). A failure prints the seed of
 * its case: HERD_SEED=N runs that case alone. */
#include "support/rows.h"

#include "support/files.h"
#include "support/review_builder.h"
#include "support/stack_builder.h"

#include "base/rng.h"
#include "text/base64.h"
#include "text/patch.h"
#include "text/yaml.h"
#include "webhook/review.h"

#include <inttypes.h>
#include <stdlib.h>

/* --- the examples --- */

struct example {
    const char *path;
    struct str json;
};
LIST_DEFINE(examples, struct example)

static void add_examples(struct arena *arena, const char *folder, struct examples *all)
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
                examples_push(all, (struct example){ path, documents.items[k].json });
        }
    }
}

static struct examples all_examples(struct arena *arena)
{
    struct examples all = examples_new(arena, 64);

    add_examples(arena, "examples", &all);
    add_examples(arena, "examples/accepted", &all);
    add_examples(arena, "examples/defaulted", &all);
    add_examples(arena, "examples/rejected", &all);
    rows_expect("there are examples of all kinds", all.count > 30, "more than 30 Stacks");
    return all;
}

/* --- one review --- */

struct world {
    struct facts facts;
    struct rule_severities severities;
    struct review_context context;
};

/* Some clusters are known, so that every rule has something to say. */
static void world_begin(struct world *world, struct arena *arena)
{
    struct json labels = test_json(arena, STR("{\"gpu\":\"true\",\"env\":\"prod\"}"));

    world->facts = (struct facts){ .clusters_known = true,
                                   .clusters = fact_clusters_new(arena, 2) };
    fact_clusters_push(&world->facts.clusters,
                       (struct fact_cluster){ STR("c-m-gpu01"), STR("gpu01"), labels, true, false });
    world->severities = rule_severities_default();
    world->context = (struct review_context){ &world->facts, &world->severities };
}

struct attempt {
    const struct world *world;
    struct arena *arena;
    enum review_route route;
    struct str body;
    int result; /* of review_answer; -7 = it did not return */
    struct review_outcome outcome;
    struct error err;
};

static void answer(void *context)
{
    struct attempt *attempt = context;

    attempt->result = review_answer(attempt->arena, attempt->route, attempt->body,
                                    &attempt->world->context, &attempt->outcome, &attempt->err);
}

static struct attempt attempt_review(const struct world *world, struct arena *arena,
                                     enum review_route route, struct str body)
{
    struct attempt attempt = { .world = world,
                               .arena = arena,
                               .route = route,
                               .body = body,
                               .result = -7 };

    if (arena_run(arena, answer, &attempt) < 0)
        attempt.result = -7;
    return attempt;
}

/* --- R1: out of room, everywhere --- */

/* Fail the first allocation, then the second, until a review meets no failure. What is answered then
 * is what was answered at first; before, nothing is: no verdict and no part of one. */
static size_t sweep(const struct world *world, const char *path, enum review_route route,
                    struct str body)
{
    AUTO(arena_free) struct arena *clean_arena = arena_create(0);
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct attempt clean = attempt_review(world, clean_arena, route, body);
    size_t nth = 1;

    rows_expect_int(path, clean.result, 0);
    for (;; nth++) {
        arena_fail_at(arena, nth);

        struct attempt failed = attempt_review(world, arena, route, body);

        if (failed.result == 0) {
            rows_expect_str(path, failed.outcome.answer, clean.outcome.answer);
            rows_expect(path, failed.outcome.allowed == clean.outcome.allowed, "the same verdict");
        } else {
            rows_expect(path, !failed.outcome.allowed && failed.outcome.answer.len == 0,
                        "no verdict");
        }
        if (failed.result == 0)
            return nth - 1;
        arena_reset(arena);
        assert_true(nth < 100000);
    }
}

static void no_allocation_can_change_a_verdict(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct examples all = all_examples(arena);
    struct world world;
    size_t points = 0;

    (void)state;
    world_begin(&world, arena);
    for (uint32_t i = 0; i < all.count; i++) {
        const struct example *one = &all.items[i];
        const struct example *other = &all.items[(i + 1) % all.count];
        struct str created = a_review(arena, "u", "CREATE", one->json, STR("null"));
        struct str updated = a_review(arena, "u", "UPDATE", one->json, other->json);

        points += sweep(&world, one->path, REVIEW_MUTATE, created);
        points += sweep(&world, one->path, REVIEW_VALIDATE, created);
        points += sweep(&world, one->path, REVIEW_VALIDATE, updated);
    }
    rows_expect("the sweep had something to fail", points > 1000, "points");
}

/* --- R4, R5: whatever comes, an answer is one that the API server takes --- */

/* What is put in: bytes that mean something to a reader of JSON, and some that never should. */
static const char *const pieces[] = {
    "{", "}", "[", "]", "\"", ",", ":", "0", "-", "null", "true", "\\", "\\u0000", "\n", "\x01", "\xff",
    "\xc3", "1e999", "[[[[[[[[", "\"a\":1,", "\"spec\":{},", "\"uid\":\"x\",", "{\"charts\":[]}",
    "\"deletionTimestamp\":\"2026-01-01T00:00:00Z\",", "\"allowed\":true,",
};

static struct str mutated(struct arena *arena, struct rng *rng, struct str text)
{
    size_t at = (size_t)rng_below(rng, text.len);
    struct str before = str_slice(text, 0, at);
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
        piece = str_of(pieces[rng_below(rng, sizeof(pieces) / sizeof(pieces[0]))]);
        gone = 0;
        break;
    }

    struct str after = str_slice(text, at + gone, text.len);
    struct strbuf out = strbuf_new(arena, text.len + piece.len);

    strbuf_put(&out, before);
    strbuf_put(&out, piece);
    strbuf_put(&out, after);
    return strbuf_str(&out);
}

static struct str any_review(struct arena *arena, struct rng *rng, const struct examples *all)
{
    static const char *const operations[] = { "CREATE", "CREATE", "UPDATE", "UPDATE", "DELETE" };
    struct str object = all->items[rng_below(rng, all->count)].json;
    struct str others[] = { STR("null"), STR("[]"), object, STR("{\"spec\":{\"charts\":7}}"),
                            all->items[rng_below(rng, all->count)].json };
    struct str review = a_review(arena, "c2c1b7e0-6f4b-4f2c-9b0e-5d8f3c1a7e21",
                                 operations[rng_below(rng, 5)], object, others[rng_below(rng, 5)]);

    for (uint64_t n = rng_below(rng, 4); n > 0; n--)
        review = mutated(arena, rng, review);
    return review;
}

/* The request with its patch applied, as the API server would send it again. */
static struct str reinvoked(struct arena *arena, const char *row, struct json request,
                            struct json response)
{
    struct value *object = value_of(arena, json_get(request, STR("object")));
    struct value *patched;
    struct str patch;
    struct error err;

    rows_expect(row,
                base64_decode(arena, json_str(json_get(response, STR("patch"))), &patch, &err) == 0,
                "the patch is base64");
    if (patch_apply(arena, object, patch, &patched, &err) < 0)
        fail_msg("%s: %s\n%.*s", row, err.text, STR_ARG(patch));

    struct json old = json_get(request, STR("oldObject"));
    struct json username = json_walk(request, "userInfo", "username", NULL);

    return a_review_by(arena, "u-2", str_z(arena, json_str(json_get(request, STR("operation")))),
                       json_is(username, JSON_STRING) ? json_raw(username) : STR("\"\""),
                       value_json(arena, patched), old.index ? json_raw(old) : STR("null"));
}

static bool has_patch(struct json response)
{
    return json_is(json_get(response, STR("patch")), JSON_STRING);
}

struct tally {
    uint64_t errors;
    uint64_t allowed;
    uint64_t denied;
    uint64_t patched;
};

static void check_case(const struct world *world, const struct examples *all, uint64_t seed,
                       struct tally *tally)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const char *row = str_fmt(arena, "HERD_SEED=%" PRIu64, seed).at;
    struct rng rng = rng_from_seed(seed);
    enum review_route route = rng_below(&rng, 2) ? REVIEW_MUTATE : REVIEW_VALIDATE;
    struct str body = any_review(arena, &rng, all);
    struct attempt attempt = attempt_review(world, arena, route, body);

    if (attempt.result == -1) {
        rows_expect(row, attempt.err.text[0] && error_http_status(attempt.err.code) >= 400,
                    "an error that says something");
        rows_expect(row, attempt.outcome.answer.len == 0, "no answer beside it");
        tally->errors++;
        return;
    }
    rows_expect_int(row, attempt.result, 0);

    struct json request = json_get(test_json(arena, body), STR("request"));
    const char *uid = str_z(arena, json_str(json_get(request, STR("uid"))));
    struct json response = review_response(arena, row, attempt.outcome.answer, uid);

    rows_expect(row,
                json_bool(json_get(response, STR("allowed"))) == attempt.outcome.allowed,
                "the verdict is the one that is counted");
    rows_expect(row, route == REVIEW_MUTATE || !has_patch(response), "only mutate patches");
    tally->allowed += attempt.outcome.allowed;
    tally->denied += !attempt.outcome.allowed;
    if (!has_patch(response))
        return;
    tally->patched++;

    struct str again = reinvoked(arena, row, request, response);
    struct attempt second = attempt_review(world, arena, REVIEW_MUTATE, again);

    rows_expect_int(row, second.result, 0);
    rows_expect(row, !has_patch(review_response(arena, row, second.outcome.answer, "u-2")),
                "the second patch is empty");

    struct attempt final = attempt_review(world, arena, REVIEW_VALIDATE, again);

    rows_expect_int(row, final.result, 0);
    rows_expect(row, final.outcome.allowed, "what mutate made of it is what validate takes");
}

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text ? strtoull(text, NULL, 10) : otherwise;
}

static void mutated_reviews_get_an_error_or_a_valid_answer(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct examples all = all_examples(arena);
    uint64_t only = number_from("HERD_SEED", 0);
    uint64_t cases = only ? only : number_from("HERD_CASES", 2000);
    struct world world;
    struct tally tally = { 0 };

    (void)state;
    world_begin(&world, arena);
    for (uint64_t seed = only ? only : 1; seed <= cases; seed++)
        check_case(&world, &all, seed, &tally);
    if (only || cases < 1000)
        return;
    rows_expect("some are errors", tally.errors > cases / 20, "errors");
    rows_expect("some are allowed", tally.allowed > cases / 20, "allowed");
    rows_expect("some are denied", tally.denied > cases / 20, "denied");
    rows_expect("some are patched", tally.patched > cases / 20, "patched");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_allocation_can_change_a_verdict),
        cmocka_unit_test(mutated_reviews_get_an_error_or_a_valid_answer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
