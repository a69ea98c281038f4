/* SPDX-License-Identifier: Apache-2.0 */
/* status_write.c: a status as JSON, within its budget, equal bytes for equal values.
 *
 * Two orders: what is kept when there is no room for all (first what later plans decide by, then
 * the worst), and how the kept ones are shown: worst first, then by cluster and chart. */
#include "base/map.h"
#include "stack/model/fields_canonical.h"
#include "stack/model/limits.h"
#include "stack/model/stored_status.h"
#include "text/ranges.h"

#include <stdlib.h>

static int by_shown(const void *a, const void *b)
{
    const struct release_state *x = *(const struct release_state *const *)a;
    const struct release_state *y = *(const struct release_state *const *)b;
    uint32_t rx = deployment_state_rank(x->state);
    uint32_t ry = deployment_state_rank(y->state);
    int order;

    if (rx != ry)
        return rx < ry ? -1 : 1;
    if ((order = str_cmp(x->cluster_id, y->cluster_id)) != 0)
        return order;
    if ((order = str_cmp(x->chart_name, y->chart_name)) != 0)
        return order;
    if ((order = str_cmp(x->namespace_, y->namespace_)) != 0)
        return order;
    return str_cmp(x->release_name, y->release_name);
}

static int by_need(const void *a, const void *b)
{
    bool x = release_is_remembered(*(const struct release_state *const *)a);
    bool y = release_is_remembered(*(const struct release_state *const *)b);

    return x != y ? (x ? -1 : 1) : by_shown(a, b);
}

/* As it is shown: of what is deployed it goes without saying that it was. */
static struct release_state entry_of(const struct release_state *release, bool with_message)
{
    struct release_state entry = *release;

    if (!with_message)
        entry.message = STR("");
    if (entry.state == DEPLOYMENT_DEPLOYED)
        entry.installed = false;
    return entry;
}

/* Bytes of one entry, as it would be written, and its comma. */
static size_t entry_bytes(struct strbuf *scratch, const struct release_state *release)
{
    struct release_state entry = entry_of(release, true);

    scratch->len = 0;
    fields_canonical(&fields_of_status_release, &entry, scratch);
    return scratch->len + 1;
}

/* Which entries are written: `all`, those that are remembered first. */
struct selection {
    const struct release_state **entries;
    uint32_t count;
    bool with_messages;
};

static uint32_t count_remembered(const struct release_states *all)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < all->count; i++)
        count += release_is_remembered(&all->items[i]);
    return count;
}

/* How many of the entries fit into `room` bytes. */
static uint32_t fit(struct arena *arena, const struct selection *of, uint32_t count, size_t room)
{
    struct strbuf scratch = strbuf_new(arena, 1024);
    size_t used = 0;

    for (uint32_t i = 0; i < count; i++) {
        used += entry_bytes(&scratch, of->entries[i]);
        if (used > room)
            return i;
    }
    return count;
}

/* What is remembered is written even beyond `room`: the plan bounds how much that is. */
static struct selection choose(struct arena *arena, const struct release_states *all,
                               uint32_t shown_max, size_t room)
{
    uint32_t remembered = count_remembered(all);
    uint32_t wanted = all->count - remembered < shown_max ? all->count : remembered + shown_max;
    struct selection chosen = {
        .entries =
            (const struct release_state **)arena_alloc(arena, sizeof(void *) * (size_t)all->count),
    };

    for (uint32_t i = 0; i < all->count; i++)
        chosen.entries[i] = &all->items[i];
    if (all->count > 1)
        qsort(chosen.entries, all->count, sizeof(*chosen.entries), by_need);
    chosen.count = fit(arena, &chosen, wanted, room);
    chosen.with_messages = chosen.count >= remembered;
    if (chosen.count < remembered)
        chosen.count = remembered;
    if (chosen.count > 1)
        qsort(chosen.entries, chosen.count, sizeof(*chosen.entries), by_shown);
    return chosen;
}

/* Id -> uint32_t, its place in the list. */
static struct map *index_ids(struct arena *arena, const struct str_list *ids)
{
    struct map *index = map_new(arena, ids->count);
    uint32_t *places = arena_array(arena, uint32_t, ids->count);

    for (uint32_t i = 0; i < ids->count; i++) {
        places[i] = i;
        map_put(index, ids->items[i], &places[i]);
    }
    return index;
}

/* A list whose places ranges name. */
struct indexed {
    struct arena *arena;
    const struct map *places;
    uint32_t count;
};

static struct indexed index_of(struct arena *arena, const struct str_list *ids)
{
    return (struct indexed){ arena, index_ids(arena, ids), ids->count };
}

