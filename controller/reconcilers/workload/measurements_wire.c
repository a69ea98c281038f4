/* SPDX-License-Identifier: Apache-2.0 */
/* measurements_wire.c: see measurements_wire.h. */
#include "controller/reconcilers/workload/measurements_wire.h"

#include "controller/prometheus.h"
#include "kube/request.h"
#include "kube/resource.h"

#include <math.h>
#include <stddef.h>

static const struct metric_row {
    struct str what;
    size_t offset;
    const char *function, *names;
} rows[] = {
#define SERVING_METRIC(what, function, names)                                                      \
    { STR_INIT(#what), offsetof(struct serving_load, what), function, names },
#include "controller/reconcilers/workload/serving_metrics.def"
#undef SERVING_METRIC
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

/* `or` takes what is on its right only where nothing with equal labels is on its left: a pod counts
 * once, under whichever name. */
static void put_row(struct strbuf *query, const struct metric_row *row)
{
    struct str rest = str_of(row->names), name;
    const char * or = "";

    strbuf_lit(query, "label_replace(");
    while (rest.len && str_split(&rest, '|', &name)) {
        strbuf_fmt(query, "%ssum by (namespace,pod) (%s({__name__=\"%.*s\",pod!=\"\"}[5m]))", or,
                   row->function, STR_ARG(name));
        or = " or ";
    }
    strbuf_fmt(query, ",\"what\",\"%.*s\",\"\",\"\")", STR_ARG(row->what));
}

struct str measurements_path(struct arena *arena)
{
    struct strbuf query = strbuf_new(arena, 2048);
    struct strbuf path = strbuf_new(arena, 4096);

    for (int i = 0; i < ROWS; i++) {
        if (i)
            strbuf_lit(&query, " or ");
        put_row(&query, &rows[i]);
    }
    strbuf_lit(&path, "/api/v1/query?query=");
    kube_percent_encode(&path, strbuf_str(&query));
    return strbuf_str(&path);
}

/* NAME-3 is a pod of NAME; "" = it is of no StatefulSet. */
static struct str set_of(struct str pod)
{
    size_t end = pod.len;

    while (end && pod.at[end - 1] >= '0' && pod.at[end - 1] <= '9')
        end--;
    return end > 1 && end < pod.len && pod.at[end - 1] == '-' ? str_slice(pod, 0, end - 1)
                                                              : STR("");
}

static struct serving_load *load_at(struct arena *arena, struct map *loads, struct str key)
{
    struct serving_load *load = map_get(loads, key);

    if (!load) {
        load = arena_new(arena, struct serving_load);
        *load = (struct serving_load){ -1, -1, -1, -1, -1 };
        map_put(loads, key, load);
    }
    return load;
}

static void add(struct serving_load *load, struct str what, double value)
{
    for (int i = 0; i < ROWS; i++) {
        double *sum = (double *)((char *)load + rows[i].offset);

        if (str_eq(rows[i].what, what))
            *sum = (*sum == -1 ? 0 : *sum) + value;
    }
}

int measurements_read(struct arena *arena, struct str body, struct map **ret_loads,
                      struct error *err)
{
    struct json data;

    if (prometheus_data_read(arena, body, "Prometheus", &data, err) < 0)
        return -1;
    *ret_loads = map_new(arena, 16);
    for (struct json_iter it = json_iter(json_get(data, STR("result"))); json_next(&it);) {
        struct json metric = json_get(it.value, STR("metric"));
        struct str set = set_of(json_str(json_get(metric, STR("pod"))));
        struct str key = kube_key(arena, json_str(json_get(metric, STR("namespace"))), set);
        double value;

        if (set.len && prometheus_value_read(arena, json_get(it.value, STR("value")), &value) &&
            isfinite(value))
            add(load_at(arena, *ret_loads, key), json_str(json_get(metric, STR("what"))), value);
    }
    return 0;
}

static double known(double value)
{
    return value > 0 ? value : 0;
}

struct str measurement_text(struct arena *arena, const struct serving_load *load)
{
    double seconds, served;
    struct strbuf text = strbuf_new(arena, 64);

    if (!load || load->completed < 0)
        return STR("{\"error\":\"Prometheus has no requests of its pods\"}");
    seconds = known(load->seconds) + known(load->microseconds) / 1e6;
    served = load->served < 0 ? load->completed : load->served;
    /* What waits longer and longer arrived, too, though it did not end. */
    strbuf_fmt(&text, "{\"requestRate\":%.0f",
               fmin((load->completed + known(load->queued)) * 1e3, 1e12));
    if (served > 0 && seconds > 0)
        strbuf_fmt(&text, ",\"serviceTime\":%.0f", fmax(1, fmin(seconds / served * 1e6, 1e12)));
    strbuf_char(&text, '}');
    return strbuf_str(&text);
}
