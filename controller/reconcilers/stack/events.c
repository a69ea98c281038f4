/* SPDX-License-Identifier: Apache-2.0 */
/* events.c: releases are compared by cluster and chart, and the changes that read the same are one
 * Event that names charts and clusters. What concerns the Stack as a whole, its phase and what
 * holds all of it, is a milestone.
 *
 * A status of many releases does not list them all. What it left out was not seen to change, and is
 * news only if nothing that it left out was in that state before. */
#include "controller/reconcilers/stack/events.h"

#include "base/map.h"
#include "base/set.h"
#include "stack/model/reasons.h"
#include "text/enumerate.h"

/* Of one reason so many Events are made at a time; what goes beyond is one more together. */
enum { NAMED_MAX = 3, CHANGES_PER_REASON_MAX = 4, MESSAGE_BYTES_MAX = 512 };

/* Something that happened to one release. */
struct news {
    const struct release_state *release;
    struct str reason;
    struct str message; /* "" = the reason says it all */
};

/* News that are one Event. */
struct change {
    struct news first;
    struct map *charts; /* names, as keys */
    struct map *clusters;
    bool versions_differ;
    bool messages_differ;
};

struct story {
    struct arena *arena;
    struct map *changes; /* in order; struct change */
    struct map *counts;  /* reason -> uint32_t: changes of it */
};

static bool is_one_of(struct str reason, const enum reason *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(reason, reason_rows[list[i]].name))
            return true;
    return false;
}
#define IS_ONE_OF(reason, list) is_one_of(reason, list, sizeof(list) / sizeof((list)[0]))

/* By the reason's row; a reason of somebody else's is told by the state that it brought. */
static enum reason_news news_kind(const struct news *news)
{
    const struct reason_row *row = reason_find(news->reason);
    bool bad =
        news->release->state == DEPLOYMENT_FAILED || news->release->state == DEPLOYMENT_UNKNOWN;

    return row ? row->news : bad ? NEWS_WARNING : NEWS_NORMAL;
}

static bool was_installed(const struct release_state *release)
{
    return release->installed && release->revision;
}

/* While something is under way: what, or what is the matter with it. */
static struct str reason_under_way(const struct release_state *release)
{
    static const enum reason own[] = { REASON_OPERATION_STUCK,  REASON_OPERATION_NOT_STARTED,
                                       REASON_OPERATION_FAILED, REASON_OPERATION_ENDED,
                                       REASON_RELEASE_PENDING,  REASON_REMOVING_LOCK,
                                       REASON_FREEING_RELEASE };

    if (IS_ONE_OF(release->reason, own))
        return release->reason;
    if (release->state == DEPLOYMENT_UNINSTALLING)
        return REASON(UNINSTALLING);
    return was_installed(release) ? REASON(UPGRADING) : REASON(INSTALLING);
}

/* How a release became Deployed; a drifted one is, too. */
static struct str reason_deployed(const struct release_state *release,
                                  const struct release_state *was)
{
    enum deployment_state before = !was                               ? DEPLOYMENT_DEPLOYED
                                   : was->state == DEPLOYMENT_UNKNOWN ? was->last_known
                                                                      : was->state;

    if (str_eq(release->reason, REASON(DRIFTED)))
        return release->reason;
    if (before == DEPLOYMENT_DEPLOYING)
        return was_installed(was) ? REASON(UPGRADED) : REASON(INSTALLED);
    if (was && was->state == DEPLOYMENT_UNKNOWN)
        return str_eq(was->reason, REASON(CLUSTER_NOT_SYNCED)) ? STR("") : REASON(CLUSTER_BACK);
    return REASON(DEPLOYED);
}

static struct str either(struct str reason, enum reason otherwise)
{
    return reason.len ? reason : reason_rows[otherwise].name;
}

