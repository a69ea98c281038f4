/* SPDX-License-Identifier: Apache-2.0 */
/* plan_removal.c: what must happen before anything is removed.
 *
 * Successors. A release that is to go has one on its cluster if the Stack has the same chart
 * there under another name or namespace, or a new chart that takes its place: those that are to
 * go and those that are new are paired in order. A pair is written into the stamp of the new one
 * (STAMP_REPLACES), so that it outlives the installation. Whoever has a successor goes once that
 * is deployed.
 *
 * Delay. A cluster that left the targets although the spec did not change waits for
 * removalDelay. So does a release that an override skips by labels: nobody can tell whether
 * these changed.
 *
 * Confirmation. If more of the Stack's releases are to go than maxRemovals, they wait until the
 * annotation STACK_CONFIRM_REMOVAL has the token. It is a hash of what goes: each release of a
 * target cluster, and each cluster that is left with all that it has. To stay the same while
 * that is being removed, it is made of a sum of hashes, to which what has gone is added on
 * (status.removal.accounted): a cluster in the very status that holds it no more, so that it
 * counts once. And to be another one the next time, it is made of the time when something was to
 * be removed first. */
#include "stack/plan/plan_parts.h"

#include "base/duration.h"
#include "base/set.h"
#include "stack/plan/rollout.h"
#include "text/digest.h"
#include "text/time.h"

static struct str release_key(const struct planner *p, const struct slot *s)
{
    return kube_key(p->arena, s->now.namespace_, s->now.release_name);
}

/* Successors */

static bool is_going(const struct slot *s)
{
    return s->chart == NONE && s->now.state != DEPLOYMENT_REMOVED;
}

static void pair(struct planner *p, uint32_t wanted, uint32_t goes)
{
    p->slots.items[goes].successor = wanted;
    if (p->slots.items[wanted].replaces == NONE)
        p->slots.items[wanted].replaces = goes;
}

/* Those that are to go: with their own chart, or with who is stamped to follow them. Gives those
 * that are left. */
static struct u32_list pair_known(struct planner *p, const struct cluster_part *c)
{
    struct u32_list left = u32_list_new(p->arena, 0);
    struct map *stamped = map_new(p->arena, c->slots.count);

    for (uint32_t i = 0; i < c->slots.count; i++) {
        struct slot *s = &p->slots.items[c->slots.items[i]];

        if (s->chart != NONE && s->app && s->app->replaces.len)
            map_put(stamped, s->app->replaces, &c->slots.items[i]);
    }
    for (uint32_t i = 0; i < c->slots.count; i++) {
        uint32_t at = c->slots.items[i];
        const struct slot *s = &p->slots.items[at];
        uint32_t *chart = map_get(p->chart_index, s->now.chart_name);
        const uint32_t *follower = map_get(stamped, release_key(p, s));

        if (!is_going(s))
            continue;
        if (chart && c->slot_of_chart[*chart] != NONE)
            pair(p, c->slot_of_chart[*chart], at);
        else if (follower)
            pair(p, *follower, at);
        else if (!chart)
            u32_list_push(&left, at);
    }
    return left;
}

/* A chart that the Stack has never deployed there: nothing is, or what is there is somebody else's,
 * or was changed before the first of our revisions was deployed. */
static bool is_new(const struct planner *p, const struct slot *s)
{
    return s->chart != NONE && s->replaces == NONE &&
           (!plan_owns(p, s) || (!plan_has_stamp(s->app) && !s->app->marked_digest.len));
}

/* A chart of the Stack that is wanted there under another name or namespace: nothing is lost
 * when its former release goes. Another chart in its place is another thing, and only gives the
 * order. */
static bool is_moved(const struct planner *p, const struct slot *s)
{
    const struct cluster_part *c = &p->clusters[s->cluster];
    const uint32_t *chart = map_get(p->chart_index, s->now.chart_name);

    return chart && c->slot_of_chart && c->slot_of_chart[*chart] != NONE;
}

/* And those of charts that the Stack does not have any more with new ones. */
static void pair_all(struct planner *p, const struct cluster_part *c)
{
    struct u32_list left;
    uint32_t next = 0;

    if (!c->observed->targeted || !c->slot_of_chart || c->observed->state != CLUSTER_READ)
        return;
    left = pair_known(p, c);
    for (uint32_t i = 0; i < c->slots.count && next < left.count; i++) {
        if (is_new(p, &p->slots.items[c->slots.items[i]]))
            pair(p, c->slots.items[i], left.items[next++]);
    }
}

