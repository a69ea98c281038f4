/* SPDX-License-Identifier: Apache-2.0 */
/* measurements_wire_test.c: what Prometheus is asked of model servers, and what its answer says of one. */
#include "support/rows.h"
#include "support/stack_builder.h"

#include "controller/reconcilers/workload/measurements_wire.h"

static uint32_t count(struct str text, struct str piece)
{
    uint32_t times = 0;

    for (ptrdiff_t at = 0; (at = str_find(text, piece, (size_t)at)) >= 0; at++)
        times++;
    return times;
}

static void every_selector_names_the_cluster(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str all = measurements_path(arena, STR(""));
    struct str own = measurements_path(arena, STR("cluster=\"prod-1\""));
    uint32_t selectors = count(all, STR("pod%21%3D%22%22"));

    (void)state;
    rows_expect("selectors", selectors > 5, all.at);
    rows_expect_int("none names a cluster", count(all, STR("cluster")), 0);
    rows_expect_int("each names it", count(own, STR("pod%21%3D%22%22%2Ccluster%3D%22prod-1%22%7D")), selectors);
    rows_expect_int("which pods are scraped now",
                    count(all, STR("count%20by%20%28namespace%2Cpod%29%20%28%7B__name__%3D~%22vllm%3Arequest_success_total%7C")), 1);
    rows_expect_int("by any of the metrics",
                    count(all, STR("nv_inference_compute_infer_duration_us%22%2Cpod%21%3D%22%22%7D%29%2C%22what%22%2C%22pods%22")), 1);
}

static const struct {
    const char *label, *want; /* "" = it is none */
} labels[] = {
    { "cluster=prod-1", "cluster=\"prod-1\"" }, { "_k8s_1=a b=c", "_k8s_1=\"a b=c\"" }, { "", "" }, { "cluster", "" }, { "cluster=", "" },
    { "=prod", "" }, { "1st=a", "" }, { "a-b=c", "" }, { "a=\"} or vector(1)", "" }, { "a=b\\", "" }, { "a=b\n", "" },
};

static void a_label_cannot_change_the_query(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct str matcher = STR("");

        rows_expect_int(labels[i].label, measurements_matcher(arena, str_of(labels[i].label), &matcher), *labels[i].want != 0);
        rows_expect_str(labels[i].label, matcher, str_of(labels[i].want));
    }
}

#define SAMPLE(pod, what, value) "{\"metric\":{\"namespace\":\"n\",\"pod\":\"" pod "\",\"what\":\"" what "\"},\"value\":[1," value "]}"
static const struct {
    const char *row, *samples, *want;
} answers[] = {
    { "nothing", "", "{\"error\":\"Prometheus has no requests of its pods\"}" },
    { "pods add up, and are named", SAMPLE("m-0", "completed", "\"2\"") "," SAMPLE("m-1", "completed", "\"1.5\"") ","
      SAMPLE("m-0", "pods", "\"9\"") "," SAMPLE("m-1", "pods", "\"9\""), "{\"requestRate\":3500,\"pods\":[\"m-0\",\"m-1\"]}" },
    { "a queue that grows, and how long requests take",
      SAMPLE("m-0", "completed", "\"2\"") "," SAMPLE("m-0", "queued", "\"1\"") ","
      SAMPLE("m-0", "seconds", "\"1\"") "," SAMPLE("m-0", "served", "\"4\""),
      "{\"requestRate\":3000,\"serviceTime\":250000,\"pods\":[]}" },
    { "a pod that is not scraped any more counts for a while, and is not named",
      SAMPLE("m-0", "completed", "\"2\"") "," SAMPLE("m-1", "completed", "\"1\"") "," SAMPLE("m-0", "pods", "\"9\""),
      "{\"requestRate\":3000,\"pods\":[\"m-0\"]}" },
    { "that it is scraped says nothing of requests", SAMPLE("m-0", "pods", "\"9\""), "{\"error\":\"Prometheus has no requests of its pods\"}" },
    { "another one's pods, and what is no number", SAMPLE("o-0", "completed", "\"2\"") "," SAMPLE("m", "completed", "\"2\"") ","
      SAMPLE("m-0", "completed", "\"NaN\""), "{\"error\":\"Prometheus has no requests of its pods\"}" },
};

static void an_answer_is_one_load_for_each_model_server(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct error err = { .code = ERROR_NONE };
        struct str text = str_fmt(arena, "{\"status\":\"success\",\"data\":{\"result\":[%s]}}", answers[i].samples);
        struct map *loads;

        rows_expect_int(answers[i].row, measurements_read(arena, text, &loads, &err), 0);
        text = measurement_text(arena, map_get(loads, STR("n/m")));
        rows_expect(answers[i].row, json_equal(test_json(arena, text), test_json(arena, str_of(answers[i].want))), text.at);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_selector_names_the_cluster),
        cmocka_unit_test(a_label_cannot_change_the_query),
        cmocka_unit_test(an_answer_is_one_load_for_each_model_server),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