/* The word for an Event; "" if there is nothing to tell. */
static struct str reason_of(const struct release_state *release, const struct release_state *was)
{
    switch (release->state) {
    case DEPLOYMENT_DEPLOYING:
    case DEPLOYMENT_UNINSTALLING:
        return reason_under_way(release);
    case DEPLOYMENT_DEPLOYED:
        return reason_deployed(release, was);
    case DEPLOYMENT_FAILED:
        return either(release->reason, REASON_UPGRADE_FAILED);
    case DEPLOYMENT_WAITING:
        return either(release->reason, REASON_WAITING);
    case DEPLOYMENT_NOT_READY:
        return REASON(WORKLOADS_NOT_READY);
    case DEPLOYMENT_UNKNOWN:
        return either(release->reason, REASON_CLUSTER_NOT_SYNCED);
    case DEPLOYMENT_PENDING:
        return str_eq(release->reason, REASON(ADOPTING)) ? release->reason : STR("");
    case DEPLOYMENT_REMOVED:
        break;
    }
    return STR("");
}

/* Whether the word alone, with chart, version and clusters, is the whole sentence. */
static bool says_it_all(struct str reason)
{
    static const enum reason plain[] = { REASON_INSTALLING, REASON_INSTALLED,    REASON_UPGRADING,
                                         REASON_UPGRADED,   REASON_UNINSTALLING, REASON_UNINSTALLED,
                                         REASON_DEPLOYED,   REASON_CLUSTER_BACK };

    return IS_ONE_OF(reason, plain);
}

/* What was known of a release before its cluster went out of sight is no part of the trouble. */
static struct str message_of(const struct release_state *release, struct str reason)
{
    ptrdiff_t known = release->state == DEPLOYMENT_UNKNOWN
                          ? str_find(release->message, STR(STATUS_LAST_KNOWN), 0)
                          : -1;

    if (says_it_all(reason))
        return STR("");
    return known < 0 ? release->message : str_slice(release->message, 0, (size_t)known);
}

/* Releases of any charts wait for, or are kept by, one thing: by reason alone, else by message,
 * too. What happened to a release is told by chart and version. */
static struct str change_key(struct arena *arena, const struct news *news)
{
    const struct release_state *release = news->release;
    bool waits = release->state == DEPLOYMENT_WAITING || release->state == DEPLOYMENT_UNKNOWN;

    if ((waits && news_kind(news) == NEWS_PROGRESS) || str_eq(news->reason, REASON(CLUSTER_BACK)))
        return news->reason;
    return str_fmt(arena, "%.*s\n%.*s\n%.*s\n%.*s", STR_ARG(news->reason),
                   STR_ARG(waits ? STR("") : release->chart_name),
                   STR_ARG(waits ? STR("") : release->version), STR_ARG(news->message));
}

static bool may_add(struct story *story, struct str reason)
{
    uint32_t *count = map_get(story->counts, reason);

    if (!count) {
        count = arena_new(story->arena, uint32_t);
        *count = 0;
        map_put(story->counts, reason, count);
    }
    return (*count)++ < CHANGES_PER_REASON_MAX;
}

static struct change *change_of(struct story *story, const struct news *news)
{
    struct str key = change_key(story->arena, news);
    struct change *change = map_get(story->changes, key);

    if (!change && !may_add(story, news->reason)) {
        key = news->reason;
        change = map_get(story->changes, key);
    }
    if (change)
        return change;
    change = arena_new(story->arena, struct change);
    *change = (struct change){ .first = *news,
                               .charts = map_new(story->arena, 4),
                               .clusters = map_new(story->arena, 4) };
    map_put(story->changes, key, change);
    return change;
}

static void add_news(struct story *story, const struct release_state *release, struct str reason,
                     struct str message)
{
    const struct news news = { release, reason, message };
    struct change *change = change_of(story, &news);

    map_put(change->charts, release->chart_name, change);
    map_put(change->clusters, release->cluster_id, change);
    change->versions_differ |= !str_eq(change->first.release->version, release->version);
    change->messages_differ |= !str_eq(change->first.message, message);
}

/* Deployed as asked for, and now asked for again although nothing else is wanted; it may have
 * waited in between, for its turn or an answer. */