/* Delay */

bool plan_is_left(const struct planner *p, const struct cluster_part *c)
{
    if (p->deleting || c->left_out || c->observed->targeted)
        return false;
    if (c->observed->state != CLUSTER_READ)
        return plan_held_before(p, c->observed->id);
    for (uint32_t i = 0; i < c->slots.count; i++)
        if (is_going(&p->slots.items[c->slots.items[i]]))
            return true;
    return false;
}

static int64_t delay_of(const struct planner *p)
{
    int64_t delay = 0;

    (void)duration_parse(p->stack->spec.rollout.removal_delay, &delay);
    return delay;
}

static struct map *delays_before(const struct planner *p)
{
    const struct stack_status *before = p->observed->before;
    struct map *index = map_new(p->arena, 8);

    for (uint32_t i = 0; before && i < before->removal.delays.count; i++) {
        struct removal_delay *delay = &before->removal.delays.items[i];

        for (uint32_t k = 0; k < delay->clusters.count; k++)
            map_put(index, delay->clusters.items[k], delay);
    }
    return index;
}

/* A release that an override with a selector leaves out there. */
static bool is_skipped_by_labels(const struct planner *p, const struct slot *s)
{
    const struct stack_overrides *all = &p->stack->spec.overrides;
    const struct chart *chart = plan_chart_named(p, s->now.chart_name);

    if (!is_going(s) || !chart || !str_eq(chart->namespace_, s->now.namespace_) ||
        !str_eq(chart->release_name, s->now.release_name))
        return false;
    for (uint32_t i = 0; i < all->count; i++)
        for (uint32_t k = 0; k < all->items[i].charts.count; k++)
            if (all->items[i].charts.items[k].skip &&
                !label_selector_is_empty(&all->items[i].selector) &&
                str_eq(all->items[i].charts.items[k].name, chart->name))
                return true;
    return false;
}

/* Where it is seen: the status may have no room for it. */
static bool has_skipped(const struct planner *p, const struct cluster_part *c)
{
    for (uint32_t i = 0; c->observed->state == CLUSTER_READ && i < c->slots.count; i++)
        if (is_skipped_by_labels(p, &p->slots.items[c->slots.items[i]]))
            return true;
    return false;
}

/* Whether the cluster has just left for a reason outside the spec: spec.targets is what it was. */
static bool left_by_itself(const struct planner *p, struct set targets_before,
                           const struct cluster_part *c)
{
    bool known = set_has(targets_before, c->observed->id);

    /* Without a status nobody knows what it was. */
    return p->stack->spec.targets.cluster_ids.count == 0 &&
           (!p->observed->before || !p->observed->before->observed_generation ||
            (known && !p->retargeted));
}

/* Nobody knows now what is to go there, so what was said of it stands. */
static bool is_out_of_sight(const struct planner *p, const struct cluster_part *c)
{
    return !c->left_out && c->observed->state != CLUSTER_READ &&
           plan_held_before(p, c->observed->id);
}

static void delay_until(struct planner *p, struct cluster_part *c, int64_t until_ms)
{
    struct removal_delays *delays = &p->removal.delays;
    struct removal_delay *found = NULL;

    for (uint32_t i = 0; i < delays->count && !found; i++)
        if (delays->items[i].until_ms == until_ms)
            found = &delays->items[i];
    if (!found)
        found = removal_delays_push(delays,
                                    (struct removal_delay){ until_ms, str_list_new(p->arena, 4) });
    /* Also one that is over, until nothing is left to remove. */
    str_list_push(&found->clusters, c->observed->id);
    if (p->observed->now_ms >= until_ms)
        return;
    c->delayed_until = until_ms;
    plan_wake(p, until_ms);
}

