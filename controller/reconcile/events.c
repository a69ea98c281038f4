/* events.c: releases are compared by cluster and chart, changes grouped by chart, state and reason. */
#include "controller/reconcile/events.h"

#include "base/map.h"

enum { CLUSTERS_NAMED_MAX = 3, MESSAGE_BYTES_MAX = 512 };

/* Releases of one chart to which the same happened. */
struct change {
    const struct release_state *first;
    struct str reason;
    struct strbuf clusters;
    uint32_t count;
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

/* The word for an Event; "" if there is nothing to tell. */
static struct str reason_of(const struct release_state *release)
{
    switch (release->state) {
    case DEPLOYMENT_DEPLOYING:
        return release->revision ? STR("Upgrading") : STR("Installing");
    case DEPLOYMENT_DEPLOYED:
        return STR("Deployed");
    case DEPLOYMENT_FAILED:
        return release->reason.len ? release->reason : STR("UpgradeFailed");
    case DEPLOYMENT_UNINSTALLING:
        return STR("Uninstalling");
    case DEPLOYMENT_WAITING:
        return release->reason.len ? release->reason : STR("Waiting");
    case DEPLOYMENT_UNKNOWN:
        return release->reason.len ? release->reason : STR("ClusterUnread");
    case DEPLOYMENT_PENDING:
    case DEPLOYMENT_REMOVED:
        return STR("");
    }
    return STR("");
}

static void add_change(struct arena *arena, struct changes *changes,
                       const struct release_state *release, struct str reason)
{
    struct change *change = NULL;

    for (uint32_t i = 0; i < changes->count && !change; i++)
        if (str_eq(changes->items[i].reason, reason) &&
            str_eq(changes->items[i].first->chart_name, release->chart_name))
            change = &changes->items[i];
    if (!change)
        change = changes_push(changes, (struct change){ .first = release,
                                                        .reason = reason,
                                                        .clusters = strbuf_new(arena, 64) });
    if (change->count++ < CLUSTERS_NAMED_MAX)
        strbuf_fmt(&change->clusters, "%s%.*s", change->count > 1 ? ", " : "",
                   STR_ARG(release->cluster_id));
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

        if (reason.len == 0 || (was && was->state == release->state &&
                                str_eq(reason_of(was), reason) &&
                                (release->state != DEPLOYMENT_FAILED ||
                                 was->attempts == release->attempts)))
            continue;
        add_change(arena, &changes, release, reason);
    }
    for (uint32_t i = 0; i < before->deployments.count; i++) {
        const struct release_state *release = &before->deployments.items[i];

        if (release->state == DEPLOYMENT_UNINSTALLING &&
            !map_get(new, release_id(arena, release)) && after->deployments_omitted == 0)
            add_change(arena, &changes, release, STR("Uninstalled"));
    }
    return changes;
}

static struct str change_message(struct arena *arena, struct change *change)
{
    const struct release_state *release = change->first;
    struct strbuf out = strbuf_new(arena, 256);
    bool explained = release->state != DEPLOYMENT_DEPLOYED &&
                     release->state != DEPLOYMENT_UNINSTALLING && release->message.len;

    strbuf_put(&out, release->chart_name);
    if (release->version.len && release->state != DEPLOYMENT_UNINSTALLING)
        strbuf_fmt(&out, " %.*s", STR_ARG(release->version));
    strbuf_lit(&out, " on ");
    strbuf_put(&out, strbuf_str(&change->clusters));
    if (change->count > CLUSTERS_NAMED_MAX)
        strbuf_fmt(&out, " and %u more clusters", change->count - CLUSTERS_NAMED_MAX);
    if (explained)
        strbuf_fmt(&out, ": %.*s", STR_ARG(release->message));
    return str_shown(arena, strbuf_str(&out), MESSAGE_BYTES_MAX);
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
        struct change *change = &changes.items[i];
        struct kube_event event = base;

        event.warning = change->first->state == DEPLOYMENT_FAILED ||
                        change->first->state == DEPLOYMENT_UNKNOWN;
        event.reason = change->reason;
        event.message = change_message(arena, change);
        kube_events_push(&events, event);
    }
    if (before->observed_generation == 0 || before->phase != after->phase) {
        struct kube_event event = base;

        event.warning = after->phase == PHASE_FAILED;
        event.reason = str_of(stack_phase_name(after->phase));
        event.message = after->message.len
                            ? str_shown(arena, after->message, MESSAGE_BYTES_MAX)
                            : str_fmt(arena, "%u of %u releases are deployed", after->ready,
                                      after->releases);
        kube_events_push(&events, event);
    }
    return events;
}
