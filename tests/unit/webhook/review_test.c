/* SPDX-License-Identifier: Apache-2.0 */
/* review_test.c: AdmissionReviews in, AdmissionReviews out. */
#include "support/rows.h"

#include <stdlib.h>

#include "stack/model/stack.h"
#include "text/base64.h"
#include "text/json.h"
#include "text/patch.h"
#include "webhook/review.h"

#define TEN(text) text text text text text text text text text text
#define GOOD_SPEC                                                                                  \
    "{\"env\":\"dev\",\"targets\":{\"clusterIds\":[\"c-m-1\"]},\"charts\":[{\"name\":\"db\","       \
    "\"repo\":\"https://charts.example.org\",\"version\":\"1.2.3\"}]}"
#define NO_CHARTS "{\"env\":\"dev\",\"targets\":{\"clusterIds\":[\"c-m-1\"]},\"charts\":[]}"
#define STACK(meta, spec)                                                                          \
    "{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"Stack\",\"metadata\":{\"name\":\"s\","         \
    "\"namespace\":\"default\",\"annotations\":{\"herd.suse.com/last-applied-by\":\"ann\"}" meta       \
    "},\"spec\":" spec "}"
#define GOING ",\"deletionTimestamp\":\"2026-08-20T08:00:00Z\""
#define V2_STACK                                                                                   \
    "{\"apiVersion\":\"herd.suse.com/v2\",\"kind\":\"Stack\",\"metadata\":{\"name\":\"s\"},"        \
    "\"spec\":" GOOD_SPEC "}"
#define SUB_REVIEW(sub, object)                                                                    \
    "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"request\":{\"uid\":"    \
    "\"u-1\",\"resource\":{\"group\":\"herd.suse.com\",\"version\":\"v1\",\"resource\":"           \
    "\"stacks\"},\"subResource\":\"" sub "\",\"operation\":\"UPDATE\",\"object\":" object             \
    ",\"oldObject\":" object "}}"
#define POLICY(spec)                                                                               \
    "{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"StackPolicy\",\"metadata\":{\"name\":\"p\"}," \
    "\"spec\":" spec "}"
#define GOOD_POLICY "{\"rules\":[{\"name\":\"r\",\"field\":\"spec.env\",\"deny\":[\"x\"]}]}"
#define BAD_POLICY "{\"rules\":[{\"name\":\"r\",\"field\":\"spec.env\",\"pattern\":\"(\"}]}"
#define POLICY_REVIEW(operation, object, old)                                                      \
    "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"request\":{\"uid\":"    \
    "\"u-1\",\"resource\":{\"group\":\"herd.suse.com\",\"version\":\"v1\",\"resource\":"           \
    "\"stackpolicies\"},\"name\":\"p\",\"operation\":\"" operation "\",\"object\":" object           \
    ",\"oldObject\":" old "}}"
#define REVIEW(operation, object, old) ASKED(operation, object, old, "false")
#define ASKED(operation, object, old, dry)                                                         \
    "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"request\":{\"uid\":"    \
    "\"u-1\",\"kind\":{\"group\":\"herd.suse.com\",\"version\":\"v1\",\"kind\":\"Stack\"},"        \
    "\"resource\":{\"group\":\"herd.suse.com\",\"version\":\"v1\",\"resource\":\"stacks\"},"       \
    "\"name\":\"s\",\"namespace\":\"default\",\"operation\":\"" operation "\","                    \
    "\"userInfo\":{\"username\":\"ann\"},\"object\":" object ",\"oldObject\":" old                  \
    ",\"dryRun\":" dry "}}"

struct world {
    struct arena *arena;
    struct facts facts;
    struct rule_severities severities;
    struct review_context context;
};

static int setup(void **state)
{
    struct world *world = calloc(1, sizeof(*world));

    world->arena = arena_create(0);
    world->severities = rule_severities_default();
    world->context = (struct review_context){ .facts = &world->facts,
                                               .severities = &world->severities };
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;

    arena_free(world->arena);
    free(world);
    return 0;
}

static struct json read_json(struct world *world, struct str bytes)
{
    struct error err = { 0 };
    struct json json;

    if (json_read(world->arena, bytes, &json_limits_default, &json, &err) < 0)
        fail_msg("not JSON: %s\n%.*s", err.text, STR_ARG(bytes));
    return json;
}