/* Those of the list that are among `ids`, as ranges. */
static struct str ranges_of(const struct indexed *list, const struct str_list *ids)
{
    bool *has = arena_array(list->arena, bool, list->count);

    for (uint32_t i = 0; i < ids->count; i++) {
        const uint32_t *at = map_get(list->places, ids->items[i]);

        if (at)
            has[*at] = true;
    }
    return ranges_encode(list->arena, has, list->count);
}

static struct named_counts summary_of(struct arena *arena, const struct stack_status *status)
{
    struct named_counts summary = named_counts_new(arena, DEPLOYMENT_REMOVED);
    uint32_t counts[DEPLOYMENT_REMOVED];

    stack_status_summary(status, counts);
    for (enum deployment_state s = DEPLOYMENT_UNKNOWN; s < DEPLOYMENT_REMOVED; s++)
        if (counts[s])
            named_counts_push(&summary,
                              (struct named_count){ str_of(deployment_state_name(s)), counts[s] });
    return summary;
}

static struct stored_removal removal_of(struct arena *arena, const struct stack_status *status,
                                        const struct str_list *others)
{
    const struct removal_state *removal = &status->removal;
    struct indexed held = index_of(arena, others);

    if (!removal->first_seen_ms)
        return (struct stored_removal){ .releases = 0 };
    return (struct stored_removal){
        .releases = removal->releases,
        .of = removal->of,
        .first_seen_ms = removal->first_seen_ms,
        .accounted = removal->accounted
                         ? str_fmt(arena, "%llu", (unsigned long long)removal->accounted)
                         : STR(""),
        .token = removal->token,
        .started = ranges_of(&held, &status->started_clusters),
        .delays = removal->delays,
    };
}

static void clusters_of(struct arena *arena, struct stored_status *stored)
{
    const struct stack_status *status = &stored->status;
    struct indexed targets = index_of(arena, &status->target_clusters);

    stored->targets = (struct stored_targets){
        .held = ranges_of(&targets, &status->held_clusters),
        .pending = ranges_of(&targets, &status->pending_clusters),
        .started = ranges_of(&targets, &status->started_clusters),
        .failed = ranges_of(&targets, &status->failed_clusters),
        .lost = ranges_of(&targets, &status->lost_clusters),
    };
    stored->other_clusters = str_list_new(arena, 0);
    for (uint32_t i = 0; i < status->held_clusters.count; i++)
        if (!map_get(targets.places, status->held_clusters.items[i]))
            str_list_push(&stored->other_clusters, status->held_clusters.items[i]);
}

/* All but its deployments. */
static struct stored_status stored_of(struct arena *arena, const struct stack_status *status)
{
    struct stored_status stored = { .status = *status, .clusters = -1 };

    if (status->counted) {
        stored.clusters = status->clusters;
        stored.ready = str_fmt(arena, "%u/%u", status->ready, status->releases);
        stored.summary = summary_of(arena, status);
    }
    if (!status->change.len)
        stored.status.waves = wave_states_new(arena, 0);
    stored.status.deployments = release_states_new(arena, 0);
    stored.status.deployments_omitted = 0;
    clusters_of(arena, &stored);
    stored.removal = removal_of(arena, status, &stored.other_clusters);
    return stored;
}

struct str stack_status_write(struct arena *arena, const struct stack_status *status)
{
    return stack_status_write_within(arena, status, UINT32_MAX);
}

struct str stack_status_write_within(struct arena *arena, const struct stack_status *status,
                                     uint32_t shown_max)
{
    /* For deploymentsOmitted. */
    enum { TAIL_BYTES = 46 };
    AUTO(arena_free) struct arena *scratch = arena_create(0);
    const struct release_states *all = &status->deployments;
    struct stored_status stored = stored_of(scratch, status);
    struct strbuf out = strbuf_new(scratch, 4096);
    struct selection chosen;

    fields_canonical(&fields_of_stack_status, &stored, &out);
    chosen = choose(
        scratch, all, shown_max,
        out.len + TAIL_BYTES < LIMIT_STATUS_BYTES ? LIMIT_STATUS_BYTES - out.len - TAIL_BYTES : 0);
    stored.status.deployments = release_states_new(scratch, chosen.count);
    for (uint32_t i = 0; i < chosen.count; i++)
        release_states_push(&stored.status.deployments,
                            entry_of(chosen.entries[i], chosen.with_messages));
    stored.status.deployments_omitted = all->count - chosen.count + status->deployments_omitted;
    out.len = 0;
    fields_canonical(&fields_of_stack_status, &stored, &out);
    return str_dup(arena, strbuf_str(&out));
}