static void delay_all(struct planner *p)
{
    const struct stack_status *before = p->observed->before;
    struct map *delays = delays_before(p);
    struct set targets = set_of(p->arena, before ? &before->target_clusters : NULL);
    /* Written in whole seconds, and never too early. */
    int64_t from_now = (p->observed->now_ms + delay_of(p) + 999) / 1000 * 1000;

    for (uint32_t i = 0; i < p->observed->clusters.count; i++) {
        struct cluster_part *c = &p->clusters[i];
        const struct removal_delay *delay = map_get(delays, c->observed->id);
        bool leaves = plan_is_left(p, c) ? left_by_itself(p, targets, c) : has_skipped(p, c);

        if (c->left_out || (!plan_is_left(p, c) && !leaves && !is_out_of_sight(p, c)))
            continue;
        /* A delay that was made shorter since, or forged, is not waited out. */
        if (delay)
            delay_until(p, c, delay->until_ms < from_now ? delay->until_ms : from_now);
        else if (leaves)
            delay_until(p, c, from_now);
    }
}

/* Confirmation */

static uint64_t hash_of(const struct planner *p, struct str text)
{
    struct str hex = digest_sha256_hex(p->arena, text);
    uint64_t hash = 0;

    for (size_t i = 0; i < 16; i++)
        hash = hash << 4 | (uint64_t)(hex.at[i] <= '9' ? hex.at[i] - '0' : hex.at[i] - 'a' + 10);
    return hash;
}

static uint64_t hash_of_release(const struct planner *p, const struct slot *s)
{
    return hash_of(
        p, str_fmt(p->arena, "%.*s\n%.*s", STR_ARG(s->now.cluster_id), STR_ARG(release_key(p, s))));
}

/* What there is on a cluster that cannot be looked at is taken to be all that the Stack has now.
 * What takes the place of another release counts once that is gone: else each one that came
 * would make those that go a smaller share. */
static uint32_t count_there(const struct planner *p, const struct cluster_part *c)
{
    uint32_t has = 0;

    if (c->observed->state != CLUSTER_READ)
        return plan_held_before(p, c->observed->id) ? p->stack->spec.charts.count : 0;
    for (uint32_t i = 0; i < c->slots.count; i++) {
        const struct slot *s = &p->slots.items[c->slots.items[i]];

        has += is_going(s) || (plan_owns(p, s) && s->replaces == NONE);
    }
    return has;
}

struct count {
    uint32_t goes, has;
    uint64_t sum;
};

static void count_cluster(const struct planner *p, const struct cluster_part *c,
                          struct count *count)
{
    uint32_t has = count_there(p, c);

    count->has += has;
    if (plan_is_left(p, c))
        count->goes += has;
    if (!c->observed->targeted || c->observed->state != CLUSTER_READ)
        return;
    for (uint32_t i = 0; i < c->slots.count; i++) {
        const struct slot *s = &p->slots.items[c->slots.items[i]];

        if (!is_going(s) || is_moved(p, s) || (s->app && s->app->adopter.len))
            continue;
        count->goes++;
        count->sum += hash_of_release(p, s);
    }
}

/* What is left, and what is held of it until the end of this plan: plan_account_removal. */
static uint64_t hash_of_left(const struct planner *p)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < p->observed->clusters.count; i++) {
        const struct cluster_part *c = &p->clusters[i];

        if (!c->observed->targeted && (plan_is_left(p, c) || plan_held_before(p, c->observed->id)))
            sum += hash_of(p, c->observed->id);
    }
    return sum;
}

/* Releases of targets that were counted before, and that we removed. */
static uint64_t hash_of_removed(const struct planner *p)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < p->slots.count; i++) {
        const struct slot *s = &p->slots.items[i];

        if (s->chart == NONE && s->now.state == DEPLOYMENT_REMOVED && s->before &&
            s->before->requested_ms && plan_cluster(p, s)->targeted && !is_moved(p, s))
            sum += hash_of_release(p, s);
    }
    return sum;
}

void plan_account_removal(struct planner *p)
{
    for (uint32_t i = 0; p->removal.first_seen_ms && i < p->observed->clusters.count; i++) {
        const struct cluster_part *c = &p->clusters[i];

        if (!c->observed->targeted && plan_held_before(p, c->observed->id) &&
            !plan_cluster_holds(p, c))
            p->removal.accounted += hash_of(p, c->observed->id);
    }
}

static struct str token_of(const struct planner *p, uint64_t sum)
{
    return str_slice(
        digest_sha256_hex(p->arena, str_fmt(p->arena, "%.*s %lld %llu", STR_ARG(p->stack->meta.uid),
                                            (long long)p->removal.first_seen_ms,
                                            (unsigned long long)(sum + p->removal.accounted))),
        0, STACK_TOKEN_LEN);
}