static void answers(void **state)
{
    static const struct row {
        const char *name;
        enum review_route route;
        const char *body;
        bool allowed;
        bool patched;
    } rows[] = {
        { "a good Stack is allowed", REVIEW_VALIDATE, REVIEW("CREATE", STACK("", GOOD_SPEC), "null"),
          true, false },
        { "one without charts is rejected", REVIEW_VALIDATE,
          REVIEW("CREATE", STACK("", NO_CHARTS), "null"), false, false },
        { "mutate rejects too, so that the schema's words do not come first", REVIEW_MUTATE,
          REVIEW("CREATE", STACK("", NO_CHARTS), "null"), false, false },
        { "mutate fills in defaults", REVIEW_MUTATE,
          REVIEW("CREATE", STACK("", GOOD_SPEC), "null"), true, true },
        { "a deletion is allowed", REVIEW_VALIDATE,
          REVIEW("DELETE", "null", STACK("", NO_CHARTS)), true, false },
        { "a Stack that is going may lose its finalizers whatever it says", REVIEW_VALIDATE,
          REVIEW("UPDATE", STACK(GOING, NO_CHARTS), STACK(GOING, GOOD_SPEC)), true, false },
        { "and gets no defaults any more", REVIEW_MUTATE,
          REVIEW("UPDATE", STACK(GOING, GOOD_SPEC), STACK(GOING, GOOD_SPEC)), true, false },
        { "a new Stack that says it is going is validated", REVIEW_VALIDATE,
          REVIEW("CREATE", STACK(GOING, NO_CHARTS), "null"), false, false },
        { "an update that says so of a Stack that is not going is validated", REVIEW_VALIDATE,
          REVIEW("UPDATE", STACK(GOING, NO_CHARTS), STACK("", GOOD_SPEC)), false, false },
        { "an update without its old object is validated like a new Stack", REVIEW_VALIDATE,
          REVIEW("UPDATE", STACK("", NO_CHARTS), "null"), false, false },
        { "a good update without its old object is allowed", REVIEW_VALIDATE,
          REVIEW("UPDATE", STACK("", GOOD_SPEC), "null"), true, false },
        { "an old object that is no object excuses nothing", REVIEW_VALIDATE,
          REVIEW("UPDATE", STACK("", NO_CHARTS), "[\"charts\"]"), false, false },
        { "an old object whose spec is a text excuses nothing", REVIEW_VALIDATE,
          REVIEW("UPDATE", STACK("", NO_CHARTS), STACK("", "\"x\"")), false, false },
        { "an old object of another kind excuses nothing that it does not have", REVIEW_VALIDATE,
          REVIEW("UPDATE", STACK("", NO_CHARTS), "{\"kind\":\"Pod\",\"spec\":{}}"), false, false },
        { "an object of another version is rejected", REVIEW_VALIDATE,
          REVIEW("CREATE", V2_STACK, "null"), false, false },
        { "by both routes", REVIEW_MUTATE, REVIEW("CREATE", V2_STACK, "null"), false, false },
        { "a status is not validated", REVIEW_VALIDATE, SUB_REVIEW("status", STACK("", NO_CHARTS)), true,
          false },
        { "nor defaulted", REVIEW_MUTATE, SUB_REVIEW("status", STACK("", GOOD_SPEC)), true, false },
        { "a good policy is allowed", REVIEW_VALIDATE,
          POLICY_REVIEW("CREATE", POLICY(GOOD_POLICY), "null"), true, false },
        { "and has no defaults of ours", REVIEW_MUTATE,
          POLICY_REVIEW("CREATE", POLICY(GOOD_POLICY), "null"), true, false },
        { "a bad policy is rejected", REVIEW_VALIDATE,
          POLICY_REVIEW("CREATE", POLICY(BAD_POLICY), "null"), false, false },
        { "by both routes", REVIEW_MUTATE,
          POLICY_REVIEW("CREATE", POLICY(BAD_POLICY), "null"), false, false },
        { "an update that makes it bad too", REVIEW_VALIDATE,
          POLICY_REVIEW("UPDATE", POLICY(BAD_POLICY), POLICY(GOOD_POLICY)), false, false },
        { "one that leaves it as it was only warns", REVIEW_VALIDATE,
          POLICY_REVIEW("UPDATE", POLICY(BAD_POLICY), POLICY(BAD_POLICY)), true, false },
        { "a fault that an update does not touch only warns", REVIEW_VALIDATE,
          REVIEW("UPDATE", STACK(",\"labels\":{\"a\":\"b\"}", NO_CHARTS), STACK("", NO_CHARTS)), true,
          false },
        { "a fault that an update brings is rejected", REVIEW_VALIDATE,
          REVIEW("UPDATE", STACK("", NO_CHARTS), STACK("", GOOD_SPEC)), false, false },
        { "an object that cannot be decoded is rejected", REVIEW_VALIDATE,
          REVIEW("CREATE", "{\"kind\":\"Stack\",\"kind\":\"Stack\"}", "null"), false, false },
        { "by both routes", REVIEW_MUTATE,
          REVIEW("CREATE", "{\"kind\":\"Stack\",\"kind\":\"Stack\"}", "null"), false, false },
        { "nesting beyond what is read", REVIEW_VALIDATE,
          REVIEW("CREATE", TEN(TEN("[")) TEN("[[[") TEN("]]]") TEN(TEN("]")), "null"), false, false },
        { "also of an old object", REVIEW_VALIDATE, REVIEW("UPDATE", STACK("", GOOD_SPEC), "{\"a\":1,\"a\":1}"), false,
          false },
        { "bytes behind the review", REVIEW_VALIDATE, REVIEW("CREATE", STACK("", GOOD_SPEC), "null") "x", false,
          false },
        { "a user that is a number", REVIEW_VALIDATE,
          "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"request\":{\"uid\":\"u-1\","
          "\"userInfo\":{\"username\":7}}}", false, false },
    };
    struct world *world = *state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct review_outcome outcome;
        struct error err = { 0 };

        rows_expect_int(rows[i].name,
                        review_answer(world->arena, rows[i].route, str_of(rows[i].body),
                                      &world->context, &outcome, &err),
                        0);

        struct json response =
            json_get(read_json(world, outcome.answer), STR("response"));

        rows_expect_str(rows[i].name, json_str(json_get(response, STR("uid"))), STR("u-1"));
        rows_expect_int(rows[i].name, json_bool(json_get(response, STR("allowed"))),
                        rows[i].allowed);
        rows_expect_int(rows[i].name, json_is(json_get(response, STR("patch")), JSON_STRING),
                        rows[i].patched);
        rows_expect_int(rows[i].name, json_is(json_get(response, STR("patchType")), JSON_STRING),
                        rows[i].patched);
        if (!rows[i].allowed) {
            int64_t code = 0;

            json_int64(json_walk(response, "status", "code", NULL), &code);
            rows_expect_int(rows[i].name, code, 422);
            rows_expect(rows[i].name,
                        json_count(json_walk(response, "status", "details", "causes", NULL)) > 0,
                        "the rejection names its causes");
        }
    }
}

