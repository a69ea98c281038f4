/* events.c: releases are compared by cluster and chart. Changes are grouped by chart and reason,
 * and waiting by reason alone: an object may have but 25 Normal Events at once (kube/event.h).
 * What concerns the Stack as a whole, its phase and what holds all of it, is a milestone. */
#include "controller/reconcile/events.h"

#include "base/map.h"
#include "stack/reasons.h"

enum { NAMED_MAX = 3, MESSAGE_BYTES_MAX = 512 };

/* Releases to which the same happened: of one chart, or, if they wait, of any. */
struct change {
    const struct release_state *first;
    struct str reason;
    struct str_list charts;
    struct str_list clusters;
};
LIST_DEFINE(changes, struct change)

static struct str release_id(struct arena *arena, const struct release_state *release)
{
    return str_fmt(arena, "%.*s %.*s %.*s/%.*s", STR_ARG(release->cluster_id),
                   STR_ARG(release->chart_name), STR_ARG(release->namespace_),
                   STR_ARG(release->release_name));
}

static struct map *index_of(struct arena *arena, const struct release_states *releases)
{
    struct map *index = map_new(arena, releases->count + 1);

    for (uint32_t i = 0; i < releases->count; i++)
        map_put(index, release_id(arena, &releases->items[i]), &releases->items[i]);
    return index;
}

static bool is_quiet(struct str reason)
{
    const struct reason_row *row = reason_find(reason);

    return row && row->event == REASON_QUIET;
}

/* By the reason's row; a reason of somebody else's is told by the state that it brought. */
static bool is_warning(struct str reason, const struct release_state *release)
{
    const struct reason_row *row = reason_find(reason);

    return row ? row->event == REASON_WARNING
               : release->state == DEPLOYMENT_FAILED || release->state == DEPLOYMENT_UNKNOWN;
}

/* An operation that somebody should look at. */
static bool is_late(const struct release_state *release)
{
    return str_eq(release->reason, REASON(OPERATION_STUCK)) ||
           str_eq(release->reason, REASON(OPERATION_NOT_STARTED));
}

/* The word for an Event; "" if there is nothing to tell. */
static struct str reason_of(const struct release_state *release)
{
    switch (release->state) {
    case DEPLOYMENT_DEPLOYING:
        if (is_late(release))
            return release->reason;
        return release->revision ? REASON(UPGRADING) : REASON(INSTALLING);
    case DEPLOYMENT_DEPLOYED:
        return REASON(DEPLOYED);
    case DEPLOYMENT_FAILED:
        return release->reason.len ? release->reason : REASON(UPGRADE_FAILED);
    case DEPLOYMENT_UNINSTALLING:
        return is_late(release) ? release->reason : REASON(UNINSTALLING);
    case DEPLOYMENT_WAITING:
        return release->reason.len ? release->reason : REASON(WAITING);
    case DEPLOYMENT_UNKNOWN:
        return release->reason.len ? release->reason : REASON(CLUSTER_UNREAD);
    case DEPLOYMENT_PENDING:
    case DEPLOYMENT_REMOVED:
        return STR("");
    }
    return STR("");
}

static void add_once(struct str_list *list, struct str name)
{
    if (!str_list_has(list, name))
        str_list_push(list, name);
}

static void add_change(struct arena *arena, struct changes *changes,
                       const struct release_state *release, struct str reason)
{
    struct change *change = NULL;

    for (uint32_t i = 0; i < changes->count && !change; i++)
        if (str_eq(changes->items[i].reason, reason) &&
            (release->state == DEPLOYMENT_WAITING ||
             str_eq(changes->items[i].first->chart_name, release->chart_name)))
            change = &changes->items[i];
    if (!change)
        change = changes_push(changes, (struct change){ .first = release,
                                                        .reason = reason,
                                                        .charts = str_list_new(arena, 4),
                                                        .clusters = str_list_new(arena, 4) });
    add_once(&change->charts, release->chart_name);
    add_once(&change->clusters, release->cluster_id);
}

static struct changes find_changes(struct arena *arena, const struct stack_status *before,
                                   const struct stack_status *after)
{
    struct changes changes = changes_new(arena, 8);
    struct map *old = index_of(arena, &before->deployments);
    struct map *new = index_of(arena, &after->deployments);

    for (uint32_t i = 0; i < after->deployments.count; i++) {
        const struct release_state *release = &after->deployments.items[i];
        const struct release_state *was = map_get(old, release_id(arena, release));
        struct str reason = reason_of(release);

        if (reason.len == 0 || is_quiet(reason) ||
            (was && was->state == release->state && str_eq(reason_of(was), reason) &&
             (release->state != DEPLOYMENT_FAILED || was->attempts == release->attempts)))
            continue;
        add_change(arena, &changes, release, reason);
    }
    for (uint32_t i = 0; i < before->deployments.count; i++) {
        const struct release_state *release = &before->deployments.items[i];

        if (release->state == DEPLOYMENT_UNINSTALLING &&
            !map_get(new, release_id(arena, release)) && after->deployments_omitted == 0)
            add_change(arena, &changes, release, REASON(UNINSTALLED));
    }
    return changes;
}

