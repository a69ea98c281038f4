/* SPDX-License-Identifier: Apache-2.0 */
/* report_fuzz.c: a scan report that comes in pieces is read as one that is there at once: the same documents are taken,
 * and the same is counted. The first byte is the size of the pieces. */
#include "fuzz.h"

#include "controller/backends/neuvector/report.h"
#include "text/json_items.h"

static bool read_in_pieces(struct str bytes, size_t piece, struct scan_findings *ret_findings)
{
    AUTO(report_reader_free) struct report_reader *reader = report_reader_create();
    struct error err = { .code = ERROR_NONE };

    for (size_t i = 0; i < bytes.len; i += piece)
        if (!report_reader_put(reader, str_slice(bytes, i, i + piece < bytes.len ? i + piece : bytes.len)))
            break;
    if (report_reader_end(reader, ret_findings, &err) == 0)
        return true;
    MUST(err.code != ERROR_NONE && err.text[0]);
    return false;
}

static void compare(struct json root, const struct scan_findings *found)
{
    struct json_iter it = json_iter(json_walk(root, "report", "vulnerabilities", NULL));
    uint32_t rows = 0;

    while (json_next(&it))
        rows++;
    MUST(found->critical + found->high + found->medium <= rows);
    MUST(found->worst->list.count <= found->critical + found->high + found->medium);
    for (uint32_t i = 1; i < found->worst->list.count; i++)
        MUST(vulnerability_cmp(&found->worst->list.items[i - 1], &found->worst->list.items[i]) <= 0);
}

static bool is_report(struct arena *arena, struct str bytes, uint32_t depth_max, struct json *ret_root)
{
    struct json_limits limits = json_limits_default;
    struct error ignored;

    limits.depth_max = depth_max;
    return json_read(arena, bytes, &limits, ret_root, &ignored) == 0 &&
           json_is(json_walk(*ret_root, "report", "vulnerabilities", NULL), JSON_ARRAY);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct scan_findings found, at_once;
    struct json root;

    if (!size)
        return 0;

    struct str bytes = str_make((const char *)data + 1, size - 1);
    bool taken = read_in_pieces(bytes, (size_t)data[0] + 1, &found);

    MUST(read_in_pieces(bytes, bytes.len + 1, &at_once) == taken);
    if (taken) {
        /* An element may be as deep as a document. */
        MUST(is_report(arena, bytes, 2 * json_limits_default.depth_max, &root));
        compare(root, &found);
        MUST(found.critical == at_once.critical && found.high == at_once.high && found.medium == at_once.medium);
        MUST(found.worst->list.count == at_once.worst->list.count);
        vulnerabilities_unref(found.worst);
        vulnerabilities_unref(at_once.worst);
    } else if (size < 16 * 1024 && str_find_char(bytes, '\\', 0) < 0) {
        MUST(!is_report(arena, bytes, JSON_ITEMS_DEPTH_MAX, &root));
    }
    return 0;
}