#define WAITS                                                                                      \
    "{\"env\":\"dev\",\"targets\":{\"clusterIds\":[\"c-m-1\",\"c-m-1\"]},\"dependsOn\":[{\"name\":"       \
    "\"base\"}],\"charts\":[{\"name\":\"db\",\"repo\":\"https://charts.example.org\",\"version\":"      \
    "\"1.2.3\"}]}"
#define REPEATED "spec.targets.clusterIds[1]: Duplicate value: \"c-m-1\"; remove one of the two\n"
#define INSTALLS "preview: installs db 1.2.3 on 1 cluster: c-m-1\n"
#define WAITING "preview: not before the Stack base is Ready\n"
#define MOVED                                                                                      \
    "{\"env\":\"dev\",\"targets\":{\"clusterIds\":[\"c-m-2\"]},\"charts\":[{\"name\":\"db\","       \
    "\"repo\":\"https://charts.example.org\",\"version\":\"1.2.3\"}]}"
#define HELD                                                                                       \
    ",\"status\":{\"observedGeneration\":1,\"targetClusters\":[\"c-m-1\"],\"deployments\":[{"        \
    "\"chartName\":\"db\",\"clusterId\":\"c-m-1\",\"namespace\":\"db\",\"releaseName\":\"db\","     \
    "\"status\":\"Deployed\",\"version\":\"1.2.3\",\"digest\":\"sha256:x\"}]}"