static bool is_corrected(const struct release_state *release, const struct release_state *was)
{
    return was && !was->attempts &&
           (was->state == DEPLOYMENT_DEPLOYED || was->state == DEPLOYMENT_WAITING) &&
           release->state == DEPLOYMENT_DEPLOYING && str_eq(release->reason, REASON(UPGRADING)) &&
           str_eq(was->digest, release->digest);
}

static bool is_same(const struct release_state *release, const struct release_state *was)
{
    return was->state == release->state &&
           str_eq(reason_of(was, was), reason_of(release, release)) &&
           (release->state != DEPLOYMENT_FAILED || was->attempts == release->attempts);
}

static void compare(struct story *story, const struct stack_status *before,
                    const struct release_state *release, const struct release_state *was)
{
    struct str reason = reason_of(release, was);
    const struct news news = { release, reason, STR("") };

    if (was ? is_same(release, was) : before->omitted[release->state] > 0)
        return;
    if (is_corrected(release, was))
        add_news(story, release, REASON(DRIFTED),
                 STR("changed by somebody else; it is being corrected"));
    else if (reason.len && news_kind(&news) != NEWS_QUIET)
        add_news(story, release, reason, message_of(release, reason));
}

/* Ids of clusters that the Stack left without removing anything. */
static struct set left_behind(struct arena *arena, const struct plan *plan)
{
    struct set left = set_of(arena, &plan->gone);

    set_add_all(left, &plan->abandoned);
    return left;
}

/* Whether the Stack goes without anybody looking at its releases, which stay. */
static bool is_let_go(const struct stack *stack, const struct plan *plan)
{
    return plan->torn_down && (stack->spec.deletion_policy == DELETION_ORPHAN ||
                               !kube_has_finalizer(&stack->meta, STR(STACK_FINALIZER)));
}

static bool was_going(const struct release_state *was)
{
    return was->state == DEPLOYMENT_UNINSTALLING || str_eq(was->reason, REASON(UNINSTALL_FAILED));
}

/* Releases that were being removed, and that no entry is about any more. */
static void find_uninstalled(struct story *story, const struct stack_status *before,
                             const struct map *new, const struct plan *plan)
{
    struct set left = left_behind(story->arena, plan);

    for (uint32_t i = 0; i < before->deployments.count; i++) {
        const struct release_state *was = &before->deployments.items[i];

        if (was_going(was) && !map_get(new, release_state_id(story->arena, was)) &&
            !set_has(left, was->cluster_id))
            add_news(story, was, REASON(UNINSTALLED), STR(""));
    }
}

static struct map *find_changes(struct arena *arena, const struct stack *stack,
                                const struct stack_status *before, const struct stack_status *after,
                                const struct plan *plan)
{
    struct story story = { arena, map_new(arena, 8), map_new(arena, 8) };
    struct map *old = release_states_index(arena, &before->deployments);
    struct map *new = release_states_index(arena, &after->deployments);

    for (uint32_t i = 0; i < after->deployments.count; i++) {
        const struct release_state *release = &after->deployments.items[i];

        compare(&story, before, release, map_get(old, release_state_id(arena, release)));
    }
    if (after->deployments_omitted == 0 && !is_let_go(stack, plan))
        find_uninstalled(&story, before, new, plan);
    return story.changes;
}

/* Of an operation that others began nobody knows the version. */
static bool tells_version(const struct change *change)
{
    static const enum reason without[] = { REASON_UNINSTALLED, REASON_WAITING_FOR_OPERATION };
    const struct release_state *release = change->first.release;

    return map_count(change->charts) == 1 && !change->versions_differ && release->version.len &&
           release->state != DEPLOYMENT_UNINSTALLING && release->state != DEPLOYMENT_UNKNOWN &&
           !IS_ONE_OF(change->first.reason, without);
}

static void put_names(struct strbuf *out, const struct map *all)
{
    struct enumeration names = enumeration_new(out->arena, NAMED_MAX);

    for (uint32_t i = 0; i < map_count(all); i++)
        enumeration_add(&names, map_key(all, i));
    strbuf_put(out, enumeration_text(&names));
}

static struct str change_message(struct arena *arena, const struct change *change)
{
    const struct news *first = &change->first;
    struct strbuf out = strbuf_new(arena, 256);

