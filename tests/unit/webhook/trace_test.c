/* SPDX-License-Identifier: Apache-2.0 */
/* trace_test.c: which trace a review belongs to, what the Stack is stored with, and what is told. */
#include "support/rows.h"
#include "support/review_builder.h"

#include "text/base64.h"
#include "text/patch.h"
#include "webhook/review.h"

#define GIVEN "00-11111111111111111111111111111111-2222222222222222-01"
#define QUIET "00-11111111111111111111111111111111-2222222222222222-00"
#define KEPT "00-33333333333333333333333333333333-4444444444444444-01"
#define SPEC(version)                                                                              \
    "{\"targets\":{\"clusterIds\":[\"c-m-1\"]},\"charts\":[{\"name\":\"db\",\"repo\":"             \
    "\"https://charts.example.org\",\"version\":\"" version "\"}]}"

enum { OWN, STORED_GIVEN, STORED_KEPT, NOTHING }; /* what STACK_TRACEPARENT says in the end */

static const struct row {
    const char *name;
    const char *given, *kept; /* in the new object and in the stored one; NULL: there is none */
    const char *spec, *old_spec; /* NULL: it is created */
    enum review_route route;
    int stored;
    bool told;
    const char *parent;
} rows[] = {
    { "a new Stack begins a trace", NULL, NULL, SPEC("1.0.0"), NULL, REVIEW_MUTATE, OWN, true, "" },
    { "or goes on with the one that it brings", GIVEN, NULL, SPEC("1.0.0"), NULL, REVIEW_MUTATE,
      STORED_GIVEN, true, "2222222222222222" },
    { "of one that nobody samples nothing is told", QUIET, NULL, SPEC("1.0.0"), NULL, REVIEW_MUTATE,
      STORED_GIVEN, false, "2222222222222222" },
    { "a change of the spec begins another", KEPT, KEPT, SPEC("1.0.1"), SPEC("1.0.0"),
      REVIEW_MUTATE, OWN, true, "" },
    { "also where the annotation was left out", NULL, KEPT, SPEC("1.0.1"), SPEC("1.0.0"),
      REVIEW_MUTATE, OWN, true, "" },
    { "or goes on with a new one", GIVEN, KEPT, SPEC("1.0.1"), SPEC("1.0.0"), REVIEW_MUTATE,
      STORED_GIVEN, true, "2222222222222222" },
    { "without one nothing changes, and nothing is told", KEPT, KEPT, SPEC("1.0.0"), SPEC("1.0.0"),
      REVIEW_MUTATE, STORED_KEPT, false, "" },
    { "nor can anybody change it alone", GIVEN, KEPT, SPEC("1.0.0"), SPEC("1.0.0"), REVIEW_MUTATE,
      STORED_KEPT, false, "2222222222222222" },
    { "nor remove it", NULL, KEPT, SPEC("1.0.0"), SPEC("1.0.0"), REVIEW_MUTATE, STORED_KEPT, false,
      "" },
    { "nor add one", GIVEN, NULL, SPEC("1.0.0"), SPEC("1.0.0"), REVIEW_MUTATE, NOTHING, false,
      "2222222222222222" },
    { "what is rejected is told, too", NULL, NULL, SPEC("x y"), NULL, REVIEW_MUTATE, NOTHING, true,
      "" },
    { "but not what is excused because it was stored before", KEPT, KEPT, SPEC("x y"), SPEC("x y"),
      REVIEW_MUTATE, STORED_KEPT, false, "" },
    { "the validating route goes on with what the mutating one wrote", GIVEN, KEPT, SPEC("1.0.1"),
      SPEC("1.0.0"), REVIEW_VALIDATE, STORED_GIVEN, true, "2222222222222222" },
};

static struct str stack_of(struct arena *arena, const char *traceparent, const char *spec)
{
    struct str annotation = traceparent ? str_fmt(arena, ",\"herd.suse.com/traceparent\":\"%s\"",
                                                  traceparent)
                                        : STR("");

    return str_fmt(arena,
                   "{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"Stack\",\"metadata\":{\"name\":"
                   "\"s\",\"namespace\":\"default\",\"annotations\":{"
                   "\"herd.suse.com/last-applied-by\":\"ann\"%.*s}},\"spec\":%s}",
                   STR_ARG(annotation), spec);
}

/* STACK_TRACEPARENT as the API server stores it after that answer. */
static struct str stored_after(struct arena *arena, const struct row *row, struct str object,
                               struct str answer)
{
    struct error err = { .code = ERROR_NONE };
    struct json json;
    struct value *stored;
    struct str patch =
        json_str(json_get(review_response(arena, row->name, answer, "u-1"), STR("patch")));

    assert_int_equal(json_read(arena, object, &json_limits_default, &json, &err), 0);
    stored = value_of(arena, json);
    if (patch.len) {
        struct str plain;

        assert_int_equal(base64_decode(arena, patch, &plain, &err), 0);
        assert_int_equal(patch_apply(arena, stored, plain, &stored, &err), 0);
    }
    return value_text(value_walk(stored, "metadata", "annotations", "herd.suse.com/traceparent",
                                 NULL));
}

static void try_row(const struct row *row, bool traced)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct facts facts = { .clusters_known = false };
    struct rule_severities severities = rule_severities_default();
    const struct review_context context = { &facts, &severities, traced };
    struct str object = stack_of(arena, row->given, row->spec);
    struct str old = row->old_spec ? stack_of(arena, row->kept, row->old_spec) : STR("null");
    struct str body = a_review(arena, "u-1", row->old_spec ? "UPDATE" : "CREATE", object, old);
    struct review_outcome outcome;
    struct error err;
    struct str stored;

    if (review_answer(arena, row->route, body, &context, &outcome, &err) < 0)
        fail_msg("%s: %s", row->name, err.text);
    rows_expect_int(row->name, outcome.trace.context.sampled, traced && row->told);
    if (!traced) {
        rows_expect_int(row->name, outcome.trace.context.trace_id.len, 0);
        return;
    }
    stored = stored_after(arena, row, object, outcome.answer);
    rows_expect_str(row->name, outcome.trace.parent_id, str_of(row->parent));
    rows_expect_str(row->name, stored,
                    row->stored == OWN ? traceparent_write(arena, &outcome.trace.context)
                    : row->stored == STORED_GIVEN ? str_of(row->given)
                    : row->stored == STORED_KEPT  ? str_of(row->kept)
                                                  : STR(""));
}

static void a_stack_is_stored_with_the_trace_of_its_spec(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        try_row(&rows[i], true);
        try_row(&rows[i], false);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stack_is_stored_with_the_trace_of_its_spec),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
