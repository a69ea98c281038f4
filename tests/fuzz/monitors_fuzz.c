/* SPDX-License-Identifier: Apache-2.0 */
/* monitors_fuzz.c: the same bytes as each list that a cluster answers with: whatever is in them, at most the one release gets monitors,
 * what is written is JSON, and nothing of others is changed. */
#include "fuzz.h"

#include "controller/backends/observability/monitors.h"

static struct upkeep one_release(struct arena *arena)
{
    struct upkeep upkeep = upkeep_new(arena);

    set_add(upkeep.stacks, STR("team/shop"));
    upkeep_releases_push(&upkeep.releases,
                         (struct upkeep_release){ { STR("team/shop"), STR("shop"), STR("web"), STR("app"), STR("Deployment/shop/web ") },
                                                  30000, true });
    return upkeep;
}

static void check_change(struct arena *arena, const struct kube_request *request)
{
    struct error err = { 0 };
    struct json body;

    MUST(json_read(arena, request->body, &json_limits_default, &body, &err) == 0);
    MUST(request->verb == KUBE_DELETE ||
         (str_eq(request->name, STR("herd-web")) && str_eq(request->namespace_, STR("shop"))));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str body = str_make((const char *)data, size);
    struct upkeep upkeep = one_release(arena);
    struct samples none = samples_new(arena, 0);
    struct sample_index index = sample_index_new(arena, &none);
    struct wire_prometheus prometheus = { .name = STR("") };
    struct upkeep_changes changes = upkeep_changes_new(arena, 2);
    struct monitor_findings findings;
    struct monitors *monitors;
    struct error err = { 0 };

    wire_prometheus_read(arena, body, &prometheus, &err);
    monitors = monitors_new(arena, &upkeep, &prometheus, &index);
    if (monitors_read(monitors, MONITOR_SERVICE, body, &err) < 0 || monitors_read(monitors, MONITOR_POD, body, &err) < 0) {
        MUST(err.text[0]);
        return 0;
    }
    MUST(monitors_read_namespaces(monitors, body, &err) == 0);
    while (monitors_next_path(monitors, arena).len)
        MUST(monitors_read_next(monitors, body, &err) == 0);
    MUST(monitors_decide(monitors, &changes, &findings, &err) == 0);
    MUST(findings.count == 1);
    (void)monitors_unselected_rules(monitors);
    for (uint32_t i = 0; i < changes.count; i++)
        check_change(arena, &changes.items[i].request);
    return 0;
}