/* Of an operation that others began nobody knows the version. */
static bool tells_version(const struct change *change)
{
    return change->charts.count == 1 && change->first->version.len &&
           change->first->state != DEPLOYMENT_UNINSTALLING &&
           !str_eq(change->reason, REASON(WAITING_FOR_OPERATION));
}

/* "a, b, c and 2 more clusters" */
static void put_names(struct strbuf *out, const struct str_list *names, const char *more)
{
    for (uint32_t i = 0; i < names->count && i < NAMED_MAX; i++)
        strbuf_fmt(out, "%s%.*s", i ? ", " : "", STR_ARG(names->items[i]));
    if (names->count > NAMED_MAX)
        strbuf_fmt(out, " and %u more %s", names->count - NAMED_MAX, more);
}

static struct str change_message(struct arena *arena, const struct change *change)
{
    const struct release_state *release = change->first;
    struct strbuf out = strbuf_new(arena, 256);
    bool uninstalling = release->state == DEPLOYMENT_UNINSTALLING;

    put_names(&out, &change->charts, "charts");
    if (tells_version(change))
        strbuf_fmt(&out, " %.*s", STR_ARG(release->version));
    strbuf_lit(&out, " on ");
    put_names(&out, &change->clusters, "clusters");
    if (release->message.len &&
        (is_late(release) || (release->state != DEPLOYMENT_DEPLOYED &&
                              release->state != DEPLOYMENT_DEPLOYING && !uninstalling)))
        strbuf_fmt(&out, ": %.*s", STR_ARG(release->message));
    return str_shown(arena, strbuf_str(&out), MESSAGE_BYTES_MAX);
}

/* What holds the whole Stack, by the reason of its condition Ready: no release tells it. */
static void tell_hold(struct arena *arena, struct kube_events *events, struct kube_event event,
                      const struct stack_status *before, const struct stack_status *after)
{
    static const enum reason holds[] = { REASON_WAITING_FOR_STACK, REASON_STACK_CYCLE,
                                         REASON_CLUSTER_NOT_FOUND, REASON_NO_CLUSTERS,
                                         REASON_PAUSED, REASON_DELETION_PAUSED,
                                         REASON_NOT_ADMITTED };
    const struct kube_condition *was = kube_condition_find(&before->conditions, STR("Ready"));
    const struct kube_condition *is = kube_condition_find(&after->conditions, STR("Ready"));

    if (!is || (was && str_eq(was->reason, is->reason) && str_eq(was->message, is->message)))
        return;
    for (size_t i = 0; i < sizeof(holds) / sizeof(holds[0]); i++)
        if (str_eq(is->reason, reason_rows[holds[i]].name)) {
            event.warning = reason_rows[holds[i]].event == REASON_WARNING;
            event.milestone = true;
            event.reason = is->reason;
            event.message = str_shown(arena, is->message, MESSAGE_BYTES_MAX);
            kube_events_push(events, event);
        }
}

struct kube_events stack_events(struct arena *arena, const struct stack *stack,
                                struct str resource_version, const struct stack_status *before,
                                const struct stack_status *after)
{
    struct kube_events events = kube_events_new(arena, 8);
    struct changes changes = find_changes(arena, before, after);
    struct kube_event base = {
        .resource = stack_resource,
        .namespace_ = stack->meta.namespace_,
        .name = stack->meta.name,
        .uid = stack->meta.uid,
        .resource_version = resource_version,
    };

    for (uint32_t i = 0; i < changes.count; i++) {
        const struct change *change = &changes.items[i];
        struct kube_event event = base;

        event.warning = is_warning(change->reason, change->first);
        event.reason = change->reason;
        event.message = change_message(arena, change);
        kube_events_push(&events, event);
    }
    tell_hold(arena, &events, base, before, after);
    /* A Stack begins as Pending: that is no news. */
    if (before->phase != after->phase) {
        struct kube_event event = base;

        event.warning = after->phase == PHASE_FAILED;
        event.milestone = true;
        event.reason = str_of(stack_phase_name(after->phase));
        event.message = after->message.len
                            ? str_shown(arena, after->message, MESSAGE_BYTES_MAX)
                            : str_fmt(arena, "%u of %u releases are deployed", after->ready,
                                      after->releases);
        kube_events_push(&events, event);
    }
    return events;
}