    put_names(&out, change->charts);
    if (tells_version(change))
        strbuf_fmt(&out, " %.*s", STR_ARG(first->release->version));
    strbuf_lit(&out, " on ");
    put_names(&out, change->clusters);
    if (change->messages_differ)
        strbuf_fmt(&out, "; %.*s on %.*s", STR_ARG(first->release->chart_name),
                   STR_ARG(first->release->cluster_id));
    if (first->message.len)
        strbuf_fmt(&out, ": %.*s", STR_ARG(first->message));
    return str_shown(arena, strbuf_str(&out), MESSAGE_BYTES_MAX);
}

static void tell_changes(struct arena *arena, struct kube_events *events, struct kube_event event,
                         const struct map *changes)
{
    for (uint32_t i = 0; i < map_count(changes); i++) {
        const struct change *change = map_value(changes, i);
        enum reason_news kind = news_kind(&change->first);

        event.warning = kind == NEWS_WARNING;
        event.kind = kind == NEWS_PROGRESS ? EVENT_PROGRESS : EVENT_OUTCOME;
        event.reason = change->first.reason;
        event.message = change_message(arena, change);
        kube_events_push(events, event);
    }
}

/* "c1 (db, web)": a cluster, and what the status says is there. */
static void put_contents(struct strbuf *out, struct str cluster, const struct stack_status *before)
{
    struct map *charts = map_new(out->arena, 4);

    for (uint32_t i = 0; i < before->deployments.count; i++)
        if (str_eq(before->deployments.items[i].cluster_id, cluster))
            map_put(charts, before->deployments.items[i].chart_name, charts);
    strbuf_put(out, cluster);
    if (map_count(charts) == 0)
        return;
    strbuf_lit(out, " (");
    put_names(out, charts);
    strbuf_char(out, ')');
}

/* Clusters that the Stack has left with its releases on them, which are there when they return. */
static void tell_left(struct kube_events *events, struct kube_event event,
                      const struct str_list *clusters, enum reason reason, const char *why,
                      const struct stack_status *before)
{
    struct strbuf out = strbuf_new(events->arena, 256);

    if (clusters->count == 0)
        return;
    for (uint32_t i = 0; i < clusters->count && i < NAMED_MAX; i++) {
        strbuf_put(&out, i ? STR(", ") : STR(""));
        put_contents(&out, clusters->items[i], before);
    }
    if (clusters->count > NAMED_MAX)
        strbuf_fmt(&out, " and %u more", clusters->count - NAMED_MAX);
    strbuf_fmt(&out, ": %s", why);
    event.warning = reason_rows[reason].news == NEWS_WARNING;
    event.reason = reason_rows[reason].name;
    event.message = strbuf_str(&out);
    kube_events_push(events, event);
}

/* Whether no release tells it: it concerns the Stack as a whole, or holds its deletion. */
static bool concerns_stack(const struct reason_row *row, const struct stack_status *after)
{
    static const enum reason unseen[] = { REASON_CLUSTER_UNREACHABLE, REASON_CLUSTER_STALE };

    return row && row->news != NEWS_QUIET &&
           (row->where == WHERE_STACK ||
            (after->phase == PHASE_DELETING && IS_ONE_OF(row->name, unseen)));
}

/* What holds the Stack; its condition Ready has the words. */
static void tell_hold(struct arena *arena, struct kube_events *events, struct kube_event event,
                      const struct stack_status *before, const struct stack_status *after,
                      const struct plan *plan)
{
    const struct kube_condition *was = kube_condition_find(&before->conditions, STR("Ready"));
    const struct kube_condition *is = kube_condition_find(&after->conditions, STR("Ready"));
    const struct reason_row *row;

    if (!is || (was && str_eq(was->reason, is->reason) && str_eq(was->message, is->message)))
        return;
    row = reason_find(plan->kept ? is->reason : plan->reason);
    if (!concerns_stack(row, after))
        return;
    event.warning = row->news == NEWS_WARNING;
    event.reason = row->name;
    event.message = str_shown(arena, is->message, MESSAGE_BYTES_MAX);
    kube_events_push(events, event);
}

