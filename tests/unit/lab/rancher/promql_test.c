/* SPDX-License-Identifier: Apache-2.0 */
/* promql_test.c: the little PromQL of the lab, and that all else is an error. */
#include "support/rows.h"

#include "lab/rancher/promql.h"

static void add(struct prom_series_list *all, const char *name, const char *pod, const char *gpu, double value)
{
    struct prom_series series = { .name = str_of(name), .labels = prom_labels_new(all->arena, 2), .value = value };

    prom_labels_push(&series.labels, (struct prom_label){ STR("pod"), str_of(pod) });
    if (gpu)
        prom_labels_push(&series.labels, (struct prom_label){ STR("gpu"), str_of(gpu) });
    prom_series_list_push(all, series);
}

static struct str evaluated(struct arena *arena, const char *query)
{
    struct prom_series_list all = prom_series_list_new(arena, 4);
    struct prom_series_list vector;
    struct strbuf out = strbuf_new(arena, 64);
    struct error err = { 0 };

    add(&all, "up", "a-1", NULL, 1);
    add(&all, "up", "b-1", NULL, 0);
    add(&all, "gpu_percent", "a-1", "0", 40);
    add(&all, "gpu_ratio", "a-1", "0", 0.5);
    add(&all, "gpu_ratio", "b-1", "0", 0.25);
    if (promql_evaluate(arena, str_of(query), &all, &vector, &err) < 0)
        return str_of(str_z(arena, str_of(err.text)));
    for (uint32_t i = 0; i < vector.count; i++)
        strbuf_fmt(&out, "%.*s{%.*s}=%g ", STR_ARG(vector.items[i].name),
                   STR_ARG(vector.items[i].labels.items[0].value), vector.items[i].value);
    return strbuf_str(&out);
}

static void queries_have_answers(void **state)
{
    static const struct {
        const char *row, *query, *want;
    } rows[] = {
        { "a name", "up", "up{a-1}=1 up{b-1}=0 " },
        { "a label", "up{pod=\"a-1\"}", "up{a-1}=1 " },
        { "all but a label", "up{pod!=\"a-1\"}", "up{b-1}=0 " },
        { "a pattern, anchored", "up{pod=~\"a|b-1\"}", "up{b-1}=0 " },
        { "all but a pattern", "up{pod!~\"a.*\"}", "up{b-1}=0 " },
        { "a label that is not there is empty", "up{gpu=\"\",pod=\"a-1\"}", "up{a-1}=1 " },
        { "an average has no name", "avg_over_time(gpu_percent[5m])", "{a-1}=40 " },
        { "a product neither", "100 * gpu_ratio{pod=\"b-1\"}", "{b-1}=25 " },
        { "or takes what has other labels", "gpu_percent or 100 * avg_over_time(gpu_ratio[5m])",
          "gpu_percent{a-1}=40 {b-1}=25 " },
        { "the least by a label", "min by (pod) (gpu_ratio)", "{a-1}=0.5 {b-1}=0.25 " },
        { "how many by a label, of all names", "count by (pod) ({pod=~\"a-1|b-1\"})", "{a-1}=3 {b-1}=2 " },
        { "or behind what is folded", "min by (pod) (gpu_percent) or count by (pod) (up)", "{a-1}=40 {b-1}=1 " },
        { "a fold without an end", "min by (pod) (up", "1:17: the lab's Prometheus expects )" },
        { "nothing", "down", "" },
        { "what is not understood", "sum(up)", "1:4: the lab's Prometheus expects or, or the end" },
        { "a text without an end", "up{pod=\"a}", "1:11: the lab's Prometheus expects the end of a text" },
        { "no metric", "{pod=\"a\"}", "1:1: the lab's Prometheus expects the name of a metric, or avg_over_time(" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);

        rows_expect_str(rows[i].row, evaluated(arena, rows[i].query), str_of(rows[i].want));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(queries_have_answers) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
