/* SPDX-License-Identifier: Apache-2.0 */
/* server_monitors.c: a list as it is against a list as it should be. */
#include "controller/backends/observability/server_monitors.h"

#include "base/set.h"
#include "controller/backends/observability/upkeep.h"

const struct str server_monitors_path = STR_INIT("/api/monitors");
const struct str server_import_path = STR_INIT("/api/import");

struct str server_monitor_path(struct arena *arena, struct str identifier)
{
    struct strbuf path = strbuf_new(arena, 128);

    strbuf_lit(&path, "/api/monitors/");
    kube_percent_encode(&path, identifier);
    return strbuf_str(&path);
}

/* All prefixes are of one length. */
static struct str owner_of(struct str identifier, const struct monitors_wanted *wanted)
{
    size_t length = wanted->owners.count ? wanted->owners.items[0].len
                    : wanted->kept.count ? wanted->kept.items[0].len
                                         : 0;

    return str_slice(identifier, 0, length < identifier.len ? length : identifier.len);
}

static void add_counts(struct map *counts, struct arena *arena, const struct str_list *prefixes)
{
    for (uint32_t i = 0; i < prefixes->count; i++) {
        uint32_t *count = arena_new(arena, uint32_t);

        *count = 0;
        map_put(counts, prefixes->items[i], count);
    }
}

/* What the server has in the place of a wanted one. */
static void look_at(const struct monitors_wanted *wanted, const struct map *places,
                    struct set in_place, struct json stored, struct monitors_plan *plan)
{
    struct str identifier = json_str(json_get(stored, STR("identifier")));
    struct str owner = owner_of(identifier, wanted);
    uint32_t *count = map_get(plan->counts, owner);
    const struct suse_monitor *one = map_get(places, identifier);

    if (!count)
        return;
    if (str_list_has(&wanted->kept, owner)) {
        *count += suse_monitor_works(stored);
    } else if (!one) {
        str_list_push(&plan->removals, identifier);
    } else if (suse_monitor_is_as_wanted(stored, one)) {
        set_add(in_place, identifier);
        *count += suse_monitor_works(stored);
    }
}

int server_monitors_plan(struct arena *arena, struct str body, const struct monitors_wanted *wanted,
                         struct monitors_plan *ret_plan, struct error *err)
{
    struct map *places = map_new(arena, wanted->monitors.count);
    struct set in_place = set_new(arena, wanted->monitors.count);
    struct json root, list;

    if (upkeep_read_json(arena, body, &root, err) < 0)
        return -1;
    list = json_get(root, STR("monitors"));
    if (!json_is(list, JSON_ARRAY))
        return error_set(err, ERROR_INVALID, "its monitors are not a list");
    *ret_plan = (struct monitors_plan){ suse_monitors_new(arena, 8), str_list_new(arena, 4),
                                        map_new(arena, wanted->owners.count) };
    add_counts(ret_plan->counts, arena, &wanted->owners);
    add_counts(ret_plan->counts, arena, &wanted->kept);
    for (uint32_t i = 0; i < wanted->monitors.count; i++)
        map_put(places, wanted->monitors.items[i].identifier, &wanted->monitors.items[i]);
    for (struct json_iter it = json_iter(list); json_next(&it);)
        look_at(wanted, places, in_place, it.value, ret_plan);
    for (uint32_t i = 0; i < wanted->monitors.count; i++)
        if (!set_has(in_place, wanted->monitors.items[i].identifier))
            suse_monitors_push(&ret_plan->imports, wanted->monitors.items[i]);
    return 0;
}
