/* SPDX-License-Identifier: Apache-2.0 */
/* measurements_wire.c: see measurements_wire.h. */
#include "controller/reconcilers/workload/measurements_wire.h"

#include "controller/prometheus.h"
#include "kube/request.h"
#include "kube/resource.h"
#include "text/json_write.h"

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

static bool is_label_name(struct str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.at[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';

        if (!letter && (i == 0 || c < '0' || c > '9'))
            return false;
    }
    return name.len > 0;
}

bool measurements_matcher(struct arena *arena, struct str label, struct str *ret_matcher)
{
    struct str value = label, name;

    str_split(&value, '=', &name);
    for (size_t i = 0; i < value.len; i++)
        if (value.at[i] == '"' || value.at[i] == '\\' || (unsigned char)value.at[i] < ' ')
            return false;
    if (!value.len || !is_label_name(name))
        return false;
    *ret_matcher = str_fmt(arena, "%.*s=\"%.*s\"", STR_ARG(name), STR_ARG(value));
    return true;
}

/* What a pod says of itself beside the rows: that it is scraped. */
static const struct str pods = STR_INIT("pods");

/* Series of pods of this cluster. */
static void put_selector(struct strbuf *query, const char *is, struct str names, struct str matcher)
{
    strbuf_fmt(query, "{__name__%s\"%.*s\",pod!=\"\"%s%.*s}", is, STR_ARG(names),
               matcher.len ? "," : "", STR_ARG(matcher));
}

static void put_what(struct strbuf *query, struct str what)
{
    strbuf_fmt(query, ",\"what\",\"%.*s\",\"\",\"\")", STR_ARG(what));
}

/* `or` takes what is on its right only where nothing with equal labels is on its left: a pod counts
 * once, under whichever name. */
static void put_row(struct strbuf *query, const struct metric_row *row, struct str matcher)
{
    struct str rest = str_of(row->names), name;
    const char * or = "";

    strbuf_lit(query, "label_replace(");
    while (rest.len && str_split(&rest, '|', &name)) {
        strbuf_fmt(query, "%ssum by (namespace,pod) (%s(", or, row->function);
        put_selector(query, "=", name, matcher);
        strbuf_lit(query, "[5m]))");
        or = " or ";
    }
    put_what(query, row->what);
}

/* At this moment: rates go on for minutes, less and less. */
static void put_pods(struct strbuf *query, struct str matcher)
{
    struct strbuf names = strbuf_new(query->arena, 1024);

    for (int i = 0; i < ROWS; i++)
        strbuf_fmt(&names, "%s%s", i ? "|" : "", rows[i].names);
    strbuf_lit(query, "label_replace(count by (namespace,pod) (");
    put_selector(query, "=~", strbuf_str(&names), matcher);
    strbuf_lit(query, ")");
    put_what(query, pods);
}

struct str measurements_path(struct arena *arena, struct str matcher)
{
    struct strbuf query = strbuf_new(arena, 4096);
    struct strbuf path = strbuf_new(arena, 8192);

    put_pods(&query, matcher);
    for (int i = 0; i < ROWS; i++) {
        strbuf_lit(&query, " or ");
        put_row(&query, &rows[i], matcher);
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
        *load = (struct serving_load){ -1, -1, -1, -1, -1, str_list_new(arena, 4) };
        map_put(loads, key, load);
    }
    return load;
}

static void add(struct serving_load *load, struct str pod, struct str what, double value)
{
    if (str_eq(what, pods))
        str_list_push(&load->pods, pod);
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
        struct str pod = json_str(json_get(metric, STR("pod")));
        struct str set = set_of(pod);
        struct str key = kube_key(arena, json_str(json_get(metric, STR("namespace"))), set);
        double value;

        if (set.len && prometheus_value_read(arena, json_get(it.value, STR("value")), &value) &&
            isfinite(value))
            add(load_at(arena, *ret_loads, key), pod, json_str(json_get(metric, STR("what"))),
                value);
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
    struct strbuf text = strbuf_new(arena, 256);
    struct json_writer w = json_writer(&text);

    if (!load || load->completed < 0)
        return STR("{\"error\":\"Prometheus has no requests of its pods\"}");
    seconds = known(load->seconds) + known(load->microseconds) / 1e6;
    served = load->served < 0 ? load->completed : load->served;
    json_open_object(&w);
    /* What waits longer and longer arrived, too, though it did not end. */
    json_field_int(&w, "requestRate",
                   llround(fmin((load->completed + known(load->queued)) * 1e3, 1e12)));
    if (served > 0 && seconds > 0)
        json_field_int(&w, "serviceTime", llround(fmax(1, fmin(seconds / served * 1e6, 1e12))));
    json_put_key(&w, pods);
    json_open_array(&w);
    for (uint32_t i = 0; i < load->pods.count; i++)
        json_put_str(&w, load->pods.items[i]);
    json_close_array(&w);
    json_close_object(&w);
    return strbuf_str(&text);
}