#define LEAVES                                                                                     \
    "preview: leaves 1 cluster: c-m-1, and its releases are uninstalled there\n"                    \
    "preview: removes 1 of 1 releases, which is more than spec.rollout.maxRemovals (50%): the "      \
    "controller waits for the annotation herd.suse.com/confirm-removal; status.message then shows "  \
    "the command\n"
#define UNKNOWN "preview: the clusters are not known to the webhook\n"

/* The validating route tells it, once, behind what was found. */
static void what_a_change_will_do_is_told(void **state)
{
    static const struct row {
        const char *name;
        enum review_route route;
        const char *body;
        const char *warnings;
    } rows[] = {
        { "a create", REVIEW_VALIDATE, ASKED("CREATE", STACK("", WAITS), "null", "false"), REPEATED },
        { "a dry run is told more", REVIEW_VALIDATE, ASKED("CREATE", STACK("", WAITS), "null", "true"),
          REPEATED INSTALLS WAITING UNKNOWN },
        { "the mutating route tells nothing", REVIEW_MUTATE, ASKED("CREATE", STACK("", WAITS), "null", "true"), "" },
        { "a rejection does nothing", REVIEW_VALIDATE, ASKED("CREATE", STACK("", NO_CHARTS), "null", "true"), "" },
        { "a spec that stays", REVIEW_VALIDATE, ASKED("UPDATE", STACK("", WAITS), STACK("", WAITS), "true"), REPEATED },
        { "a change", REVIEW_VALIDATE, ASKED("UPDATE", STACK("", WAITS), STACK("", GOOD_SPEC), "true"),
          REPEATED INSTALLS WAITING UNKNOWN },
        { "what is removed is told with a real change", REVIEW_VALIDATE,
          ASKED("UPDATE", STACK("", MOVED), STACK("", GOOD_SPEC HELD), "false"), LEAVES },
        { "whatever status is sent along", REVIEW_VALIDATE,
          ASKED("UPDATE", STACK("", MOVED ",\"status\":{}"), STACK("", GOOD_SPEC HELD), "false"), LEAVES },
        { "and that of an object that is new is none", REVIEW_VALIDATE,
          ASKED("CREATE", STACK("", MOVED HELD), "null", "false"), "" },
    };
    struct world *world = *state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct review_outcome outcome;
        struct error err;
        struct strbuf got = strbuf_new(world->arena, 256);

        rows_expect_int(rows[i].name,
                        review_answer(world->arena, rows[i].route, str_of(rows[i].body),
                                      &world->context, &outcome, &err),
                        0);

        struct json response = json_get(read_json(world, outcome.answer), STR("response"));
        struct json_iter it = json_iter(json_get(response, STR("warnings")));

        while (json_next(&it))
            strbuf_fmt(&got, "%.*s\n", STR_ARG(json_str(it.value)));
        rows_expect_str(rows[i].name, strbuf_str(&got), str_of(rows[i].warnings));
    }
}

static void what_cannot_be_validated(void **state)
{
    static const struct row {
        const char *name;
        const char *body;
    } rows[] = {
        { "an empty body", "" },
        { "not JSON", "nonsense" },
        { "no request", "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\"}" },
        { "an object that is null on CREATE", REVIEW("CREATE", "null", "null") },
        { "an object that is a list", REVIEW("CREATE", "[]", "null") },
        { "a second answer smuggled in by a repeated key",
          "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"kind\":\"x\"}" },
        { "no uid", "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"request\":"
                    "{\"resource\":{\"group\":\"herd.suse.com\",\"version\":\"v1\",\"resource\":"
                    "\"stacks\"},\"operation\":\"CREATE\",\"object\":" STACK("", GOOD_SPEC) "}}" },
        { "a review of v1beta1",
          "{\"apiVersion\":\"admission.k8s.io/v1beta1\",\"kind\":\"AdmissionReview\",\"request\":{}}" },
        { "an object that is null on UPDATE", REVIEW("UPDATE", "null", STACK("", GOOD_SPEC)) },
        { "Stacks of another version",
          "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"request\":{\"uid\":\"u\","
          "\"resource\":{\"group\":\"herd.suse.com\",\"version\":\"v2\",\"resource\":\"stacks\"},"
          "\"operation\":\"CREATE\",\"object\":{}}}" },
        { "some other resource",
          "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"request\":{\"uid\":\"u\","
          "\"resource\":{\"group\":\"\",\"version\":\"v1\",\"resource\":\"pods\"},\"operation\":\"CREATE\","
          "\"object\":{}}}" },
    };
    struct world *world = *state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct review_outcome outcome = { .allowed = false };
        struct error err = { 0 };

        rows_expect_int(rows[i].name,
                        review_answer(world->arena, REVIEW_VALIDATE, str_of(rows[i].body),
                                      &world->context, &outcome, &err),
                        -1);
        rows_expect(rows[i].name, !outcome.allowed && err.text[0], "an error, and nothing allowed");
    }
}

