/* SPDX-License-Identifier: Apache-2.0 */
/* compliance.c: many containers fail the same checks, and then share the list. */
#include "controller/backends/neuvector/compliance.h"

#include "base/map.h"
#include "base/memory.h"
#include "kube/request.h"
#include "stack/model/limits.h"

enum { NUMBER_BYTES_MAX = 64, TEXT_BYTES_MAX = 256 };

/* --- an answer --- */

struct str compliance_path(struct arena *arena, struct str container)
{
    struct strbuf out = strbuf_new(arena, 128);

    strbuf_lit(&out, "/v1/workload/");
    kube_percent_encode(&out, container);
    strbuf_lit(&out, "/compliance");
    return strbuf_str(&out);
}

static struct str text_of(struct arena *arena, struct json item, struct str key, size_t bytes_max)
{
    return str_shown(arena, str_trim(json_str(json_get(item, key))), bytes_max);
}

static int read_item(struct arena *arena, struct json item, struct check_list *to,
                     struct error *err)
{
    struct check one;

    if (!check_level_from(json_str(json_get(item, STR("level"))), &one.level))
        return 0;
    one.number = text_of(arena, item, STR("test_number"), NUMBER_BYTES_MAX);
    if (!one.number.len)
        return error_set(err, ERROR_INVALID, "a compliance check that fails has no number");
    one.description = text_of(arena, item, STR("description"), TEXT_BYTES_MAX);
    one.remediation = text_of(arena, item, STR("remediation"), TEXT_BYTES_MAX);
    check_list_push(to, one);
    return 0;
}

int compliance_read(struct arena *arena, struct json answer, int64_t *ret_run_s,
                    struct check_list *ret_failed, struct error *err)
{
    struct json items = json_get(answer, STR("items"));
    struct json_iter it = json_iter(items);
    struct check_list failed = check_list_new(arena, 8);
    int64_t run_s;

    if (!json_int64(json_get(answer, STR("run_timestamp")), &run_s) || run_s < 0)
        return error_set(err, ERROR_INVALID, "it is not said when compliance checks ran");
    if (run_s && !json_is(items, JSON_ARRAY))
        return error_set(err, ERROR_INVALID, "compliance checks ran, but are not listed");
    while (run_s && json_next(&it))
        if (read_item(arena, it.value, &failed, err) < 0)
            return -1;
    check_list_unite(&failed);
    if (failed.count > LIMIT_IMAGE_CHECKS)
        return error_set(err, ERROR_INVALID, "a container fails more than %d compliance checks",
                         (int)LIMIT_IMAGE_CHECKS);
    *ret_run_s = run_s;
    *ret_failed = failed;
    return 0;
}

/* --- what is remembered --- */

struct entry {
    int64_t asked_ms, run_s;
    struct checks *failed; /* NULL = not known */
};

struct compliance {
    struct dict *entries; /* by id of the container */
};

struct compliance *compliance_create(void)
{
    struct compliance *compliance = mem_new(struct compliance);

    compliance->entries = dict_create();
    return compliance;
}

static void entry_free(struct entry *entry)
{
    checks_unref(entry->failed);
    mem_free(entry);
}

void compliance_free(struct compliance *compliance)
{
    struct str id;
    void *entry;

    if (!compliance)
        return;
    for (size_t cursor = 0; dict_next(compliance->entries, &cursor, &id, &entry);)
        entry_free(entry);
    dict_free(compliance->entries);
    mem_free(compliance);
}

const struct checks *compliance_find(const struct compliance *compliance, struct str container)
{
    const struct entry *entry = dict_get(compliance->entries, container);

    return entry ? entry->failed : NULL;
}

int64_t compliance_asked_ms(const struct compliance *compliance, struct str container)
{
    const struct entry *entry = dict_get(compliance->entries, container);

    return entry ? entry->asked_ms : COMPLIANCE_NEVER;
}

void compliance_note_asked(struct compliance *compliance, struct str container, int64_t now_ms)
{
    struct entry *entry = dict_get(compliance->entries, container);

    if (!entry) {
        entry = mem_new(struct entry);
        dict_set(compliance->entries, container, entry);
    }
    entry->asked_ms = now_ms;
}

static struct checks *shared_list(const struct compliance *compliance,
                                  const struct check_list *failed)
{
    struct str id;
    void *value;

    for (size_t cursor = 0; dict_next(compliance->entries, &cursor, &id, &value);) {
        const struct entry *entry = value;

        if (entry->failed && check_list_eq(&entry->failed->list, failed))
            return checks_ref(entry->failed);
    }
    return checks_create(failed);
}

void compliance_put(struct compliance *compliance, struct str container, int64_t run_s,
                    const struct check_list *failed)
{
    struct entry *entry = dict_get(compliance->entries, container);
    struct checks *before = entry->failed;

    if (!run_s || run_s < entry->run_s)
        return;
    entry->failed = shared_list(compliance, failed);
    checks_unref(before);
    entry->run_s = run_s;
}

void compliance_keep(struct compliance *compliance, struct set containers)
{
    struct str id;
    void *entry;

    for (size_t cursor = 0; dict_next(compliance->entries, &cursor, &id, &entry);)
        if (!set_has(containers, id)) {
            dict_remove(compliance->entries, id);
            entry_free(entry);
        }
}
