/* SPDX-License-Identifier: Apache-2.0 */
/* status.c: a stored status, read back. What is absent or of a wrong kind reads as zero. */
#include "stack/model/fields_decode.h"
#include "stack/model/reasons.h"
#include "stack/model/stored_status.h"
#include "text/ranges.h"

#include <stdlib.h>

static const struct field_word phases[] = {
    [PHASE_PENDING] = { STR_INIT("Pending"), PHASE_PENDING },
    [PHASE_DEPLOYING] = { STR_INIT("Deploying"), PHASE_DEPLOYING },
    [PHASE_DEPLOYED] = { STR_INIT("Deployed"), PHASE_DEPLOYED },
    [PHASE_FAILED] = { STR_INIT("Failed"), PHASE_FAILED },
    [PHASE_DELETING] = { STR_INIT("Deleting"), PHASE_DELETING },
};
const struct field_words words_of_stack_phase = { phases, sizeof(phases) / sizeof(phases[0]) };

static const struct field_word states[] = {
    [DEPLOYMENT_UNKNOWN] = { STR_INIT("Unknown"), DEPLOYMENT_UNKNOWN },
    [DEPLOYMENT_PENDING] = { STR_INIT("Pending"), DEPLOYMENT_PENDING },
    [DEPLOYMENT_WAITING] = { STR_INIT("Waiting"), DEPLOYMENT_WAITING },
    [DEPLOYMENT_DEPLOYING] = { STR_INIT("Deploying"), DEPLOYMENT_DEPLOYING },
    [DEPLOYMENT_DEPLOYED] = { STR_INIT("Deployed"), DEPLOYMENT_DEPLOYED },
    [DEPLOYMENT_NOT_READY] = { STR_INIT("NotReady"), DEPLOYMENT_NOT_READY },
    [DEPLOYMENT_FAILED] = { STR_INIT("Failed"), DEPLOYMENT_FAILED },
    [DEPLOYMENT_UNINSTALLING] = { STR_INIT("Uninstalling"), DEPLOYMENT_UNINSTALLING },
    [DEPLOYMENT_REMOVED] = { STR_INIT("Removed"), DEPLOYMENT_REMOVED },
};
const struct field_words words_of_deployment_state = { states, sizeof(states) / sizeof(states[0]) };

static const struct field_word verdicts[] = {
    { STR_INIT("Passed"), SCAN_PASSED },
    { STR_INIT("Failed"), SCAN_FAILED },
    { STR_INIT("Scanning"), SCAN_SCANNING },
    { STR_INIT("Unknown"), SCAN_UNKNOWN },
};
const struct field_words words_of_scan_verdict = { verdicts,
                                                   sizeof(verdicts) / sizeof(verdicts[0]) };

static const struct field_word progresses[] = {
    { STR_INIT("Pending"), SCANS_PENDING },     { STR_INIT("Scanning"), SCANS_SCANNING },
    { STR_INIT("Completed"), SCANS_COMPLETED }, { STR_INIT("Failed"), SCANS_FAILED },
    { STR_INIT("Unknown"), SCANS_UNKNOWN },
};
const struct field_words words_of_scan_progress = { progresses,
                                                    sizeof(progresses) / sizeof(progresses[0]) };

/* How bad it is: least first. */
static const uint8_t ranks[] = {
    [DEPLOYMENT_FAILED] = 0,       [DEPLOYMENT_NOT_READY] = 1, [DEPLOYMENT_UNKNOWN] = 2,
    [DEPLOYMENT_UNINSTALLING] = 3, [DEPLOYMENT_WAITING] = 4,   [DEPLOYMENT_DEPLOYING] = 5,
    [DEPLOYMENT_PENDING] = 6,      [DEPLOYMENT_DEPLOYED] = 7,  [DEPLOYMENT_REMOVED] = 8,
};

const char *stack_phase_name(enum stack_phase phase)
{
    return phases[phase].name.at;
}

enum stack_phase stack_phase_from(struct str name)
{
    return field_word_value(&words_of_stack_phase, name);
}

const char *deployment_state_name(enum deployment_state state)
{
    return states[state].name.at;
}

enum deployment_state deployment_state_from(struct str name)
{
    return field_word_value(&words_of_deployment_state, name);
}

uint32_t deployment_state_rank(enum deployment_state state)
{
    return ranks[state];
}

/* "5/6" */
static void ready_read(struct str text, struct stack_status *status)
{
    struct str part;
    uint64_t ready = 0;
    uint64_t releases = 0;

    if (!str_split(&text, '/', &part) || !str_to_u64(part, &ready) ||
        !str_to_u64(text, &releases) || ready > UINT32_MAX || releases > UINT32_MAX)
        return;
    status->ready = (uint32_t)ready;
    status->releases = (uint32_t)releases;
}

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* In order, each once. */
static void sort_ids(struct str_list *ids)
{
    uint32_t kept = 0;

    if (ids->count > 1)
        qsort(ids->items, ids->count, sizeof(struct str), by_text);
    for (uint32_t i = 0; i < ids->count; i++)
        if (ids->items[i].len && (kept == 0 || !str_eq(ids->items[kept - 1], ids->items[i])))
            ids->items[kept++] = ids->items[i];
    ids->count = kept;
}

