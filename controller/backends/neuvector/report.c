/* SPDX-License-Identifier: Apache-2.0 */
/* report.c: rows come one at a time; now and then all but the worst of them are forgotten. */
#include "controller/backends/neuvector/report.h"

#include "base/memory.h"
#include "controller/limits.h"
#include "text/json_items.h"

enum {
    ITEM_BYTES_MAX = 1024 * 1024, /* a module names all CVEs of its package */
    REST_BYTES_MAX = 64 * 1024,
    TEXT_BYTES_MAX = 128,
};

struct report_reader {
    struct json_items *items;
    struct arena *arena; /* of the list */
    struct vulnerability_list list;
    uint32_t counts[VULNERABILITY_SEVERITIES];
};

static double score_of(struct json row)
{
    double v2 = json_double(json_get(row, STR("score")));
    double v3 = json_double(json_get(row, STR("score_v3")));
    double score = v3 > v2 ? v3 : v2;

    return score > 10 ? 10 : score > 0 ? score : 0;
}

/* Since 5.4.0 NeuVector does the same with the score. False: it does not count. */
static bool read_severity(struct json row, double score, enum vulnerability_severity *ret_severity)
{
    if (score < 9)
        return vulnerability_severity_from(json_str(json_get(row, STR("severity"))), ret_severity);
    *ret_severity = VULNERABILITY_CRITICAL;
    return true;
}

static struct str text_of(struct arena *arena, struct json row, struct str key)
{
    return str_shown(arena, json_str(json_get(row, key)), TEXT_BYTES_MAX);
}

/* Their texts go with the arena, so those that stay move to another one. */
static void forget_all_but_worst(struct report_reader *reader)
{
    struct arena *arena = arena_create(0);
    struct vulnerability_list kept = vulnerability_list_new(arena, 2 * LIMIT_IMAGE_FINDINGS);

    vulnerability_list_cut(&reader->list, LIMIT_IMAGE_FINDINGS);
    for (uint32_t i = 0; i < reader->list.count; i++)
        vulnerability_list_push(&kept, vulnerability_dup(arena, &reader->list.items[i]));
    arena_free(reader->arena);
    reader->arena = arena;
    reader->list = kept;
}

static void take_row(void *context, struct json row)
{
    struct report_reader *reader = context;
    struct vulnerability one = { .score = score_of(row) };

    if (!read_severity(row, one.score, &one.severity))
        return;
    reader->counts[one.severity]++;
    if (reader->list.count == 2 * LIMIT_IMAGE_FINDINGS)
        forget_all_but_worst(reader);
    one.cve = text_of(reader->arena, row, STR("name"));
    one.package = text_of(reader->arena, row, STR("package_name"));
    one.version = text_of(reader->arena, row, STR("package_version"));
    one.fixed = text_of(reader->arena, row, STR("fixed_version"));
    if (one.cve.len)
        vulnerability_list_push(&reader->list, one);
}

struct report_reader *report_reader_create(void)
{
    static const struct str path[] = { STR_INIT("report"), STR_INIT("vulnerabilities") };
    struct report_reader *reader = mem_new(struct report_reader);

    reader->items = json_items_create(&(struct json_items_options){
        .path = path,
        .path_count = sizeof(path) / sizeof(path[0]),
        .bytes_max = LIMIT_SCAN_REPORT,
        .item_bytes_max = ITEM_BYTES_MAX,
        .rest_bytes_max = REST_BYTES_MAX,
        .item = take_row,
        .context = reader,
    });
    reader->arena = arena_create(0);
    reader->list = vulnerability_list_new(reader->arena, 2 * LIMIT_IMAGE_FINDINGS);
    return reader;
}

void report_reader_free(struct report_reader *reader)
{
    if (!reader)
        return;
    json_items_free(reader->items);
    arena_free(reader->arena);
    mem_free(reader);
}

bool report_reader_put(struct report_reader *reader, struct str piece)
{
    struct error ignored; /* the end says it again */

    return json_items_put(reader->items, piece, &ignored) == 0;
}

int report_reader_end(struct report_reader *reader, struct scan_findings *ret_findings,
                      struct error *err)
{
    if (json_items_end(reader->items, err) < 0)
        return error_wrap(err, "the report of a scan");
    vulnerability_list_cut(&reader->list, LIMIT_IMAGE_FINDINGS);
    *ret_findings = (struct scan_findings){
        .critical = reader->counts[VULNERABILITY_CRITICAL],
        .high = reader->counts[VULNERABILITY_HIGH],
        .medium = reader->counts[VULNERABILITY_MEDIUM],
        .worst = vulnerabilities_create(&reader->list),
    };
    return 0;
}
