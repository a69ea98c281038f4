/* SPDX-License-Identifier: Apache-2.0 */
/* metric.c: one mutex for the table; an update is a hash look-up and an addition. */
#include "base/metric.h"

#include "base/map.h"
#include "base/memory.h"

#include <pthread.h>
#include <stdlib.h>

struct series {
    struct str labels; /* rendered: a="x",b="y" */
    double value;      /* of a histogram: the sum */
    uint64_t count;
    uint64_t *buckets;
};

struct metric {
    struct dict *series;
};

struct metrics {
    pthread_mutex_t lock;
    const struct metric_row *rows;
    uint32_t count;
    struct metric *metrics;
};

static uint32_t bucket_count(const struct metric_row *row)
{
    uint32_t count = 0;

    while (row->buckets && row->buckets[count] > 0)
        count++;
    return count;
}

enum { LABEL_BYTES_MAX = 128, KEY_BYTES = METRIC_LABELS_MAX * (LABEL_BYTES_MAX + 1) };

static void render_labels(const struct metric_row *row, const struct str *labels,
                          struct strbuf *out)
{
    for (int i = 0; i < METRIC_LABELS_MAX && row->labels[i]; i++) {
        struct str value = str_shown(out->arena, labels[i], LABEL_BYTES_MAX);

        if (i)
            strbuf_char(out, ',');
        strbuf_fmt(out, "%.*s=\"", (int)strcspn(row->labels[i], "="), row->labels[i]);
        for (size_t k = 0; k < value.len; k++) {
            if (value.at[k] == '"' || value.at[k] == '\\')
                strbuf_char(out, '\\');
            strbuf_char(out, value.at[k]);
        }
        strbuf_char(out, '"');
    }
}

/* Where the series stands in its table: the label values with a byte between them that no UTF-8
 * text has. On the caller's stack, because this is done for each request. */
static struct str series_key(const struct metric_row *row, const struct str *labels,
                             char key[KEY_BYTES])
{
    size_t len = 0;

    for (int i = 0; i < METRIC_LABELS_MAX && row->labels[i]; i++) {
        struct str value = str_slice(labels[i], 0, LABEL_BYTES_MAX);

        memcpy(key + len, value.at, value.len);
        len += value.len;
        key[len++] = '\xff';
    }
    return str_make(key, len);
}

static void free_series(struct series *series)
{
    mem_free((char *)(uintptr_t)series->labels.at);
    mem_free(series->buckets);
    mem_free(series);
}

static struct series *create_series(const struct metric_row *row, const struct str *labels)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf rendered = strbuf_new(arena, 64);
    struct series *series = mem_new(struct series);

    render_labels(row, labels, &rendered);
    series->labels = str_make(mem_copy(rendered.at, rendered.len), rendered.len);
    if (row->kind == METRIC_HISTOGRAM)
        series->buckets = mem_alloc(sizeof(uint64_t) * (bucket_count(row) + 1));
    return series;
}

/* Under the lock. */
static struct series *find_series(struct metrics *metrics, uint32_t id, const struct str *labels,
                                  bool create)
{
    static const struct str others[METRIC_LABELS_MAX] = { STR_INIT("other"), STR_INIT("other"),
                                                          STR_INIT("other") };
    const struct metric_row *row = &metrics->rows[id];
    struct dict *all = metrics->metrics[id].series;
    char buffer[KEY_BYTES];
    struct str key = series_key(row, labels, buffer);
    struct series *series = dict_get(all, key);

    if (series || !create)
        return series;
    if (dict_count(all) >= METRIC_SERIES_MAX) {
        labels = others;
        key = series_key(row, labels, buffer);
        series = dict_get(all, key);
        if (series)
            return series;
    }
    series = create_series(row, labels);
    dict_set(all, key, series);
    return series;
}

/* Each combination of the values that the row gives for its labels, from the label `at` on. */
static void begin_series(struct metrics *metrics, uint32_t id, struct str *values, int at)
{
    const char *label = at < METRIC_LABELS_MAX ? metrics->rows[id].labels[at] : NULL;
    struct str rest = str_of(label ? strchr(label, '=') : NULL);

    if (!label)
        find_series(metrics, id, values, true);
    rest = str_slice(rest, 1, rest.len);
    while (rest.len && str_split(&rest, '|', &values[at]))
        begin_series(metrics, id, values, at + 1);
}

struct metrics *metrics_create(const struct metric_row *rows, uint32_t count)
{
    struct metrics *metrics = mem_new(struct metrics);

    pthread_mutex_init(&metrics->lock, NULL);
    metrics->rows = rows;
    metrics->count = count;
    metrics->metrics = mem_alloc(sizeof(struct metric) * count);
    for (uint32_t i = 0; i < count; i++) {
        struct str values[METRIC_LABELS_MAX];

        metrics->metrics[i].series = dict_create();
        begin_series(metrics, i, values, 0);
    }
    return metrics;
}