/* Those of the list that the ranges name. */
static void ranges_read(struct str ranges, const struct str_list *ids, struct str_list *to)
{
    bool *has = arena_array(to->arena, bool, ids->count);

    ranges_decode(ranges, has, ids->count);
    for (uint32_t i = 0; i < ids->count; i++)
        if (has[i])
            str_list_push(to, ids->items[i]);
}

/* A Herd that did not write targetStates left it to the entries which clusters are held: those with
 * which something was asked for, and, where entries were left out, all targets. */
static void held_by_entries(struct stack_status *status)
{
    struct str_list *held = &status->held_clusters;

    for (uint32_t i = 0; i < status->deployments.count; i++) {
        const struct release_state *d = &status->deployments.items[i];

        if (d->digest.len || d->requested_ms)
            str_list_push(held, d->cluster_id);
    }
    for (uint32_t i = 0; status->deployments_omitted && i < status->target_clusters.count; i++)
        str_list_push(held, status->target_clusters.items[i]);
}

static void clusters_read(struct stored_status *stored, bool has_states)
{
    const struct stored_targets *sets = &stored->targets;
    struct stack_status *status = &stored->status;
    const struct str_list *ids = &status->target_clusters;

    for (uint32_t i = 0; i < stored->other_clusters.count; i++)
        str_list_push(&status->held_clusters, stored->other_clusters.items[i]);
    ranges_read(sets->held, ids, &status->held_clusters);
    ranges_read(sets->pending, ids, &status->pending_clusters);
    ranges_read(sets->started, ids, &status->started_clusters);
    ranges_read(sets->failed, ids, &status->failed_clusters);
    ranges_read(sets->lost, ids, &status->lost_clusters);
    ranges_read(stored->removal.started, &stored->other_clusters, &status->started_clusters);
    if (!has_states)
        held_by_entries(status);
    sort_ids(&status->held_clusters);
}

static struct removal_state removal_read(const struct stored_removal *stored)
{
    struct removal_state removal = {
        .releases = stored->releases,
        .of = stored->of,
        .first_seen_ms = stored->first_seen_ms,
        .token = stored->token,
        .delays = stored->delays,
    };

    (void)str_to_u64(stored->accounted, &removal.accounted);
    return removal;
}

struct str release_state_id(struct arena *arena, const struct release_state *release)
{
    return str_fmt(arena, "%.*s %.*s %.*s/%.*s", STR_ARG(release->cluster_id),
                   STR_ARG(release->chart_name), STR_ARG(release->namespace_),
                   STR_ARG(release->release_name));
}

struct map *release_states_index(struct arena *arena, const struct release_states *releases)
{
    struct map *index = map_new(arena, releases->count + 1);

    for (uint32_t i = 0; i < releases->count; i++)
        map_put(index, release_state_id(arena, &releases->items[i]), &releases->items[i]);
    return index;
}

bool release_is_remembered(const struct release_state *release)
{
    return release->requested_ms || release->attempts || release->forgiven ||
           str_eq(release->reason, REASON(RELEASE_PENDING));
}

void stack_status_summary(const struct stack_status *status, uint32_t counts[DEPLOYMENT_REMOVED])
{
    memcpy(counts, status->omitted, sizeof(status->omitted));
    for (uint32_t i = 0; i < status->deployments.count; i++)
        if (status->deployments.items[i].state < DEPLOYMENT_REMOVED)
            counts[status->deployments.items[i].state]++;
}

static uint32_t count_of(int64_t number)
{
    return number < 0 ? 0 : number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
}

/* What the summary counts and deployments[] does not list. */
static void omitted_read(const struct named_counts *summary, struct stack_status *status)
{
    uint32_t listed[DEPLOYMENT_REMOVED];

    if (!status->deployments_omitted)
        return;
    stack_status_summary(status, listed);
    for (uint32_t i = 0; i < summary->count; i++) {
        struct str name = summary->items[i].name;
        enum deployment_state s = deployment_state_from(name);
        uint32_t all = count_of(summary->items[i].count);

        if (s < DEPLOYMENT_REMOVED && str_eq(name, states[s].name) && all > listed[s])
            status->omitted[s] = all - listed[s];
    }
}

struct stack_status stack_status_read(struct arena *arena, struct json json)
{
    struct stored_status stored = {
        .clusters = -1,
        .status = {
            .held_clusters = str_list_new(arena, 0),
            .pending_clusters = str_list_new(arena, 0),
            .started_clusters = str_list_new(arena, 0),
            .failed_clusters = str_list_new(arena, 0),
            .lost_clusters = str_list_new(arena, 0),
            .security = { .vulnerabilities = -1, .critical = -1, .high = -1,
                          .compliance_failures = -1, .scanned_images = -1, .total_images = -1 },
            .observability = { .dashboards = -1, .alerts = -1 },
        },
    };
    struct stack_status *status = &stored.status;

    fields_read(arena, &fields_of_stack_status, json, &stored);
    status->counted = stored.clusters >= 0;
    status->clusters = count_of(stored.clusters);
    status->removal = removal_read(&stored.removal);
    ready_read(stored.ready, status);
    for (uint32_t i = 0; i < status->deployments.count; i++)
        if (status->deployments.items[i].state == DEPLOYMENT_DEPLOYED)
            status->deployments.items[i].installed = true;
    clusters_read(&stored, json_is(json_get(json, STR("targetStates")), JSON_OBJECT));
    omitted_read(&stored.summary, status);
    return stored.status;
}