/* Releases that drifted, where the status has no room to list those that are deployed. */
static void tell_drift(struct kube_events *events, struct kube_event event,
                       const struct stack_status *before, const struct stack_status *after)
{
    const struct kube_condition *is = kube_condition_find(&after->conditions, STR("Drifted"));

    if (!is || kube_condition_find(&before->conditions, STR("Drifted")) ||
        before->omitted[DEPLOYMENT_DEPLOYED] == 0)
        return;
    event.warning = true;
    event.reason = REASON(DRIFTED);
    event.message = is->message;
    kube_events_push(events, event);
}

/* What scans or metrics have come to; while something is wrong, also that it is something else. */
static void tell_condition(struct arena *arena, struct kube_events *events, struct kube_event event,
                           const struct stack_status *before, const struct stack_status *after,
                           struct str type)
{
    const struct kube_condition *was = kube_condition_find(&before->conditions, type);
    const struct kube_condition *is = kube_condition_find(&after->conditions, type);
    const struct reason_row *row = is ? reason_find(is->reason) : NULL;

    if (!row || row->where != WHERE_CONDITION || row->news == NEWS_QUIET)
        return;
    if (was && str_eq(was->reason, is->reason) &&
        (is->status != CONDITION_FALSE || str_eq(was->message, is->message)))
        return;
    event.warning = row->news == NEWS_WARNING;
    event.reason = row->name;
    event.message = str_shown(arena, is->message, MESSAGE_BYTES_MAX);
    kube_events_push(events, event);
}

static struct str phase_message(struct arena *arena, const struct stack_status *after)
{
    uint32_t left = after->deployments.count + after->deployments_omitted;

    if (after->phase == PHASE_DEPLOYING)
        return str_fmt(arena, "%u of %u %s deployed", after->ready, after->releases,
                       after->releases == 1 ? "release is" : "releases are");
    if (after->phase == PHASE_DELETING && left)
        return str_fmt(arena, "%u %s to be uninstalled", left,
                       left == 1 ? "release is" : "releases are");
    return str_shown(arena, after->message, MESSAGE_BYTES_MAX);
}

/* A Stack begins as Pending: that is no news. Nor is what was just said in the same words. */
static void tell_phase(struct arena *arena, struct kube_events *events, struct kube_event event,
                       const struct stack_status *before, const struct stack_status *after)
{
    if (before->phase == after->phase)
        return;
    event.reason = str_of(stack_phase_name(after->phase));
    event.warning = reason_find(event.reason)->news == NEWS_WARNING;
    event.message = phase_message(arena, after);
    if (events->count == 0 || !str_eq(events->items[events->count - 1].message, event.message))
        kube_events_push(events, event);
}

struct kube_events stack_events(struct arena *arena, const struct stack *stack,
                                struct str resource_version, const struct stack_status *before,
                                const struct stack_status *after, const struct plan *plan)
{
    struct kube_events events = kube_events_new(arena, 8);
    struct kube_event event = {
        .resource = stack_resource,
        .namespace_ = stack->meta.namespace_,
        .name = stack->meta.name,
        .uid = stack->meta.uid,
        .resource_version = resource_version,
    };

    tell_changes(arena, &events, event, find_changes(arena, stack, before, after, plan));
    event.kind = EVENT_MILESTONE;
    tell_left(&events, event, &plan->gone, REASON_CLUSTER_GONE,
              "Rancher has no such cluster any more; skipped, with the releases of this Stack that "
              "were there",
              before);
    tell_left(&events, event, &plan->abandoned, REASON_CLUSTER_ABANDONED,
              "left out by the annotation " STACK_ABANDON_CLUSTERS "; the releases of this Stack "
              "there were not removed, and have to be removed by hand",
              before);
    tell_drift(&events, event, before, after);
    tell_condition(arena, &events, event, before, after, STR("SecurityScanned"));
    tell_condition(arena, &events, event, before, after, STR("ObservabilityConfigured"));
    tell_hold(arena, &events, event, before, after, plan);
    tell_phase(arena, &events, event, before, after);
    return events;
}