/* Abandoned at any allocation it is rejected as too large; at the very first ones it gives no verdict at all. */
struct attempt {
    struct world *world;
    struct arena *arena;
    struct review_outcome outcome;
    int result;
};

static void try_review(void *context)
{
    struct attempt *attempt = context;
    struct error err = { 0 };

    attempt->result = review_answer(attempt->arena, REVIEW_VALIDATE,
                                    STR(REVIEW("CREATE", STACK("", NO_CHARTS), "null")),
                                    &attempt->world->context, &attempt->outcome, &err);
}

static void no_allocation_can_turn_a_rejection(void **state)
{
    bool finished = false;

    for (size_t nth = 1; !finished; nth++) {
        struct attempt attempt = { .world = *state, .arena = arena_create(0), .result = -2 };

        arena_fail_at(attempt.arena, nth);
        bool answered = arena_run(attempt.arena, try_review, &attempt) == 0;

        rows_expect("a rejection stays one", !attempt.outcome.allowed, "not allowed");
        rows_expect("an abandoned review has an answer", nth <= 2 || (answered && attempt.result == 0), "an answer");
        rows_expect("the first ones give none", answered || attempt.outcome.answer.len == 0, "none");
        finished = answered && !str_eq(attempt.outcome.rules, STR("shape.work"));
        arena_free(attempt.arena);
        assert_true(nth < 100000);
    }
}

static void mutating_twice_changes_nothing(void **state)
{
    struct world *world = *state;
    struct str body = STR(REVIEW("CREATE", STACK("", GOOD_SPEC), "null"));
    struct review_outcome first;
    struct review_outcome second;
    struct error err = { 0 };
    struct value *patched;
    struct str patch;

    assert_int_equal(review_answer(world->arena, REVIEW_MUTATE, body, &world->context, &first, &err),
                     0);

    struct json response = json_get(read_json(world, first.answer), STR("response"));

    assert_int_equal(base64_decode(world->arena, json_str(json_get(response, STR("patch"))), &patch,
                                   &err),
                     0);

    struct value *object =
        value_of(world->arena, json_walk(read_json(world, body), "request", "object", NULL));

    assert_int_equal(patch_apply(world->arena, object, patch, &patched, &err), 0);

    struct str again = str_fmt(world->arena, "%s%.*s%s",
                               "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\","
                               "\"request\":{\"uid\":\"u-2\",\"resource\":{\"group\":\"herd.suse.com\","
                               "\"version\":\"v1\",\"resource\":\"stacks\"},\"operation\":\"CREATE\","
                               "\"userInfo\":{\"username\":\"ann\"},\"object\":",
                               STR_ARG(value_json(world->arena, patched)), "}}");

    assert_int_equal(
        review_answer(world->arena, REVIEW_MUTATE, again, &world->context, &second, &err), 0);
    response = json_get(read_json(world, second.answer), STR("response"));
    rows_expect("the second patch is empty", !json_is(json_get(response, STR("patch")), JSON_STRING),
                "no patch");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(answers, setup, teardown),
        cmocka_unit_test_setup_teardown(what_a_change_will_do_is_told, setup, teardown),
        cmocka_unit_test_setup_teardown(what_cannot_be_validated, setup, teardown),
        cmocka_unit_test_setup_teardown(no_allocation_can_turn_a_rejection, setup, teardown),
        cmocka_unit_test_setup_teardown(mutating_twice_changes_nothing, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
