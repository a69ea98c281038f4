/* SPDX-License-Identifier: Apache-2.0 */
/* metric_test.c: series, bounds, and Prometheus' text. */
#include "support/rows.h"

#include "base/metric.h"

static const double seconds[] = { 0.1, 1, 0 };

static const struct metric_row metric_rows[] = {
    { METRIC_COUNTER, "herd_reviews_total", { "verdict", "code" }, NULL, "Reviews answered." },
    { METRIC_GAUGE, "herd_leader", { NULL }, NULL, "1 if this process leads." },
    { METRIC_COUNTER, "herd_writes_total", { "kind=a|b", "result=done|failed" }, NULL, "Writes." },
    { METRIC_COUNTER, "herd_answers_total", { "kind=a|b", "code" }, NULL, "Answers by code." },
    { METRIC_HISTOGRAM, "herd_review_duration_seconds", { NULL }, seconds, "Time for a review." },
};

static void what_is_counted_is_rendered(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(metrics_free) struct metrics *metrics = metrics_create(metric_rows, 5);
    struct strbuf out = strbuf_new(arena, 0);
    const struct str labels[] = { STR("de\"n\\y\n"), STR("422") };
    const struct str others[] = { STR("allow"), STR("200") };

    metrics_add(metrics, 0, labels, 1);
    metrics_add(metrics, 0, labels, 2);
    metrics_add(metrics, 0, others, 1);
    metrics_set(metrics, 1, NULL, 1);
    metrics_add(metrics, 2, (struct str[]){ STR("b"), STR("done") }, 2);
    metrics_observe(metrics, 4, NULL, 0.0625);
    metrics_observe(metrics, 4, NULL, 1);
    metrics_observe(metrics, 4, NULL, 9);
    assert_true(metrics_value(metrics, 0, labels) == 3);
    assert_true(metrics_value(metrics, 4, NULL) == 3);
    metrics_render(metrics, &out);
    rows_expect_str("text", strbuf_str(&out),
                    STR("# HELP herd_reviews_total Reviews answered.\n"
                        "# TYPE herd_reviews_total counter\n"
                        "herd_reviews_total{verdict=\"allow\",code=\"200\"} 1\n"
                        "herd_reviews_total{verdict=\"de\\\"n\\\\y\\\\x0a\",code=\"422\"} 3\n"
                        "# HELP herd_leader 1 if this process leads.\n"
                        "# TYPE herd_leader gauge\n"
                        "herd_leader 1\n"
                        "# HELP herd_writes_total Writes.\n"
                        "# TYPE herd_writes_total counter\n"
                        "herd_writes_total{kind=\"a\",result=\"done\"} 0\n"
                        "herd_writes_total{kind=\"a\",result=\"failed\"} 0\n"
                        "herd_writes_total{kind=\"b\",result=\"done\"} 2\n"
                        "herd_writes_total{kind=\"b\",result=\"failed\"} 0\n"
                        "# HELP herd_answers_total Answers by code.\n"
                        "# TYPE herd_answers_total counter\n"
                        "# HELP herd_review_duration_seconds Time for a review.\n"
                        "# TYPE herd_review_duration_seconds histogram\n"
                        "herd_review_duration_seconds_bucket{le=\"0.1\"} 1\n"
                        "herd_review_duration_seconds_bucket{le=\"1\"} 2\n"
                        "herd_review_duration_seconds_bucket{le=\"+Inf\"} 3\n"
                        "herd_review_duration_seconds_sum 10.0625\n"
                        "herd_review_duration_seconds_count 3\n"));
    metrics_remove(metrics, 0, labels);
    assert_true(metrics_value(metrics, 0, labels) == 0);
    (void)state;
}

static void what_is_not_known_has_no_series(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(metrics_free) struct metrics *metrics = metrics_create(metric_rows, 2);
    struct strbuf out = strbuf_new(arena, 0);

    metrics_set_known(metrics, 1, NULL, false, 7);
    metrics_render(metrics, &out);
    rows_expect("unknown", str_find(strbuf_str(&out), STR("\nherd_leader "), 0) < 0, out.at);
    metrics_set_known(metrics, 1, NULL, true, 7);
    metrics_render(metrics, &out);
    rows_expect("known", str_find(strbuf_str(&out), STR("\nherd_leader 7\n"), 0) >= 0, out.at);
    (void)state;
}

static void too_many_series_melt_into_one(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(metrics_free) struct metrics *metrics = metrics_create(metric_rows, 5);
    const struct str other[] = { STR("other"), STR("other") };

    for (int i = 0; i < METRIC_SERIES_MAX + 50; i++) {
        const struct str labels[] = { str_fmt(arena, "v%d", i), STR("200") };

        metrics_add(metrics, 0, labels, 1);
    }
    assert_true(metrics_value(metrics, 0, other) == 50);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_counted_is_rendered),
        cmocka_unit_test(what_is_not_known_has_no_series),
        cmocka_unit_test(too_many_series_melt_into_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
