/* SPDX-License-Identifier: Apache-2.0 */
/* compliance_fuzz.c: an answer about compliance checks gives checks that fail, each once and worst first, none that was
 * not said, or a reason why it does not. */
#include "fuzz.h"

#include "controller/backends/neuvector/compliance.h"
#include "controller/backends/neuvector/wire.h"
#include "stack/model/limits.h"

static uint32_t failures_said(struct json root)
{
    struct json_iter it = json_iter(json_get(root, STR("items")));
    enum check_level ignored;
    uint32_t count = 0;

    while (json_next(&it))
        count += check_level_from(json_str(json_get(it.value, STR("level"))), &ignored);
    return count;
}

static void look_at(struct json root, int64_t run_s, const struct check_list *failed)
{
    uint32_t said = failures_said(root);

    MUST(run_s >= 0);
    MUST(run_s ? failed->count <= said && !failed->count == !said : !failed->count);
    MUST(failed->count <= LIMIT_IMAGE_CHECKS);
    for (uint32_t i = 0; i < failed->count; i++) {
        MUST(failed->items[i].number.len);
        for (uint32_t k = 0; k < i; k++)
            MUST(!str_eq(failed->items[k].number, failed->items[i].number));
        MUST(!i || check_cmp(&failed->items[i - 1], &failed->items[i]) < 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(compliance_free) struct compliance *memory = compliance_create();
    struct error err = { .code = ERROR_NONE };
    struct check_list failed;
    struct json root;
    int64_t run_s;

    if (wire_read(arena, str_make((const char *)data, size), &root, &err) < 0)
        return 0;
    if (compliance_read(arena, root, &run_s, &failed, &err) < 0) {
        MUST(err.code != ERROR_NONE && err.text[0]);
        return 0;
    }
    look_at(root, run_s, &failed);
    compliance_note_asked(memory, STR("c"), 1);
    compliance_put(memory, STR("c"), run_s, &failed);
    MUST(!compliance_find(memory, STR("c")) == !run_s);
    MUST(!run_s || check_list_eq(&compliance_find(memory, STR("c"))->list, &failed));
    return 0;
}