static void ask_confirmation(struct planner *p, const struct count *count)
{
    const struct removal_state *before = p->observed->before ? &p->observed->before->removal : NULL;
    const struct kube_meta *meta = &p->stack->meta;
    struct str confirmed = kube_annotation(meta, STR(STACK_CONFIRM_REMOVAL));

    p->removal.first_seen_ms =
        before && before->first_seen_ms ? before->first_seen_ms : p->observed->now_ms;
    p->removal.accounted =
        before && before->first_seen_ms ? before->accounted + hash_of_removed(p) : 0;
    p->removal.releases = count->goes;
    p->removal.of = count->has;
    if (!rollout_needs_confirmation(&p->stack->spec.rollout, count->goes, count->has))
        return;
    p->removal.token = token_of(p, count->sum + hash_of_left(p));
    if (str_eq(confirmed, p->removal.token))
        return;
    p->unconfirmed = str_fmt(
        p->arena,
        "removing %u of %u releases waits for a confirmation%s, because spec.rollout.maxRemovals "
        "is %.*s: kubectl annotate stack %.*s -n %.*s " STACK_CONFIRM_REMOVAL "=%.*s --overwrite",
        count->goes, count->has,
        confirmed.len ? " of its own (the one that is there is of other releases)" : "",
        STR_ARG(p->stack->spec.rollout.max_removals), STR_ARG(meta->name),
        STR_ARG(meta->namespace_), STR_ARG(p->removal.token));
}

/* Whether something was to be removed and may be there still. */
static bool goes_on(const struct planner *p)
{
    const struct stack_status *before = p->observed->before;

    for (uint32_t i = 0; before && before->removal.first_seen_ms && i < p->observed->clusters.count;
         i++)
        if (is_out_of_sight(p, &p->clusters[i]))
            return true;
    return false;
}

void plan_guard(struct planner *p)
{
    struct count count = { 0 };

    p->removal.delays = removal_delays_new(p->arena, 0);
    if (p->deleting)
        return;
    for (uint32_t i = 0; i < p->observed->clusters.count; i++)
        pair_all(p, &p->clusters[i]);
    for (uint32_t i = 0; i < p->observed->clusters.count; i++)
        if (!p->clusters[i].left_out)
            count_cluster(p, &p->clusters[i], &count);
    if (!count.goes && !goes_on(p))
        return;
    delay_all(p);
    ask_confirmation(p, &count);
}

bool plan_keeps(struct planner *p, struct slot *s)
{
    const struct cluster_part *c = &p->clusters[s->cluster];
    const struct slot *successor = s->successor == NONE ? NULL : &p->slots.items[s->successor];

    if (s->app && s->app->adopter.len) {
        plan_set(s, DEPLOYMENT_WAITING, REASON(WAITING_FOR_ADOPTION),
                 str_fmt(p->arena,
                         "Stack %.*s adopts it; if it does not, see its status, or take "
                         "the release out of its annotation " STACK_ADOPT,
                         STR_ARG(s->app->adopter)));
    } else if (c->needed_reason.len) {
        plan_set(s, DEPLOYMENT_WAITING, c->needed_reason, c->needed_message);
    } else if (successor && successor->now.state != DEPLOYMENT_DEPLOYED) {
        plan_set(s, DEPLOYMENT_WAITING, REASON(WAITING_FOR_SUCCESSOR),
                 str_fmt(p->arena, "will be removed once %.*s, which takes its place, is deployed",
                         STR_ARG(successor->now.chart_name)));
    } else if (c->delayed_until && (!c->observed->targeted || is_skipped_by_labels(p, s))) {
        plan_set(s, DEPLOYMENT_WAITING, REASON(REMOVAL_DELAYED),
                 str_fmt(p->arena,
                         "%.*s is no longer a target, although the spec did not change; the "
                         "release will be removed at %.*s (spec.rollout.removalDelay is %.*s)",
                         STR_ARG(s->now.cluster_id),
                         STR_ARG(time_rfc3339(p->arena, c->delayed_until)),
                         STR_ARG(p->stack->spec.rollout.removal_delay)));
    } else if (!is_moved(p, s) && p->unconfirmed.len) {
        plan_set(s, DEPLOYMENT_WAITING, REASON(WAITING_FOR_CONFIRMATION), p->unconfirmed);
    } else {
        return !p->deleting && plan_wait_for_turn(p, s);
    }
    return true;
}