void metrics_free(struct metrics *metrics)
{
    if (!metrics)
        return;
    for (uint32_t i = 0; i < metrics->count; i++) {
        size_t cursor = 0;
        struct str key;
        void *series;

        while (dict_next(metrics->metrics[i].series, &cursor, &key, &series))
            free_series(series);
        dict_free(metrics->metrics[i].series);
    }
    pthread_mutex_destroy(&metrics->lock);
    mem_free(metrics->metrics);
    mem_free(metrics);
}

void metrics_add(struct metrics *metrics, uint32_t id, const struct str *labels, double amount)
{
    pthread_mutex_lock(&metrics->lock);
    find_series(metrics, id, labels, true)->value += amount;
    pthread_mutex_unlock(&metrics->lock);
}

void metrics_set(struct metrics *metrics, uint32_t id, const struct str *labels, double value)
{
    pthread_mutex_lock(&metrics->lock);
    find_series(metrics, id, labels, true)->value = value;
    pthread_mutex_unlock(&metrics->lock);
}

void metrics_observe(struct metrics *metrics, uint32_t id, const struct str *labels, double value)
{
    const struct metric_row *row = &metrics->rows[id];
    uint32_t bucket = 0;

    while (row->buckets[bucket] > 0 && value > row->buckets[bucket])
        bucket++;
    pthread_mutex_lock(&metrics->lock);

    struct series *series = find_series(metrics, id, labels, true);

    series->value += value;
    series->count++;
    series->buckets[bucket]++;
    pthread_mutex_unlock(&metrics->lock);
}

double metrics_value(struct metrics *metrics, uint32_t id, const struct str *labels)
{
    pthread_mutex_lock(&metrics->lock);

    const struct series *series = find_series(metrics, id, labels, false);
    double value = 0;

    if (series)
        value = metrics->rows[id].kind == METRIC_HISTOGRAM ? (double)series->count : series->value;
    pthread_mutex_unlock(&metrics->lock);
    return value;
}

void metrics_remove(struct metrics *metrics, uint32_t id, const struct str *labels)
{
    pthread_mutex_lock(&metrics->lock);

    char buffer[KEY_BYTES];
    struct series *series =
        dict_remove(metrics->metrics[id].series, series_key(&metrics->rows[id], labels, buffer));

    if (series)
        free_series(series);
    pthread_mutex_unlock(&metrics->lock);
}

void metrics_set_known(struct metrics *metrics, uint32_t id, const struct str *labels, bool known,
                       double value)
{
    if (known)
        metrics_set(metrics, id, labels, value);
    else
        metrics_remove(metrics, id, labels);
}

static int compare_series(const void *left, const void *right)
{
    const struct series *const *a = left;
    const struct series *const *b = right;

    return str_cmp((*a)->labels, (*b)->labels);
}

static void render_sample(struct strbuf *out, const char *name, const char *suffix,
                          struct str labels, double value)
{
    strbuf_fmt(out, "%s%s", name, suffix);
    if (labels.len)
        strbuf_fmt(out, "{%.*s}", STR_ARG(labels));
    strbuf_fmt(out, " %.17g\n", value);
}

static void render_histogram(struct strbuf *out, const struct metric_row *row,
                             const struct series *series)
{
    uint32_t count = bucket_count(row);
    uint64_t total = 0;

    for (uint32_t i = 0; i <= count; i++) {
        total += series->buckets[i];
        strbuf_fmt(out, "%s_bucket{%.*s%s", row->name, STR_ARG(series->labels),
                   series->labels.len ? "," : "");
        if (i < count)
            strbuf_fmt(out, "le=\"%g\"", row->buckets[i]);
        else
            strbuf_lit(out, "le=\"+Inf\"");
        strbuf_fmt(out, "} %llu\n", (unsigned long long)total);
    }
    render_sample(out, row->name, "_sum", series->labels, series->value);
    render_sample(out, row->name, "_count", series->labels, (double)series->count);
}

void metrics_render(struct metrics *metrics, struct strbuf *out)
{
    static const char *const kinds[] = { "counter", "gauge", "histogram" };
    struct strbuf page = strbuf_new(arena_beside(out->arena), 8192);

    pthread_mutex_lock(&metrics->lock);
    for (uint32_t i = 0; i < metrics->count; i++) {
        const struct metric_row *row = &metrics->rows[i];
        struct dict *all = metrics->metrics[i].series;
        size_t count = dict_count(all);
        struct series **sorted = arena_array(page.arena, struct series *, count);
        size_t cursor = 0;
        struct str key;
        void *series;

        for (size_t k = 0; dict_next(all, &cursor, &key, &series); k++)
            sorted[k] = series;
        if (count > 1)
            qsort(sorted, count, sizeof(*sorted), compare_series);
        strbuf_fmt(&page, "# HELP %s %s\n# TYPE %s %s\n", row->name, row->help, row->name,
                   kinds[row->kind]);
        for (size_t k = 0; k < count; k++) {
            if (row->kind == METRIC_HISTOGRAM)
                render_histogram(&page, row, sorted[k]);
            else
                render_sample(&page, row->name, "", sorted[k]->labels, sorted[k]->value);
        }
    }
    pthread_mutex_unlock(&metrics->lock);
    strbuf_put(out, strbuf_str(&page));
}
